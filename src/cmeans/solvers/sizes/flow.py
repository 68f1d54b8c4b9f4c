"""The cheapest flow of mass between clusters that brings their sizes between bounds, and whole rows
after it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ... import native
from ...data.arrays import Float64, IntArray
from ...native.calls import ADDRESS, WHOLE, address
from .prices import SLACK, SizeBounds

PATH = (WHOLE, *[ADDRESS] * 6)
FEW = 256  # rows of which all pairs are tried


@dataclass(frozen=True)
class Holdings:
    """Masses of rows in clusters: a row that is divided among several has as many entries."""

    row: IntArray  # (e,) place among the rows
    cluster: IntArray  # (e,)
    weight: Float64  # (e,)


class Flow:
    """Rows near a border, held by the clusters that have them for least by price, and their moves
    to others.

    Nodes are the clusters and, last, the hub, by which clusters with room between their bounds give
    and take mass. A row of cluster j leads to k at the cost d_k - d_j; with prices g as potentials
    no reduced cost is negative, at first because each row is where it costs least by price. So mass
    sent along shortest paths, by their reduced costs, leaves every row where it costs least, by
    prices that follow.
    """

    def __init__(
        self,
        d2: Float64,
        labels: IntArray,
        weight: Float64,
        mass: Float64,
        prices: Float64,
        bounds: SizeBounds,
    ) -> None:
        q, c = d2.shape
        self._d2, self._bounds, self._hub = d2, bounds, c
        self._row, self._cluster, self._weight = np.arange(q), np.array(labels), np.array(weight)
        self.prices = np.append(prices, 0.0)
        self._held = np.where(  # what the hub allows to each cluster
            prices > 0,
            bounds.low,
            np.where(prices < 0, bounds.high, np.clip(mass, bounds.low, bounds.high)),
        )
        self._surplus = np.append(mass - self._held, self._held.sum() - mass.sum())
        self._least = 1e-9 * bounds.largest  # mass that is rounding
        self._costs, self._cheapest = (
            np.full((c + 1, c + 1), np.inf),
            np.zeros((c, c), dtype=np.intp),
        )
        for cluster in range(c):
            self._renew(cluster, np.arange(c))
        self._renew_hub(range(c))

    def settle(self) -> bool:
        """Send mass until no node has any to spare; False where no path of the rows at hand is
        left."""
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
        """Reduced lengths from the nearest node with a surplus, the node before each on the way,
        and the nearest with a deficit, or -1."""
        wants = self._surplus < -self._least
        reach = np.where(self._surplus > self._least, 0.0, np.inf)
        before, open_reach = np.full(len(reach), -1, np.int64), reach.copy()
        if native.is_available():
            arrays = map(
                address, (self._costs, self.prices, wants.view(np.uint8), reach, before, open_reach)
            )
            end = native.function("shortest_path", np.float64, PATH, WHOLE)(len(reach), *arrays)
            return reach, before, int(end)
        reduced = np.maximum(self._costs + self.prices[:, None] - self.prices[None, :], 0.0)
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
            amount = min(
                amount,
                self._room(a, b) if self._hub in (a, b) else float(self._weight[entries[a, b]]),
            )
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
        return float(
            self._bounds.high[a] - self._held[a]
            if b == self._hub
            else self._held[b] - self._bounds.low[b]
        )

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
        """Find the rows of a cluster that cost least to move to each of some other clusters."""
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
        """Take an entry that a cluster has been given for the cheapest row to others, where it
        is."""
        d2 = self._d2[self._row[entry]]
        costs = d2 - d2[cluster]
        costs[cluster] = np.inf
        cheaper = np.flatnonzero(costs < self._costs[cluster, : self._hub])
        self._costs[cluster, cheaper] = costs[cheaper]
        self._cheapest[cluster, cheaper] = entry

    def _renew_hub(self, clusters: range | list[int]) -> None:
        for cluster in clusters:
            self._costs[cluster, self._hub] = (
                0.0 if self._room(cluster, self._hub) > self._least else np.inf
            )
            self._costs[self._hub, cluster] = (
                0.0 if self._room(self._hub, cluster) > self._least else np.inf
            )

    def central_prices(self, beyond: Float64) -> Float64:
        """Prices in the middle of all that are optimal, so that rows lie at no border that they
        need not; `beyond` (c, c): costs that no other row is below. They are the mean of the
        lengths of shortest paths from every node."""
        ways = self._costs.copy()
        # equal changes of all prices change nothing
        alone = not np.isfinite(ways[:, -1]).any() and not np.isfinite(ways[-1]).any()
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


def whole_rows(holdings: Holdings, labels: IntArray, weight: Float64, n_clusters: int) -> IntArray:
    """Return one cluster for each of some rows (q,) of these weights: its own, or for a divided row
    one of those that share it.

    Rows and the clusters that share them make a forest, once masses that go round in a circle are
    gone. From its roots downwards, a cluster that has gained passes the next row on to one below,
    and one that has lost takes it whole: it then differs by less than that row, and so does each
    cluster below, which meets with no other row decided before its own.
    """
    result = np.array(labels)
    shares = _shares(holdings)
    for row, parts in shares.items():
        result[row] = max(parts, key=lambda cluster: (parts[cluster], -cluster))
    divided = {row: parts for row, parts in shares.items() if len(parts) > 1}
    _open_circles(divided)
    sharing: dict[int, list[int]] = {}
    for row, parts in divided.items():
        for cluster in parts:
            sharing.setdefault(cluster, []).append(row)
    gained, decided, seen = np.zeros(n_clusters), set[int](), set[int]()
    for root in sharing:
        below = [] if root in seen else [root]
        while below:
            cluster = below.pop()
            seen.add(cluster)
            for row in sharing[cluster]:
                if row in decided:
                    continue
                decided.add(row)
                parts = divided[row]
                others = [other for other in parts if other != cluster]
                takes = (
                    cluster
                    if gained[cluster] <= 0 or not others
                    else max(others, key=lambda other: (parts[other], -other))
                )
                result[row] = takes
                for other, part in parts.items():
                    gained[other] += (weight[row] if other == takes else 0.0) - part
                below += [other for other in others if other not in seen]
    return result


def within_bounds(
    labels: IntArray, d2: Float64, weight: Float64, mass: Float64, bounds: SizeBounds
) -> IntArray:
    """Return clusters of some rows (q,) with which the masses (c,) of all rows keep their bounds,
    or miss them by less.

    Rows move, or change places where they are few, those first that raise the cost least for what
    they take off the sum by which bounds are missed; where nothing takes anything off it, those
    that lower the cost and add nothing to it. What is left may miss bounds that could be kept: to
    keep them by whole rows of any weights is to pack bins.
    """
    q, c = d2.shape
    # The last c rows weigh nothing and stay where they are: to change places with one of them is to
    # move.
    own = np.concatenate([labels, np.arange(c)])
    weights = np.concatenate([weight, np.zeros(c)])
    mass = mass.copy()
    costs = weights[:, None] * np.concatenate([d2, np.zeros((c, c))])
    others = np.arange(0 if q <= FEW else q, q + c)
    least, cheaper = SLACK * bounds.total, SLACK * float(costs[np.arange(q), labels].sum())
    while True:
        gain = _gain(
            bounds,
            mass,
            own[:q, None],
            own[others][None, :],
            weights[:q, None] - weights[others][None, :],
        )
        now = costs[np.arange(q + c), own]
        rise = (
            costs[:q, own[others]]
            - now[:q, None]
            + costs[np.ix_(others, own[:q])].T
            - now[others][None, :]
        )
        moves = gain[:, -c:]
        if (moves > least).any():
            price, slack = np.full(gain.shape, np.inf), least / 2
            price[:, -c:] = np.where(moves > least, rise[:, -c:], np.inf) / np.maximum(moves, least)
        else:
            price, slack = np.where((gain >= 0) & (rise < -cheaper), rise, np.inf), 0.0
        chosen = price.argmin(axis=1)
        order = np.argsort(price[np.arange(q), chosen], kind="stable")
        order = order[np.isfinite(price[order, chosen[order]])]
        if not len(order):
            return own[:q]
        met = np.zeros(q + c, dtype=bool)
        for row in order:
            other = others[chosen[row]]
            here, there, heavier = own[row], own[other], weights[row] - weights[other]
            # Changes before it in this round may have taken the rows elsewhere, or have left less
            # to gain.
            if (
                met[row]
                or met[other]
                or _gain(bounds, mass, here, there, heavier) < gain[row, chosen[row]] - slack
            ):
                continue
            mass[here], mass[there] = mass[here] - heavier, mass[there] + heavier
            own[row], met[row] = there, True
            if other < q:
                own[other], met[other] = here, True


def _gain(
    bounds: SizeBounds, mass: Float64, here: IntArray, there: IntArray, heavier: Float64
) -> Float64:
    """Return what is taken off the sum by which bounds are missed, where so much mass goes from
    some clusters to others."""
    missed = bounds.excess(mass)
    after = bounds.excess(mass[here] - heavier, here) + bounds.excess(mass[there] + heavier, there)
    gain: Float64 = missed[here] + missed[there] - after
    return gain


def _shares(holdings: Holdings) -> dict[int, dict[int, float]]:
    """The mass of each row in each cluster that holds some of it."""
    shares: dict[int, dict[int, float]] = {}
    for row, cluster, weight in zip(
        holdings.row.tolist(), holdings.cluster.tolist(), holdings.weight.tolist(), strict=True
    ):
        parts = shares.setdefault(row, {})
        parts[cluster] = parts.get(cluster, 0.0) + weight
    return shares


def _open_circles(divided: dict[int, dict[int, float]]) -> None:
    """Send mass around every circle of rows and clusters until a part of it is gone: sizes and
    costs stay, as the rows are at borders."""
    while (circle := _circle(divided)) is not None:
        amount = min(divided[row][source] for row, source, _ in circle)
        for row, source, target in circle:
            divided[row][target] += amount
            divided[row][source] -= amount
        for row, source, _ in circle:
            if divided[row][source] <= 1e-12 * amount:
                del divided[row][source]


def _circle(divided: dict[int, dict[int, float]]) -> list[tuple[int, int, int]] | None:
    """Return a circle, each of its rows with the cluster that comes before and after it; None where
    there is none."""
    # of each cluster, the row that led to it and the cluster before
    way_to: dict[int, tuple[int, int] | None] = {}

    def trail(cluster: int) -> list[tuple[int, int, int]]:
        steps = []
        while (before := way_to[cluster]) is not None:
            steps.append((before[0], before[1], cluster))
            cluster = before[1]
        return steps[::-1]

    for row, parts in divided.items():
        clusters = list(parts)
        for other in clusters[1:]:
            first = clusters[0]
            way_to.setdefault(first, None)
            if other not in way_to:
                way_to[other] = (row, first)
                continue
            here, there = trail(first), trail(other)
            if _root(here, first) == _root(there, other):
                common = 0
                while common < min(len(here), len(there)) and here[common] == there[common]:
                    common += 1
                return _rotating(
                    [
                        *here[common:],
                        (row, first, other),
                        *((r, b, a) for r, a, b in reversed(there[common:])),
                    ]
                )
            for turned_row, source, target in reversed(there):  # the other tree hangs from here on
                way_to[source] = (turned_row, target)
            way_to[other] = (row, first)
    return None


def _root(steps: list[tuple[int, int, int]], cluster: int) -> int:
    return steps[0][1] if steps else cluster


def _rotating(circle: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join steps of one row that follow each other: the row then stands between the first and the
    last cluster of them."""
    joined: list[tuple[int, int, int]] = []
    for row, source, target in circle:
        if joined and joined[-1][0] == row:
            joined[-1] = (row, joined[-1][1], target)
        else:
            joined.append((row, source, target))
    if len(joined) > 1 and joined[0][0] == joined[-1][0]:
        joined[0] = (joined[0][0], joined.pop()[1], joined[0][2])
    return joined
