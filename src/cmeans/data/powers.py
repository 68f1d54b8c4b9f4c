"""Columns to powers of their own, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.stored_classes import stored
from .arrays import Array, Float64, as_like, host_float64

FARTHEST = 1e30  # a column's value at most, so that its square is a number of single precision


def powered(z: Float64, power: Float64 | float) -> Float64:
    """Return ((1 + z)^p - 1) / p for z >= 0, and -((1 - z)^(2 - p) - 1) / (2 - p) below 0 (Yeo &
    Johnson 2000); the logarithms where the divisor is 0."""
    exponent = np.where(z < 0, 2.0 - power, power)
    logs, there = np.log1p(np.abs(z)), exponent != 0
    divisor = np.where(there, exponent, 1.0)
    found: Float64 = np.sign(z) * np.where(there, np.expm1(divisor * logs) / divisor, logs)
    return found


def unpowered(y: Float64, power: Float64 | float) -> Float64:
    """Return the way back; beyond the range of a power the end of numbers."""
    exponent = np.where(y < 0, 2.0 - power, power)
    there, size = exponent != 0, np.abs(y)
    divisor = np.where(there, exponent, 1.0)
    inside = np.maximum(size * divisor, -1.0 + np.finfo(np.float64).eps)
    logs = np.where(there, np.log1p(inside) / divisor, size)
    found: Float64 = np.sign(y) * np.expm1(np.minimum(logs, np.log(FARTHEST)))
    return found


@stored
@dataclass(frozen=True)
class PowerUnits:
    """Features of mean 0 and deviation 1 to a power each, and those of mean 0 and deviation 1 made
    of them: a function of rows or points (k, d)."""

    means: Float64  # (d,)
    deviations: Float64  # (d,)
    powers: Float64  # (d,)
    centres: Float64  # (d,) after the power
    scales: Float64  # (d,)

    def __post_init__(self) -> None:
        shapes = {one.shape for one in (self.means, self.powers, self.centres)}
        if len(shapes | {self.deviations.shape, self.scales.shape}) > 1 or self.means.ndim != 1:
            raise ValueError("PowerUnits: there is one number of each kind for a feature")
        if not ((self.deviations > 0).all() and (self.scales > 0).all()):
            raise ValueError("PowerUnits: deviations must be above 0")

    def __call__(self, x: Array) -> Array:
        with np.errstate(over="ignore"):
            z = (host_float64(x) - self.means) / self.deviations
            y = (powered(z, self.powers) - self.centres) / self.scales
        return as_like(np.clip(y, -FARTHEST, FARTHEST), x)

    @property
    def inverse(self) -> InversePower:
        """The way back."""
        return InversePower(self)


@dataclass(frozen=True)
class InversePower:
    """The way back from powers."""

    units: PowerUnits

    def __call__(self, x: Array) -> Array:
        units = self.units
        y = host_float64(x) * units.scales + units.centres
        return as_like(unpowered(y, units.powers) * units.deviations + units.means, x)

    @property
    def inverse(self) -> PowerUnits:
        return self.units
