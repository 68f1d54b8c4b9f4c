"""Where a stream stands, and what passes through it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Float64, stacked
from ..blocks import Blocks
from ..callbacks import SweepHook
from ..engines import Engine
from ..progress import Place
from ..rules import Rule
from ..solver import Solution
from ..streams import Past, Reserve
from ..table import Table
from .base import Run
from .geometry import Geometry

PURPOSES = ("start", "landmarks")


@dataclass(frozen=True)
class Held:
    """Rows that are kept for a while."""

    x: Array  # (n, d)
    weight: Float64  # (n,)

    def before(self, blocks: Blocks) -> Blocks:
        """These rows and those after them."""
        return replace(blocks, x=stacked(self.x, blocks.x), weight=np.concatenate([self.weight, blocks.weight]))


@dataclass(frozen=True)
class Stream:
    """Where a stream stands: all that the next chunk needs of those before it."""

    past: Past
    rule: Rule
    seed: int  # of what is drawn in any chunk
    unit: float  # what a weight of 1 in `past` stands for in the user's weights
    dtype: str  # of the first chunk's rows, and so of all
    n_chunks: int = 0
    n_samples: int = 0
    row_visits: int = 0
    reserve: Reserve | None = None  # landmarks that may still be chosen
    held: Held | None = None  # the first rows, until there are enough of them to begin with


@dataclass(frozen=True)
class Chunk:
    """Some rows, and what it takes to cluster them."""

    blocks: Blocks
    run: Run
    copied: int  # bytes that reading the rows has taken
    engine: Engine
    seed: int
    number: int
    place: Place
    rows_in_all: int  # of the stream as far as it is known: whether compiled sweeps are worth loading
    hook: SweepHook | None

    def rng(self, purpose: str) -> np.random.RandomState:
        """What is drawn for a purpose: the same in every method, and whether the stream was stopped before this chunk or not."""
        return np.random.RandomState([self.seed, self.number, PURPOSES.index(purpose)])


@dataclass(frozen=True)
class Absorbed:
    """What a chunk has made of a stream."""

    geometry: Geometry
    past: Past
    rule: Rule
    solution: Solution
    table: Table | None = None  # the chunk's rows, where they are represented over the basis of `past` already
    loss: Float64 | None = None  # (c,) share of each centre's squared norm that was lost on the way into this chunk
    reserve: Reserve | None = None


@dataclass(frozen=True)
class Passage:
    """All chunks of a fit, gone by."""

    stream: Stream
    absorbed: Absorbed  # of the last one
    loss: Float64 | None  # (c,) the largest of all chunks
    fell_short: int  # how many chunks did not come to rest within max_iter
