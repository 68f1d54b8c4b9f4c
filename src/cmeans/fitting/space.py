"""A kernel and a space from constructor parameters and rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import numpy as np

from ..data.arrays import (
    Float64,
    IntArray,
    host_float64,
    in_float64,
    is_foreign,
    is_sparse,
    to_numpy,
)
from ..data.blocks import Blocks
from ..data.scaling import Units
from ..engines import Engine
from ..graphs.landmark_graph import (
    Sought,
    automatic_landmarks,
    doubt,
    landmark_centres,
    landmark_graph,
)
from ..graphs.precomputed_graph import precomputed_graph
from ..kernels import (
    Cosine,
    Kernel,
    LandmarkGraphKernel,
    Linear,
    Precomputed,
    PrecomputedGraphKernel,
)
from ..landmarks.count import LEAST_AUTOMATIC, enough_landmarks
from ..landmarks.select import choose, spanning_rows
from ..runtime.checks import one_of
from ..runtime.free_memory import free_memory
from ..sampling.population import some_rows
from ..spaces import (
    SPACES,
    EuclideanSpace,
    ExactSpace,
    FeatureSpace,
    PointSpace,
    Space,
    solver_tolerance,
)
from .arguments import (
    MetricName,
    SpaceParameters,
    refuse_beside_graph,
    refuse_stored,
    row_numbers,
    whole_diagonal,
)
from .diagonals import diagonal
from .geometry import Geometry
from .kernel_evidence import given_kernel, settled_kernel
from .landmark_choice import Landmarks, given_landmarks, method_or, number_among
from .rows.empty import without_empty_rows


@dataclass(frozen=True)
class SpaceRequest:
    """Parameters, rows and all else that a space is made of."""

    parameters: SpaceParameters
    estimator_name: str
    blocks: Blocks
    n_clusters: int
    rng: np.random.RandomState
    engine: Engine
    kernel: Kernel  # before it is settled
    landmarks: Landmarks
    budget: int | None = None  # bytes; None: those that are free
    space: PointSpace | None = None  # of the rows themselves, where it is made already
    units: Units | None = None  # of the features, where they are not the user's

    @property
    def spherical(self) -> bool:
        """True where centres have length one."""
        return self.parameters.metric == "cosine"

    @property
    def room(self) -> int:
        """Bytes that may be taken."""
        return free_memory() if self.budget is None else self.budget

    def without_empty_rows(self, space: Space) -> Blocks:
        """Return the rows, with no weight where they say nothing in the space."""
        if not space.may_hold_empty_rows:
            return self.blocks
        return without_empty_rows(self.blocks, space, self.engine, self.estimator_name)


def build_geometry(request: SpaceRequest) -> Geometry:
    """Check the parameters, determine the kernel's width, choose the landmarks, build the space."""
    parameters = request.parameters
    estimator_name = request.estimator_name
    blocks = request.blocks
    n_clusters = request.n_clusters
    if is_space(parameters.kernel):
        space = SPACES[str(parameters.kernel)].over(blocks, request.rng)
        named = Geometry(request.without_empty_rows(space), space.kernel, space, n_clusters)
        named.refuse_range(estimator_name)
        return named
    kernel, landmarks, spherical = request.kernel, request.landmarks, request.spherical
    number = number_among(landmarks, blocks.n_rows, estimator_name)
    refuse_stored(kernel, estimator_name, blocks, exact=landmarks.is_exact)
    if kernel.takes_kernel_values:
        return _precomputed(request)
    if kernel.takes_affinities:
        return _of_graph(_precomputed_graph(request), spherical=spherical)
    if kernel.over_landmarks:
        return _of_graph(estimator_graph(request), spherical=spherical)
    kernel, gamma = settled_kernel(kernel, parameters, estimator_name, blocks, request.engine)
    if spherical and kernel.coordinates == "rows":
        kernel = Cosine()  # the inner product of rows of length one
    plain_kernel = kernel.coordinates == ("unit rows" if spherical else "rows")
    given = given_landmarks(landmarks, estimator_name, blocks, request.units)
    if given is None and plain_kernel and not isinstance(number, int):
        space = request.space or euclidean_space(blocks, spherical=spherical)
        plain = Geometry(request.without_empty_rows(space), kernel, space, n_clusters, gamma)
        plain.refuse_range(estimator_name)
        return plain
    exact = ExactSpace(kernel, blocks, solver_tolerance(blocks.x.dtype), spherical)
    blocks = request.without_empty_rows(exact)
    if given is not None:
        columns = int(given[1].shape[0])
    else:
        if isinstance(number, int):
            columns = number
        elif takes_all_rows(number, blocks):
            columns = blocks.n_rows
        else:
            columns = LEAST_AUTOMATIC
    judged_rows = blocks.limits.judged_rows_for(blocks.n_rows, columns)
    geometry = Geometry(blocks, kernel, exact, n_clusters, gamma, judged_rows=judged_rows)
    geometry.complain(estimator_name)
    rows: IntArray | None
    if given is not None:
        rows, points = given
    else:
        rows = _chosen_rows(request, geometry)
        if rows is None:
            return geometry.over(exact, np.arange(blocks.n_rows))
        points = blocks.take(rows).x
    space, used = landmarks.space(kernel, points, None, blocks.x.dtype, spherical=spherical)
    return geometry.over(space, None if rows is None else rows[used])


def _of_graph(geometry: Geometry, *, spherical: bool) -> Geometry:
    """Return the geometry of a graph with centres as the parameters ask for them."""
    space = cast(FeatureSpace, geometry.space)
    return replace(geometry, space=replace(space, spherical=spherical))


def _chosen_rows(request: SpaceRequest, geometry: Geometry) -> IntArray | None:
    """Return the rows chosen as landmarks; None where all are."""
    landmarks, rng, engine = request.landmarks, request.rng, request.engine
    number, method = landmarks.number, method_or(landmarks, "rpcholesky")
    population, limits = geometry.population, geometry.blocks.limits
    if number is None or takes_all_rows(number, geometry.blocks):
        if (
            len(population) <= limits.spanned_above
            or not landmarks.is_factored
            or not geometry.kernel.positive_definite
        ):
            return None
        gram, rows = geometry.judged
        share = rows.weights / rows.weights.sum()
        variance = float(share @ np.diag(gram) - share @ gram @ share)
        among = geometry.affinity(np.arange(len(population)))
        spanning = spanning_rows(among, population.weights, variance, limits.most_landmarks, engine)
        return None if spanning is None else population.at(spanning)
    if number == "auto":
        n_clusters = geometry.n_clusters
        return enough_landmarks(
            method, landmarks.tol, n_clusters, geometry.affinity, population, rng, engine
        )
    shifted = geometry.metric.shifted
    return choose(
        method, int(number), geometry.affinity, population, rng, shifted=shifted, engine=engine
    )


def takes_all_rows(number: int | str | None, blocks: Blocks) -> bool:
    """True where no landmarks are asked for."""
    return number is None or (number == "auto" and blocks.n_rows <= blocks.limits.exact_rows)


def is_space(kernel: Any) -> bool:
    """True where the word for the kernel is the name of a space."""
    return isinstance(kernel, str) and kernel in SPACES


def check_kernel(parameters: SpaceParameters, kernel: Kernel, estimator_name: str) -> None:
    """Refuse parameters that are invalid beside the kernel."""
    one_of(parameters.metric, "metric", estimator_name, get_args(MetricName))
    if kernel.over_landmarks or kernel.takes_affinities:
        refuse_beside_graph(parameters, kernel, estimator_name)


def euclidean_space(blocks: Blocks, *, spherical: bool = False) -> PointSpace:
    """Return the space of the rows themselves, or of rows of length one."""
    if spherical:
        return EuclideanSpace(np.zeros(blocks.x.shape[1]), spherical=True)
    some = blocks.take(some_rows(blocks))
    return EuclideanSpace.about(to_numpy(some.x) if is_foreign(some.x) else some.x, some.weight)


def unit_sphere(parameters: SpaceParameters, n_features: int) -> EuclideanSpace | None:
    """Return the space of the directions of rows, where a fit clusters these; else None."""
    directions = parameters.metric == "cosine" and given_kernel(parameters, "select").coordinates
    return EuclideanSpace(np.zeros(n_features), spherical=True) if directions else None


def estimator_graph(request: SpaceRequest) -> Geometry:
    """Return the geometry of rows in the leading eigenvectors of their graph over landmarks."""
    kernel = cast(LandmarkGraphKernel, request.kernel)  # which is over landmarks
    estimator_name, n_clusters = request.estimator_name, request.n_clusters
    refuse_beside_graph(request.parameters, kernel, estimator_name)
    if kernel.is_made:
        return Geometry(request.blocks, kernel, FeatureSpace(kernel), n_clusters)
    sought = Sought(
        n_clusters,
        "clusters",
        f'{estimator_name}(n_clusters={n_clusters}, kernel="landmark_graph")',
    )
    geometry = graph_geometry(
        kernel,
        sought,
        request.blocks,
        request.landmarks,
        estimator_name,
        request.rng,
        request.engine,
        request.units,
    )
    doubt(cast(Float64, cast(LandmarkGraphKernel, geometry.kernel).eigenvalues), sought)
    return geometry


def graph_geometry(
    words: LandmarkGraphKernel,
    sought: Sought,
    blocks: Blocks,
    landmarks: Landmarks,
    estimator_name: str,
    rng: np.random.RandomState,
    engine: Engine,
    units: Units | None = None,
) -> Geometry:
    """Choose the landmarks, make their graph of all rows."""
    if words.metric == "precomputed":
        if landmarks.number != "auto" or landmarks.points is not None:
            raise ValueError(
                f'{estimator_name}(landmarks=...): with metric="precomputed" X holds the distances '
                "of rows to landmarks, one column each; leave it out."
            )
        kernel, features = landmark_graph(None, words, sought, blocks, engine)
        return Geometry(blocks, kernel, FeatureSpace(kernel, features), sought.count)
    given = given_landmarks(landmarks, estimator_name, blocks, units)
    rows = None
    method = method_or(landmarks, "k-means")
    number = number_among(landmarks, blocks.n_rows, estimator_name)
    raw = Geometry(blocks, Linear(), euclidean_space(blocks), sought.count)
    raw.refuse_range(estimator_name)
    different = len(raw.population)
    if isinstance(number, int):
        count = number
    else:
        count = max(
            min(automatic_landmarks(sought.count), different // 2),
            min(words.n_neighbors, different - 1),
            1,
        )
    if given is not None:
        rows, points = given
    elif method == "k-means":
        points = landmark_centres(blocks, raw.population, count, rng, engine)
    else:
        rows = choose(method, count, raw.affinity, raw.population, rng, shifted=raw.metric.shifted)
        points = blocks.take(rows).x
    points = in_float64(points) if is_sparse(points) else host_float64(points)
    kernel, features = landmark_graph(points, words, sought, blocks, engine)
    return Geometry(blocks, kernel, FeatureSpace(kernel, features), sought.count, None, rows)


def _precomputed_graph(request: SpaceRequest) -> Geometry:
    """Return the geometry of rows of affinities in the leading eigenvectors of their graph."""
    estimator_name, blocks, n_clusters = request.estimator_name, request.blocks, request.n_clusters
    kernel = cast(PrecomputedGraphKernel, request.kernel)  # which takes affinities
    refuse_beside_graph(request.parameters, kernel, estimator_name)
    if kernel.is_made:
        mass = kernel.row_weights(blocks.x, blocks.weight)
    else:
        sought = Sought(
            n_clusters,
            "clusters",
            f'{estimator_name}(n_clusters={n_clusters}, kernel="precomputed_graph")',
        )
        kernel, mass = precomputed_graph(
            blocks.x, blocks.weight, kernel, sought, request.rng, request.room
        )
    features = None if is_foreign(blocks.x) else kernel.features(blocks.x)
    space = FeatureSpace(kernel, features)
    return Geometry(
        replace(request, blocks=replace(blocks, weight=mass)).without_empty_rows(space),
        kernel,
        space,
        n_clusters,
    )


def _precomputed(request: SpaceRequest) -> Geometry:
    """Return the geometry of rows of kernel values: the square matrix, or only the columns of the
    landmarks with the diagonal."""
    estimator_name, blocks, n_clusters = request.estimator_name, request.blocks, request.n_clusters
    n, width = blocks.x.shape
    given = cast(Precomputed, request.kernel)  # which takes kernel values
    kernel, diag, landmarks = Precomputed(), given.diagonal, request.landmarks
    listed = None if landmarks.points is None else row_numbers(landmarks.points, estimator_name, n)
    if listed is not None and diag is not None and width == len(listed):
        return _columns_only(request, blocks, listed, diag)
    blocks = blocks.with_columns(kxx=whole_diagonal(given, estimator_name, blocks.x))
    exact = ExactSpace(kernel, blocks, solver_tolerance(blocks.x.dtype), request.spherical)
    blocks = replace(request, blocks=blocks).without_empty_rows(exact)
    plain = Geometry(blocks, kernel, exact, n_clusters, None, np.arange(n))
    plain.complain(estimator_name)
    if listed is None:
        listed = _chosen_rows(request, plain)
        if listed is None:
            return plain
    gram = host_float64(kernel.prepare(listed)(blocks.take(listed).x))
    space, used = landmarks.space(kernel, listed, gram, blocks.x.dtype, spherical=request.spherical)
    listed = listed[used]
    return replace(plain.over(space, listed), basis=blocks.take(listed))


def _columns_only(request: SpaceRequest, blocks: Blocks, listed: IntArray, diag: Any) -> Geometry:
    estimator_name, kernel, landmarks = request.estimator_name, Precomputed(), request.landmarks
    blocks = blocks.with_columns(kxx=diagonal(diag, blocks.x, estimator_name))
    basis = blocks.take(listed)
    gram = host_float64(basis.x)
    columns, dtype = np.arange(len(listed)), blocks.x.dtype
    space, used = landmarks.space(kernel, columns, gram, dtype, spherical=request.spherical)
    listed, basis = listed[used], blocks.take(listed[used])
    blocks = replace(request, blocks=blocks).without_empty_rows(space)
    factored = landmarks.factored()
    known = space if factored is landmarks else factored.space(kernel, columns, gram, dtype)[0]
    geometry = Geometry(blocks, kernel, space, request.n_clusters, None, listed, basis, known)
    geometry.complain(estimator_name)
    return geometry
