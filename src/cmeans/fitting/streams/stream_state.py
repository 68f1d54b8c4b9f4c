"""State of a stream, its chunks and their results."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...data.arrays import Array, Float64, IntArray, in_form_of, in_type_of, stacked
from ...data.blocks import Blocks
from ...data.known_labels import KnownLabels, known_of, with_known
from ...rules import Rule
from ...runtime.progress import Reporter
from ...runtime.stored_classes import stored
from ...solvers.checkpoints import Packed
from ...solvers.solution import Solution
from ...streaming import LandmarkCandidates, StreamSummary
from ...sweeps.represented_rows import RepresentedRows
from ..geometry import Geometry
from ..procedure import FitContext

PURPOSES = ("start", "landmarks", "search")


@stored
@dataclass(frozen=True)
class WarmupBuffer:
    """Rows that are kept until the warm-up ends."""

    x: Array  # (n, d)
    weight: Float64  # (n,)
    labels: IntArray | None = None  # (n,) known ones, where there are any
    strength: Float64 | None = None  # (n,) of them

    def __post_init__(self) -> None:
        if (
            self.x.ndim != 2
            or self.weight.shape != (self.x.shape[0],)
            or not (self.weight >= 0).all()
        ):
            raise ValueError(
                f"WarmupBuffer: weights {self.weight.shape} do not fit rows {tuple(self.x.shape)}, "
                "or are negative"
            )
        if any(
            part is not None and part.shape != self.weight.shape
            for part in (self.labels, self.strength)
        ):
            raise ValueError(f"WarmupBuffer: known labels do not fit {self.x.shape[0]} rows")
        if self.strength is not None and not ((self.strength >= 0) & (self.strength <= 1)).all():
            raise ValueError("WarmupBuffer: strengths of labels are no shares")

    @classmethod
    def of(cls, rows: Blocks) -> WarmupBuffer:
        """Return rows to be kept."""
        x = np.ascontiguousarray(rows.x) if isinstance(rows.x, np.ndarray) else rows.x
        known = known_of(rows)
        if known is None:
            return cls(x, rows.weight)
        return cls(x, rows.weight, known.labels, known.strength)

    def before(self, blocks: Blocks) -> Blocks:
        """Return these rows followed by `blocks`."""
        known, here = self.known, known_of(blocks)
        if known is not None or here is not None:
            known = (known or KnownLabels.of_nothing(len(self.weight))) + (
                here or KnownLabels.of_nothing(blocks.n_rows)
            )
        rows = replace(
            blocks, x=stacked(self.x, blocks.x), weight=np.concatenate([self.weight, blocks.weight])
        )
        return with_known(rows, known)

    @property
    def known(self) -> KnownLabels | None:
        """Known labels of the rows."""
        if self.labels is None or self.strength is None:
            return None
        return KnownLabels(self.labels, self.strength)


@dataclass(frozen=True)
class EarlyRows:
    """Rows of a stream that has not begun, as they are fewer than its clusters."""

    buffer: WarmupBuffer
    unit: float  # what a weight of 1 stands for in the user's weights
    n_chunks: int

    @classmethod
    def of(cls, rows: Blocks, n_chunks: int) -> EarlyRows:
        return cls(WarmupBuffer.of(rows), rows.unit, n_chunks)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.buffer.weight)

    def alike(self, blocks: Blocks) -> Blocks:
        """Return further rows in the float type and the unit of weight of these."""
        x = in_type_of(in_form_of(blocks.x, self.buffer.x), self.buffer.x)
        return replace(
            blocks, x=x, weight=blocks.weight * (blocks.unit / self.unit), unit=self.unit
        )

    def before(self, blocks: Blocks) -> Blocks:
        """Return these rows followed by further ones."""
        return self.buffer.before(self.alike(blocks))


@stored
@dataclass(frozen=True)
class StreamState:
    """State of a stream: all that the next chunk needs of those before it."""

    past: StreamSummary
    rule: Rule
    seed: int  # of the random draws in any chunk
    unit: float  # what a weight of 1 in `past` stands for in the user's weights
    dtype: str  # of the first chunk's rows, and so of all
    n_chunks: int = 0
    n_samples: int = 0
    row_visits: int = 0
    reserve: LandmarkCandidates | None = None  # landmarks that may still be chosen
    held: WarmupBuffer | None = None  # the first rows, until there are enough of them to begin with
    # numbers of clusters that are those of known labels, where there are any
    tied: IntArray | None = None

    def __post_init__(self) -> None:
        counts = (self.n_chunks, self.n_samples, self.row_visits)
        if (
            self.dtype not in ("float32", "float64")
            or not self.unit > 0
            or not 0 <= self.seed < 2**32
        ):
            raise ValueError(
                f"StreamState: dtype {self.dtype!r}, unit {self.unit} or seed {self.seed} are none "
                "of a stream"
            )
        if any(not 0 <= count < 2**53 for count in counts):
            raise ValueError(f"StreamState: counts of {counts}")
        for numbers in (self.tied, None if self.held is None else self.held.labels):
            if (
                numbers is not None
                and not ((numbers >= -1) & (numbers < len(self.past.mass))).all()
            ):
                raise ValueError(
                    f"StreamState: labels of {len(self.past.mass)} clusters are none of them"
                )
        if self.held is not None and str(self.held.x.dtype).rpartition(".")[2] != self.dtype:
            raise ValueError(
                f"StreamState: rows of {self.held.x.dtype} are held in a stream of {self.dtype}"
            )


@dataclass(frozen=True)
class Chunk:
    """Some rows, and the context for clustering them."""

    context: FitContext  # its blocks are the rows
    seed: int
    number: int
    reporter: Reporter

    @property
    def blocks(self) -> Blocks:
        """The rows."""
        return self.context.blocks

    def over(self, blocks: Blocks) -> Chunk:
        """The same chunk with other rows."""
        return replace(self, context=replace(self.context, blocks=blocks))

    def rng(self, purpose: str) -> np.random.RandomState:
        """Random generator for a purpose: the same in every method, also after a stream was stopped
        and resumed."""
        return np.random.RandomState([self.seed, self.number, PURPOSES.index(purpose)])


@dataclass(frozen=True)
class ChunkResult:
    """State of a stream after a chunk, and the chunk's results."""

    geometry: Geometry
    past: StreamSummary
    rule: Rule
    solution: Solution
    # the chunk's rows, where they are represented over the basis of `past` already
    rows: RepresentedRows | None = None
    # (c,) share of each centre's squared norm that was lost on the way into this chunk
    loss: Float64 | None = None
    reserve: LandmarkCandidates | None = None

    def without(self, blocks: Blocks) -> ChunkResult:
        """Return what may leave the chunk's rows: neither they nor what was made of them. Of the
        last sweep's sums those stay that tell how wide clusters are."""
        geometry = replace(
            self.geometry, space=self.past.space, blocks=blocks.between(0, 0), former=None
        )
        solution = self.solution
        if solution.last is None:
            last = None
        else:
            last = (solution.state, replace(solution.last[1], moment=np.zeros((0, 0)), hard=None))
        return replace(
            self, geometry=geometry, solution=replace(solution, sweep=None, last=last), rows=None
        )


@dataclass(frozen=True)
class FitSummary:
    """Summary of the chunks of a fit so far."""

    stream: StreamState
    loss: Float64 | None  # (c,) the largest of all chunks
    fell_short: int  # number of chunks that did not converge within max_iter
    absorbed: ChunkResult | None = None  # of the last one, without its rows; no checkpoint keeps it

    @property
    def last(self) -> ChunkResult:
        """The last chunk."""
        assert self.absorbed is not None, "a fit that goes on from a checkpoint has a chunk left"
        return self.absorbed

    @classmethod
    def after(
        cls, before: FitSummary | None, stream: StreamState, absorbed: ChunkResult
    ) -> FitSummary:
        """Return the summary after a further chunk."""
        loss, fell_short = (None, 0) if before is None else (before.loss, before.fell_short)
        if absorbed.loss is not None:
            loss = absorbed.loss if loss is None else np.maximum(loss, absorbed.loss)
        return cls(
            stream,
            loss,
            fell_short + (not absorbed.solution.converged),
            absorbed.without(absorbed.geometry.blocks),
        )

    def packed(self) -> Packed:
        """Return what a checkpoint keeps."""
        return {"stream": self.stream, "loss": self.loss, "fell_short": self.fell_short}
