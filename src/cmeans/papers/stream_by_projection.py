"""Streaming kernel fuzzy c-means as published, and other ways to keep the past of a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

from ..data.arrays import Float64
from ..engines import Engine
from ..estimators.streaming_cmeans import StreamingFuzzyCMeans
from ..fitting.arguments import Auto, GammaName, InitName, StreamRule
from ..fitting.geometry import Geometry
from ..fitting.landmark_choice import Landmarks, landmarks_from
from ..fitting.search import Search, SearchName
from ..fitting.streams.stream_state import Chunk, ChunkResult
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Rule
from ..runtime.checks import one_of
from ..runtime.docstrings import shares_parameters
from ..solvers.fixed_point import Carried
from ..solvers.solution import Solution
from ..spaces import Space
from ..streaming import LandmarkCandidates, StreamSummary
from ..sweeps.final_pass import assign_all
from ..sweeps.problem import Problem
from .meta_vectors import MetaVectors
from .projection import PROJECTIONS, Projection, chunk_space, projected

StreamMethod = Literal["landmarks", "projection"]
MetaMembership = Literal["auto", "update", "frozen"]
PastWeight = Literal["u^m", "u"]


@shares_parameters(StreamingFuzzyCMeans)
class StreamingKernelFCM(StreamingFuzzyCMeans):
    """Streaming kernel fuzzy c-means as published (stKFCM): a chunk's space is the span of its own
    rows; the old centres are projected into it and join the rows as c weighted meta-vectors.

    Use it to reproduce published numbers. What the projection cannot carry over is lost,
    `projection_loss_` gives the share; `cmeans.StreamingFuzzyCMeans` keeps all chunks in one
    landmark space, loses nothing, and is faster. With kernel="linear" it is single-pass fuzzy
    c-means of Hore 2007 where past_weight="u".

    Parameters
    ----------
    method : "projection" or "landmarks", default="projection"
        How centres are kept: projected into each chunk's own space, or in one landmark space as
        `cmeans.StreamingFuzzyCMeans` does.
    projection : "cholesky", "gradient" or "l1", default="cholesky"
        How old centres get into a chunk's space, for method="projection". By one factorisation of
        its kernel matrix, by conjugate gradients without one, or as combinations of few of its rows
        (Zhang 2013 Remark 1).
    meta_membership : "auto", "update" or "frozen", default="auto"
        Whether memberships of the past are found anew with each chunk. They are found with those of
        the chunk ("update", as published) or stand as they are ("frozen": the sums over all rows,
        exactly). "auto": "update" for method="projection", "frozen" for "landmarks".
    past_weight : "u^m" or "u", default="u^m"
        What a row of the past weighs in its cluster. What it weighed there (Zhang 2013 eq. 9b), or
        its membership, as single-pass fuzzy c-means has it (Hore 2007), which keeps the weight of
        all rows but gives the past more than its share.

    All other attributes, methods and errors are those of `cmeans.StreamingFuzzyCMeans`; `landmarks`
    are for method="landmarks".

    References
    ----------
    Zhang, Havens: Scalable approximation of kernel fuzzy c-means. IEEE Big Data 2013, Alg. 1 with
    eq. 9b as the weights. Havens: Approximation of kernel k-means for streaming data. ICPR 2012.
    Hore, Hall, Goldgof: Single pass fuzzy c means. FUZZ-IEEE 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans.papers import StreamingKernelFCM
    >>> X, _ = make_blobs(600, centers=4, random_state=0)
    >>> words = {"kernel": "rbf", "gamma": "median", "random_state": 0}
    >>> stream = StreamingKernelFCM(4, chunk_size=200, **words).fit(X)
    >>> stream.n_chunks_, stream.projection_loss_.shape
    (3, (4,))
    """

    method: str
    projection: str
    meta_membership: str
    past_weight: str

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        method: StreamMethod = "projection",
        rule: StreamRule = "fuzzy",
        m: Auto | float = "auto",
        noise: Auto | float | None = None,
        projection: Projection = "cholesky",
        meta_membership: MetaMembership = "auto",
        past_weight: PastWeight = "u^m",
        decay: float = 1.0,
        warm_up: int | Auto = "auto",
        chunk_size: int = 5000,
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any = "auto",
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

    @property
    def _updates(self) -> bool:
        """True where memberships of the past are found anew."""
        if self.meta_membership == "auto":
            return self.method == "projection"
        return self.meta_membership == "update"

    def _checked_stream_parameters(self, estimator_name: str) -> int:
        one_of(self.method, "method", estimator_name, get_args(StreamMethod))
        one_of(self.projection, "projection", estimator_name, PROJECTIONS)
        one_of(self.past_weight, "past_weight", estimator_name, get_args(PastWeight))
        one_of(self.meta_membership, "meta_membership", estimator_name, get_args(MetaMembership))
        limit = super()._checked_stream_parameters(estimator_name)
        if (
            self.method == "projection"
            and landmarks_from(self.landmarks, estimator_name).points is not None
        ):
            raise ValueError(
                f'{estimator_name}(landmarks=...): landmarks are for method="landmarks"; '
                'method="projection" takes the rows of each chunk.'
            )
        return limit

    def _begin(self, chunk: Chunk) -> ChunkResult:
        begun = super()._begin(chunk)
        return replace(begun, reserve=None) if self.method == "projection" else begun

    def _first_space(self, chunk: Chunk, kernel: Kernel, limit: int) -> Space:
        if self.method == "projection":
            return self._chunk_space(chunk, kernel)
        return super()._first_space(chunk, kernel, limit)

    def _in_next_space(
        self, former: StreamSummary, reserve: LandmarkCandidates | None, chunk: Chunk
    ) -> tuple[StreamSummary, LandmarkCandidates | None, Float64 | None]:
        if self.method == "landmarks" or former.space.basis_points is None:
            return super()._in_next_space(former, reserve, chunk)
        space = self._chunk_space(chunk, former.space.kernel)
        past, loss = former.moved(space, projected(former, space, chunk.blocks, self.projection))
        return past, None, loss

    def _carried(self, past: StreamSummary, rule: Rule) -> Carried:
        return MetaVectors(past, rule) if self._updates else super()._carried(past, rule)

    def _absorbed(
        self,
        geometry: Geometry,
        problem: Problem,
        solution: Solution,
        carried: Carried | None,
        loss: Float64 | None,
        reserve: LandmarkCandidates | None,
    ) -> ChunkResult:
        absorbed = super()._absorbed(geometry, problem, solution, carried, loss, reserve)
        past = absorbed.past
        if self.past_weight == "u":
            belonging = assign_all(
                problem.rows, geometry.space, problem.rule, solution.state, problem.engine
            ).mass
            belonging = belonging if problem.known is None else belonging + problem.known.mass
            if carried is not None:
                state = solution.state
                belonging = belonging + (
                    carried.belonging(state)
                    if isinstance(carried, MetaVectors)
                    else carried(state).mass
                )
            past = past.weighing(belonging)
        if self.method == "projection":
            # the next chunk needs no more, and a chunk's factor is as large as its kernel matrix
            past = past.portable()
        return replace(absorbed, past=past)

    def _chunk_space(self, chunk: Chunk, kernel: Kernel) -> Space:
        self._require_square(chunk.context.settings, chunk.blocks.n_rows, "chunk_size")
        return chunk_space(kernel, chunk.blocks, self.projection)
