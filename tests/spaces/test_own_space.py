"""A space from outside the library: the file that the documentation shows."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cmeans
from cmeans.data.blocks import Block, Blocks
from cmeans.sampling.pairwise import Metric
from cmeans.spaces import SPACES

FILE = Path(__file__).parents[2] / "docs" / "extending" / "space.py"
X = np.random.default_rng(0).normal(size=(60, 300)) + 3 * np.repeat(np.eye(3, 300), 20, axis=0)
MAKES = {
    "hard": lambda: cmeans.KernelKMeans(3, kernel="projected", random_state=0),
    "fuzzy": lambda: cmeans.FuzzyCMeans(3, kernel="projected", m=1.1, random_state=0),
    "entropy": lambda: cmeans.CMeans(3, rule="entropy", kernel="projected", random_state=0),
}


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Import the file, which enters its space in the table; the table forgets it after the test."""
    spec = importlib.util.spec_from_file_location("own_space", FILE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "own_space", module)
    spec.loader.exec_module(module)
    yield module
    del SPACES["projected"]


@pytest.mark.parametrize("make", MAKES)
def test_a_fit_is_that_of_the_projected_rows(make: str) -> None:
    model = MAKES[make]().fit(X)
    P = model._space.axes
    assert P.shape == (200, 300)
    projected = X @ P.T
    d2 = ((projected[:, None, :] - model._state.centres.coordinates) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.transform(X), np.sqrt(d2), rtol=1e-10)
    np.testing.assert_array_equal(model.labels_, d2.argmin(axis=1))
    assert not hasattr(model, "cluster_centers_")  # a centre is no row of the data


def test_seeds_are_drawn_by_distances_in_the_space(entered: ModuleType) -> None:
    """Rows that the projection cannot tell apart are one row to it."""
    space = entered.ProjectedSpace(np.array([[1.0, 0.0]]))
    rows = np.array([[0.0, 5.0], [0.0, -5.0], [2.0, 0.0]])
    metric = Metric(space.kernel, Blocks(rows, np.ones(3)), space)
    np.testing.assert_allclose(
        metric.among(np.arange(3)).squared_distances(np.array([0])), [[0.0], [0.0], [4.0]]
    )
    nearest, d2 = metric.nearest_of(np.array([0, 2])).nearest(metric.blocks.cut(0, 3))
    assert nearest.tolist() == [0, 0, 1]
    assert d2.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("make", MAKES)
def test_a_saved_model_says_the_same(make: str, tmp_path: Path) -> None:
    model = MAKES[make]().fit(X)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.memberships(X), model.memberships(X))
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_a_file_is_checked_by_the_space(entered: ModuleType) -> None:
    space = entered.ProjectedSpace(np.ones((2, 5)))
    space.check(5, None)
    with pytest.raises(ValueError, match="does not fit rows of 4 features"):
        space.check(4, None)


def test_spaces_differ_by_their_fields(entered: ModuleType) -> None:
    one, same, other = (entered.ProjectedSpace(np.full((2, 5), value)) for value in (1.0, 1.0, 2.0))
    centres = one.embed(Block(np.ones((3, 5)), np.ones(3), 0))
    assert one.project(centres, same) is centres
    with pytest.raises(ValueError, match="no place in ProjectedSpace"):
        one.project(centres, other)
