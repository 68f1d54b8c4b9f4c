"""Frames as tables: `read_table` of those of every library, and models that are given new ones."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import cmeans
from cmeans import DataWarning, FuzzyCMeans, GaussianMixture, KernelKMeans
from cmeans.data.row_source import RowsError

pytestmark = pytest.mark.slow
N = 200
KINDS = np.random.default_rng(0).integers(0, 3, N)


def people() -> pd.DataFrame:
    """Three kinds of people, of whom age and visits tell, beside columns of all other kinds."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "customer_id": np.arange(1_000, 1_000 + N),
            "age": 20 + 20.0 * KINDS + rng.normal(size=N),
            "visits": 10.0 * (KINDS == 1) + rng.normal(size=N),
            "region": np.array(["north", "south", None], dtype=object)[rng.integers(0, 3, N)],
            "plan": pd.Categorical(np.array(["a", "b"])[rng.integers(0, 2, N)]),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D"),
            "spend": [f"{value:.2f}".replace(".", ",") for value in 100 * rng.random(N)],
            "count": pd.array([None if at % 7 == 0 else at % 5 for at in range(N)], dtype="Int64"),
            "hour": rng.integers(0, 24, N),
            "member": rng.random(N) > 0.5,
        }
    )


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "small batches": lambda frame: pa.Table.from_pandas(frame).to_reader(7),
    "rows with names": lambda frame: frame.set_axis([f"r{at}" for at in range(N)]),
}
WORDS: dict[str, dict[str, Any]] = {
    "all words": {
        "categorical": ["region", "plan", "member"],
        "dates": ["since"],
        "cyclic": {"hour": 24.0},
        "scale": "standard",
        "missing": "partial",
        "id": "customer_id",
        "column_weight": {"age": 2.0},
    },
    "no words": {"missing": "partial"},
    "columns": {"columns": ["age", "spend"], "scale": "log"},
    "a weight": {"weight": "hour", "missing": "partial", "scale": "auto", "dtype": "float32"},
    "markers": {"missing_values": ["3"], "missing": "partial", "decimal": ","},
}


def read(given: Any, **words: Any) -> tuple[Any, list[str]]:
    """Return the rows, and what was told, without the name of the table."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = cmeans.read_table(given, **words)
    return rows, [str(each.message).partition(": ")[2] for each in told]


@pytest.mark.parametrize("words", WORDS.values(), ids=list(WORDS))
@pytest.mark.parametrize("frame", FRAMES.values(), ids=list(FRAMES))
def test_a_frame_is_read_as_a_parquet_file_of_it(
    frame: Callable[[pd.DataFrame], Any], words: dict[str, Any], tmp_path: Path
) -> None:
    people().to_parquet(tmp_path / "people.parquet")
    known, said = read(tmp_path / "people.parquet", **words)
    rows, told = read(frame(people()), **words)
    assert told == said
    assert rows.columns == known.columns
    assert rows.recipe == known.recipe
    assert rows.dtype == known.dtype
    np.testing.assert_array_equal(np.asarray(rows), np.asarray(known))
    np.testing.assert_array_equal(rows.weight, known.weight)


@pytest.mark.filterwarnings("ignore:.*left out|.*look like:cmeans.DataWarning")
@pytest.mark.parametrize("frame", FRAMES.values(), ids=list(FRAMES))
def test_a_model_takes_new_frames(frame: Callable[[pd.DataFrame], Any], tmp_path: Path) -> None:
    words = {"categorical": ["region", "plan"], "dates": ["since"], "scale": "standard"}
    rows = cmeans.read_table(frame(people()), columns=["visits", "age"], **words)
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    assert adjusted_rand_score(KINDS, model.labels_) > 0.9
    cmeans.save(model, tmp_path / "m.safetensors")
    for same in (model, cmeans.load(tmp_path / "m.safetensors")):
        np.testing.assert_array_equal(same.predict(frame(people())), model.labels_)
        again = cmeans.read_table(frame(people()), recipe=same)
        np.testing.assert_array_equal(np.asarray(again), np.asarray(rows))
        memberships = same.memberships(frame(people()))
        np.testing.assert_array_equal(memberships, same.memberships(rows))
        same.predict_to(frame(people()), tmp_path / "l.parquet")
        labels = pd.read_parquet(tmp_path / "l.parquet")["label"]
        np.testing.assert_array_equal(labels, model.labels_)


def test_a_frame_of_more_columns_is_read_where_the_recipe_changes_nothing() -> None:
    frame = people()[["customer_id", "age", "visits"]]
    with pytest.warns(DataWarning, match="left out: 'customer_id'"):
        rows = cmeans.read_table(frame)
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(rows)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), model.labels_)
    np.testing.assert_array_equal(model.predict(frame[["age", "visits"]]), model.labels_)


def test_missing_values_and_unseen_categories_of_a_new_frame() -> None:
    frame = people()[["age", "visits", "plan"]]
    rows = cmeans.read_table(frame, categorical=["plan"], scale="standard", missing="partial")
    model = FuzzyCMeans(3, missing="partial", random_state=0).fit(rows)
    later = frame.astype({"plan": object})
    later.loc[3, "plan"] = "new"
    later.loc[5, "visits"] = np.nan
    with pytest.warns(DataWarning, match="'plan' holds categories that the fit has not seen in 1 "):
        labels = model.predict(later)
    others = np.delete(np.arange(N), [3, 5])
    np.testing.assert_array_equal(labels[others], model.labels_[others])


@pytest.mark.parametrize("gone", ["age", "plan"])
def test_a_frame_without_a_column_of_the_recipe_is_refused_in_one_line(gone: str) -> None:
    frame = people()[["age", "visits", "plan"]]
    rows = cmeans.read_table(frame, categorical=["plan"], scale="standard")
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    for kind in (frame, pl.from_pandas(frame)):
        lacking = kind.drop(columns=gone) if isinstance(kind, pd.DataFrame) else kind.drop(gone)
        with pytest.raises(
            RowsError, match=rf"X \(DataFrame\): .*column '{gone}'.*; it has "
        ) as no:
            model.predict(lacking)
        assert "\n" not in str(no.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "NoneType is no path; give a path, a list of paths, or a data frame"),
        ({"a": [1.0]}, "dict is no path"),
        ([[1.0, 2.0]], "float is no path"),
        (people()["age"], r"Series is no path; .*cmeans\.read_table\(pandas\.DataFrame\(X\)\)"),
        (pl.from_pandas(people()).lazy(), r"LazyFrame is no path; .*X\.collect\(\)"),
        (pa.chunked_array([[1.0]]), "is one column"),
        (pd.DataFrame(), "no numeric columns"),
        (people()[:0], "X .DataFrame.: "),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "column 'a' occurs 2 times"),
        (pd.DataFrame({"a": [1, "x"]}), "of one type .*Conversion failed for column a"),
        (pd.DataFrame({"a": ["x", "y"]}), "no numeric columns"),
    ],
)
@pytest.mark.filterwarnings("ignore::cmeans.DataWarning")
def test_what_is_no_table_is_refused_in_one_line(given: Any, said: str) -> None:
    with pytest.raises(RowsError, match=said) as refused:
        cmeans.read_table(given)
    assert "\n" not in str(refused.value)


def test_a_frame_has_no_first_line_that_may_be_data() -> None:
    with pytest.raises(RowsError, match="header: only CSV files need to be told"):
        cmeans.read_table(people(), header=True)


def test_no_columns_are_all_of_them() -> None:
    frame = people()[["age", "visits"]]
    rows = cmeans.read_table(frame, columns=None)
    assert rows.columns == cmeans.read_table(frame).columns == ("age", "visits")
    assert cmeans.read_table(frame, columns=np.array(["visits"])).columns == ("visits",)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    "dated",
    [
        lambda dates: dates,
        lambda dates: dates.dt.tz_localize("Europe/Berlin"),
        lambda dates: dates.dt.date,
    ],
    ids=["times", "of a zone", "of Python"],
)
def test_the_advice_on_categories_and_dates_keeps_the_numbers(
    make: Callable[[pd.DataFrame], Any], dated: Callable[[pd.Series], pd.Series]
) -> None:
    frame = people()[["age", "visits", "plan", "since"]]
    X = make(frame.assign(since=dated(frame["since"])))
    with pytest.raises(ValueError, match="'plan', 'since' of X hold text or dates") as refused:
        FuzzyCMeans(3).fit(X)
    assert "\n" not in str(refused.value)
    recipe = re.search(r"days of them: (.*)\.$", str(refused.value))[1]
    known = {"cmeans": cmeans, "X": X, "FuzzyCMeans": lambda _: FuzzyCMeans(3, random_state=0)}
    model = eval(recipe, known)  # the text of our own message
    assert model.feature_names_in_.tolist() == ["age", "visits", "plan_a", "plan_b", "since_days"]
    assert adjusted_rand_score(KINDS, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_names_are_no_categories_in_the_advice() -> None:
    frame = people()[["age", "visits", "plan", "since"]].assign(name=[f"n{at}" for at in range(N)])
    with pytest.raises(ValueError, match=r"categorical=\['plan'\], dates=\['since'\], scale"):
        FuzzyCMeans(3).fit(frame)
    spans = people()[["age"]].assign(stay=pd.to_timedelta(np.arange(N), "D"))
    with pytest.raises(ValueError, match=r"spans of time become days by X\['stay'\]\.dt\.days\."):
        FuzzyCMeans(3).fit(spans)


@pytest.mark.parametrize("cls", [FuzzyCMeans, KernelKMeans, GaussianMixture])
def test_names_and_shapes_of_frames_are_told_as_they_are(cls: Any) -> None:
    X = np.random.default_rng(0).random((50, 3))
    with pytest.raises(ValueError, match="column 'a' occurs 2 times; every column needs a name"):
        cls(2).fit(pd.DataFrame(X, columns=["a", "a", "b"]))
    several = r"^\w+: the columns of X have names of several types \(int, str\); make all of them t"
    with pytest.raises(TypeError, match=several):
        cls(2).fit(pd.DataFrame(X, columns=["a", 1, "b"]))
    for frame in (pd.DataFrame(), pl.DataFrame(), pd.DataFrame({"a": []})):
        with pytest.raises(ValueError, match=r"without rows: 0 sample\(s\) .*minimum of 1"):
            cls(2).fit(frame)
    with pytest.raises(ValueError, match=r"without columns: 0 feature\(s\) .*minimum of 1"):
        cls(2).fit(pd.DataFrame(index=range(3)))


def test_a_frame_without_columns_is_told_by_the_transformer_too() -> None:
    with pytest.raises(ValueError, match=r"LogTransformer: X is a DataFrame without rows"):
        cmeans.LogTransformer().fit(pd.DataFrame())
