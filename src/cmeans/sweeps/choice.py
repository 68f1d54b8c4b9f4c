"""Which sweeps run: the one place that weighs the compiled ones against the generic ones.

The choice looks at shapes, types and the rule only, never at threads or memory, so that these change no bit of a result.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..data.arrays import Array, Float64, IntArray, is_foreign, is_sparse, itemsize, numpy_dtype
from ..data.blocks import Blocks
from ..data.outputs import RowOutputs
from ..rules import Rule, TileFunctions
from ..runtime.signals import held_back
from ..spaces import Quick, Space
from . import generic
from .generic import FinalSums
from .represented_rows import Layout, RepresentedRows
from .state import State
from .statistics import Statistics

LARGEST_CENTRES = 4 * 2**20  # bytes of centres above which a matrix product of the whole block is faster


class SweepFunction(Protocol):
    """Statistics of the rows of one task. One object serves one run, and may remember its last sweep."""

    def __call__(
        self, rows: RepresentedRows, rule: Rule, state: State, task: int, before: State | None = None, labels: IntArray | None = None
    ) -> Statistics: ...


class AssignFunction(Protocol):
    """Memberships and labels of one task's rows."""

    def __call__(self, rows: RepresentedRows, space: Space, rule: Rule, state: State, task: int, out: RowOutputs) -> FinalSums: ...


class MeasureFunction(Protocol):
    """(b, c) distances of the rows of one task to every centre."""

    def __call__(self, rows: RepresentedRows, space: Space, state: State, task: int) -> Array: ...


class DeviationsFunction(Protocol):
    """(c,) sums of the distances of the rows of one task from the means of the clusters they belong to."""

    def __call__(self, rows: RepresentedRows, means: State, labels: IntArray, power: int, task: int) -> Float64: ...


def layout_for(space: Space, blocks: Blocks, rule: Rule, n_clusters: int, rows_in_all: int = 0) -> Layout | None:
    """The layout of rows for compiled sweeps; None where the generic sweeps, which take rows as they come, do as well.

    `rows_in_all`: of all the tables that will be swept, where there are several.
    """
    x, r, c, limits = blocks.x, space.size, n_clusters, blocks.limits
    stays_sparse = is_sparse(x) and not space.keeps_rows_cheaply
    if rule.tile_functions is None or not space.sweeps_products or is_foreign(x) or stays_sparse:
        return None
    if _saving(max(blocks.n_rows, rows_in_all), r, c, rule.tile_functions) < limits.compiled_saving:
        return None
    if r > limits.narrow_columns and r * c * itemsize(x) > LARGEST_CENTRES:
        return None
    layout: Layout = _compiled().layout("narrow" if r <= limits.narrow_columns else "wide")
    return layout


def quick_for(space: Space, blocks: Blocks, rule: Rule, rows_in_all: int = 0) -> Quick | None:
    """Faster kernel values, for rows so many that compiled code is loaded anyway, if for the last pass only.

    The number of clusters does not enter: it may change, and new rows must be represented as the training rows were.
    """
    x, n = blocks.x, max(blocks.n_rows, rows_in_all)
    if rule.tile_functions is None or is_foreign(x) or is_sparse(x):
        return None
    if _saving(n, space.size, 1, rule.tile_functions) < blocks.limits.compiled_saving:
        return None
    compiled = _compiled()
    quick: Quick | None = compiled.quick if compiled.is_open() else None
    return quick


def memory_of(layout: Layout | None, rule: Rule, blocks: Blocks, basis_size: int, n_clusters: int) -> int:
    """Bytes that a sweep remembers from one pass to the next."""
    if layout is None or not _remembers(layout, rule, blocks):
        return 0
    return int(_compiled().BoundedSweep.memory(blocks, basis_size, n_clusters))


def sweep_for(rows: RepresentedRows, rule: Rule, *, labelling: bool = False) -> SweepFunction:
    """The sweep of one run over represented rows, as they lie; a `labelling` one also writes which cluster each row belongs to most."""
    if rows.layout is None or rule.tile_functions is None:
        return generic.sweep
    compiled, dtype = _compiled(), numpy_dtype(rows.blocks.x)
    sweep: SweepFunction
    if _remembers(rows.layout, rule, rows.blocks):
        sweep = compiled.BoundedSweep(rule, dtype)
    else:
        sweep = compiled.CompiledSweep(rows.layout.shape, rule, dtype, labelling=labelling)
    return sweep


def assign_for(rows: RepresentedRows, space: Space, rule: Rule, n_clusters: int) -> AssignFunction:
    """The last pass over represented rows, for centres of `space` (their own, or its portable twin)."""
    layout = layout_for(space, rows.blocks, rule, n_clusters, rows.rows_in_all)
    if layout is None:
        return generic.assign
    assign: AssignFunction = _compiled().CompiledAssign(layout, rule, numpy_dtype(rows.blocks.x))
    return assign


def measure_for(rows: RepresentedRows, space: Space, rule: Rule, n_clusters: int) -> MeasureFunction:
    """The distances of represented rows to centres of `space`, by the same arithmetic as the last pass."""
    layout = layout_for(space, rows.blocks, rule, n_clusters, rows.rows_in_all)
    if layout is None:
        return generic.distances
    measure: MeasureFunction = _compiled().CompiledMeasure(layout, numpy_dtype(rows.blocks.x))
    return measure


def deviations_for(rows: RepresentedRows, power: int) -> DeviationsFunction:
    """Deviations of each cluster's own rows from their mean, over represented rows as they lie."""
    if rows.layout is None:
        return generic.deviations
    deviations: DeviationsFunction = _compiled().CompiledDeviations(rows.layout.shape, power, numpy_dtype(rows.blocks.x))
    return deviations


def _compiled() -> Any:
    """The compiled sweeps. Numba takes half a second to load, and loses what a signal raises while it does."""
    with held_back():
        from . import compiled
    return compiled


def _remembers(layout: Layout, rule: Rule, blocks: Blocks) -> bool:
    """Hard sweeps over many columns keep bounds of distances; over few, reading a row costs no more than asking whether to. Rows that
    are not in memory must be read and represented anyway, and bounds could be longer than there is memory."""
    return layout.shape == "wide" and not rule.is_soft and not blocks.read_anew


def _saving(n: int, r: int, c: int, functions: TileFunctions) -> float:
    """Seconds that compiled code saves in a sweep, from measurements of one core (benchmarks/sweeps.py)."""
    return 1e-9 * n * (100 + functions.saves * c + 0.05 * r * c)
