"""Tables as people have them, through fit, select and predict: each right, or one true line."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

import cmeans as library
from cli.command import Command
from cmeans.data.row_source import RowsError

N = 240
GROUP = np.arange(N) % 3


def shop() -> pd.DataFrame:
    """Customers in three groups, with an id, dates, a category, empty cells and a long tail."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "customer_id": [f"C{100 + at}" for at in rng.permutation(N)],
            "since": pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D"),
            "country": np.where(rng.random(N) < 0.5, "Österreich", "UK"),
            "age": np.array([24, 41, 60])[GROUP] + rng.normal(0, 2, N).round(1),
            "spend": np.exp(np.array([3.0, 6.0, 9.0])[GROUP] + rng.normal(0, 0.3, N)).round(2),
            "visits": rng.poisson(np.array([60, 25, 4])[GROUP]),
        }
    )
    frame.loc[::17, "age"] = np.nan
    frame.loc[::29, "country"] = None
    return frame


def euro(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + " €"


def written(frame: pd.DataFrame, name: str, **words: object) -> tuple[str, bytes]:
    encoding = str(words.pop("encoding", "utf-8"))
    return name, frame.to_csv(index=False, **words).encode(encoding)


def euros(encoding: str) -> tuple[str, bytes]:
    frame = shop()
    own = {"spend": frame["spend"].map(euro), "since": frame["since"].dt.strftime("%d.%m.%Y")}
    return written(frame.assign(**own), "euro.csv", sep=";", encoding=encoding)


def numbered() -> tuple[str, bytes]:
    return written(shop().assign(customer_id=np.arange(N) + 7), "numbered.csv")


def dollars() -> tuple[str, bytes]:
    spend = shop()["spend"].map("${:,.0f}".format)
    return written(pd.DataFrame({"spend": spend, "visits": shop()["visits"]}), "dollars.csv")


def commas() -> tuple[str, bytes]:
    frame = shop()[["spend", "visits"]].map(lambda value: f"{value:.2f}".replace(".", ","))
    return written(frame, "commas.csv", sep=";")


def blanks() -> tuple[str, bytes]:
    text = io.StringIO()
    np.savetxt(text, shop()[["spend", "visits"]], "%10.3f", delimiter="  ")
    return "blanks.data.gz", gzip.compress(text.getvalue().encode())


def zipped() -> tuple[str, bytes]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("tables/shop.csv", written(shop(), "", sep="|")[1])
    return "shop.zip", archive.getvalue()


READ = {
    "plain": lambda: written(shop(), "shop.csv"),
    "N/A": lambda: written(shop(), "na.csv", na_rep="N/A"),
    "euro, with a mark": lambda: euros("utf-8-sig"),
    "euro, of Windows": lambda: euros("cp1252"),
    "euro, UTF-16": lambda: euros("utf-16"),
    "numbered": numbered,
    "dollars": dollars,
    "decimal commas": commas,
    "blanks": blanks,
    "zip": zipped,
}


@pytest.mark.parametrize("case", READ)
@pytest.mark.filterwarnings("error")
def test_read_and_clustered(cmeans: Command, tmp_path: Path, case: str) -> None:
    name, content = READ[case]()
    file, out = tmp_path / name, tmp_path / "o"
    file.write_bytes(content)
    fitted = cmeans("fit", file, "-c", 3, "--scale", "log", "--out", out).summary
    labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(GROUP, labels) > 0.9
    some = {"age", "spend", "visits"} & {*fitted["column_names"]} or {0, 1}
    assert {*fitted["column_names"]} == some
    told = " ".join(fitted["warnings"])
    if "customer_id" in content.decode("latin1") or case == "zip":
        assert fitted["left_out"] == ["customer_id", "since", "country"]
        assert "'customer_id' (identifiers; --id customer_id)" in told
        assert "'since' (dates; --dates since), 'country' (2) (categories; --categ" in told
        assert f"{-(-N // 17)} of {N} in 'age'" in told
    assert ("decimal commas" in told) == ("euro" in case or "commas" in case)
    assert ("between thousands ('$" in told) == (case == "dollars")
    assert ("Windows-1252" in told) == ("Windows" in case)
    if case in ("plain", "euro, of Windows"):
        selected = cmeans("select", file, "-c", "2-4", "--refits", 0, "--scale", "log").summary
        assert selected["n_clusters"] == 3
    again = cmeans("predict", out / "model.safetensors", file, "--out", tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv")["label"].tolist() == labels.tolist()
    assert again.summary["changed"] == {
        "shares": "shares of clusters are those of the fit, within 9%",
        "far": "rows far from all clusters are as many as in the fit, within 3%",
        "columns": "means of columns are those of the fit, within 0.25 deviations",
    }


def lines(a: str, head: str = "a;b", more: str = "") -> str:
    """Return a table of three groups; `a`: what the cells of its first column are like."""
    rng = np.random.default_rng(0)
    x = np.array([1200.5, 5200.25, 9800.75])[GROUP] + rng.normal(0, 200, N)
    y = np.array([10, 50, 90])[GROUP] + rng.normal(0, 4, N)
    cells = [a.replace("#", f"{value:,.2f}") for value in x]
    return "\n".join(
        [head, *(f"{cell};{at:.1f}{more}" for cell, at in zip(cells, y, strict=True)), ""]
    )


def numbered_rows(text: str) -> str:
    """Return a table as R writes it, with names of rows but none for them."""
    head, *rest = text.splitlines()
    rows = [f'"{at}";{line}' for at, line in enumerate(rest, 1)]
    return "\n".join([";".join(f'"{name}"' for name in head.split(";")), *rows, ""])


SWAPPED = str.maketrans(",.", ".,")
KINDS: dict[str, tuple[str | bytes, str]] = {  # with what is told
    "narrow blanks": (lines("#").translate({44: "\u202f"}), "' ' between thousands"),
    "percent": (lines("# %").replace(",", ""), "signs beside the digits"),
    "minus": (lines("\u2212#").replace(",", ""), "signs beside the digits"),
    "accounts": (lines("(#)"), "',' between thousands ('("),
    "Swiss": (lines("CHF #").replace(",", "\u2019"), "between thousands ('CHF"),
    "commas and points": (lines("#").translate(SWAPPED), "decimal commas and '.' between"),
    "quoted lines": (lines('#;"a;\nb"', "a;n;b").replace(",", ""), "left out: 'n'"),
    "carriage returns": (lines("#").replace("\n", "\r\n"), "',' between thousands"),
    "of Excel": ("sep=;\n" + lines("#").replace(",", ""), ""),
    "Unicode text of Excel": (lines("#").replace(";", "\t").encode("utf-16"), "thousands"),
    "a separator at the end": (lines("#", "a;b;", ";"), "left out: '' (empty)"),
    "an empty column": (lines("#;", "a;e;b"), "left out: 'e' (empty)"),
    "ZIP codes": (lines("#;01234", "a;zip;b").replace(",", ""), "zeros; --categorical zip)"),
    "a minus behind": (lines("#-").replace(",", ""), "signs beside the digits"),
    "lakhs": (
        re.sub(
            r"(?m)^(\d*?),?(\d{3}\.)",
            lambda found: f"10,{int(found[1] or 0):02},{found[2]}",
            lines("#"),
        ),
        "',' between thousands ('10,01,225.65')",
    ),
    "a unit": (lines("# kg").replace(",", ""), "numbers with the unit 'kg' ('"),
    "separators below the names": (lines("#", "a;b", ";"), "left out: '' (empty)"),
    "names of rows, of R": (numbered_rows(lines("#").replace(",", "")), ""),
    "names of rows, of R, with blanks": (
        numbered_rows(lines("#").replace(",", "")).replace(";", " "),
        "",
    ),
    "dates as they come": (
        lines("#;D")
        .replace("D", "1.2.2024", 99)
        .replace("D", "2024-02-01")
        .replace("a;b", "a;d;b"),
        "left out: 'd' (dates in several formats)",
    ),
    "words for nothing": (lines("#") + "#N/A;10\n" * 3, "cells are empty (3 of 243 in 'a')"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("error")
def test_other_kinds_of_files(cmeans: Command, tmp_path: Path, kind: str) -> None:
    content, told = KINDS[kind]
    file = tmp_path / "x.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    words = ["-c", 3, "--method", "hard", "--kernel", "linear", "--scale", "unit"]
    summary = cmeans("fit", file, *words, "--out", tmp_path / "o").summary
    assert summary["column_names"] == ["a", "b"]
    assert told in " ".join(summary["warnings"])
    labels = pq.read_table(tmp_path / "o" / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(GROUP, labels[:N]) == 1.0


def test_a_row_of_totals_is_told(cmeans: Command, tmp_path: Path) -> None:
    rows = np.loadtxt(lines("#").replace(",", "").splitlines()[1:], delimiter=";")
    for name, last in (("sums", rows.sum(axis=0)), ("rows", rows[0])):
        file = tmp_path / f"{name}.csv"
        np.savetxt(file, [*rows, last], "%.2f", ",", header="a,b", comments="")
        warned = cmeans("fit", file, "-c", 3, "--out", tmp_path / name).summary["warnings"]
        assert [text for text in warned if "row" in text] == [
            f"{file}: its last row holds the sums of the others; delete it where it is a row of "
            "totals."
        ] * (name == "sums")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a,b\n" + "".join(f"{'?' if at % 9 == 0 else at % 7},{at % 5}\n" for at in range(60)),
            "column 'a' of numbers holds '?' in 7 of 60 cells; where that stands for nothing, say "
            "--missing-values '?', else --missing-values none.",
        ),
        (
            "a,b\n" + "".join(f"{-9999 if at % 9 == 0 else at % 7},0.5\n" for at in range(60)),
            "column 'a' holds -9999 in 7 of 60 cells, far from all others (0 to 6); where that "
            "stands for nothing, say --missing-values -9999, else --missing-values none.",
        ),
        (
            "a,b\n" + "".join(f"{at % 7},{9999999 if at % 30 == 0 else 0.5}\n" for at in range(60)),
            "column 'b' holds 9999999 in 2 of 60 cells, far from all others (0.5 to 0.5); where "
            "that stands for nothing, say --missing-values 9999999, else --missing-values none.",
        ),
        (
            "a,b\n"
            + "".join(f'{at % 7},"${999 if at % 9 == 0 else at % 7}"\n' for at in range(60)),
            "column 'b' holds 999 in 7 of 60 cells, far from all others (0 to 6); where that "
            "stands for nothing, say --missing-values 999, else --missing-values none.",
        ),
        (
            "a;b\n" + "".join(f"{at + 100},{at * 7 % 1000:03};1\n" for at in range(60)),
            "column 'a' holds numbers such as '100,000', which have two meanings; say which with "
            "--decimal , or --thousands ,.",
        ),
        (
            lines("#").replace("\n", "\nkg;mm\n", 1),
            "row 1 holds 'kg', 'mm' where others hold numbers; delete it where these are names or "
            "units; where that stands for nothing, say --missing-values kg,mm, else "
            "--missing-values none.",
        ),
        (
            lines("#").translate(SWAPPED) + lines("#").partition("\n")[2],
            "column 'a' holds numbers in several notations, such as '1.225,65' and '1,225.65'; "
            "write them in one, or name the columns that are data with --columns.",
        ),
        (
            lines("# $").replace("$", "EUR", 9),
            "column 'a' holds numbers in 'EUR' and 'USD', which do not compare; bring them to one "
            "unit, or name the columns that are data with --columns.",
        ),
        (
            "Report of 2024\n" + lines("#"),
            "its first line, 'Report of 2024', is a title, as lines below it have 2 cells; delete "
            "what stands above the names of the columns.",
        ),
        (
            "a;b\n" + "2,5;1\n" * 1_100 + "x,5;1\n",
            "line 1102: column 'a' holds 'x,5', no number.",
        ),
        (
            "day,b\n" + "".join(f"0{at % 9 + 1}/05/2024,{at % 7}\n" for at in range(60)),
            "column 'day' holds dates that have two meanings (such as '01/05/2024'); say which "
            "with --dates day=%d/%m/%Y.",
        ),
    ],
)
def test_what_the_user_has_to_say(
    cmeans: Command, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(content)
    words = ["--dates", "day"] if "day" in content else []
    ended = cmeans("fit", file, "-c", 2, *words, "--out", tmp_path / "o", "-q")
    assert (ended.code, ended.err.splitlines()) == (2, [f"cmeans: {file}: {message}"])
    advice = message.partition("say --")[2].partition(", else")[0].replace("'", "")
    if advice:
        said = f"--{advice}".split()
        assert cmeans("fit", file, "-c", 2, *said, "--out", tmp_path / "o", "-q").code == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_stands_for_nothing_after_the_first_rows_is_told(
    cmeans: Command, tmp_path: Path, ending: str
) -> None:
    rows = np.random.default_rng(0).normal(size=(1_200, 3)).round(2)
    rows[[1_050, 1_100], 0] = rows[1_199, 2] = -999
    rows[1_199, 1] = 40  # an odd number, but no code
    table = pd.DataFrame(rows, columns=["a", "b", "c"])
    file = tmp_path / f"x.{ending}"
    table.to_csv(file, index=False) if ending == "csv" else table.to_parquet(file)
    usual = [np.delete(rows[:, at], np.flatnonzero(rows[:, at] == -999)) for at in (0, 2)]
    ends = [f"({column.min():g} to {column.max():g})" for column in usual]
    said = (
        f"{file}: column 'a' holds -999 in 2 of 1,200 cells, far from all others {ends[0]}, column "
        f"'c' holds -999 in 1 of 1,200 cells, far from all others {ends[1]}; where that stands for "
        "nothing, say "
    )
    words = ["-c", 2, "--out", tmp_path / "o", "--overwrite"]
    warned = cmeans("fit", file, *words).summary["warnings"]
    assert said + "--missing-values -999, else --missing-values none." in warned
    for value, missing in (("none", None), ("-999", 3)):
        summary = cmeans("fit", file, *words, "--missing-values", value).summary
        assert not any("far from all others" in text for text in summary["warnings"])
        assert summary["missing"] == missing
    with pytest.warns(UserWarning, match="column 'a' holds -999 in 2 of 1,200 cells"):
        library.read_table(file)


def test_a_workbook_is_named(cmeans: Command, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        for name in ("[Content_Types].xml", "xl/workbook.xml", "docProps/app.xml"):
            book.writestr(name, "<x/>")
    ended = cmeans("fit", tmp_path / "book.xlsx", "-c", 2, "--out", tmp_path / "o", "-q")
    assert ended.code == 2
    assert "book.xlsx: is an Excel workbook" in ended.err
    assert "save its sheet as CSV" in ended.err


def test_a_workbook_is_read(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    shop().to_excel(tmp_path / "book.xlsx", index=False)
    with pytest.warns(UserWarning, match="left out"):
        rows = library.read_table(tmp_path / "book.xlsx", missing="partial")
    assert rows.columns == ("age", "spend", "visits")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_cells_that_stand_for_nothing_are_no_category(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "x": np.arange(40.0),
            "city": ["Oslo", "Rome", "?", ""] * 10,
            "floor": [1, 2, 99, 99] * 10,
            "since": ["2024-01-01", "?", "2024-01-03", "2024-01-04"] * 10,
        }
    )
    file = tmp_path / f"x.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    rows = library.read_table(
        file,
        categorical=["city", "floor"],
        dates=["since"],
        missing_values=["?", "99"],
        missing="partial",
    )
    made = ("city_Oslo", "city_Rome", "city_(empty)", "floor_1", "floor_2", "floor_(empty)")
    assert rows.columns == ("x", *made, "since_days")
    values = rows.read(0, 4)
    np.testing.assert_array_equal(values[:, 1:4], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(values[:, 4:7], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(np.diff(values[:, 7]), [np.nan, np.nan, 1.0])


def test_next_month(cmeans: Command, tmp_path: Path) -> None:
    """Unseen categories, repeated names, rows and names of clusters beside the labels, in the
    report, and in what has changed; a column that is gone."""
    dollars = shop()["spend"].map("${:,.2f}".format)
    shop().assign(spend=dollars).to_csv(tmp_path / "shop.csv", index=False)
    words = ["--scale", "log", "--categorical", "country", "--id", "customer_id"]
    fit = ["fit", tmp_path / "shop.csv", "-c", 3, *words, "--names", "a,b,c", "--with-rows"]
    assert cmeans(*fit, "--report", "--out", tmp_path / "o").code == 0
    page = (tmp_path / "o" / "report.html").read_text()
    for part in (
        '<th scope="col">b</th>',
        "<figcaption>c</figcaption>",
        'tabindex="0">a: ',
        '"name":"b"',
    ):
        assert part in page, part
    assert "cluster 0" not in page
    table = pd.read_parquet(tmp_path / "o" / "labels.parquet")
    assert [*table.columns[:8]] == [*shop().columns, "label", "cluster"]
    assert table["cluster"].tolist() == [*np.array(["a", "b", "c"])[table["label"]]]
    later = shop()[GROUP != 0].assign(country="Italia")
    later.loc[later.index[:20], "visits"] *= 1e6
    pd.concat([later, later[:4]]).to_csv(tmp_path / "next.csv", index=False)
    predict = ["predict", tmp_path / "o" / "model.safetensors", tmp_path / "next.csv"]
    summary = cmeans(*predict, "--id", "customer_id", "--out", tmp_path / "p.parquet").summary
    assert "country' holds categories that the fit has not seen in 164 rows" in str(summary)
    assert "--id customer_id: 4 of 164 rows have a name that an earlier row has" in str(summary)
    assert summary["changed"]["shares"][:24] in {f"shares since the fit: {name} " for name in "abc"}
    assert "'visits' " in summary["changed"]["columns"]
    assert summary["changed"]["far"].startswith("rows far from all clusters since the fit: ")
    assert int(summary["changed"]["far"].split(" -> ")[1].rstrip("%")) >= 12  # 20 of 164
    assert set(pd.read_parquet(tmp_path / "p.parquet")["cluster"]) <= {"a", "b", "c"}
    later.drop(columns="visits").to_csv(tmp_path / "next.csv", index=False)
    ended = cmeans(*predict, "--out", tmp_path / "p.parquet")
    message = (
        "lacks column 'visits' of the model; it has columns 'customer_id', 'since', 'country', "
        "'age', 'spend'. The model needs one of that name."
    )
    assert (ended.code, ended.err.splitlines()[-1].endswith(message)) == (2, True)


def test_columns_made_of_others(cmeans: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    hour = np.where(GROUP == 0, rng.normal(0, 1, N), rng.normal(12, 1, N)).round() % 24
    frame = shop().assign(hour=hour, lat=50.0 + GROUP, lon=np.where(GROUP == 1, 179.9, -179.9))
    frame.to_csv(tmp_path / "x.csv", index=False)
    words = ["--cyclic", "hour=24", "--latlon", "lat,lon", "--dates", "since", "--columns", "spend"]
    out = ["--out", tmp_path / "o"]
    fit = ["fit", tmp_path / "x.csv", "-c", 2, "--column-weight", "hour=4,spend=0.25"]
    summary = cmeans(*fit, *words, "--scale", "standard", *out).summary
    made = ["since_days", "hour_cos", "hour_sin", *(f"lat_lon_{axis}" for axis in "xyz")]
    assert summary["column_names"] == ["spend", *made]
    model = library.load(tmp_path / "o" / "model.safetensors")
    rows = library.read_table(tmp_path / "x.csv", recipe=model)
    x = rows.read(0, N)
    angle = hour * np.pi / 12
    np.testing.assert_allclose(x[:, 2:4], 2 * np.column_stack([np.cos(angle), np.sin(angle)]))
    np.testing.assert_allclose((x[:, 4:] ** 2).sum(axis=1), 1.0)
    days = (frame["since"] - frame["since"].mean()).dt.total_seconds().to_numpy()
    np.testing.assert_allclose(x[:, 1], days / days.std(), rtol=1e-9)
    np.testing.assert_allclose(x[:, 0].std(), 0.5)
    assert np.array_equal(
        model.predict(rows), pq.read_table(tmp_path / "o" / "labels.parquet")["label"].to_numpy()
    )


def test_a_column_is_told_as_one_kind(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("hour,x\n" + "".join(f"{at % 7},{at}\n" for at in range(60)))
    words = {"cyclic": {"hour": 24.0}, "categorical": ["hour"]}
    match = "column 'hour' is told as categories and as cyclic; name it for one of these"
    with pytest.raises(RowsError, match=match):
        library.read_table(tmp_path / "x.csv", **words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"recipe": 3}, "recipe=3: give a model"),
        (
            {"path": shop().to_numpy()},
            "ndarray is no path; .* such as cmeans.cluster.X. .*read_table.pandas.DataFrame.X",
        ),
        ({"missing": "drop"}, "missing='drop': give"),
        ({"cyclic": {"age": -1.0}}, r"cyclic=.*: a period is above 0"),
        ({"column_weight": {"nobody": 2.0}}, "there is no such column of data"),
        ({"encoding": "nonsense"}, "encoding='nonsense': is no encoding"),
        ({"scale": "cube"}, "scale='cube'"),
        ({"categorical": ["customer_id"]}, "240 categories in 240 rows; is it an identifier"),
    ],
)
@pytest.mark.filterwarnings("ignore::cmeans.DataWarning")
def test_what_read_table_refuses(tmp_path: Path, words: dict[str, object], message: str) -> None:
    shop().to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(RowsError, match=message):
        library.read_table(**{"path": tmp_path / "x.csv", "missing": "partial", **words})


@pytest.mark.filterwarnings("ignore::cmeans.DataWarning")
def test_python_reads_as_the_command(cmeans: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(euros("cp1252")[1])
    words = ["--scale", "log", "--categorical", "country", "--missing", "partial"]
    cmeans("fit", tmp_path / "x.csv", "-c", 3, *words, "--out", tmp_path / "o")
    words = {"scale": "log", "categorical": ["country"], "missing": "partial"}
    rows = library.read_table(tmp_path / "x.csv", **words)
    model = library.load(tmp_path / "o" / "model.safetensors")
    assert model.recipe_ == rows.recipe
    mine = library.FuzzyCMeans(3, missing="partial", random_state=0).fit(rows)
    labels = pq.read_table(tmp_path / "o" / "labels.parquet")["label"].to_numpy()
    assert np.array_equal(mine.labels_, labels)
    assert mine.recipe_ is rows.recipe
    library.save(mine, tmp_path / "m.safetensors")
    predict = ["predict", tmp_path / "m.safetensors", tmp_path / "x.csv"]
    assert cmeans(*predict, "--out", tmp_path / "p.csv").code == 0
    assert pd.read_csv(tmp_path / "p.csv")["label"].tolist() == labels.tolist()


def test_a_run_is_repeated_from_its_summary_or_a_file(cmeans: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(written(shop(), "")[1])
    words = ["-c", 3, "--scale", "log", "--columns", "age,spend", "--method", "hard"]
    fit = ["fit", tmp_path / "x.csv", *words, "--kernel", "linear"]
    config = cmeans(*fit, "--out", tmp_path / "o").summary["config"]
    assert config["scale"] == "log"
    run = f'file = "{tmp_path}/x.csv"\nclusters = 3\nscale = "log"\ncolumns = ["age", "spend"]\n'
    (tmp_path / "run.toml").write_text(f'{run}method = "hard"\nkernel = "linear"\n')
    first = pq.read_table(tmp_path / "o" / "labels.parquet")
    for file in (tmp_path / "o" / "summary.json", tmp_path / "run.toml"):
        out = tmp_path / file.stem
        assert cmeans("fit", "--config", file, "--out", out).code == 0
        assert pq.read_table(out / "labels.parquet").equals(first)
    model, file = tmp_path / "o" / "model.safetensors", tmp_path / "x.csv"
    for run in (
        ["predict", model, file, "--id", "customer_id"],
        ["stream", file, "-c", 2, "--columns", "age,visits", "--chunk-size", 60],
    ):
        once, again = tmp_path / "once.csv", tmp_path / "again.csv"
        kept = {"config": cmeans(*run, "--out", once).summary["config"]}
        (tmp_path / "run.json").write_text(json.dumps(kept))
        assert cmeans(run[0], "--config", tmp_path / "run.json", "--out", again).code == 0
        assert once.read_bytes() == again.read_bytes()
    (tmp_path / "bad.toml").write_text("clsters = 3\n")
    assert "'clsters' is no" in cmeans("fit", "--config", tmp_path / "bad.toml").err


@pytest.mark.filterwarnings("error")
def test_numbers_as_text_in_parquet(cmeans: Command, tmp_path: Path) -> None:
    frame = shop().assign(spend=shop()["spend"].map(euro), code=[f"{at:04}" for at in range(N)])
    frame.loc[3, "spend"] = None
    frame.to_parquet(tmp_path / "x.parquet")
    fit = ["fit", tmp_path / "x.parquet", "-c", 3, "--scale", "log", "--out", tmp_path / "o"]
    summary = cmeans(*fit).summary
    assert summary["column_names"] == ["age", "spend", "visits"]
    assert "decimal commas and '.' between thousands" in summary["warnings"][0]
    assert "1 of 240 in 'spend'" in summary["warnings"][-1]
    labels = pq.read_table(tmp_path / "o" / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(GROUP, labels) > 0.9
    predict = ["predict", tmp_path / "o" / "model.safetensors", tmp_path / "x.parquet"]
    assert cmeans(*predict, "--out", tmp_path / "p.csv").summary["sizes"] == summary["sizes"]
    frame.loc[5, "spend"] = "much"
    frame.to_parquet(tmp_path / "x.parquet")
    ended = cmeans(*predict, "--out", tmp_path / "p.csv")
    assert (ended.code, "column 'spend' holds text beside numbers" in ended.err) == (2, True)


def test_labels_that_any_program_opens(cmeans: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(lines("#").replace(",", ""))
    fit = ["fit", tmp_path / "x.csv", "-c", 3, "--scale", "unit", "--out", tmp_path / "o"]
    summary = cmeans(*fit, "--labels-as", "csv").summary
    assert summary["outputs"]["labels"] == str(tmp_path / "o" / "labels.csv")
    labels = pd.read_csv(tmp_path / "o" / "labels.csv")["label"]
    assert adjusted_rand_score(GROUP, labels) == 1.0
    assert cmeans(*fit).code == 0
    left = {file.name for file in (tmp_path / "o").iterdir() if file.stem == "labels"}
    assert left == {"labels.parquet"}


def test_nine_beside_grades_is_asked_about(cmeans: Command, tmp_path: Path) -> None:
    """9 and 8 stand for nothing beside grades from 1 to 5; not beside counts or grades up to 7."""
    rng = np.random.default_rng(0)
    grades = rng.integers(1, 6, (300, 2))
    grades[::20, 0], grades[7::30, 1] = 9, 8
    frame = pd.DataFrame(grades, columns=["q1", "q2"])
    frame["visits"] = rng.poisson(3, 300).clip(0, 8) + (np.arange(300) == 5) * 9
    frame["q3"] = np.where(np.arange(300) % 20 == 0, 9, np.arange(300) % 7 + 1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", tmp_path / "t.csv", "-c", 2, "--out", tmp_path / "o"]
    ended = cmeans(*fit)
    assert (ended.code, ended.err.splitlines()[-1]) == (
        2,
        f"cmeans: {tmp_path / 't.csv'}: column 'q1' holds 9 in 15 of 300 cells, where others are "
        "grades from 1 to 5, column 'q2' holds 8 in 10 of 300 cells, where others are grades from "
        "1 to 5; where that stands for nothing, say --missing-values 9,8, else --missing-values "
        "none.",
    )
    summary = cmeans(*fit, "--missing-values", "9,8").summary
    assert summary["missing_by_column"]["q1"] == 15


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_true_and_false_are_categories_beside_more_numbers(
    cmeans: Command, tmp_path: Path, kind: str
) -> None:
    rng, group = np.random.default_rng(0), np.arange(300) % 3
    frame = pd.DataFrame(
        {
            "age": np.array([25, 45, 65])[group] + rng.normal(0, 3, 300),
            "visits": np.array([2, 20, 10])[group] + rng.normal(0, 2, 300),
            "newsletter": rng.random(300) < 0.5,
        }
    )
    file = tmp_path / f"t.{kind}"

    def fitted(columns: list[str], *words: object) -> dict[str, Any]:
        shown = frame[columns]
        shown.to_csv(file, index=False) if kind == "csv" else shown.to_parquet(file)
        return cmeans("fit", file, *words, "--out", tmp_path / "o", "--overwrite").summary

    summary = fitted(["age", "visits", "newsletter"])
    assert (summary["n_clusters"], summary["column_names"]) == (3, ["age", "visits"])
    assert "'newsletter' (2) (categories; --categorical newsletter)" in summary["warnings"][0]
    # half of the columns are data, and so are those that are named
    assert fitted(["age", "newsletter"], "-c", 2)["columns"] == 2
    named = fitted(["age", "visits", "newsletter"], "-c", 2, "--columns", "age,visits,newsletter")
    assert named["columns"] == 3
