"""Cells: some weighted points that stand for all rows of a cluster of a stream, in native code, and
the same in Python where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import ADDRESS, WHOLE, Structure, address, byref, pointer_to
from ..runtime.stored_classes import stored

PITCH = 72  # as in the C file
LEAST = 0.02  # mass below which a cell is forgotten


class _CellsArgument(Structure):
    """struct cells"""

    _fields_ = [
        ("x", ADDRESS),
        ("w", ADDRESS),
        ("f", ADDRESS),
        ("s", ADDRESS),
        ("columns", WHOLE),
        ("count", WHOLE),
        ("most", WHOLE),
    ]


_ARGUMENTS = (pointer_to(_CellsArgument), *(ADDRESS,) * 4, WHOLE)


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

    def faded(self, kept: float, late: float) -> Cells:
        """Return the cells with these shares of their masses."""
        return Cells(self.x, self.w * kept, self.f * late, self.s * kept).above()

    def above(self) -> Cells:
        """Return the cells that are not forgotten."""
        few = self.w > LEAST
        return self if few.all() else self.part(few)

    def with_more(self, other: Cells, most: int) -> Cells:
        """Return the cells with others added one by one; wherever there are more than `most` of
        them, the two are joined for which that raises the scatter least (Ward)."""
        if len(self) > most:
            return Cells(*(part[:0] for part in self)).with_more(self, most).with_more(other, most)
        d = self.x.shape[1]
        room = [np.zeros((d, PITCH)), *(np.zeros(PITCH) for _ in fields(self)[1:])]
        room[0][:, : len(self)] = self.x.T
        for place, part in zip(room[1:], (self.w, self.f, self.s), strict=True):
            place[: len(self)] = part
        more = [np.ascontiguousarray(part, np.float64) for part in other]
        if native.is_available():
            argument = _CellsArgument(*map(address, room), d, len(self), most)
            call = native.function("add_cells", np.float64, _ARGUMENTS)
            call(byref(argument), *map(address, more), len(other))
            count = int(argument.count)
        else:
            count = _added(room, len(self), more, most)
        x, *masses = room
        return Cells(x[:, :count].T.copy(), *(mass[:count].copy() for mass in masses))


def _found(room: list[Float64], at: int, count: int) -> tuple[Float64, int]:
    """The C function `find_nearest`; return the costs too."""
    x, w = room[0][:, :count], room[1][:count]
    cost = np.zeros(count)
    for column in x:
        cost += (column - column[at]) ** 2
    cost *= (w * w[at]) / (w + w[at])
    cost[at] = np.inf
    return cost, int(cost.argmin()) if np.isfinite(cost).any() else at


def _added(room: list[Float64], count: int, more: list[Float64], most: int) -> int:
    """The C function `add_cells`; return the number of cells."""
    least, nearest = np.full(PITCH, np.inf), np.full(PITCH, -1)
    for i in range(count):
        cost, nearest[i] = _found(room, i, count)
        least[i] = cost[nearest[i]]
    for row in zip(*more, strict=True):
        at, count = count, count + 1
        for place, value in zip(room, row, strict=True):
            place[..., at] = value
        cost, nearest[at] = _found(room, at, count)
        least[at] = cost[nearest[at]]
        closer = np.flatnonzero(cost[:at] < least[:at])
        least[closer], nearest[closer] = cost[closer], at
        if count > most:
            count = _joined(room, least, nearest, count)
    return count


def _joined(room: list[Float64], least: Float64, nearest: IntArray, count: int) -> int:
    """The C function `join_two`; return the number of cells."""
    i, last = int(least[:count].argmin()), count - 1
    while nearest[i] < 0:
        cost, nearest[i] = _found(room, i, count)
        least[i] = cost[nearest[i]]
        i = int(least[:count].argmin())
    x, w, f, s = room
    a, b = sorted((i, int(nearest[i])))
    both = w[a] + w[b]
    x[:, a] = (w[a] * x[:, a] + w[b] * x[:, b]) / both
    s[a], f[a], w[a] = s[a] + s[b] + least[i], f[a] + f[b], both
    x[:, b], w[b], f[b], s[b] = x[:, last], w[last], f[last], s[last]
    least[a], least[b], nearest[b] = least[i], least[last], nearest[last]
    w[last] = 0.0
    some = nearest[:last]
    gone = (some == a) | (some == b)
    some[some == last] = b
    some[gone], some[a] = -1, -1
    return last
