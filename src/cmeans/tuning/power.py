"""Columns made near to normal by a power (Yeo & Johnson 2000)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from ..data.arrays import Float64
from ..data.powers import PowerUnits, powered

BOUNDS = (-5.0, 5.0)  # of the powers that are tried
FLAT = 1e-8  # deviation below which a transformed column says nothing any more


def power_units(
    x: Float64,  # (n, d); NaN where a value is missing
    weight: Float64,  # (n,)
) -> PowerUnits:
    """Return the powers of the largest likelihood, of columns of mean 0 and deviation 1, and the
    means and deviations after them. Columns of one value stay as they are."""
    return PowerUnits(*np.array([_of_column(column, weight) for column in x.T]).T)


def _of_column(column: Float64, weight: Float64) -> tuple[float, float, float, float, float]:
    """Return mean and deviation of a column, its power, and mean and deviation after it."""
    there = ~np.isnan(column)
    z, w = column[there], weight[there] / max(weight[there].sum(), np.finfo(float).tiny)
    if len(z) == 0 or np.ptp(z[w > 0]) == 0:
        return 0.0, 1.0, 1.0, 0.0, 1.0
    mean, deviation = _moments(z, w)
    z = (z - mean) / deviation
    logs = float(w @ (np.sign(z) * np.log1p(np.abs(z))))

    def cost(power: float) -> float:
        deviation = _moments(powered(z, power), w)[1]
        return np.log(deviation) - (power - 1.0) * logs if deviation > FLAT else np.inf

    with np.errstate(over="ignore", invalid="ignore"):
        power = float(minimize_scalar(cost, bounds=BOUNDS, method="bounded").x)
        centre, scale = _moments(powered(z, power), w)
    if not (np.isfinite(centre) and np.isfinite(scale) and scale > FLAT):
        return mean, deviation, 1.0, 0.0, 1.0
    return mean, deviation, power, centre, scale


def _moments(z: Float64, share: Float64) -> tuple[float, float]:
    mean = float(share @ z)
    return mean, float(np.sqrt(share @ (z - mean) ** 2))
