"""Rules whose clusters have scales, which a fuzzy run gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from ..runtime.checks import real
from .base import Rule, RuleEvidence, check_fuzzifier, with_numbers
from .fuzzy import Fuzzy


@dataclass(frozen=True, repr=False, kw_only=True)
class RuleWithScales(Rule):
    """A rule whose clusters have scales, from a fuzzy run that goes first.

    Parameters
    ----------
    pilot_m : "auto" or float > 1, default="auto"
        The fuzzifier of that run.
    eta_scale : float > 0, default=1.0
        Width of the clusters relative to those of that run: it multiplies all scales.
    """

    pilot_m: Literal["auto"] | float = "auto"
    eta_scale: float = 1.0
    needs_pilot = True

    def __post_init__(self) -> None:
        check_fuzzifier(self, "pilot_m")
        real(self.eta_scale, "eta_scale", type(self).__name__, above=True)

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(self, pilot_m=lambda: evidence.automatic_fuzzifier, eta_scale=float)

    @property
    def pilot(self) -> Rule:
        return Fuzzy(self.pilot_m)
