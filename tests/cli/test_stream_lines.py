"""Lines of a CSV as rows: the same ones however the bytes were cut, and whether a block was read at
once or line by line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise, repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmeans.cli.stream.batches import Batch, joined
from cmeans.data.files.csv import _judged
from cmeans.data.files.csv_lines import LineReader
from cmeans.data.files.schema import ColumnChoice
from cmeans.data.files.text import (
    LONGEST,
    Dialect,
    Lines,
    OpenQuoteError,
    ended,
    numbered_lines,
    split,
)

pytestmark = pytest.mark.slow

NUMBERS = ["1", "-2.5", "+3", ".5", "5.", "1e3", "1e400", "1e-400", " 1 ", '"1"']
OTHERS = [
    "",
    " ",
    "nan",
    "inf",
    "NA",
    "x",
    "1_0",
    "0x1",
    "true",
    "False",
    "\u0661",
    "\u00e4",
    '"1,2"',
    '"',
    'a"b',
    '"a"b',
    '""',
]
OTHERS += ["nan(1)", "-nan(ind)", "nan(a-b)"]
# the first two are bytes that are not UTF-8
OTHERS += ["\udce4", "1\udce4", '"q""r"', '"q"r"', 'q""']
CELLS = st.sampled_from(NUMBERS + OTHERS)
GOOD = st.sampled_from(["1", "-2.5", "+3", ".5", "1e3", "1e-400", " 1 ", '"1"', '"1"5', "1\r"])
LINES = st.one_of(
    st.lists(st.lists(CELLS, min_size=1, max_size=3).map(",".join), max_size=12),
    st.lists(st.tuples(CELLS, GOOD).map(",".join), max_size=4),
    st.lists(st.tuples(GOOD, CELLS).map(",".join), max_size=4),
    st.lists(st.tuples(GOOD, GOOD).map(",".join), max_size=12),
)


def found(texts: Iterable[bytes | None], longest: int = LONGEST) -> list[tuple[int, bytes]]:
    parts = [part for part in numbered_lines(iter(texts), longest) if part is not None]
    return [pair for part in parts for pair in zip(part.numbers, part.texts, strict=True)]


def picking(
    picked: tuple[int, ...] = (0,), weight: int | None = None, dtype: str = "float64"
) -> ColumnChoice:
    return ColumnChoice(
        "x.csv",
        picked,
        tuple("abc"[at] for at in picked),
        np.dtype(dtype),
        weight,
        weight and "abc"[weight],
    )


def reader(width: int = 2) -> LineReader:
    return LineReader(Dialect(",", tuple("abc"[:width]), True))


def batch_of(
    text: bytes, at: LineReader | None = None, choice: ColumnChoice | None = None
) -> Batch:
    choice, lines = choice or picking(), lines_of(text)
    return Batch.of(
        (at or reader()).read(lines, choice.places), 0, choice, lines.numbers, "line {}".format
    )


def lines_of(text: bytes) -> Lines:
    whole = re.split(b"\r\n|\n|\r", text)
    return Lines(ended(whole), range(1, len(whole) + 1))


def facts(batch: Batch) -> tuple[object, ...]:
    return (
        batch.x.tolist(),
        batch.rows.tolist(),
        batch.stop,
        [(row, text.partition(":")[0]) for row, text in batch.faults],
    )


@given(st.text("ab\n\r", max_size=60).map(str.encode), st.lists(st.integers(0, 60), max_size=5))
def test_cuts_between_blocks_change_nothing(text: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    blocks = [text[start:stop] for start, stop in pairwise(places) if stop > start]
    whole = re.split(b"\r\n|\n|\r", text) if text else []
    assert found(blocks) == list(enumerate(whole[:-1] if whole and not whole[-1] else whole, 1))


def test_endless_lines_are_cut_off() -> None:
    assert found([b"12345", b"67890", b"1234", b"5\n12\n", None], 10) == [
        (1, b"12345678901"),
        (2, b"12"),
    ]
    assert found([b"1\n2", b"3" * 20, b"4", b"5\r", b"\n6"], 10) == [
        (1, b"1"),
        (2, b"23333333333"),
        (3, b"6"),
    ]
    assert found([b"3" * 20], 10) == [(1, b"3" * 11)]


def test_a_line_too_long_is_known_at_once() -> None:
    """Its end may never come."""
    first = next(numbered_lines(repeat(b"12345"), 10))
    assert first is not None
    assert first.texts == [b"12345123451"]


def test_a_line_that_ends_in_cr_is_whole_at_once() -> None:
    """Whether LF follows need not be waited for."""
    blocks = iter([b"1,2\r", b"\n3,4\r\n", b"5"])
    parts: Iterator[Lines | None] = numbered_lines(blocks)
    for texts in ([b"1,2"], [b"3,4"], [b"5"]):
        part = next(parts)
        assert part is not None
        assert part.texts == texts
    assert part.open


@given(st.text('ab",\u00e4 ', max_size=20))
def test_fields_are_those_of_the_csv_module(line: str) -> None:
    [expected] = list(csv.reader([f"{line}\n"])) or [[""]]
    try:
        assert split(line, ",") == (expected or [""])
    except OpenQuoteError:
        assert expected[-1].endswith("\n")  # it waits for the rest


@given(st.text('ab",\n', max_size=40))
def test_records_are_those_of_the_csv_module(text: str) -> None:
    """Where quotes go over the ends of lines."""
    whole, rest = lines_of(text.encode()).joined(",")
    rows, starts = csv.reader(io.StringIO(f"{text}\n", newline="")), [1]
    starts += [rows.line_num + 1 for _ in rows]
    assert [*whole.numbers, *rest.numbers[:1]] == starts[:-1]
    assert len(whole.texts) == len(whole)


def test_fields_of_any_length() -> None:
    """The csv module refuses those of more than 131,072 characters."""
    for long in ("x" * 140_000, "1" + "0" * 140_000):
        batch = batch_of(f'1,{long}\n2,"{long}"\n"{long}",3'.encode())
        assert batch.x.ravel().tolist() == [1, 2]
        [(_, text)] = batch.faults
        assert text.startswith("line 3: column 'a' ")
        assert len(text) < 110
    assert csv.field_size_limit() == 131_072


def test_malformed_lines_do_not_pile_up_before_the_first_sound_one() -> None:
    """Of a stream without any sound line, the malformed ones must be told and counted while it goes
    on."""
    read = iter(range(1_000))
    parts: Iterator[Lines | None] = (
        Lines(b"malformed\n" * 100, range(100 * at, 100 * at + 100)) for at in read
    )
    seen, numeric, _ = _judged(parts, reader(), several=False)
    assert numeric == [True, True]
    assert len(seen) == next(read) <= 20


def test_long_lines_are_malformed() -> None:
    for copies in (1, 100):  # line by line, and a block that would else be read at once
        batch = batch_of(
            b"1,2\n" * copies + b"1," + b"2" * (1 << 20) + b"\n3,4",
            replace(reader(), longest=1 << 20),
        )
        assert [text.partition(": ")[2] for _, text in batch.faults] == ["is longer than 1 MiB"]
        assert batch.x.ravel().tolist() == [1] * copies + [3]


@given(LINES)
def test_at_once_and_one_by_one_find_the_same(texts: list[str]) -> None:
    text = "\n".join(texts).encode(errors="surrogateescape")
    for at, choice in (
        (reader(), picking()),
        (reader(), picking((1,), 0)),
        (reader(1), picking()),
        (reader(), picking(dtype="float32")),
        (replace(reader(), truths=frozenset([0])), picking()),
    ):
        slow, fast = (batch_of(text, replace(at, few=few), choice) for few in (10**9, 0))
        assert facts(fast) == facts(slow)
        assert len(slow) + len(slow.faults) == slow.stop


@given(LINES, st.integers(0, 12))
def test_a_batch_can_be_cut_and_joined(texts: list[str], row: int) -> None:
    whole = batch_of("\n".join(texts).encode(errors="surrogateescape"))
    first, rest = whole.part(0, row), whole.part(row)
    assert all(number < row for number in first.rows)
    assert facts(joined([first, rest])) == facts(whole)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"1", "has 1 field where 2 belong"),
        (b"1,2,3", "has 3 fields where 2 belong"),
        (b"x,2", "column 'a' holds 'x', no number"),
        (b"y" * 50 + b",2", f"column 'a' holds '{'y' * 37}...', no number"),
        (b",2", "column 'a' is empty or not a number (NaN)"),
        (b"NA,2", "column 'a' is empty or not a number (NaN)"),
        (b"nan,2", "column 'a' is empty or not a number (NaN)"),
        (b"-inf,2", "column 'a' is infinite or too large for float64"),
        (b"1e999,2", "column 'a' is infinite or too large for float64"),
        (b"1,-2", "weight column 'b' is -2"),
        (b"1,inf", "weight column 'b' is infinite or too large for float64"),
        (b"1,", "weight column 'b' is empty or not a number (NaN)"),
        (b"1,w", "column 'b' holds 'w', no number"),
        (
            b"\xff,2",
            "column 'a' is not text in UTF-8 (byte 0xFF)",
        ),
        (
            b"\xff,x",
            "column 'a' is not text in UTF-8 (byte 0xFF)",
        ),
        (
            b"1,1\xe4",
            "column 'b' is not text in UTF-8 (byte 0xE4)",
        ),
        (b"1\x00,2", "column 'a' holds '1\\x00', no number"),
        (b"\x0b1,2", "column 'a' holds '\\x0b1', no number"),
        (b"," * 70_000, "has 70,001 fields where 2 belong"),
        (b'"1,2', "has a quote that is not closed"),
    ],
)
@pytest.mark.parametrize("around", [0, 50])
def test_what_is_wrong_is_said(line: bytes, why: str, around: int) -> None:
    batch = batch_of(
        b"\n".join([*[b"7,1"] * around, line, *[b"8,0.5"] * around]), choice=picking(weight=1)
    )
    assert batch.faults == ((around, f"line {around + 1}: {why}"),)
    assert batch.rows.tolist() == [*range(around), *range(around + 1, 2 * around + 1)]
    assert batch.x.ravel().tolist() == [7] * around + [8] * around
    assert batch.weight is not None
    assert batch.weight.tolist() == [1] * around + [0.5] * around
