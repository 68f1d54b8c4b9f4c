"""Rows of a file of any format: selection of columns, weights, dtype, and scaling that is stored with the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.blocks import mapped, rows_between, spans
from ..data.files.discovery import found
from ..data.files.opening import OpenedFile, OpenOptions, number_type, open_chosen, open_file
from ..data.files.schema import Field, Header, shortened
from ..data.files.tables import ColumnSelection, FileTable
from ..data.files.text import is_number
from ..data.row_source import ColumnLabel, RowsError, as_source
from ..fitting.memory import free_memory
from ..storage.overwriting import lies_in
from .categories import Categories, with_categories
from .errors import InputError
from .option_values import as_option

_CELLS = 1_000_000  # numbers scaled at a time: what is copied to float64 stays small
KINDS = ("none", "standard", "unit")


@dataclass(frozen=True)
class Scaling:
    """x -> (x - shift) * factor for each column; `none` changes nothing."""

    kind: str = "none"
    shift: tuple[float, ...] = ()
    factor: tuple[float, ...] = ()

    def apply(self, x: Any) -> Any:
        """Scale the rows of x (n, d): in place where x is writeable, else in a new array of its type; rows of files as they are read."""
        if self.kind == "none":
            return x
        _refuse_sparse(self.kind, x)
        return mapped(x, self._scaled)

    def _scaled(self, x: NDArray[Any]) -> NDArray[Any]:
        scaled = x if x.flags.writeable else np.empty(x.shape, x.dtype)
        shift, factor = np.array(self.shift), np.array(self.factor)
        for start, stop in _cuts(x):
            scaled[start:stop] = (x[start:stop].astype(np.float64) - shift) * factor
        return scaled

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any], n_columns: int) -> Scaling:
        """Return the scaling a model was saved with. The file is not trusted, so the shape is checked."""
        try:
            kind = str(stored["kind"])
            shift, factor = (tuple(float(number) for number in stored[name]) for name in ("shift", "factor"))
        except (TypeError, KeyError, ValueError) as error:
            raise InputError(f"the model's scaling cannot be read ({error!r}).") from error
        expected = 0 if kind == "none" else n_columns
        if kind not in KINDS or len(shift) != expected or len(factor) != expected or not np.isfinite([*shift, *factor]).all():
            raise InputError(f"the model's scaling (kind {kind!r}, {len(shift)} columns) does not fit its {n_columns} columns.")
        return cls(kind, shift, factor)


def learn_scaling(kind: str, x: Any, weight: NDArray[np.float64] | None = None, n_left: int = 0) -> Scaling:
    """Return the scaling of the rows of x (n, d). `standard`: mean 0, deviation 1; `unit`: [0, 1].

    A weight of k counts as k copies of the row, so rows of weight zero do not count. A constant column becomes 0. The last `n_left`
    columns, of zeros and ones for categories, are left as they are.
    """
    if kind == "none":
        return Scaling()
    _refuse_sparse(kind, x)
    low, high = _extremes(x, weight)
    with np.errstate(over="ignore", invalid="ignore"):
        shift, spread = (low, high - low) if kind == "unit" else _mean_and_deviation(x, weight, low)
    if not np.isfinite([shift, spread]).all():
        raise InputError(f"--scale {kind}: values up to {max(high.max(), -low.min()):.3g} are too large to scale.")
    factor = 1 / np.where(spread == 0, 1, spread)
    left = np.arange(len(shift)) >= len(shift) - n_left
    shift, factor = np.where(left, 0.0, shift), np.where(left, 1.0, factor)
    return Scaling(kind, tuple(shift.tolist()), tuple(factor.tolist()))


def _refuse_sparse(kind: str, x: Any) -> None:
    if scipy.sparse.issparse(x):
        raise InputError(f"--scale {kind}: sparse rows would lose their zeros; use --scale none, or scale them beforehand.")


def _extremes(x: NDArray[Any], weight: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for block, w in _weighted_blocks(x, weight):
        counted = block[w > 0]
        if len(counted):
            low, high = np.minimum(low, counted.min(axis=0)), np.maximum(high, counted.max(axis=0))
    if not np.isfinite(low).all():
        raise InputError("the weights: no row has a positive weight.")
    return low, high


def _mean_and_deviation(
    x: NDArray[Any], weight: NDArray[np.float64] | None, origin: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # Sums are relative to an origin among the values, so that a large offset costs no digits and a constant column has its value as mean.
    total, mean, square = 0.0, np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for block, w in _weighted_blocks(x, weight):
        total, mean = total + w.sum(), mean + w @ (block - origin)
    mean = origin + mean / total
    for block, w in _weighted_blocks(x, weight):
        square += w @ (block - mean) ** 2
    return mean, np.sqrt(square / total)


def _cuts(x: Any) -> Iterator[tuple[int, int]]:
    return spans(x.shape[0], max(1, _CELLS // max(1, x.shape[1])))


def _weighted_blocks(x: Any, weight: NDArray[np.float64] | None) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    for start, stop in _cuts(x):
        block = rows_between(x, start, stop).astype(np.float64)
        yield block, np.ones(len(block)) if weight is None else weight[start:stop]


SHARE = 4  # rows that take at most this fraction (1 / SHARE) of the available memory are read into it


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file."""

    file: Path
    columns: tuple[str, ...] = ()  # as typed: names, positions, ranges, lists with commas; none means all
    weight: str | None = None
    array: str | None = None  # name of an array of an npz
    dtype: str | None = None  # None: float32 where every column is of single precision, else float64
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect
    id: str | None = None  # a column that names the rows, and is no data
    categorical: tuple[str, ...] = ()  # columns of categories

    def opened(self, file: Path, categories: Categories | None = None) -> OpenedFile:
        """Open one file: its columns are read, its rows are not."""
        return open_file(file, self.open_options(categories))

    def open_options(self, categories: Categories | None = None) -> OpenOptions:
        return OpenOptions(self.array, self.weight, self.header, as_option, None if categories is None else categories.encoded)

    def tables(self, option: str) -> list[FileTable]:
        """Return all files, opened, for an option that needs named columns."""
        opened = [self.opened(file) for file in found(self.file)]
        tables = [table for table in opened if isinstance(table, FileTable)]
        if len(tables) < len(opened):
            raise InputError(f"{option}: {self.file} holds numbers alone; CSV, Parquet and Arrow have columns of other kinds.")
        return tables


@dataclass(frozen=True)
class InputRows:
    """Rows of a file, with their weights and columns."""

    x: Any  # (n, d) array, a CSR array, or rows read from their files block by block
    columns: tuple[ColumnLabel, ...]
    weight: NDArray[np.float64] | None = None
    stay: bool = False  # in their files, which bring the weights
    left_out: tuple[Field, ...] = ()  # text and dates beside the numbers


def read_rows(
    reading: ReadOptions, known: Sequence[ColumnLabel] | None = None, most: int | None = None, categories: Categories | None = None
) -> InputRows:
    """Return the requested rows, in memory if they take no more than `most` bytes. `known`: the columns of a model, used where
    `reading` names none."""
    most = free_memory() // SHARE if most is None else most
    source = reading.opened(found(reading.file)[0], categories)
    if reading.id is not None and not isinstance(source, FileTable):
        reading.tables(f"--id {reading.id}")  # which refuses it
    beside = _beside_numbers(source, reading) if known is None and not reading.columns else []
    left_out = tuple(source.header.fields[at] for at in beside)

    def chosen(header: Header, weight: ColumnLabel | None) -> ColumnSelection:
        return chosen_columns(header, reading, weight, known, beside)

    if reading.file.is_file() and reading.file.stat().st_size <= most:
        choice = chosen(source.header, None if source.aside else reading.weight)
        if (source.n_rows or 0) * len(choice.picked) * choice.dtype.itemsize <= most:  # the rows of a CSV take no more than its text
            x, weights = source.read(choice)
            return InputRows(x, source.header.labels(choice.picked), weights, left_out=left_out)
    opened = open_chosen(reading.file, reading.open_options(categories), chosen)
    stored = as_source(opened)
    if stored is None:
        return InputRows(opened, tuple(range(opened.shape[1])))
    if categories is not None and categories.columns:
        stored.again = None  # another process would read the files without the encoding
    x = stored.loaded(most)
    return InputRows(x, stored.columns, stored.weight, stay=x is stored, left_out=left_out)


def row_names(reading: ReadOptions) -> tuple[str, Iterator[Any]]:
    """Return the name of the column that names the rows, and its values as they are stored, in the order of the rows."""
    tables = reading.tables(f"--id {reading.id}")
    label = tables[0].header.fields[_naming(tables[0].header, reading)].label
    return str(label) or "id", (part for table in tables for part in table.column(table.header.position(label)))


def _naming(header: Header, reading: ReadOptions) -> int:
    """Return the position of the column that names the rows."""
    assert reading.id is not None
    try:
        at = header.position(reading.id)
    except RowsError as error:
        raise RowsError(f"--id {reading.id}: {error}") from error
    if re.fullmatch(r"label|u\d*|clusters|cluster\d+", str(header.fields[at].label)):
        raise InputError(f"--id {reading.id}: the file of labels has a column of that name already; rename one of them.")
    return at


def _beside_numbers(source: OpenedFile, reading: ReadOptions) -> list[int]:
    """Return the columns of text and dates, where there are columns of numbers too. One of numbers that a few words spoil is refused."""
    header = source.header
    named = None if reading.id is None else _naming(header, reading)
    kept = [at for at, found in enumerate(header.fields) if not found.aside and at != named]
    text = [at for at in kept if not header.fields[at].numeric]
    if len(text) == len(kept):
        return []
    text = [at for at in text if "not UTF-8" not in header.fields[at].kind]  # which is an error
    for at in text:
        if not isinstance(source, FileTable) or source.kind != "CSV":
            break
        values = next(source.column(at)).to_pylist()
        words = [row for row, value in enumerate(values) if isinstance(value, str) and value and not is_number(value)]
        numbers = sum(isinstance(value, str) and is_number(value) for value in values)
        if 0 < len(words) <= numbers:
            raise RowsError(
                f"{header.where}: column {header.fields[at].label!r} holds numbers, but {values[words[0]]!r} in row {words[0]} (rows count"
                " from 0). Mend it (a missing value is an empty cell), or choose the columns that are data with --columns."
            )
    return text


def chosen_columns(
    header: Header,
    reading: ReadOptions,
    weight: ColumnLabel | None,
    known: Sequence[ColumnLabel] | None = None,
    leave_out: Sequence[int] = (),
) -> ColumnSelection:
    """Return the columns of data: those the user names, else those of a model, else all but the weight and those to leave out."""
    at = None if weight is None else header.weighing(weight)
    named = None if reading.id is None else _naming(header, reading)
    if known is not None and not reading.columns:
        picked = _as_in_model(header, known)
    elif reading.columns:
        picked = with_categories(header, header.data(reading.columns, weight))
    else:
        picked = header.every(leave_out=[apart for apart in (*leave_out, at, named) if apart is not None])
    if named in picked:
        raise InputError(f"--id: column {header.fields[named].label!r} is also in --columns; it names the rows or it is data.")
    if known is not None and len(picked) != len(known):
        raise InputError(f"--columns: names {len(picked)} columns, but the model was fitted on {len(known)} ({shortened(known)}).")
    return ColumnSelection(tuple(picked), at, number_type(header, picked, reading.dtype))


def _as_in_model(header: Header, known: Sequence[ColumnLabel]) -> list[int]:
    """Return the columns of a model's fit, found by name, or by position where neither side has names."""
    labels = [field.label for field in header.fields]
    missing = [label for label in known if label not in labels]
    if not missing:
        picked = [labels.index(label) for label in known]
        header.refuse_text(picked)
        return picked
    if header.named == any(isinstance(label, str) for label in known):
        advice = "Name the right ones with --columns."
        raise InputError(f"{header.where}: lacks {shortened(missing)} of the model; it has {shortened(labels)}. {advice}")
    with_names, without = ("the file", "the model") if header.named else ("the model", "the file")
    advice = f"say with --columns which columns stand for {shortened(known)}, in that order."
    raise InputError(f"{header.where}: {with_names} names its columns, {without} does not; {advice}")


def files_of(reading: ReadOptions) -> list[Path]:
    """Return the files to read; none where there are none, an error that is raised when they are read."""
    try:
        return found(reading.file)
    except RowsError:
        return []


def refuse_inside(rows: Path, out: Path, advice: str) -> None:
    """Refuse results in the folder that is read, as they would be read as rows the next time."""
    if rows.is_dir() and lies_in(out, rows):
        raise InputError(f"--out {out}: lies in {rows}, all of which is read as rows; choose {advice}.")
