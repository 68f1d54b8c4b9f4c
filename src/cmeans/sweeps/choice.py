"""Choice of sweeps: native ones where the rows, their space and the rule allow it, generic ones
elsewhere.

The choice looks at shapes, types and the rule only, never at threads or memory, so that these
change no bit of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from .. import native
from ..data.arrays import Array, Float64, IntArray, is_foreign, is_sparse
from ..data.blocks import Blocks
from ..data.outputs import RowOutputs
from ..data.partitions import Partition
from ..data.precision import itemsize, numpy_dtype
from ..rules import Hard, Rule
from ..spaces import Space
from . import generic, generic_measures
from .bounded import BoundedSweep, SearchMemory
from .cluster_sums import MovedRows, SumsByLabel
from .native import (
    NativeAssign,
    NativeCosts,
    NativeDeviations,
    NativeMargins,
    NativeMeasure,
    NativeNearest,
    NativePrices,
    NativeSweep,
)
from .nearest import SearchedCosts, coordinate_bytes
from .nearest_of_many import NearestAssign, NearestSearch
from .represented_rows import RepresentedRows
from .state import State
from .statistics import ClusterCosts, FinalSums, Margins, PriceStatistics, Statistics
from .top_k import NativeAbout, NativeFewNearest, NativeTopKAssign, NativeTopKSweep

# bytes of centres above which a matrix product of the whole block is faster
LARGEST_CENTRES = 4 * 2**20
# rows times columns times clusters below which plain sweeps in a row take less time than the care
# of bounds
LEAST_BOUNDED = 2**23
SOME_COLUMNS, MANY_CLUSTERS = 64, 256  # from which on together the nearest centres are searched for
SHARE = 8  # clusters for each in which a row has a membership, from which on these are searched for


class SweepFunction(Protocol):
    """Statistics of the rows of one task. One object serves one run, and may remember its last
    sweep."""

    def __call__(
        self,
        rows: RepresentedRows,
        rule: Rule,
        state: State,
        task: int,
        labels: IntArray | None = None,
    ) -> MovedRows | Statistics: ...


# The others are functions of represented rows, of what each asks of the centres, and of the number
# of a task, of whose rows they say:
# memberships and labels
AssignFunction = Callable[[RepresentedRows, Space, Rule, State, int, RowOutputs], FinalSums]
# (b, c) distances to every centre
MeasureFunction = Callable[[RepresentedRows, Space, State, int], Array]
# (c,) sums of distances, or of their power, from the means of the clusters by these labels
DeviationsFunction = Callable[[RepresentedRows, State, IntArray, int, int], Float64]
# errors and utilities of the clusters
CostsFunction = Callable[[RepresentedRows, Rule, State, int], ClusterCosts]
# (b,) the nearest centre of each row, and the squared distance to it
NearestFunction = Callable[[RepresentedRows, State, int], tuple[IntArray, Float64]]
# (b, most) the clusters that have each row for least by price, and squared distances to them
FewNearestFunction = Callable[[RepresentedRows, Space, State, int, int], tuple[IntArray, Array]]
# the same among clusters (c, near) that lie about the row's nearest centre
AboutFunction = NativeAbout
# sums from which prices follow
PriceFunction = Callable[[RepresentedRows, Rule, State, int], PriceStatistics]
# labels by distance less prices, and the rows that could change their cluster for so little
MarginFunction = Callable[[RepresentedRows, Space, Rule, State, float, int], Margins]


def sweeps_are_native(space: Space, blocks: Blocks, rule: Rule, n_clusters: int) -> bool:
    """True where rows of these blocks, represented in the space, are swept by native code that
    computes all distances."""
    # else centres are read some at a time
    wide = (
        space.size > blocks.limits.narrow_columns
        and rule.most_clusters is None
        and not _stay_csr(space, blocks)
    )
    return _native_code_reads(space, blocks, rule) and not (
        wide and space.size * n_clusters * itemsize(blocks.x) > LARGEST_CENTRES
    )


def searches(space: Space, blocks: Blocks, rule: Rule, n_clusters: int) -> bool:
    """True where a hard rule searches for the nearest centres of rows, without most of the
    distances."""
    return (
        rule.follows_nearest
        and _search_pays(space, blocks, n_clusters)
        and _native_code_reads(space, blocks, rule)
    )


def searches_few(space: Space, blocks: Blocks, rule: Rule, n_clusters: int) -> bool:
    """True where a rule of memberships in a few of many clusters searches for these."""
    few = rule.most_clusters is not None and rule.most_clusters * SHARE <= n_clusters
    return (
        few and _search_pays(space, blocks, n_clusters) and _native_code_reads(space, blocks, rule)
    )


def _search_pays(space: Space, blocks: Blocks, n_clusters: int) -> bool:
    """True over many columns, or some columns and many clusters: of fewer, a distance costs no more
    than to ask whether it is needed."""
    many = space.size > blocks.limits.narrow_columns or (
        space.size >= SOME_COLUMNS and n_clusters >= MANY_CLUSTERS
    )
    return many and space.norms_are_offsets and not _stay_csr(space, blocks)


def _stay_csr(space: Space, blocks: Blocks) -> bool:
    return is_sparse(blocks.x) and space.keeps_csr


def _native_code_reads(space: Space, blocks: Blocks, rule: Rule) -> bool:
    x = blocks.x
    if (
        rule.native_functions is None
        or not space.sweeps_products
        or is_foreign(x)
        or (is_sparse(x) and space.in_coordinates and not space.keeps_csr)
    ):
        return False
    return native.is_available()


def memory_of(space: Space, blocks: Blocks, rule: Rule, n_clusters: int) -> SearchMemory:
    """Bytes that a sweep remembers from one pass to the next, where it may."""
    if searches_few(space, blocks, rule, n_clusters):
        return SearchMemory(coordinates=coordinate_bytes(space, blocks, n_clusters))
    if searches(space, blocks, rule, n_clusters):
        return BoundedSweep.memory(space, blocks, n_clusters)
    return SearchMemory()


def sweep_for(rows: RepresentedRows, rule: Rule, n_clusters: int, probes: int = 0) -> SweepFunction:
    """The sweep of one run over represented rows; with `probes`, one that looks for the nearest of
    very many centres in so many groups of them alone."""
    space, blocks = rows.space, rows.blocks
    native_sweeps = sweeps_are_native(space, blocks, rule, n_clusters)
    quick = native_sweeps and rows.n_rows * space.size * n_clusters < LEAST_BOUNDED
    if not quick and searches(space, blocks, rule, n_clusters):
        return BoundedSweep(rule, numpy_dtype(blocks.x), probes)
    if not native_sweeps:
        return generic.sweep
    if rule.most_clusters is None or rule.most_clusters >= n_clusters:
        return NativeSweep(rule, numpy_dtype(blocks.x))
    return NativeTopKSweep(
        rule, numpy_dtype(blocks.x), searches_few(space, blocks, rule, n_clusters)
    )


def assign_for(
    rows: RepresentedRows, space: Space, rule: Rule, n_clusters: int, *, plain: bool = True
) -> AssignFunction:
    """The last pass over represented rows, for centres of `space` (their own, or its portable
    twin); `plain` as of `generic.assign`."""
    dtype, general = numpy_dtype(rows.blocks.x), partial(generic.assign, plain=plain)
    if rows.space.scatter is not None:
        return general
    if searches(space, rows.blocks, rule, n_clusters):
        return NearestAssign(dtype)
    if not sweeps_are_native(space, rows.blocks, rule, n_clusters):
        return general
    if rule.most_clusters is None:
        return NativeAssign(rule, dtype)
    return NativeTopKAssign(rule, dtype, searches_few(space, rows.blocks, rule, n_clusters))


def labels_tell(blocks: Blocks, rule: Rule) -> bool:
    """True where the last pass leaves memberships out, which labels tell: of many clusters they are
    most of what a fit would hold."""
    return rule.is_partition and not is_foreign(blocks.x)


def measure_for(
    rows: RepresentedRows, space: Space, rule: Rule, n_clusters: int
) -> MeasureFunction:
    """The distances of represented rows to centres of `space`, by the same arithmetic as the last
    pass."""
    if not sweeps_are_native(space, rows.blocks, rule, n_clusters):
        return generic_measures.distances
    return NativeMeasure(numpy_dtype(rows.blocks.x))


def deviations_for(rows: RepresentedRows, rule: Rule, n_clusters: int) -> DeviationsFunction:
    """Deviations of each cluster's own rows from their mean, over represented rows."""
    if not sweeps_are_native(rows.space, rows.blocks, rule, n_clusters):
        return generic_measures.deviations
    return NativeDeviations(numpy_dtype(rows.blocks.x))


def costs_for(rows: RepresentedRows, rule: Rule, n_clusters: int) -> CostsFunction:
    """Errors and utilities of clusters over represented rows."""
    if searches(rows.space, rows.blocks, rule, n_clusters):
        return SearchedCosts(numpy_dtype(rows.blocks.x))
    if not sweeps_are_native(rows.space, rows.blocks, rule, n_clusters):
        return generic_measures.cluster_costs
    return NativeCosts(rule, numpy_dtype(rows.blocks.x))


def nearest_for(rows: RepresentedRows, rule: Rule, n_clusters: int) -> NearestFunction:
    """The nearest centres of represented rows."""
    if searches(rows.space, rows.blocks, rule, n_clusters):
        return NearestSearch(numpy_dtype(rows.blocks.x))
    if not sweeps_are_native(rows.space, rows.blocks, rule, n_clusters):
        return generic_measures.nearest_rows
    return NativeNearest(numpy_dtype(rows.blocks.x))


def few_nearest_for(
    rows: RepresentedRows, space: Space, rule: Rule, n_clusters: int
) -> FewNearestFunction:
    """The clusters of `space` that have represented rows for least by price."""
    if not sweeps_are_native(space, rows.blocks, rule, n_clusters):
        return generic_measures.few_nearest
    return NativeFewNearest(numpy_dtype(rows.blocks.x))


def label_sums_for(rows: RepresentedRows, partition: Partition) -> SumsByLabel | None:
    """The sums of rows in clusters that are given, by native code; None where it reads them not."""
    pays = generic.sums_by_label(rows, partition) and native.is_available()
    return SumsByLabel(partition) if pays else None


def about_for(rows: RepresentedRows, rule: Rule, n_clusters: int) -> AboutFunction | None:
    """The clusters that have represented rows for least by price among those about their nearest
    centre; None where these are not searched for."""
    dense = not is_sparse(rows.blocks.x) and searches(rows.space, rows.blocks, Hard(), n_clusters)
    native_sweeps = dense and sweeps_are_native(rows.space, rows.blocks, rule, n_clusters)
    return NativeAbout(numpy_dtype(rows.blocks.x)) if native_sweeps else None


def prices_for(rows: RepresentedRows, rule: Rule, n_clusters: int) -> PriceFunction:
    """Sums over represented rows from which prices follow."""
    if not sweeps_are_native(rows.space, rows.blocks, rule, n_clusters):
        return generic_measures.price_sums
    return NativePrices(rule, numpy_dtype(rows.blocks.x))


def margins_for(rows: RepresentedRows, space: Space, rule: Rule, n_clusters: int) -> MarginFunction:
    """Represented rows that another cluster of `space` would have for little more."""
    if not sweeps_are_native(space, rows.blocks, rule, n_clusters):
        return generic_measures.margins
    return NativeMargins(rule, numpy_dtype(rows.blocks.x))
