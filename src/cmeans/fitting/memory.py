"""Memory budget of a fit, and the least that a fit needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..data.arrays import is_stored
from ..data.blocks import Blocks
from ..data.column_facts import are_here
from ..data.limits import Limits
from ..data.outputs import label_type
from ..landmarks.select import rows_for
from ..runtime.free_memory import free_memory
from ..runtime.numerals import percent
from ..solvers.subsampling import sample_sizes
from ..spaces import Space
from ..sweeps.bounded import SearchMemory

# bytes for each row of the largest sample: its number, its weight, and what drawing takes
SAMPLED = 32
ALWAYS_THERE = 2**27  # bytes that are taken without asking the system how many there are
# bytes a row for drawing among all rows, for rows that have weights, and where some of these are
# zero
DRAWN, WEIGHED, SIFTED = 28, 24, 16
NUMBER = 4  # bytes of the number of a cluster, beside a membership in it
FIXED = 48 * 2**20  # samples for seeds, widths and m, which do not grow with the data


@dataclass(frozen=True)
class MemoryPlan:
    """Planned memory of a fit: `needed` bytes in any case, `for_rows` bytes to keep represented
    rows between sweeps, and `bounds`: bytes of what hard sweeps know of stored rows, by which they
    leave out those whose cluster cannot have changed."""

    needed: int
    for_rows: int
    bounds: SearchMemory | None = None

    def with_bounds(self, bounds: SearchMemory, most: int) -> MemoryPlan:
        """Return the plan with as much of the bounds as there is room for in `most` bytes; they
        save more than rows kept do."""
        bounds = bounds.within(most)
        return replace(self, for_rows=max(self.for_rows - bounds.total, 0), bounds=bounds)

    @property
    def kept(self) -> dict[str, bool]:
        """The parts of `bounds` that are kept, as `RepresentedRows` takes them."""
        return (
            {}
            if self.bounds is None
            else {
                "keep_bounds": self.bounds.bounds > 0,
                "keep_coordinates": self.bounds.coordinates > 0,
            }
        )

    def said_of(self, kept_share: float, blocks: Blocks) -> str:
        """Describe the planned memory in a message."""
        if kept_share == 0.0:
            rows = "rows are read as they are in every sweep"
        else:
            rest = (
                ""
                if kept_share == 1.0
                else f", {percent(1 - kept_share)} made again in every sweep"
            )
            rows = f"{percent(kept_share)} of the rows kept as the space sees them{rest}"
        bounds = (
            f"; bounds of distances kept in {self.bounds.total / 1e6:,.0f} MB"
            if self.bounds and self.bounds.total
            else ""
        )
        room = f" (room for {self.for_rows / 1e6:,.0f} MB)" if self.for_rows else ""
        return (
            f"works in up to {self.needed / 1e6:,.0f} MB; {rows}{room}{bounds}{blocks.whereabouts}"
        )


def plan(
    budget: int | None,
    estimator_name: str,
    space: Space,
    blocks: Blocks,
    *,
    n_clusters: int,
    itemsize: int,
    n_threads: int,
    copied: int,  # bytes of the input that had to be converted
    remembered: int = 0,  # bytes that sweeps keep from one pass to the next
    most_clusters: int | None = None,  # in which a row has memberships; None: all
) -> MemoryPlan:
    """Divide the budget, or raise an error with the least that suffices."""
    n, r, c = blocks.n_rows, space.size, n_clusters
    features = int(blocks.x.shape[1]) if space.kernel.takes_features else 0
    beside = footprint(blocks, c, itemsize, n_threads, most_clusters)
    seeding = (
        8 * min(n, blocks.limits.seeding_rows_for(c)) * (2 * features + 4 * (2 + int(math.log(c))))
    )
    b = blocks.block_rows(r)
    per_thread = itemsize * b * (2 * r + 8 * c) + 8 * c * (r + space.moment_width)
    waiting = (2 * n_threads + 3) * 8 * c * space.moment_width
    setup = _setup(space, n, features, blocks.limits)
    # the basis in the kernel's prepared form
    prepared = 2 * itemsize * r * (features + 4) * (not space.in_coordinates)
    rows = copied + beside.reading + remembered + beside.results + beside.drawing
    needed = rows + seeding + prepared + n_threads * per_thread + waiting + setup + FIXED
    if budget is None:
        wanted = needed + n * (r + 2) * itemsize
        return MemoryPlan(
            needed, max(wanted if wanted <= ALWAYS_THERE else free_memory() // 2, needed) - needed
        )
    if budget < needed:
        raise ValueError(
            f"{estimator_name}: {n} rows, {c} clusters and a basis of {r} need at least {needed} "
            "bytes "
            f"(about {needed / 1e9:.3g} GB: {beside.results / 1e9:.3g} for the results, "
            f"{setup / 1e9:.3g} to choose landmarks, "
            f"factor their kernel and certify them), more than memory_budget={budget}. Raise it, "
            "or take fewer landmarks or threads."
        )
    return MemoryPlan(needed, budget - needed)


@dataclass(frozen=True)
class Footprint:
    """Bytes of memory at most."""

    results: int
    drawing: int
    reading: int


def footprint(
    blocks: Blocks, n_clusters: int, itemsize: int, n_threads: int, most_clusters: int | None = None
) -> Footprint:
    """Return the memory of a fit beside its rows; `most_clusters`: in which a row has memberships.

    For rows that are not in memory only labels are kept, other results of a task until they are
    passed on, and samples beyond `Limits.array_bytes` go to the disk.
    """
    n, limits = blocks.n_rows, blocks.limits
    of_a_row = 16 + (
        n_clusters * itemsize
        if most_clusters is None
        else min(most_clusters, n_clusters) * (itemsize + NUMBER)
    )
    if not is_stored(blocks.x):
        return Footprint(n * of_a_row, n * (DRAWN + (0 if blocks.alike else WEIGHED)), 0)
    sampled = SAMPLED * max(sample_sizes(n, n_clusters, limits), default=0)
    labels = min(n * label_type(n_clusters)().itemsize, limits.array_bytes)
    drawing = (
        0
        if blocks.alike or not are_here(blocks.weight)
        else n * (WEIGHED + SIFTED * bool(blocks.weight.min() <= 0))
    )
    results = labels + n_threads * limits.task_rows * of_a_row
    return Footprint(results, drawing + sampled, blocks.x.memory(n_threads) + limits.array_bytes)


def of_start(blocks: Blocks, bytes_of_a_row: int) -> int:
    """Bytes of a start that draws among all rows, as far as `Footprint.drawing` has no room for
    them."""
    return blocks.n_rows * bytes_of_a_row if is_stored(blocks.x) else 0


def _setup(space: Space, n_rows: int, features: int, limits: Limits) -> int:
    """Bytes of the largest step that prepares a fit or concludes it: the choice of landmarks, with
    the factor (p, s) of the rows that they are chosen among and its copy, the factor of their own
    kernel (s, s), the eigenvectors of their graph, the certificate's sample."""
    s = space.factored_size
    among = min(n_rows, rows_for(s, limits)) if s else 0
    judged = min(n_rows, limits.certified_rows)
    choosing = 2 * 8 * among * (s + features)
    certifying = 8 * judged * (4 * s + 2 * features + 2 * judged) if s else 0
    return max(6 * 8 * s**2, choosing, certifying)


def require(budget: int | None, estimator_name: str, needed: int, what: str, advice: str) -> None:
    """Refuse work that needs more memory than the budget or the machine has."""
    there = free_memory() if budget is None else budget
    if needed > there:
        limit = "that is free" if budget is None else f"of memory_budget={budget}"
        raise ValueError(
            f"{estimator_name}: {what} need {needed} bytes (about {needed / 1e9:.3g} GB), more "
            f"than the {there / 1e9:.3g} GB {limit}: "
            f"{advice}."
        )
