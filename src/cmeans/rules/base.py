"""Base of rules: how much a row belongs to each cluster, given its squared distances, and nothing
else."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

from ..data.arrays import Array, Float64, namespace
from ..runtime.checks import ParameterError, is_auto, one_of, real
from ..runtime.parameter_object import ParameterObject
from ..runtime.stored_classes import enter

AnyRule = TypeVar("AnyRule", bound="Rule")

RULES: dict[str, type[Rule]] = {}  # by their names; a class with a name enters itself


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


class RuleEvidence(Protocol):
    """Numbers of the rows of a fit that a rule may ask for; they are computed when it does."""

    @property
    def automatic_fuzzifier(self) -> float:
        """The fuzzifier that keeps so many clusters of these rows apart."""

    @property
    def temperature(self) -> float:
        """The temperature of maximum entropy c-means that does, in units of squared distances."""

    @property
    def critical_fuzzifier(self) -> float:
        """The fuzzifier beyond which all centres fall together; estimated in little time, for
        advice."""

    @property
    def advised_fuzzifier(self) -> float:
        """An estimate of `automatic_fuzzifier`, for advice."""

    @property
    def critical_temperature(self) -> float:
        """The temperature from which on all centres coincide, for advice."""


class Rule(ParameterObject, ABC):
    """Memberships from distances. A frozen object of its own parameters; `scales` (one per cluster,
    or None) are passed in.

    A parameter may be "auto": the rule is legal, and `settled` gives it the number that the rows of
    a fit determine.

    A rule of your own has `memberships`, `weights` where a row pulls centres by something else than
    these, and `penalty` where its objective holds more than weighted distances; it minimises
    sum_ij w_ij d2_ij + penalty  for fixed centres; one whose scales are prices, that  - sum_ij
    scale_j u_ij.

    Attributes
    ----------
    name : by which `CMeans(rule=...)`, the command and the table `RULES` know the rule, made with
        the defaults of its parameters; "" where it is given as an object alone.
    is_scale_free : whether memberships depend on ratios of a row's squared distances alone, and on
        nothing else that these compare with.
    is_shift_free : whether memberships depend on differences of a row's squared distances alone, so
        that these may be negative.
    rows_sum_to_one : True where memberships are a distribution over the clusters, and the noise
        cluster where there is one.
    is_soft : False for one-hot memberships.
    refills_empty_clusters : whether an empty cluster takes the row farthest from its own centre.
    needs_pilot : whether scales come from a fuzzy run that goes first.
    can_be_annealed : whether the rule has a `temperature`, which search="annealing" brings down.
    leaves_rows_out : whether a row may belong nowhere (`left_out`); its label is then -1.
    has_prices : whether its scales are prices of clusters, by which their sizes are kept between
        bounds.
    has_tails : whether rows far out cost and pull less than by their squared distances (`tails`).
    has_densities : whether its scales come from weights and covariances of clusters, and
        memberships are posterior probabilities.
    has_removal_costs : whether search can follow the rule itself, since `removal_costs` has a
        formula.
    follows_nearest : whether a row belongs to its nearest centre alone, so that bounds of distances
        tell what a sweep may leave out.

    Notes
    -----
    What the methods take:

    - `d2` (b, c): squared distances of b rows to the c centres, exactly 0 where a row and a centre
      coincide.
    - `u` (b, c): memberships, as `memberships` returned them for these distances.
    - `scales` (c,): one number a cluster, such as eta_j or a price; None for rules that have none.
    - `temperature`: the softness of memberships, in units of squared distances.
    - `delta`: the squared distance of a noise cluster from every row.
    - `evidence`: what the rows of the fit say, `RuleEvidence`.
    """

    name: ClassVar[str] = ""
    is_scale_free: ClassVar[bool] = False
    is_shift_free: ClassVar[bool] = False
    rows_sum_to_one: ClassVar[bool] = True
    is_soft: ClassVar[bool] = True
    refills_empty_clusters: ClassVar[bool] = False
    needs_pilot: ClassVar[bool] = False
    can_be_annealed: ClassVar[bool] = False
    leaves_rows_out: ClassVar[bool] = False
    has_prices: ClassVar[bool] = False
    has_tails: ClassVar[bool] = False
    has_densities: ClassVar[bool] = False
    has_removal_costs: ClassVar[bool] = False
    follows_nearest: ClassVar[bool] = False

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        enter(RULES, cls)

    def settled(self, evidence: RuleEvidence) -> Self:
        """Return the rule with numbers in place of "auto"."""
        return self

    @property
    def pilot(self) -> Rule | None:
        """The rule of a run that goes first, where it gives this one what it cannot read off the
        rows: scales, or where noise begins."""
        return None

    @property
    def native_functions(self) -> NativeFunctions | None:
        """The rule's functions in native sweeps; None where only the generic sweep knows it."""
        return None

    @property
    def noise_distance(self) -> float | None:
        """The squared distance of a noise cluster, which has what a row's memberships lack of one,
        from every row; None: there is none."""
        return None

    @property
    def noise_share(self) -> Literal["auto"] | float | None:
        """The share of the rows by which a run of the `pilot` finds where noise begins, "auto": as
        the rows say; None: nothing to find."""
        return None

    def at_noise_distance(self, delta: float) -> Rule:
        """The same rule with noise from that squared distance on; of rules with a noise cluster."""
        raise NotImplementedError(f"{type(self).__name__}: it has no noise cluster.")

    @property
    def most_clusters(self) -> int | None:
        """The number of clusters, its nearest ones, in which a row has memberships at most; None:
        all."""
        return None

    @property
    def temperature(self) -> float:
        """The softness of memberships, in units of squared distances; of rules that can be
        annealed."""
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

    def weights(self, u: Array) -> Array:
        """w (b, c): how strongly each row pulls each centre, before its sample weight; u itself
        unless overridden."""
        return u

    def penalty(self, u: Array, scales: Float64 | None) -> Array | None:
        """The addition (b,) of each row to the objective beyond sum_j w_ij d2_ij, or None for
        nothing."""
        return None

    def tails(
        self,
        d2: Array,  # (b, c)
        errors: Float64 | None,
    ) -> tuple[Array, Array | None]:
        """Return what memberships and the objective are made of in place of squared distances `d2`
        (b, c), and its slope there: how strongly a row pulls each centre, beside its weight; None:
        it is these distances. Native sweeps know no others. Rounded rows are expected to lack
        `errors` (c,) of their distances; None: nothing."""
        return d2, None

    def merged(self, other: Rule, share: float) -> Rule | None:
        """The rule of two streams merged, of which the `other` brings a share of the weight; None
        where they do not go together."""
        return self if self == other else None

    def of_holes(self, holes: Array | None) -> Array | None:
        """(b,) what rows have more of squared distances, so that they compare with that of noise,
        where they lack the values that `holes` (b, r) marks; None: nothing."""
        return None

    def of_members(self, members: Float64 | None) -> Array | None:
        """(b,) what rows have more of squared distances, so that they compare with that of noise,
        where they stand for so many `members` (b,) each; None: nothing."""
        return None

    def left_out(self, u: Array, d2: Array) -> Array:
        """True (b,) for rows that belong nowhere; asked of rules that leave rows out. Those without
        any membership."""
        return namespace(u).max(u, axis=1) == 0

    def removal_costs(self, d2: Array) -> Array:
        """By how much each row's part of the objective would rise if a cluster went (b, c)."""
        raise NotImplementedError(f"{type(self).__name__}: has_removal_costs is False.")

    @property
    def is_partition(self) -> bool:
        """True where a row belongs wholly to the cluster of its label, so that labels tell all
        memberships."""
        return self.follows_nearest

    @property
    def labels_need_norms(self) -> bool:
        """True where labels depend on more than differences of a row's squared distances, so that
        k(x, x) must be known."""
        return not self.rows_sum_to_one

    @property
    def bounds_sizes(self) -> bool:
        """True where the sizes of its clusters can be kept between bounds, by the rule
        `with_prices`."""
        return type(self).with_prices is not Rule.with_prices

    def with_prices(self) -> Rule | None:
        """The rule of the same objective where clusters have prices; None where their sizes cannot
        be bounded."""
        return None

    def smoothed(self, temperature: float) -> Rule:
        """The rule, of those with prices, by whose masses these are found: itself where they change
        smoothly with the prices."""
        return self

    def slopes(self, u: Array, d2: Array, scales: Float64) -> Array:
        """Slopes (b, c) of memberships in their cluster's price, beside what the row's sum of one
        makes of them; of rules with prices."""
        raise NotImplementedError(f"{type(self).__name__}: has_prices is False.")

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        """Advice for a fit whose centres are all nearly the same point."""
        return "take fewer clusters"

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        """Advice for a fit some of whose centres coincide."""
        if self.needs_pilot:
            return "Possibilistic clusters do not repel each other: take fewer clusters."
        return "Take fewer clusters."

    def advice_on_meeting(self) -> str:
        """Advice for a stream whose centres lay apart, and have come together."""
        return (
            "Take rows in random order, larger chunks, harder memberships, or "
            "StreamingGaussianMixture, whose clusters come and go."
        )


def check_fuzzifier(rule: Rule, name: str = "m") -> None:
    """Raise ValueError for a fuzzifier that is neither a number above 1 nor "auto"."""
    value, owner = getattr(rule, name), type(rule).__name__
    if isinstance(value, numbers.Real) and value == 1:
        raise ParameterError(
            owner,
            name,
            value,
            "{name} must be greater than 1; for m = 1, hard memberships, use KernelKMeans.",
        )
    if not is_auto(value):
        real(value, name, owner, least=1.0, above=True, others='"auto" or ')


def with_numbers(rule: AnyRule, **found: Callable[[], float]) -> AnyRule:
    """Return a rule with these parameters as numbers: what the rows determine in place of "auto",
    floats in place of others."""
    given = {name: getattr(rule, name) for name in found}
    settled = {
        name: found[name]() if is_auto(value) else float(value)
        for name, value in given.items()
        if type(value) is not float
    }
    return replace(rule, **settled) if settled else rule  # type: ignore[type-var]


def priced(scales: Float64 | None) -> Float64:
    """The clusters' prices, for rules that have them."""
    if scales is None:
        raise ValueError(
            "rules with prices need one of each cluster; they come from bounds of the clusters' "
            "sizes (sizes=Sizes(...))."
        )
    return scales


def needed(scales: Float64 | None) -> Float64:
    """The clusters' scales, for rules that cannot do without."""
    if scales is None:
        raise ValueError(
            "possibilistic rules need the clusters' scales eta; they come from a fuzzy run (Havens "
            "2011 eq. 11)."
        )
    return scales


def rule_of(value: Any, estimator_name: str, names: Sequence[str] = ()) -> Rule:
    """Return the rule of a name, made with its defaults, or of an object; `names` are those that
    may be given, all that there are."""
    if isinstance(value, type) and issubclass(value, Rule):
        raise ValueError(
            f"{estimator_name}(rule={value.__name__}): give a rule object, {value.__name__}(...), "
            "not its class."
        )
    if isinstance(value, Rule):
        return value
    return RULES[one_of(value, "rule", estimator_name, tuple(names or RULES))]()
