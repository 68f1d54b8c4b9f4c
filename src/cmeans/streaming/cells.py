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

    _fields_ = [*((name, ADDRESS) for name in ("x", "w", "f", "s")), ("count", WHOLE)]


_ARGUMENTS = (*(pointer_to(_CellsArgument),) * 2, ADDRESS, WHOLE, WHOLE, *(ADDRESS,) * 5)


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

    def with_more(
        self, other: Cells, most: int, kept: float = 1.0, late: float = 1.0
    ) -> Cells:
        """Return the cells, with these shares of their masses, and others added one by one;
        wherever there are more than `most` of them, the two are joined for which that raises the
        scatter least (Ward)."""
        if len(self) > most:
            return self.part(np.empty(0, np.intp)).with_more(self, most).with_more(other, most)
        join = _joined_natively if native.is_available() else _joined
        return join(self, other, most, np.array([kept, late, LEAST]))


def _joined_natively(old: Cells, more: Cells, most: int, left: Float64) -> Cells:
    d = old.x.shape[1]
    parts = [[np.ascontiguousarray(part, np.float64) for part in cells] for cells in (old, more)]
    given = [_CellsArgument(*map(address, part), len(part[1])) for part in parts]
    room = np.empty((d, PITCH)), np.empty((most, d)), *(np.empty(most) for _ in range(3))
    call = native.function("join_cells", np.float64, _ARGUMENTS, WHOLE)
    count = call(*map(byref, given), address(left), d, most, *map(address, room))
    return Cells(*(part[:count] for part in room[1:]))


def _joined(old: Cells, more: Cells, most: int, left: Float64) -> Cells:
    """The C function `join_cells`."""
    w = old.w * left[0]
    some = w > left[2]
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
