"""Columns that are no numbers: left out and named, names of the rows, and categories."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import cmeans as library
from cli.command import Command
from cmeans.cli.rows import ReadOptions, read_rows
from cmeans.data.files.csv import CsvTable
from cmeans.data.recipe.front import TableWords, front_of
from cmeans.data.recipe.scaling import Scaling
from cmeans.data.recipe.table_recipe import recipe_from_json
from cmeans.data.row_source import RowsError

pytestmark = pytest.mark.slow

N = 90
WRITE = {
    "csv": pa.csv.write_csv,
    "parquet": lambda t, f: pq.write_table(t, f, row_group_size=20),
    "arrow": pa.feather.write_feather,
}


@pytest.fixture
def people() -> pa.Table:
    """Rows with a name, a number and a day each, two columns of numbers and two of categories."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 3
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=at) for at in range(N)]
    return pa.table(
        {
            "name": [f"person {at}" for at in range(N)],
            "number": np.arange(N) * 10**15 + 1,
            "day": pa.array(days),
            "x": 9.0 * group + rng.normal(size=N),
            "y": rng.normal(size=N),
            "colour": np.array(["red", "blue", "green"])[group],
            "rooms": np.array([2, 10, 3])[rng.integers(3, size=N)],
        }
    )


@pytest.fixture(params=list(WRITE))
def file(request: pytest.FixtureRequest, people: pa.Table, tmp_path: Path) -> Path:
    place = tmp_path / f"people.{request.param}"
    WRITE[request.param](people, place)
    return place


def labels(file: Path) -> pa.Table:
    return pa.csv.read_csv(file) if file.suffix == ".csv" else pq.read_table(file)


def test_text_and_dates_are_left_out_and_named(cmeans: Command, file: Path, tmp_path: Path) -> None:
    ended = cmeans("fit", file, "-c", 3, "--out", tmp_path / "o")
    assert ended.summary["columns"] == 3
    assert ended.summary["left_out"] == ["name", "number", "day", "colour"]
    (line,) = [line for line in ended.err.splitlines() if "left out" in line]
    assert (
        "'name', 'number' (identifiers; --id name), 'day' (dates; --dates day), 'colour' (3) "
        "(categories; --categorical colour)" in line
    )
    assert line.partition("warning: ")[2] in ended.summary["warnings"]
    assert (
        cmeans("fit", file, "-c", 3, "--columns", "x,y", "--out", tmp_path / "o").summary[
            "left_out"
        ]
        == []
    )
    ended = cmeans("fit", file, "-c", 3, "--columns", "x,day", "--out", tmp_path / "o")
    assert (ended.code, "column 'day' (date32[day]) holds no numbers." in ended.err) == (2, True)


@pytest.mark.parametrize("column", ["name", "number", "day"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_names_of_rows_come_first(
    cmeans: Command, file: Path, people: pa.Table, tmp_path: Path, column: str, ending: str
) -> None:
    summary = cmeans("fit", file, "-c", 3, "--id", column, "--out", tmp_path / "o").summary
    written = labels(tmp_path / "o" / "labels.parquet")
    assert summary["id"] == column
    assert summary["columns"] == 3
    assert written.schema.names == [column, "label", "u0", "u1", "u2"]
    assert written[column].combine_chunks() == people[column].combine_chunks()
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "labels.parquet",
        "model.safetensors",
        "run.toml",
        "summary.json",
    ]
    out = tmp_path / f"p.{ending}"
    assert (
        cmeans(
            "predict", tmp_path / "o" / "model.safetensors", file, "--id", column, "--out", out
        ).code
        == 0
    )
    assert labels(out)[column].combine_chunks() == people[column].combine_chunks()
    assert labels(out)["label"].to_pylist() == written["label"].to_pylist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--id", "zz"], "--id zz: "),
        (["--id", "x", "--columns", "x,y"], "--id: column 'x' is also in --columns"),
        (["--id", "label"], "--id label: the file of labels has a column of that name already"),
        (["--categorical", "zz"], "there is no column 'zz'"),
        (
            ["--categorical", "day,name", "--scheduler", "tcp://h:1", "--engine", "dask"],
            "--categorical: the workers",
        ),
    ],
)
def test_wrong_columns(
    cmeans: Command, people: pa.Table, tmp_path: Path, words: list[str], message: str
) -> None:
    pq.write_table(people.append_column("label", people["x"]), tmp_path / "x.parquet")
    ended = cmeans("fit", tmp_path / "x.parquet", "-c", 3, *words, "--out", tmp_path / "o", "-q")
    assert (ended.code, ended.out, message in ended.err, len(ended.err.splitlines())) == (
        2,
        "",
        True,
        1,
    ), ended.err
    assert not (tmp_path / "o").exists()


def test_arrays_have_no_such_columns(cmeans: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(9))
    for words in (["--id", "0"], ["--categorical", "0"]):
        ended = cmeans("fit", tmp_path / "x.npy", "-c", 3, *words, "--out", tmp_path / "o", "-q")
        assert (
            ended.code,
            "holds numbers alone; CSV, Parquet and Arrow have columns" in ended.err,
        ) == (2, True)


@pytest.mark.parametrize(
    "words", ["--missing-values=-9999", "--decimal=,", "--thousands=."], ids=str
)
def test_numbers_of_arrays_are_not_written(cmeans: Command, tmp_path: Path, words: str) -> None:
    """ "none" is what they hold anyway."""
    np.save(tmp_path / "x.npy", np.eye(9))
    ended = cmeans("fit", tmp_path / "x.npy", "-c", 3, words, "--out", tmp_path / "o", "-q")
    assert (ended.code, "NaN alone stands for nothing" in ended.err) == (2, True)
    same = ("fit", tmp_path / "x.npy", "-c", 3, "--missing-values=none", "--out", tmp_path / "o")
    assert cmeans(*same, "-q").code == 0


@pytest.mark.parametrize("most", [None, 0])
def test_as_scikit_learn_encodes(file: Path, people: pa.Table, most: int | None) -> None:
    """In memory and from the file, in blocks."""
    reading = ReadOptions(file, ("x,colour",))
    front = front_of(reading, TableWords(("colour", "rooms")), [])
    rows = read_rows(reading, most=most, recipe=front.recipe)
    encoder = OneHotEncoder(sparse_output=False).set_output(transform="pandas")
    expected = encoder.fit_transform(people.select(["colour", "rooms"]).to_pandas())
    assert rows.columns == ("x", *expected.columns)
    assert rows.stay == (most == 0)
    x = rows.x.read(0, N) if rows.stay else rows.x
    assert np.array_equal(x, np.column_stack([people["x"], expected]))


def test_categories_are_kept_with_the_model(
    cmeans: Command, file: Path, people: pa.Table, tmp_path: Path
) -> None:
    words = ["--categorical", "colour,rooms", "--columns", "x,y", "--scale", "standard"]
    summary = cmeans("fit", file, "-c", 3, *words, "--out", tmp_path / "o").summary
    assert summary["categories"] == {"colour": ["blue", "green", "red"], "rooms": ["2", "3", "10"]}
    model = tmp_path / "o" / "model.safetensors"
    stored = cmeans("info", model).summary["metadata"]
    assert stored["categories"] == summary["categories"]
    assert stored["scaling"]["factor"][2:] == [1.0] * 6
    other = people.select(["rooms", "y", "colour", "x"])
    for name, write in WRITE.items():
        write(other, tmp_path / f"other.{name}")
        assert (
            cmeans(
                "predict", model, tmp_path / f"other.{name}", "--out", tmp_path / "p.parquet"
            ).code
            == 0
        )
        assert labels(tmp_path / "p.parquet")["label"].equals(
            labels(tmp_path / "o" / "labels.parquet")["label"]
        )
    unknown = other.set_column(2, "colour", pa.array(["pink"] * N))
    pq.write_table(unknown, tmp_path / "unknown.parquet")
    ended = cmeans(
        "predict", model, tmp_path / "unknown.parquet", "--out", tmp_path / "q.parquet", "-q"
    )
    said = f"column 'colour' holds categories that the fit has not seen in {N} rows, such as 'pink'"
    assert (ended.code, said in ended.err, len(ended.err.splitlines())) == (0, True, 1)
    assert (tmp_path / "q.parquet").exists()
    (tmp_path / "q.parquet").unlink()
    pq.write_table(other.drop_columns(["colour"]), tmp_path / "lacking.parquet")
    ended = cmeans(
        "predict", model, tmp_path / "lacking.parquet", "--out", tmp_path / "q.parquet", "-q"
    )
    assert (ended.code, "no column 'colour'" in ended.err) == (2, True)
    assert not (tmp_path / "q.parquet").exists()


def test_codes_of_categories_are_kept_as_they_are_written(cmeans: Command, tmp_path: Path) -> None:
    codes = {
        "code": ["007", "7", "7.0", "10"],
        "version": ["1.10", "1.1", "1", "1.10"],
        "key": ["9007199254740993", "9007199254740992", "1", "1"],
    }
    rows = zip(*codes.values(), "0123", strict=True)
    folder = tmp_path / "in"
    for place in ("01", "1"):
        (folder / f"place={place}").mkdir(parents=True)
        (folder / f"place={place}" / "x.csv").write_text(
            "\n".join([",".join([*codes, "x"]), *map(",".join, rows)]) + "\n"
        )
        rows = zip(*codes.values(), "4567", strict=True)
    words = ["--categorical", ",".join([*codes, "place"]), "--columns", "x"]
    found = cmeans("fit", folder, "-c", 2, *words, "--out", tmp_path / "o").summary["categories"]
    assert found["code"] == ["007", "7", "10"]  # 7.0 is 7, as programs write it beside empty cells
    assert found["version"] == ["1", "1.1", "1.10"]
    assert found["key"] == ["1", "9007199254740992", "9007199254740993"]
    assert found["place"] == ["01", "1"]
    assert (
        cmeans(
            "predict", tmp_path / "o" / "model.safetensors", folder, "--out", tmp_path / "p.parquet"
        ).code
        == 0
    )


def test_empty_cells_are_a_category_of_their_own(
    cmeans: Command, people: pa.Table, tmp_path: Path
) -> None:
    colours = [None, *people["colour"].to_pylist()[1:]]
    for name, write in WRITE.items():
        write(people.set_column(5, "colour", pa.array(colours)), tmp_path / f"x.{name}")
        words = ["--categorical", "colour", "--columns", "x,y", "--out", tmp_path / "o"]
        summary = cmeans("fit", tmp_path / f"x.{name}", "-c", 3, *words).summary
        assert summary["categories"] == {"colour": ["blue", "green", "red", ""]}
        assert summary["column_names"][-1] == "colour_(empty)"


def test_folders_are_categories_and_names_too(
    cmeans: Command, people: pa.Table, tmp_path: Path
) -> None:
    for at, place in enumerate(("north", "south")):
        (tmp_path / "in" / f"place={place}").mkdir(parents=True)
        pq.write_table(
            people[at * 40 : at * 40 + 40], tmp_path / "in" / f"place={place}" / "x.parquet"
        )
    words = ["--columns", "x,y", "--categorical", "place", "--id", "name"]
    summary = cmeans("fit", tmp_path / "in", "-c", 3, *words, "--out", tmp_path / "o").summary
    assert (summary["rows"], summary["columns"], summary["categories"]) == (
        80,
        4,
        {"place": ["north", "south"]},
    )
    assert (
        labels(tmp_path / "o" / "labels.parquet")["name"].to_pylist()
        == people["name"].to_pylist()[:80]
    )


def test_an_identifier_is_no_category(cmeans: Command, tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"x": np.arange(1200.0), "key": [str(at) for at in range(1200)]}),
        tmp_path / "x.parquet",
    )
    ended = cmeans(
        "fit",
        tmp_path / "x.parquet",
        "-c",
        3,
        "--categorical",
        "key",
        "--out",
        tmp_path / "o",
        "-q",
    )
    assert (
        ended.code,
        "--categorical key: holds more than 1,000 categories; is it an identifier (--id key)?"
        in ended.err,
    ) == (2, True)


@pytest.mark.parametrize("stored", [[1], {"a": 3}, {"a": [1]}])
def test_damaged_categories_are_refused(stored: object) -> None:
    with pytest.raises(
        RowsError, match=r"the model's (categories|recipe of its columns) cannot be"
    ):
        recipe_from_json({"columns": ["a"], "scaling": Scaling().to_json(), "categories": stored})


@pytest.mark.parametrize("library_of", ["pandas", "polars"])
def test_python_refuses_frames_with_text_and_dates(people: pa.Table, library_of: str) -> None:
    frame = people.to_pandas(date_as_object=False)
    if library_of == "polars":
        frame = pytest.importorskip("polars").from_arrow(people)
    for columns, named in (
        (
            ["x", "name", "y", "day"],
            r"columns 'name', 'day' of X hold text or dates, no numbers; take .*, e\.g\. X\[\['x', "
            r"'y'\]\], or",
        ),
        (["x", "day"], r"column 'day' of X holds text or dates"),
        (["day"], r"column 'day' of X holds text or dates, no numbers; take columns of numbers"),
    ):
        with pytest.raises(ValueError, match=rf"KernelKMeans: {named}") as refused:
            library.KernelKMeans(2).fit(frame[columns])
        assert len(str(refused.value).splitlines()) == 1
    assert library.KernelKMeans(2, random_state=0).fit(frame[["x", "rooms"]]).n_features_in_ == 2


def test_the_advice_on_text_and_dates_can_be_followed(people: pa.Table) -> None:
    X = people.select(["x", "name", "y", "day"]).to_pandas(date_as_object=False)
    with pytest.raises(ValueError, match="no numbers") as refused:
        library.KernelKMeans(2).fit(X[["x", "name", "y"]])
    recipe = re.search(r"encode categories: (make_pipeline\(.*\))\.fit\(X\)", str(refused.value))[1]
    known = {
        "KernelKMeans": lambda _: library.KernelKMeans(2, random_state=0),
        "OneHotEncoder": OneHotEncoder,
        "StandardScaler": StandardScaler,
    }
    known |= {"make_pipeline": make_pipeline, "make_column_transformer": make_column_transformer}
    made = eval(recipe, known)  # the text of our own message
    assert made.fit(X[["x", "name", "y"]])[-1].n_features_in_ == 2 + X["name"].nunique()
    dated = X[["x", "day"]]
    with pytest.raises(ValueError, match=r"e\.g\. X\[\['x'\]\], or make days of them") as refused:
        library.KernelKMeans(2).fit(dated)
    recipe = re.search(r"days of them: (.*)\.$", str(refused.value))[1]
    made = eval(recipe, known | {"cmeans": library, "X": dated})
    assert made.feature_names_in_.tolist() == ["x", "day_days"]


def test_a_missing_value_names_the_column(people: pa.Table) -> None:
    frame = people.select(["x", "y"]).to_pandas()
    frame.loc[7, "y"] = np.nan
    with pytest.raises(
        ValueError,
        match=r"Input X contains NaN, first at row 7, column 'y'\. Remove or impute such rows",
    ):
        library.KernelKMeans(2).fit(frame)


def test_all_columns_of_a_csv_are_read_together(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, passes = tmp_path / "t.csv", list[list[int]]()
    file.write_text("name,a,b,code\n" + "".join(f"n{i},{i % 2},{i},00{i}\n" for i in range(40)))
    read = CsvTable._columns_of_text
    monkeypatch.setattr(
        CsvTable,
        "_columns_of_text",
        lambda table, places: passes.append([*places]) or read(table, places),
    )
    words = ("--columns", "a,b", "--id", "name", "--with-rows", "--labels-as", "csv")
    assert cmeans("fit", file, "-c", 2, "--out", tmp_path / "out", *words).code == 0
    lines = (tmp_path / "out" / "labels.csv").read_text().splitlines()
    assert lines[0].startswith('"name","a","b","code","label"')
    assert lines[3].startswith('"n2",0,2,"002",')
    # what types they have and the values, twice: not once a column
    assert passes == [[0, 1, 2, 3]] * 4
