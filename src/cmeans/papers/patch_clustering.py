"""Kernel patch clustering: patches of rows, and a few rows that represent the clusters of former
patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from ..data.arrays import in_float64, stacked, take, to_numpy
from ..data.blocks import Blocks
from ..data.precision import numpy_dtype
from ..engines import ChunkedRows, Engine, Pass, ThreadEngine
from ..engines.base import Span
from ..estimators.plotting import Plotting
from ..estimators.streaming_cmeans import StreamingFuzzyCMeans
from ..fitting.arguments import Auto, GammaName, InitName, StreamRule
from ..fitting.geometry import Geometry
from ..fitting.memory import MemoryPlan
from ..fitting.procedure import FitContext, FitSettings, Method, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.streams.chunks import checked_chunk_size, new_seed
from ..fitting.streams.each_chunk import EachChunk
from ..fitting.streams.stream_fit import StreamingBase
from ..fitting.streams.stream_state import Chunk, ChunkResult, FitSummary, StreamState
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Rule
from ..runtime.checks import integer, one_of
from ..runtime.docstrings import shares_parameters
from ..runtime.progress import SILENT, Reporter
from ..solvers.checkpoints import Packed
from ..solvers.solution import Solution
from ..spaces import Space, spanning_space
from ..streaming import StreamSummary
from ..sweeps.final_pass import assign_all
from ..sweeps.passes import DistancePass
from ..sweeps.problem import Problem
from .patches import carried_points, points_of

Merge = Literal["chain", "tree"]


@shares_parameters(StreamingFuzzyCMeans)
class KernelPatchClustering(Plotting, StreamingBase):
    """Kernel patch clustering (KPC): c-means of one patch of rows after the other, exactly in
    kernel space.

    From each patch the `n_points` rows nearest to each centre are carried to the next one, with the
    weight of their cluster divided among them; the mean of these rows is the cluster's
    pseudo-centre. It is here because the literature compares with it: `StreamingFuzzyCMeans` keeps
    the centres themselves, and is faster and nearer to clustering all rows at once.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    patch_size : int, default=2000
        Rows of a patch in `fit`, at most; `partial_fit` takes patches of any size. A patch costs
        its square in memory.
    n_points : int, default=10
        Rows that represent a cluster. 1: its medoid (single-pass kernel fuzzy c-means of Havens
        2012 carries those).
    merge : "chain" or "tree", default="chain"
        In `fit`. "chain": each patch is clustered with the points of those before it. "tree": every
        patch is clustered alone, in parallel, and then the points of several make the next patches,
        until there is one.
    rule : "fuzzy" or "hard", default="fuzzy"
        The memberships within a patch.
    m : "auto" or float > 1, default="auto"
        The fuzzifier, settled on the first patch: see `FuzzyCMeans`.
    kernel : str, kernel object or callable k(X, Y), default="rbf"
        As in `KernelKMeans`; not "linear" as elsewhere, where a centre itself could be carried.
    init : see `KernelKMeans`, default="k-means++"
        Of the first patch, or in a tree of every patch of rows. Others start from the
        pseudo-centres there are.
    n_init : int, default=3
        Starts on those; the lowest objective is kept. Not 1 as elsewhere: all later rows go on from
        there.
    search : "auto", "breathing", None or Search, default=None
        How to leave poor optima of the first patch. Not "auto" as elsewhere: the algorithm as
        published has no search.

    The graph of kernel="landmark_graph" is that of the first patch, in which all later rows are
    embedded; patches of `partial_fit` are held until they are half as many rows as `patch_size`.

    Attributes
    ----------
    labels_, memberships_, objective_ : after `fit` of all rows of X, by one pass at the final
        pseudo-centres; after `partial_fit` of the last patch.
    landmarks_, dual_coef_ : the rows that represent the clusters, and their shares (c, p).
    mass_ : (c,) weight of the rows so far that belong to each cluster, sum_i w_i u_ij.
    n_samples_seen_, n_chunks_, row_visits_, n_iter_, converged_, stop_reason_, m_, gamma_, kernel_
        : as in `StreamingFuzzyCMeans`.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do. A patch
        that is refused changes nothing.

    References
    ----------
    Fausser, Schwenker: Clustering large datasets with kernel methods. ICPR 2012.
    Zhang, Havens: Scalable approximation of kernel fuzzy c-means. IEEE Big Data 2013, Table II.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import KernelPatchClustering
    >>> X, _ = make_blobs(3000, centers=4, random_state=0)
    >>> model = KernelPatchClustering(4, patch_size=500, n_points=5, gamma="median", random_state=0)
    >>> model = model.fit(X)
    >>> model.landmarks_.shape[0] <= 4 * 5
    True
    """

    patch_size: int
    n_points: int
    merge: str

    _taken_fields = {"search": ("method", "acceleration")}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        patch_size: int = 2000,
        n_points: int = 10,
        merge: Merge = "chain",
        rule: StreamRule = "fuzzy",
        m: Auto | float = "auto",
        kernel: KernelName | Kernel | Callable[..., Any] = "rbf",
        gamma: GammaName | float = "scale",
        init: InitName | Any = "k-means++",
        n_init: int = 3,
        search: SearchName | Search | None = None,
        max_iter: int = 300,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        integer(self.patch_size, "patch_size", name, 1)
        self._points_asked()
        one_of(self.merge, "merge", name, get_args(Merge))
        return super()._procedure()

    def _begin(self, chunk: Chunk) -> ChunkResult:
        patch = _in_full(chunk)
        if chunk.context.settings.kernel.over_landmarks:
            geometry = self._later_geometry(
                patch, self._span(patch, self._graph(patch), patch.blocks)
            )
        else:
            geometry = self._geometry(patch, lambda kernel: self._span(patch, kernel, patch.blocks))
        return self._carried(chunk, geometry, *self._found(patch, geometry, self._method(geometry)))

    def _go_on(self, stream: StreamState, chunk: Chunk) -> ChunkResult:
        return self._joined(chunk, stream.rule, chunk.blocks, [stream.past])

    def _joined(
        self, chunk: Chunk, rule: Rule, rows: Blocks | None, pasts: list[StreamSummary]
    ) -> ChunkResult:
        """Cluster a patch of rows, or none, with the points of former patches, from the
        pseudo-centres of the first of these."""
        patch, first = _in_full(chunk.over(_together(rows, pasts, chunk.blocks))), pasts[0]
        space = self._span(patch, first.space.kernel, patch.blocks)
        geometry = self._later_geometry(patch, space)
        at_start = first.moved(space, space.project(first.centres, first.space))[0]
        return self._carried(chunk, geometry, *self._followed(patch, geometry, rule, at_start))

    def _carried(
        self, chunk: Chunk, geometry: Geometry, problem: Problem, solution: Solution
    ) -> ChunkResult:
        """Return the summary of a patch: the nearest rows of each centre."""
        space, rule, state = geometry.space, problem.rule, solution.state
        distances = [to_numpy(part) for part in problem.map(DistancePass(rule, state, space))]
        belonging = assign_all(problem.rows, space, rule, state, problem.engine).mass
        past = StreamSummary.of(space, solution).weighing(belonging)
        past = carried_points(
            past, geometry.blocks, np.concatenate(distances), self._points_asked(), chunk.blocks.x
        )
        # whose centres these are not
        return ChunkResult(
            replace(geometry, space=past.space), past, rule, replace(solution, last=None)
        )

    def _summed_up(self, spans: list[Span], context: FitContext) -> FitSummary:
        estimator_name, blocks = type(self).__name__, context.blocks
        if self.merge == "chain":
            return super()._summed_up(spans, context)
        seed, n_rows = new_seed(context.settings), sum(stop - start for start, stop in spans)
        sections = {number: context.section(f"patch {number}") for number in range(len(spans))}
        leaves = list[Packed]()
        with context.kept_in_checkpoint():
            start = EachChunk(
                replace(context, hook=None),
                partial(type(self)._first_patch, seed=seed, n_patches=len(spans)),
            )
            ((first, _),) = context.engine.follow(ChunkedRows(blocks, spans[:1], [0]), start, None)
            wanted = [
                number for number, section in sections.items() if number and section.found is None
            ]
            sent = context.sent()  # patches side by side send no messages
            alone = partial(sent.estimator._patch_alone, sent, seed, first)
            made = context.engine.map(
                ChunkedRows(blocks, [spans[number] for number in wanted], wanted),
                PatchesAlone(alone),
            )
            # the first patch, which has the kernel, is made in any case
            for number, section in sections.items():
                leaves.append(
                    _kept(first)
                    if number == 0
                    else next(made)
                    if section.found is None
                    else section.found
                )
                section.note(partial(dict, leaves[-1]))
        last, level = first, [done["past"] for done in leaves]
        nothing = context.over(first.geometry.blocks, context.engine)
        chunk = Chunk(
            replace(nothing, hook=None),
            seed,
            0,
            Reporter(context.listeners, "patch", 0, len(spans)),
        )
        while len(level) > 1:
            most = max(past.space.size for past in level)
            group = max(2, self._rows_at_once(estimator_name) // most)
            groups = [level[start : start + group] for start in range(0, len(level), group)]
            level = []
            for some in groups:
                if len(some) > 1:
                    last = self._joined(chunk, first.rule, None, some)
                    leaves.append(_kept(last))
                level.append(last.past if len(some) > 1 else some[0])
        dtype = np.dtype(numpy_dtype(blocks.x)).name
        visits = sum(done["row_visits"] for done in leaves)
        stream = StreamState(
            last.past, last.rule, seed, blocks.unit, dtype, len(spans), n_rows, visits
        )
        return FitSummary(stream, None, sum(not done["converged"] for done in leaves), last)

    def _first_patch(
        self,
        context: FitContext,
        _: ChunkResult | None,
        blocks: Blocks,
        engine: Engine,
        *,
        seed: int,
        n_patches: int,
    ) -> ChunkResult:
        """Cluster the patch that determines the kernel and the rule of a tree."""
        chunk = Chunk(
            context.over(blocks.in_memory(), engine),
            seed,
            0,
            Reporter(context.listeners, "patch", 0, n_patches),
        )
        return self._numbered(self._begin(chunk), chunk.blocks, engine).without(chunk.blocks)

    def _patch_alone(
        self, context: FitContext, seed: int, first: ChunkResult, blocks: Blocks, number: int
    ) -> Packed:
        """Return what is kept of a further patch of a tree."""
        with ThreadEngine(1).opened() as engine:
            chunk = Chunk(context.over(blocks.in_memory(), engine), seed, number, SILENT)
            full = _in_full(chunk)
            geometry = self._later_geometry(
                full, self._span(full, first.geometry.kernel, full.blocks)
            )
            return _kept(
                self._carried(chunk, geometry, *self._found(full, geometry, Method(first.rule)))
            )

    def _span(self, chunk: Chunk, kernel: Kernel, blocks: Blocks) -> Space:
        self._require_square(chunk.context.settings, blocks.n_rows, "patch_size")
        return spanning_space(
            kernel, take(blocks.x, np.flatnonzero(blocks.weight > 0)), blocks.x.dtype
        )

    def _rows_to_begin_with(self, settings: FitSettings, rows: Blocks) -> int:
        """A graph is made of half a patch at least, the least that `fit` cuts where there are so
        many rows."""
        return self.patch_size // 2 if self._makes_graph() else 0

    def _expected_memory(self, context: FitContext, *, most: bool) -> MemoryPlan:
        rows = min(self._rows_at_once(type(self).__name__), context.blocks.n_rows)
        self._require_square(context.settings, rows, "patch_size")
        return super()._expected_memory(context, most=most)

    def _remembered(self, settings: FitSettings, blocks: Blocks) -> int:
        """The kernel matrix of a patch with the points of one before."""
        side = blocks.n_rows + settings.n_clusters * self._points_asked()
        return super()._remembered(settings, blocks) + 8 * side**2

    def _points_asked(self) -> int:
        return integer(self.n_points, "n_points", type(self).__name__, 1)

    def _rows_at_once(self, estimator_name: str) -> int:
        return checked_chunk_size(self.patch_size, "patch_size", self.n_clusters, estimator_name)


@dataclass(frozen=True)
class PatchesAlone(Pass[Packed]):
    """Patches that need not wait for each other, by a function of the rows of each and its
    number."""

    patch: Callable[[Blocks, int], Packed]

    def work(self, rows: ChunkedRows, task: int, prepared: None) -> Packed:
        return self.patch(rows.chunk(task), rows.numbers[task])


def _in_full(chunk: Chunk) -> Chunk:
    """Return the rows of a patch in float64.

    The weights of carried rows grow. Where clusters are near each other, float32 rounding of their
    few distances moves all centres from sweep to sweep, and they drift, or do not converge within
    `max_iter`. The kernel matrix is in float64 anyway.
    """
    return chunk.over(replace(chunk.blocks, x=in_float64(chunk.blocks.x)))


def _kept(done: ChunkResult) -> Packed:
    """Return what a checkpoint keeps of a patch: its points, and how they were found."""
    return {
        "past": done.past,
        "row_visits": done.solution.row_visits,
        "converged": done.solution.converged,
    }


def _together(rows: Blocks | None, pasts: list[StreamSummary], chunk: Blocks) -> Blocks:
    """Return the rows of a patch, if any, and the points of former ones, with their weights, in
    blocks like those of a chunk."""
    parts = [] if rows is None else [(rows.x, rows.weight)]
    parts += [points_of(past) for past in pasts]
    x, weight = parts[0]
    for more, its in parts[1:]:
        x, weight = stacked(x, more), np.concatenate([weight, its])
    return replace(chunk, x=x, weight=weight)
