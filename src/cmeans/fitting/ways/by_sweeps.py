"""The way from rows to a solution: their space, what is kept of them within the memory budget,
starts, search, and the solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ...data.blocks import Blocks
from ...kernels import Kernel
from ...landmarks.certificate import Approximation
from ...rules import Rule
from ...runtime.callbacks import SweepHook, memory_logger
from ...runtime.progress import Reporter
from ...solvers.annealing import Annealing
from ...solvers.hierarchy import rows_of_hierarchy, with_few_sweeps
from ...solvers.multistart import FromStarts, Runs
from ...solvers.observer import AfterSweep, Observer
from ...solvers.search import Breathing, Searching
from ...solvers.subsampling import SubsampleSchedule, sample_sizes, subsample_schedule
from ...spaces import Space
from ...sweeps.choice import labels_tell, memory_of
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.state import State
from ..attribute_names import OF_ROWS
from ..expected_space import ExpectedRows, ExpectedSpace, expected_space
from ..fit_plan import usual_visits, visits_of_runs
from ..fitted_attributes import certified, model_attributes
from ..geometry import Geometry
from ..init import InitContext, hierarchical_starts, starts
from ..memory import FitSizes, MemoryPlan, of_start, plan
from ..procedure import FitContext, FitSettings, Method, Outcome, Procedure, Swept
from ..search import NO_SEARCH
from ..space import SpaceRequest, build_geometry

OF_INIT = {"k-means||": 12}  # bytes per row for starts that keep something of all rows


class BySweeps:
    """Mixin of the way that estimators have in common, sweeps from every start, and of its parts,
    of which others make their own."""

    n_clusters: int
    kernel: str | Kernel | Callable[..., Any]
    gamma: str | float
    init: Any
    n_init: int
    max_iter: int | None
    tol: float
    random_state: Any
    verbose: int
    approximation_: Approximation | None
    # Defaults of the parameters that some estimators do not offer:
    landmarks: Any = "auto"
    metric: str = "euclidean"
    search: Any = NO_SEARCH
    missing: str = "error"

    def _by_sweeps(self, context: FitContext) -> Outcome:
        """Sweep from every start, and return the best result."""
        settings = context.settings
        placed = context.placed(build_geometry(self._space_request(context, context.blocks)))
        geometry, method = context.procedure.in_its_space(placed)
        method = context.described(method)
        rows = self._rows_for(context, geometry, method.rule)
        problem = Problem(rows, method.rule, context.engine, settings.stopping)
        in_levels = settings.search.method == "hierarchical"
        if in_levels and not method.rule.is_soft:
            problem = with_few_sweeps(problem, settings.n_clusters)
        starting = problem if method.pilot is None else replace(problem, rule=method.pilot.rule)
        swept = context.prepared(
            Swept(context, geometry, problem, starting, FromStarts(method.pilot))
        )
        fewer = swept.solving.takes_fewer_starts
        init = InitContext(
            type(self).__name__, settings.n_clusters, geometry, swept.starting, at_most=fewer
        )
        if in_levels:
            first = hierarchical_starts(settings.n_init, init, settings.rng)
        else:
            first = starts(self.init, settings.n_init, init, settings.rng)
        schedule, search = self._schedule(settings, swept), self._searching(swept, settings)
        observer = self._observer(context, geometry, method)
        with self._interruptible(context, geometry, method):
            problem, best = swept.solving.best(
                Runs(first, settings.n_init, swept.problem, observer, schedule, search)
            )
        numbered_along = (
            swept.population if isinstance(self.init, str) and problem.known is None else None
        )
        result = swept.solving.conclude(best, problem, observer, numbered_along)
        return Outcome(geometry, method, certified(result, best, geometry, problem))

    def _space_request(self, context: FitContext, blocks: Blocks) -> SpaceRequest:
        settings, name, engine = context.settings, type(self).__name__, context.engine
        request = SpaceRequest(
            self,
            name,
            blocks,
            settings.n_clusters,
            settings.rng,
            engine,
            settings.kernel,
            settings.landmarks,
            settings.budget,
        )
        made = context.space is not None or context.units is not None
        return replace(request, space=context.space, units=context.units) if made else request

    def _schedule(self, settings: FitSettings, swept: Swept) -> SubsampleSchedule | None:
        """Return the subsamples to fit first; None for a given start, which uses all rows."""
        problem, progressive = swept.problem, settings.search.progressive
        few = problem.n_rows <= problem.rows.blocks.limits.subsampled_above
        if (
            few
            or not progressive
            or settings.search.method == "hierarchical"
            or not isinstance(self.init, str)
            or not problem.space.sweeps_products
        ):
            return None
        return subsample_schedule(swept.population, settings.n_clusters, settings.rng)

    def _searching(self, swept: Swept, settings: FitSettings) -> Searching | None:
        """Return the search for a better optimum; None where a start was given, whose own optimum
        is wanted, and where the clusters of some rows are known."""
        if swept.problem.known is not None:
            return None
        if settings.search.method == "annealing":
            return Annealing(swept.population, settings.rng, swept.geometry.critical_temperature)
        return self._breathing(swept, settings.search.method, settings.rng)

    def _is_searched(self, method: str | None) -> bool:
        """Return whether a search looks for a better solution than that of the starts."""
        drawn = isinstance(vars(self).get("init"), str)
        return method not in (None, "hierarchical") and (method != "auto" or drawn)

    def _breathing(
        self, rows: Geometry | Swept, method: str | None, rng: np.random.RandomState
    ) -> Breathing | None:
        """Return the search by clusters that come and go."""
        if not self._is_searched(method):
            return None
        return Breathing(rows.population, rng, thorough=method == "breathing")

    def _expected_space(
        self, settings: FitSettings, blocks: Blocks, *, most: bool
    ) -> ExpectedSpace:
        """Return the space that a fit will have, with as many landmarks as there can be or as
        few."""
        holes, c = self.missing == "partial", settings.n_clusters
        return expected_space(
            self, settings.kernel, settings.landmarks, blocks, c, holes=holes, most=most
        )

    def _expected_memory(self, context: FitContext, *, most: bool) -> MemoryPlan:
        """Return the planned memory of a fit from parameters and the shape of the rows alone;
        refused where the budget does not suffice."""
        space = self._expected_space(context.settings, context.blocks, most=most)
        rule = context.procedure.method(ExpectedRows()).rule
        return self._memory_plan(context, space, context.blocks, rule)

    def _usual_visits(
        self, procedure: Procedure, settings: FitSettings, blocks: Blocks
    ) -> tuple[int, int]:
        """Return the usual passes over all rows, and the usual visits of rows."""
        space = self._expected_space(settings, blocks, most=True)
        samples = self._sample_sizes(settings, space, blocks)
        searched = self._is_searched(settings.search.method)
        drawn = isinstance(self.init, str)
        runs = [
            size
            for stage in procedure.stages
            for size in stage.further_runs(blocks, settings.n_clusters, drawn=drawn)
        ]
        passes, visits = usual_visits(blocks.n_rows, settings, samples, searched=searched)
        further = visits_of_runs(blocks.n_rows, settings, runs)
        return passes + further[0], visits + further[1]

    def _rows_for(self, context: FitContext, geometry: Geometry, rule: Rule) -> RepresentedRows:
        """Return the represented rows of a fit, within the memory budget."""
        space, blocks = geometry.space, geometry.blocks
        memory = self._memory_plan(context, space, blocks, rule)
        rows = RepresentedRows(space, blocks, memory.for_rows, **memory.kept)
        memory_logger.info("%s: %s", type(self).__name__, memory.said_of(rows.kept_share, blocks))
        return rows

    def _remembered(self, settings: FitSettings, blocks: Blocks) -> int:
        """Bytes that the way to a solution keeps of all rows from one pass to the next."""
        return 0

    def _sample_sizes(self, settings: FitSettings, space: Space, blocks: Blocks) -> list[int]:
        """Rows of the samples that are swept before all rows."""
        if settings.search.method == "hierarchical":
            return [rows_of_hierarchy(space, blocks, settings.n_clusters)]
        drawn = isinstance(vars(self).get("init"), str) and settings.search.progressive
        few = not (drawn and space.sweeps_products)
        return [] if few else sample_sizes(blocks.n_rows, settings.n_clusters, blocks.limits)

    def _memory_plan(
        self, context: FitContext, space: Space, blocks: Blocks, rule: Rule
    ) -> MemoryPlan:
        """Return the planned memory of a fit of these rows in a space, or in one as it is
        expected."""
        settings, c = context.settings, context.settings.n_clusters
        known = memory_of(space, blocks, rule, c)
        sizes = self._sample_sizes(settings, space, blocks)
        held = space.bytes_of_rows + self._remembered(settings, blocks)
        held += sum(stage.bytes_beside(blocks, rule, c) for stage in context.procedure.stages)
        init = vars(self).get("init")
        held += of_start(blocks, OF_INIT.get(init, 0) if isinstance(init, str) else 0)
        beside = max((size for size in sizes if blocks.part_is_here(size)), default=0)
        of_sample = memory_of(space, blocks.shape_in_memory(beside), rule, c).total if beside else 0
        memory = plan(
            settings.budget,
            type(self).__name__,
            space,
            blocks,
            FitSizes(
                c,
                context.engine.n_threads,
                copied=context.given.copied,
                remembered=held + (known.total if blocks.may_keep(planned=False) else 0),
                remembered_of_sample=of_sample,
                memberships=0 if labels_tell(blocks, rule) else min(rule.most_clusters or c, c),
                numbered=rule.most_clusters is not None,
                draws=isinstance(init, str),
                samples=max(sizes, default=0),
                labelled=context.n_labelled or blocks.n_rows,
            ),
        )
        if blocks.may_keep(planned=False):
            return memory
        most = blocks.limits.bounds_bytes if settings.budget is None else memory.for_rows
        return memory.with_bounds(known, most)

    def _after_sweep(
        self, hook: SweepHook | None, geometry: Geometry, method: Method
    ) -> AfterSweep | None:
        if hook is None or not hook.listens:
            return None

        def after_sweep(rule: Rule, state: State, sweeps: int) -> bool:
            def fitted() -> dict[str, Any]:
                space, centres = geometry.portable(state.centres)
                state_there = state.at(centres)
                return {
                    **self._model_attributes(
                        geometry, replace(method, rule=rule), space, state_there
                    ),
                    "n_iter_": sweeps,
                }

            return hook.sweep_ended(fitted)

        return after_sweep

    def _model_attributes(
        self, geometry: Geometry, method: Method, space: Space, state: State
    ) -> dict[str, Any]:
        """Attributes needed for prediction, and the parameters determined by the data."""
        attributes = {**model_attributes(geometry, method.rule, space, state), **method.attributes}
        if "m" in vars(self) or "rule" in vars(self):
            attributes["m_"] = getattr(method.rule, "m", 1.0)
        return attributes

    def _observer(self, context: FitContext, geometry: Geometry, method: Method) -> Observer:
        """Return the observer of the solves of a fit."""
        after_sweep = self._after_sweep(context.hook, geometry, method)
        return Observer(
            Reporter(context.listeners),
            after_sweep,
            context.log,
            context.record,
            taker=context.taker,
            scope=context.scope,
        )

    @contextmanager
    def _interruptible(
        self, context: FitContext, geometry: Geometry, method: Method
    ) -> Iterator[None]:
        """Leave an interrupted fit with a model of its best centres so far, if there are any, which
        holds nothing of its rows."""
        try:
            yield
        except KeyboardInterrupt:
            interim = context.record.interim()
            if interim is not None:
                space, centres = geometry.portable(interim.state.centres)
                for name in (*OF_ROWS, "row_visits_"):
                    self.__dict__.pop(name, None)
                state, method = interim.state.at(centres), replace(method, rule=interim.rule)
                for name, value in self._model_attributes(geometry, method, space, state).items():
                    setattr(self, name, value)
                self.converged_ = False
                self.stop_reason_ = f"interrupted after {interim.n_iter} sweeps"
                self.n_iter_ = interim.n_iter
                self.n_clusters_, self.approximation_ = len(centres), None
                context.record.kept = True
            raise
