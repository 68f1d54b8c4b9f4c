"""The landmark graph of rows: its landmarks, one pass for its sums, its leading eigenvectors."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy import sparse

from ..data.additive import Additive
from ..data.arrays import Array, Float64, IntArray, in_float64, is_foreign, is_sparse, namespace
from ..data.blocks import Blocks
from ..engines import Engine, Pass
from ..kernels import LandmarkGraphKernel
from ..kernels.base import TIE, suggested_clusters
from ..kernels.landmark_graph import LandmarkWeights
from ..kernels.nearest_points import NearestPoints
from ..rules import Hard
from ..runtime.user_warnings import warn
from ..sampling.population import Population, draw, fixed_rows, sample
from ..sampling.quantiles import weighted_quantile
from ..spaces import EuclideanSpace
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State

LEAST_AUTOMATIC = 1000  # landmarks, where their number is not given and rows are twice as many
FOR_EACH_CLUSTER = 30  # of which a cluster needs some to be one
MOST_AUTOMATIC = 4000  # since all pairs of them are in memory
ROWS = 10  # of the sample for each landmark
SWEEPS = 5  # of k-means: landmarks need to cover the rows, not to be a best partition
LEAST = 1e-8  # of its weight with which a row counts in the graph
DOUBTFUL = 0.2  # relative gap of the frequencies beside a cut, up to which it is doubtful
GAPS = 20  # eigenvalues at least, between which the largest gap is sought


def automatic_landmarks(n_clusters: int) -> int:
    """Return how many landmarks a graph of enough rows has, where their number is not given."""
    return int(np.clip(FOR_EACH_CLUSTER * n_clusters, LEAST_AUTOMATIC, MOST_AUTOMATIC))


def landmark_centres(
    blocks: Blocks, population: Population, count: int, rng: np.random.RandomState, engine: Engine
) -> Array:
    """Return up to `count` landmarks (s, d): centres of a few sweeps of k-means over a fair sample,
    those that have rows."""
    positions, weights = sample(population, ROWS * count, rng)
    some = blocks.part(population.at(positions), weights).in_memory()
    first = blocks.take(population.at(draw(population, min(count, len(population)), rng)))
    if is_sparse(some.x):
        return refined_centres(in_float64(some.x), weights, in_float64(first.x))
    space = EuclideanSpace.about(some.x, weights)
    problem = Problem(RepresentedRows(space, some, 0), Hard(), engine)
    state = State(space.embed(first))
    for _ in range(SWEEPS):
        sums = problem.sweep(state)
        state = State(problem.means(state, sums))
    return space.as_points(state.centres[np.flatnonzero(sums.mass > 0)])


def refined_centres(x: Array, weights: Float64, centres: Array) -> Array:
    """Return centres after a few sweeps of k-means, those that have rows; of CSR rows as CSR: means
    of a few rows each, which store no more than all rows do."""
    for _ in range(SWEEPS):
        used, label = np.unique(NearestPoints(centres, 1)(x)[0], return_inverse=True)
        label = label.ravel()
        shares = weights / np.bincount(label, weights)[label]
        of_rows = (shares, (label, np.arange(len(label)))), (len(used), len(label))
        centres = sparse.csr_array(*of_rows) @ x
    return centres


@dataclass(frozen=True)
class Falloff:
    """The share min(1, (t / t(x))^power) of its weight with which a row counts in the graph, t(x)
    its mean distance to its landmarks.

    Landmarks reach further where rows are few, so that a few stray rows between two clusters would
    join them as firmly as each is joined in itself; where they count less, a cut follows the gap.
    Within a cluster of rows that all count less, nothing changes.
    """

    usual: float  # t, the median of t(x)
    power: float

    @classmethod
    def over(cls, blocks: Blocks, weights: LandmarkWeights, power: float) -> Falloff:
        """Return the falloff from the median of rows, of which the sample is the same for every
        random_state."""
        x, weight = fixed_rows(blocks)
        distances = weights.with_distances(x)[1]
        return cls(weighted_quantile(lambda: [(distances, weight)], 0.5), power)

    def __call__(self, distances: Float64) -> Float64:
        if self.usual == 0:  # most rows are at all of their landmarks
            return np.ones(len(distances))
        ratios: Float64 = np.minimum(self.usual / np.maximum(distances, self.usual), 1.0)
        return np.maximum(ratios**self.power, LEAST)


@dataclass(frozen=True)
class _GraphSums(Additive):
    """Z^T W Z (s, s) of some rows, with their weights in the graph and with their own."""

    graph: sparse.csr_array
    own: sparse.csr_array
    # the rows' weights at landmarks, where they are to be kept
    found: tuple[sparse.csr_array, ...] = ()


@dataclass(frozen=True)
class _GraphPass(Pass[_GraphSums]):
    weights: LandmarkWeights
    falloff: Falloff
    keeps: bool

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> _GraphSums:
        return functools.reduce(
            operator.add,
            (self._of(block.rows.plain().g, block.weight) for block in rows.task(task)),
        )

    def _of(self, x: Array, weight: Float64) -> _GraphSums:
        z, distances = self.weights.with_distances(x)
        own = z.T @ _scaled(z, weight)
        graph = (
            z.T @ _scaled(z, weight * self.falloff(distances)) if self.falloff.power > 0 else own
        )
        return _GraphSums(graph, own, (z,) if self.keeps else ())


def _scaled(z: sparse.csr_array, weight: Float64) -> sparse.csr_array:
    """Return rows of as many numbers each, times their weights."""
    return sparse.csr_array(
        (z.data * np.repeat(weight, np.diff(z.indptr)), z.indices, z.indptr), shape=z.shape
    )


@dataclass(frozen=True)
class Sought:
    """The number of clusters or components that is asked of a graph, and by which call, for
    messages."""

    count: int
    what: str  # "clusters" or "components"
    call: str  # such as 'KernelKMeans(n_clusters=2, kernel="landmark_graph")'


def landmark_graph(
    points: Array | None,  # (s, d) in float64, dense or CSR; None: rows are distances to landmarks
    parameters: LandmarkGraphKernel,
    sought: Sought,
    blocks: Blocks,
    engine: Engine,
) -> tuple[LandmarkGraphKernel, Array | None]:
    """Return the graph of all rows over given landmarks, and their features (n, k) where these are
    cheap to keep."""
    s = int(blocks.x.shape[1]) if points is None else int(points.shape[0])
    if not parameters.n_neighbors <= s < blocks.n_rows:
        raise ValueError(
            f"{sought.call}: the graph joins rows by their {parameters.n_neighbors} nearest "
            f"landmarks (n_neighbors of its kernel), and there are {s} different landmarks for "
            f"{blocks.n_rows} rows (n_samples={blocks.n_rows}). Set landmarks to at least "
            f"{parameters.n_neighbors} and less than the number of different rows."
        )
    width = None if isinstance(parameters.width, str) else float(parameters.width)
    weights = LandmarkWeights(points, parameters.n_neighbors, width)
    rows = RepresentedRows(EuclideanSpace(np.zeros(blocks.x.shape[1])), blocks, 0)
    automatic = isinstance(parameters.n_components, str)
    wanted = sought.count if automatic else int(parameters.n_components)
    few = (
        blocks.n_rows * (12 * parameters.n_neighbors + 8 * wanted) <= blocks.limits.neighbour_bytes
    )
    kept = few and blocks.may_keep(False) and not is_foreign(blocks.x)
    falloff = Falloff.over(blocks, weights, float(parameters.falloff))
    sums = engine.fold(rows, _GraphPass(weights, falloff, kept))
    joint = sums.graph.toarray()
    mass = joint.sum(axis=1)  # Lambda: z sums to one
    roots = np.where(mass > 0, np.sqrt(mass), np.inf)
    parts = _parts(sums.graph, np.flatnonzero(mass > 0))
    values, vectors = _leading(
        joint / roots[:, None] / roots[None, :], max(2 * wanted, parts, GAPS) + 1
    )
    complain(values, parts, sought)
    if automatic:
        wanted = number_of_components(values, parts, wanted)
    leading = np.flatnonzero(values[:wanted] > TIE)
    axes = _orthonormal(vectors[:, leading] / roots[:, None] / np.sqrt(values[leading]), sums.own)
    graph = replace(
        parameters, points=points, axes=axes, eigenvalues=values, n_components=axes.shape[1]
    )
    features = [graph.features_of(z).astype(blocks.x.dtype, copy=False) for z in sums.found]
    return graph, np.concatenate(features) if kept else None


def _parts(joint: sparse.csr_array, used: IntArray) -> int:
    """Return the number of parts that nothing joins."""
    joint.eliminate_zeros()
    return int(sparse.csgraph.connected_components(joint[used][:, used], directed=False)[0])


def _orthonormal(axes: Float64, joint: sparse.csr_array) -> Float64:
    """Return combinations of axes (s, k), each of those up to it, whose features of all rows are
    orthonormal by the rows' own weights.

    By weights in the graph, as the eigenvectors are, features of a cluster of rows that count less
    would be large, and k-means of all rows would divide it.
    """
    products = axes.T @ (joint @ axes) / joint.sum()
    factor = np.linalg.cholesky((products + products.T) / 2.0)
    return np.ascontiguousarray(scipy.linalg.solve_triangular(factor, axes.T, lower=True).T)


def number_of_components(values: Float64, parts: int, wanted: int) -> int:
    """Return the automatic number of eigenvectors: at least those wanted and one for each part of
    the graph, ties whole."""
    return (
        int(np.flatnonzero(values > values[min(max(wanted, parts), len(values)) - 1] - TIE)[-1]) + 1
    )


def _leading(matrix: Float64, count: int) -> tuple[Float64, Float64]:
    """Return the largest eigenvalues (k,) of a symmetric matrix (s, s), the largest first, and
    their eigenvectors (s, k), in each of which the number furthest from 0 is positive."""
    s = len(matrix)
    values, vectors = scipy.linalg.eigh(
        (matrix + matrix.T) / 2.0, subset_by_index=(max(s - count, 0), s - 1), check_finite=False
    )
    furthest = np.abs(vectors).argmax(axis=0)
    return values[::-1].copy(), (vectors * np.sign(vectors[furthest, np.arange(len(values))]))[
        :, ::-1
    ]


class FeaturesPass(Pass[Array]):
    """Rows as their space represents them (b, k), in the rows' library."""

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Array:
        parts = [block.rows.plain().g for block in rows.task(task)]
        return namespace(parts[0]).concat(parts)


def complain(values: Float64, parts: int, sought: Sought) -> None:
    """Warn of a number of clusters that the graph does not show."""
    count, what = sought.count, sought.what
    if parts > count:
        warn(
            f"{sought.call}: the graph falls into {parts} parts that nothing joins, more than "
            f"{count} {what} can tell apart; take more "
            f"{what}, or a graph that joins each row to more others."
        )
    elif len(values) > count and values[count - 1] - values[count] < TIE:
        warn(
            f"{sought.call}: eigenvalues number {count} and {count + 1} of the graph are equal, so "
            f"that chance decides which {what} are made; take another number of them (the graph "
            f"shows {suggested_clusters(values)} clusters most clearly)."
        )


def doubt(values: Float64, sought: Sought) -> None:
    """Warn of a cut where the graph shows no gap: the frequencies sqrt(1 - eigenvalue) of the last
    cluster and of one more differ by less than a fifth, or than 1 / c, which is the gap of c
    frequencies that rise evenly."""
    count, shown = sought.count, suggested_clusters(values)
    if len(values) <= count or shown == count:
        return
    # parts that nothing joins, and ties, have warnings of their own
    if values[count] > 1.0 - TIE or values[count - 1] - values[count] < TIE:
        return
    last, beyond = np.sqrt(np.maximum(1.0 - values[count - 1 : count + 1], 0.0))
    if beyond - last <= min(DOUBTFUL, 1.0 / count) * beyond:
        warn(
            f"{sought.call}: a cut into {count} {sought.what} is doubtful, since one into "
            f"{count + 1} costs nearly the same. Take another number of them (the graph shows "
            f"{shown} most clearly), or more rows."
        )
