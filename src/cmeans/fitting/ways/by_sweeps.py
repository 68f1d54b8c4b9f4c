"""The way from rows to a solution: their space, what is kept of them within the memory budget,
starts, search, and the solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ...data.arrays import itemsize, numpy_dtype
from ...data.blocks import Blocks
from ...kernels import Kernel
from ...landmarks.certificate import Approximation
from ...rules import Rule
from ...runtime.callbacks import SweepHook, memory_logger
from ...runtime.progress import Reporter
from ...solvers.annealing import Annealing
from ...solvers.multistart import FromStarts, Runs
from ...solvers.observer import AfterSweep, Observer
from ...solvers.search import Breathing, Searching
from ...solvers.subsampling import SubsampleSchedule, sample_sizes, subsample_schedule
from ...spaces import Space
from ...sweeps.choice import memory_of
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.state import State
from ..fitted_attributes import OF_ROWS, certified, model_attributes
from ..geometry import Geometry
from ..init import InitContext, starts
from ..memory import MemoryPlan, of_start, plan
from ..procedure import FitContext, FitSettings, Method, Outcome, Swept
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
        settings, placed = (
            context.settings,
            context.placed(build_geometry(self._space_request(context, context.blocks))),
        )
        geometry, method = context.procedure.in_its_space(placed)
        method = context.described(method)
        rows = self._rows_for(context, geometry, method.rule)
        problem = Problem(rows, method.rule, context.engine, settings.stopping)
        starting = problem if method.pilot is None else replace(problem, rule=method.pilot.rule)
        swept = context.prepared(
            Swept(context, geometry, problem, starting, FromStarts(method.pilot))
        )
        fewer = swept.solving.takes_fewer_starts
        init = InitContext(
            type(self).__name__, settings.n_clusters, geometry, swept.starting, at_most=fewer
        )
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

    def _breathing(
        self, rows: Geometry | Swept, method: str | None, rng: np.random.RandomState
    ) -> Breathing | None:
        """Return the search by clusters that come and go."""
        if method is None or (method == "auto" and not isinstance(self.init, str)):
            return None
        return Breathing(rows.population, rng, thorough=method == "breathing")

    def _rows_for(
        self, context: FitContext, geometry: Geometry, rule: Rule, remembered: int = 0
    ) -> RepresentedRows:
        """Return the represented rows of a fit, within the memory budget."""
        space, blocks, c = geometry.space, geometry.blocks, context.settings.n_clusters
        known, unplanned = memory_of(space, blocks, rule, c), blocks.may_keep(planned=False)
        remembered += space.bytes_of_rows + (
            known.total
            if unplanned
            else self._known_of_sample(context.settings, space, blocks, rule)
        )
        if isinstance(init := vars(self).get("init"), str):
            remembered += of_start(blocks, OF_INIT.get(init, 0))
        memory = self._memory_plan(context, space, blocks, remembered, rule.most_clusters)
        if not unplanned:
            memory = memory.with_bounds(
                known,
                blocks.limits.bounds_bytes if context.settings.budget is None else memory.for_rows,
            )
        rows = RepresentedRows(space, blocks, memory.for_rows, **memory.kept)
        memory_logger.info("%s: %s", type(self).__name__, memory.said_of(rows.kept_share, blocks))
        return rows

    def _known_of_sample(
        self, settings: FitSettings, space: Space, blocks: Blocks, rule: Rule
    ) -> int:
        """Bytes that sweeps remember of the largest sample of stored rows that is in memory,
        whatever they remember of all rows."""
        d, n_clusters = int(blocks.x.shape[1]), settings.n_clusters
        sizes = (
            sample_sizes(blocks.n_rows, n_clusters, blocks.limits)
            if settings.search.progressive
            else []
        )
        size = max(
            (size for size in sizes if size * d * itemsize(blocks.x) <= blocks.limits.array_bytes),
            default=0,
        )
        # which takes no memory
        like = np.broadcast_to(np.zeros(1, numpy_dtype(blocks.x)), (size, d))
        return memory_of(space, replace(blocks, x=like), rule, n_clusters).total if size else 0

    def _memory_plan(
        self,
        context: FitContext,
        space: Space,
        blocks: Blocks,
        remembered: int = 0,
        most: int | None = None,
    ) -> MemoryPlan:
        return plan(
            context.settings.budget,
            type(self).__name__,
            space,
            blocks,
            n_clusters=context.settings.n_clusters,
            itemsize=itemsize(context.given.x),
            n_threads=context.engine.n_threads,
            copied=context.given.copied,
            remembered=remembered,
            most_clusters=most,
        )

    def _after_sweep(
        self, hook: SweepHook | None, geometry: Geometry, method: Method
    ) -> AfterSweep | None:
        if hook is None or not hook.listens:
            return None

        def after_sweep(rule: Rule, state: State, sweeps: int) -> bool:
            def fitted() -> dict[str, Any]:
                space, centres = geometry.portable(state.centres)
                state_there = State(centres, state.scales)
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
                state, method = (
                    State(centres, interim.state.scales),
                    replace(method, rule=interim.rule),
                )
                for name, value in self._model_attributes(geometry, method, space, state).items():
                    setattr(self, name, value)
                self.converged_, self.stop_reason_, self.n_iter_ = (
                    False,
                    f"interrupted after {interim.n_iter} sweeps",
                    interim.n_iter,
                )
                self.n_clusters_, self.approximation_ = len(centres), None
                context.record.kept = True
            raise
