"""What is measured of rows against given centres, in one generic pass each: distances, nearest
clusters, deviations, costs, prices and margins, for any space, rule and array library."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Array, Float64, IntArray, as_like, host_float64, namespace, to_numpy
from ..rules import Rule
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ..spaces import Space
from .generic import argmax_labels, label_column, measured
from .represented_rows import RepresentedRows
from .state import State
from .statistics import ClusterCosts, Margins, PriceStatistics


def deviations(
    rows: RepresentedRows, means: State, labels: IntArray, power: int, task: int
) -> Float64:
    """(c,) sum over each cluster's own rows in one task of  weight |x - mean|^power  for power 1 or
    2."""
    total = np.zeros(len(means.centres))
    for block, _, d2 in measured(rows, rows.space, means, task, plain=False):
        here = labels[block.start : block.start + d2.shape[0]]
        distances = label_column(d2, here)
        belonging = here >= 0
        values = (distances if power == 2 else np.sqrt(distances)) * block.weight
        total += np.bincount(here[belonging], weights=values[belonging], minlength=len(total))
    return total


def fuzzy_deviations(rows: RepresentedRows, rule: Rule, state: State, task: int) -> Float64:
    """(2, c) sums over the rows of one task of  weight u_ij |x_i - v_j|  and of  weight u_ij."""
    total = np.zeros((2, len(state.centres)))
    for block, _, d2 in measured(rows, rows.space, state, task, plain=False):
        xp = namespace(d2)
        u = rule.memberships(d2, state.scales) * as_like(block.weight, d2)[:, None]
        total += np.stack([to_numpy(xp.sum(u * xp.sqrt(d2), axis=0)), to_numpy(xp.sum(u, axis=0))])
    return total


def silhouettes(rows: RepresentedRows, state: State, task: int) -> Float64:
    """(2,) sums over the rows of one task of  weight (b - a) / max(a, b)  and of  weight:  a is the
    squared distance to the row's own cluster, whose |x - v_j|^2 / eta_j is least, and b that to the
    nearest other centre."""
    total = np.zeros(2)
    for block, _, d2 in measured(rows, rows.space, state, task, plain=False):
        xp = namespace(d2)
        own = xp.argmin(d2 / as_like(state.known_scales(), d2)[None, :], axis=1)
        is_own = xp.stack([own == j for j in range(len(state.centres))], axis=1)
        a = xp.sum(xp.where(is_own, d2, xp.zeros_like(d2)), axis=1)
        b = xp.min(xp.where(is_own, xp.full_like(d2, xp.inf), d2), axis=1)
        larger = xp.where(a > b, a, b)
        width = (b - a) / xp.where(larger > 0, larger, xp.ones_like(larger))
        weight = block.weight.astype(np.float64)
        total += np.array([weight @ to_numpy(width).astype(np.float64), weight.sum()])
    return total


def cluster_costs(rows: RepresentedRows, rule: Rule, state: State, task: int) -> ClusterCosts:
    """Errors and utilities of the clusters in the rows of one task."""
    costs = ClusterCosts(np.zeros(len(state.centres)), np.zeros(len(state.centres)))
    for block, _, d2 in measured(rows, rows.space, state, task, plain=False):
        xp = namespace(d2)
        weight = as_like(block.weight, d2)[:, None]
        w = rule.weights(rule.memberships(d2, state.scales)) * weight
        removal = rule.removal_costs(d2)
        rises = xp.where(weight > 0, removal * weight, xp.zeros_like(d2))  # which may be infinite
        costs += ClusterCosts(
            *(to_numpy(xp.sum(part, axis=0, dtype=xp.float64)) for part in (w * d2, rises))
        )
    return costs


def price_sums(rows: RepresentedRows, rule: Rule, state: State, task: int) -> PriceStatistics:
    """Masses under the prices of a state, and how they change with these, in the rows of one
    task."""
    c, prices = len(state.centres), state.known_scales()
    sums = PriceStatistics(0.0, np.zeros(c), np.zeros((c, c)))
    for block, _, d2 in measured(rows, rows.space, state, task, plain=False):
        xp = namespace(d2)
        weight = as_like(block.weight, d2, xp.float64)[:, None]
        u = rule.memberships(d2, prices)
        slopes = rule.slopes(u, d2, prices)
        costs = xp.sum(rule.weights(u) * d2, axis=1)
        penalty = rule.penalty(u, prices)
        costs = xp.astype(costs if penalty is None else costs + penalty, xp.float64)
        slopes = xp.astype(slopes, xp.float64)
        total = xp.sum(slopes, axis=1, keepdims=True)
        shares = slopes / xp.where(total > 0, total, xp.ones_like(total))
        coupling = to_numpy((shares * weight).T @ slopes)
        np.fill_diagonal(coupling, 0.0)
        mass = to_numpy(xp.sum(xp.astype(u, xp.float64) * weight, axis=0))
        sums += PriceStatistics(
            float(xp.sum(costs * weight[:, 0])), mass, (coupling + coupling.T) / 2.0
        )
    return sums


def margins(
    rows: RepresentedRows, space: Space, rule: Rule, state: State, width: float, task: int
) -> Margins:
    """Clusters of the rows of one task by price, and those of them that another cluster would have
    for less than `width` more."""
    c, prices = len(state.centres), state.known_scales()
    mass, found = np.zeros(c), list[tuple[IntArray, IntArray, Float64]]()
    for block, _, d2 in measured(rows, space, state, task, plain=space is not rows.space):
        xp = namespace(d2)
        labels = argmax_labels(rule, rule.memberships(d2, prices), d2)
        mass += np.bincount(labels, weights=block.weight, minlength=c)
        net = d2 - as_like(prices, d2)[None, :]
        own = as_like(labels[:, None] == np.arange(c)[None, :], d2) > 0
        margin = xp.min(xp.where(own, xp.full_like(net, xp.inf), net), axis=1) - xp.min(net, axis=1)
        near = np.flatnonzero((to_numpy(margin) < width) & (block.weight > 0))
        found.append((block.start + near, labels[near], to_numpy(d2)[near].astype(np.float64)))
    return Margins(mass, tuple(found))


def nearest_rows(rows: RepresentedRows, state: State, task: int) -> tuple[IntArray, Float64]:
    """(b,) the number of each row's nearest centre, and the squared distance to it."""
    labels, distances = [], []
    for _, _, d2 in measured(rows, rows.space, state, task, plain=False):
        xp = namespace(d2)
        labels.append(to_numpy(xp.argmin(d2, axis=1)).astype(np.int64))
        distances.append(to_numpy(xp.min(d2, axis=1)).astype(np.float64))
    return np.concatenate(labels), np.concatenate(distances)


def few_nearest(
    rows: RepresentedRows, space: Space, state: State, most: int, task: int
) -> tuple[IntArray, Array]:
    """(b, most) the numbers of the clusters that have each row for least by price, the cheapest
    first, and the squared distances to them."""
    prices = state.known_scales()
    clusters, distances = [], []
    for _, _, d2 in measured(rows, space, state, task, plain=space is not rows.space):
        here = to_numpy(d2)
        order = np.argsort(here - prices.astype(here.dtype), axis=1, kind="stable")
        clusters.append(order[:, :most].astype(np.int32))
        distances.append(np.take_along_axis(here, clusters[-1], axis=1))
    return np.concatenate(clusters), np.concatenate(distances)


def distances(rows: RepresentedRows, space: Space, state: State, task: int) -> Array:
    """(b, c) distances, square roots taken, of the rows of one task to every centre, as any
    rows."""
    parts = []
    for _, _, d2 in measured(rows, space, state, task, plain=True):
        xp = namespace(d2)
        if not bool(xp.all(xp.isfinite(d2))):
            raise OutOfRangeError(NOT_FINITE)
        parts.append(xp.sqrt(d2))
    return namespace(parts[0]).concat(parts)


def costs(rows: RepresentedRows, space: Space, state: State, task: int) -> Float64:
    """(b, c) what memberships of the rows of one task are made of: squared distances, and what
    missing values add; as any rows."""
    seen = measured(rows, space, state, task, plain=True)
    return np.concatenate(
        [host_float64(block_rows.costs(d2, state.metrics)) for _, block_rows, d2 in seen]
    )


def nearest(rows: RepresentedRows, space: Space, state: State, task: int) -> IntArray:
    """(b,) numbers of the nearest centres, less their prices where they have some, without k(x,
    x)."""
    parts = []
    for block in rows.task(task):
        plain = block.rows.plain()
        view = space.view(state.centres, plain.kxx)
        prices = 0.0 if state.scales is None else as_like(state.scales, plain.kxx)
        parts.append(
            to_numpy(
                namespace(plain.kxx).argmax(
                    2.0 * plain.inner(view) - (view.norms - prices)[None, :], axis=1
                )
            )
        )
    return np.concatenate(parts)
