"""The passes over represented rows that sum or measure, on whichever engine."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, IntArray, fill_rows, to_numpy
from ..data.known_labels import known_of
from ..data.partitions import Partition
from ..engines import NumberedPass, Pass
from ..rules import Hard, Rule
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ..spaces import Space
from .choice import (
    AboutFunction,
    CostsFunction,
    DeviationsFunction,
    FewNearestFunction,
    MarginFunction,
    MeasureFunction,
    NearestFunction,
    PriceFunction,
    SweepFunction,
    about_for,
    costs_for,
    deviations_for,
    few_nearest_for,
    label_sums_for,
    margins_for,
    measure_for,
    nearest_for,
    prices_for,
    sweep_for,
)
from .cluster_sums import SumsByLabel
from .generic import gather
from .generic_measures import fuzzy_deviations, nearest, silhouettes
from .represented_rows import RepresentedRows
from .state import State
from .statistics import ClusterCosts, Margins, PriceStatistics, Statistics
from .top_k import NativeAbout

# rows among which the first of a cluster is looked for, and of very many clusters for each
FIRST_ROWS, FIRST_ROWS_EACH = 2**14, 4


class OwnLabels:
    """The cluster of each row's largest membership, as labelling sweeps leave it beside the
    rows."""

    def __init__(self, rows: RepresentedRows) -> None:
        self.labels = np.full(rows.n_rows, -1, dtype=np.intp)  # (n,) -1: none
        self.written_by: dict[int, bytes] = {}  # the key of the sweep that wrote those of a task


@dataclass(frozen=True)
class SweepPass(Pass[Statistics]):
    """One sweep from a state. A labelling one also writes `OwnLabels` of the rows, and sums over
    each cluster's own rows."""

    rule: Rule
    state: State
    labelling: bool = False
    # of the sweeps before, which may remember them; it does not travel
    function: SweepFunction | None = None
    probes: int = 0  # as of `Problem`

    def prepare(self, rows: RepresentedRows) -> SweepFunction:
        return self.function or sweep_for(rows, self.rule, len(self.state.centres), self.probes)

    def work(self, rows: RepresentedRows, task: int, prepared: SweepFunction) -> Statistics:
        own = rows.beside(OwnLabels) if self.labelling else None
        sums = prepared(rows, self.rule, self.state, task, None if own is None else own.labels)
        if own is not None:
            own.written_by[task] = self.key
        return cast(Statistics, sums)  # which moved rows stand for until they are settled

    def conclude(self, total: Statistics) -> Statistics:
        total = total.settled
        if not total.is_finite():
            raise OutOfRangeError(NOT_FINITE)
        return total

    @cached_property
    def key(self) -> bytes:
        """Digest of all that the labels depend on."""
        digest = hashlib.blake2b(repr(self.rule).encode(), digest_size=16)
        metrics = None if self.state.metrics is None else self.state.metrics.factors
        centres = self.state.centres
        for part in (centres.coordinates, centres.duals, self.state.scales, metrics):
            digest.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        return digest.digest()

    def __reduce__(self) -> Any:
        return type(self), (self.rule, self.state, self.labelling, None, self.probes)


@dataclass(frozen=True)
class DeviationPass(Pass[Float64]):
    """(c,) sums of weight |x - mean|^power over each cluster's own rows, as a labelling sweep has
    found them."""

    labelled: SweepPass
    means: State
    power: int

    def prepare(self, rows: RepresentedRows) -> DeviationsFunction:
        return deviations_for(rows, self.labelled.rule, len(self.means.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: DeviationsFunction) -> Float64:
        own = rows.beside(OwnLabels)
        # the rows were represented anew since, after a worker was lost
        if own.written_by.get(task) != self.labelled.key:
            self.labelled.work(rows, task, self.labelled.prepare(rows))
        return prepared(rows, self.means, own.labels, self.power, task)


@dataclass(frozen=True)
class FuzzyDeviationPass(Pass[Float64]):
    """(2, c) sums of  weight u_ij |x_i - v_j|  and of  weight u_ij."""

    rule: Rule
    state: State

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Float64:
        return fuzzy_deviations(rows, self.rule, self.state, task)


@dataclass(frozen=True)
class SilhouettePass(Pass[Float64]):
    """(2,) sums of the weighted simplified silhouettes of rows, by squared distances to two centres
    or more, and of their weights."""

    state: State

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Float64:
        return silhouettes(rows, self.state, task)


@dataclass(frozen=True)
class CostPass(Pass[ClusterCosts]):
    """Errors and utilities of the clusters."""

    rule: Rule
    state: State

    def prepare(self, rows: RepresentedRows) -> CostsFunction:
        return costs_for(rows, self.rule, len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: CostsFunction) -> ClusterCosts:
        return prepared(rows, self.rule, self.state, task)


@dataclass(frozen=True)
class PricePass(Pass[PriceStatistics]):
    """Masses of clusters under their prices, and how they change with these."""

    rule: Rule
    state: State

    def prepare(self, rows: RepresentedRows) -> PriceFunction:
        return prices_for(rows, self.rule, len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: PriceFunction) -> PriceStatistics:
        return prepared(rows, self.rule, self.state, task)

    def conclude(self, total: PriceStatistics) -> PriceStatistics:
        if not (np.isfinite(total.cost) and np.isfinite(total.mass).all()):
            raise OutOfRangeError(NOT_FINITE)
        return total


@dataclass(frozen=True)
class MarginPass(NumberedPass[Margins]):
    """Clusters of the rows by price, and the rows that another cluster would have for less than
    `width` more."""

    rule: Rule
    state: State
    width: float
    space: Space | None = None  # of the centres, where it is not the rows' own

    def prepare(self, rows: RepresentedRows) -> MarginFunction:
        return margins_for(rows, self.space or rows.space, self.rule, len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: MarginFunction) -> Margins:
        found = prepared(rows, self.space or rows.space, self.rule, self.state, self.width, task)
        return found.from_row(self.first)


@dataclass(frozen=True)
class NearestRowsPass(Pass[tuple[IntArray, Float64]]):
    """(b,) the number of each row's nearest centre, and the squared distance to it."""

    rule: Rule
    state: State

    def prepare(self, rows: RepresentedRows) -> NearestFunction:
        return nearest_for(rows, self.rule, len(self.state.centres))

    def work(
        self, rows: RepresentedRows, task: int, prepared: NearestFunction
    ) -> tuple[IntArray, Float64]:
        return prepared(rows, self.state, task)


@dataclass(frozen=True)
class FewNearestPass(Pass[tuple[IntArray, Array]]):
    """(b, most) the numbers of the clusters that have each row for least by price, the cheapest
    first, and the squared distances to them."""

    rule: Rule
    state: State
    most: int
    space: Space | None = None  # of the centres, where it is not the rows' own

    def prepare(self, rows: RepresentedRows) -> FewNearestFunction:
        return few_nearest_for(rows, self.space or rows.space, self.rule, len(self.state.centres))

    def work(
        self, rows: RepresentedRows, task: int, prepared: FewNearestFunction
    ) -> tuple[IntArray, Array]:
        return prepared(rows, self.space or rows.space, self.state, self.most, task)


@dataclass(frozen=True)
class AboutNearestPass(Pass[tuple[IntArray, Array]]):
    """The same as of `FewNearestPass`, among the clusters (c, near) about each row's nearest
    centre, where these are searched for."""

    few: FewNearestPass
    about: npt.NDArray[np.int32]
    # of the passes before, which remembers them; it does not travel
    function: AboutFunction | None = None

    def prepare(self, rows: RepresentedRows) -> AboutFunction | FewNearestFunction:
        found = self.function or about_for(rows, self.few.rule, len(self.few.state.centres))
        return found or self.few.prepare(rows)

    def work(
        self, rows: RepresentedRows, task: int, prepared: AboutFunction | FewNearestFunction
    ) -> tuple[IntArray, Array]:
        if isinstance(prepared, NativeAbout):
            return prepared(rows, self.few.state, self.about, self.few.most, task)
        return self.few.work(rows, task, prepared)

    def __reduce__(self) -> Any:
        return type(self), (self.few, self.about)


@dataclass(frozen=True)
class FirstRowsPass(NumberedPass[Float64]):
    """(c,) for each centre, the place of the first row of positive weight that has it as the
    nearest centre; infinite for a centre without such a row, or with none in the first tasks."""

    state: State
    places: IntArray | None  # (n,) of the rows; None: their numbers

    def prepare(self, rows: RepresentedRows) -> NearestFunction:
        return nearest_for(rows, Hard(), len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: NearestFunction) -> Float64:
        start, stop = rows.task_range(task)
        found = np.full(len(self.state.centres), np.inf)
        if self.first + start >= max(FIRST_ROWS, FIRST_ROWS_EACH * len(found)):
            return found
        if self.places is None:
            places = np.arange(self.first + start, self.first + stop)
        else:
            places = self.places[start:stop]
        labels, weighs = prepared(rows, self.state, task)[0], rows.blocks.weight[start:stop] > 0
        np.minimum.at(found, labels[weighs], places[weighs])
        return found

    def part(self, start: int, stop: int) -> FirstRowsPass:
        return replace(
            self, first=start, places=None if self.places is None else self.places[start:stop]
        )


@dataclass(frozen=True)
class PartitionPass(Pass[Statistics]):
    """The sums that given memberships (n, c) make, without distances."""

    rule: Rule
    memberships: Array | Partition
    about: State | None = None  # whose metrics ask for second moments

    def prepare(self, rows: RepresentedRows) -> SumsByLabel | None:
        given = self.memberships
        by_label = isinstance(given, Partition) and self.about is None
        return label_sums_for(rows, cast(Partition, given)) if by_label else None

    def work(self, rows: RepresentedRows, task: int, prepared: SumsByLabel | None) -> Statistics:
        if prepared is not None:
            return cast(Statistics, prepared(rows, task))
        return gather(rows, self.rule, self.memberships, task, self.about)

    def conclude(self, total: Statistics) -> Statistics:
        return total.settled

    def part(self, start: int, stop: int) -> PartitionPass:
        given = self.memberships
        here = given.part(start, stop) if isinstance(given, Partition) else given[start:stop, ...]
        return replace(self, memberships=here)


@dataclass(frozen=True)
class KnownPass(Pass[Statistics]):
    """The sums of rows in the clusters that they are known to belong to."""

    rule: Rule
    n_clusters: int
    about: State | None = None  # whose metrics ask for second moments

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Statistics:
        known = known_of(rows.blocks)
        assert known is not None, "labels travel with the rows"
        memberships = Partition(known.labels, self.n_clusters, rows.blocks.x)
        return gather(rows, self.rule, memberships, task, self.about)


@dataclass(frozen=True)
class DistancePass(Pass[Array]):
    """(b, c) distances to every centre, square roots taken, by the arithmetic of the last pass; NaN
    for rows that say nothing."""

    rule: Rule
    state: State
    space: Space | None = None  # of the centres, where it is not the rows' own

    def prepare(self, rows: RepresentedRows) -> MeasureFunction:
        return measure_for(rows, self.space or rows.space, self.rule, len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: MeasureFunction) -> Array:
        distances = prepared(rows, self.space or rows.space, self.state, task)
        if len(empty := rows.empty_rows(task)):
            fill_rows(distances, empty - rows.task_range(task)[0], np.nan)
        return distances


@dataclass(frozen=True)
class NearestPass(Pass[IntArray]):
    """(b,) numbers of the nearest centres, less their prices where they have some, without k(x, x);
    -1 for rows that say nothing."""

    state: State

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> IntArray:
        labels = nearest(rows, rows.space, self.state, task)
        labels[rows.empty_rows(task) - rows.task_range(task)[0]] = -1
        return labels


@dataclass(frozen=True)
class TotalNormPass(Pass[float]):
    """sum_l w_l k(x_l, x_l)."""

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> float:
        return sum(
            float(to_numpy(block.rows.kxx).astype("float64") @ block.weight)
            for block in rows.task(task)
        )
