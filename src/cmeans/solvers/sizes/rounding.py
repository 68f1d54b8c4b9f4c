"""Rows that a flow has divided among clusters, given whole to one of them, and light rows moved until sizes keep their bounds again."""

from __future__ import annotations

import numpy as np

from ...data.arrays import Float64, IntArray
from .bounds import SLACK, SizeBounds
from .flow import Holdings

FEW = 256  # rows of which all pairs are tried


def whole_rows(holdings: Holdings, labels: IntArray, weight: Float64, n_clusters: int) -> IntArray:
    """Return one cluster for each of some rows (q,) of these weights: its own, or for a divided row one of those that share it.

    Rows and the clusters that share them make a forest, once masses that go round in a circle are gone. From its roots downwards, a
    cluster that has gained passes the next row on to one below, and one that has lost takes it whole: it then differs by less than that
    row, and so does each cluster below, which meets with no other row decided before its own.
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
                takes = cluster if gained[cluster] <= 0 or not others else max(others, key=lambda other: (parts[other], -other))
                result[row] = takes
                for other, part in parts.items():
                    gained[other] += (weight[row] if other == takes else 0.0) - part
                below += [other for other in others if other not in seen]
    return result


def within_bounds(labels: IntArray, d2: Float64, weight: Float64, mass: Float64, bounds: SizeBounds) -> IntArray:
    """Return clusters of some rows (q,) with which the masses (c,) of all rows keep their bounds, or miss them by less.

    Rows move, or change places where they are few, those first that raise the cost least for what they take off the sum by which bounds
    are missed; where nothing takes anything off it, those that lower the cost and add nothing to it. What is left may miss bounds that
    could be kept: to keep them by whole rows of any weights is to pack bins.
    """
    q, c = d2.shape
    # The last c rows weigh nothing and stay where they are: to change places with one of them is to move.
    own, weights, mass = np.concatenate([labels, np.arange(c)]), np.concatenate([weight, np.zeros(c)]), mass.copy()
    costs = weights[:, None] * np.concatenate([d2, np.zeros((c, c))])
    others = np.arange(0 if q <= FEW else q, q + c)
    least, cheaper = SLACK * bounds.total, SLACK * float(costs[np.arange(q), labels].sum())
    while True:
        gain = _gain(bounds, mass, own[:q, None], own[others][None, :], weights[:q, None] - weights[others][None, :])
        now = costs[np.arange(q + c), own]
        rise = costs[:q, own[others]] - now[:q, None] + costs[np.ix_(others, own[:q])].T - now[others][None, :]
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
            # Changes before it in this round may have taken the rows elsewhere, or have left less to gain.
            if met[row] or met[other] or _gain(bounds, mass, here, there, heavier) < gain[row, chosen[row]] - slack:
                continue
            mass[here], mass[there] = mass[here] - heavier, mass[there] + heavier
            own[row], met[row] = there, True
            if other < q:
                own[other], met[other] = here, True


def _gain(bounds: SizeBounds, mass: Float64, here: IntArray, there: IntArray, heavier: Float64) -> Float64:
    """Return what is taken off the sum by which bounds are missed, where so much mass goes from some clusters to others."""
    missed = bounds.excess(mass)
    after = bounds.excess(mass[here] - heavier, here) + bounds.excess(mass[there] + heavier, there)
    gain: Float64 = missed[here] + missed[there] - after
    return gain


def _shares(holdings: Holdings) -> dict[int, dict[int, float]]:
    """The mass of each row in each cluster that holds some of it."""
    shares: dict[int, dict[int, float]] = {}
    for row, cluster, weight in zip(holdings.row.tolist(), holdings.cluster.tolist(), holdings.weight.tolist(), strict=True):
        parts = shares.setdefault(row, {})
        parts[cluster] = parts.get(cluster, 0.0) + weight
    return shares


def _open_circles(divided: dict[int, dict[int, float]]) -> None:
    """Send mass around every circle of rows and clusters until a part of it is gone: sizes and costs stay, as the rows are at borders."""
    while (circle := _circle(divided)) is not None:
        amount = min(divided[row][source] for row, source, _ in circle)
        for row, source, target in circle:
            divided[row][target] += amount
            divided[row][source] -= amount
        for row, source, _ in circle:
            if divided[row][source] <= 1e-12 * amount:
                del divided[row][source]


def _circle(divided: dict[int, dict[int, float]]) -> list[tuple[int, int, int]] | None:
    """Return a circle, each of its rows with the cluster that comes before and after it; None where there is none."""
    way_to: dict[int, tuple[int, int] | None] = {}  # of each cluster, the row that led to it and the cluster before

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
                return _rotating([*here[common:], (row, first, other), *((r, b, a) for r, a, b in reversed(there[common:]))])
            for turned_row, source, target in reversed(there):  # the other tree hangs from here on
                way_to[source] = (turned_row, target)
            way_to[other] = (row, first)
    return None


def _root(steps: list[tuple[int, int, int]], cluster: int) -> int:
    return steps[0][1] if steps else cluster


def _rotating(circle: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join steps of one row that follow each other: the row then stands between the first and the last cluster of them."""
    joined: list[tuple[int, int, int]] = []
    for row, source, target in circle:
        if joined and joined[-1][0] == row:
            joined[-1] = (row, joined[-1][1], target)
        else:
            joined.append((row, source, target))
    if len(joined) > 1 and joined[0][0] == joined[-1][0]:
        joined[0] = (joined[0][0], joined.pop()[1], joined[0][2])
    return joined
