"""Cells: some weighted points that stand for all rows of a cluster of a stream, in native code, and
the same in Python where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import ADDRESS, REAL, WHOLE, Structure, address, byref, pointer_to
from ..runtime.stored_classes import stored

PITCH = 72  # as in the C file
LEAST = 0.02  # mass below which a cell is forgotten


class _CellsArgument(Structure):
    """struct cells"""

    _fields_ = [(name, ADDRESS) for name in ("x", "w", "f", "s")]


class _GroupsArgument(Structure):
    """struct groups"""

    _fields_ = [
        ("old", _CellsArgument),
        ("more", _CellsArgument),
        *((name, ADDRESS) for name in ("old_ends", "more_ends", "left")),
        ("forgotten", REAL),
        ("most", ADDRESS),
        ("groups", WHOLE),
        ("columns", WHOLE),
        ("to", _CellsArgument),
    ]


_ARGUMENTS = pointer_to(_GroupsArgument), ADDRESS, ADDRESS


@stored
@dataclass(frozen=True)
class Cells:
    """Cells of some rows, each the mean of rows near each other."""

    x: Float64  # (k, d)
    w: Float64  # (k,) masses, of rows that are forgotten
    f: Float64  # (k,) masses of late rows, which are forgotten sooner
    s: Float64  # (k,) scatter of a cell's rows about it, all columns together

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or any(
            part.shape != self.x.shape[:1] for part in (self.w, self.f, self.s)
        ):
            raise ValueError(f"Cells: masses {self.w.shape} do not fit {self.x.shape}")

    @classmethod
    def of_rows(cls, x: Float64) -> Cells:
        """Return a cell for each row (k, d)."""
        one = np.ones(len(x))
        return cls(x, one, one, np.zeros(len(x)))

    def __len__(self) -> int:
        return len(self.w)

    def __iter__(self) -> Iterator[Float64]:
        return iter((self.x, self.w, self.f, self.s))

    @property
    def mass(self) -> float:
        """The mass of all cells."""
        return float(self.w.sum())

    @property
    def mean(self) -> Float64:
        """The mean (d,) of all rows."""
        mean: Float64 = self.w @ self.x / self.w.sum()
        return mean

    def part(self, some: np.ndarray) -> Cells:
        """Return some of the cells, by a mask or by numbers."""
        return Cells(*(part[some] for part in self))

    def with_more(self, other: Cells, most: int) -> Cells:
        """Return the cells with others added one by one; wherever there are more than `most` of
        them, the two are joined for which that raises the scatter least (Ward)."""
        if len(self) > most:
            return self.part(np.empty(0, np.intp)).with_more(self, most).with_more(other, most)
        ends, left = np.array([0, len(other)]), np.ones((1, 2))
        return _joined([self], (other.x, other.w, other.f, other.s), ends, [most], left)[0]


def with_rows(
    groups: Sequence[Cells],
    x: Float64,  # (b, d)
    ends: IntArray,  # (g + 1,)
    most: Sequence[int],  # (g,)
    left: Float64,  # (g, 2) shares of the masses w and f
) -> list[Cells]:
    """Return groups of cells, faded, with rows x[ends[j] : ends[j + 1]] added to group j, as
    `Cells.with_more` adds them."""
    return _joined(groups, (x, None, None, None), ends, most, left)


Added = tuple[Any, Any, Any, Any]  # x, w, f, s of what is added; masses of None: rows


def _joined(
    groups: Sequence[Cells], more: Added, ends: IntArray, most: Sequence[int], left: Float64
) -> list[Cells]:
    if not native.is_available():
        masses = more[1:] if more[1] is not None else tuple(Cells.of_rows(more[0]))[1:]
        spans = [slice(*ends[j : j + 2]) for j in range(len(groups))]
        parts = [Cells(*(part[span] for part in (more[0], *masses))) for span in spans]
        return list(map(_joined_in_numpy, groups, parts, most, left))
    d, g, total = groups[0].x.shape[1], len(groups), sum(most)
    old = [np.concatenate(parts) for parts in zip(*groups, strict=True)]
    old_ends = np.array([0, *accumulate(map(len, groups))])
    added = [None if part is None else np.ascontiguousarray(part) for part in more]
    to = [np.empty((total, d)), *(np.empty(total) for _ in range(3))]
    room, count = np.empty((d, PITCH)), np.empty(g, np.int64)
    ends, limits = np.ascontiguousarray(ends, np.int64), np.array(most, np.int64)
    left = np.ascontiguousarray(left)
    cells = [_CellsArgument(*map(address, parts)) for parts in (old, added, to)]
    numbers = address(old_ends), address(ends), address(left), LEAST, address(limits)
    argument = _GroupsArgument(*cells[:2], *numbers, g, d, cells[2])
    call = native.function("join_cells", np.float64, _ARGUMENTS)
    call(byref(argument), address(room), address(count))
    return [
        Cells(*(part[stop - size : stop] for part in to))
        for size, stop in zip(count.tolist(), accumulate(count.tolist()), strict=True)
    ]


def _joined_in_numpy(old: Cells, more: Cells, most: int, left: Float64) -> Cells:
    """The C function `join_group`."""
    w = old.w * left[0]
    some = w > LEAST
    cells = Cells(*(part[some] for part in (old.x, w, old.f * left[1], old.s * left[0])))
    for i in range(len(more)):
        added = zip(cells, more, strict=True)
        cells = Cells(*(np.concatenate([part, row[i : i + 1]]) for part, row in added))
        cells = _with_two_joined(cells) if len(cells) > most else cells
    return cells


def _with_two_joined(cells: Cells) -> Cells:
    """Return the cells with those two as one for which that costs least, in the place of the first;
    the last takes the place of the other."""
    x, w, f, s = (part.copy() for part in cells)
    cost = np.zeros((len(w), len(w)))
    for column in x.T:
        cost += (column - column[:, None]) ** 2
    cost *= w * w[:, None] / (w + w[:, None])
    np.fill_diagonal(cost, np.inf)
    i, j = (int(place) for place in np.unravel_index(cost.argmin(), cost.shape))
    both = w[i] + w[j]
    x[i] = (w[i] * x[i] + w[j] * x[j]) / both
    w[i], f[i], s[i] = both, f[i] + f[j], s[i] + s[j] + cost[i, j]
    x[j], w[j], f[j], s[j] = x[-1], w[-1], f[-1], s[-1]
    return Cells(x[:-1], w[:-1], f[:-1], s[:-1])
