"""Blocks of columns from any file, made rows of numbers: looked at as they come, and put together without a second copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stored import Label, Rows, RowsError

Block = Sequence[NDArray[Any]]  # some rows of a file: one 1-D array per picked column


@dataclass(frozen=True)
class Choice:
    """What is taken of a file, by the places of its columns, and into which type of number."""

    picked: tuple[int, ...]
    weight: int | None
    dtype: np.dtype[Any]

    @property
    def places(self) -> list[int]:
        """All that must be read, the weight last."""
        return [*self.picked, *([] if self.weight is None else [self.weight])]


@dataclass(frozen=True)
class Plan:
    """What is read from a file: which columns, into which type of number."""

    where: str  # the file, for messages
    columns: tuple[Label, ...]
    dtype: np.dtype[Any]
    weight: Label | None = None  # if there is one, it is the last array of every block
    n_rows: int | None = None  # None: known only at the end of the file


def fill(x: Rows, block: Block, first_row: int, plan: Plan) -> None:
    """A block of columns as the rows x (b, d), of which the first has that number in its file; holes are refused."""
    with np.errstate(over="ignore"):  # found below, as infinity
        for place, values in zip(range(x.shape[1]), block, strict=False):
            x[:, place] = values
    check_finite(x, first_row, plan)


def rows_of(block: Block, first_row: int, plan: Plan) -> Rows:
    """A block of columns as rows (b, d) of their own."""
    x = np.empty((len(block[0]), len(plan.columns)), plan.dtype)
    fill(x, block, first_row, plan)
    return x


def gather(blocks: Iterable[Block], plan: Plan) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Rows (n, d) and weights (n,) out of blocks of columns."""
    x = np.empty((plan.n_rows or 0, len(plan.columns)), plan.dtype)
    weights = np.empty(0 if plan.weight is None else plan.n_rows or 0)
    done = 0
    for block in blocks:
        stop = done + len(block[0])
        if stop > len(x):
            # The system moves pages instead of copying them when a large array grows in place.
            x.resize((max(stop, len(x) * 3 // 2), x.shape[1]), refcheck=False)
        fill(x[done:stop], block, done, plan)
        if plan.weight is not None:
            if stop > len(weights):
                weights.resize(len(x), refcheck=False)
            weights[done:stop] = block[-1]
            _check_weights(weights[done:stop], done, plan)
        done = stop
    if done == 0:
        raise RowsError(f"{plan.where}: has no rows.")
    x.resize((done, x.shape[1]), refcheck=False)
    if plan.weight is None:
        return x, None
    weights.resize(done, refcheck=False)
    refuse_zero(weights, plan.where, plan.weight)
    return x, weights


def refuse_zero(weights: NDArray[np.float64], where: str, label: Label | None) -> None:
    if not weights.any():
        raise RowsError(f"{where}: weight column {label!r} is zero in every row.")


def check_finite(x: NDArray[Any], first_row: int, plan: Plan) -> None:
    """Refuse rows (b, d) with a hole, naming the first one."""
    finite = np.isfinite(x)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        raise RowsError(
            f"{plan.where}: column {plan.columns[place]!r} {fault(x[row, place], x.dtype)} in row {first_row + row} (rows count from 0)."
            " Fill or drop such rows first."
        )


def weights_of(values: NDArray[Any], first_row: int, plan: Plan) -> NDArray[np.float64]:
    """A column as weights (b,)."""
    weights = np.asarray(values, np.float64)
    _check_weights(weights, first_row, plan)
    return weights


def _check_weights(weights: NDArray[np.float64], first_row: int, plan: Plan) -> None:
    wrong = ~are_weights(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RowsError(
            f"{plan.where}: weight column {plan.weight!r} {weight_fault(weights[row])} in row {first_row + row} (rows count from 0);"
            " weights are 0 or more."
        )


def fault(value: Any, dtype: np.dtype[Any]) -> str:
    """What is wrong with a number that is not finite."""
    return "is empty or not a number (NaN)" if np.isnan(value) else f"is infinite or too large for {dtype.name}"


def are_weights(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values can be weights of rows."""
    return np.asarray((values >= 0) & (values < np.inf))


def weight_fault(value: Any) -> str:
    """What is wrong with a number that is no weight."""
    return f"is {value:g}" if value < 0 else fault(value, np.dtype(np.float64))
