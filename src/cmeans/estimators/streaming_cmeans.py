"""One pass over rows that come in chunks: streaming kernel fuzzy c-means, and streams on a landmark
dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..engines import Engine
from ..fitting.arguments import Auto, GammaName, InitName, StretchedStreamRule, check_landmarks
from ..fitting.attribute_names import restored_on_failure
from ..fitting.covariance import Covariance, CovarianceName
from ..fitting.geometry import Geometry
from ..fitting.kernel_evidence import given_kernel
from ..fitting.landmark_choice import Landmarks, given_landmarks, landmarks_from
from ..fitting.procedure import FitSettings, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.space import euclidean_space
from ..fitting.streams.chunks import checked_chunk_size
from ..fitting.streams.stream_fit import StreamingBase
from ..fitting.streams.stream_state import Chunk, ChunkResult, StreamState
from ..graphs.landmark_graph import automatic_landmarks
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Rule
from ..runtime.checks import integer, real
from ..runtime.docstrings import shares_parameters
from ..runtime.user_warnings import ParameterWarning, warn
from ..sampling.population import population_of
from ..solvers.fixed_point import Carried
from ..solvers.observer import FitRecord
from ..solvers.solution import Solution
from ..spaces import FeatureSpace, LandmarkSpace, Space, landmark_space
from ..streaming import (
    LandmarkCandidates,
    SettledSums,
    StreamSummary,
    first_landmarks,
    further_landmarks,
    together,
    unknown_share,
)
from ..sweeps.problem import Problem
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting

WARM_UP = 20  # rows per cluster with which a stream begins
GRAPH = 2  # rows per landmark, with which a graph does
# rows per cluster and column, with which clusters with covariances do, as many as show what further
# runs of a batch gain; and at most
STRETCHED, MOST_STRETCHED = 50, 2000


@shares_parameters(KernelKMeans)
class StreamingFuzzyCMeans(Plotting, StreamingBase):
    """Fuzzy or hard c-means of a stream: each chunk of rows is clustered together with the weighted
    means of all before it.

    Use it when rows come and go, or when there are more of them than you want to read twice.
    Nothing is kept of a chunk but one weighted centre a cluster, so memory does not grow with the
    stream. All chunks share one landmark space. Its landmarks are chosen on the first chunks, and
    further ones join, up to the number of `landmarks`, when new rows are badly represented. The
    sums of all chunks simply add, nothing is lost between them.

    With the default kernel="linear" and no landmarks the space is that of the features, and nothing
    is lost at all (single-pass fuzzy c-means). Clusters that the first chunk does not show are
    found badly by any one-pass method: rows should come in random order.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    rule : "fuzzy", "hard" or "gaussian", default="fuzzy"
        How rows belong to clusters. "hard" is streaming kernel k-means. "gaussian", with
        `covariance`: a mixture, of which memberships are posterior probabilities.
    m : "auto" or float > 1, default="auto"
        The fuzzifier, settled on the first chunk. See `FuzzyCMeans`.
    noise : None, "auto" or float between 0 and 1, default=None
        Whether rows far from all clusters belong to none, with the label -1. As in `FuzzyCMeans`;
        the distance of the noise cluster is settled on the first rows, with m, and stays as it is
        (`noise_distance_`). For rule="fuzzy".
    decay : float in (0, 1], default=1.0
        What the past is multiplied by before each chunk; below 1 old rows are forgotten, and
        centres may follow a drift.
    covariance : None, "full", "diag", "tied", "spherical" or Covariance, default=None
        Clusters have metrics of their own, so that they may be stretched. As in `KernelKMeans`, for
        kernel="linear" and "landmark_graph". Of the past a stream keeps the scatter of each
        cluster's rows about its centre, which `decay` forgets too; what covariances shrink towards
        is settled on the first rows, and columns that have one value in these stay left out.
    warm_up : int or "auto", default="auto"
        Rows that are held until there are enough to begin with. They are clustered together anew
        with each further chunk, before the first of them are let go: what the first rows do not
        show is hard to find later. Until there are as many rows as clusters, they wait with the
        label -1. "auto": 20 a cluster; 0: the first chunk decides, as published, and needs a row
        for each cluster. Also where `init` is an array. "auto" with kernel="landmark_graph": at
        least 2 a landmark; with covariances 50 for each cluster and column, but at most 2,000.
    chunk_size : int, default=5000
        Rows that `fit` takes at a time, at most; it divides them evenly. `partial_fit` takes chunks
        of any size.
    landmarks : "auto", int, points, row numbers or Landmarks, default="auto"
        Number of landmarks at most, or points, which are taken as they are. "auto": 20 a cluster,
        but at least 300 and at most 2,000; of a graph 1,000, and as long as it has fewer than 2,000
        rows half of them. Rows are drawn in proportion to how badly those before represent them
        (randomly pivoted Cholesky).
    init : see `KernelKMeans`, default="k-means++"
        How the first centres are drawn. Later chunks start from the centres there are.
    n_init : int, default=3
        Starts on the first rows; the lowest objective is kept. Not 1 as elsewhere: all later rows
        go on from there.
    search : "auto", "breathing", None or Search, default="auto"
        How to leave poor optima of the first rows, from which all later chunks go on, and whether
        sweeps are accelerated. See `KernelKMeans`.
    max_iter : int, default=300
        Sweeps over one chunk at most.
    tol : float, default=1e-4
        Move of a centre, as a fraction of the typical distance, below which it stands still.

    kernel="precomputed" is not possible. That of "landmark_graph" is the graph of the rows that are
    held until the stream begins; later rows are embedded by it, and nothing is lost. `gamma` is
    settled on the first chunk.

    Attributes
    ----------
    labels_, memberships_, objective_ : after `fit` of all rows of X, by one last pass at the final
        centres (Zhang 2013 eq. 13c); after `partial_fit` of the last chunk's rows. So is
        noise_membership_, where there is a noise cluster.
    objective_history_, n_iter_, converged_, stop_reason_ : of the sweeps over the last chunk, the
        past included in the objective; after `fit`, `converged_` refers to all chunks.
    projection_loss_ : (c,) share of each centre's squared norm, 1 - |a|^2 / |v|^2, that was lost on
        the way into the last chunk; after `fit` the largest of all chunks. Zero unless landmarks
        have joined: then the share of the chunk's own centres in directions outside the former
        landmarks' span.
    mass_ : (c,) the weight of the past in each cluster.
    metrics_ : with `covariance` only, as in `KernelKMeans`.
    weights_, covariances_ : with rule="gaussian" only, (c,) and (c, d, d), or (c, d) diagonals.
    n_samples_seen_, n_chunks_, row_visits_ : rows and chunks so far, and rows looked at in all.
    m_, gamma_, kernel_, n_landmarks_, landmarks_, dual_coef_, separation_, n_clusters_ : as
        elsewhere.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do. A chunk
        that is refused changes nothing.

    References
    ----------
    Zhang, Havens: Scalable approximation of kernel fuzzy c-means. IEEE Big Data 2013, eq. 9b.
    Havens: Approximation of kernel k-means for streaming data. ICPR 2012.
    Hore, Hall, Goldgof: Single pass fuzzy c means. FUZZ-IEEE 2007. Gustafson, Kessel: Fuzzy
    clustering with a fuzzy covariance matrix. IEEE CDC 1979.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import StreamingFuzzyCMeans
    >>> X, _ = make_blobs(3000, centers=4, random_state=0)
    >>> stream = StreamingFuzzyCMeans(n_clusters=4, random_state=0)
    >>> for start in range(0, 3000, 500):
    ...     stream = stream.partial_fit(X[start : start + 500])
    >>> stream.n_samples_seen_, stream.predict(X).shape
    (3000, (3000,))
    """

    decay: float
    warm_up: int | str
    chunk_size: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rule: StretchedStreamRule = "fuzzy",
        m: Auto | float = "auto",
        noise: Auto | float | None = None,
        decay: float = 1.0,
        warm_up: int | Auto = "auto",
        chunk_size: int = 5000,
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any = "auto",
        covariance: CovarianceName | Covariance | None = None,
        init: InitName | Any = "k-means++",
        n_init: int = 3,
        search: SearchName | Search | None = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    weights_: Float64
    covariances_: Float64
    _takes = frozenset({"known_labels"})
    _taken_fields: Mapping[str, tuple[str, ...]] = {
        "search": ("method", "acceleration"),
        "landmarks": ("number", "method", "points"),
    }

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        self._checked_stream_parameters(name)
        integer(self.chunk_size, "chunk_size", name, 1)
        self._rows_held(name, 1, 1)
        return super()._procedure()

    def merge(self, other: StreamingFuzzyCMeans) -> Self:
        """Merge another stream into this one, as if its rows had been seen here too.

        The clusters of both are paired by the distances of their centres. With the same landmarks
        (or the linear kernel) the sums add and nothing is lost; else both are carried over to the
        union of the landmarks, with a warning. The distance of the noise cluster, where both have
        one, becomes the mean of theirs by weight.

        Raises
        ------
        ValueError
            If the other is no fitted stream of the same kernel, rule, features and number of
            clusters.
        """
        check_is_fitted(self)
        with restored_on_failure(self, FitRecord()):
            return self._merged(other)

    def _merged(self, other: StreamingFuzzyCMeans) -> Self:
        estimator_name = type(self).__name__
        self._refuse_other(other, estimator_name)
        ours, theirs = self._stream, other._stream
        past, joined = together(ours.past, theirs.past * (theirs.unit / ours.unit))
        if joined:
            warn(
                f"{estimator_name}.merge: the streams stand on different landmarks, so both were "
                f"carried over to all {past.space.size} of them; begin streams that will be merged "
                "with the same landmarks (landmarks=points).",
                ParameterWarning,
            )
        rule = ours.rule.merged(theirs.rule, 1.0 - ours.past.weight / past.weight)
        assert rule is not None, "others are refused"
        self._stream = replace(
            ours,
            past=past,
            rule=rule,
            n_chunks=ours.n_chunks + theirs.n_chunks,
            n_samples=ours.n_samples + theirs.n_samples,
            row_visits=ours.row_visits + theirs.row_visits,
            held=None,
        )
        self._keep_without_rows(self._stream)
        return self

    def _refuse_other(self, other: Any, estimator_name: str) -> None:
        if not isinstance(other, StreamingFuzzyCMeans):
            raise ValueError(
                f"{estimator_name}.merge({other!r}): give another fitted {estimator_name}."
            )
        check_is_fitted(other)
        for what, mine, its in (
            ("features", _features(self), _features(other)),
            ("clusters", len(self._stream.past.mass), len(other._stream.past.mass)),
            ("kernel", self.kernel_, other.kernel_),
            (
                "rule",
                self._rule,
                other._rule if self._rule.merged(other._rule, 0.5) is None else self._rule,
            ),
            ("covariance", _covariance_of(self._stream), _covariance_of(other._stream)),
            (
                "space",
                type(self._stream.past.space).__name__,
                type(other._stream.past.space).__name__,
            ),
        ):
            if mine != its:
                raise ValueError(
                    f"{estimator_name}.merge: the other stream's {what} is {its!r}, this one's "
                    f"{mine!r}; only like streams add. Give gamma and m as numbers, which are else "
                    "settled by each stream's first rows."
                )

    def _begin(self, chunk: Chunk) -> ChunkResult:
        estimator_name, blocks = type(self).__name__, chunk.blocks
        limit = self._checked_stream_parameters(estimator_name)
        landmarks = chunk.context.settings.landmarks

        def space_of(kernel: Kernel) -> Space:
            given = given_landmarks(landmarks, estimator_name, blocks)
            if given is not None:
                return landmark_space(kernel, given[1], None, blocks.x.dtype)
            if kernel.coordinates == "rows" and landmarks.count is None:
                return euclidean_space(blocks)
            return self._first_space(chunk, kernel, limit)

        if chunk.context.settings.kernel.over_landmarks:
            geometry = self._later_geometry(chunk, FeatureSpace(self._graph(chunk)))
        else:
            geometry = self._geometry(chunk, space_of)
        problem, solution = self._found(chunk, geometry, self._method(geometry))
        growing = landmarks.points is None and geometry.space.basis_points is not None
        reserve = LandmarkCandidates(limit) if growing else None
        return self._absorbed(geometry, problem, solution, None, None, reserve)

    def _go_on(self, stream: StreamState, chunk: Chunk) -> ChunkResult:
        self._checked_stream_parameters(type(self).__name__)
        former = stream.past * self.decay
        past, reserve, loss = self._in_next_space(former, stream.reserve, chunk)
        carried = self._carried(past, stream.rule)
        geometry = self._later_geometry(chunk, past.space)
        problem, solution = self._followed(chunk, geometry, stream.rule, past, carried)
        if past.space is not former.space and loss is None:
            loss = unknown_share(former.space, past.space, solution, carried)
        return self._absorbed(geometry, problem, solution, carried, loss, reserve)

    def _first_space(self, chunk: Chunk, kernel: Kernel, limit: int) -> Space:
        """Return the space of the first chunk, of at most so many landmarks."""
        blocks = chunk.blocks
        return first_landmarks(
            kernel, blocks, population_of(blocks), LandmarkCandidates(limit), chunk.rng("landmarks")
        )

    def _in_next_space(
        self, former: StreamSummary, reserve: LandmarkCandidates | None, chunk: Chunk
    ) -> tuple[StreamSummary, LandmarkCandidates | None, Float64 | None]:
        """Return the past in the space of a further chunk, the landmarks that may still be chosen,
        and what was lost (c,) where that is known already."""
        if reserve is None:
            return former, None, None
        landmarks = cast(LandmarkSpace, former.space)
        space, reserve = further_landmarks(
            landmarks, chunk.blocks, population_of(chunk.blocks), reserve, chunk.rng("landmarks")
        )
        if space is former.space:
            return former, reserve, None
        return former.moved(space, space.project(former.centres, former.space))[0], reserve, None

    def _carried(self, past: StreamSummary, rule: Rule) -> Carried:
        """Return the sums over rows that have gone by, with which a chunk is clustered."""
        return SettledSums(past)

    def _absorbed(
        self,
        geometry: Geometry,
        problem: Problem,
        solution: Solution,
        carried: Carried | None,
        loss: Float64 | None,
        reserve: LandmarkCandidates | None,
    ) -> ChunkResult:
        """Return what is kept of a chunk."""
        past = StreamSummary.of(geometry.space, solution)
        return ChunkResult(geometry, past, problem.rule, solution, problem.rows, loss, reserve)

    def _rows_to_begin_with(self, settings: FitSettings, rows: Blocks) -> int:
        if isinstance(self.init, str):
            columns = int(rows.x.shape[1])
            return self._rows_held(type(self).__name__, settings.n_clusters, columns)
        return 0

    def _rows_held(self, estimator_name: str, n_clusters: int, columns: int) -> int:
        if isinstance(self.warm_up, str) and self.warm_up == "auto":
            landmarks = landmarks_from(self.landmarks, estimator_name)
            if landmarks.points is None:
                number = landmarks.count or automatic_landmarks(n_clusters)
            else:
                number = np.shape(landmarks.points)[0]
            stretched = 0 if self.covariance is None else STRETCHED * n_clusters * columns
            graph = GRAPH * number if self._makes_graph() else 0
            return max(WARM_UP * n_clusters, graph, min(stretched, MOST_STRETCHED))
        return integer(self.warm_up, "warm_up", estimator_name, 0, others='"auto" or ')

    def _rows_at_once(self, estimator_name: str) -> int:
        return checked_chunk_size(self.chunk_size, "chunk_size", self.n_clusters, estimator_name)

    def _checked_stream_parameters(self, estimator_name: str) -> int:
        """Check all parameters of a stream; return the maximal number of landmarks."""
        if real(self.decay, "decay", estimator_name, above=True) > 1:
            raise ValueError(
                f"{estimator_name}(decay={self.decay!r}): decay must lie above 0 and at most be 1, "
                "where nothing is forgotten."
            )
        landmarks = self._checked_landmarks(estimator_name)
        c = integer(self.n_clusters, "n_clusters", estimator_name, 1)
        return landmarks.count or int(np.clip(20 * c, 300, 2000))

    def _checked_landmarks(self, estimator_name: str) -> Landmarks:
        """Return the choice of landmarks, which a stream makes in one way alone."""
        landmarks = landmarks_from(self.landmarks, estimator_name)
        if landmarks.points is not None:
            check_landmarks(landmarks.points, estimator_name, rows_only=False)
        if landmarks.is_exact:
            raise ValueError(
                f"{estimator_name}(landmarks=None): no stream holds all its rows; give a number, "
                'or "auto".'
            )
        if (
            landmarks.method not in ("auto", "rpcholesky")
            and not given_kernel(self, estimator_name).over_landmarks
        ):
            raise ValueError(
                f"{estimator_name}(landmarks={landmarks!r}): further landmarks are those that "
                'others represent badly; take method="rpcholesky", or "auto".'
            )
        return landmarks


def _covariance_of(stream: StreamState) -> Any:
    """Return what covariances a stream's clusters have."""
    if (scatter := stream.past.scatter) is None:
        return None
    return scatter.step.shrinkage.shape.name, type(scatter.step.volumes).__name__


def _features(stream: StreamingFuzzyCMeans) -> Any:
    """Return the names of the features, or their number."""
    names = vars(stream).get("feature_names_in_")
    return stream.n_features_in_ if names is None else names.tolist()
