"""Groups of very many centres, by which a search for the nearest leaves most of them out
(native/two_levels.c says how)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Array, Float64, IntArray
from ..data.blocks import spans

MEMBERS = 64  # centres of a group on average
TURNS = 3  # of k-means, by which centres find their groups
SEED = 0
PRODUCTS = 2**22  # that are taken at once


@dataclass(frozen=True)
class CentreGroups:
    """Centres that lie near each other, in groups."""

    group: IntArray  # (c,) of each centre
    middles: Array  # (groups, r)
    values: Array  # (c, r) the centres

    @classmethod
    def of(cls, values: Array, members: int = MEMBERS) -> CentreGroups:
        """Return groups of so many centres (c, r) on average, found by a few turns of k-means."""
        middles = values[
            np.random.RandomState(SEED).permutation(len(values))[: -(-len(values) // members)]
        ]
        for _ in range(TURNS):
            middles = _means(values, _nearest(values, middles))
        used, group = np.unique(_nearest(values, middles), return_inverse=True)
        return cls(group, middles[used], values)

    def __len__(self) -> int:
        return len(self.middles)

    @cached_property
    def radius(self) -> Float64:
        """(groups,) No centre of a group is farther from its middle."""
        radius, values = np.zeros(len(self)), self.values
        for a, b in spans(len(values), max(1, PRODUCTS // values.shape[1])):
            apart = values[a:b].astype(np.float64) - self.middles[self.group[a:b]]
            lengths = np.sqrt(np.einsum("ij,ij->i", apart, apart)) * (1.0 + 1e-6)
            np.maximum.at(radius, self.group[a:b], lengths)
        return radius

    def places(self, together: int) -> tuple[IntArray, IntArray]:
        """Return the numbers of the centres in the order of groups, each of which takes up whole
        pieces of so many places (-1: none is there), and the first piece of each group (groups +
        1,)."""
        order, sizes = np.argsort(self.group, kind="stable"), np.bincount(self.group)
        first = np.concatenate([[0], np.cumsum(-(-sizes // together))])
        skipped = first[:-1] * together - (np.cumsum(sizes) - sizes)
        number = np.full(first[-1] * together, -1)
        number[np.arange(len(order)) + skipped.repeat(sizes)] = order
        return number, first

    def reached(self, x: Float64, d2: Float64) -> float:
        """Return the share of the centres whose groups may hold one as near as d2 (b,) to rows x
        (b, r)."""
        middles = self.middles.astype(np.float64)
        apart = (x**2).sum(axis=1)[:, None] + (middles**2).sum(axis=1) - 2.0 * x @ middles.T
        within = np.sqrt(np.maximum(apart, 0.0)) <= self.radius + np.sqrt(d2)[:, None]
        return float((within @ np.bincount(self.group)).mean() / len(self.group))


def _nearest(values: Array, middles: Array) -> IntArray:
    half = np.einsum("ij,ij->i", middles, middles) / 2
    parts = spans(len(values), max(1, PRODUCTS // len(middles)))
    return np.concatenate([np.argmin(half - values[a:b] @ middles.T, axis=1) for a, b in parts])


def _means(values: Array, group: IntArray) -> Array:
    """Return the means of the groups that there are."""
    order, sizes = np.argsort(group, kind="stable"), np.bincount(group)
    sizes = sizes[sizes > 0]
    sums = np.add.reduceat(values[order], np.cumsum(sizes) - sizes, axis=0)
    means: Array = sums / sizes[:, None].astype(values.dtype)
    return means
