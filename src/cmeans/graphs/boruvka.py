"""The minimum spanning tree of many rows: parts of the tree find their shortest edges and join.

Boruvka 1926; March, Ram and Gray 2010, "Fast Euclidean minimum spanning tree".
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..engines import Engine

Int32 = npt.NDArray[np.int32]


class SearchesParts(Protocol):
    """Rows among which parts find each other."""

    @property
    def order(self) -> IntArray:
        """Numbers (n,) by which equally long edges are told apart."""
        ...

    def nearest_parts(
        self,
        engine: Engine,
        *,
        part: Int32,  # (n,) of each row
        core: Float64,  # (n,) squared core distances
        reach: Float64,  # (parts,) of the edges that are sought, at most; below 0 where none is
        low: Float64,  # (n,) below which a row has no edges to find
        best: Float64,  # (n,) squared lengths of the rows' shortest edges, inf where none is known
        partner: Int32,  # (n,) where they end
    ) -> None:
        """Find the first of the shortest edges from each part to others: some of its rows has it as
        its best then. Write to reach, low, best and partner."""


class GrowingForest:
    """Parts of the tree, and the edges in it.

    An edge comes before another by its length, and of equal ones by the smaller and the larger of
    its rows' given numbers, so that there is one tree whatever finds it.
    """

    def __init__(
        self,
        rows: SearchesParts,
        core: Float64,  # (n,) squared
        squares: Float64,  # (n, k) to the nearest neighbours
        neighbours: npt.NDArray[Any],  # (n, k)
    ) -> None:
        n = len(core)
        self._rows, self._core = rows, core
        self._part = np.arange(n, dtype=np.int32)
        self._edges = [np.empty((0, 2), np.int64)]
        self._lengths = [np.empty(0)]
        self._best = np.full(n, np.inf)  # the shortest edge of each row to another part, if known
        self._partner = np.full(n, -1, np.int32)
        # below which a row has no edges to other parts but the best and those to neighbours
        self._low = np.maximum(squares.max(axis=1, initial=0.0), core)
        self._listed = np.arange(n)  # rows with neighbours in other parts
        self._neighbours = neighbours
        self._reaches = np.maximum(squares, np.maximum(core[:, None], core[neighbours]))

    def grown(self, engine: Engine) -> tuple[IntArray, Float64]:
        """Return the edges (n - 1, 2) of the tree and their squared lengths."""
        n_parts = len(self._part)
        while n_parts > 1:
            self._forget_joined()
            self._offer_neighbours()
            reach = self._reach(n_parts)
            sure = np.ones(n_parts, bool)
            sure[self._part[self._low <= reach[self._part]]] = False
            # the largest part is found by the others
            sizes = np.bincount(self._part)
            sought = ~sure
            sought[np.argmax(sizes)] = False
            if 2 * np.count_nonzero(sought) >= n_parts - 1:
                self._search(np.where(sought, reach, -1.0), engine)
                sure |= sought
                reach = self._reach(n_parts)
            n_parts = self._join(np.where(sure, reach, -1.0))
        return np.concatenate(self._edges), np.concatenate(self._lengths)

    def _keys(self, i: Any, j: Any) -> IntArray:
        """Return numbers that order equally long edges."""
        a, b = self._rows.order[i], self._rows.order[j]
        keys: IntArray = np.minimum(a, b) * len(self._part) + np.maximum(a, b)
        return keys

    def _forget_joined(self) -> None:
        """Forget edges that lie within a part by now."""
        known = np.flatnonzero(self._partner >= 0)
        within = known[self._part[known] == self._part[self._partner[known]]]
        self._best[within], self._partner[within] = np.inf, -1

    def _offer_neighbours(self) -> None:
        """Let rows know of edges to their neighbours."""
        neighbours = self._neighbours[self._listed]
        other = self._part[neighbours] != self._part[self._listed][:, None]
        some = other.any(axis=1)
        self._listed, neighbours, other = self._listed[some], neighbours[some], other[some]
        reaches = np.where(other, self._reaches[self._listed], np.inf)
        least = reaches.min(axis=1)
        keys = self._keys(self._listed[:, None], neighbours)
        keys[reaches > least[:, None]] = np.iinfo(np.int64).max
        first = keys.argmin(axis=1)
        rows = np.arange(len(first))
        partner, key = neighbours[rows, first], keys[rows, first]
        shorter = (least < self._best[self._listed]) | (
            (least == self._best[self._listed])
            & (key < self._keys(self._listed, self._partner[self._listed]))
        )
        self._best[self._listed[shorter]] = least[shorter]
        self._partner[self._listed[shorter]] = partner[shorter]

    def _reach(self, n_parts: int) -> Float64:
        """Return the shortest edge known to begin or end at each part."""
        reach = np.full(n_parts, np.inf)
        known = np.flatnonzero(self._partner >= 0)
        np.minimum.at(reach, self._part[known], self._best[known])
        np.minimum.at(reach, self._part[self._partner[known]], self._best[known])
        return reach

    def _search(self, reach: Float64, engine: Engine) -> None:
        """Find the shortest edges of parts whose reach is not below 0."""
        self._rows.nearest_parts(
            engine,
            part=self._part,
            core=self._core,
            reach=reach,
            low=self._low,
            best=self._best,
            partner=self._partner,
        )

    def _join(self, reach: Float64) -> int:
        """Join parts by their shortest edges, those whose reach is not below 0; return how many
        parts are left."""
        known = np.flatnonzero(self._partner >= 0)
        ends = np.stack([known, self._partner[known]], axis=1)
        lengths = self._best[known]
        shortest = lengths[:, None] == reach[self._part[ends]]
        edge, end = np.nonzero(shortest)
        part = self._part[ends[edge, end]]
        keys = self._keys(ends[edge, 0], ends[edge, 1])
        order = np.lexsort((keys, part))
        first = np.append(True, part[order][1:] != part[order][:-1])
        chosen = order[first]
        chosen = chosen[np.unique(keys[chosen], return_index=True)[1]]
        self._edges.append(ends[edge[chosen]])
        self._lengths.append(lengths[edge[chosen]])
        i, j = self._part[ends[edge[chosen]]].T
        joins = sparse.coo_array((np.ones(len(i)), (i, j)), (len(reach), len(reach)))
        left, parts = sparse.csgraph.connected_components(joins, directed=False)
        self._part = parts[self._part].astype(np.int32)
        return int(left)
