"""Base class of estimators of streams: chunks in, the state of a stream and outputs for a chunk's
rows out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...data.arrays import Float64, is_foreign, numpy_dtype
from ...data.blocks import Blocks
from ...data.known_labels import free_part, known_of
from ...engines import ChunkedRows, Engine
from ...engines.base import Span
from ...kernels import Kernel, LandmarkGraphKernel
from ...rules import Rule
from ...runtime.callbacks import logger, verbose_log
from ...runtime.progress import Reporter, current_listeners
from ...runtime.user_warnings import warn
from ...sampling.population import population_of
from ...solvers.checkpoints import CheckpointLog
from ...solvers.fixed_point import Carried
from ...solvers.multistart import FitResult, FromStarts, Runs, best_of, by_decreasing_mass
from ...solvers.observer import FitRecord, Observer
from ...solvers.solution import Solution
from ...spaces import Space
from ...storage.codec import Packer
from ...streaming import StreamSummary
from ...sweeps.final_pass import assign_all
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.state import State
from ...sweeps.statistics import KnownSums
from ..attribute_names import OF_ROWS, restored_on_failure
from ..covariance import Covariance, CovarianceName
from ..fit import BaseCMeans
from ..fit_plan import SWEEPS_AFTER_SAMPLES, usual_visits
from ..fitted_attributes import centre_attributes
from ..geometry import Geometry
from ..init import InitContext, starts
from ..kernel_evidence import given_kernel, settled_kernel
from ..memory import MemoryPlan, require
from ..procedure import FitContext, FitSettings, Method, Outcome, Procedure, Swept, method_of
from ..result_warnings import fallen_centres, warn_of_rows
from ..rows.out_of_range import refuse_overflow
from ..space import estimator_graph
from ..stages.known import beside_known, sums_of_known, with_second_moments
from ..stretched import stretched
from ..validation import read_rows, weights_of
from .chunks import (
    cut,
    like_first,
    memberships,
    new_seed,
    of_all_chunks,
    reason_of_chunk,
    refuse_kernel_values,
    renumbered,
    warn_of_loss,
    with_weight,
)
from .each_chunk import EachChunk
from .no_rows import has_no_rows, of_no_cluster, refuse_other_width
from .numbering import numbers_of_labels, tied_numbers
from .stream_rule import stream_rule
from .stream_state import Chunk, ChunkResult, EarlyRows, FitSummary, StreamState, WarmupBuffer

OF_SWEEPS = ("n_iter_", "converged_", "stop_reason_")


class StreamingBase(BaseCMeans):
    """Base of streaming estimators: `fit` cuts rows into chunks, `partial_fit` takes one;
    subclasses define how to cluster a chunk."""

    rule: str | Rule
    m: Literal["auto"] | float
    noise: Literal["auto"] | float | None = None
    covariance: CovarianceName | Covariance | None = None
    _stream: StreamState
    _answers_no_rows = True
    _takes = frozenset[str]()
    _is_bounded = False
    _too_few = (
        "the first rows are fewer than the clusters, n_samples={n}; start with a larger "
        "chunk, or take fewer clusters."
    )

    @abstractmethod
    def _begin(self, chunk: Chunk) -> ChunkResult:
        """Cluster the first chunk."""

    @abstractmethod
    def _go_on(self, stream: StreamState, chunk: Chunk) -> ChunkResult:
        """Cluster a further chunk."""

    @abstractmethod
    def _rows_at_once(self, estimator_name: str) -> int:
        """Maximal number of rows that `fit` takes at a time."""

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        refuse_kernel_values(self.kernel, name)
        rule = stream_rule(self, name)
        plain = Procedure(partial(method_of, rule), self._by_chunks)
        return stretched(plain, self.covariance, rule, name)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        known_labels: Any = None,
        label_strength: Any = None,
    ) -> Self:
        """Cluster the next rows of a stream together with what is kept of those before.

        `labels_`, `memberships_` and `objective_` are then those of these rows, of a chunk without
        rows empty. Where rows are held until there are enough to begin with (`warm_up`), those that
        come before there are as many as clusters have the label -1. A chunk that is refused leaves
        everything as it was.

        Parameters
        ----------
        X : (n, d) rows, as `fit` takes them; where none are held, the first chunk needs at least
            n_clusters of them.
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
        known_labels, label_strength : as for `fit`, of these rows. The first time that rows of a
            label come, the cluster to which most of them belong takes its number, unless that is a
            label's already; from then on it keeps it. `StreamingFuzzyCMeans` only.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, rows or weights, naming the argument, what came and what to do.
        """
        with restored_on_failure(self, FitRecord()):
            return self._take(
                X, sample_weight, known_labels=known_labels, label_strength=label_strength
            )

    def _checkpoint_log(self, context: FitContext, blocks: Blocks) -> CheckpointLog | None:
        """Refuse what would not go on as it is: the state of a stream holds its kernel, and rows as
        arrays of NumPy or CSR."""
        engine = self._engine_of(blocks.x)
        if engine.checkpoint is not None:
            name = f"{type(self).__name__}(engine={type(engine).__name__}(checkpoint=))"
            try:
                Packer().encode(context.settings.kernel, "kernel")
            except ValueError:
                wanted = "take the library's, or no checkpoint"
                raise ValueError(
                    f"{name}: no file can hold kernel={self.kernel!r}; {wanted}."
                ) from None
            if is_foreign(blocks.x):
                raise ValueError(
                    f"{name}: a file holds rows of NumPy alone; give those, or no checkpoint."
                )
        return super()._checkpoint_log(context, blocks)

    def _take(self, X: Any, sample_weight: Any, **told: Any) -> Self:
        estimator_name = type(self).__name__
        stream = vars(self).get("_stream")
        procedure, settings = self._checked()
        early = vars(self).get("_early")
        if has_no_rows(X):
            refuse_other_width(self, X)
            self._keep_no_clusters(
                X, 0, settings.n_clusters, "float64" if stream is None else stream.dtype
            )
            return self
        begins = stream is None and early is None
        given = read_rows(self, X, fitting=begins)
        if begins:
            given.name_columns(self)
        blocks = self._blocks(given.x, *weights_of(given, sample_weight, estimator_name))
        with verbose_log(self.verbose, estimator_name, self.tol), self._engine(blocks) as engine:
            context = FitContext(
                self, procedure, settings, given, blocks, engine, listeners=current_listeners()
            )
            for stage in self._stages(procedure, settings, blocks, **told):
                context = stage.settle(context)
            if stream is None:
                rows = context.blocks if early is None else early.before(context.blocks)
                enough = self._rows_to_begin_with(settings, rows)
                if rows.n_rows < settings.n_clusters <= enough:
                    refuse_overflow(context.blocks, engine)
                    self._keep_no_clusters(
                        given.x, blocks.n_rows, settings.n_clusters, numpy_dtype(rows.x)
                    )
                    self._early = EarlyRows.of(rows, 1 if early is None else early.n_chunks + 1)
                    return self
                n_clusters = self._clusters_for(procedure, settings.n_clusters, rows.n_rows)
                context = replace(context, settings=replace(settings, n_clusters=n_clusters))
            reporter = Reporter(
                context.listeners, f"chunk {1 if stream is None else stream.n_chunks + 1}"
            )
            begun, lay_apart = stream is None, stream is not None and stream.held is None
            seed = new_seed(settings) if stream is None else stream.seed
            stream, absorbed = self._absorb(stream, context, reporter, seed, early)
            result = self._result_of(
                absorbed.rows, replace(context, blocks=absorbed.geometry.blocks), absorbed, stream
            )
            self._keep(absorbed.geometry, Method(absorbed.rule), result, absorbed.geometry.blocks)
            self._keep_stream(stream, absorbed.loss)
            if self.verbose:
                logger.info(
                    "%s: chunk %d: %s, objective %.8g",
                    estimator_name,
                    stream.n_chunks,
                    self.stop_reason_,
                    self.objective_,
                )
            warn_of_rows(absorbed.geometry, result, estimator_name)
            self._warn_of_fallen(fallen_centres(absorbed.geometry, result, lay_apart=lay_apart))
            # later chunks are swept without the stages, which have settled what they are swept by
            for stage in context.stages[: len(procedure.stages)] if begun else ():
                stage.restore(Outcome(absorbed.geometry, Method(absorbed.rule), result))
        warn_of_loss(self.projection_loss_, estimator_name)
        return self

    def _expected_memory(self, context: FitContext, *, most: bool) -> MemoryPlan:
        """Return the planned memory of one chunk, with the results of all rows."""
        rows = min(self._rows_at_once(type(self).__name__), context.blocks.n_rows)
        chunk = context.over(context.blocks.between(0, rows), context.engine)
        return super()._expected_memory(replace(chunk, n_labelled=context.blocks.n_rows), most=most)

    def _usual_visits(
        self, procedure: Procedure, settings: FitSettings, blocks: Blocks
    ) -> tuple[int, int]:
        n = blocks.n_rows
        first = min(self._rows_at_once(type(self).__name__), n)
        searched = self._is_searched(settings.search.method)
        _, visits = usual_visits(first, settings, [], searched=searched)
        return 2, visits + SWEEPS_AFTER_SAMPLES * (n - first)

    def _by_chunks(self, context: FitContext) -> Outcome:
        estimator_name, blocks, settings = type(self).__name__, context.blocks, context.settings
        spans = cut(blocks, self._rows_at_once(estimator_name), settings.n_clusters)
        summary = self._summed_up(spans, context)
        result = self._result_of(None, context, summary.last, summary.stream)
        if len(spans) > 1 and not summary.last.solution.ended:
            result = of_all_chunks(result, settings, summary)
        self._keep_stream(summary.stream, summary.loss)
        warn_of_loss(self.projection_loss_, estimator_name)
        return Outcome(replace(summary.last.geometry, blocks=blocks), Method(result.rule), result)

    def _summed_up(self, spans: list[Span], context: FitContext) -> FitSummary:
        """Cluster all chunks, one after the other, those before the last only where a checkpoint
        has not kept them."""
        section, seed = context.section("chunks"), new_seed(context.settings)
        if section.found is None:
            found = None
        else:
            found = FitSummary(*(section.found[name] for name in ("stream", "loss", "fell_short")))
        summary, done = found, 0 if found is None else found.stream.n_chunks
        chunks = ChunkedRows(context.blocks, spans[done:], range(done, len(spans)))
        each = EachChunk(
            context,
            partial(type(self)._after, seed=seed, n_chunks=len(spans)),
            partial(self._told, spans=spans, context=context),
        )
        with context.kept_in_checkpoint():
            for summary, _ in context.engine.follow(chunks, each, found):
                before, done = done, summary.stream.n_chunks
                if summary.last.solution.ended:
                    break
                if done < len(spans):  # after the last, its sweeps would be missing
                    section.note(summary.packed, done - before)
        assert summary is not None, "some row has weight"
        return summary

    def _after(
        self,
        context: FitContext,
        before: FitSummary | None,
        blocks: Blocks,
        engine: Engine,
        *,
        seed: int,
        n_chunks: int,
    ) -> FitSummary:
        """Return the summary of a fit after a further chunk: the step of a stream."""
        stream = None if before is None else before.stream
        reporter = Reporter(
            context.listeners, "chunk", 0 if stream is None else stream.n_chunks, n_chunks
        )
        return FitSummary.after(
            before, *self._absorb(stream, context.over(blocks, engine), reporter, seed)
        )

    def _told(self, summary: FitSummary, spans: list[Span], context: FitContext) -> FitSummary:
        """Report the last of some chunks that were clustered on other machines, as its last sweep;
        callbacks may end the fit there."""
        absorbed, number = summary.last, summary.stream.n_chunks - 1
        solution, n_rows = absorbed.solution, spans[number][1] - spans[number][0]
        reporter = Reporter(context.listeners, "chunk", number, len(spans))
        max_iter = context.settings.stopping.max_iter
        reporter.emit(
            reporter.stage,
            solution.n_iter,
            max_iter,
            n_rows,
            n_rows,
            solution.history[-1] / summary.stream.unit,
        )
        after = self._after_sweep(context.hook, absorbed.geometry, Method(absorbed.rule))
        if after is not None and after(absorbed.rule, absorbed.past.state, solution.n_iter):
            return replace(
                summary,
                absorbed=replace(absorbed, solution=replace(solution, converged=False, ended=True)),
            )
        return summary

    def _absorb(
        self,
        stream: StreamState | None,
        context: FitContext,
        reporter: Reporter,
        seed: int,
        early: EarlyRows | None = None,
    ) -> tuple[StreamState, ChunkResult]:
        """Return the stream after a further chunk; `seed` is that of a new one, which `early` rows
        have been waiting for."""
        blocks = context.blocks.in_memory()
        held = None if stream is None else stream.held
        if stream is None:
            blocks, held = (blocks, None) if early is None else (early.alike(blocks), early.buffer)
            unit, dtype = blocks.unit, np.dtype(numpy_dtype(blocks.x)).name
            number, before, visits = (
                (0, 0, 0) if early is None else (early.n_chunks, early.n_rows, 0)
            )
        else:
            seed, unit, dtype = stream.seed, stream.unit, stream.dtype
            number, before, visits = stream.n_chunks, stream.n_samples, stream.row_visits
            blocks = replace(
                blocks,
                x=like_first(blocks.x, stream),
                weight=blocks.weight * (blocks.unit / unit),
                unit=unit,
            )
        seen = before + blocks.n_rows
        rows = blocks if held is None else held.before(blocks)
        if isinstance(self.init, str) or stream is not None:
            rows = with_weight(rows)
        chunk = Chunk(replace(context, blocks=rows), seed, number, reporter)
        enough = self._rows_to_begin_with(context.settings, rows)
        known = known_of(rows)
        held, tied = None, tied_numbers(stream, known)
        if stream is None or stream.held is not None:
            absorbed = self._begin(chunk)
            if stream is None:
                absorbed = (
                    self._numbered(absorbed, rows, context.engine) if known is None else absorbed
                )
            else:
                absorbed = renumbered(absorbed, stream, known, context.engine)
            held = WarmupBuffer.of(rows) if rows.n_rows < enough else None
        else:
            order = numbers_of_labels(
                stream,
                rows,
                lambda part: memberships(stream.past, stream.rule, part, context.engine),
            )
            absorbed = self._go_on(replace(stream, past=stream.past[order]), chunk)
        absorbed.past.refuse_overflow(dtype)
        if absorbed.geometry.blocks is not blocks:
            geometry = replace(absorbed.geometry, blocks=blocks, former=None)
            absorbed = replace(absorbed, geometry=geometry, rows=None)
        visits += absorbed.solution.row_visits
        counts = number + 1, seen, visits
        return StreamState(
            absorbed.past, absorbed.rule, seed, unit, dtype, *counts, absorbed.reserve, held, tied
        ), absorbed

    def _numbered(self, absorbed: ChunkResult, rows: Blocks, engine: Engine) -> ChunkResult:
        """Number the clusters of the rows of a first chunk by decreasing mass, unless a start was
        given."""
        if not isinstance(self.init, str):
            return absorbed
        past = absorbed.past

        def first_places() -> Float64:
            labels = memberships(past, absorbed.rule, rows, engine).argmax(axis=1)
            return population_of(rows).first_places(labels, len(past.mass))

        return replace(
            absorbed, past=past[by_decreasing_mass(past.mass, past.centres, first_places)]
        )

    def _rows_to_begin_with(self, settings: FitSettings, rows: Blocks) -> int:
        """Number of rows to hold before the first of them, of which `rows` are some, are
        released."""
        return 0

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
        problem = replace(problem, known=_as_of(past.state, problem.known, problem.engine))
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

    def _result_of(
        self,
        rows: RepresentedRows | None,
        context: FitContext,
        absorbed: ChunkResult,
        stream: StreamState,
    ) -> FitResult:
        """Return the fit result of the centres for rows, in the form that the model keeps."""
        past = absorbed.past
        rule = absorbed.rule
        solution = absorbed.solution
        blocks = context.blocks
        space, state = past.portable_state
        if rows is None:
            rows = RepresentedRows(space, free_part(blocks), 0, training=False)
        assignment = assign_all(
            rows, space, rule, state, context.engine, Reporter(context.listeners), here=False
        )
        whole = RepresentedRows(space, blocks, 0)
        known = sums_of_known(whole, len(state.centres), context.engine)
        known = _as_of(state, known, context.engine)
        if known is not None:
            assignment = assignment.with_sums(known.final(rule, state), blocks.unit)
        return FitResult(
            solution,
            solution.history,
            reason_of_chunk(solution, context.settings),
            assignment,
            space,
            state,
            rule,
            (assignment.mass > 0) | (past.mass > 0),
            stream.row_visits + blocks.n_rows,
        )

    def _warn_of_fallen(self, fallen: str | None) -> None:
        """Warn once of a stream's centres that have fallen together."""
        if fallen is not None and "_has_fallen" not in vars(self):
            self._has_fallen = True
            warn(f"{type(self).__name__}: {fallen}", ConvergenceWarning)

    def _keep_no_clusters(self, X: Any, n_rows: int, n_clusters: int, dtype: Any) -> None:
        """Keep the attributes of rows that are in no cluster yet, or are none."""
        for name, value in of_no_cluster(X, n_rows, n_clusters, dtype).items():
            if name in vars(self) or name in ("labels_", "memberships_"):
                setattr(self, name, value)
        self.objective_ = 0.0

    def _keep_stream(self, stream: StreamState, loss: Float64 | None) -> None:
        self._stream = stream
        self.__dict__.pop("_early", None)
        self.n_samples_seen_ = stream.n_samples
        self.n_chunks_ = stream.n_chunks
        self.mass_ = stream.past.mass * stream.unit
        self.projection_loss_ = np.zeros(len(stream.past.mass)) if loss is None else loss

    def _keep_without_rows(self, stream: StreamState) -> None:
        """Keep a stream that has changed without rows: attributes of the last rows are removed."""
        space, state = stream.past.portable_state
        self.__dict__.update(centre_attributes(stream.rule, space, state))
        self.n_landmarks_ = stream.past.space.n_landmarks
        if (points := space.as_points(state.centres)) is not None:
            self.cluster_centers_ = points.astype(stream.dtype)
        for name in (*OF_ROWS, *OF_SWEEPS):
            self.__dict__.pop(name, None)
        self.n_clusters_ = int(np.count_nonzero(stream.past.mass > 0))
        self._keep_stream(stream, None)


def _as_of(state: State, known: KnownSums | None, engine: Engine) -> KnownSums | None:
    """Return what is known of rows as clusters of a state need it."""
    if state.metrics is None:
        return known
    return with_second_moments(known, engine, diagonal=state.metrics.are_diagonal)
