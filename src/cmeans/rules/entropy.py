"""Maximum entropy c-means: memberships fall exponentially with the squared distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from ..data.arrays import Array, Float64
from ..runtime.checks import is_auto, known_number, real
from .base import NativeFunctions, Rule, RuleEvidence, with_numbers
from .sized_entropy import SizedEntropy, entropy_memberships, entropy_penalty


@dataclass(frozen=True, repr=False)
class Entropy(Rule):
    """u_ij = exp(-d2_ij / T) / sum_k exp(-d2_ik / T): minimises  sum_ij u_ij d2_ij + T sum_ij u_ij
    ln u_ij,  rows summing to one.

    It is Rose's deterministic annealing at one temperature, and the E-step of a mixture of equal,
    round Gaussians of variance T / 2. The objective may be negative. Beyond T* = 2 lambda_max, the
    largest eigenvalue of the rows' covariance in the kernel's space, "all centres at the mean" is a
    stable solution: they fall together.

    Parameters
    ----------
    T : "auto" or float > 0, default="auto"
        The temperature, in units of squared distances: the larger, the softer memberships are.
        "auto": as the rows allow (`CMeans` says how).

    Raises
    ------
    ValueError
        If T is neither "auto" nor a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Entropy
    >>> Entropy(1.0).memberships(np.array([[0.0, np.log(3.0)]]), None)
    array([[0.75, 0.25]])

    References
    ----------
    Rose, Gurewitz, Fox: Statistical mechanics and phase transitions in clustering. Physical Review
    Letters 65(8), 1990. Li, Mukaidono: A maximum-entropy approach to fuzzy clustering. FUZZ-IEEE
    1995.
    """

    T: Literal["auto"] | float = "auto"
    name = "entropy"
    can_be_annealed = True
    is_shift_free = True

    def __post_init__(self) -> None:
        if not is_auto(self.T):
            real(self.T, "T", type(self).__name__, above=True, others='"auto" or ')

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(self, T=lambda: evidence.temperature)

    @property
    def native_functions(self) -> NativeFunctions:
        return self.with_prices().native_functions  # all of them zero

    @property
    def temperature(self) -> float:
        return known_number(self, "T")

    def at_temperature(self, temperature: float) -> Entropy:
        return Entropy(temperature)

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return entropy_memberships(d2, self.temperature)

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        return entropy_penalty(u, self.temperature)

    def with_prices(self) -> SizedEntropy:
        return SizedEntropy(self.temperature)

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        critical = evidence.critical_temperature
        if critical < self.temperature:
            return (
                f"T={self.temperature:g} is beyond T*={critical:.4g}, from where these rows "
                'fall together: take a smaller T, or T="auto"'
            )
        return (
            f"T={self.temperature:g} is not too large for these rows, so they need not: take "
            "another init or more sweeps"
        )

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        return "Take fewer clusters or a smaller T."
