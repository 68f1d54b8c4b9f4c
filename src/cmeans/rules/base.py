"""Base of rules: how much a row belongs to each cluster, given its squared distances, and nothing else."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from ..data.arrays import Array, Float64, namespace


class NativeFunctions(NamedTuple):
    """By what name and numbers native sweeps know a rule; a rule of your own has none.

    Attributes
    ----------
    name : of the native functions.
    m : exponent of memberships.
    power : of ratios of squared distances.
    p : power of the sparsity term, beta of the polynomial fuzzifier.
    noise : squared distance of the noise cluster from every row; infinite where there is none.
    """

    name: str
    m: float = 1.0
    power: float = 1.0
    p: float = 0.5
    noise: float = math.inf


class SoftnessLimits(Protocol):
    """The softest memberships that the rows of a fit bear; computed only for advice."""

    @property
    def critical_fuzzifier(self) -> float: ...

    @property
    def advised_fuzzifier(self) -> float: ...

    @property
    def critical_temperature(self) -> float: ...


class Rule(ABC):
    """Memberships from distances. A frozen object of hyper-parameters; `scales` (one per cluster, or None) are passed in.

    A rule of your own has `memberships` and `weights`, and `penalty` where its objective holds more than weighted distances; it
    minimises  sum_ij w_ij d2_ij + penalty  for fixed centres; one whose scales are prices, that  - sum_ij scale_j u_ij.

    Attributes
    ----------
    name : by which `CMeans(rule=...)`, the command and the table `RULES` know a rule of the library; "" for one of your own.
    made_from : names of the parameters of `CMeans` that make it; None where `CMeans` does not make it by name.
    is_scale_free : whether memberships depend on ratios of a row's squared distances alone, and on nothing else that these compare with.
    rows_sum_to_one : True where memberships are a distribution over the clusters, and the noise cluster where there is one.
    is_soft : False for one-hot memberships.
    refills_empty_clusters : whether an empty cluster takes the row farthest from its own centre.
    needs_pilot : whether scales come from a fuzzy run that goes first.
    can_be_annealed : whether the rule has a `temperature`, which search="annealing" brings down.
    leaves_rows_out : whether a row may belong nowhere (`left_out`); its label is then -1.
    has_prices : whether its scales are prices of clusters, by which their sizes are kept between bounds.

    Notes
    -----
    What the methods take:

    - `d2` (b, c): squared distances of b rows to the c centres, exactly 0 where a row and a centre coincide.
    - `u` (b, c): memberships, as `memberships` returned them for these distances.
    - `scales` (c,): one number a cluster, such as eta_j or a price; None for rules that have none.
    - `temperature`: the softness of memberships, in units of squared distances.
    - `limits`: the softest memberships that the rows bear, `SoftnessLimits`.
    """

    name: ClassVar[str] = ""
    made_from: ClassVar[tuple[str, ...] | None] = None
    is_scale_free: ClassVar[bool] = False
    rows_sum_to_one: ClassVar[bool] = True
    is_soft: ClassVar[bool] = True
    refills_empty_clusters: ClassVar[bool] = False
    needs_pilot: ClassVar[bool] = False
    can_be_annealed: ClassVar[bool] = False
    leaves_rows_out: ClassVar[bool] = False
    has_prices: ClassVar[bool] = False

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], settle: Callable[[str, Any], float]) -> Self:  # noqa: ARG003
        """The rule of these parameters of `CMeans`, those of `made_from`; `settle` checks one by name, and reads "auto" off the rows."""
        return cls(**parameters)

    @property
    def native_functions(self) -> NativeFunctions | None:
        """The rule's functions in native sweeps; None where only the generic sweep knows it."""
        return None

    @property
    def noise_distance(self) -> float | None:
        """The squared distance of a noise cluster, which has what a row's memberships lack of one, from every row; None: there is none."""
        return None

    @property
    def most_clusters(self) -> int | None:
        """The number of clusters, its nearest ones, in which a row has memberships at most; None: all."""
        return None

    @property
    def temperature(self) -> float:
        """The softness of memberships, in units of squared distances; of rules that can be annealed."""
        raise NotImplementedError(f"{type(self).__name__}: can_be_annealed is False.")

    def at_temperature(self, temperature: float) -> Rule:
        """The same rule at another temperature."""
        raise NotImplementedError(f"{type(self).__name__}: can_be_annealed is False.")

    def numbers(self, scales: Float64) -> Float64:
        """(k, c) what native sweeps know of each cluster beside its centre."""
        return scales[None, :]

    @abstractmethod
    def memberships(
        self,
        d2: Array,  # (b, c) squared distances, exactly 0 where a row and a centre coincide
        scales: Float64 | None,  # (c,)
    ) -> Array:
        """u (b, c)."""

    @abstractmethod
    def weights(self, u: Array) -> Array:
        """w (b, c): how strongly each row pulls each centre, before its sample weight."""

    def penalty(self, u: Array, scales: Float64 | None) -> Array | None:
        """The addition (b,) of each row to the objective beyond sum_j w_ij d2_ij, or None for nothing."""
        return None

    def merged(self, other: Rule, share: float) -> Rule | None:
        """The rule of two streams merged, of which the `other` brings a share of the weight; None where they do not go together."""
        return self if self == other else None

    def left_out(self, u: Array, d2: Array) -> Array:
        """True (b,) for rows that belong nowhere; asked of rules that leave rows out. Those without any membership."""
        return namespace(u).max(u, axis=1) == 0

    @property
    def has_removal_costs(self) -> bool:
        """True where search can follow the rule itself, since `removal_costs` has a formula."""
        return False

    def removal_costs(self, d2: Array) -> Array:
        """By how much each row's part of the objective would rise if a cluster went (b, c)."""
        raise NotImplementedError(f"{type(self).__name__}: has_removal_costs is False.")

    @property
    def follows_nearest(self) -> bool:
        """True where a row belongs to its nearest centre alone, so that bounds of distances tell what a sweep may leave out."""
        return False

    @property
    def labels_need_norms(self) -> bool:
        """True where labels depend on more than differences of a row's squared distances, so that k(x, x) must be known."""
        return not self.rows_sum_to_one

    def with_prices(self) -> Rule | None:
        """The rule of the same objective where clusters have prices; None where their sizes cannot be bounded."""
        return None

    def smoothed(self, temperature: float) -> Rule:
        """The rule, of those with prices, by whose masses these are found: itself where they change smoothly with the prices."""
        return self

    def slopes(self, u: Array, d2: Array, scales: Float64) -> Array:
        """Slopes (b, c) of memberships in their cluster's price, beside what the row's sum of one makes of them; of rules with prices."""
        raise NotImplementedError(f"{type(self).__name__}: has_prices is False.")

    def advice_on_collapse(self, limits: SoftnessLimits) -> str:
        """Advice for a fit whose centres are all nearly the same point."""
        return "take fewer clusters"

    def advice_on_coincidence(self, limits: SoftnessLimits) -> str:
        """Advice for a fit some of whose centres coincide."""
        if self.needs_pilot:
            return "Possibilistic clusters do not repel each other: take fewer clusters."
        return "Take fewer clusters."


def priced(scales: Float64 | None) -> Float64:
    """The clusters' prices, for rules that have them."""
    if scales is None:
        raise ValueError("rules with prices need one of each cluster; they come from bounds of the clusters' sizes (sizes=Sizes(...)).")
    return scales


def needed(scales: Float64 | None) -> Float64:
    """The clusters' scales, for rules that cannot do without."""
    if scales is None:
        raise ValueError("possibilistic rules need the clusters' scales eta; they come from a fuzzy run (Havens 2011 eq. 11).")
    return scales
