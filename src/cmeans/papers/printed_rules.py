"""Rules as the papers print them: exponents of Havens 2011, sparse typicalities of Xenaki 2014."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from ..data.arrays import Array, Float64, as_like
from ..rules import Fuzzy, NativeFunctions, Possibilistic, Rule, SparsePossibilistic
from ..rules.base import RuleEvidence, needed, with_numbers
from ..rules.fuzzy import shares
from ..runtime.checks import known_number, one_of
from ..runtime.docstrings import shares_parameters

SparsityTest = Literal["global", "local"]


@dataclass(frozen=True, repr=False)
class PrintedFuzzy(Rule):
    """u_ij = 1 / sum_k (d2_ij / d2_ik)^exponent: fuzzy memberships with another exponent than
    Bezdek's 1/(m-1).

    Havens 2011 prints 2/(m-1) on squared distances. That minimises nothing; it is here for the
    paper's tables alone. Give it to `CMeans(rule=...)`. A row that coincides with centres is shared
    equally among them.

    Parameters
    ----------
    m : float > 1
        The fuzzifier.
    exponent : float > 0 or None, default=None
        Of ratios of squared distances; None: 2/(m-1).

    Raises
    ------
    ValueError
        If m is not above 1, or the exponent not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.papers import PrintedFuzzy
    >>> PrintedFuzzy(2.0).memberships(np.array([[1.0, 3.0]]), None)
    array([[0.9, 0.1]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 6.
    """

    m: float
    exponent: float | None = None
    is_scale_free = True

    def __post_init__(self) -> None:
        if not self.m > 1:
            raise ValueError(
                f"PrintedFuzzy(m={self.m!r}): m must be greater than 1; for m = 1 use KernelKMeans."
            )
        if not self.power > 0:
            raise ValueError(
                f"PrintedFuzzy(exponent={self.exponent!r}): the exponent must be greater than 0."
            )

    @property
    def power(self) -> float:
        """Of ratios of squared distances."""
        return 2.0 / (self.m - 1.0) if self.exponent is None else self.exponent

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("fuzzy, any exponent", m=self.m, power=self.power)

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return shares(d2, self.power)

    def weights(self, u: Array) -> Array:
        return u * u if self.m == 2 else u**self.m

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        return Fuzzy(self.m).advice_on_collapse(evidence)

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        return Fuzzy(self.m).advice_on_coincidence(evidence)


@dataclass(frozen=True, repr=False)
class PrintedPossibilistic(Possibilistic):
    """u_ij = 1 / (1 + (d2_ij / eta_j)^(2/(m-1))): Havens 2011 eq. 7 as printed, on squared
    distances.

    The rule is `cmeans.rules.Possibilistic` in all else, but the fuzzy run that goes first has its
    m and the printed exponent too.

    Parameters
    ----------
    m : "auto" or float > 1, default=2.0
        The fuzzifier.
    pilot_m : not used.
    eta_scale : float > 0, default=1.0
        Width of the clusters relative to those of the fuzzy run: it multiplies all eta_j.

    Raises
    ------
    ValueError
        If m is not above 1, or scales are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.papers import PrintedPossibilistic
    >>> PrintedPossibilistic(2.0).memberships(np.array([[1.0, 3.0]]), np.array([1.0, 1.0]))
    array([[0.5, 0.1]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 7.
    """

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(self, m=lambda: evidence.automatic_fuzzifier, eta_scale=float)

    @property
    def pilot(self) -> PrintedFuzzy:
        return PrintedFuzzy(known_number(self, "m"))

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions(
            "possibilistic", known_number(self, "m"), 2.0 / (known_number(self, "m") - 1.0)
        )

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return 1.0 / (
            1.0
            + (d2 / as_like(needed(scales), d2)[None, :]) ** (2.0 / (known_number(self, "m") - 1.0))
        )


@shares_parameters(SparsePossibilistic)
@dataclass(frozen=True, repr=False)
class LocallySparse(SparsePossibilistic):
    """Sparse typicalities as printed in 2014: the largest root wherever there is one, z < 1/e,
    though u = 0 may cost less.

    The rule is `cmeans.rules.SparsePossibilistic` in all else, its errors too.

    Parameters
    ----------

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.papers import LocallySparse
    >>> from cmeans.rules import SparsePossibilistic
    >>> d2, scales = np.array([[0.0]]), np.array([1.0])
    >>> locally = LocallySparse(1.3).memberships(d2, scales).round(2)
    >>> locally, SparsePossibilistic(1.3).memberships(d2, scales)
    (array([[0.31]]), array([[0.]]))

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN
    2014, section 2.
    """

    edge = -1.0


def as_tested(
    rule: SparsePossibilistic, sparsity_test: Any, estimator_name: str
) -> SparsePossibilistic:
    """Return a sparse rule whose typicalities must beat 0 ("global"), or be a local minimum only
    ("local")."""
    test = one_of(sparsity_test, "sparsity_test", estimator_name, get_args(SparsityTest))
    return rule if test == "global" else LocallySparse(**vars(rule))
