"""Memory budget of a fit, and the least that a fit needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..data.arrays import row_bytes
from ..data.blocks import Blocks
from ..data.column_facts import are_here
from ..data.outputs import label_type
from ..data.precision import itemsize
from ..landmarks.select import rows_for
from ..runtime.free_memory import free_memory
from ..runtime.numerals import in_bytes, percent
from ..sampling.kmeanspp import VALUES, VERY_MANY
from ..spaces import Space
from ..sweeps.bounded import SearchMemory
from ..sweeps.represented_rows import bytes_of_a_row, keeping_pays, numbers_read

# bytes for each row of the largest sample: its number, its weight, and what drawing takes
SAMPLED = 32
ALWAYS_THERE = 2**27  # bytes that are taken without asking the system how many there are
# bytes a row for drawing among rows that have weights, and where some of these are zero
WEIGHED, SIFTED = 24, 16
LABELLED = 24  # bytes of a row's label, distance, and of its label as it is returned
NUMBER = 4  # bytes of the number of a cluster, beside a membership in it
# centres, or sums of a sweep, that solvers and the search hold of the states that they compare
COMPARED = 20
FIXED = 48 * 2**20  # samples for seeds, widths and m, which do not grow with the data


@dataclass(frozen=True)
class MemoryPlan:
    """Planned memory of a fit: `needed` bytes in any case, `for_rows` bytes to keep represented
    rows between sweeps, of which all would take `wanted`, and `bounds`: bytes of what hard sweeps
    know of stored rows, by which they leave out those whose cluster cannot have changed."""

    needed: int
    for_rows: int
    wanted: int = 0
    bounds: SearchMemory | None = None

    @property
    def taken(self) -> int:
        """Bytes that the fit takes at most."""
        bounds = 0 if self.bounds is None else self.bounds.total
        return self.needed + min(self.for_rows, self.wanted) + bounds

    @property
    def share(self) -> float:
        """The share of the rows that stay, as the space sees them, between sweeps."""
        return min(1.0, self.for_rows / self.wanted) if self.wanted else 1.0

    def with_bounds(self, bounds: SearchMemory, most: int) -> MemoryPlan:
        """Return the plan with as much of the bounds as there is room for in `most` bytes; they
        save more than rows kept do."""
        bounds = bounds.within(most)
        return replace(self, for_rows=max(self.for_rows - bounds.total, 0), bounds=bounds)

    @property
    def kept(self) -> dict[str, bool]:
        """The parts of `bounds` that are kept, as `RepresentedRows` takes them."""
        if self.bounds is None:
            return {}
        return {
            "keep_bounds": self.bounds.bounds > 0,
            "keep_coordinates": self.bounds.coordinates > 0,
        }

    def said_of(self, kept_share: float, blocks: Blocks) -> str:
        """Describe the planned memory in a message."""
        if kept_share == 0.0:
            rows = "rows are read as they are in every sweep"
        else:
            if kept_share == 1.0:
                rest = ""
            else:
                rest = f", {percent(1 - kept_share)} made again in every sweep"
            rows = f"{percent(kept_share)} of the rows kept as the space sees them{rest}"
        if self.bounds and self.bounds.total:
            bounds = f"; bounds of distances kept in {in_bytes(self.bounds.total)}"
        else:
            bounds = ""
        room = f" (room for {in_bytes(self.for_rows)})" if self.for_rows else ""
        return f"works in up to {in_bytes(self.needed)}; {rows}{room}{bounds}{blocks.whereabouts}"


@dataclass(frozen=True)
class FitSizes:
    """The numbers that memory depends on beside the space and the rows."""

    n_clusters: int
    n_threads: int
    copied: int = 0  # bytes of the input that had to be converted
    remembered: int = 0  # bytes that sweeps keep from one pass to the next
    remembered_of_sample: int = 0  # the same of the largest sample of a progressive fit
    # clusters in which a row has memberships that are kept; 0: labels tell them
    memberships: int = 0
    numbered: bool = False  # whether memberships come with the numbers of their clusters
    draws: bool = True  # whether centres are drawn among rows
    samples: int = 0  # rows of the largest sample of a progressive fit
    labelled: int = 0  # rows that have results


def plan(
    budget: int | None, estimator_name: str, space: Space, blocks: Blocks, sizes: FitSizes
) -> MemoryPlan:
    """Divide the budget, or raise an error with the least that suffices.

    Some of the memory stays through a fit; of the rest each step has its own, and gives it back
    before the next begins.
    """
    c = sizes.n_clusters
    parts = footprint(space, blocks, sizes)
    needed, wanted = parts.least, rows_as_represented(space, blocks)
    if budget is None:
        little = needed + wanted <= ALWAYS_THERE
        room = wanted if little else max(free_memory() // 2 - needed, 0)
        return MemoryPlan(needed, room, wanted)
    if budget < needed:
        raise ValueError(
            f"{estimator_name}: {sizes.labelled or blocks.n_rows} rows, {c} clusters and a "
            f"basis of {space.size} need at least {needed} bytes (about {in_bytes(needed)}: "
            f"{in_bytes(parts.results)} for the results, {in_bytes(parts.setup)} to choose "
            "landmarks, factor their kernel and certify them, "
            f"{in_bytes(parts.seeding)} to draw centres), more than "
            f"memory_budget={budget}. Raise it, or take fewer landmarks, clusters or threads."
        )
    return MemoryPlan(needed, budget - needed, wanted)


@dataclass(frozen=True)
class Footprint:
    """Bytes of memory at most: what stays through a fit, and what each of its steps takes."""

    held: int  # what is read, remembered, and known of all rows for drawing; centres
    sweeping: int  # blocks of each thread, and sums that wait for those before them
    setup: int  # the choice of landmarks, their factor, their certificate
    seeding: int
    sampling: int  # the largest sample of a progressive fit
    results: int

    @property
    def least(self) -> int:
        """Bytes without which there is no fit."""
        steps = (
            self.setup,
            self.seeding,
            self.sampling + self.sweeping,
            self.results + self.sweeping,
        )
        return FIXED + self.held + max(steps)


def footprint(space: Space, blocks: Blocks, sizes: FitSizes) -> Footprint:
    """Return the memory of a fit beside its rows.

    For rows that are not in memory only labels are kept, other results of a task until they are
    passed on, and samples beyond `Limits.array_bytes` go to the disk.
    """
    n, r, c, t = blocks.n_rows, space.size, sizes.n_clusters, sizes.n_threads
    limits, number = blocks.limits, itemsize(blocks.x)
    features = int(blocks.x.shape[1]) if space.kernel.takes_features else 0
    of_a_row = LABELLED + sizes.memberships * (number + NUMBER * sizes.numbered)
    read = numbers_read(space, blocks)
    b, tasks = blocks.block_rows(read[0]), blocks.n_tasks(*read)
    represented = 0 if space.represents_by_views else 2 * bytes_of_a_row(space, blocks.x)
    per_thread = b * (represented + number * 8 * c) + 8 * c * (r + space.moment_width)
    moments = 8 * c * space.moment_width
    waiting = min(waiting_sums(t), tasks) * moments
    # the basis in the kernel's prepared form
    prepared = 2 * number * r * (features + 4) * (not space.in_coordinates)
    sample = SAMPLED * sizes.samples
    if blocks.stay_outside:
        results = min(sizes.labelled * label_type(c)().itemsize, limits.array_bytes)
        results += t * min(limits.task_rows, n) * of_a_row
        reading = blocks.x.memory(t) + limits.array_bytes
        drawing = 0 if blocks.alike or not are_here(blocks.weight) else WEIGHED
        drawing += SIFTED if drawing and bool(blocks.weight.min() <= 0) else 0
    else:
        results, reading, drawing = sizes.labelled * of_a_row, 0, 0 if blocks.alike else WEIGHED
        sample += sizes.samples * row_bytes(blocks.x)
    return Footprint(
        sizes.copied + reading + sizes.remembered + n * drawing + prepared + COMPARED * moments,
        min(t, tasks) * per_thread + waiting,
        _setup(space, blocks, features),
        _seeding(space, blocks, c) if sizes.draws else 0,
        sample + sizes.remembered_of_sample,
        results,
    )


def waiting_sums(n_threads: int) -> int:
    """Number of sums of tasks that may wait to be added, with the total and the one that is added:
    threads take so many tasks ahead of the one that is read."""
    return 2 * n_threads + 3


def of_start(blocks: Blocks, bytes_of_a_row: int) -> int:
    """Bytes of a start that draws among all rows, where these are in memory."""
    return 0 if blocks.stay_outside else blocks.n_rows * bytes_of_a_row


def rows_as_represented(space: Space, blocks: Blocks) -> int:
    """Bytes of all rows as the space sees them, where it pays to keep them between sweeps."""
    views = space.represents_by_views and blocks.are_views
    pays = keeping_pays(space, blocks) and not views
    return blocks.n_rows * bytes_of_a_row(space, blocks.x) if pays else 0


def _seeding(space: Space, blocks: Blocks, n_clusters: int) -> int:
    """Bytes of the rows that centres are drawn from, in float64 as they are and as their products
    are computed, and of some products with all of them."""
    rows = min(blocks.n_rows, blocks.limits.seeding_rows_for(n_clusters))
    values = row_bytes(blocks.x) * 8 // itemsize(blocks.x) if space.kernel.takes_features else 0
    ahead = 2 * 8 * VALUES if n_clusters >= VERY_MANY else 0
    return rows * (2 * values + 8 * 4 * (2 + int(math.log(n_clusters)))) + ahead


def _setup(space: Space, blocks: Blocks, features: int) -> int:
    """Bytes of the largest step that prepares a fit or concludes it: the choice of landmarks, with
    the factor (p, s) of the rows that they are chosen among and its copy, the factor of their own
    kernel (s, s), the eigenvectors of their graph, the certificate's sample."""
    s, n, limits = space.factored_size, blocks.n_rows, blocks.limits
    among = min(n, rows_for(s, limits)) if s else 0
    judged = min(n, limits.certified_rows)
    choosing = 2 * 8 * among * (s + features)
    certifying = 8 * judged * (4 * s + 2 * features + 2 * judged) if s else 0
    return max(6 * 8 * s**2, choosing, certifying)


def require(budget: int | None, estimator_name: str, needed: int, what: str, advice: str) -> None:
    """Refuse work that needs more memory than the budget or the machine has."""
    there = free_memory() if budget is None else budget
    if needed > there:
        limit = "that is free" if budget is None else f"of memory_budget={budget}"
        raise ValueError(
            f"{estimator_name}: {what} need {needed} bytes (about {in_bytes(needed)}), more than "
            f"the {in_bytes(there)} {limit}: {advice}."
        )
