"""Mixtures of Student's t distributions, whose heavy tails leave centres where most rows are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from ..data.arrays import Array, Float64, as_like, namespace
from ..runtime.checks import integer, real
from .base import NativeFunctions, Rule
from .mixture import TEMPERATURE, Mixture
from .sized_entropy import entropy_penalty


@dataclass(frozen=True, repr=False)
class StudentMixture(Rule):
    """u_ij = exp((s_j - t_ij) / 2) / sum_k exp((s_k - t_ik) / 2),  t = (df + d) ln(1 + d2 / df):
    the posterior probabilities of t distributions in d columns, where d2 are Mahalanobis distances
    and the scales are s_j = 2 ln p_j - ln |S_j|.

    A row pulls a centre and a covariance as its slope  dt / d d2 = (df + d) / (df + d2)  says: the
    less, the farther out it is (Peel & McLachlan 2000).

    Parameters
    ----------
    df : float above 0
        Degrees of freedom: the fewer, the heavier the tails.
    columns : int
        d.

    Raises
    ------
    ValueError
        For other values.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import StudentMixture
    >>> StudentMixture(5.0, 1).memberships(np.array([[0.0, 0.0]]), np.array([0.0, 0.0]))
    array([[0.5, 0.5]])

    References
    ----------
    Peel, McLachlan: Robust mixture modelling using the t distribution. Statistics and Computing 10,
    2000.
    """

    df: float
    columns: int
    has_tails = True
    labels_need_norms = True

    def __post_init__(self) -> None:
        real(self.df, "df", "StudentMixture", above=True)
        integer(self.columns, "columns", "StudentMixture", 1)

    def tails(self, d2: Array, errors: Float64 | None) -> tuple[Array, Array | None]:
        xp, many = namespace(d2), self.df + self.columns
        d2 = d2 if errors is None else d2 + as_like(errors, d2)[None, :]
        return many * xp.log1p(d2 / self.df), many / (self.df + d2)

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("student", m=float(self.df), power=float(self.df + self.columns))

    def numbers(self, scales: Float64) -> Float64:
        return Mixture().numbers(scales)

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return Mixture().memberships(d2, scales)

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        return entropy_penalty(u, TEMPERATURE)

    @property
    def log_constant(self) -> float:
        """The logarithm of what the density has beside |S|^-1/2 (1 + d2 / df)^(-(df + d) / 2)."""
        df, d = self.df, self.columns
        above: float = gammaln((df + d) / 2.0) - gammaln(df / 2.0)
        return above - d / 2.0 * float(np.log(df * np.pi))

    def component_weights(self, scales: Float64, log_volumes: Float64, d: int) -> Float64:
        """(c,) p_j, of clusters whose covariances have `log_volumes` (c,) ln |S_j|."""
        return Mixture().component_weights(scales, log_volumes, d)

    def log_likelihoods(
        self, costs: Float64, scales: Float64, log_volumes: Float64, d: int
    ) -> Float64:
        """(b,) ln sum_j p_j t(x_i; v_j, S_j), from `costs` (b, c) as `tails` makes them; `scales`
        (c,) hold `log_volumes` (c,) ln |S_j|."""
        values: Float64 = logsumexp((scales[None, :] - costs) / 2.0, axis=1)
        return values + self.log_constant

    def advice_on_coincidence(self, evidence: object) -> str:
        return Mixture().advice_on_coincidence(evidence)
