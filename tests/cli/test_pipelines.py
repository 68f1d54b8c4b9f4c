"""Pipelines saved from Python, asked by the command: columns by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import cmeans as library
from cli.command import Command
from inspection.page_record import Record


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    age = 30.0 + 15 * group + rng.normal(size=90)
    city = np.array(["Rome", "Köln", "a, b"], dtype=object)[group]
    return pd.DataFrame(
        {
            "name": [f"n{row}" for row in range(90)],
            "age": age,
            "city": city,
            "rooms": group + 1,
            "w": 1.0 + group,
        }
    )


@pytest.fixture
def pipeline(frame: pd.DataFrame) -> Pipeline:
    return make_pipeline(StandardScaler(), library.FuzzyCMeans(3, random_state=0)).fit(
        frame[["rooms", "age"]]
    )


@pytest.fixture
def model(pipeline: Pipeline, tmp_path: Path) -> Path:
    library.save(pipeline, tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


def written(frame: pd.DataFrame, file: Path) -> Path:
    frame.to_parquet(file) if file.suffix == ".parquet" else frame.to_csv(file, index=False)
    return file


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_are_labelled_as_in_python(
    cmeans: Command,
    model: Path,
    pipeline: Pipeline,
    frame: pd.DataFrame,
    tmp_path: Path,
    ending: str,
) -> None:
    file = written(frame, tmp_path / f"rows.{ending}")
    summary = cmeans(
        "predict", model, file, "--out", tmp_path / "labels.parquet", "--id", "name"
    ).summary
    assert (summary["estimator"], summary["rows"], summary["columns"], summary["n_clusters"]) == (
        "FuzzyCMeans",
        90,
        2,
        3,
    )
    labels = pd.read_parquet(tmp_path / "labels.parquet")
    assert labels["name"].tolist() == frame["name"].tolist()
    assert labels["label"].tolist() == pipeline.predict(frame[["rooms", "age"]]).tolist()
    np.testing.assert_array_equal(
        labels[["u0", "u1", "u2"]], pipeline.predict_proba(frame[["rooms", "age"]])
    )


def test_rows_of_several_files(
    cmeans: Command, model: Path, pipeline: Pipeline, frame: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "rows").mkdir()
    written(frame[:50], tmp_path / "rows" / "1.csv")
    written(frame[50:], tmp_path / "rows" / "2.csv")
    assert cmeans("predict", model, tmp_path / "rows", "--out", tmp_path / "labels.npy").code == 0
    assert (
        np.load(tmp_path / "labels.npy").tolist()
        == pipeline.predict(frame[["rooms", "age"]]).tolist()
    )


def test_arrays_without_names(cmeans: Command, tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(60, 3)) * [1, 10, 100]
    made = make_pipeline(
        StandardScaler(), MinMaxScaler(), library.KernelKMeans(3, random_state=0)
    ).fit(x)
    library.save(made, tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", x)
    assert (
        cmeans(
            "predict",
            tmp_path / "m.safetensors",
            tmp_path / "x.npy",
            "--out",
            tmp_path / "labels.npy",
        ).code
        == 0
    )
    assert np.load(tmp_path / "labels.npy").tolist() == made.predict(x).tolist()
    np.save(tmp_path / "wide.npy", np.ones((5, 2)))
    ended = cmeans(
        "predict",
        tmp_path / "m.safetensors",
        tmp_path / "wide.npy",
        "--out",
        tmp_path / "labels.npy",
    )
    assert ended.code == 2


def test_the_page_has_the_columns_that_go_in(
    cmeans: Command, model: Path, frame: pd.DataFrame, tmp_path: Path
) -> None:
    pytest.importorskip("jinja2")
    file = written(frame, tmp_path / "rows.csv")
    words = ["--out", tmp_path / "page.html", "--id", "name", "--weight", "w"]
    assert cmeans("report", model, file, *words).summary["rows"] == 90
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    for column in ("age", "rooms"):
        assert f'<th scope="row" class="text">{column}</th>' in text
    assert "n31" in Record(text).ids()
    assert "StandardScaler" in text


def test_what_is_told_of_the_steps(cmeans: Command, model: Path) -> None:
    facts = cmeans("info", model).summary
    assert facts["steps"] == ["standardscaler: StandardScaler"]
    assert facts["estimator"] == "FuzzyCMeans"


def test_what_is_refused(cmeans: Command, model: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    file, out = written(frame, tmp_path / "rows.csv"), tmp_path / "labels.npy"
    lacking = written(frame.drop(columns="age"), tmp_path / "lacking.csv")
    text = written(frame.assign(age="old"), tmp_path / "text.csv")
    for words, said in (
        ((model, file, "--columns", "age"), "--columns: the model is a pipeline"),
        ((model, lacking), "lacks column 'age' of the model"),
        ((model, text), "column 'age' (text) holds no numbers"),
    ):
        ended = cmeans("predict", *words, "--out", out)
        assert (ended.code, said in ended.err.splitlines()[-1], out.exists()) == (2, True, False), (
            ended.err
        )
    ended = cmeans(
        "stream",
        file,
        "--clusters",
        3,
        "--checkpoint",
        model,
        "--resume",
        "--out",
        tmp_path / "s.csv",
    )
    assert (ended.code, "holds a pipeline, which no stream can go on with" in ended.err) == (
        2,
        True,
    )
