"""The rules on tiles: memberships from squared distances, then weights and the sums over the tile's rows.

Each computes what a class of `cmeans.rules` does, which names it (`tile_functions`), and is held to it by tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...data.arrays import Array
from .door import inlined
from .elementary import Format, exp_row, log_row, power_row
from .tiles import TILE, Tile, label_nearest

LANES = 8  # numbers in a vector; the selected rows are padded to a multiple
HALLEY_STEPS = 4


class RuleParameters(NamedTuple):
    """Exponents of a rule."""

    m: float  # exponent of memberships
    power: float  # of ratios of squared distances
    p: float  # power of the sparsity term


@dataclass(frozen=True)
class TileRule:
    """The two stages of a rule."""

    # tile.u from tile.d2; the second argument is the rule's numbers (k, c) of the clusters
    memberships: Callable[[Tile, Array, RuleParameters, Format], None]
    # u becomes w; mass and spread (c,) are added to; returns the penalty
    sums: Callable[[Tile, Array, RuleParameters, Format, Array, Array], float]
    one_cluster: bool = False  # a row counts for the nearest cluster only, so that sweeps need its label alone
    leaves_rows_out: bool = False  # a row may belong to no cluster


# ------------------------------------------------------------------------------------------------------------------------ hard


@inlined
def hard_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """u_ij = 1 for the nearest centre."""
    real = tile.u.dtype.type
    label_nearest(tile)
    for j in range(tile.u.shape[0]):
        for t in range(TILE):
            tile.u[j, t] = real(1) if tile.label[t] == j else real(0)


@inlined
def hard_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """Each row counts for the cluster of its label."""
    for t in range(TILE):
        j = tile.label[t]
        mass[j] += tile.weight[t]
        spread[j] += tile.weight[t] * tile.low[t]
    return 0.0


# ----------------------------------------------------------------------------------------------------------------------- fuzzy


@inlined
def fuzzy_two_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """u_ij = (1 / d2_ij) / sum_k (1 / d2_ik), from ratios of the smallest distance to the others."""
    d2, u, low, factor = tile.d2, tile.u, tile.low, tile.factor
    real = u.dtype.type
    for t in range(TILE):
        factor[t] = real(0)
    for j in range(u.shape[0]):
        for t in range(TILE):
            u[j, t] = real(1) if d2[j, t] == 0 else low[t] / d2[j, t]
            factor[t] += u[j, t]
    for t in range(TILE):
        factor[t] = real(1) / factor[t]


@inlined
def fuzzy_two_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """w = u^2; since u = (smallest / d2) factor, w d2 = u (smallest) factor does not read d2 again."""
    w, low, factor = tile.u, tile.low, tile.row
    zero = w.dtype.type(0)
    for t in range(TILE):
        factor[t] = tile.factor[t] * tile.factor[t] * tile.weight[t]
        low[t] *= factor[t]
    for j in range(w.shape[0]):
        m, s = zero, zero
        for t in range(TILE):
            u = w[j, t]
            v = u * u * factor[t]
            w[j, t] = v
            m += v
            s += u * low[t]
        mass[j] += m
        spread[j] += s
    return 0.0


@inlined
def fuzzy_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """u_ij = d2_ij^-power / sum_k d2_ik^-power, from ratios of the smallest distance to the others."""
    d2, u, low, factor = tile.d2, tile.u, tile.low, tile.factor
    real = u.dtype.type
    for t in range(TILE):
        factor[t] = real(0)
    for j in range(u.shape[0]):
        for t in range(TILE):
            u[j, t] = real(1) if d2[j, t] == 0 else low[t] / d2[j, t]
        power_row(u[j], parameters.power, tile.work, form)
        for t in range(TILE):
            factor[t] += u[j, t]
    for t in range(TILE):
        factor[t] = real(1) / factor[t]


@inlined
def fuzzy_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """w = u^m = u u^(m-1), where u^(m-1) = (smallest / distance) factor^(m-1) takes one logarithm a row, not one a cluster."""
    d2, w, low, factor, weight = tile.d2, tile.u, tile.low, tile.row, tile.weight
    real = w.dtype.type
    for t in range(TILE):
        factor[t] = tile.factor[t]
    power_row(factor, parameters.m - 1.0, tile.work, form)
    for t in range(TILE):
        factor[t] *= tile.factor[t] * weight[t]
    for j in range(w.shape[0]):
        m, s = real(0), real(0)
        for t in range(TILE):
            ratio = real(1) if d2[j, t] == 0 else low[t] / d2[j, t]
            v = w[j, t] * ratio * factor[t]
            w[j, t] = v
            m += v
            s += v * d2[j, t]
        mass[j] += m
        spread[j] += s
    return 0.0


@inlined
def any_exponent_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """w = u^m where the power of the ratios is not 1 / (m - 1), so that no factors cancel."""
    w = tile.u
    for j in range(w.shape[0]):
        for t in range(TILE):
            w[j, t] *= tile.factor[t]
        power_row(w[j], parameters.m, tile.work, form)
        _add(tile, j, mass, spread)
    return 0.0


# --------------------------------------------------------------------------------------------------------------- possibilistic


@inlined
def possibilistic_two_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """u_ij = eta_j / (eta_j + d2_ij)."""
    for j in range(tile.u.shape[0]):
        eta = scales[0, j]
        for t in range(TILE):
            tile.u[j, t] = eta / (eta + tile.d2[j, t])


@inlined
def possibilistic_two_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """w = u^2; the penalty is sum_ij eta_j (1 - u_ij)^2."""
    u, weight = tile.u, tile.weight
    one = u.dtype.type(1)
    penalty = 0.0
    for j in range(u.shape[0]):
        part = u.dtype.type(0)
        for t in range(TILE):
            rest = one - u[j, t]
            part += rest * rest * weight[t]
            u[j, t] *= u[j, t]
        penalty += scales[0, j] * part
        _add(tile, j, mass, spread)
    return penalty


@inlined
def possibilistic_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """u_ij = 1 / (1 + (d2_ij / eta_j)^power), by exponentials of negative numbers only."""
    row, odds = tile.row, tile.low
    real = row.dtype.type
    one, power = real(1), real(parameters.power)
    for j in range(tile.u.shape[0]):
        for t in range(TILE):
            odds[t] = tile.d2[j, t] / scales[0, j]
        log_row(odds, tile.work, form)
        for t in range(TILE):
            odds[t] *= power
            row[t] = -abs(odds[t])
        exp_row(row, tile.work, form)
        for t in range(TILE):
            tile.u[j, t] = (row[t] if odds[t] > 0 else one) / (one + row[t])


@inlined
def possibilistic_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """w = u^m; the penalty is sum_ij eta_j (1 - u_ij)^m."""
    u, rest = tile.u, tile.row
    one = u.dtype.type(1)
    penalty = 0.0
    for j in range(u.shape[0]):
        for t in range(TILE):
            rest[t] = one - u[j, t]
        power_row(rest, parameters.m, tile.work, form)
        part = u.dtype.type(0)
        for t in range(TILE):
            part += rest[t] * tile.weight[t]
        penalty += scales[0, j] * part
        power_row(u[j], parameters.m, tile.work, form)
        _add(tile, j, mass, spread)
    return penalty


# ----------------------------------------------------------------------------------------------------------------------- sparse


@inlined
def sparse_memberships(tile: Tile, scales: Array, parameters: RuleParameters, form: Format) -> None:
    """u_ij = exp(-d2_ij / eta_j + W(-z_ij) / (1 - p)) within a cluster's radius, 0 outside; only rows inside are computed.

    W(-z) by Halley's steps from a series about 0, or about the branch point where z is near 1/e.
    """
    d2, u, chosen = tile.d2, tile.u, tile.label
    exponents, z, w, power = tile.row, tile.more[0], tile.more[1], tile.more[2]
    real = u.dtype.type
    zero, one, two = real(0), real(1), real(2)
    one_minus_p, e = real(1.0 - parameters.p), real(np.e)
    for j in range(u.shape[0]):
        eta, radius, log_z = scales[0, j], scales[1, j], scales[2, j]
        count = 0
        for t in range(TILE):
            u[j, t] = zero
            chosen[count] = t
            count += not d2[j, t] >= radius  # so that NaN is included, and found
        padded = min(TILE, count + -count % LANES)
        for i in range(count, padded):
            chosen[i] = chosen[0]
        for i in range(padded):
            exponents[i] = d2[j, chosen[i]] / eta
            z[i] = log_z + one_minus_p * exponents[i]
        exp_row(z[:padded], tile.work, form)
        for i in range(padded):
            small = z[i] < real(0.25)
            root = np.sqrt(two * max(one - e * z[i], zero))
            about_zero = -z[i] * (one + z[i] * (one + real(1.5) * z[i]))
            w[i] = about_zero if small else -one + root * (one - root * (real(1 / 3) - real(11 / 72) * root))
        for _ in range(HALLEY_STEPS):
            for i in range(padded):
                power[i] = w[i]
            exp_row(power[:padded], tile.work, form)
            for i in range(padded):
                g = w[i] * power[i] + z[i]
                slope = power[i] * (w[i] + one) - (w[i] + two) * g / (two * w[i] + two)
                step = g / slope
                w[i] = w[i] - step if step == step else w[i]
        for i in range(padded):
            exponents[i] = w[i] / one_minus_p - exponents[i]
        exp_row(exponents[:padded], tile.work, form)
        for i in range(count):
            u[j, chosen[i]] = exponents[i]


@inlined
def sparse_sums(tile: Tile, scales: Array, parameters: RuleParameters, form: Format, mass: Array, spread: Array) -> float:
    """w = u; the penalty is sum_ij eta_j (u ln u - u + 1) + lambda u^p, where lambda u^p = -eta_j u (d2 / eta_j + ln u) / p, u being
    a stationary point."""
    d2, u, weight, chosen, logs = tile.d2, tile.u, tile.weight, tile.label, tile.row
    real = u.dtype.type
    zero, one, power = real(0), real(1), real(parameters.p)
    rows = zero
    for t in range(TILE):
        rows += weight[t]
    penalty = 0.0
    for j in range(u.shape[0]):
        eta, sparse = scales[0, j], scales[2, j] > -np.inf
        count, finite = 0, zero
        for t in range(TILE):
            chosen[count] = t
            count += not u[j, t] <= zero
            finite += zero * d2[j, t]  # NaN and infinity are found even where the row belongs to no cluster
        padded = min(TILE, count + -count % LANES)
        for i in range(count, padded):
            chosen[i] = chosen[0]
        for i in range(padded):
            logs[i] = u[j, chosen[i]]
        log_row(logs[:padded], tile.work, form)
        m, s, part = zero, finite, zero
        for i in range(count):
            t = chosen[i]
            v = u[j, t] * weight[t]
            u[j, t] = v
            m += v
            s += v * d2[j, t]
            sparsity = (d2[j, t] / eta + logs[i]) / power if sparse else zero
            part += v * (logs[i] - one - sparsity)
        mass[j] += m
        spread[j] += s
        penalty += eta * (part + rows)
    return penalty


@inlined
def _add(tile: Tile, j: int, mass: Array, spread: Array) -> None:
    """Add the sums of one cluster; its row of u, already weights, is multiplied by the sample weights."""
    w, d2, weight = tile.u, tile.d2, tile.weight
    real = w.dtype.type
    m, s = real(0), real(0)
    for t in range(TILE):
        v = w[j, t] * weight[t]
        w[j, t] = v
        m += v
        s += v * d2[j, t]
    mass[j] += m
    spread[j] += s


RULES = {
    "fuzzy": TileRule(fuzzy_memberships, fuzzy_sums),
    "fuzzy, any exponent": TileRule(fuzzy_memberships, any_exponent_sums),
    "fuzzy, m = 2": TileRule(fuzzy_two_memberships, fuzzy_two_sums),
    "possibilistic": TileRule(possibilistic_memberships, possibilistic_sums),
    "possibilistic, m = 2": TileRule(possibilistic_two_memberships, possibilistic_two_sums),
    "sparse": TileRule(sparse_memberships, sparse_sums, leaves_rows_out=True),
    "hard": TileRule(hard_memberships, hard_sums, one_cluster=True),
}
