"""Rows of a file of any format: selection of columns, weights, dtype, and scaling that is stored with the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.blocks import mapped, rows_between, spans
from ..data.files.discovery import found
from ..data.files.opening import OpenOptions, number_type, open_chosen, open_file
from ..data.files.schema import Header, shortened
from ..data.files.tables import ColumnSelection
from ..data.row_source import ColumnLabel, RowsError, as_source
from ..fitting.memory import free_memory
from ..storage.overwriting import lies_in
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


def learn_scaling(kind: str, x: Any, weight: NDArray[np.float64] | None = None) -> Scaling:
    """Return the scaling of the rows of x (n, d). `standard`: mean 0, deviation 1; `unit`: [0, 1].

    A weight of k counts as k copies of the row, so rows of weight zero do not count. A constant column becomes 0.
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


@dataclass(frozen=True)
class InputRows:
    """Rows of a file, with their weights and columns."""

    x: Any  # (n, d) array, a CSR array, or rows read from their files block by block
    columns: tuple[ColumnLabel, ...]
    weight: NDArray[np.float64] | None = None
    stay: bool = False  # in their files, which bring the weights


def read_rows(reading: ReadOptions, known: Sequence[ColumnLabel] | None = None, most: int | None = None) -> InputRows:
    """Return the requested rows, in memory if they take no more than `most` bytes. `known`: the columns of a model, used where
    `reading` names none."""
    most = free_memory() // SHARE if most is None else most
    options = OpenOptions(reading.array, reading.weight, reading.header, as_option)
    if reading.file.is_file() and reading.file.stat().st_size <= most:
        source = open_file(reading.file, options)
        choice = chosen_columns(source.header, reading, None if source.aside else reading.weight, known)
        if (source.n_rows or 0) * len(choice.picked) * choice.dtype.itemsize <= most:  # the rows of a CSV take no more than its text
            x, weights = source.read(choice)
            return InputRows(x, source.header.labels(choice.picked), weights)
    opened = open_chosen(reading.file, options, lambda header, weight: chosen_columns(header, reading, weight, known))
    stored = as_source(opened)
    if stored is None:
        return InputRows(opened, tuple(range(opened.shape[1])))
    x = stored.loaded(most)
    return InputRows(x, stored.columns, stored.weight, stay=x is stored)


def chosen_columns(
    header: Header, reading: ReadOptions, weight: ColumnLabel | None, known: Sequence[ColumnLabel] | None = None
) -> ColumnSelection:
    """Return the columns of data: those the user names, else those of a model, else all but the weight."""
    at = None if weight is None else header.weighing(weight)
    picked = header.data(reading.columns, weight) if reading.columns or known is None else _as_in_model(header, known)
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
