"""Rows of a file of any format: selection of columns, weights, dtype, and scaling that is stored with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.blocks import mapped
from ..data.files.discovery import found
from ..data.files.opening import open_rows
from ..data.files.schema import PathWord, ReadOptions
from ..data.row_source import ColumnLabel, RowsError, as_source
from ..data.scaling import cuts, extremes, mean_and_deviation
from ..fitting.memory import free_memory
from ..storage.overwriting import lies_in
from .errors import InputError
from .option_values import as_option

__all__ = ["SHARE", "InputRows", "ReadOptions", "Scaling", "files_of", "learn_scaling", "read_rows", "refuse_inside"]

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
        for start, stop in cuts(x):
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
    low, high = extremes(x, weight)
    if not np.isfinite(low).all():
        raise InputError("the weights: no row has a positive weight.")
    with np.errstate(over="ignore", invalid="ignore"):
        shift, spread = (low, high - low) if kind == "unit" else mean_and_deviation(x, weight, low)
    if not np.isfinite([shift, spread]).all():
        raise InputError(f"--scale {kind}: values up to {max(high.max(), -low.min()):.3g} are too large to scale.")
    factor = 1 / np.where(spread == 0, 1, spread)
    return Scaling(kind, tuple(shift.tolist()), tuple(factor.tolist()))


def _refuse_sparse(kind: str, x: Any) -> None:
    if scipy.sparse.issparse(x):
        raise InputError(f"--scale {kind}: sparse rows would lose their zeros; use --scale none, or scale them beforehand.")


SHARE = 4  # rows that take at most this fraction (1 / SHARE) of the available memory are read into it


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
    opened, columns = open_rows(replace(reading, known=known, spell=as_option), in_memory=most)
    stored = as_source(opened)
    x = opened if stored is None else stored.loaded(most)
    return InputRows(x, columns, None if stored is None else stored.weight, stay=as_source(x) is not None)


def files_of(reading: ReadOptions) -> list[Path]:
    """Return the files to read; none where there are none, an error that is raised when they are read."""
    try:
        return found(reading.file)
    except RowsError:
        return []


def refuse_inside(rows: PathWord | Sequence[PathWord], out: Path, advice: str) -> None:
    """Refuse results in the folder that is read, as they would be read as rows the next time."""
    if isinstance(rows, Path) and rows.is_dir() and lies_in(out, rows):
        raise InputError(f"--out {out}: lies in {rows}, all of which is read as rows; choose {advice}.")
