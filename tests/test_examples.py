"""What a newcomer runs first must run: every example script, and the code of the README."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SHOWS = {  # a line that each script must come to
    "cells": "adjusted Rand index with the kinds 1.00",
    "choosing_the_number": "3 clusters: their silhouette is",
    "communities": "3 communities at resolution 0.0312",
    "connected_pieces": "4 clusters of [300, 300, 300, 300] rows",
    "drift": "the first above 1.71 is that of chunk 6",
    "landmarks": "KernelKMeans         s=200",
    "larger_than_memory": "shares times 55: [10.  9.  8.  7.  6.  5.  4.  3.  2.  1.]",
    "moons_and_spirals": "spirals  landmark_graph  adjusted Rand index 1.00",
    "outliers": "1 - typicality:                 AUC 1.00",
    "overlapping_wines": "m=1.29: mean largest membership 0.87, adjusted Rand index 0.90",
    "photograph": "colours_and_places: 68480 pixels",
    "rings": "rbf     adjusted Rand index  1.00",
    "sizes": "{'sizes': Sizes(least=0.24, most=0.26)}: sizes [115 115 106 106]",
    "streams": "6 chunks, landmarks:   adjusted Rand index 0.6",
    "customers": "Gower's similarity  adjusted Rand index 0.87",
    "partial_labels": "200 labels: adjusted Rand index of the others 0.78, 89% are named right",
    "topics": "of the documents belong to none, where 10% were asked for",
    "strings": "kernel, kernels, kernelised, kernelise",
    "stretched": "mixture              adjusted Rand index 0.92",
    "strokes": "landmark_graph  normalised mutual information 0.90",
    "unknown_number": "adaptive, from 10 clusters on: 4 clusters",
}


NEEDS = {"cells": "anndata"}  # packages that a checkout may do without


def test_every_example_is_run() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(SHOWS)


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
# of anndata 0.12, which asks pandas 3
@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")
@pytest.mark.parametrize("name", SHOWS)
def test_an_example_shows_what_it_should(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip(NEEDS.get(name, "matplotlib"))
    pyplot.switch_backend("Agg")
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    drawn = pyplot.get_fignums()
    pyplot.close("all")
    assert SHOWS[name] in capsys.readouterr().out
    assert drawn


def test_the_python_of_the_readme(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    one_call, first, pictures = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S
    )
    names: dict[str, object] = {}
    exec(compile(one_call, "README.md", "exec"), names)
    first_line, *table = capsys.readouterr().out.splitlines()
    assert first_line == "2 [1 0 0 1 0]"
    assert "chosen" in "".join(table)
    exec(compile(first, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("1.43")
    assert "0.864" in printed.splitlines()[-1]
    exec(compile(pictures, "README.md", "exec"), names)
    assert "high proline" in capsys.readouterr().out
    assert (tmp_path / "wines.html").is_file()


def test_the_gallery_has_a_place_for_each_example() -> None:
    order = runpy.run_path(str(ROOT / "docs" / "_ext" / "gallery_order.py"))["FIRST"]
    assert sorted(order) == sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    assert set(order) == set(SHOWS)
