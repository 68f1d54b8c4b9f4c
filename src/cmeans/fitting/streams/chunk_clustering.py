"""Clustering one chunk of a stream: the geometry that its first rows determine, sweeps from starts,
and sweeps from the clusters of the past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from ...engines import Engine
from ...kernels import Kernel, LandmarkGraphKernel
from ...rules import Rule
from ...solvers.fixed_point import Carried
from ...solvers.multistart import FromStarts, Runs, best_of
from ...solvers.observer import Observer
from ...solvers.solution import Solution
from ...spaces import Space
from ...streaming import StreamSummary
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import KnownSums
from ..fit import BaseCMeans
from ..geometry import Geometry
from ..init import InitContext, starts
from ..kernel_evidence import given_kernel, settled_kernel
from ..memory import require
from ..procedure import FitSettings, Method, Swept
from ..space import estimator_graph
from ..stages.known import beside_known, with_second_moments
from .stream_state import Chunk


class ClustersChunks(BaseCMeans):
    """Base of estimators that cluster a chunk's rows."""

    def _geometry(self, chunk: Chunk, space_of: Callable[[Kernel], Space]) -> Geometry:
        """Return the kernel determined by the first rows, and the space made with it."""
        estimator_name, blocks = type(self).__name__, chunk.blocks
        n_clusters = chunk.context.settings.n_clusters
        given, engine = chunk.context.settings.kernel, chunk.context.engine
        kernel, gamma = settled_kernel(given, self, estimator_name, blocks, engine)
        geometry = Geometry(blocks, kernel, space_of(kernel), n_clusters, gamma)
        geometry.complain(estimator_name)
        return geometry

    def _graph(self, chunk: Chunk) -> LandmarkGraphKernel:
        """Return the graph of the first rows, in which all later ones are embedded."""
        landmarks = chunk.context.settings.landmarks
        if landmarks.count is not None:  # at most: there will be more of them with more rows
            landmarks = replace(
                landmarks, number=max(min(landmarks.count, chunk.blocks.n_rows // 2), 1)
            )
        request = replace(
            self._space_request(chunk.context, chunk.blocks),
            landmarks=landmarks,
            rng=chunk.rng("landmarks"),
        )
        return cast(LandmarkGraphKernel, estimator_graph(request).kernel)

    def _later_geometry(self, chunk: Chunk, space: Space) -> Geometry:
        """Return the geometry of a further chunk in its space."""
        return Geometry(
            chunk.blocks,
            space.kernel,
            space,
            chunk.context.settings.n_clusters,
            getattr(space.kernel, "gamma", None),
        )

    def _found(self, chunk: Chunk, geometry: Geometry, method: Method) -> tuple[Problem, Solution]:
        """Return the best of the starts on a first chunk, and the problem with the rule that it
        leads to."""
        problem = self._chunk_problem(chunk, geometry, method.rule)
        settings = chunk.context.settings
        init_context = InitContext(type(self).__name__, settings.n_clusters, geometry, problem)
        first = starts(self.init, settings.n_init, init_context, chunk.rng("start"))
        observer = self._chunk_observer(chunk, geometry, method.rule)
        if problem.known is None:
            search = self._breathing(geometry, settings.search.method, chunk.rng("search"))
        else:
            search = None
        swept = self._prepared(chunk, geometry, problem, method)
        if swept is None:
            best = best_of(first, settings.n_init, problem, observer, stage="chunk", search=search)
        else:
            problem, best = swept.solving.best(
                Runs(first, settings.n_init, swept.problem, observer, search=search)
            )
        return problem, replace(best.solution, row_visits=best.row_visits)

    def _prepared(
        self, chunk: Chunk, geometry: Geometry, problem: Problem, method: Method
    ) -> Swept | None:
        """Return the problem of a first chunk and the way to solve it, prepared by the stages that
        parameters ask for; None: sweeps from every start."""
        settings = replace(chunk.context.settings, rng=chunk.rng("start"))
        context, solving = replace(chunk.context, settings=settings), FromStarts(method.pilot)
        swept = Swept(context, geometry, problem, problem, solving)
        for stage in context.procedure.stages:
            swept = stage.prepare(swept)
        return None if swept.solving is solving and method.pilot is None else swept

    def _followed(
        self,
        chunk: Chunk,
        geometry: Geometry,
        rule: Rule,
        past: StreamSummary,
        carried: Carried | None = None,
    ) -> tuple[Problem, Solution]:
        """Cluster a further chunk from the clusters of the past, with the sums of the chunks
        before it."""
        problem = self._chunk_problem(chunk, geometry, rule)
        problem = replace(problem, known=as_of(past.state, problem.known, problem.engine))
        return past.followed(problem, self._chunk_observer(chunk, geometry, rule), carried)

    def _chunk_problem(self, chunk: Chunk, geometry: Geometry, rule: Rule) -> Problem:
        settings, engine = chunk.context.settings, chunk.context.engine
        rows = self._rows_for(chunk.context.over(geometry.blocks, engine), geometry, rule)
        return beside_known(Problem(rows, rule, engine, settings.stopping), settings.n_clusters)

    def _chunk_observer(self, chunk: Chunk, geometry: Geometry, rule: Rule) -> Observer:
        return Observer(
            chunk.reporter, self._after_sweep(chunk.context.hook, geometry, Method(rule))
        )

    def _require_square(self, settings: FitSettings, n_rows: int, word: str) -> None:
        """Refuse a chunk whose kernel matrix does not fit in memory."""
        advice = f"their kernel matrix is factored; take a smaller {word}"
        require(
            settings.budget,
            type(self).__name__,
            3 * 8 * n_rows**2,
            f"{n_rows} rows at once",
            advice,
        )

    def _method(self, geometry: Geometry) -> Method:
        return self._procedure().method(geometry)

    def _makes_graph(self) -> bool:
        """Return True where a graph is to be made of the first rows."""
        kernel = given_kernel(self, type(self).__name__)
        return kernel.over_landmarks and not kernel.is_made


def as_of(state: State, known: KnownSums | None, engine: Engine) -> KnownSums | None:
    """Return what is known of rows as clusters of a state need it."""
    if state.metrics is None:
        return known
    return with_second_moments(known, engine, diagonal=state.metrics.are_diagonal)
