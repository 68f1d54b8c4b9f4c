"""Blocks of columns from any file, put together as one array of rows without a second copy of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .columns import Label
from .errors import InputError

Block = Sequence[NDArray[Any]]  # some rows of a file: one 1-D array per picked column


@dataclass(frozen=True)
class Plan:
    """What is read from a file: which columns, into which type of number."""

    where: str  # the file, for messages
    columns: tuple[Label, ...]
    dtype: DTypeLike
    weight: Label | None = None  # if there is one, it is the last array of every block
    n_rows: int | None = None  # None: known only at the end of the file


def gather(blocks: Iterable[Block], plan: Plan) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Rows (n, d) and weights (n,) out of blocks of columns."""
    x = np.empty((plan.n_rows or 0, len(plan.columns)), plan.dtype)
    weights = np.empty(plan.n_rows or 0)
    done = 0
    for block in blocks:
        stop = done + len(block[0])
        if stop > len(x):
            # The system moves pages instead of copying them when a large array grows in place.
            x.resize((max(stop, len(x) * 3 // 2), x.shape[1]), refcheck=False)
            weights.resize(len(x), refcheck=False)
        with np.errstate(over="ignore"):  # found below, as infinity
            for place, values in zip(range(x.shape[1]), block, strict=False):
                x[done:stop, place] = values
        check_finite(x[done:stop], done, plan)
        if plan.weight is not None:
            weights[done:stop] = block[-1]
            _check_weights(weights[done:stop], done, plan)
        done = stop
    if done == 0:
        raise InputError(f"{plan.where}: has no rows.")
    x.resize((done, x.shape[1]), refcheck=False)
    if plan.weight is None:
        return x, None
    weights.resize(done, refcheck=False)
    if not weights.any():
        raise InputError(f"{plan.where}: weight column {plan.weight!r} is zero in every row.")
    return x, weights


def check_finite(x: NDArray[Any], first_row: int, plan: Plan) -> None:
    """Refuse rows (b, d) with a hole, naming the first one."""
    finite = np.isfinite(x)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        raise InputError(
            f"{plan.where}: column {plan.columns[place]!r} {fault(x[row, place], x.dtype)} in row {first_row + row} (rows count from 0)."
            " Fill or drop such rows first."
        )


def _check_weights(weights: NDArray[np.float64], first_row: int, plan: Plan) -> None:
    wrong = ~are_weights(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
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
