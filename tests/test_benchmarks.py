"""Benchmarks are run by hand; that they can be started is seen here."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from cmeans import ModularityClustering

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
OWN = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", OWN)
def test_every_module_is_imported(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


def test_lines_of_every_size_have_names_of_their_own() -> None:
    from benchmarks.every_size import lines

    names = [line.name for line in lines()]
    assert len(set(names)) == len(names) > 20


@pytest.mark.minutes  # two processes, each with its sources
def test_two_versions_are_compared_cell_by_cell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each process imports its own sources; the ratio of a version to itself is a positive
    number."""
    from benchmarks import two_versions

    word = "k-means, 4 columns, 3 clusters, float32"
    monkeypatch.setattr(
        "sys.argv",
        [
            "two_versions",
            str(FOLDER.parent),
            "--pairs",
            "1",
            "--only",
            word,
            "--sizes",
            "150",
        ],
    )
    two_versions.main()
    line, total = capsys.readouterr().out.strip().splitlines()
    assert line.startswith(f"{word}: 150: ")
    ratio = float(line.split()[-1])
    assert ratio > 0
    assert total == f"1 cells: median {ratio:.3f}, {ratio:.3f} to {ratio:.3f}"


def test_a_folder_without_a_checkout_is_no_other_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from benchmarks import two_versions

    monkeypatch.setattr("sys.argv", ["two_versions", str(tmp_path)])
    with pytest.raises(SystemExit):
        two_versions.main()


def test_every_size_is_measured_in_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sizes and lines that are not measured stay as they were, and those measured again are new."""
    from benchmarks import every_size

    chosen, took = (
        [line.name for line in every_size.lines() if "defaults" in line.name],
        iter([1.0, 2.0, 3.0, 4.0]),
    )

    def measure(
        line: every_size.Line, sizes: tuple[int, ...], *_: object
    ) -> dict[int, dict[str, object]]:
        mine = next(took)
        return {
            n: {"own": [mine], "peer": [10.0], "costs": {"own": [1.0], "peer": [1.0]}}
            for n in sizes
        }

    monkeypatch.setattr(every_size, "measure", measure)
    for word, sizes in (
        (chosen[0], ["150", "1000"]),
        (chosen[1], ["150"]),
        (chosen[0], ["1000", "1000000"]),
    ):
        options = ["--only", word, "--sizes", *sizes, "--json", str(tmp_path / "out.json")]
        monkeypatch.setattr("sys.argv", ["every_size", *options])
        every_size.main()
    measured = json.loads((tmp_path / "out.json").read_text())
    assert {
        name: {n: at["own"] for n, at in of.items()} for name, of in measured["measured"].items()
    } == {
        chosen[0]: {"150": [1.0], "1000": [3.0], "1000000": [3.0]},
        chosen[1]: {"150": [2.0]},
    }
    assert measured["tables"][0]["columns"] == ["", "150", "1,000", "1,000,000", "first fit"]


@pytest.mark.filterwarnings("ignore")  # possibilistic clusters collapse on such rows, and are told
def test_the_page_of_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stub set whose labels take turns along a line, so that every partition by distance falls
    short of one by turns."""
    from benchmarks import defaults

    class Turns:
        def __init__(self, c: int) -> None:
            self.c = c

        def fit_predict(self, x: np.ndarray) -> np.ndarray:
            return np.arange(len(x)) % self.c

    x = np.linspace(0, 1, 40)[:, None]
    monkeypatch.setitem(defaults.WAYS, defaults.PEER, lambda c, _: Turns(c))
    found = defaults.measure(x, np.arange(40) % 2, seeds=1)
    assert found["clusters"] == 2
    assert defaults.ari(found, defaults.PEER) == 1
    assert set(found["runs"]) == set(defaults.WAYS)
    assert set(found["why"]) == {"KernelKMeans", "FuzzyCMeans"}
    assert all(
        value >= 0.999 * why["reached"]["default"][0]
        for why in found["why"].values()
        for value, _ in why["reached"].values()
    )
    written = defaults.page({"iris": found, "wine": found}, "a machine")
    assert "| iris (40, 1, 2) | " in written
    assert "**1.000**" in written
    assert "- iris, KernelKMeans (-.03, KMeans 1.00): the objective prefers it" in written


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [(2.0, 1.0, "a poor optimum, 100.0% above"), (1.0, 1.1, "an optimum 10.0% higher")],
)
def test_reasons_of_defaults_compare_objectives(ours: float, theirs: float, said: str) -> None:
    from benchmarks import defaults

    why = {
        "reached": {"default": [ours, 0.5], "KMeans": [theirs, 0.8], "classes": [3.0, 0.9]},
        "spread": 0.0,
    }
    runs = {"KernelKMeans": [[0.5, 0.1]], defaults.PEER: [[0.8, 0.1]]}
    assert said in defaults.reason(
        "iris", "KernelKMeans", {"runs": runs, "why": {"KernelKMeans": why}}
    )


@pytest.mark.filterwarnings("ignore")  # of graphs in two parts
def test_the_page_of_shapes() -> None:
    from benchmarks import shapes

    rng, y = np.random.default_rng(0), np.arange(60) % 2
    found = shapes.measure(rng.normal(size=(60, 2)) + 20 * y[:, None], y, seeds=1)
    assert found[shapes.OURS][:2] == pytest.approx([1, 1])
    assert set(found) == set(shapes.WAYS)
    written = shapes.page(dict.fromkeys(shapes.SHAPES, found), {"moons": [0.1, 1.5]}, 1)
    assert "| moons | 1.00 / 1.00, " in written
    assert "within .02, on 5 of 5 sets" in written
    assert "| moons | 0.1 | 1.5 | 15 |" in written
    assert "better by more than that on none." in written


@pytest.mark.filterwarnings("ignore")  # of rows that belong nowhere
def test_the_page_of_the_number_found() -> None:
    from benchmarks import number_found

    x, y = number_found.mixture(3, 10, 20.0, 0)
    found = number_found.measure(x[:300], y[:300])
    assert found["clusters"] == 3
    ari, clusters, left_out, _ = found["found"][number_found.DEFAULT]
    assert (clusters, left_out) == (3, pytest.approx(0, abs=0.1))
    assert ari > 0.9
    written = number_found.page({"iris": found}, "a machine")
    assert "| iris (300, 10, 3) | " in written
    assert "## Why many columns are hard" in written


def test_sets_for_the_number_found_are_what_they_are_named() -> None:
    from benchmarks import number_found

    for name in ("customers, 2,000", "counts 6 in 30", "embeddings 6 in 64", "mixture 4 in 20"):
        x, y = number_found.SETS[name]()
        assert len(x) == len(y) == 2000
        assert len(np.unique(y)) == {"customers, 2,000": 5, "mixture 4 in 20": 4}.get(name, 6)
        if " in " in name:
            assert x.shape[1] == int(name.split()[-1])


def test_the_page_of_communities(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import communities, community_graphs

    rng, y = np.random.default_rng(0), np.repeat([1, 2, 3], 40)
    X = rng.normal(size=(120, 2)) + 30 * np.column_stack([y, y % 2])
    monkeypatch.setattr(communities, "WAYS", {"HDBSCAN": communities.WAYS["HDBSCAN"]})
    monkeypatch.setattr(communities, "groups", lambda: {"blobs": {"three": lambda: (X, [y])}})
    found = communities.measure(X, [y])
    assert found["found"][communities.OURS] == [1.0, 3]
    assert found["agreement"] == 1.0
    graph = community_graphs._planted([30, 30], 0.5, 0.02)
    model = ModularityClustering(resolution=1.0, metric="precomputed").fit(graph)
    modularity = community_graphs.modularity(graph, model.labels_)
    assert modularity == pytest.approx(model.modularity_, abs=1e-12)
    compared = {"planted": {"ours": modularity, "best": modularity, "mean": modularity}}
    told = {"machine": "a machine", "sets": {"three": found}, "graphs": compared}
    told["held out"] = {}
    written = communities.page(told)
    assert "| three (120; 3) | 1.00 (3) |" in written
    assert "| **mean of groups** | 1.000 |" in written
    assert f"{modularity:.5f} | 1.0000 |" in written
