from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import cmeans as library
from cli.command import Command
from cmeans.cli.output.results import read_labels

Blobs = tuple[np.ndarray, np.ndarray]


@pytest.fixture
def model(cmeans: Command, table: Path, tmp_path: Path) -> Path:
    assert (
        cmeans(
            "fit",
            table,
            "--clusters",
            3,
            "--columns",
            "d,b,a",
            "--weight",
            "w",
            "--scale",
            "standard",
            "--out",
            tmp_path / "o",
        ).code
        == 0
    )
    return tmp_path / "o" / "model.safetensors"


@pytest.mark.parametrize("method", ["hard", "fuzzy", "possibilistic"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_training_file_gets_its_labels_again(
    cmeans: Command, table: Path, tmp_path: Path, method: str, dtype: str
) -> None:
    words = [
        "--clusters",
        3,
        "--columns",
        "a,b,c,d",
        "--scale",
        "standard",
        "--dtype",
        dtype,
        "--method",
        method,
    ]
    assert cmeans("fit", table, *words, "--out", tmp_path / "o").code == 0
    summary = cmeans(
        "predict", tmp_path / "o" / "model.safetensors", table, "--out", tmp_path / "again.parquet"
    ).summary
    fitted, again = (
        pq.read_table(tmp_path / "o" / "labels.parquet"),
        pq.read_table(tmp_path / "again.parquet"),
    )
    assert fitted.schema.equals(again.schema)
    assert fitted["label"].equals(again["label"])
    for name in fitted.schema.names[1:]:
        np.testing.assert_allclose(
            again[name], fitted[name], atol=1e-5 if dtype == "float32" else 1e-10
        )
    assert (summary["rows"], summary["columns"], summary["n_clusters"], summary["memberships"]) == (
        150,
        4,
        3,
        method != "hard",
    )


def test_columns_are_found_by_name_wherever_they_stand(
    cmeans: Command, model: Path, table: Path, tmp_path: Path
) -> None:
    frame = pd.read_parquet(table)
    # no weights, other order
    frame[["text", "a", "c", "b", "d"]].to_csv(tmp_path / "other.csv", index=False)
    assert (
        cmeans("predict", model, tmp_path / "other.csv", "--out", tmp_path / "p.parquet").code == 0
    )
    assert np.array_equal(
        read_labels(tmp_path / "p.parquet"), read_labels(model.parent / "labels.parquet")
    )


def test_other_names_are_said(cmeans: Command, model: Path, table: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", pd.read_parquet(table)[["a", "b", "c", "d"]].to_numpy())
    ended = cmeans("predict", model, tmp_path / "x.npy", "--out", tmp_path / "p.parquet")
    assert ended.code == 2
    assert (
        "the model names its columns, the file does not; say with --columns which columns stand "
        "for columns 'd', 'b', 'a'" in ended.err
    )
    assert (
        cmeans(
            "predict",
            model,
            tmp_path / "x.npy",
            "--columns",
            "3,1,0",
            "--out",
            tmp_path / "p.parquet",
        ).code
        == 0
    )
    assert np.array_equal(
        read_labels(tmp_path / "p.parquet"), read_labels(model.parent / "labels.parquet")
    )
    ended = cmeans(
        "predict", model, tmp_path / "x.npy", "--columns", "3,1", "--out", tmp_path / "p.parquet"
    )
    assert (ended.code, "names 2 columns, but the model was fitted on 3" in ended.err) == (2, True)


def test_a_model_of_positions(cmeans: Command, table: Path, tmp_path: Path, blobs: Blobs) -> None:
    np.save(tmp_path / "x.npy", blobs[0])
    model = tmp_path / "o" / "model.safetensors"
    assert (
        cmeans(
            "fit", tmp_path / "x.npy", "--clusters", 3, "--columns", "1,3", "--out", tmp_path / "o"
        ).code
        == 0
    )
    assert cmeans("predict", model, tmp_path / "x.npy", "--out", tmp_path / "p.parquet").code == 0
    assert np.array_equal(
        read_labels(tmp_path / "p.parquet"), read_labels(tmp_path / "o" / "labels.parquet")
    )
    ended = cmeans("predict", model, table, "--out", tmp_path / "p.parquet")
    assert (ended.code, "the file names its columns, the model does not" in ended.err) == (2, True)
    np.save(tmp_path / "narrow.npy", blobs[0][:, :2])
    ended = cmeans("predict", model, tmp_path / "narrow.npy", "--out", tmp_path / "p.parquet")
    assert (
        ended.code,
        "lacks column 3 of the model; it has columns 0, 1. Name the right ones with --columns."
        in ended.err,
    ) == (2, True)


def test_other_endings(cmeans: Command, model: Path, table: Path, tmp_path: Path) -> None:
    labels = read_labels(model.parent / "labels.parquet")
    assert (
        cmeans("predict", model, table, "--out", tmp_path / "p.npy").summary["memberships"] is False
    )
    assert np.array_equal(np.load(tmp_path / "p.npy"), labels)
    assert cmeans("predict", model, table, "--out", tmp_path / "p.csv").code == 0
    written = pyarrow.csv.read_csv(tmp_path / "p.csv")
    assert written.schema.names == ["label", "u0", "u1", "u2"]
    assert np.array_equal(written["label"], labels)


def test_a_folder_gets_a_folder_of_labels(
    cmeans: Command, model: Path, table: Path, tmp_path: Path
) -> None:
    rows = pq.read_table(table)
    for name, part in (("day=1", rows[:10]), ("day=2", rows[10:])):
        (tmp_path / "rows" / name).mkdir(parents=True)
        pq.write_table(part, tmp_path / "rows" / name / "part.parquet")
    out = tmp_path / "labels"
    ended = cmeans("predict", model, tmp_path / "rows", "--out", out, "--with-rows")
    assert ended.summary["outputs"] == {"labels": str(out)}
    found = [pq.ParquetFile(file).read() for file in sorted(out.rglob("*.parquet"))]
    assert [file.name for file in sorted(out.iterdir())] == ["day=1", "day=2"]
    assert [len(part) for part in found] == [10, len(rows) - 10]
    assert found[1]["a"].equals(rows[10:]["a"])
    labels = np.concatenate([part["label"].to_numpy() for part in found])
    np.testing.assert_array_equal(labels, read_labels(tmp_path / "o" / "labels.parquet"))

    # a fit, twice into one folder, where a run with one file of labels has been
    out, words = tmp_path / "fit", ("-c", 3, "--with-rows", "--columns", "a,b,c")
    for more in ((), ("--labels-as", "folder"), ("--labels-as", "folder"), ()):
        ended = cmeans("fit", tmp_path / "rows", "--out", out, *words, *more)
        assert ended.code == 0, ended.err
        if not more:
            assert not (out / "labels").exists()
            whole = pq.read_table(out / "labels.parquet")
            continue
        assert ended.summary["outputs"]["labels"] == str(out / "labels")
        assert not (out / "labels.parquet").exists()
        files = sorted((out / "labels").rglob("*.parquet"))
        assert [file.parent.name for file in files] == ["day=1", "day=2"]
        found = [pq.ParquetFile(file).read() for file in files]
        assert [len(part) for part in found] == [10, len(rows) - 10]
        assert pa.concat_tables(found).equals(whole)
    text = tmp_path / "text" / "rows.csv"
    text.parent.mkdir()
    rows.to_pandas().to_csv(text, index=False)
    ended = cmeans("fit", text.parent, "--out", out, *words, "--labels-as", "folder")
    assert ended.code == 2
    assert "--labels-as folder: results go into a folder where files say how many" in ended.err
    assert (out / "labels.parquet").exists()


def test_a_model_saved_from_python(cmeans: Command, table: Path, tmp_path: Path) -> None:
    frame = pd.read_parquet(table)[["c", "a"]]
    for rows, name in ((frame, "named"), (frame.to_numpy(), "plain")):
        fitted = library.FuzzyCMeans(3, random_state=0).fit(rows)
        library.save(fitted, tmp_path / f"{name}.safetensors")
        np.save(tmp_path / "plain.npy", frame.to_numpy())
        file = table if name == "named" else tmp_path / "plain.npy"
        assert (
            cmeans(
                "predict", tmp_path / f"{name}.safetensors", file, "--out", tmp_path / "p.parquet"
            ).code
            == 0
        )
        assert np.array_equal(read_labels(tmp_path / "p.parquet"), fitted.labels_)


def test_nothing_is_written_where_something_is_wrong(
    cmeans: Command, model: Path, table: Path, tmp_path: Path
) -> None:
    pq.write_table(pq.read_table(table).drop_columns(["b"]), tmp_path / "lacking.parquet")
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(model.read_bytes()[:200])
    before = sorted(tmp_path.iterdir())
    for words, message in (
        (
            (model, tmp_path / "lacking.parquet", "--out", tmp_path / "p.parquet"),
            "lacking.parquet: lacks column 'b' of the model",
        ),
        ((model, tmp_path / "no.csv", "--out", tmp_path / "p.parquet"), "no.csv: no such file."),
        (
            (tmp_path / "no.safetensors", table, "--out", tmp_path / "p.parquet"),
            "no.safetensors: no such model file.",
        ),
        (
            (tmp_path / "o", table, "--out", tmp_path / "p.parquet"),
            "is a folder; the model is a file in it",
        ),
        ((broken, table, "--out", tmp_path / "p.parquet"), "broken.safetensors"),
        ((table, table, "--out", tmp_path / "p.parquet"), "blobs.parquet"),
        (
            (model, table, "--out", tmp_path / "p.txt"),
            "p.txt: unknown ending; known are .parquet, .csv and .npy",
        ),
        ((model, table, "--out", table), "would overwrite the input"),
        (
            (model, table, "--out", tmp_path / "no" / "p.parquet"),
            "cannot be written (No such file or directory)",
        ),
    ):
        ended = cmeans("predict", *words)
        assert ended.code == 2, ended
        assert message in ended.err
        assert (
            len([line for line in ended.err.splitlines() if not line.startswith("cmeans: reading")])
            == 1
        )
        assert ended.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_of_rows_must_stay_one(cmeans: Command, tmp_path: Path) -> None:
    folder, x = tmp_path / "rows", np.random.default_rng(0).normal(size=(60, 2))
    folder.mkdir()
    for number, part in enumerate(np.array_split(x, 3)):
        np.save(folder / f"part{number}.npy", part)
    ended = cmeans("fit", folder, "--clusters", 2, "--out", folder / "deep" / "out")
    assert ended.code == 2
    assert "lies in" in ended.err
    assert cmeans("fit", folder, "--clusters", 2, "--out", tmp_path / "out").code == 0
    words = ["predict", tmp_path / "out" / "model.safetensors", folder, "--out"]
    assert cmeans(*words, folder / "labels.npy").code == 2
    assert cmeans(*words, tmp_path / "labels.npy").code == 0
    assert len(np.load(tmp_path / "labels.npy")) == 60
    assert len(list(folder.rglob("*"))) == 3
