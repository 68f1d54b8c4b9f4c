"""Base class of the estimators that find their own number of clusters: checked parameters, scales
that adapt, and the best of several."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import numpy as np

from ...data.arrays import Array, row_bytes
from ...data.blocks import Blocks
from ...rules import SparsePossibilistic
from ...runtime.checks import is_auto, one_of, real
from ...runtime.docstrings import describes_arguments
from ...runtime.numerals import in_digits
from ...runtime.user_warnings import ParameterWarning, warn
from ...sampling.population import sample
from ...solvers.adaptive import Adaptation, PilotWidths, hard_sums
from ...solvers.fixed_point import solve
from ...solvers.multistart import BestRun, concluded
from ...solvers.observer import Observer
from ...solvers.solution import Solution, Verdict
from ...sweeps.passes import SilhouettePass, SweepPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...tuning.isolation import isolated_rows
from ..arguments import InnerScaling
from ..fit import BaseCMeans
from ..fit_plan import adaptive_visits
from ..fitted_attributes import certified
from ..geometry import Geometry
from ..kernel_evidence import given_kernel
from ..procedure import FitContext, FitSettings, Method, Outcome, PlannedEvidence, Procedure
from ..space import build_geometry
from ..stages.scaled import ScaledFeatures

WIDER = math.sqrt(2.0)  # factor of scales from one stage to the next
NARROW = 2.0  # alpha of the first stage, over the concentration of distances
STAGES = 9  # at most: alpha ends at an eighth of the concentration
APART = 0.2  # mean silhouette below which no clusters are apart
CRUMB = 0.1  # of an average cluster's weight: less is no cluster of its own
# standard deviations of a cluster's distances beyond their mean within which its rows are, at least
FAR = 2.5
# squared radius over the squared mean distance, at least: centres on their way are no means of
# their rows
LEAST_REACH = 3.0


@dataclass(frozen=True)
class AdaptiveProblem:
    """The rows on which clusters are sought, and the rule."""

    settings: FitSettings
    geometry: Geometry
    whole: Problem
    part: Problem  # over a fair sample of the rows, or all of them
    rule: SparsePossibilistic
    observer: Observer

    def solve(
        self, state: State, step: Adaptation, scope: str = "", *, everywhere: bool = False
    ) -> Solution:
        """Return the fixed point of sparse adaptive clusters on the part or on all rows; `scope`
        distinguishes the solves of a fit."""
        problem = replace(self.whole if everywhere else self.part, rule=self.rule)
        return solve(problem, state, self.observer.within(scope).at("fit"), step)

    def found_from(
        self, state: State, step: Adaptation, visits: int
    ) -> tuple[BestRun, SparsePossibilistic]:
        """Return the clusters that are found from a state, and the rule; `visits` were the rows
        visited on the way there."""
        solution = self.solve(state, step)
        return self.settled(BestRun(solution, None, visits + solution.row_visits), step), self.rule

    def settled(self, found: BestRun, step: Adaptation) -> BestRun:
        """Return clusters found on the part, refined on all rows."""
        if (
            self.part is self.whole
            or found.solution.ended
            or found.solution.verdict is Verdict.EMPTY
        ):
            return found
        solution = self.solve(found.solution.state, step, "settled", everywhere=True)
        return BestRun(solution, None, found.row_visits + solution.row_visits)


@dataclass(frozen=True)
class OneScale:
    """Clusters at one scale."""

    given: AdaptiveProblem
    step: Adaptation
    found: BestRun
    silhouette: float  # mean over the rows; 0 for one cluster and for none

    @property
    def is_empty(self) -> bool:
        return self.found.solution.verdict is Verdict.EMPTY


def best_separated(
    given: AdaptiveProblem, state: State, widths: PilotWidths
) -> tuple[OneScale, bool]:
    """Return the clusters of the largest mean silhouette, and True where none are apart: then they
    are the last, the widest.

    The start has scales for alpha = 1. Row visits are those of all stages.
    """
    stages = list(_stages(given, state, widths))
    best = max(stages, key=lambda stage: stage.silhouette)  # of equal ones the narrowest
    nothing = best.silhouette < APART
    if nothing:
        best = ([stage for stage in stages if not stage.is_empty] or stages)[-1]
    return replace(
        best, found=replace(best.found, row_visits=sum(stage.found.row_visits for stage in stages))
    ), nothing


def _stages(given: AdaptiveProblem, state: State, widths: PilotWidths) -> Iterator[OneScale]:
    alpha = NARROW * max(1.0, widths.concentration)
    state = State(state.centres, state.known_scales() / alpha)
    for number in range(STAGES):
        step = Adaptation(widths.narrowest / alpha)
        wide = _reaching(given, step, widths.concentration)
        solution = wide.solve(state, step, f"stage {number}")
        stage = OneScale(wide, step, BestRun(solution, None, solution.row_visits), 0.0)
        if not stage.is_empty:
            state = solution.state
            stage = _judged(_without_crumbs(stage, f"stage {number} without crumbs"))
        yield stage
        if solution.ended or (len(state.centres) == 1 and not stage.is_empty):
            break
        alpha, state = alpha / WIDER, State(state.centres, WIDER * state.known_scales())


def _without_crumbs(stage: OneScale, scope: str) -> OneScale:
    """Return the stage settled without clusters that own much less than others: they are of a few
    rows between or beside these."""
    solution, part = stage.found.solution, stage.given.part
    labelling = SweepPass(stage.given.rule, solution.state, labelling=True)
    mass = hard_sums(part.engine.fold(part.rows, labelling)).mass
    kept = np.flatnonzero(mass >= CRUMB * mass.sum() / len(mass))
    if len(kept) == len(mass):
        return stage
    again = stage.given.solve(solution.state[kept], stage.step, scope)
    visits = stage.found.row_visits + part.n_rows + again.row_visits
    if again.verdict is Verdict.EMPTY:
        return stage
    return replace(stage, found=BestRun(again, None, visits))


def _judged(stage: OneScale) -> OneScale:
    """Return the stage with its silhouette."""
    part, state = stage.given.part, stage.found.solution.state
    if len(state.centres) == 1:
        return stage
    total, weight = part.engine.fold(part.rows, SilhouettePass(state))
    return replace(
        stage,
        found=replace(stage.found, row_visits=stage.found.row_visits + part.n_rows),
        silhouette=float(total / weight),
    )


def _reaching(given: AdaptiveProblem, step: Adaptation, concentration: float) -> AdaptiveProblem:
    """Return the problem with an automatic sparsity that leaves out rows far beyond a cluster's own
    alone.

    A cluster's radius is at least its mean distance plus so many standard deviations, which are
    mean / (2 concentration) each.
    """
    if given.rule.sparsity is not None:
        return given
    squared = max((1.0 + FAR / (2.0 * max(concentration, 0.5))) ** 2, LEAST_REACH)
    return replace(given, rule=replace(given.rule, reach=squared / step.length**2))


# to the clusters, and the rule that found them
Search = Callable[[AdaptiveProblem, Method], tuple[BestRun, SparsePossibilistic]]


class BaseAdaptive(BaseCMeans):
    """Sparse adaptive possibilistic c-means; subclasses define the search for clusters."""

    _sums_to_one = False
    _takes = frozenset[str]()
    _is_bounded = False
    _spares_isolated_rows: bool = True  # whether clusters are sought among the others

    _usual_most: int  # clusters at most, where n_clusters="auto"

    sparsity: str | float
    p: float
    scaling: str | None

    @describes_arguments
    def typicality(self, X: Any, *, diag: Any = None) -> Array:
        """Typicalities (rows, clusters found) of new rows in [0, 1]; 0 beyond a cluster's
        radius."""
        return self.memberships(X, diag=diag)

    def _adaptive_procedure(
        self, method: Callable[[PlannedEvidence], Method], search: Search
    ) -> Procedure:
        """Return the procedure of a search for clusters of whose number `n_clusters` is a bound."""
        name, value = type(self).__name__, self.n_clusters
        most_clusters = self._most_clusters(name)
        if isinstance(value, numbers.Integral):  # as scikit-learn's checks give it
            warn(
                f"{name}(n_clusters={value}): the number of clusters is a result here, and {value} "
                "is taken for the "
                f'most there may be; give the range n_clusters=(1, {value}), or "auto".',
                ParameterWarning,
            )
        scaled = (
            self.scaling is not None
            and one_of(self.scaling, "scaling", name, get_args(InnerScaling))
            and not given_kernel(self, name).takes_kernel_values
        )
        return Procedure(
            method,
            lambda context: self._by_adaptation(context, search),
            stages=(ScaledFeatures(),) if scaled else (),
            most_clusters=most_clusters,
        )

    def _most_clusters(self, estimator_name: str) -> int:
        """Return the most clusters that may be found."""
        value: Any = self.n_clusters
        if isinstance(value, str) and value == "auto":
            return self._usual_most
        given = f"{estimator_name}(n_clusters={value!r})"
        one = isinstance(value, numbers.Integral)  # for which `_adaptive_procedure` warns
        first, most = (
            (1, value)
            if one
            else value
            if isinstance(value, tuple | list) and len(value) == 2
            else (0, 0)
        )
        whole = isinstance(most, numbers.Integral) and not isinstance(most, bool)
        if not whole or first != 1 or int(most) < 1:
            raise ValueError(
                f'{given}: the number of clusters is a result here; give "auto", or a range (1, '
                f"most), such as n_clusters=(1, {self._usual_most})."
            )
        return int(most)

    def _sparse_rule(self, automatic_share: float) -> SparsePossibilistic:
        """Return the checked rule; `automatic_share` is K of sparsity="auto"."""
        estimator_name = type(self).__name__
        sparsity = None
        if not is_auto(self.sparsity):
            sparsity = real(self.sparsity, "sparsity", estimator_name, others='"auto" or ')
        p = real(self.p, "p", estimator_name)
        if not 0 < p < 1:
            raise ValueError(
                f"{estimator_name}(p={self.p!r}): p must lie between 0 and 1, both left out."
            )
        rule = SparsePossibilistic(sparsity, 0.0, p)
        if sparsity is None:
            return replace(rule, share=automatic_share * min(1.0, rule.largest_share))
        return rule

    def _remembered(self, settings: FitSettings, blocks: Blocks) -> int:
        """A row number each, and the sample that clusters are sought on, as it is and as the space
        sees it."""
        n, most = blocks.n_rows, blocks.limits.adaptive_rows
        return 8 * n + 2 * min(n, most) * row_bytes(blocks.x)

    def _usual_visits(
        self, procedure: Procedure, settings: FitSettings, blocks: Blocks
    ) -> tuple[int, int]:
        return adaptive_visits(blocks.n_rows, settings.stopping, blocks.limits.adaptive_rows)

    def _by_adaptation(self, context: FitContext, search: Search) -> Outcome:
        settings, blocks = context.settings, context.blocks
        geometry = context.placed(build_geometry(self._space_request(context, blocks)))
        rule = cast(SparsePossibilistic, context.procedure.method(geometry).rule)
        rows = self._rows_for(context, geometry, rule)
        whole = Problem(rows, rule, context.engine, settings.stopping)
        sought, part = _part_of(geometry, whole, settings.rng, spare=self._spares_isolated_rows)
        method = context.described(context.procedure.method(sought))
        observer = self._observer(context, geometry, method)
        with self._interruptible(context, geometry, method):
            best, found_rule = search(
                AdaptiveProblem(settings, sought, whole, part, rule, observer), method
            )
        if best.solution.verdict is Verdict.EMPTY:
            raise ValueError(self._too_sparse(rule, best.solution.state))
        whole = replace(whole, rule=found_rule)
        along = geometry.population if isinstance(vars(self).get("init"), str) else None
        return Outcome(
            geometry,
            method,
            certified(
                concluded(best, whole, observer, numbered_along=along), best, geometry, whole
            ),
        )

    def _too_sparse(self, rule: SparsePossibilistic, state: State) -> str:
        scales = state.known_scales()
        strength, limit = rule.strength(scales), rule.largest_strength(scales)
        advice = "." if self.sparsity == "auto" else ', or "auto".'
        return (
            f"{type(self).__name__}(sparsity={self.sparsity!r}, p={rule.p:g}): no cluster wants "
            f"any row. lambda is {in_digits(strength, 4)}, and the "
            f"widest cluster (eta {in_digits(scales.max(), 4)}) bears 0 <= lambda < "
            f"{in_digits(limit, 4)}. Take a smaller sparsity{advice}"
        )


def _part_of(
    geometry: Geometry, whole: Problem, rng: np.random.RandomState, *, spare: bool
) -> tuple[Geometry, Problem]:
    """Return the problem over a fair sample of the rows, and their geometry; the same problem for
    few rows, or where a row is given by its kernel values with all others.

    With `spare` rows that lie apart from all others are no part of it: no cluster begins there, and
    no scale is theirs.
    """
    population, most = geometry.population, geometry.blocks.limits.adaptive_rows
    if (
        geometry.is_precomputed
        or not whole.space.sweeps_products
        or (len(population) <= most and not spare)
    ):
        return geometry, whole
    positions, weights = sample(population, most, rng)
    numbers = population.at(positions)
    if spare:
        apart = isolated_rows(geometry.metric, numbers, weights)
    else:
        apart = np.zeros(len(numbers), dtype=bool)
    if len(population) <= most and not apart.any():
        return geometry, whole
    rows = whole.rows.part(numbers[~apart], weights[~apart])
    if apart.any():
        geometry = replace(geometry, blocks=rows.blocks, former=None, landmark_rows=None)
    return geometry, replace(whole, rows=rows)
