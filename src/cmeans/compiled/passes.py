"""The passes over a block of rows, put together from a shape and a rule, and compiled.

A pass is a plain loop over tiles; the shape's and the rule's functions are closed over and end up inlined in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from . import narrow, wide
from .door import compiled, inlined, sources
from .elementary import Format
from .rules import RULES, Words
from .tiles import TILE, Tile, load, new_tile

SHAPES: dict[str, Any] = {"narrow": narrow, "wide": wide}


class Standing(NamedTuple):
    """Where a run stands, and by what rule, as the passes read it."""

    centres: Array  # (whole groups, columns) -2 a
    norms: Array  # (whole groups,) |v|^2
    scales: Array  # (c,)
    words: Words
    form: Format
    bits: Array  # any integer array of the floats' size


@cache
def sweep_pass(shape: str, rule: str) -> Callable[..., None]:
    """The sweep of one shape and rule; it compiles at its first call for a float type."""
    room, tile_rule, version = SHAPES[shape], RULES[rule], sources()
    distances, sums = room.distances, tile_rule.sums
    judge = tile_rule.memberships if tile_rule.labels is None else tile_rule.labels
    moments = room.moments if tile_rule.labels is None else room.own_moments

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
    ) -> None:
        _ = version
        clusters, columns = moment.shape
        tile = new_tile(at.centres.shape[0], clusters, kxx, at.bits)
        total = np.zeros((clusters, columns + columns % 2), kxx.dtype)
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, at.centres, at.norms, at.form.rounding, tile)
            judge(tile, at.scales, at.words, at.form)
            penalty[0] += sums(tile, at.scales, at.words, at.form, mass, spread)
            moments(rows, number, tile, total)
        for j in range(clusters):
            for f in range(columns):
                moment[j, f] += total[j, f]

    return sweep


@cache
def assign_pass(shape: str, rule: str) -> Callable[..., None]:
    """The last pass of one shape and rule."""
    room, tile_rule, version = SHAPES[shape], RULES[rule], sources()
    distances, memberships, sums = room.distances, tile_rule.memberships, tile_rule.sums

    @compiled
    def assign(
        rows: Array,
        kxx: Array,
        weight: Array,
        at: Standing,
        labels: Array,  # (b,) written: the largest membership, ties to the lowest number
        memberships_out: Array,  # (b, c) written
        nearest: Array,  # (b,) written: squared distance to the centre of the label
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
            _largest(tile)
            for t in range(min(TILE, b - start)):
                labels[start + t] = tile.label[t]
                nearest[start + t] = tile.d2[tile.label[t], t]
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
        clusters = now.scales.shape[0]
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


@inlined
def _largest(tile: Tile) -> None:
    """The largest membership of each row, ties to the lowest number."""
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
