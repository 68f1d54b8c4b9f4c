"""Base class of estimators of streams: chunks in, the state of a stream and outputs for a chunk's
rows out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...data.arrays import Float64, is_foreign
from ...data.blocks import Blocks
from ...data.known_labels import free_part
from ...data.precision import numpy_dtype
from ...engines import ChunkedRows, Engine
from ...engines.base import Span
from ...rules import Rule
from ...runtime.callbacks import logger, verbose_log
from ...runtime.progress import Reporter, current_listeners
from ...runtime.user_warnings import warn
from ...solvers.checkpoints import CheckpointLog
from ...solvers.multistart import FitResult
from ...solvers.observer import FitRecord
from ...storage.codec import Packer
from ...sweeps.final_pass import assign_all
from ...sweeps.represented_rows import RepresentedRows
from ..attribute_names import OF_ROWS, restored_on_failure
from ..covariance import Covariance, CovarianceName
from ..fit_plan import SWEEPS_AFTER_SAMPLES, usual_visits
from ..fitted_attributes import centre_attributes
from ..memory import MemoryPlan
from ..procedure import FitContext, FitSettings, Method, Outcome, Procedure, method_of
from ..result_warnings import fallen_centres, warn_of_rows
from ..rows.out_of_range import refuse_overflow
from ..stages.known import sums_of_known
from ..stretched import stretched
from ..validation import read_rows
from ..weights import weights_of
from .chunk_absorbing import AbsorbsChunks
from .chunk_clustering import as_of
from .chunks import (
    cut,
    new_seed,
    of_all_chunks,
    reason_of_chunk,
    refuse_kernel_values,
    warn_of_loss,
)
from .each_chunk import EachChunk
from .no_rows import has_no_rows, of_no_cluster, refuse_other_width
from .stream_rule import stream_rule
from .stream_state import ChunkResult, EarlyRows, FitSummary, StreamState

OF_SWEEPS = ("n_iter_", "converged_", "stop_reason_")


class StreamingBase(AbsorbsChunks):
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
        known = as_of(state, known, context.engine)
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
