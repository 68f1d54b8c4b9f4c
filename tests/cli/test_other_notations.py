"""Tables that are written otherwise than that of the fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cmeans as library
from cmeans.data.row_source import RowsError

from .conftest import Command

SHOP = pd.DataFrame(
    {
        "Spend": [1200.5, 80.25, 95.1, 1310.0, 70.0, 1250.75] * 5,
        "visits": [20.5, 3.25, 2.5, 25.0, 4.5, 19.0] * 5,
        "plan": ["a", "b", "b", "a", "b", "a"] * 5,
    }
)


def euro(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + " €"


def dollars(value: float) -> str:
    return f"${value:,.2f}"


def with_commas(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")


@pytest.mark.parametrize(
    ("fit", "later"), [(str, euro), (dollars, euro), (euro, str), (with_commas, dollars)]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_other_notations_are_read_and_told(
    cmeans: Command, tmp_path: Path, kind: str, fit: object, later: object
) -> None:
    SHOP.assign(Spend=SHOP["Spend"].map(fit)).to_csv(tmp_path / "fit.csv", index=False)
    words = ["-c", 2, "--categorical", "plan", "--scale", "standard"]
    assert cmeans("fit", tmp_path / "fit.csv", *words, "--out", tmp_path / "o").code == 0
    changed = SHOP.assign(Spend=SHOP["Spend"].map(later))
    if kind == "csv":
        changed.to_csv(tmp_path / "next.csv", index=False)
    else:
        changed.to_parquet(tmp_path / "next.parquet")
    model, file = tmp_path / "o" / "model.safetensors", tmp_path / f"next.{kind}"
    ended = cmeans("predict", model, file, "--out", tmp_path / "p.parquet")
    assert ended.code == 0, ended.err
    assert ended.err.count("numbers of column 'Spend' are written with ") == 1
    labels = pd.read_parquet(tmp_path / "p.parquet")["label"]
    assert labels.equals(pd.read_parquet(tmp_path / "o" / "labels.parquet")["label"])
    strict = cmeans("predict", model, file, "--strict", "--out", tmp_path / "q.parquet")
    assert (strict.code, (tmp_path / "q.parquet").exists()) == (2, False)


def test_two_meanings_and_texts_are_refused(cmeans: Command, tmp_path: Path) -> None:
    SHOP.to_csv(tmp_path / "fit.csv", index=False)
    assert cmeans("fit", tmp_path / "fit.csv", "-c", 2, "--out", tmp_path / "o").code == 0
    predict = ["predict", tmp_path / "o" / "model.safetensors", tmp_path / "next.csv"]
    for cells, message in (
        (
            ["1,234", "5,678"],
            "column 'Spend' holds numbers such as '1,234', which have two meanings; the fit's were "
            "written as programs write them: write these so too.",
        ),
        (["few", "many"], "column 'Spend' (text) holds no numbers."),
    ):
        SHOP.assign(Spend=cells * 15).to_csv(tmp_path / "next.csv", index=False, sep=";")
        ended = cmeans(*predict, "--out", tmp_path / "p.parquet")
        assert (ended.code, ended.err.splitlines()[-1].endswith(message)) == (2, True), ended.err


def test_names_of_columns_with_other_capitals(cmeans: Command, tmp_path: Path) -> None:
    """The message names the columns, and what it names is read by the model's names."""
    SHOP.to_csv(tmp_path / "fit.csv", index=False)
    fit = ["fit", tmp_path / "fit.csv", "-c", 2, "--categorical", "plan", "--scale", "unit"]
    assert cmeans(*fit, "--out", tmp_path / "o").code == 0
    renamed = SHOP.rename(columns={"Spend": "spend ", "visits": "VISITS"})
    renamed.to_csv(tmp_path / "next.csv", index=False)
    file = tmp_path / "o" / "model.safetensors"
    predict = ["predict", file, tmp_path / "next.csv", "--out", tmp_path / "p.parquet"]
    ended = cmeans(*predict)
    assert ended.err.splitlines()[-1].endswith("Name the right ones with --columns spend,VISITS.")
    assert cmeans(*predict, "--columns", "spend,VISITS").code == 0
    labels = pd.read_parquet(tmp_path / "p.parquet")["label"].to_numpy()
    np.testing.assert_array_equal(labels, pd.read_parquet(tmp_path / "o/labels.parquet")["label"])
    model = library.load(file)
    with pytest.raises(RowsError, match=r"with columns=\['spend', 'VISITS'\]\.$"):
        library.read_table(tmp_path / "next.csv", recipe=model)
    rows = library.read_table(tmp_path / "next.csv", recipe=model, columns=["spend", "VISITS"])
    np.testing.assert_array_equal(model.predict(rows), labels)


def test_text_that_is_written_as_before_is_read_as_before(tmp_path: Path) -> None:
    """Text in a Parquet file is no column of numbers before the recipe makes it one."""
    frame = pd.DataFrame({"x": ["1,000", "2,500", "3,250", "1,000"] * 6, "y": range(24)})
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.warns(library.DataWarning, match="decimal commas"):
        rows = library.read_table(tmp_path / "x.parquet", decimal=",", columns=["x", "y"])
    frame.head(1).to_parquet(tmp_path / "again.parquet")
    again = library.read_table(tmp_path / "again.parquet", recipe=rows.recipe)
    np.testing.assert_array_equal(again, [[1.0, 0.0]])
