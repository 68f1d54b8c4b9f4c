from __future__ import annotations

import pytest

from cmeans.cli.option_names import as_option
from cmeans.data.files.schema import Field, Header
from cmeans.data.row_source import RowsError


def header(*names: str | int, text: tuple[str | int, ...] = ()) -> Header:
    return Header(
        "data.csv",
        tuple(
            Field(name, "text" if name in text else "double", name not in text) for name in names
        ),
        as_option,
    )


@pytest.mark.parametrize(
    ("words", "picked"),
    [
        (["a"], [0]),
        (["c,a"], [2, 0]),
        (["c", "a"], [2, 0]),
        (["a, b ,"], [0, 1]),
        (["1"], [1]),
        (["0-2"], [0, 1, 2]),
        (["1-1,a"], [1, 0]),
        (["x,y"], [3]),  # a name may hold a comma
        (["x,y,a"], None),
        (["p-q"], [4]),  # or a dash
    ],
)
def test_columns_are_picked_by_name_position_or_range(
    words: list[str], picked: list[int] | None
) -> None:
    fields = header("a", "b", "c", "x,y", "p-q")
    if picked is None:
        with pytest.raises(RowsError, match="no column 'x'"):
            fields.pick(words)
    else:
        assert fields.pick(words) == picked


def test_numbers_are_names_where_columns_have_numbers_for_names() -> None:
    assert header("3", "1", "0").pick(["0,3"]) == [2, 0]
    assert header("2", "1", "0").pick(["0-2"]) == [2, 1, 0]
    with pytest.raises(RowsError, match="no column '2'"):
        header("3", "1", "0").pick(["2"])


def test_files_without_names_have_positions() -> None:
    assert header(0, 1, 2).pick(["2,0"]) == [2, 0]
    assert header(0, 1, 2).labels([2, 0]) == (2, 0)
    assert not header(0, 1).named


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["z"], r"data\.csv: there is no column 'z'; it has columns 'a', 'b', 't'\."),
        (["7"], r"data\.csv: there is no column 7; it has 3 columns, counted from 0\."),
        (["0-9999999999"], r"there is no column 9999999999"),
        (["a,b,a"], r"--columns: column 'a' named twice\."),
        (["2-0"], r"--columns: the range '2-0' runs backwards\."),
        ([","], r"--columns: names no column"),
        (["a,t"], r"data\.csv: column 't' \(text\) holds no numbers\."),
    ],
)
def test_wrong_columns_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(RowsError, match=message):
        header("a", "b", "t", text=("t",)).pick(words)


def test_text_among_all_columns_is_refused_with_the_way_out() -> None:
    with pytest.raises(
        RowsError,
        match=r"column 't' \(text\) holds no numbers\. Choose the columns that are data, e\.g\. "
        r"--columns a,b\.",
    ):
        header("a", "b", "t", text=("t",)).every()
    many = [f"c{at}" for at in range(20)]
    with pytest.raises(RowsError, match=r"--columns 0-6,8-19\."):
        header(*many, text=("c7",)).every()
    with pytest.raises(RowsError, match=r"no numeric columns \(it has column 't' \(text\)\)"):
        header("t", text=("t",)).every()


def test_a_column_without_a_name_is_not_taken_for_data() -> None:
    with pytest.raises(RowsError, match=r"column 0 has no name \(a row index\?\).*--columns a,b\."):
        header("", "a", "b").every()


def test_a_row_index_and_what_is_left_out_are_no_data() -> None:
    fields = Header(
        "f",
        (
            Field("i", "int64", True, aside=True),
            Field("a", "double", True),
            Field("w", "double", True),
        ),
    )
    assert fields.every(leave_out=(2,)) == [1]
