"""Fuzzy c-means with a noise cluster: rows far from all centres belong to none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

from ..data.arrays import Array, Float64, namespace
from ..runtime.checks import ParameterError, is_auto, known_number, real
from .base import NativeFunctions, Rule, RuleEvidence, check_fuzzifier, with_numbers
from .fuzzy import Fuzzy


@dataclass(frozen=True, repr=False)
class NoiseFuzzy(Rule):
    """u_ij = d2_ij^-p / (sum_k d2_ik^-p + delta^-p), p = 1/(m-1): what a row's memberships lack of
    one, u_i0, is noise.

    Minimises  sum_ij u_ij^m d2_ij + delta sum_i u_i0^m  with  u_i0 + sum_j u_ij = 1:  noise is one
    more cluster, at the same squared distance from every row. It is the largest membership of the
    rows that are farther from all centres than that; their label is -1.

    Parameters
    ----------
    m : "auto" or float > 1, default="auto"
        The fuzzifier. "auto": as the rows allow, all of them (`Fuzzy` says how).
    share : "auto" or float between 0 and 1, default="auto"
        The share of the rows that is noise, by which a fit finds `delta` after a run without noise;
        "auto": as many as the rows say (see Notes).
    delta : float > 0 or None, default=None
        The squared distance of the noise cluster from every row; None: as `share` says.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    A fit without noise goes first, over all rows. From its centres delta is settled in rounds of at
    most ten sweeps, and then stays as it is. With d the squared distance of a row to its nearest
    centre, a number for `share` makes delta the quantile of d that so many rows lie beyond. Each
    cluster has a width, found from the nearer half of its rows outwards: the larger of  q50 + 7
    (q50 - q25)  and (r50 + 2.79 (r50 - r25))^3,  medians and lower quartiles of d and of its cube
    root among its rows no farther than that. "auto" makes delta 1.5 times the least width such that
    the clusters no wider have 70% of the rows; the others may have formed in noise. Where some are
    far wider than others, as parts of a landmark graph may be, a fifth of the rows, those of the
    widest clusters, may count as noise, and a number serves better. Of round Gaussian clusters
    without any noise it calls 2% of the rows noise in one dimension, under 1% in two, and hardly
    any in five. Give a number with narrow kernels, by which nearly all rows are as far from any
    centre.

    `search` goes on among the rounds, under the objective with noise. At delta it would give up a
    small cluster that lies alone for half of a large one, so it takes a larger distance: n / (10 c)
    times delta for n rows and c clusters, between 1 and 16 times. A few stray rows are then still
    too few to keep a centre. In small data clusters of a few rows look like those.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import NoiseFuzzy
    >>> NoiseFuzzy(2.0, delta=3.0).memberships(np.array([[1.0, 1.5]]), None)
    array([[0.5       , 0.33333333]])

    References
    ----------
    Dave: Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
    1991.
    """

    m: Literal["auto"] | float = "auto"
    share: Literal["auto"] | float = "auto"
    delta: float | None = None
    name = "noise_fuzzy"
    leaves_rows_out = True
    has_removal_costs = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_fuzzifier(self)
        if (
            not is_auto(self.share)
            and real(self.share, "share", owner, above=True, others='"auto", None or ') >= 1
        ):
            wanted = "the share of the rows that are noise must be less than 1."
            raise ParameterError(owner, "share", self.share, wanted)
        if self.delta is not None:
            real(self.delta, "delta", owner, above=True)

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(self, m=lambda: evidence.automatic_fuzzifier)

    @property
    def pilot(self) -> Fuzzy | None:
        return self._fuzzy if self.delta is None else None

    @property
    def noise_share(self) -> Literal["auto"] | float | None:
        return self.share if self.delta is None else None

    def at_noise_distance(self, delta: float) -> Self:
        return replace(self, delta=delta)

    @property
    def _delta(self) -> float:
        return known_number(self, "delta")

    @property
    def native_functions(self) -> NativeFunctions:
        m = known_number(self, "m")
        name = "noise, m = 2" if m == 2 else "noise"
        return NativeFunctions(name, m=m, power=1.0 / (m - 1.0), noise=self._delta)

    @property
    def noise_distance(self) -> float:
        return self._delta

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return self._fuzzy.memberships(self._with_noise(d2), None)[:, : d2.shape[1]]

    def weights(self, u: Array) -> Array:
        return self._fuzzy.weights(u)

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        xp = namespace(u)
        noise = 1.0 - xp.sum(u, axis=1)
        return self.weights(xp.where(noise > 0, noise, xp.zeros_like(noise))) * self._distance_in(u)

    def merged(self, other: Rule, share: float) -> Rule | None:
        if not isinstance(other, NoiseFuzzy) or other.m != self.m:
            return None
        return replace(self, delta=(1.0 - share) * self._delta + share * other._delta)

    def left_out(self, u: Array, d2: Array) -> Array:
        return namespace(d2).min(d2, axis=1) > self._distance_in(d2)

    def removal_costs(self, d2: Array) -> Array:
        return self._fuzzy.removal_costs(self._with_noise(d2))[:, : d2.shape[1]]

    @property
    def _fuzzy(self) -> Fuzzy:
        return Fuzzy(self.m)

    def _with_noise(self, d2: Array) -> Array:
        """d2 (b, c + 1), the noise cluster last."""
        xp = namespace(d2)
        return xp.concat([d2, xp.full_like(d2[:, :1], self._distance_in(d2))], axis=1)

    def _distance_in(self, like: Array) -> float:
        """delta, or the nearest number that the array's type can hold."""
        limits = namespace(like).finfo(like.dtype)
        return min(max(float(self._delta), float(limits.smallest_normal)), float(limits.max))

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        return self._fuzzy.advice_on_collapse(evidence)

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        return self._fuzzy.advice_on_coincidence(evidence)
