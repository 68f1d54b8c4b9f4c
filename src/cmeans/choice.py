"""Which sweeps run: the one place that weighs the compiled ones against the generic ones.

The choice looks at shapes, types and the rule only, never at threads or memory, so that these change no bit of a result.
"""

from __future__ import annotations

from typing import Any, Protocol

from . import sweep as generic
from .arrays import Array, Float64, IntArray, is_foreign, is_sparse, itemsize, numpy_dtype
from .blocks import NARROW, Blocks
from .rules import Rule, Twin
from .signals import held_back
from .spaces import Quick, Space
from .statistics import Statistics
from .sweep import Outputs, State, Tally
from .table import Layout, Table

LEAST_SAVING = 5e-3  # seconds a sweep below which compiled code, half a second to load, is not worth loading
LARGEST_CENTRES = 4 * 2**20  # bytes of centres above which a matrix product of the whole block is faster

SAVED_IN_MEMBERSHIPS = {"sparse": 60}  # nanoseconds for each row and cluster, where it is more than a few


class Sweep(Protocol):
    """What the rows of one task say about all clusters. One object serves one run, and may remember its last sweep."""

    def __call__(
        self, table: Table, rule: Rule, state: State, task: int, before: State | None = None, owners: IntArray | None = None
    ) -> Statistics: ...


class Assign(Protocol):
    """Memberships and labels of one task's rows."""

    def __call__(self, table: Table, space: Space, rule: Rule, state: State, task: int, out: Outputs) -> Tally: ...


class Measure(Protocol):
    """(b, c) distances of the rows of one task to every centre."""

    def __call__(self, table: Table, space: Space, state: State, task: int) -> Array: ...


class Deviations(Protocol):
    """(c,) sums of the distances of the rows of one task from the means of the clusters they belong to."""

    def __call__(self, table: Table, means: State, owners: IntArray, power: int, task: int) -> Float64: ...


def layout_for(space: Space, blocks: Blocks, rule: Rule, n_clusters: int, rows_in_all: int = 0) -> Layout | None:
    """How rows should lie for compiled sweeps; None where the generic sweeps, which take rows as they come, do as well.

    `rows_in_all`: of all the tables that will be swept, where there are several.
    """
    x, r, c = blocks.x, space.size, n_clusters
    stays_sparse = is_sparse(x) and not space.keeps_rows_cheaply
    if rule.twin is None or not space.sweeps_products or is_foreign(x) or stays_sparse:
        return None
    if _saving(max(blocks.n_rows, rows_in_all), r, c, rule.twin) < LEAST_SAVING:
        return None
    if r > NARROW and r * c * itemsize(x) > LARGEST_CENTRES:
        return None
    layout: Layout = _compiled().layout("narrow" if r <= NARROW else "wide")
    return layout


def quick_for(space: Space, blocks: Blocks, rule: Rule, rows_in_all: int = 0) -> Quick | None:
    """How kernel values are made faster, for rows so many that compiled code is loaded anyway, if for the last pass only.

    The number of clusters does not enter: it may change, and new rows must be represented as the training rows were.
    """
    x, n = blocks.x, max(blocks.n_rows, rows_in_all)
    if rule.twin is None or is_foreign(x) or is_sparse(x) or _saving(n, space.size, 1, rule.twin) < LEAST_SAVING:
        return None
    compiled = _compiled()
    quick: Quick | None = compiled.quick if compiled.is_open() else None
    return quick


def memory_of(layout: Layout | None, rule: Rule, blocks: Blocks, basis_size: int, n_clusters: int) -> int:
    """Bytes that a sweep remembers from one pass to the next."""
    if layout is None or not _remembers(layout, rule, blocks):
        return 0
    return int(_compiled().BoundedSweep.memory(blocks, basis_size, n_clusters))


def sweep_for(table: Table, rule: Rule, *, owned: bool = False) -> Sweep:
    """The sweep of one run over a table's rows, as they lie; `owned` if it will be asked which cluster each row belongs to most."""
    if table.layout is None or rule.twin is None:
        return generic.sweep
    compiled, dtype = _compiled(), numpy_dtype(table.blocks.x)
    sweep: Sweep
    if _remembers(table.layout, rule, table.blocks):
        sweep = compiled.BoundedSweep(rule, dtype)
    else:
        sweep = compiled.Sweep(table.layout.shape, rule, dtype, owned=owned)
    return sweep


def assign_for(table: Table, space: Space, rule: Rule, n_clusters: int) -> Assign:
    """The last pass over a table's rows, for centres of `space` (the table's own, or its portable twin)."""
    layout = layout_for(space, table.blocks, rule, n_clusters, table.rows_in_all)
    if layout is None:
        return generic.assign
    assign: Assign = _compiled().Assign(layout, rule, numpy_dtype(table.blocks.x))
    return assign


def measure_for(table: Table, space: Space, rule: Rule, n_clusters: int) -> Measure:
    """The distances of a table's rows to centres of `space`, by the same arithmetic as the last pass."""
    layout = layout_for(space, table.blocks, rule, n_clusters, table.rows_in_all)
    if layout is None:
        return generic.distances
    measure: Measure = _compiled().Measure(layout, numpy_dtype(table.blocks.x))
    return measure


def deviations_for(table: Table, power: int) -> Deviations:
    """How far each cluster's own rows are from their mean, over a table's rows as they lie."""
    if table.layout is None:
        return generic.deviations
    deviations: Deviations = _compiled().Deviations(table.layout.shape, power, numpy_dtype(table.blocks.x))
    return deviations


def _compiled() -> Any:
    """The compiled sweeps. Numba takes half a second to load, and loses what a signal raises while it does."""
    with held_back():
        from . import compiled
    return compiled


def _remembers(layout: Layout, rule: Rule, blocks: Blocks) -> bool:
    """Hard sweeps over many columns keep bounds of distances; over few, reading a row costs no more than asking whether to. Rows that
    are not in memory must be read and represented anyway, and bounds could be longer than there is memory."""
    return layout.shape == "wide" and not rule.is_soft and not blocks.are_stored


def _saving(n: int, r: int, c: int, twin: Twin) -> float:
    """Seconds that compiled code saves in a sweep, from measurements of one core (benchmarks/sweeps.py)."""
    return 1e-9 * n * (100 + SAVED_IN_MEMBERSHIPS.get(twin.name, 4) * c + 0.05 * r * c)
