"""The rows of a fit in their space, and what is read off a sample of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..data.arrays import Array, Float64, IntArray, host_float64, is_sparse
from ..data.blocks import LARGEST_SUM, Block, Blocks, mapped
from ..data.limits import DEFAULT
from ..data.precision import numpy_dtype, resolution
from ..data.scaling import Units
from ..kernels import Kernel
from ..runtime.user_warnings import OutOfRangeError, warn
from ..sampling.pairwise import Affinity, Metric
from ..sampling.population import JudgedSample, Population, population_of, some_rows
from ..sampling.sampled_rows import CoordinateRows, GramRows, SampledRows
from ..spaces import Space, checked_gram
from ..spaces.centres import Centres
from ..tuning.diagnosis import kernel_complaints, out_of_range
from ..tuning.softness import Fuzzifier, automatic_temperature, critical_temperature, fuzzifier

# rows for each column from which on coordinates are handled sooner than inner products
FEW_COLUMNS = 4


@dataclass(frozen=True)
class Geometry:
    """A space over rows, with the data for drawing from them and for keeping the result."""

    blocks: Blocks
    kernel: Kernel
    space: Space
    n_clusters: int  # that are sought
    gamma: float | None = None
    landmark_rows: IntArray | None = None  # row numbers of the landmarks, where they are rows
    # the landmarks as rows of data, where the points themselves are column numbers
    basis: Block | None = None
    # set where a precomputed kernel has only its landmarks' columns
    columns_only: Space | None = None
    # the same rows in another space, whose samples need not be computed again
    former: Geometry | None = None
    judged_rows: int = DEFAULT.fixed_rows  # rows on which the kernel and its landmarks are judged
    units: Units | None = None  # of the features, where they are not the user's

    @cached_property
    def population(self) -> Population:
        """The rows that may be drawn; of kernel values and affinities equal ones are not sought."""
        comparable = self.kernel.takes_features
        if self.former is None:
            return population_of(self.blocks, comparable=comparable)
        return self.former.population

    @property
    def is_precomputed(self) -> bool:
        """True where rows are kernel values already."""
        return self.kernel.takes_kernel_values

    @property
    def given_landmark_rows(self) -> IntArray | None:
        """Row numbers of the landmarks among the rows that were given."""
        return None if self.landmark_rows is None else self.blocks.given_numbers(self.landmark_rows)

    def as_rows(self, points: Array) -> Array:
        """Convert points (k, d) from the user's units to those of the rows."""
        return points if self.units is None else self.units(points)

    def as_given(self, points: Array) -> Array:
        """Convert points (k, d) from the units of the rows to the user's."""
        return points if self.units is None else self.units.inverse(points)

    def affinity(self, positions: IntArray) -> Affinity:
        """Kernel values among members of the population."""
        return self.metric.among(self.population.at(positions))

    @property
    def metric(self) -> Metric:
        """Distances and kernel values between rows."""
        by_space = None if self.space.pairs_by_kernel else self.space
        return Metric(self.kernel, self.blocks, self.columns_only or by_space)

    @property
    def _filled(self) -> Blocks:
        """The rows, with something in place of what is missing."""
        fill = self.space.filling
        return self.blocks if fill is None else replace(self.blocks, x=mapped(self.blocks.x, fill))

    def _gram(self, positions: IntArray) -> Float64:
        """Kernel matrix of members of the population, with means of columns in place of missing
        values."""
        if self.space.filling is None:
            among = self.affinity(positions)
        else:
            among = Metric(self.kernel, self._filled).among(self.population.at(positions))
        return checked_gram(among.between(np.arange(len(positions))), self.kernel)

    def over(self, space: Space, landmark_rows: IntArray | None) -> Geometry:
        """Return the same rows in another space."""
        return replace(self, space=space, landmark_rows=landmark_rows, former=self)

    def in_scale(self) -> Geometry:
        """Return the same rows in the space in which distances of those with missing values compare
        with those of others."""
        space = self.space.in_scale()
        return self if space is self.space else self.over(space, self.landmark_rows)

    def portable(self, centres: Centres) -> tuple[Space, Centres]:
        """Return centres in a space that a model can keep."""
        whole = self.is_precomputed and self.columns_only is None
        # Columns have their numbers among all, also where the space is that of a sample.
        return self.space.portable(centres, self.landmark_rows if whole else None)

    @cached_property
    def fuzzifier(self) -> Fuzzifier:
        """Bounds and choice of the fuzzifier for so many clusters of these rows."""
        if self.former is not None:
            return self.former.fuzzifier
        return fuzzifier(*self._in_clusters, self.n_clusters)

    @property
    def automatic_fuzzifier(self) -> float:
        """The fuzzifier that keeps so many clusters of these rows apart."""
        return self.fuzzifier.automatic

    @property
    def critical_fuzzifier(self) -> float:
        """The fuzzifier beyond which all centres fall together, where it is known; else estimated
        in little time."""
        return self._estimated_fuzzifier(1).critical

    @property
    def merging_fuzzifier(self) -> float:
        """The fuzzifier that keeps all centres from falling together, the same way; superfluous
        ones may meet."""
        return self._estimated_fuzzifier(1).automatic

    @property
    def advised_fuzzifier(self) -> float:
        """The fuzzifier that keeps centres apart, the same way."""
        return self._estimated_fuzzifier(self.n_clusters).automatic

    def _estimated_fuzzifier(self, n_clusters: int) -> Fuzzifier:
        if self.former is not None:
            return self.former._estimated_fuzzifier(n_clusters)
        size = min(self.judged_rows, self.blocks.limits.least_judged_rows)
        return vars(self).get("fuzzifier") or fuzzifier(
            *self._by_inner_products(size), n_clusters, starts=3
        )

    @property
    def _in_clusters(self) -> tuple[SampledRows, Float64]:
        return self._by_inner_products(
            self.blocks.limits.fuzzifier_rows_for(self.judged_rows, self.n_clusters)
        )

    def _by_inner_products(self, size: int) -> tuple[SampledRows, Float64]:
        """Return at most so many rows, the same for every random_state, by their inner products,
        and their weights."""
        positions, weights = self.population.fixed_sample_of(size)
        plain = self.kernel.coordinates == "rows" and self.space.pairs_by_kernel
        if (plain or self.space.filling is not None) and FEW_COLUMNS * self.blocks.x.shape[
            1
        ] <= len(positions):
            rows = self._filled.take(self.population.at(positions)).x
            if not is_sparse(rows):
                x = host_float64(rows)
                return CoordinateRows(x - weights @ x / weights.sum()), weights
        known = vars(self).get("judged")
        if known is not None and len(known[1].positions) == len(positions):
            return GramRows(known[0]), weights
        return GramRows(self._gram(positions)), weights

    @cached_property
    def temperature(self) -> float:
        """The temperature of maximum entropy c-means that keeps so many clusters of these rows
        apart."""
        if self.former is not None:
            return self.former.temperature
        return automatic_temperature(*self._in_clusters, self.n_clusters)

    @cached_property
    def critical_temperature(self) -> float:
        """The temperature of maximum entropy c-means from which on all centres coincide."""
        return critical_temperature(*self.sampled, spherical=self.space.spherical)

    @cached_property
    def sampled(self) -> tuple[Float64, Float64]:
        """Return the kernel matrix and weights of a fair sample of at most 1,000 rows, the same for
        every random_state."""
        if self.former is not None:
            return self.former.sampled
        positions, weights = self.population.fixed_sample
        return self._gram(positions), weights

    @cached_property
    def judged(self) -> tuple[Float64, JudgedSample]:
        """Return the kernel matrix of the rows on which the kernel is judged, and which they
        are."""
        if self.former is not None:
            return self.former.judged
        rows = self.population.judged_sample(self.judged_rows)
        if len(rows.within) == len(self.population.fixed_sample[0]):
            return self.sampled[0], rows
        return self._gram(rows.positions), rows

    def refuse_range(self, estimator_name: str) -> None:
        """Refuse rows whose squares are too small or too large for their type."""
        self._refuse_range(self.metric.among(some_rows(self.blocks)).diag(), estimator_name)

    def _refuse_range(self, values: Float64, estimator_name: str) -> None:
        dtype, weight = numpy_dtype(self.blocks.x), self.blocks.weight
        if dtype == np.float64:
            total = float(weight.sum())
        else:
            total = float(weight.mean()) * min(len(weight), LARGEST_SUM)
        fault = out_of_range(values, dtype, total)
        if (
            fault is None
            and not values.any()
            and self.kernel.zero_at_zero_alone
            and self._any_number()
        ):
            fault = (
                "its values on these rows are all 0, though the rows are not: their products "
                "are smaller than any number"
            )
        if fault is not None:
            raise OutOfRangeError(
                f"{estimator_name}(kernel={self.kernel!r}): {fault}. Scale the rows, or divide the "
                "kernel by the size of its values: clusters do not depend on it."
            )

    def _any_number(self) -> bool:
        """True where the sampled rows have anything to measure: some value other than 0, or, where
        rows are centred first, two rows that differ."""
        x = host_float64(self._filled.take(some_rows(self.blocks)).x)
        return bool((x != x[0] if self.metric.shifted else x != 0).any())

    def complain(self, estimator_name: str) -> None:
        """Warn of a kernel that cannot show clusters on these rows; refuse one whose values cannot
        be computed with."""
        gram, rows = self.judged
        self._refuse_range(gram, estimator_name)
        for complaint in kernel_complaints(
            gram,
            rows.weights,
            known_definite=self.kernel.positive_definite,
            rounding=resolution(self.blocks.x.dtype),
        ):
            warn(f"{estimator_name}: {complaint}")
