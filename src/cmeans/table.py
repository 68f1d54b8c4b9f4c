"""Rows as a space sees them, task by task: kept between sweeps while memory allows, made again where it does not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .arrays import Float64
from .blocks import Blocks
from .spaces import Rows, Space


@dataclass(frozen=True)
class Piece:
    """One block, represented."""

    rows: Rows
    weight: Float64  # (b,)
    start: int


@dataclass(frozen=True)
class Layout:
    """How represented rows lie in memory for the sweeps that will read them."""

    shape: str  # the name by which compiled sweeps know it
    arrange: Callable[[Rows], Rows]


class Table:
    """The blocks of a fit in its space. Which of them are kept changes time and memory, never a result."""

    def __init__(self, space: Space, blocks: Blocks, keep_bytes: int, *, training: bool = True, layout: Layout | None = None) -> None:
        self.space = space
        self.blocks = blocks
        self.layout = layout
        self.n_tasks = blocks.n_tasks(space.size)
        self._training = training
        self._left = keep_bytes if space.keeps_rows_cheaply or layout is not None else 0
        self._kept: dict[int, list[Piece]] = {}
        self._lock = threading.Lock()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.blocks.n_rows

    def pieces(self, task: int) -> Iterator[Piece]:
        """The represented blocks of one task, in order."""
        if task in self._kept:
            yield from self._kept[task]
            return
        keeping: list[Piece] | None = []
        represent = self.space.training_rows if self._training else self.space.rows
        for block in self.blocks.task(task, self.space.size):
            rows = represent(block)
            piece = Piece(rows if self.layout is None else self.layout.arrange(rows), block.weight, block.start)
            if keeping is not None:
                if self._reserve(piece.rows.nbytes):
                    keeping.append(piece)
                else:
                    self._release(keeping)
                    keeping = None
            yield piece
        if keeping is not None:
            self._kept[task] = keeping

    def rows_done(self, task: int) -> int:
        """How many rows the tasks up to this one hold."""
        return self.blocks.task_range(task, self.space.size)[1]

    def _reserve(self, nbytes: int) -> bool:
        with self._lock:
            fits = nbytes <= self._left
            if fits:
                self._left -= nbytes
            return fits

    def _release(self, pieces: list[Piece]) -> None:
        with self._lock:
            self._left += sum(piece.rows.nbytes for piece in pieces)
