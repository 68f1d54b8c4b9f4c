"""Scaling of columns, with shifts and factors that are stored with the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.blocks import mapped, piece
from .errors import InputError

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
        for rows in _cuts(*x.shape):
            scaled[rows] = (x[rows].astype(np.float64) - shift) * factor
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


def _cuts(n_rows: int, n_columns: int) -> list[slice]:
    step = max(1, _CELLS // max(1, n_columns))
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def _weighted_blocks(x: Any, weight: NDArray[np.float64] | None) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    for rows in _cuts(*x.shape):
        block = piece(x, rows.start, min(rows.stop, len(x))).astype(np.float64)
        yield block, np.ones(len(block)) if weight is None else weight[rows]
