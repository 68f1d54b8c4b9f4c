"""Memory that results, draws and reading take beside the rows, by the place where the rows are."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import is_stored
from .blocks import Blocks
from .column_facts import are_here
from .outputs import label_type

DRAWN, WEIGHED, SIFTED = 28, 24, 16  # bytes a row for drawing among all rows, for rows that have weights, and where some of these are zero


@dataclass(frozen=True)
class Footprint:
    """Bytes of memory at most."""

    results: int
    drawing: int
    reading: int


NUMBER = 4  # bytes of the number of a cluster, beside a membership in it


def footprint(blocks: Blocks, n_clusters: int, itemsize: int, n_threads: int, sampled: int, most_clusters: int | None = None) -> Footprint:
    """Return the memory of a fit beside its rows; `sampled`: bytes of its largest sample; `most_clusters`: in which a row has memberships.

    For rows that are not in memory only labels are kept, other results of a task until they are passed on, and samples beyond
    `Limits.array_bytes` go to the disk.
    """
    n, limits = blocks.n_rows, blocks.limits
    of_a_row = 16 + (n_clusters * itemsize if most_clusters is None else min(most_clusters, n_clusters) * (itemsize + NUMBER))
    if not is_stored(blocks.x):
        return Footprint(n * of_a_row, n * (DRAWN + (0 if blocks.alike else WEIGHED)), 0)
    labels = min(n * label_type(n_clusters)().itemsize, limits.array_bytes)
    drawing = 0 if blocks.alike or not are_here(blocks.weight) else n * (WEIGHED + SIFTED * bool(blocks.weight.min() <= 0))
    results = labels + n_threads * limits.task_rows * of_a_row
    return Footprint(results, drawing + sampled, blocks.x.memory(n_threads) + limits.array_bytes)


def of_start(blocks: Blocks, bytes_of_a_row: int) -> int:
    """Bytes of a start that draws among all rows, as far as `Footprint.drawing` has no room for them."""
    return blocks.n_rows * bytes_of_a_row if is_stored(blocks.x) else 0
