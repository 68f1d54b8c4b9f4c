"""Labels that are known of some rows, which travel with the rows as weights do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .arrays import Float64, IntArray, as_like, is_foreign, to_numpy
from .blocks import Blocks
from .outputs import RowOutputs

LABEL, STRENGTH = "label", "strength"  # the columns in which they travel
GROUP = "group"  # the column of the numbers of groups of rows that must share a cluster


@dataclass(frozen=True)
class KnownLabels:
    """The known cluster of each row, and how firmly the row is held there."""

    labels: IntArray  # (n,) -1: not known
    # (n,) share of the row's weight that belongs to its known cluster, 0 where there is none
    strength: Float64

    def __getitem__(self, which: Any) -> KnownLabels:
        return KnownLabels(self.labels[which], self.strength[which])

    def __add__(self, other: KnownLabels) -> KnownLabels:
        """Return what is known of these rows followed by others."""
        return KnownLabels(
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.strength, other.strength]),
        )

    @classmethod
    def of_nothing(cls, n_rows: int) -> KnownLabels:
        """Return labels of rows none of which is known."""
        return cls(np.full(n_rows, -1, np.intp), np.zeros(n_rows))

    def free(self, weight: Float64) -> Float64:
        """Return the part of the sample weights (n,) that is divided by the rule."""
        return weight * (1.0 - self.strength)

    def fixed(self, weight: Float64) -> Float64:
        """Return the part of the sample weights (n,) that belongs to the known clusters."""
        return weight * self.strength

    def overwrite(self, out: RowOutputs) -> None:
        """Write what is known over what the rule says of the same rows: u becomes (1 - strength) u
        + strength."""
        rows = np.flatnonzero(self.strength > 0)
        if not len(rows):
            return
        known = self[rows]
        u = (
            np.asarray(to_numpy(out.memberships)[rows], np.float64)
            * (1.0 - known.strength)[:, None]
        )
        u[np.arange(len(rows)), known.labels] += known.strength
        if is_foreign(out.memberships):  # not all libraries write to rows by their numbers
            everywhere = np.array(to_numpy(out.memberships))
            everywhere[rows] = u
            out.memberships[...] = as_like(everywhere, out.memberships)
        else:
            out.memberships[rows] = u
        labels = np.where(known.strength < 1, u.argmax(axis=1), known.labels)
        # it is not for being near that they are in this cluster
        out.nearest[rows[labels != out.labels[rows]]] = np.inf
        out.labels[rows] = labels


def known_of(blocks: Blocks) -> KnownLabels | None:
    """Return the labels that travel with rows; None where none do."""
    if LABEL not in blocks.columns:
        return None
    return KnownLabels(blocks.columns[LABEL], blocks.columns[STRENGTH])


def with_known(blocks: Blocks, known: KnownLabels | None) -> Blocks:
    """Return the rows with these labels, or without any."""
    if known is not None:
        return blocks.with_columns(**{LABEL: known.labels, STRENGTH: known.strength})
    others = {
        name: column for name, column in blocks.columns.items() if name not in (LABEL, STRENGTH)
    }
    return replace(blocks, columns=others)


def free_part(blocks: Blocks) -> Blocks:
    """Return the rows with the part of their weights that a rule divides."""
    known = known_of(blocks)
    return blocks if known is None else replace(blocks, weight=known.free(blocks.weight))
