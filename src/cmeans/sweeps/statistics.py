"""The sums that travel: what one pass over some rows says about all clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..data.additive import Additive
from ..data.arrays import Float64, IntArray, host_float64
from ..rules import Rule
from ..runtime.stored_classes import stored
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ..spaces import Space
from ..spaces.centres import Centres
from .represented_rows import RepresentedRows
from .second_moments import SecondMoments
from .state import State


@stored
@dataclass(frozen=True)
class HardStatistics(Additive):
    """Sums over each cluster's own rows: those that belong to it more than to any other, and each
    of them fully."""

    mass: Float64  # (c,) sum of the rows' sample weights
    moment: Float64  # (c, moment_width)


@dataclass(frozen=True)
class ClusterCosts(Additive):
    """Sums over rows by which clusters are compared: the cost of each, and what it saves."""

    error: Float64  # (c,) sum_i w_ij d2_ij, its part of the objective
    utility: Float64  # (c,) the rise of the objective if it went


@dataclass(frozen=True)
class PriceStatistics(Additive):
    """Sums over rows from which the next prices of clusters follow."""

    cost: float  # sum of the objective
    mass: Float64  # (c,) sum_i weight_i u_ij
    # (c, c) between two clusters, the mass that goes from one to the other by a unit of the price;
    # 0 on the diagonal
    coupling: Float64


@dataclass(frozen=True)
class Margins(Additive):
    """The clusters of all rows by price, and the rows that some other cluster would have for little
    more."""

    mass: Float64  # (c,) sum of the weights of each cluster's rows
    # numbers of rows, their clusters, and squared distances (q, c), some rows after the other
    parts: tuple[tuple[IntArray, IntArray, Float64], ...]

    def from_row(self, first: int) -> Margins:
        """Return the same of rows whose numbers begin at `first`."""
        parts = ((rows + first, labels, d2) for rows, labels, d2 in self.parts)
        return Margins(self.mass, tuple(parts))

    @cached_property
    def rows(self) -> IntArray:
        """(q,) numbers of rows."""
        return np.concatenate([rows for rows, _, _ in self.parts])

    @cached_property
    def labels(self) -> IntArray:
        """(q,) their clusters."""
        return np.concatenate([labels for _, labels, _ in self.parts])

    @cached_property
    def d2(self) -> Float64:
        """(q, c) and squared distances."""
        return np.concatenate([d2 for _, _, d2 in self.parts])


@stored
@dataclass(frozen=True)
class Statistics:
    """Sums over rows, always float64 on the host. `+` merges threads, files and machines; `*`
    forgets in streams."""

    weight: float  # sum of the rows' sample weights
    mass: Float64  # (c,) sum_i w_ij, w = sample_weight u^m
    moment: Float64  # (c, moment_width) sum_i w_ij g(x_i), in the space's own terms
    spread: Float64  # (c,) sum_i w_ij d2_ij
    # what the rule adds to its objective; negative for one that rewards entropy
    penalty: float = 0.0
    hard: HardStatistics | None = None  # where whoever makes the next state asks for it
    second: SecondMoments | None = None  # where the clusters have metrics
    # what the rule adds to its objective, where a step has added to that for the clusters' metrics
    rule_penalty: float | None = None

    def __post_init__(self) -> None:
        if self.mass.ndim != 1 or self.spread.shape != self.mass.shape:
            raise ValueError(
                f"Statistics: masses {self.mass.shape} and spreads {self.spread.shape} do not fit "
                "each other"
            )

    @cached_property
    def _total_spread(self) -> float:
        return float(self.spread.sum())

    @property
    def objective(self) -> float:
        """sum_ij w_ij d2_ij, plus the rule's penalty."""
        return self._total_spread + self.penalty

    @property
    def scale(self) -> float:
        """The objective without a penalty that is negative: what movements are compared with, as
        the objective itself may be near zero."""
        return self._total_spread + max(self.penalty, 0.0)

    @property
    def magnitude(self) -> float:
        """Of what size the numbers are whose sum is the objective: what its rounding is compared
        with."""
        return abs(self._total_spread) + abs(self.penalty)

    def __add__(self, other: Statistics) -> Statistics:
        other = other.settled
        return Statistics(
            self.weight + other.weight,
            self.mass + other.mass,
            self.moment + other.moment,
            self.spread + other.spread,
            self.penalty + other.penalty,
            None if self.hard is None or other.hard is None else self.hard + other.hard,
            None if self.second is None or other.second is None else self.second + other.second,
        )

    def __iadd__(self, other: Statistics) -> Statistics:
        """Add in place, for sums that are nobody else's."""
        other = other.settled
        for mine, theirs in (
            (self.mass, other.mass),
            (self.moment, other.moment),
            (self.spread, other.spread),
        ):
            mine += theirs
        weight, penalty = self.weight + other.weight, self.penalty + other.penalty
        hard = None if self.hard is None or other.hard is None else self.hard + other.hard
        second = None if self.second is None or other.second is None else self.second + other.second
        return replace(self, weight=weight, penalty=penalty, hard=hard, second=second)

    def __mul__(self, factor: float) -> Statistics:
        return Statistics(
            self.weight * factor,
            self.mass * factor,
            self.moment * factor,
            self.spread * factor,
            self.penalty * factor,
            None if self.hard is None else self.hard * factor,
            None if self.second is None else self.second * factor,
        )

    @property
    def pulling_mass(self) -> Float64:
        """(c,) the sums of the weights in the moments: the masses, unless rows far out pull less
        than they count for."""
        own = None if self.second is None else self.second.mass
        return self.mass if own is None else own

    @property
    def covered_mass(self) -> Float64:
        """(c,) the weights of the rows whose scatter second moments hold: the masses, unless rows
        stand for several and count as one."""
        several = self.second is not None and self.second.holds_members
        return self.pulling_mass if several else self.mass

    def about(self, centres: Centres) -> Statistics:
        """Return the same sums with second moments about other centres, as those of two sweeps need
        that are to be added."""
        assert self.second is not None, "the clusters have metrics"
        return replace(self, second=self.second.about(centres, self.mass, self.moment))

    def with_past(self, past: Statistics) -> Statistics:
        """Return these sums of a sweep with those of rows that have gone by, whose second moments
        are moved to where these are about: single precision rounds centres."""
        if self.second is not None:
            past = past.about(Centres.orthonormal(self.second.points))
            if self.second.holds_members and past.second is not None:  # they stand for themselves
                past = replace(past, second=replace(past.second, mass=past.mass))
        return self + past

    @property
    def settled(self) -> Statistics:
        """The sums themselves: none is to be taken yet."""
        return self

    def is_finite(self) -> bool:
        """True where every sum is a number: NaN or infinity from a kernel shows here first."""
        # which may overflow by itself
        total = self.objective + float(self.mass.sum()) + float(self.moment.sum())
        if self.second is not None and not np.isfinite(self.second.values).all():
            return False
        return math.isfinite(total) or bool(
            np.isfinite(self.objective)
            and np.isfinite(self.mass).all()
            and np.isfinite(self.moment).all()
        )


@dataclass(frozen=True)
class FinalSums(Additive):
    """Sums of the last pass."""

    objective: float
    total_distance: float  # sum_ij weight_i d2_ij
    mass: Float64  # (c,) sum_i weight_i u_ij
    nowhere: int = 0  # rows without a label, of those that say where they belong
    empty: int = 0  # rows that do not

    def checked(self, unit: float) -> FinalSums:
        """Return the sums with the objective in the user's unit of weight; refuse what is no
        number."""
        if not math.isfinite(self.objective):
            raise OutOfRangeError(NOT_FINITE)
        return replace(self, objective=self.objective * unit)


@dataclass(frozen=True)
class KnownSums:
    """Sums that rows whose weight belongs to a known cluster each add to those of a sweep, whatever
    the centres are.

    A row of weight w and strength s is two rows: one of weight (1 - s) w, whose memberships the
    rule finds, and one of weight s w that belongs fully to its known cluster. For m = 2 that is the
    objective of Pedrycz & Waletzky 1997 (eq. 1), alpha = s / (1 - s).
    """

    rows: RepresentedRows  # all rows of the fit, of their whole weights
    weight: float
    mass: Float64  # (c,)
    moment: Float64  # (c, moment_width)
    square: Float64  # (c,) sums of weight k(x, x)
    second: SecondMoments | None = None  # where the clusters have metrics

    @property
    def space(self) -> Space:
        """The space of the rows."""
        return self.rows.space

    def __mul__(self, factor: float) -> KnownSums:
        return KnownSums(
            self.rows,
            self.weight * factor,
            self.mass * factor,
            self.moment * factor,
            self.square * factor,
            None if self.second is None else self.second * factor,
        )

    def sums(self, rule: Rule, state: State) -> Statistics:
        """Return what the rows add to the sums of a sweep."""
        # of a row that belongs to one cluster alone
        penalty = rule.penalty(np.eye(len(self.mass)), state.scales)
        added = 0.0 if penalty is None else float(self.mass @ host_float64(penalty))
        distances, second = self._distances(state), self.second
        if second is not None:
            second = second.about(state.centres, self.mass, self.moment)
        sums = self.weight, self.mass, self.moment, distances.diagonal()
        return Statistics(*sums, added, second=second)

    def final(self, rule: Rule, state: State) -> FinalSums:
        """Return what the rows add to the sums of the last pass."""
        sums = self.sums(rule, state)
        return FinalSums(sums.objective, float(self._distances(state).sum()), self.mass)

    def centres(self) -> Centres:
        """Return the means of the known rows of each cluster (any value where it has none)."""
        return self.space.centres(self.mass, self.moment)

    def in_place_of(self, centres: Centres) -> Centres:
        """Return centres where those of clusters that have known rows are the means of these."""
        met = np.flatnonzero(self.mass > 0)
        return centres.replaced(met, self.centres()[met])

    def _distances(self, state: State) -> Float64:
        """(c, c) sums of the squared distances of the known rows of each cluster to each centre."""
        centres, metrics, found = state.centres, state.metrics, list[Float64]()
        if metrics is not None:
            assert self.second is not None, "known rows have second moments where clusters do"
            for same in np.arange(len(centres))[:, None].repeat(len(centres), axis=1):
                about = self.second.about(centres[same], self.mass, self.moment)
                found.append(metrics[same].traces(about.values))
            return np.stack(found, axis=1)
        products = self.moment[:, : self.space.size] @ self.space.coefficients(centres).T
        distances: Float64 = (
            self.square[:, None]
            - 2.0 * products
            + self.mass[:, None] * self.space.offsets(centres)[None, :]
        )
        return np.maximum(distances, 0.0)
