"""Units of columns: standard, unit, robust and logarithms, learnt once and kept with a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...runtime.numerals import in_digits
from ..arrays import Array, as_like
from ..blocks import mapped
from ..chosen_scaling import chosen_scaling
from ..files.schema import Spelling, in_python
from ..long_tails import have_long_tails, logarithms, logarithms_in_library, offsets_of
from ..row_source import RowsError, as_source
from ..scaling import cuts, extremes, mean_and_deviation

KINDS = ("none", "standard", "unit", "robust", "log")
AUTO = "auto"  # the one of these that the rows speak for
ZERO = 64.0  # roundings of an offset, below which a value beside it is none
_SAMPLE = 2**16  # rows of which quantiles and skewness are taken, evenly spaced
_STRETCH = 4_096  # rows that are read together for them, where rows are not in memory
_QUARTILES = 1.349  # between the quartiles of a normal distribution, in deviations

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """x -> (x - shift) * factor for each column, of log(x + offset) where the column has one.

    Kind "none" has factors only where columns have weights, and changes nothing else.
    """

    kind: str = "none"
    shift: tuple[float, ...] = ()
    factor: tuple[float, ...] = ()
    # what is added to a column before its logarithm is taken; none of a column as it is
    offset: tuple[float | None, ...] = ()
    # of each such column, which stands in place of what has no logarithm
    least: tuple[float, ...] = ()

    def apply(self, x: Any) -> Any:
        """Scale the rows of x (n, d): in place where x is writeable, else in a new array of its
        type; rows of files as they are read."""
        if not self.factor:
            return x
        _refuse_sparse(self.kind, x)
        return mapped(x, self._scaled)

    def _scaled(self, x: NDArray[Any]) -> NDArray[Any]:
        scaled = x if x.flags.writeable else np.empty(x.shape, x.dtype)
        shift, factor = np.array(self.shift), np.array(self.factor)
        for start, stop in cuts(x):
            try:
                with np.errstate(over="raise"):
                    scaled[start:stop] = (self.logarithms(x[start:stop]) - shift) * factor
            except FloatingPointError:
                raise RowsError(
                    f"a value times its column's weight is too large for {x.dtype}; take smaller "
                    "weights of columns."
                ) from None
        return scaled

    def scaled(self, x: Array) -> Array:
        """Return the scaled rows of x (b, d), of any array library, in a new array."""
        if self.offset:
            x = logarithms_in_library(x, self.offset, self.least)
        if not self.factor:
            return x
        return (x - as_like(self.shift, x)) * as_like(self.factor, x)

    def logarithms(self, x: NDArray[Any]) -> Numbers:
        """Return rows (b, d) with logarithms of the columns that have an offset."""
        return logarithms(x, self.offset, self.least)

    def undone(self, x: Any) -> Any:
        """Return scaled rows of x (n, d), in memory, in the units of their file."""
        if not self.factor:
            return x
        rounding = ZERO * np.finfo(x.dtype if x.dtype.kind == "f" else np.float64).eps
        x = np.asarray(x, dtype=np.float64) / np.array(self.factor) + np.array(self.shift)
        for at, offset in enumerate(self.offset):
            if offset is not None:
                x[:, at] = np.exp(x[:, at]) - offset
                x[np.abs(x[:, at]) <= rounding * offset, at] = 0.0
        return x

    def weighted(self, weights: Numbers) -> Scaling:
        """Return the scaling after which each column counts as so many (d,) alike."""
        if (weights == 1).all():
            return self
        shift = self.shift or (0.0,) * len(weights)
        factor = np.array(self.factor or (1.0,) * len(weights)) * np.sqrt(weights)
        return Scaling(self.kind, shift, tuple(factor.tolist()), self.offset, self.least)

    def to_json(self) -> dict[str, Any]:
        stored = asdict(self)
        return (
            stored if self.offset else {name: stored[name] for name in ("kind", "shift", "factor")}
        )

    @classmethod
    def from_json(cls, stored: dict[str, Any], n_columns: int) -> Scaling:
        """Return the scaling a model was saved with. The file is not trusted, so the shape is
        checked."""
        try:
            kind = str(stored["kind"])
            shift, factor = (
                tuple(float(number) for number in stored[name]) for name in ("shift", "factor")
            )
            offset = tuple(
                None if number is None else float(number) for number in stored.get("offset", ())
            )
            least = tuple(float(number) for number in stored.get("least", ()))
        except (TypeError, KeyError, ValueError) as error:
            raise RowsError(f"the model's scaling cannot be read ({error!r}).") from error
        sizes = {len(shift), len(factor)}
        known = [number for number in offset if number is not None]
        if (
            kind not in KINDS
            or (sizes != {n_columns} and (kind != "none" or sizes != {0}))
            or len(offset) not in (0, n_columns)
            or len(least) != len(offset)
            or not np.isfinite([*shift, *factor, *known, *least]).all()
            or 0 in factor
        ):
            raise RowsError(
                f"the model's scaling (kind {kind!r}, {len(shift)} columns) does not fit its "
                f"{n_columns} columns."
            )
        return cls(kind, shift, factor, offset, least)


UNCHANGED = Scaling()


def learn_scaling(
    kind: str,
    x: Any,
    weight: Numbers | None = None,
    left: NDArray[np.bool_] | None = None,
    spell: Spelling = in_python,
) -> Scaling:
    """Return the scaling of the rows of x (n, d). `standard`: mean 0, deviation 1; `unit`: [0, 1];
    `robust`: median 0, quartiles 1.349 apart; `log`: standard, after the logarithm of columns
    without negative values that have a long tail; `auto`: what the rows speak for.

    A weight of k counts as k copies of the row, so rows of weight zero do not count. A constant
    column becomes 0. Columns that are `left` (d,), such as those of zeros and ones for categories,
    stay as they are.
    """
    if kind == AUTO:
        kind = _chosen(x, left)
    if kind == "none":
        return Scaling()
    _refuse_sparse(kind, x)
    low, high = extremes(x, weight)
    if not np.isfinite(low).all():
        raise RowsError("the weights: no row has a positive weight, or a column has no value.")
    left = np.zeros(len(low), bool) if left is None else left
    logs = _logarithms(x, low, left) if kind == "log" else Scaling()
    if logs.offset:
        ends = np.stack([low, high])
        low, high = logs.logarithms(ends)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "unit":
            shift, spread = low, high - low
        else:
            shift, spread = mean_and_deviation(
                x, weight, low, logs.logarithms if logs.offset else None
            )
        if kind == "robust":
            shift, spread = _quartiles(x, weight, shift, spread)
    if not np.isfinite([shift, spread]).all():
        most = in_digits(max(high.max(), -low.min()))
        raise RowsError(f"{spell('scale', kind)}: values up to {most} are too large to scale.")
    with np.errstate(over="ignore"):
        factor = 1 / np.where(spread == 0, 1, spread)
    if not np.isfinite(factor).all():
        least = in_digits(spread[spread > 0].min())
        raise RowsError(f"{spell('scale', kind)}: values {least} apart are too close to scale.")
    shift, factor = np.where(left, 0.0, shift), np.where(left, 1.0, factor)
    return Scaling(kind, tuple(shift.tolist()), tuple(factor.tolist()), logs.offset, logs.least)


def some_rows(x: Any, most: int = _SAMPLE) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return at most so many rows of dense x, evenly spaced, and their numbers; of rows that are
    not in memory in stretches."""
    source, n = as_source(x), int(x.shape[0])
    if source is None:
        numbers = np.arange(0, n, max(1, -(-n // most)))
        return np.asarray(x[numbers]), numbers
    starts = np.unique(np.linspace(0, max(0, n - _STRETCH), max(1, most // _STRETCH), dtype=int))
    parts = [(int(at), min(n, int(at) + _STRETCH)) for at in starts]
    return (
        np.concatenate([source.read(*part) for part in parts]),
        np.concatenate([np.arange(*part) for part in parts]),
    )


def _chosen(x: Any, left: NDArray[np.bool_] | None) -> str:
    """Return the scaling that rows speak for; beside columns that are `left`, zeros and ones, one
    that makes deviations comparable: among them ranges of 1 would count for little."""
    if scipy.sparse.issparse(x):
        return "none"
    rows = some_rows(x)[0].astype(np.float64)
    rows = rows[:, ~(np.isnan(rows).all(axis=0) | (False if left is None else left))]
    if not rows.size:
        return "none"
    name = chosen_scaling(rows).name
    are_beside = left is not None and left.any()
    return "standard" if are_beside and name in ("none", "unit") else name


def _logarithms(x: Any, low: Numbers, left: NDArray[np.bool_]) -> Scaling:
    """Return the logarithms of columns with a long tail and no negative values."""
    rows, _ = some_rows(x)
    taken = have_long_tails(rows, low) & ~left
    if not taken.any():
        return Scaling()
    offsets, least = offsets_of(rows, low)
    offset = [value if take else None for value, take in zip(offsets, taken, strict=True)]
    return Scaling("log", (), (), tuple(offset), tuple(np.where(taken, least, 1.0).tolist()))


def _quartiles(
    x: Any, weight: Numbers | None, mean: Numbers, deviation: Numbers
) -> tuple[Numbers, Numbers]:
    """Return medians and distances of quartiles (d,), of rows evenly spaced; mean and deviation of
    columns half of whose values are the same."""
    rows, numbers = some_rows(x)
    heavy = np.ones(len(rows)) if weight is None else weight[numbers]
    low, middle, high = np.array([_quantiles(column, heavy) for column in rows.T]).T
    flat = high == low
    return np.where(flat, mean, middle), np.where(flat, deviation, (high - low) / _QUARTILES)


def _quantiles(column: NDArray[Any], weight: Numbers) -> Numbers:
    """Return the quartiles of the values that are there."""
    known = ~np.isnan(column) & (weight > 0)
    values, order = column[known].astype(np.float64), np.argsort(column[known], kind="stable")
    below = np.cumsum(weight[known][order])
    places = np.searchsorted(below, np.array([0.25, 0.5, 0.75]) * below[-1])
    return np.asarray(values[order][np.minimum(places, len(values) - 1)])


def _refuse_sparse(kind: str, x: Any) -> None:
    if scipy.sparse.issparse(x):
        raise RowsError(
            f"--scale {kind}: sparse rows would lose their zeros; use --scale none, or scale them "
            "beforehand."
        )
