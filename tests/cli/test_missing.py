"""`cmeans fit --missing partial`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from cli.command import Command


@pytest.fixture(params=["csv", "parquet"])
def holes(
    request: pytest.FixtureRequest, tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]
) -> Path:
    """The groups, with empty cells and nulls."""
    gone = np.random.default_rng(1).random(blobs[0].shape) < 0.2
    gone[gone.all(axis=1), 0] = False
    table = pa.table(
        {
            name: pa.array(x, mask=empty)
            for name, x, empty in zip("abcd", blobs[0].T, gone.T, strict=True)
        }
    )
    file = tmp_path / f"holes.{request.param}"
    (pa.csv.write_csv if request.param == "csv" else pq.write_table)(table, file)
    return file


@pytest.mark.parametrize(
    "words",
    [
        "--scale unit",
        "--method hard --kernel linear --scale unit",
        "--scale standard --report",
        "--method possibilistic --scale unit",
    ],
)
def test_fit_and_predict(
    cmeans: Command, holes: Path, blobs: tuple[np.ndarray, np.ndarray], tmp_path: Path, words: str
) -> None:
    out = tmp_path / "o"
    summary = cmeans(
        "fit", holes, "-c", 3, "--missing", "partial", *words.split(), "--out", out
    ).summary
    assert 0 < summary["missing"] < 200
    labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(blobs[1], labels) > 0.8
    assert "NaN" not in json.dumps(summary)
    assert (
        cmeans("predict", out / "model.safetensors", holes, "--out", tmp_path / "p.parquet").code
        == 0
    )
    np.testing.assert_array_equal(pq.read_table(tmp_path / "p.parquet")["label"].to_numpy(), labels)
    assert (
        cmeans("report", out / "model.safetensors", holes, "--out", tmp_path / "r.html").code == 0
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "fit FILE -c 3 --out OUT --missing error",
            r"column '.' is empty or not a number .* or fit with --missing partial",
        ),
        (
            "fit FILE -c 3 --out OUT --missing partial --kernel rbf",
            "--kernel rbf: .* take that, or impute the data.$",
        ),
        (
            "fit FILE -c 3 --out OUT --missing partial --landmarks 9",
            "--landmarks 9: rows with missing values have no landmarks",
        ),
        (
            "fit FILE -c 3 --out OUT --missing partial --method two-step",
            "--missing: --method two-step has none; it belongs to hard, fuzzy",
        ),
        (
            "select FILE -c 2-3 --missing error",
            r"column '.' is empty or not a number .* or fit with --missing partial",
        ),
        (
            "fit FILE -c 3 --out OUT --method adaptive",
            r"is empty or not a number .* drop their rows \(frame\.dropna\(\)\) first\.$",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    cmeans: Command, holes: Path, tmp_path: Path, words: str, message: str
) -> None:
    ended = cmeans(
        *(
            str(holes) if word == "FILE" else tmp_path / "o" if word == "OUT" else word
            for word in words.split()
        )
    )
    assert ended.code == 2
    assert re.search(message, ended.err.splitlines()[-1]), ended.err


def test_empty_cells_are_missing_values_unless_refused(
    cmeans: Command, holes: Path, blobs: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    said = r"cells are empty \((\d+ of 240 in '.'(, )?)+\); .* --missing error refuses them"
    ended = cmeans("fit", holes, "-c", 3, "--scale", "unit", "--out", tmp_path / "o")
    assert re.search(said.replace("240", str(len(blobs[0]))), ended.summary["warnings"][-1])
    labels = pq.read_table(tmp_path / "o" / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(blobs[1], labels) > 0.8
    told = {name: int(count) for count, name in re.findall(r"(\d+) of \d+ in '(.)'", ended.err)}
    assert (ended.summary["missing_by_column"], ended.summary["missing"]) == (
        told,
        sum(told.values()),
    )
    words = ["-c", 3, "--scale", "unit", "--missing", "partial", "--out", tmp_path / "p"]
    asked = cmeans("fit", holes, *words)  # the same, and no warning
    parts = ", ".join(f"{count} of {len(blobs[0])} in {name!r}" for name, count in told.items())
    assert f"cmeans: cells are empty ({parts}); distances are taken over" in asked.err
    assert not any("empty" in text for text in asked.summary["warnings"])
    assert asked.summary["missing_by_column"] == told
    selected = cmeans("select", holes, "-c", "2-4", "--refits", 0, "--scale", "unit").summary
    assert selected["n_clusters"] == 3


@pytest.mark.parametrize("words", [[], ["--missing", "partial"]])
def test_method_and_number_are_chosen(
    cmeans: Command, holes: Path, tmp_path: Path, words: list[str]
) -> None:
    """With the word it ended with a line on a kernel that nobody had named."""
    summary = cmeans("fit", holes, *words, "--scale", "unit", "--out", tmp_path / "o").summary
    assert summary["n_clusters"] == 3
    assert summary["missing"] > 0


def test_rows_that_say_nothing_are_counted(cmeans: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "rows.csv", tmp_path / "o"
    file.write_text("a,b\n" + "".join(f"{x},{x}\n" for x in (1, 2, 1.5, 9, 10, 9.5)) + ",\n,\n")
    words = ["fit", file, "-c", 2, "--missing", "partial", "--out"]
    said = (
        "2 of 8 rows of the data have no value at all, only NaN, and are in no cluster, with "
        "the label -1."
    )
    ended = cmeans(*words, out)
    assert (ended.code, said in ended.err) == (0, True), ended.err
    assert (ended.summary["noise"], sum(ended.summary["sizes"])) == (2, 6)
    assert pq.read_table(out / "labels.parquet")["label"].to_pylist()[6:] == [-1, -1]
    predicted = cmeans("predict", out / "model.safetensors", file, "--out", tmp_path / "p.parquet")
    assert (predicted.code, said in predicted.err) == (0, True), predicted.err
    assert pq.read_table(tmp_path / "p.parquet")["label"].to_pylist()[6:] == [-1, -1]
