"""Vectors in columns of lists, and clusters of their directions, at a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli.command import Command
from cmeans import KernelKMeans, load
from file_formats import as_lists, lists


@pytest.fixture
def vectors() -> np.ndarray:
    """150 vectors of three directions and any length."""
    rng = np.random.default_rng(0)
    x = 3 * np.eye(16)[np.arange(150) % 3] + 0.3 * rng.normal(size=(150, 16))
    return (x * rng.uniform(0.1, 10, size=(150, 1))).astype(np.float32)


@pytest.mark.parametrize(
    ("kind", "ending"), [("fixed", "parquet"), ("plain", "arrow"), ("large", "arrows")]
)
def test_fit_and_predict(
    cmeans: Command, vectors: np.ndarray, tmp_path: Path, kind: str, ending: str
) -> None:
    file = lists(
        tmp_path, vectors, kind, ending, document=pa.array([f"d{at}" for at in range(150)])
    )
    words = [
        "--clusters",
        3,
        "--metric",
        "cosine",
        "--method",
        "hard",
        "--kernel",
        "linear",
        "--id",
        "document",
    ]
    summary = cmeans("fit", file, *words, "--out", tmp_path / "o").summary
    assert (summary["columns"], summary["dtype"], summary["metric"]) == (16, "float32", "cosine")
    expected = KernelKMeans(3, kernel="linear", metric="cosine", random_state=0).fit(vectors)
    assert summary["objective"] == pytest.approx(expected.objective_, rel=1e-5)
    written = pq.read_table(tmp_path / "o" / "labels.parquet")
    assert written["document"].to_pylist()[:2] == ["d0", "d1"]
    np.testing.assert_array_equal(written["label"], expected.labels_)
    assert load(tmp_path / "o" / "model.safetensors").metric == "cosine"
    assert (
        cmeans(
            "predict", tmp_path / "o" / "model.safetensors", file, "--out", tmp_path / "p.parquet"
        ).code
        == 0
    )
    np.testing.assert_array_equal(pq.read_table(tmp_path / "p.parquet")["label"], expected.labels_)


def test_lists_beside_numbers_are_named(
    cmeans: Command, vectors: np.ndarray, tmp_path: Path
) -> None:
    file = lists(
        tmp_path, vectors, "plain", "parquet", number=pa.array(range(150)), w=pa.array([2.0] * 150)
    )
    ended = cmeans("fit", file, "-c", 3, "--out", tmp_path / "o")
    assert ended.code == 2
    assert re.search(
        r"holds lists of numbers, and there are numbers beside it; .*--columns vector\.",
        ended.err.splitlines()[-1],
    )
    words = [
        "--columns",
        "vector",
        "--weight",
        "w",
        "--id",
        "number",
        "-c",
        3,
        "--out",
        tmp_path / "o",
    ]
    assert cmeans("fit", file, *words).summary["columns"] == 16


def test_a_stream_of_lists(cmeans: Command, vectors: np.ndarray, tmp_path: Path) -> None:
    pq.write_table(pa.table({"vector": as_lists(vectors)}), tmp_path / "v.parquet")
    for file in (tmp_path / "v.parquet", lists(tmp_path, vectors, "fixed", "arrows")):
        assert (
            cmeans(
                "stream",
                file,
                "--columns",
                "vector",
                "-c",
                3,
                "--chunk-size",
                50,
                "--out",
                tmp_path / "s.csv",
            ).code
            == 0
        )
        assert len(pa.csv.read_csv(tmp_path / "s.csv")) == 150


def test_methods_without_a_sphere_say_so(
    cmeans: Command, vectors: np.ndarray, tmp_path: Path
) -> None:
    np.save(tmp_path / "v.npy", vectors)
    ended = cmeans(
        "fit",
        tmp_path / "v.npy",
        "-c",
        3,
        "--method",
        "adaptive",
        "--metric",
        "cosine",
        "--out",
        tmp_path / "o",
    )
    assert ended.code == 2
    assert "--metric: --method adaptive has none; it belongs to hard, fuzzy" in ended.err
    vectors[7] = 0
    np.save(tmp_path / "v.npy", vectors)
    ended = cmeans(
        "fit", tmp_path / "v.npy", "-c", 3, "--metric", "cosine", "--out", tmp_path / "o"
    )
    assert (ended.code, ended.summary["noise"]) == (0, 1)
