"""The cheapest flow of mass between clusters that brings their sizes between bounds: shortest paths, one after the other."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ...data.arrays import Float64, IntArray
from .bounds import SizeBounds


@dataclass(frozen=True)
class Holdings:
    """Masses of rows in clusters: a row that is divided among several has as many entries."""

    row: IntArray  # (e,) place among the rows
    cluster: IntArray  # (e,)
    weight: Float64  # (e,)


class Flow:
    """Rows near a border, held by the clusters that have them for least by price, and their moves to others.

    Nodes are the clusters and, last, the hub, by which clusters with room between their bounds give and take mass. A row of cluster j
    leads to k at the cost d_k - d_j; with prices g as potentials no reduced cost is negative, at first because each row is where it costs
    least by price. So mass sent along shortest paths, by their reduced costs, leaves every row where it costs least, by prices that follow.
    """

    def __init__(self, d2: Float64, labels: IntArray, weight: Float64, mass: Float64, prices: Float64, bounds: SizeBounds) -> None:
        q, c = d2.shape
        self._d2, self._bounds, self._hub = d2, bounds, c
        self._row, self._cluster, self._weight = np.arange(q), np.array(labels), np.array(weight)
        self.prices = np.append(prices, 0.0)
        self._held = np.where(  # what the hub allows to each cluster
            prices > 0, bounds.low, np.where(prices < 0, bounds.high, np.clip(mass, bounds.low, bounds.high))
        )
        self._surplus = np.append(mass - self._held, self._held.sum() - mass.sum())
        self._least = 1e-9 * bounds.largest  # mass that is rounding
        self._costs, self._cheapest = np.full((c + 1, c + 1), np.inf), np.zeros((c, c), dtype=np.intp)
        for cluster in range(c):
            self._renew(cluster, np.arange(c))
        self._renew_hub(range(c))

    def settle(self) -> bool:
        """Send mass until no node has any to spare; False where no path of the rows at hand is left."""
        while (self._surplus > self._least).any():
            reach, before, end = self._shortest_paths()
            if end < 0:
                return False
            self.prices += np.minimum(reach, reach[end])
            path = [end]
            while before[path[-1]] >= 0:
                path.append(int(before[path[-1]]))
            self._send(path[::-1])
        return True

    @property
    def holdings(self) -> Holdings:
        """The masses as they are."""
        return Holdings(self._row, self._cluster, self._weight)

    def _shortest_paths(self) -> tuple[Float64, IntArray, int]:
        """Reduced lengths from the nearest node with a surplus, the node before each on the way, and the nearest with a deficit, or -1."""
        reduced = np.maximum(self._costs + self.prices[:, None] - self.prices[None, :], 0.0)
        wants = self._surplus < -self._least
        reach = np.where(self._surplus > self._least, 0.0, np.inf)
        before, open_reach = np.full(len(reach), -1), reach.copy()
        while True:
            node = int(np.argmin(open_reach))
            if open_reach[node] == np.inf:
                return reach, before, -1
            if wants[node]:
                return reach, before, node
            open_reach[node] = np.inf
            way = reach[node] + reduced[node]
            shorter = way < reach
            reach[shorter], open_reach[shorter], before[shorter] = way[shorter], way[shorter], node

    def _send(self, path: list[int]) -> None:
        """Send as much along a path as its narrowest part lets through."""
        ways = list(itertools.pairwise(path))
        entries = {(a, b): int(self._cheapest[a, b]) for a, b in ways if self._hub not in (a, b)}
        amount = min(self._surplus[path[0]], -self._surplus[path[-1]])
        for a, b in ways:
            amount = min(amount, self._room(a, b) if self._hub in (a, b) else float(self._weight[entries[a, b]]))
        gained = []
        for a, b in ways:
            if b == self._hub:
                self._held[a] += amount
            elif a == self._hub:
                self._held[b] -= amount
            else:
                gained.append((b, self._move(entries[a, b], b, amount)))
        self._surplus[path[0]] -= amount
        self._surplus[path[-1]] += amount
        for (a, _), entry in entries.items():
            if self._cluster[entry] != a:
                self._renew(a, np.flatnonzero(self._cheapest[a] == entry))
        for b, entry in gained:
            self._offer(b, entry)
        self._renew_hub([node for node in path if node != self._hub])

    def _room(self, a: int, b: int) -> float:
        """Mass that may go between a cluster and the hub."""
        return float(self._bounds.high[a] - self._held[a] if b == self._hub else self._held[b] - self._bounds.low[b])

    def _move(self, entry: int, to: int, amount: float) -> int:
        """Give so much of an entry to another cluster, and return the entry that it is there."""
        if self._weight[entry] - amount <= self._least:
            self._cluster[entry] = to
            return entry
        self._weight[entry] -= amount
        self._row = np.append(self._row, self._row[entry])
        self._cluster, self._weight = np.append(self._cluster, to), np.append(self._weight, amount)
        return len(self._row) - 1

    def _renew(self, cluster: int, others: IntArray) -> None:
        """Find the cheapest rows from a cluster to some others."""
        here = np.flatnonzero(self._cluster == cluster)
        if not len(here):
            self._costs[cluster, : self._hub] = np.inf
            return
        rows = self._row[here]
        costs = self._d2[np.ix_(rows, others)] - self._d2[rows, cluster][:, None]
        first = np.argmin(costs, axis=0)
        self._costs[cluster, others] = costs[first, np.arange(len(others))]
        self._costs[cluster, cluster] = np.inf
        self._cheapest[cluster, others] = here[first]

    def _offer(self, cluster: int, entry: int) -> None:
        """Take an entry that a cluster has been given for the cheapest row to others, where it is."""
        d2 = self._d2[self._row[entry]]
        costs = d2 - d2[cluster]
        costs[cluster] = np.inf
        cheaper = np.flatnonzero(costs < self._costs[cluster, : self._hub])
        self._costs[cluster, cheaper] = costs[cheaper]
        self._cheapest[cluster, cheaper] = entry

    def _renew_hub(self, clusters: range | list[int]) -> None:
        for cluster in clusters:
            self._costs[cluster, self._hub] = 0.0 if self._room(cluster, self._hub) > self._least else np.inf
            self._costs[self._hub, cluster] = 0.0 if self._room(self._hub, cluster) > self._least else np.inf

    def central_prices(self, beyond: Float64) -> Float64:
        """Prices in the middle of all that are optimal, so that rows lie at no border that they need not; `beyond` (c, c): costs that no
        other row is below. They are the mean of the lengths of shortest paths from every node."""
        ways = self._costs.copy()
        alone = not np.isfinite(ways[:, -1]).any() and not np.isfinite(ways[-1]).any()  # equal changes of all prices change nothing
        ways[:-1, :-1] = np.minimum(ways[:-1, :-1], beyond)
        ways = np.maximum(ways + self.prices[:, None] - self.prices[None, :], 0.0)
        np.fill_diagonal(ways, 0.0)
        far = 2.0 * float(ways[np.isfinite(ways)].max())  # where nothing else bounds the prices
        ways = np.where(np.isfinite(ways), ways, far)
        for node in range(len(ways)):
            np.minimum(ways, ways[:, node, None] + ways[node], out=ways)
        prices: Float64 = self.prices + (ways - ways[:, -1:]).mean(axis=0)
        central: Float64 = prices[:-1] - (prices[:-1].mean() if alone else prices[-1])
        return central
