"""The state of a stream after a further chunk: rows that wait for others, the numbers of clusters,
and what is carried on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from ...data.arrays import Float64
from ...data.blocks import Blocks
from ...data.known_labels import known_of
from ...data.precision import numpy_dtype
from ...engines import Engine
from ...runtime.progress import Reporter
from ...sampling.population import population_of
from ...solvers.multistart import by_decreasing_mass
from ..procedure import FitContext, FitSettings
from .chunk_clustering import ClustersChunks
from .chunks import (
    like_first,
    memberships,
    renumbered,
    with_weight,
)
from .numbering import numbers_of_labels, tied_numbers
from .stream_state import Chunk, ChunkResult, EarlyRows, StreamState, WarmupBuffer


class AbsorbsChunks(ClustersChunks):
    """Base of estimators whose state each chunk changes; subclasses define how they cluster it."""

    @abstractmethod
    def _begin(self, chunk: Chunk) -> ChunkResult:
        """Cluster the first chunk."""

    @abstractmethod
    def _go_on(self, stream: StreamState, chunk: Chunk) -> ChunkResult:
        """Cluster a further chunk."""

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
