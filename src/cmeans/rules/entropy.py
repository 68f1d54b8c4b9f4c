"""Maximum entropy c-means: memberships fall exponentially with the squared distance."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..data.arrays import Array, Float64
from .base import NativeFunctions, Rule, SoftnessLimits
from .sized_entropy import SizedEntropy, entropy_memberships, entropy_penalty


@dataclass(frozen=True)
class Entropy(Rule):
    """u_ij = exp(-d2_ij / T) / sum_k exp(-d2_ik / T): minimises  sum_ij u_ij d2_ij + T sum_ij u_ij ln u_ij,  rows summing to one.

    It is Rose's deterministic annealing at one temperature, and the E-step of a mixture of equal, round Gaussians of variance T / 2.
    The objective may be negative. Beyond T* = 2 lambda_max, the largest eigenvalue of the rows' covariance in the kernel's space, "all
    centres at the mean" is a stable solution: they fall together.

    Parameters
    ----------
    T : float > 0
        The temperature, in units of squared distances: the larger, the softer.

    Raises
    ------
    ValueError
        If T is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Entropy
    >>> Entropy(1.0).memberships(np.array([[0.0, np.log(3.0)]]), None)
    array([[0.75, 0.25]])

    References
    ----------
    Rose, Gurewitz, Fox: Statistical mechanics and phase transitions in clustering. Physical Review Letters 65(8), 1990.
    Li, Mukaidono: A maximum-entropy approach to fuzzy clustering. FUZZ-IEEE 1995.
    """

    T: float
    name = "entropy"
    made_from = ("T",)
    can_be_annealed = True

    def __post_init__(self) -> None:
        if isinstance(self.T, bool) or not isinstance(self.T, numbers.Real) or not 0 < self.T < math.inf:
            raise ValueError(f"Entropy(T={self.T!r}): T, the temperature, must be a finite number greater than 0.")

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], settle: Callable[[str, Any], float]) -> Self:
        return cls(settle("T", parameters["T"]))

    @property
    def native_functions(self) -> NativeFunctions:
        return self.with_prices().native_functions  # all of them zero

    @property
    def temperature(self) -> float:
        return self.T

    def at_temperature(self, temperature: float) -> Entropy:
        return Entropy(temperature)

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return entropy_memberships(d2, self.T)

    def weights(self, u: Array) -> Array:
        return u

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        return entropy_penalty(u, self.T)

    def with_prices(self) -> SizedEntropy:
        return SizedEntropy(self.T)

    def advice_on_collapse(self, limits: SoftnessLimits) -> str:
        critical = limits.critical_temperature
        if critical < self.T:
            return f'T={self.T:g} is beyond T*={critical:.4g}, from where these rows fall together: take a smaller T, or T="auto"'
        return f"T={self.T:g} is not too large for these rows, so they need not: take another init or more sweeps"

    def advice_on_coincidence(self, limits: SoftnessLimits) -> str:
        return "Take fewer clusters or a smaller T."
