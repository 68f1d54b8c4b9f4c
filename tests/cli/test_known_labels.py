"""`cmeans fit --known-labels COLUMN`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command import Command


@pytest.fixture
def labelled(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> Path:
    """The groups, with the labels of every fifth row; they are not those that clusters would have by themselves."""
    x, groups = blobs
    known = np.where(np.arange(150) % 5 == 0, (groups + 1) % 3, -1)
    columns = dict(zip("abcd", x.T, strict=True)) | {"known": known, "w": 1.0 + groups, "text": [f"t{group}" for group in groups]}
    file = tmp_path / "labelled.parquet"
    pq.write_table(pa.table(columns), file)
    return file


@pytest.mark.parametrize("words", ["", "--method hard", "--method entropy --temperature 0.5", "--weight w", "--columns a,b,c,d"])
def test_clusters_take_the_numbers_of_labels(
    cmeans: Command, labelled: Path, blobs: tuple[np.ndarray, np.ndarray], tmp_path: Path, words: str
) -> None:
    out, data = tmp_path / "o", [*"abcd"] if "w" in words.split() or "--columns" in words else [*"abcd", "w"]
    summary = cmeans("fit", labelled, "-c", 3, "--known-labels", "known", "--scale", "unit", *words.split(), "--out", out).summary
    assert (summary["column_names"], summary["known_labels"]) == (data, "known")
    labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
    np.testing.assert_array_equal(labels[::5], ((blobs[1] + 1) % 3)[::5])
    assert cmeans("predict", out / "model.safetensors", labelled, "--out", tmp_path / "p.parquet").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--known-labels nobody", "--known-labels nobody: .*there is no column 'nobody'"),
        ("--known-labels text", "--known-labels text: holds text; give whole numbers"),
        ("--known-labels a", r"--known-labels a: known_labels\[0\] is .*; give whole numbers"),
        (
            "--known-labels known --columns a,known",
            "--known-labels: column 'known' is also in --columns; it holds their labels",
        ),
        ("--known-labels w --weight w", "--known-labels w: is --weight too"),
        ("--known-labels known -c 2", r"--known-labels known: known_labels\[\d+\] is 2; labels are 0 \.\.\. 1"),
        ("--known-labels known --method two-step", "--known-labels known: known_labels is for KernelKMeans"),
    ],
)
def test_what_cannot_be_is_refused(cmeans: Command, labelled: Path, tmp_path: Path, words: str, message: str) -> None:
    clusters = () if "-c" in words.split() else ("-c", 3)
    ended = cmeans("fit", labelled, *clusters, *words.split(), "--out", tmp_path / "o")
    assert ended.code == 2
    assert re.search(message, ended.err.splitlines()[-1]), ended.err
    assert not (tmp_path / "o" / "summary.json").exists()
