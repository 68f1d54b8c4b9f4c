"""Formulas of the indices of validity, of the sums of one pass and the centres."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.precision import rounding
from ..spaces.centres import Centres
from .validity_sums import ValiditySums


def _simplified_silhouette(sums: ValiditySums, centres: Centres, function_name: str) -> float:
    return sums.silhouette / sums.weight


def _fuzzy_silhouette(sums: ValiditySums, centres: Centres, function_name: str) -> float:
    return sums.clear_silhouette / sums.clearness if sums.clearness > 0 else 0.0


def _xie_beni(sums: ValiditySums, centres: Centres, function_name: str) -> float:
    separation = float(_separations(centres).min())
    return float(sums.spread.sum()) / sums.weight / separation if separation > 0 else float("inf")


def _fukuyama_sugeno(sums: ValiditySums, centres: Centres, function_name: str) -> float:
    return float(sums.spread.sum() - sums.mass @ centres.squared_distances_from_mean(sums.mass))


def _davies_bouldin(sums: ValiditySums, centres: Centres, function_name: str) -> float:
    held = _held(sums, function_name)
    widths = sums.deviation[held] / sums.mass[held]
    apart = np.sqrt(_separations(centres[held]))
    if (apart == 0).any():
        return float("inf")
    return float(((widths[:, None] + widths[None, :]) / apart).max(axis=1).mean())


def _calinski_harabasz(sums: ValiditySums, centres: Centres, function_name: str) -> float:
    held = _held(sums, function_name)
    if sums.weight <= len(held):
        raise ValueError(
            f"{function_name}: the rows weigh {sums.weight:g} in all, not more than there are "
            f"clusters ({len(held)}); give weights that count copies of rows."
        )
    between = float(
        sums.mass[held] @ centres[held].squared_distances_from_mean(sums.mass[held])
    ) / (len(held) - 1)
    within = float(sums.spread[held].sum()) / (sums.weight - len(held))
    return between / within if within > 0 else float("inf")


def _held(sums: ValiditySums, function_name: str) -> IntArray:
    """Return the numbers of the clusters that hold rows."""
    held: IntArray = np.flatnonzero(sums.mass > 0)
    if len(held) < 2:
        raise ValueError(
            f"{function_name}: {len(held)} of {len(sums.mass)} clusters hold rows of X, and the "
            "index needs two."
        )
    return held


def _separations(centres: Centres) -> Float64:
    """|v_j - v_k|^2 (c, c), 0 where it is below rounding, infinite on the diagonal."""
    d2 = centres.squared_distances()
    d2[d2 <= rounding(d2.dtype) * float(centres.squared_norms().max())] = 0.0
    np.fill_diagonal(d2, np.inf)
    return d2


INDICES = {
    "simplified_silhouette": _simplified_silhouette,
    "fuzzy_silhouette": _fuzzy_silhouette,
    "xie_beni": _xie_beni,
    "fukuyama_sugeno": _fukuyama_sugeno,
    "davies_bouldin": _davies_bouldin,
    "calinski_harabasz": _calinski_harabasz,
}
