"""The passes over a block of rows, composed of a shape and a rule, and compiled.

A pass is a loop over tiles; the functions of the shape and of the rule are closed over and inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...data.arrays import Array
from ...data.blocks import LARGEST_SUM
from . import narrow, wide
from .door import compiled, inlined, sources
from .elementary import Format
from .rules import RULES, RuleParameters
from .tiles import GROUP, TILE, Tile, load, new_tile

TILES_SUMMED = LARGEST_SUM // TILE
SHAPES: dict[str, Any] = {"narrow": narrow, "wide": wide}


class PreparedCentres(NamedTuple):
    """Centres, scales and parameters of the rule, in the form that the passes read."""

    centres: Array  # (padded clusters, columns) -2 a
    norms: Array  # (padded clusters,) |v|^2
    scales: Array  # (k, c) the rule's numbers of each cluster
    parameters: RuleParameters
    form: Format
    bits: Array  # any integer array of the floats' size


@cache
def sweep_pass(shape: str, rule: str, *, labelling: bool = False) -> Callable[..., None]:
    """Return the sweep of one shape and rule, which compiles at its first call for a float type.

    `labelling`: the cluster of each row's largest membership is written, and its hard statistics are summed."""
    functions, tile_rule, version = SHAPES[shape], RULES[rule], sources()
    sums, label_moments, leaves_out = tile_rule.sums, functions.label_moments, tile_rule.leaves_rows_out
    nearest_only = tile_rule.one_cluster and not labelling
    distances, memberships, moments = functions.nearest, _no_memberships, label_moments
    if not nearest_only:
        distances, memberships, moments = functions.distances, tile_rule.memberships, functions.moments

    @compiled
    def sweep(
        rows: Array,  # in the form of the shape
        kxx: Array,  # (b,)
        weight: Array,  # (b,)
        prepared: PreparedCentres,
        mass: Array,  # (c,) float64, added to
        spread: Array,  # (c,) float64, added to
        moment: Array,  # (c, columns) float64, added to
        penalty: Array,  # (1,) added to
        labels_out: Array,  # (b,) written, if labelling: the cluster of each row's largest membership, -1 for none
        hard_mass: Array,  # (c,) float64, added to
        hard_moment: Array,  # (c, columns) float64, added to
    ) -> None:
        _ = version
        clusters = moment.shape[0]
        tile = new_tile(prepared.centres.shape[0], clusters, kxx, prepared.bits)
        pitch = prepared.centres.shape[1]
        total = np.zeros((prepared.centres.shape[0], pitch), kxx.dtype)
        hard_total = np.zeros((hard_moment.shape[0] + -hard_moment.shape[0] % GROUP, pitch), kxx.dtype)  # padded, as total
        label = np.empty(TILE, np.int32)
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, prepared.centres, prepared.norms, prepared.form.rounding, tile)
            memberships(tile, prepared.scales, prepared.parameters, prepared.form)
            if labelling:
                _label_by_membership(tile, leaves_out)
                label[:] = tile.label
            penalty[0] += sums(tile, prepared.scales, prepared.parameters, prepared.form, mass, spread)
            moments(rows, number, tile, total)
            if labelling:
                start = number * TILE
                for t in range(min(TILE, kxx.shape[0] - start)):
                    labels_out[start + t] = label[t]
                for t in range(TILE):
                    outside = label[t] < 0
                    tile.weight[t] = 0.0 if outside else tile.weight[t]
                    tile.label[t] = 0 if outside else label[t]
                    hard_mass[tile.label[t]] += tile.weight[t]
                label_moments(rows, number, tile, hard_total)
            if (number + 1) % TILES_SUMMED == 0:
                _move_total(total, moment)
                _move_total(hard_total, hard_moment)
        _move_total(total, moment)
        _move_total(hard_total, hard_moment)

    return sweep


@cache
def assign_pass(shape: str, rule: str) -> Callable[..., None]:
    """Return the last pass of one shape and rule."""
    functions, tile_rule, version = SHAPES[shape], RULES[rule], sources()
    distances, memberships, sums = functions.distances, tile_rule.memberships, tile_rule.sums
    leaves_out = tile_rule.leaves_rows_out

    @compiled
    def assign(
        rows: Array,
        kxx: Array,
        weight: Array,
        prepared: PreparedCentres,
        labels: Array,  # (b,) written: the largest membership, ties to the lowest number; -1 where all are zero and the rule allows it
        memberships_out: Array,  # (b, c) written
        nearest: Array,  # (b,) written: squared distance to the centre of the label, to the nearest where there is none
        mass: Array,  # (c,) float64, sum of sample weight times membership, added to
        spread: Array,  # (c,) float64, sum of sample weight times w times d2, added to
        totals: Array,  # (2,) the penalty and the sum of sample weight times d2, added to
    ) -> None:
        _ = version
        b, clusters = memberships_out.shape
        tile = new_tile(prepared.centres.shape[0], clusters, kxx, prepared.bits)
        weighted = np.zeros(clusters)
        for number in range((b + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, prepared.centres, prepared.norms, prepared.form.rounding, tile)
            memberships(tile, prepared.scales, prepared.parameters, prepared.form)
            start = number * TILE
            for t in range(min(TILE, b - start)):
                for j in range(clusters):
                    memberships_out[start + t, j] = tile.u[j, t] * tile.factor[t]
            _label_by_membership(tile, leaves_out)
            for t in range(min(TILE, b - start)):
                labels[start + t] = tile.label[t]
                nearest[start + t] = tile.d2[tile.label[t], t] if tile.label[t] >= 0 else tile.low[t]
            totals[1] += _add_memberships(tile, mass)
            totals[0] += sums(tile, prepared.scales, prepared.parameters, prepared.form, weighted, spread)

    return assign


@cache
def change_pass(shape: str, rule: str) -> Callable[..., float]:
    """Return the pass that measures the change of memberships between two states."""
    distances, memberships, version = SHAPES[shape].distances, RULES[rule].memberships, sources()

    @compiled
    def change(rows: Array, kxx: Array, weight: Array, now: PreparedCentres, then: PreparedCentres) -> float:
        """Return max |u - u'|."""
        _ = version
        clusters = now.scales.shape[1]
        tile, other = new_tile(now.centres.shape[0], clusters, kxx, now.bits), new_tile(now.centres.shape[0], clusters, kxx, now.bits)
        largest = 0.0
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            load(other, number, kxx, weight)
            distances(rows, number, now.centres, now.norms, now.form.rounding, tile)
            distances(rows, number, then.centres, then.norms, then.form.rounding, other)
            memberships(tile, now.scales, now.parameters, now.form)
            memberships(other, then.scales, then.parameters, then.form)
            for t in range(min(TILE, kxx.shape[0] - number * TILE)):
                for j in range(clusters):
                    largest = max(largest, abs(tile.u[j, t] * tile.factor[t] - other.u[j, t] * other.factor[t]))
        return largest

    return change


@cache
def measure_pass(shape: str) -> Callable[..., bool]:
    """Return the pass that gives the distances to the centres, for any rule."""
    distances, version = SHAPES[shape].distances, sources()

    @compiled
    def measure(
        rows: Array,
        kxx: Array,
        weight: Array,
        prepared: PreparedCentres,
        out: Array,  # (b, c) written: distances, square roots taken
    ) -> bool:
        """Write the distances; True where all are finite."""
        _ = version
        b, clusters = out.shape
        tile = new_tile(prepared.centres.shape[0], clusters, kxx, prepared.bits)
        finite = True
        for number in range((b + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, prepared.centres, prepared.norms, prepared.form.rounding, tile)
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
    """Return the pass that sums the distances of each cluster's rows from given points, for any rule."""
    distances, version, squared = SHAPES[shape].distances, sources(), power == 2

    @compiled
    def deviate(
        rows: Array,
        kxx: Array,
        weight: Array,
        prepared: PreparedCentres,  # the points
        labels: Array,  # (b,) the point of each row, -1 for none
        total: Array,  # (c,) float64, sum of sample weight times distance, or squared distance, added to
    ) -> None:
        _ = version
        tile = new_tile(prepared.centres.shape[0], total.shape[0], kxx, prepared.bits)
        for number in range((kxx.shape[0] + TILE - 1) // TILE):
            load(tile, number, kxx, weight)
            distances(rows, number, prepared.centres, prepared.norms, prepared.form.rounding, tile)
            start = number * TILE
            for t in range(min(TILE, kxx.shape[0] - start)):
                j = labels[start + t]
                if j >= 0:
                    d2 = tile.d2[j, t]
                    total[j] += tile.weight[t] * (d2 if squared else np.sqrt(d2))

    return deviate


@inlined
def _move_total(total: Array, moment: Array) -> None:
    """Add a total in the rows' precision to the moment in float64, and clear it."""
    clusters, columns = moment.shape
    for j in range(clusters):
        for f in range(columns):
            moment[j, f] += total[j, f]
            total[j, f] = 0.0


@inlined
def _no_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """Leave memberships out, where the nearest centre is enough."""


@inlined
def _label_by_membership(tile: Tile, leaves_out: bool) -> None:
    """Set labels to the largest membership of each row, ties to the lowest number; -1 for none where a rule leaves rows out."""
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
    """mass_j += sum_t weight_t u_jt; return sum_jt weight_t d2_jt."""
    total = 0.0
    for j in range(tile.u.shape[0]):
        m, s = tile.u.dtype.type(0), tile.u.dtype.type(0)
        for t in range(TILE):
            m += tile.weight[t] * tile.factor[t] * tile.u[j, t]
            s += tile.weight[t] * tile.d2[j, t]
        mass[j] += m
        total += s
    return total
