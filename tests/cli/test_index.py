"""Cells of a vector index, from a file of vectors to the files that others read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.command import Command, Ended
from cmeans import KernelKMeans, Sizes, load
from cmeans.cli import registration


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    file = tmp_path / "vectors.npy"
    np.save(file, np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32))
    return file


def refused(ended: Ended) -> str:
    assert ended.code == 2
    assert ended.err.count("\n") <= 2  # with that of reading
    return ended.err.splitlines()[-1]


def test_bits_are_packed_in_files_of_cells_too(cmeans: Command, tmp_path: Path) -> None:
    """Bits about four rows of them, each of which is the majority of its cell."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, size=(4, 20), dtype=np.uint8)
    bits = truth[np.arange(200) % 4] ^ (rng.random((200, 20)) < 0.05)
    file, out = tmp_path / "x.u8bin", tmp_path / "out"
    head = np.array([200, 3], "<i4").tobytes()
    file.write_bytes(head + np.packbits(bits, axis=1).tobytes())
    summary = cmeans("index", file, "--bits", 20, "-c", 4, "--out", out).summary
    assert summary["columns"] == 20
    found, cells = np.load(out / "centroids_packed.npy"), np.load(out / "assignments.npy")
    assert set(map(bytes, found)) == set(map(bytes, np.packbits(truth, axis=1)))
    means = [bits[cells == cell].mean(axis=0) for cell in range(4)]
    np.testing.assert_allclose(np.load(out / "centroids.npy"), means, atol=1e-6)
    added = cmeans("index", file, "--add", "--out", out).summary  # as the model's file says
    assert added["rows"] == 400
    np.testing.assert_array_equal(np.load(out / "assignments.npy"), np.tile(cells, 2))
    assert cmeans("index", file, "-c", 2, "--out", out).code == 0
    assert not (out / "centroids_packed.npy").exists()  # which would be of another index


@pytest.mark.parametrize(("metric", "kind"), [("euclidean", np.int8), ("cosine", np.float32)])
def test_files_hold_the_fit(
    cmeans: Command, vectors: Path, tmp_path: Path, metric: str, kind: type
) -> None:
    out = tmp_path / "out"
    np.save(vectors, (40 * np.load(vectors)).clip(-128, 127).astype(kind))
    words = ["-c", 24, "--balance", 1.2, "--metric", metric, "--search", "hierarchical"]
    ended = cmeans("index", vectors, *words, "--out", out)
    summary, x = ended.summary, np.load(vectors)
    assert "works in up to" in ended.err
    model = KernelKMeans(
        24,
        kernel="linear",
        metric=metric,
        search="hierarchical",
        sizes=Sizes(most=1.2, of="mean"),
        random_state=0,
    ).fit(x)
    centroids, cells = np.load(out / "centroids.npy"), np.load(out / "assignments.npy")
    assert (centroids.dtype, cells.dtype) == (np.float32, np.int32)
    assert centroids.flags.c_contiguous
    np.testing.assert_array_equal(cells, model.labels_)
    np.testing.assert_array_equal(centroids, model.cluster_centers_)
    both = np.fromfile(out / "centroids.fvecs", "<f4").reshape(24, 9)
    np.testing.assert_array_equal(both[:, 0].view("<i4"), 8)
    np.testing.assert_array_equal(both[:, 1:], centroids)
    sizes = np.bincount(cells, minlength=24)
    assert (summary["largest"], summary["smallest"]) == (sizes.max(), sizes.min())
    assert sizes.max() <= 30  # 1.2 times 25
    assert summary["imbalance"] == pytest.approx(24 * (sizes**2).sum() / 600**2)
    again = load(out / "model.safetensors")
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_rows_are_added_to_the_cells_there_are(
    cmeans: Command, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, new = tmp_path / "out", tmp_path / "new.npy"
    cmeans("index", vectors, "-c", 12, "--balance", 1.5, "--out", out)
    first, centroids = np.load(out / "assignments.npy"), (out / "centroids.npy").read_bytes()
    model = load(out / "model.safetensors")
    np.save(new, np.load(vectors)[:100])
    with monkeypatch.context() as patched:
        patched.setattr(registration, "_at_terminal", lambda: True)
        shown = cmeans("index", new, "--add", "--out", out).out
    assert shown.startswith(f"12 cells with 700 rows, 100 of them added from {new}\n")
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["rows"], summary["added"], summary["warnings"]) == (700, 100, [])
    cells = np.load(out / "assignments.npy")
    np.testing.assert_array_equal(cells[:600], first)
    nearest = np.argmin(model.transform(np.load(new)), axis=1)
    assert (cells[600:] != nearest).sum() == summary["moved"]
    np.save(new, np.repeat(np.load(vectors)[:1], 100, axis=0))
    sizes = np.bincount(cells)
    summary = cmeans("index", new, "--add", "--out", out).summary
    assert summary["largest"] == 100 == 1.5 * summary["mean"]  # 800 rows in 12 cells
    assert summary["imbalance_before"] == pytest.approx(12 * (sizes**2).sum() / 700**2)
    assert summary["moved"] == sizes[nearest[0]]  # as many as it had no room for
    assert summary["warnings"] == []
    np.testing.assert_array_equal(np.load(out / "assignments.npy")[:700], cells)
    assert (out / "centroids.npy").read_bytes() == centroids
    assert cmeans("index", vectors, "-c", 9, "--out", out).summary["n_clusters_found"] == 9


@pytest.mark.parametrize("words", [[], ["--balance", 1.2], ["--recall", 0.9]])
def test_rows_of_unseen_groups_are_told(
    cmeans: Command, tmp_path: Path, words: list[object]
) -> None:
    rng, out = np.random.default_rng(0), tmp_path / "out"
    means = rng.normal(size=(6, 8)) * 5
    old, same, new = ((means[:, None] + rng.normal(size=(6, n, 8))) for n in (100, 40, 40))
    for name, x in (("old", old[:4]), ("same", same[:4]), ("new", new[4:])):
        np.save(tmp_path / f"{name}.npy", x.reshape(-1, 8))
    cmeans("index", tmp_path / "old.npy", "-c", 4, *words, "--out", out)
    added = cmeans("index", tmp_path / "same.npy", "--add", "--out", out).summary
    assert 0.9 < added["farther"] < 1.1
    assert added["warnings"] == []
    added = cmeans("index", tmp_path / "new.npy", "--add", "--out", out).summary
    d2 = ((new[4:, :, None] - means[:4]) ** 2).sum(axis=-1).min(axis=-1)
    assert added["farther"] == pytest.approx(d2.mean() / 8, rel=0.1)
    (warned,) = added["warnings"]
    assert "times as far from their cells" in warned


def test_added_rows_go_beyond_cells_that_are_overfull(
    cmeans: Command, vectors: Path, tmp_path: Path
) -> None:
    out, cells = tmp_path / "out", np.zeros(600, np.int32)
    cmeans("index", vectors, "-c", 20, "--balance", 1, "--out", out)
    np.save(out / "assignments.npy", cells)  # as of an index that has grown without a bound
    summary = cmeans("index", vectors, "--add", "--out", out).summary
    sizes = np.bincount(np.load(out / "assignments.npy"), minlength=20)
    assert sizes[0] == 600
    assert sizes[1:].max() <= 60
    (warned,) = summary["warnings"]
    assert warned.startswith("1 of 20 cells hold more than 60 rows, which are 1 times the mean")


def test_probes_for_a_recall(cmeans: Command, vectors: Path, tmp_path: Path) -> None:
    for recall in (0.5, 1):
        summary = cmeans(
            "index", vectors, "-c", 9, "--recall", recall, "--out", tmp_path / "out"
        ).summary
        assert recall <= summary["recall_at_10"] <= 1
        assert 1 <= summary["probes"] <= 9
        assert 0 < summary["scanned"] <= 1
        assert summary["queries"] == 60
        assert f"more sweeps took {summary['probes']}" in summary["stopped"]
    added = cmeans("index", vectors, "--add", "--out", tmp_path / "out").summary
    assert not {"probes", "stopped"} & set(added)  # which were those of the rows before
    ended = cmeans("index", vectors, "-c", 9, "--recall", 95, "--out", tmp_path / "other")
    assert "--recall 95: give a share" in refused(ended)
    ended = cmeans("index", vectors, "-c", 600, "--recall", 0.9, "--out", tmp_path / "other")
    assert "600 rows are too few beside 600 cells" in refused(ended)


@pytest.mark.parametrize("words", [[], ["--balance", 1.2], ["--search", "hierarchical"]])
def test_queries_are_left_out_of_the_training(
    cmeans: Command, vectors: Path, tmp_path: Path, words: list[object]
) -> None:
    """Rows that are asked lie far away, and draw no centre to them."""
    x, asked = np.load(vectors), np.linspace(0, 599, 60).astype(int)
    x[asked] += 100
    np.save(vectors, x)
    out = tmp_path / "out"
    summary = cmeans("index", vectors, "-c", 20, "--recall", 0.9, *words, "--out", out).summary
    assert np.load(out / "centroids.npy").max() < 10
    cells = np.load(out / "assignments.npy")
    assert cells.min() >= 0
    if "--balance" in words:
        assert np.bincount(cells).max() <= 36
        assert "as without --recall" in summary["stopped"]
    else:
        nearest = np.argmin(load(out / "model.safetensors").transform(x), axis=1)
        np.testing.assert_array_equal(cells, nearest)


def test_fewer_different_rows_than_cells(cmeans: Command, tmp_path: Path) -> None:
    x = np.random.default_rng(24).normal(size=(239, 8)).astype(np.float32)[np.arange(1537) % 239]
    np.save(tmp_path / "x.npy", x)
    for words in (["--search", "flat"], [], ["--balance", 1.2]):
        summary = cmeans("index", tmp_path / "x.npy", "-c", 472, *words, "--out", tmp_path).summary
        assert (summary["n_clusters_found"], summary["smallest"]) == (239, 6)
        (warned,) = summary["warnings"]
        assert "so 239 clusters are made" in warned
        assert len(np.unique(np.load(tmp_path / "centroids.npy"), axis=0)) == 239


def test_one_row_in_several_cells(cmeans: Command, tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(100, 2))
    x[:50] = 0
    np.save(tmp_path / "x.npy", x)
    summary = cmeans("index", tmp_path / "x.npy", "-c", 10, "--balance", 1, "--out", tmp_path)
    assert summary.summary["largest"] == 10
    (warned,) = summary.summary["warnings"]
    assert "have the centre of another one" in warned


def test_sorted_file_and_opposites(cmeans: Command, tmp_path: Path) -> None:
    y = np.repeat(np.arange(20), 100)
    means = np.array([[i % 5, i // 5] for i in range(20)]) * 3
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(0, 0.2, (2000, 2)) + means[y])
    for search in ("flat", "hierarchical"):
        words = ["-c", 20, "--balance", 1.2, "--search", search]
        found = cmeans("index", tmp_path / "x.npy", *words, "--out", tmp_path).summary
        cells = np.load(tmp_path / "assignments.npy")
        assert len({*zip(y, cells, strict=True)}) == 20
        assert found["largest"] == 100
    v = np.random.default_rng(22).normal(size=(1, 16))
    np.save(tmp_path / "x.npy", np.repeat(v, 100, 0) * np.repeat([1, -1], 50)[:, None])
    words = ["-c", 2, "--metric", "cosine", "--search", "hierarchical"]
    cmeans("index", tmp_path / "x.npy", *words, "--out", tmp_path)
    np.testing.assert_allclose(np.linalg.norm(np.load(tmp_path / "centroids.npy"), axis=1), 1)


def test_what_is_refused(cmeans: Command, vectors: Path, tmp_path: Path) -> None:
    out, text = tmp_path / "out", tmp_path / "text.csv"
    text.write_text("a,b\nx,y\nz,w\n")
    holes = tmp_path / "holes.csv"
    holes.write_text("a,b\n1,2\n,4\n5,6\n")

    def said(file: Path, *words: object) -> str:
        return refused(cmeans("index", file, *words, "--out", out))

    assert "fewer rows than clusters, 600 rows" in said(vectors, "-c", 601)
    assert "no numeric columns" in said(text, "-c", 2)
    assert "--missing" not in (wrong := said(holes, "-c", 2))
    assert "row 1" in wrong
    assert "--balance 0.5: give a number from 1." in said(vectors, "-c", 9, "--balance", 0.5)
    assert "--balance nan: give a number from 1" in said(vectors, "-c", 9, "--balance", "nan")
    assert "needs the number of cells" in said(vectors)
    wrong = said(vectors, "-c", 9, "--metric", "cosine", "--add")
    assert wrong.startswith("cmeans: --clusters, --metric: --add takes the cells of the index")
    assert "holds no index" in said(vectors, "--add")
    assert not out.exists()
    planned = cmeans("index", vectors, "-c", 300, "--plan", "--out", out).summary
    assert (planned["n_rows"], planned["n_columns"]) == (600, 8)
    assert not out.exists()
    out.mkdir()
    (out / "centroids.npy").write_bytes(b"")
    assert "--overwrite" in said(vectors, "-c", 9)
