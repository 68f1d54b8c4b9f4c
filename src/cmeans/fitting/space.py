"""A kernel and a space from constructor parameters and rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..data.arrays import Float64, IntArray, host_float64, is_foreign, is_sparse, numpy_dtype, resolution, to_numpy
from ..data.blocks import LARGEST_SUM, Block, Blocks
from ..data.limits import DEFAULT
from ..engines import Engine
from ..kernels import Kernel, LandmarkGraphKernel, Linear, Precomputed, PrecomputedGraphKernel
from ..kernels.landmark_graph import GraphParameters
from ..landmarks.count import LEAST_AUTOMATIC, enough_landmarks
from ..landmarks.graph import AUTOMATIC, Sought, landmark_centres, landmark_graph
from ..landmarks.precomputed_graph import precomputed_graph
from ..landmarks.select import choose, spanning_rows
from ..runtime.user_warnings import warn
from ..sampling.pairwise import Affinity, Metric
from ..sampling.population import JudgedSample, Population, population_of, some_rows
from ..sampling.sampled_rows import CoordinateRows, GramRows, SampledRows
from ..spaces import EuclideanSpace, ExactSpace, FeatureSpace, LandmarkSpace, Space, checked_gram, landmark_space, solver_tolerance
from ..spaces.centres import Centres
from ..tuning.diagnosis import kernel_complaints, out_of_range
from ..tuning.fuzzifier import Fuzzifier, fuzzifier
from ..tuning.temperature import automatic_temperature, critical_temperature
from .arguments import (
    checked_landmark_parameters,
    given_diagonal,
    given_landmarks,
    graph_parameters,
    refuse_stored,
    row_numbers,
    takes_affinities,
    takes_graph,
    takes_kernel_values,
    whole_diagonal,
)
from .kernel_width import build_named_kernel, checked_kernel_parameters
from .memory import free_memory
from .validation import diagonal

FEW_COLUMNS = 4  # rows for each column from which on coordinates are handled sooner than inner products


class SpaceParameters(Protocol):
    """Constructor parameters of a geometry."""

    kernel: str | Kernel | Callable[..., Any]
    gamma: str | float
    degree: int
    coef0: float
    kernel_params: Mapping[str, Any] | None
    n_landmarks: int | str | None
    landmarks: Any
    landmark_tol: float
    landmark_solver: str


@dataclass(frozen=True)
class Geometry:
    """A space over rows, with the data for drawing from them and for keeping the result."""

    blocks: Blocks
    kernel: Kernel
    space: Space
    n_clusters: int  # that are sought
    gamma: float | None = None
    landmark_rows: IntArray | None = None  # row numbers of the landmarks, where they are rows
    basis: Block | None = None  # the landmarks as rows of data, where the points themselves are column numbers
    columns_only: LandmarkSpace | None = None  # set where a precomputed kernel has only its landmarks' columns
    former: Geometry | None = None  # the same rows in another space, whose samples need not be computed again
    judged_rows: int = DEFAULT.fixed_rows  # rows on which the kernel and its landmarks are judged

    @cached_property
    def population(self) -> Population:
        """The rows that may be drawn; of kernel values and affinities equal ones are not sought."""
        comparable = not self.is_precomputed and not isinstance(self.kernel, PrecomputedGraphKernel)
        return population_of(self.blocks, comparable=comparable) if self.former is None else self.former.population

    @property
    def is_precomputed(self) -> bool:
        """True where rows are kernel values already."""
        return isinstance(self.kernel, Precomputed)

    @property
    def given_landmark_rows(self) -> IntArray | None:
        """Row numbers of the landmarks among the rows that were given."""
        return None if self.landmark_rows is None else self.blocks.given_numbers(self.landmark_rows)

    def affinity(self, positions: IntArray) -> Affinity:
        """Kernel values among members of the population."""
        return self.metric.among(self.population.at(positions))

    @property
    def metric(self) -> Metric:
        """Distances and kernel values between rows."""
        return Metric(self.kernel, self.blocks, self.columns_only, self.space.known if isinstance(self.space, FeatureSpace) else None)

    def over(self, space: Space, landmark_rows: IntArray | None) -> Geometry:
        """Return the same rows in another space."""
        return replace(self, space=space, landmark_rows=landmark_rows, former=self)

    def portable(self, centres: Centres) -> tuple[Space, Centres]:
        """Return centres in a space that a model can keep."""
        space, centres = self.space.portable(centres)
        if self.is_precomputed and self.columns_only is None and isinstance(space, LandmarkSpace):
            assert self.landmark_rows is not None
            space = replace(space, points=self.landmark_rows)  # columns by their numbers among all, also where the space is a sample's
        return space, centres

    @cached_property
    def fuzzifier(self) -> Fuzzifier:
        """Bounds and choice of the fuzzifier for so many clusters of these rows."""
        if self.former is not None:
            return self.former.fuzzifier
        return fuzzifier(*self._in_clusters, self.n_clusters)

    @property
    def critical_fuzzifier(self) -> float:
        """The fuzzifier beyond which all centres fall together, where it is known; else estimated in little time."""
        return self._estimated_fuzzifier(1).critical

    @property
    def merging_fuzzifier(self) -> float:
        """The fuzzifier that keeps all centres from falling together, the same way; superfluous ones may meet."""
        return self._estimated_fuzzifier(1).automatic

    @property
    def advised_fuzzifier(self) -> float:
        """The fuzzifier that keeps centres apart, the same way."""
        return self._estimated_fuzzifier(self.n_clusters).automatic

    def _estimated_fuzzifier(self, n_clusters: int) -> Fuzzifier:
        if self.former is not None:
            return self.former._estimated_fuzzifier(n_clusters)
        size = min(self.judged_rows, self.blocks.limits.least_judged_rows)
        return vars(self).get("fuzzifier") or fuzzifier(*self._by_inner_products(size), n_clusters, starts=3)

    @property
    def _in_clusters(self) -> tuple[SampledRows, Float64]:
        return self._by_inner_products(self.blocks.limits.fuzzifier_rows_for(self.judged_rows, self.n_clusters))

    def _by_inner_products(self, size: int) -> tuple[SampledRows, Float64]:
        """Return at most so many rows, the same for every random_state, by their inner products, and their weights."""
        positions, weights = self.population.fixed_sample_of(size)
        if isinstance(self.kernel, Linear) and FEW_COLUMNS * self.blocks.x.shape[1] <= len(positions):
            rows = self.blocks.take(self.population.at(positions)).x
            if not is_sparse(rows):
                x = host_float64(rows)
                return CoordinateRows(x - weights @ x / weights.sum()), weights
        known = vars(self).get("judged")
        if known is not None and len(known[1].positions) == len(positions):
            return GramRows(known[0]), weights
        return GramRows(checked_gram(self.affinity(positions).between(np.arange(len(positions))), self.kernel)), weights

    @cached_property
    def temperature(self) -> float:
        """The temperature of maximum entropy c-means that keeps so many clusters of these rows apart."""
        if self.former is not None:
            return self.former.temperature
        return automatic_temperature(*self._in_clusters, self.n_clusters)

    @cached_property
    def critical_temperature(self) -> float:
        """The temperature of maximum entropy c-means from which on all centres coincide."""
        return critical_temperature(*self.sampled)

    @cached_property
    def sampled(self) -> tuple[Float64, Float64]:
        """Return the kernel matrix and weights of a fair sample of at most 1,000 rows, the same for every random_state."""
        if self.former is not None:
            return self.former.sampled
        positions, weights = self.population.fixed_sample
        return checked_gram(self.affinity(positions).between(np.arange(len(positions))), self.kernel), weights

    @cached_property
    def judged(self) -> tuple[Float64, JudgedSample]:
        """Return the kernel matrix of the rows on which the kernel is judged, and which they are."""
        if self.former is not None:
            return self.former.judged
        rows = self.population.judged_sample(self.judged_rows)
        if len(rows.within) == len(self.population.fixed_sample[0]):
            return self.sampled[0], rows
        return checked_gram(self.affinity(rows.positions).between(np.arange(len(rows.positions))), self.kernel), rows

    def refuse_range(self, estimator_name: str) -> None:
        """Refuse rows whose squares are too small or too large for their type."""
        self._refuse_range(self.metric.among(some_rows(self.blocks)).diag(), estimator_name)

    def _refuse_range(self, values: Float64, estimator_name: str) -> None:
        dtype, weight = numpy_dtype(self.blocks.x), self.blocks.weight
        total = float(weight.sum()) if dtype == np.float64 else float(weight.mean()) * min(len(weight), LARGEST_SUM)
        fault = out_of_range(values, dtype, total)
        if fault is None and not values.any() and self.kernel.zero_at_zero_alone and self._any_number():
            fault = "its values on these rows are all 0, though the rows are not: their products are smaller than any number"
        if fault is not None:
            raise ValueError(
                f"{estimator_name}(kernel={self.kernel!r}): {fault}. Scale X, or divide the kernel by the size of its values: clusters "
                "do not "
                "depend on it."
            )

    def _any_number(self) -> bool:
        """True where a row of the sample differs from 0, or, where rows are centred first, from the others."""
        x = host_float64(self.blocks.take(some_rows(self.blocks)).x)
        return bool((x != x[0] if self.metric.shifted else x != 0).any())

    def complain(self, estimator_name: str) -> None:
        """Warn of a kernel that cannot show clusters on these rows; refuse one whose values cannot be computed with."""
        gram, rows = self.judged
        self._refuse_range(gram, estimator_name)
        for complaint in kernel_complaints(
            gram, rows.weights, known_definite=self.kernel.positive_definite, rounding=resolution(self.blocks.x.dtype)
        ):
            warn(f"{estimator_name}: {complaint}")


@dataclass(frozen=True)
class SpaceRequest:
    """Parameters, rows and all else that a space is made of."""

    parameters: SpaceParameters
    estimator_name: str
    blocks: Blocks
    n_clusters: int
    rng: np.random.RandomState
    engine: Engine
    budget: int | None = None  # bytes; None: those that are free

    @property
    def room(self) -> int:
        """Bytes that may be taken."""
        return free_memory() if self.budget is None else self.budget


def build_geometry(request: SpaceRequest) -> Geometry:
    """Check the parameters, determine the kernel's width, choose the landmarks, build the space."""
    parameters, estimator_name, blocks, n_clusters = request.parameters, request.estimator_name, request.blocks, request.n_clusters
    number, factor = checked_landmark_parameters(parameters, estimator_name, blocks.n_rows)
    refuse_stored(parameters, estimator_name, blocks, number)
    if takes_kernel_values(parameters.kernel):
        return _precomputed(request, number, factor=factor)
    if takes_affinities(parameters.kernel):
        return _precomputed_graph(request)
    if takes_graph(parameters.kernel):
        return estimator_graph(request, parameters.landmarks, number)
    kernel, gamma = build_named_kernel(parameters, estimator_name, blocks, request.engine)
    given = given_landmarks(parameters.landmarks, estimator_name, blocks, number)
    if given is None and isinstance(kernel, Linear) and not isinstance(number, int):
        plain = Geometry(blocks, kernel, euclidean_space(blocks), n_clusters, gamma)
        plain.refuse_range(estimator_name)
        return plain
    exact = ExactSpace(kernel, blocks, solver_tolerance=solver_tolerance(blocks.x.dtype))
    if given is not None:
        columns = int(given[1].shape[0])
    else:
        columns = number if isinstance(number, int) else blocks.n_rows if _takes_all_rows(number, blocks) else LEAST_AUTOMATIC
    judged_rows = blocks.limits.judged_rows_for(blocks.n_rows, columns)
    geometry = Geometry(blocks, kernel, exact, n_clusters, gamma, judged_rows=judged_rows)
    geometry.complain(estimator_name)
    rows: IntArray | None
    if given is not None:
        rows, points = given
    else:
        rows = _chosen_rows(request, number, geometry, factor=factor)
        if rows is None:
            return geometry.over(exact, np.arange(blocks.n_rows))
        points = blocks.take(rows).x
    return geometry.over(landmark_space(kernel, points, None, blocks.x.dtype, factor=factor), rows)


def _chosen_rows(request: SpaceRequest, number: int | str | None, geometry: Geometry, *, factor: bool) -> IntArray | None:
    """Return the rows chosen as landmarks; None where all are."""
    parameters, rng, engine = request.parameters, request.rng, request.engine
    population, limits = geometry.population, geometry.blocks.limits
    if number is None or _takes_all_rows(number, geometry.blocks):
        if len(population) <= limits.spanned_above or not factor or not geometry.kernel.positive_definite:
            return None
        gram, rows = geometry.judged
        share = rows.weights / rows.weights.sum()
        variance = float(share @ np.diag(gram) - share @ gram @ share)
        among = geometry.affinity(np.arange(len(population)))
        spanning = spanning_rows(among, population.weights, variance, limits.most_landmarks, engine)
        return None if spanning is None else population.at(spanning)
    if number == "auto":
        n_clusters = geometry.n_clusters
        return enough_landmarks(parameters.landmarks, parameters.landmark_tol, n_clusters, geometry.affinity, population, rng, engine)
    shifted = geometry.metric.shifted
    return choose(parameters.landmarks, int(number), geometry.affinity, population, rng, shifted=shifted, engine=engine)


def _takes_all_rows(number: int | str | None, blocks: Blocks) -> bool:
    """True where no landmarks are asked for."""
    return number is None or (number == "auto" and blocks.n_rows <= blocks.limits.exact_rows)


def check_kernel(parameters: SpaceParameters, estimator_name: str) -> None:
    """Refuse invalid kernel parameters."""
    if takes_kernel_values(parameters.kernel):
        given_diagonal(parameters, estimator_name)
    elif takes_graph(parameters.kernel) or takes_affinities(parameters.kernel):
        graph_parameters(parameters, estimator_name)
    else:
        checked_kernel_parameters(parameters, estimator_name)


def euclidean_space(blocks: Blocks) -> EuclideanSpace:
    """Return the space of the rows themselves."""
    some = blocks.take(some_rows(blocks))
    return EuclideanSpace.about(to_numpy(some.x) if is_foreign(some.x) else some.x, some.weight)


def estimator_graph(request: SpaceRequest, landmarks: Any, number: int | str | None) -> Geometry:
    """Return the geometry of rows in the leading eigenvectors of their graph over landmarks."""
    parameters, estimator_name, n_clusters = request.parameters, request.estimator_name, request.n_clusters
    words = graph_parameters(parameters, estimator_name)
    if isinstance(parameters.kernel, LandmarkGraphKernel):
        return Geometry(request.blocks, parameters.kernel, FeatureSpace(parameters.kernel), n_clusters)
    sought = Sought(n_clusters, "clusters", f'{estimator_name}(n_clusters={n_clusters}, kernel="landmark_graph")')
    return graph_geometry(words, sought, request.blocks, landmarks, number, estimator_name, request.rng, request.engine)


def graph_geometry(
    words: GraphParameters,
    sought: Sought,
    blocks: Blocks,
    landmarks: Any,
    number: int | str | None,
    estimator_name: str,
    rng: np.random.RandomState,
    engine: Engine,
) -> Geometry:
    """Choose the landmarks, make their graph of all rows."""
    if words.metric == "precomputed":
        if not isinstance(landmarks, str) or isinstance(number, int):
            raise ValueError(
                f'{estimator_name}(landmarks=..., n_landmarks=...): with metric="precomputed" X holds the distances of rows to landmarks, '
                "one column each; leave both out."
            )
        kernel, features = landmark_graph(None, words, sought, blocks, engine)
        return Geometry(blocks, kernel, FeatureSpace(kernel, features), sought.count)
    given, rows = given_landmarks(landmarks, estimator_name, blocks, number), None
    raw = Geometry(blocks, Linear(), euclidean_space(blocks), sought.count)
    raw.refuse_range(estimator_name)
    different = len(raw.population)
    count = number if isinstance(number, int) else max(min(AUTOMATIC, different // 2), min(words.n_neighbors, different - 1), 1)
    if given is not None:
        rows, points = given
    elif landmarks in ("k-means", "rpcholesky"):  # the latter: the estimators' default, which chooses for kernels of other kinds
        points = landmark_centres(blocks, raw.population, count, rng, engine)
    else:
        rows = choose(str(landmarks), count, raw.affinity, raw.population, rng, shifted=raw.metric.shifted)
        points = blocks.take(rows).x
    kernel, features = landmark_graph(host_float64(points), words, sought, blocks, engine)
    return Geometry(blocks, kernel, FeatureSpace(kernel, features), sought.count, None, rows)


def _precomputed_graph(request: SpaceRequest) -> Geometry:
    """Return the geometry of rows of affinities in the leading eigenvectors of their graph."""
    estimator_name, blocks, n_clusters = request.estimator_name, request.blocks, request.n_clusters
    words, kernel = graph_parameters(request.parameters, estimator_name), request.parameters.kernel
    if isinstance(kernel, PrecomputedGraphKernel):
        mass = kernel.row_weights(blocks.x, blocks.weight)
    else:
        sought = Sought(n_clusters, "clusters", f'{estimator_name}(n_clusters={n_clusters}, kernel="precomputed_graph")')
        kernel, mass = precomputed_graph(blocks.x, blocks.weight, words, sought, request.rng, request.room)
    features = None if is_foreign(blocks.x) else kernel.features(blocks.x)
    return Geometry(replace(blocks, weight=mass), kernel, FeatureSpace(kernel, features), n_clusters)


def _precomputed(request: SpaceRequest, number: int | str | None, *, factor: bool) -> Geometry:
    """Return the geometry of rows of kernel values: the square matrix, or only the columns of the landmarks with the diagonal."""
    parameters, estimator_name, blocks, n_clusters = request.parameters, request.estimator_name, request.blocks, request.n_clusters
    n, width = blocks.x.shape
    kernel = Precomputed()
    diag = given_diagonal(parameters, estimator_name)
    listed = None if isinstance(parameters.landmarks, str) else row_numbers(parameters.landmarks, estimator_name, n)
    if listed is not None and diag is not None and width == len(listed):
        return _columns_only(estimator_name, blocks, listed, diag, n_clusters, factor=factor)
    blocks = replace(blocks, kxx=whole_diagonal(parameters, estimator_name, blocks.x))
    exact = ExactSpace(kernel, blocks, solver_tolerance=solver_tolerance(blocks.x.dtype))
    plain = Geometry(blocks, kernel, exact, n_clusters, None, np.arange(n))
    plain.complain(estimator_name)
    if listed is None:
        listed = _chosen_rows(request, number, plain, factor=factor)
        if listed is None:
            return plain
    basis = blocks.take(listed)
    gram = host_float64(kernel.prepare(listed)(basis.x))
    space = landmark_space(kernel, listed, gram, blocks.x.dtype, factor=factor)
    return replace(plain, space=space, landmark_rows=listed, basis=basis, former=plain)


def _columns_only(estimator_name: str, blocks: Blocks, listed: IntArray, diag: Any, n_clusters: int, *, factor: bool) -> Geometry:
    kernel = Precomputed()
    blocks = replace(blocks, kxx=diagonal(diag, blocks.x, estimator_name))
    basis = blocks.take(listed)
    gram = host_float64(basis.x)
    space = landmark_space(kernel, np.arange(len(listed)), gram, blocks.x.dtype, factor=factor)
    known = space if factor else landmark_space(kernel, np.arange(len(listed)), gram, blocks.x.dtype)
    geometry = Geometry(blocks, kernel, space, n_clusters, None, listed, basis, known)
    geometry.complain(estimator_name)
    return geometry
