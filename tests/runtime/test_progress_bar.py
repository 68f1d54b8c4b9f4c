"""The bar that a notebook shows while a fit runs."""

from __future__ import annotations

import builtins
import sys
import types

import numpy as np
import pytest

import cmeans
from cmeans.runtime import progress_bar
from cmeans.runtime.progress import Reporter, current_listeners

X = np.random.default_rng(0).normal(size=(150, 2))


class ZMQInteractiveShell:
    """The class of a notebook's shell, by whose name rich knows it."""


@pytest.fixture
def notebook(monkeypatch):
    """What a notebook is asked to show: the content of each display, and its handle."""
    shown = []

    class Handle:
        def __init__(self, content):
            shown.append((self, content))

        def update(self, content, raw):
            assert raw
            shown.append((self, content))

    def display(content, raw, display_id):
        assert raw
        assert display_id
        return Handle(content)

    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    modules = {
        "IPython": types.ModuleType("IPython"),
        "IPython.display": types.ModuleType("IPython.display"),
    }
    modules["IPython.display"].display = display
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(progress_bar, "AFTER", 0.0)
    monkeypatch.setattr(progress_bar, "BETWEEN_DISPLAYS", 0.0)
    monkeypatch.setattr(progress_bar, "BETWEEN_DRAWINGS", 0.0)
    return shown


def test_one_line_that_changes_and_goes(notebook, monkeypatch):
    clock = iter(np.arange(0.0, 1000.0, 10.0).tolist())
    monkeypatch.setattr(progress_bar, "time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    with progress_bar.drawn_in_notebook(1e-4):
        reporter = Reporter(current_listeners())
        reporter.emit("fit", 1, 300, 500, 1000)
        reporter.emit("fit", 2, 300, 1000, 1000, 12.5, 0.1)
    texts = [content["text/plain"] for _, content in notebook]
    assert "fit, sweep 1/300" in texts[0]
    assert "500/1,000 rows" in texts[0]
    assert "objective 12.5" in texts[1]
    assert int(texts[1].split()[-1].split(":")[-1]) > 0  # the clock goes on where the bar is full
    assert len(texts[1].splitlines()) == 1
    assert notebook[1][1]["text/html"].startswith("<pre")
    assert notebook[-1][1] == {"text/html": "", "text/plain": ""}
    assert len({id(handle) for handle, _ in notebook}) == 1


@pytest.mark.parametrize(
    "kind",
    [
        cmeans.FuzzyCMeans,
        cmeans.KernelKMeans,
        cmeans.StreamingFuzzyCMeans,
        cmeans.ProbabilisticKMeans,
    ],
)
def test_fits_draw_where_they_are_verbose(notebook, kind):
    quiet = kind(3, random_state=0).fit(X)
    assert not notebook
    shown = kind(3, random_state=0, verbose=1).fit(X)
    assert any("rows" in content["text/plain"] for _, content in notebook)
    np.testing.assert_array_equal(shown.labels_, quiet.labels_)


def test_short_fits_draw_nothing(notebook, monkeypatch):
    monkeypatch.setattr(progress_bar, "AFTER", 60.0)
    cmeans.FuzzyCMeans(3, random_state=0, verbose=1).fit(X)
    assert not notebook


def test_a_fit_that_fails_leaves_no_line(notebook):
    def fails():
        with progress_bar.drawn_in_notebook(1e-4):
            Reporter(current_listeners()).emit("fit", 1, 300, 500, 1000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert notebook[-1][1]["text/plain"] == ""
    assert not current_listeners()


def test_elsewhere_there_is_no_bar(notebook, monkeypatch):
    monkeypatch.delattr(builtins, "get_ipython")
    cmeans.FuzzyCMeans(3, random_state=0, verbose=1).fit(X)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setitem(sys.modules, "cmeans.runtime.progress_bar", None)  # rich is not installed
    cmeans.FuzzyCMeans(3, random_state=0, verbose=1).fit(X)
    assert not notebook
