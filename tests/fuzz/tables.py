"""Tables whose columns are of every kind that Arrow has, with the values at the ends of each, and
whatever a user may say of them.

A table is refused in a line that names it, or holds finite rows; read again by its recipe, from a
Parquet file as from an Arrow file, it holds the same.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

import cmeans
from cmeans.data.row_source import RowsError
from fuzz.runner import Case, FoundError

INTEGERS = (0, 1, -1, 7, 2023, 10**6, 2**31 - 1, -(2**31), 2**62, -(2**63), 2**63 - 1)
FLOATS = (0.0, -0.0, 1.5, -9999.0, 1e300, 5e-324, float("inf"), float("nan"), 3e38, 48.1)
TEXTS = ("", "a", "b", "7", "007", "1.234,5", "2024-02-30", "2024-02-28", "31.12.2023", "?", "NA")
TEXTS += (
    "<script>",
    "\x1b[31m",
    "é",
    "\U0001f600",
    "true",
    "1e999",
    "-9999",
    " 3 ",
    "12,5 %",
    "\0",
)
TEXTS += ("3 kg", "4 kg", "5-", "(7)", "1,23,456", "CHF 3", "\u22124", "$1,000")


def stored(kind: pa.DataType, values: tuple[int, ...] = INTEGERS) -> Callable[..., pa.Array]:
    """Return how columns of a kind are made of integers, those that it holds."""

    def make(dice: random.Random, n: int) -> pa.Array:
        width = 2 ** (kind.bit_width - 1) if kind.bit_width < 64 else 2**63
        fitting = [value for value in values if -width <= value < width]
        raw = pa.array([dice.choice(fitting) for _ in range(n)], pa.int64())
        return raw.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)

    return make


def chosen(values: tuple[Any, ...], kind: pa.DataType) -> Callable[..., pa.Array]:
    return lambda dice, n: pa.array([dice.choice(values) for _ in range(n)], kind)


UNITS = ("s", "ms", "us", "ns")
COLUMNS: tuple[Callable[..., pa.Array], ...] = (
    *(chosen(FLOATS, kind) for kind in (pa.float64(), pa.float32())),
    *(chosen((0, 1, 2, 100, -100), kind) for kind in (pa.int8(), pa.int16(), pa.int64())),
    chosen(INTEGERS, pa.int64()),
    chosen((0, 1, 2**64 - 1), pa.uint64()),
    chosen((True, False, None), pa.bool_()),
    chosen(TEXTS, pa.string()),
    chosen(TEXTS[:5], pa.large_string()),
    *(chosen(texts, pa.string()) for texts in (TEXTS[-8:-6], TEXTS[-6:-4], TEXTS[-4:])),
    chosen((b"", b"\xff\xfe", b"a"), pa.binary()),
    chosen((None,), pa.null()),
    *(stored(pa.timestamp(unit)) for unit in UNITS),
    *(stored(pa.timestamp("us", zone)) for zone in ("UTC", "+01:30", "Nowhere/Nothing")),
    *(stored(pa.duration(unit)) for unit in UNITS),
    stored(pa.date32()),
    stored(pa.time64("ns"), (0, 5, 10**9, 86_399 * 10**9)),
    stored(pa.time32("s"), (0, 5, 86_399)),
    lambda dice, n: chosen(TEXTS[:4], pa.string())(dice, n).dictionary_encode(),
    lambda dice, n: pa.array([[float(dice.random())] * 3] * n, pa.list_(pa.float64(), 3)),
    lambda dice, n: pa.array([[1.0] * dice.choice((0, 2, 2)) for _ in range(n)]),
    chosen(({"at": 2**62}, None), pa.struct([("at", pa.timestamp("us"))])),
    lambda dice, n: pa.array([10 ** dice.choice((0, 5, 30)) for _ in range(n)], pa.decimal256(40)),
)
NAMES = ("a", "b", "c", "when", "", "é", "a b", "0", "\x1b[31m", "<b>")


def words_of(dice: random.Random, names: list[str]) -> dict[str, Any]:
    """Return what somebody says of a table of columns with these names."""
    name = dice.choice(names)
    said: dict[str, Any] = {
        "categorical": [name],
        "dates": [dice.choice((name, f"{name}=iso", f"{name}=%Y", f"{name}=%d.%m.%Y"))],
        "cyclic": {name: dice.choice((24, 1e-300, 7.5))},
        "latlon": [(name, dice.choice(names))],
        "column_weight": {name: dice.choice((2.0, 1e-300, 1e300))},
        "columns": [name],
        "weight": name,
        "id": name,
        "scale": dice.choice(("standard", "unit", "robust", "log", "auto")),
        "missing": "partial",
        "missing_values": ["?", "NA"],
        "decimal": dice.choice((",", ".")),
    }
    return {word: said[word] for word in dice.sample(sorted(said), dice.choice((0, 1, 1, 2, 3)))}


def prepared(folder: Path) -> Case:
    def case(dice: random.Random) -> str:
        n, names = dice.choice((1, 2, 9, 40)), dice.sample(NAMES, dice.choice((1, 2, 4)))
        table = pa.table([dice.choice(COLUMNS)(dice, n) for _ in names], names=names)
        parquet, arrow = folder / "x.parquet", folder / "x.arrow"
        with pa.ipc.new_file(arrow, table.schema) as out:
            out.write_table(table, max_chunksize=dice.choice((7, 100)))
        try:
            pq.write_table(table, parquet, row_group_size=dice.choice((7, 100)))
        except pa.ArrowException:  # times that Parquet does not count
            parquet = arrow
        words = words_of(dice, names)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            return same_again(parquet, arrow, words, n)

    return case


def same_again(parquet: Path, arrow: Path, words: dict[str, Any], n: int) -> str:
    """Read a table, and read it again by its recipe from the other file."""
    try:
        rows = cmeans.read_table(arrow, **words)
        x = rows.read(0, n)
        kept = {word: words[word] for word in ("id", "missing") if word in words}
        again = cmeans.read_table(parquet, recipe=rows.recipe, **kept).read(0, n)
    except RowsError as error:
        if not str(error).isprintable() or not 10 < len(str(error)) < 2000:
            raise FoundError(f"{words}: a message that is no line: {error!r}"[:999]) from error
        return "refused"
    if x.shape != (n, len(rows.columns)) or np.isinf(x).any():
        raise FoundError(f"{words}: {x!r}")
    if np.isnan(x).any() and words.get("missing") != "partial":
        raise FoundError(f"{words}: numbers are missing without a word: {x!r}")
    if not np.array_equal(x, again, equal_nan=True):
        raise FoundError(f"{words}: {x!r} in one file, {again!r} in the other")
    return "read"
