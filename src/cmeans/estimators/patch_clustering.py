"""Kernel patch clustering: patches of rows, and a few rows that stand for the clusters of those before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import in_float64, numpy_dtype, stacked, take, to_numpy
from ..assignment import assign_all
from ..blocks import Blocks
from ..callbacks import SweepHook
from ..engines import Engine, ThreadEngine
from ..jobs import Distances
from ..kernels import Kernel
from ..progress import Place
from ..rules import Rule
from ..solver import Solution
from ..spaces import Space, spanning_space
from ..streams import Past, carried_points, points_of
from ..table import Table
from .base import Run
from .geometry import Geometry
from .inputs import Input, integer, one_of
from .stream_base import StreamingBase, new_seed
from .stream_state import Absorbed, Chunk, Passage, Stream


class KernelPatchClustering(StreamingBase):
    """Kernel patch clustering (KPC): c-means of one patch of rows after the other, exactly in kernel space.

    From each patch the `n_points` rows nearest to each centre go on to the next one, with the weight of their cluster divided among
    them; the mean of these rows is the cluster's pseudo-centre. It is here because the literature compares with it:
    `StreamingFuzzyCMeans` keeps the centres themselves, and is faster and nearer to clustering all rows at once.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters sought.
    patch_size : int, default=2000
        Rows of a patch in `fit`, at most; `partial_fit` takes patches of any size. A patch costs its square in memory.
    n_points : int, default=10
        Rows that stand for a cluster. 1: its medoid (single-pass kernel fuzzy c-means of Havens 2012 carries those).
    merge : "chain" or "tree", default="chain"
        In `fit`. "chain": each patch goes with the points of those before it. "tree": every patch is clustered alone, in parallel,
        and then the points of several make the next patches, until there is one.
    rule : "fuzzy" or "hard", default="fuzzy"
        How rows of a patch belong.
    m : "auto" or float > 1, default="auto"
        The fuzzifier, settled on the first patch: see `FuzzyCMeans`.
    init, n_init : default="k-means++", 3
        Of the first patch, or in a tree of every patch of rows: see `KernelKMeans`. Others start from the pseudo-centres there are.

    All other words are those of `StreamingFuzzyCMeans`.

    Attributes
    ----------
    labels_, memberships_, objective_ : after `fit` of all rows of X, by one pass at the final pseudo-centres; after `partial_fit` of
        the last patch.
    landmarks_, dual_coef_ : the rows that stand for the clusters, and the shares (c, p) in which they do.
    mass_ : (c,) weight of the rows so far that belong to each cluster, sum_i w_i u_ij.
    n_samples_seen_, n_chunks_, row_visits_, n_iter_, converged_, stop_reason_, m_, gamma_, kernel_ : as in `StreamingFuzzyCMeans`.

    Raises
    ------
    ValueError
        For bad words, rows or weights, naming the argument, what came and what to do. A patch that is refused changes nothing.

    References
    ----------
    Fausser, Schwenker: Clustering large datasets with kernel methods. ICPR 2012.
    Zhang, Havens: Scalable approximation of kernel fuzzy c-means. IEEE Big Data 2013, Table II.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import KernelPatchClustering
    >>> X, _ = make_blobs(3000, centers=4, random_state=0)
    >>> model = KernelPatchClustering(n_clusters=4, patch_size=500, n_points=5, gamma="median", random_state=0).fit(X)
    >>> model.landmarks_.shape[0] <= 4 * 5
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        patch_size: int = 2000,
        n_points: int = 10,
        merge: str = "chain",
        rule: str = "fuzzy",
        m: str | float = "auto",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        init: Any = "k-means++",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-4,
        acceleration: str | None = "anderson",
        memory_budget: int | float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            max_iter=max_iter,
            tol=tol,
            acceleration=acceleration,
            memory_budget=memory_budget,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_clusters = n_clusters
        self.patch_size = patch_size
        self.n_points = n_points
        self.merge = merge
        self.rule = rule
        self.m = m
        self.init = init
        self.n_init = n_init

    def _begin(self, chunk: Chunk) -> Absorbed:
        patch = _in_full(chunk)
        geometry = self._geometry(patch, lambda kernel, _: self._span(patch, kernel, patch.blocks))
        rule = self._make_rule(geometry)
        return self._carried(chunk, geometry, rule, *self._found(patch, geometry, rule))

    def _go_on(self, stream: Stream, chunk: Chunk) -> Absorbed:
        return self._joined(chunk, stream.rule, chunk.blocks, [stream.past])

    def _joined(self, chunk: Chunk, rule: Rule, rows: Blocks | None, pasts: list[Past]) -> Absorbed:
        """A patch of rows, or none, and the points of former patches, from the pseudo-centres of the first of these."""
        patch, first = _in_full(replace(chunk, blocks=_together(rows, pasts, chunk.blocks.unit))), pasts[0]
        space = self._span(patch, first.space.kernel, patch.blocks)
        geometry = self._later_geometry(patch, space)
        return self._carried(chunk, geometry, rule, *self._followed(patch, geometry, rule, space.project(first.centres, first.space)))

    def _carried(self, chunk: Chunk, geometry: Geometry, rule: Rule, table: Table, solution: Solution) -> Absorbed:
        """What goes on from a patch: the nearest rows of each centre."""
        space, engine, state = geometry.space, chunk.engine, solution.state
        distances = [to_numpy(part) for part in engine.each(table, Distances(rule, state, space))]
        belonging = assign_all(table, space, rule, state, engine).mass
        past = Past.of(space, solution).weighing(belonging)
        past = carried_points(past, geometry.blocks, np.concatenate(distances), self._points_asked(), chunk.blocks.x)
        return Absorbed(replace(geometry, space=past.space), past, rule, solution)

    def _passed(self, parts: list[Blocks], run: Run, given: Input, engine: Engine, hook: SweepHook) -> Passage:
        owner = type(self).__name__
        if one_of(self.merge, "merge", owner, ("chain", "tree")) == "chain":
            return super()._passed(parts, run, given, engine, hook)
        seed, n_rows = new_seed(run), sum(part.n_rows for part in parts)

        def patch(number: int, own: Engine) -> Chunk:
            return Chunk(parts[number].in_memory(), run, given.copied, own, seed, number, Place("patch", number, len(parts)), n_rows, None)

        first = self._begin(patch(0, engine))

        def leaf(number: int) -> Absorbed:
            if number == 0:
                return first
            with ThreadEngine(1) as own:
                chunk = patch(number, own)
                full = _in_full(chunk)
                geometry = self._later_geometry(full, self._span(full, first.geometry.kernel, full.blocks))
                return self._carried(chunk, geometry, first.rule, *self._found(full, geometry, first.rule))

        level = list(engine.map(leaf, len(parts)))
        everyone = list(level)
        while len(level) > 1:
            most = max(one.past.space.size for one in level)
            group = max(2, self._rows_at_once(owner) // most)
            groups = [level[start : start + group] for start in range(0, len(level), group)]
            level = [
                some[0] if len(some) == 1 else self._joined(patch(0, engine), first.rule, None, [one.past for one in some])
                for some in groups
            ]
            everyone += [one for one, some in zip(level, groups, strict=True) if len(some) > 1]
        last, dtype = level[0], np.dtype(numpy_dtype(parts[0].x)).name
        visits = sum(one.solution.row_visits for one in everyone)
        stream = Stream(last.past, last.rule, seed, parts[0].unit, dtype, len(parts), n_rows, visits)
        return Passage(stream, last, None, sum(not one.solution.converged for one in everyone))

    def _span(self, chunk: Chunk, kernel: Kernel, blocks: Blocks) -> Space:
        self._require_square(chunk, blocks.n_rows, "patch_size")
        return spanning_space(kernel, take(blocks.x, np.flatnonzero(blocks.weight > 0)), blocks.x.dtype)

    def _points_asked(self) -> int:
        return integer(self.n_points, "n_points", type(self).__name__, 1)

    def _rows_at_once(self, owner: str) -> int:
        self._points_asked()
        return self._first_chunk_of(self.patch_size, "patch_size", owner)


def _in_full(chunk: Chunk) -> Chunk:
    """The rows of a patch in float64.

    Carried rows weigh ever more. Where clusters are near each other, what float32 rounds off their few distances moves all centres from
    sweep to sweep, and they wander off, or come to no rest within `max_iter`. The kernel matrix is in float64 anyway.
    """
    return replace(chunk, blocks=replace(chunk.blocks, x=in_float64(chunk.blocks.x)))


def _together(rows: Blocks | None, pasts: list[Past], unit: float) -> Blocks:
    """The rows of a patch, if any, and the points of former ones, with their weights."""
    parts = [] if rows is None else [(rows.x, rows.weight)]
    parts += [points_of(past) for past in pasts]
    x, weight = parts[0]
    for more, its in parts[1:]:
        x, weight = stacked(x, more), np.concatenate([weight, its])
    return Blocks(x, weight, unit=unit)
