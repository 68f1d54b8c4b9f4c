"""The passes over a block of rows, put together from a shape and a rule, and compiled.

A pass is a plain loop over tiles; the shape's and the rule's functions are closed over and end up inlined in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..blocks import LARGEST_SUM
from . import narrow, wide
from .door import compiled, inlined, sources
from .elementary import Format
from .rules import RULES, Words
from .tiles import GROUP, TILE, Tile, load, new_tile

TILES_SUMMED = LARGEST_SUM // TILE
SHAPES: dict[str, Any] = {"narrow": narrow, "wide": wide}


class Standing(NamedTuple):
    """Where a run stands, and by what rule, as the passes read it."""

    centres: Array  # (whole groups, columns) -2 a
    norms: Array  # (whole groups,) |v|^2
    scales: Array  # (k, c) what the rule knows of each cluster
    words: Words
    form: Format
    bits: Array  # any integer array of the floats' size


@cache
def sweep_pass(shape: str, rule: str, *, owned: bool = False) -> Callable[..., None]:
    """The sweep of one shape and rule; it compiles at its first call for a float type. `owned`: each row's cluster is noted, and
    summed over each cluster's own rows."""
    room, tile_rule, version = SHAPES[shape], RULES[rule], sources()
    sums, own_moments, leaves_out = tile_rule.sums, room.own_moments, tile_rule.leaves_rows_out
    by_label = tile_rule.one_cluster and not owned
    distances, judge, moments = room.nearest, _nothing_more, own_moments
    if not by_label:
        distances, judge, moments = room.distances, tile_rule.memberships, room.moments

    @compiled
    def sweep(
        rows: Array,  # what the shape reads
        kxx: Array,  # (b,)
        weight: Array,  # (b,)
        at: Standing,
        mass: Array,  # (c,) float64, added to
        spread: Array,  # (c,) float64, added to
        moment: Array,  # (c, columns) float64, added to
        penalty: Array,  # (1,) added to
        owners: Array,  # (b,) written, if owned: the cluster that each row belongs to most, -1 for none
        own_mass: Array,  # (c,) float64, added to
        own_moment: Array,  # (c, columns) float64, added to
    ) -> None:
        _ = version
        clusters = moment.shape[0]
        tile = new_tile(at.centres.shape[0], clusters, kxx, at.bits)
        pitch = at.centres.shape[1]
        total = np.zeros((at.centres.shape[0], pitch), kxx.dtype)
        own = np.zeros((own_moment.shape[0] + -own_moment.shape[0] % GROUP, pitch), kxx.dtype)  # whole groups, as total
        label = np.empty(TILE, np.int32)
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, at.centres, at.norms, at.form.rounding, tile)
            judge(tile, at.scales, at.words, at.form)
            if owned:
                _largest(tile, leaves_out)
                label[:] = tile.label
            penalty[0] += sums(tile, at.scales, at.words, at.form, mass, spread)
            moments(rows, number, tile, total)
            if owned:
                start = number * TILE
                for t in range(min(TILE, kxx.shape[0] - start)):
                    owners[start + t] = label[t]
                for t in range(TILE):
                    nowhere = label[t] < 0
                    tile.weight[t] = 0.0 if nowhere else tile.weight[t]
                    tile.label[t] = 0 if nowhere else label[t]
                    own_mass[tile.label[t]] += tile.weight[t]
                own_moments(rows, number, tile, own)
            if (number + 1) % TILES_SUMMED == 0:
                _hand_over(total, moment)
                _hand_over(own, own_moment)
        _hand_over(total, moment)
        _hand_over(own, own_moment)

    return sweep


@cache
def assign_pass(shape: str, rule: str) -> Callable[..., None]:
    """The last pass of one shape and rule."""
    room, tile_rule, version = SHAPES[shape], RULES[rule], sources()
    distances, memberships, sums = room.distances, tile_rule.memberships, tile_rule.sums
    leaves_out = tile_rule.leaves_rows_out

    @compiled
    def assign(
        rows: Array,
        kxx: Array,
        weight: Array,
        at: Standing,
        labels: Array,  # (b,) written: the largest membership, ties to the lowest number; -1 where all are zero and that may be
        memberships_out: Array,  # (b, c) written
        nearest: Array,  # (b,) written: squared distance to the centre of the label, to the nearest where there is none
        mass: Array,  # (c,) float64, sum of sample weight times membership, added to
        spread: Array,  # (c,) float64, sum of sample weight times w times d2, added to
        totals: Array,  # (2,) the penalty and the sum of sample weight times d2, added to
    ) -> None:
        _ = version
        b, clusters = memberships_out.shape
        tile = new_tile(at.centres.shape[0], clusters, kxx, at.bits)
        weighted = np.zeros(clusters)
        for number in range((b + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, at.centres, at.norms, at.form.rounding, tile)
            memberships(tile, at.scales, at.words, at.form)
            start = number * TILE
            for t in range(min(TILE, b - start)):
                for j in range(clusters):
                    memberships_out[start + t, j] = tile.u[j, t] * tile.factor[t]
            _largest(tile, leaves_out)
            for t in range(min(TILE, b - start)):
                labels[start + t] = tile.label[t]
                nearest[start + t] = tile.d2[tile.label[t], t] if tile.label[t] >= 0 else tile.low[t]
            totals[1] += _add_memberships(tile, mass)
            totals[0] += sums(tile, at.scales, at.words, at.form, weighted, spread)

    return assign


@cache
def change_pass(shape: str, rule: str) -> Callable[..., float]:
    """How far memberships have changed from one standing to another."""
    distances, memberships, version = SHAPES[shape].distances, RULES[rule].memberships, sources()

    @compiled
    def change(rows: Array, kxx: Array, weight: Array, now: Standing, then: Standing) -> float:
        """Returns max |u - u'|."""
        _ = version
        clusters = now.scales.shape[1]
        tile, other = new_tile(now.centres.shape[0], clusters, kxx, now.bits), new_tile(now.centres.shape[0], clusters, kxx, now.bits)
        largest = 0.0
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            load(other, number, kxx, weight)
            distances(rows, number, now.centres, now.norms, now.form.rounding, tile)
            distances(rows, number, then.centres, then.norms, then.form.rounding, other)
            memberships(tile, now.scales, now.words, now.form)
            memberships(other, then.scales, then.words, then.form)
            for t in range(min(TILE, kxx.shape[0] - number * TILE)):
                for j in range(clusters):
                    largest = max(largest, abs(tile.u[j, t] * tile.factor[t] - other.u[j, t] * other.factor[t]))
        return largest

    return change


@cache
def measure_pass(shape: str) -> Callable[..., bool]:
    """The distances to the centres, for any rule."""
    distances, version = SHAPES[shape].distances, sources()

    @compiled
    def measure(
        rows: Array,
        kxx: Array,
        weight: Array,
        at: Standing,
        out: Array,  # (b, c) written: distances, square roots taken
    ) -> bool:
        """Returns whether all are finite."""
        _ = version
        b, clusters = out.shape
        tile = new_tile(at.centres.shape[0], clusters, kxx, at.bits)
        finite = True
        for number in range((b + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, at.centres, at.norms, at.form.rounding, tile)
            start = number * TILE
            for t in range(min(TILE, b - start)):
                for j in range(clusters):
                    d2 = tile.d2[j, t]
                    finite = finite and d2 < np.inf
                    out[start + t, j] = np.sqrt(d2)
        return finite

    return measure


@cache
def deviation_pass(shape: str, power: int) -> Callable[..., None]:
    """How far each cluster's own rows are from given points, for any rule."""
    distances, version, squared = SHAPES[shape].distances, sources(), power == 2

    @compiled
    def deviate(
        rows: Array,
        kxx: Array,
        weight: Array,
        at: Standing,  # the points
        owners: Array,  # (b,) which of them each row is measured from, -1 for none
        total: Array,  # (c,) float64, sum of sample weight times distance, or squared distance, added to
    ) -> None:
        _ = version
        tile = new_tile(at.centres.shape[0], total.shape[0], kxx, at.bits)
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, at.centres, at.norms, at.form.rounding, tile)
            start = number * TILE
            for t in range(min(TILE, kxx.shape[0] - start)):
                j = owners[start + t]
                if j >= 0:
                    d2 = tile.d2[j, t]
                    total[j] += tile.weight[t] * (d2 if squared else np.sqrt(d2))

    return deviate


@inlined
def _hand_over(total: Array, moment: Array) -> None:
    """Add what has been summed in the rows' own precision."""
    clusters, columns = moment.shape
    for j in range(clusters):
        for f in range(columns):
            moment[j, f] += total[j, f]
            total[j, f] = 0.0


@inlined
def _nothing_more(tile: Tile, scales: Array, words: Words, form: Format) -> None:
    """Labels say it all."""


@inlined
def _largest(tile: Tile, leaves_out: bool) -> None:
    """The largest membership of each row, ties to the lowest number; -1 for none where a rule leaves rows out."""
    u, factor, best, label = tile.u, tile.factor, tile.row, tile.label
    for t in range(TILE):
        best[t] = u[0, t] * factor[t]
        label[t] = 0
    for j in range(1, u.shape[0]):
        number = np.int32(j)
        for t in range(TILE):
            v = u[j, t] * factor[t]
            larger = v > best[t]
            label[t] = number if larger else label[t]
            best[t] = v if larger else best[t]
    if leaves_out:
        for t in range(TILE):
            label[t] = -1 if best[t] == 0 else label[t]


@inlined
def _add_memberships(tile: Tile, mass: Array) -> float:
    """mass_j += sum_t weight_t u_jt; gives sum_jt weight_t d2_jt."""
    total = 0.0
    for j in range(tile.u.shape[0]):
        m, s = tile.u.dtype.type(0), tile.u.dtype.type(0)
        for t in range(TILE):
            m += tile.weight[t] * tile.factor[t] * tile.u[j, t]
            s += tile.weight[t] * tile.d2[j, t]
        mass[j] += m
        total += s
    return total
