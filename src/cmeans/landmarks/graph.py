"""The landmark graph of rows: its landmarks, one pass for its sums, its leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy import sparse

from ..data.arrays import Array, Float64, is_foreign, namespace
from ..data.blocks import Blocks
from ..engines import Engine, Pass
from ..kernels import LandmarkGraphKernel
from ..kernels.landmark_graph import GraphParameters, LandmarkWeights
from ..rules import Hard
from ..runtime.user_warnings import warn
from ..sampling.population import Population, draw, sample
from ..spaces import EuclideanSpace
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State

AUTOMATIC = 1000  # landmarks at most, where their number is not given
ROWS = 10  # of the sample for each landmark
SWEEPS = 5  # of k-means: landmarks need to cover the rows, not to be a best partition
TIE = 1e-8  # difference of eigenvalues, of 1 at most, that is rounding
NEARLY = 0.9  # share of the largest gap from which on another is as large
GAPS = 20  # eigenvalues at least, between which the largest gap is sought


def landmark_centres(blocks: Blocks, population: Population, count: int, rng: np.random.RandomState, engine: Engine) -> Float64:
    """Return up to `count` landmarks (s, d): centres of a few sweeps of k-means over a fair sample, those that have rows."""
    positions, weights = sample(population, ROWS * count, rng)
    some = blocks.part(population.at(positions), weights).in_memory()
    space = EuclideanSpace.about(some.x, weights)
    problem = Problem(RepresentedRows(space, some, 0), Hard(), engine)
    state = State(space.embed(blocks.take(population.at(draw(population, min(count, len(population)), rng)))))
    for _ in range(SWEEPS):
        sums = problem.sweep(state)
        state = State(problem.means(state, sums))
    return space.points(state.centres[np.flatnonzero(sums.mass > 0)])


@dataclass(frozen=True)
class _GraphPass(Pass["sparse.csr_array"]):
    """Z^T W Z (s, s) of the rows."""

    weights: LandmarkWeights
    found: list[sparse.csr_array] | None  # by task: the rows' weights at landmarks, where they are to be kept

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> sparse.csr_array:
        s = len(self.weights.points)
        total, parts = sparse.csr_array((s, s)), []
        for block in rows.task(task):
            z = self.weights(block.rows.plain().g)
            total = total + z.T @ z.multiply(block.weight[:, None]).tocsr()
            if self.found is not None:
                parts.append(z)
        if self.found is not None:
            self.found[task] = sparse.vstack(parts, format="csr")
        return total


@dataclass(frozen=True)
class Sought:
    """How many clusters or components are asked of a graph, and by which call, for messages."""

    count: int
    what: str  # "clusters" or "components"
    call: str  # such as 'KernelKMeans(n_clusters=2, kernel="landmark_graph")'


def landmark_graph(
    points: Float64,  # (s, d)
    parameters: GraphParameters,
    sought: Sought,
    blocks: Blocks,
    engine: Engine,
) -> tuple[LandmarkGraphKernel, Array | None]:
    """Return the graph of all rows over given landmarks, and their features (n, k) where these are cheap to keep."""
    if not parameters.n_neighbors <= len(points) < blocks.n_rows:
        raise ValueError(
            f"{sought.call}: the graph joins rows by their n_neighbors={parameters.n_neighbors} nearest landmarks, of "
            f"which there must be as many at least, and fewer than rows; there are {len(points)} different ones for {blocks.n_rows} rows "
            f"(n_samples={blocks.n_rows}). Set n_landmarks or n_neighbors; of fewer than some ten different rows no graph can be made."
        )
    width = None if isinstance(parameters.width, str) else float(parameters.width)
    weights = LandmarkWeights(points, parameters.n_neighbors, width)
    rows = RepresentedRows(EuclideanSpace(np.zeros(blocks.x.shape[1])), blocks, 0)
    automatic = isinstance(parameters.n_components, str)
    wanted = sought.count if automatic else int(parameters.n_components)
    few = blocks.n_rows * (12 * parameters.n_neighbors + 8 * wanted) <= blocks.limits.neighbour_bytes
    kept = few and not blocks.read_anew and not is_foreign(blocks.x)
    found: list[sparse.csr_array] | None = [sparse.csr_array((0, 0))] * rows.n_tasks if kept else None
    joint = engine.fold(rows, _GraphPass(weights, found)).toarray()
    mass = joint.sum(axis=1)  # Lambda: z sums to one
    roots = np.where(mass > 0, np.sqrt(mass), np.inf)
    parts = int(sparse.csgraph.connected_components(joint[mass > 0][:, mass > 0], directed=False)[0])
    values, vectors = _leading(joint / roots[:, None] / roots[None, :], max(2 * wanted, parts, GAPS) + 1)
    complain(values, parts, sought)
    if automatic:
        wanted = number_of_components(values, parts, wanted)
    leading = np.flatnonzero(values[:wanted] > TIE)
    axes = np.sqrt(mass.sum()) * vectors[:, leading] / roots[:, None] / np.sqrt(values[leading])
    graph = LandmarkGraphKernel(points, np.ascontiguousarray(axes), values, parameters.n_neighbors, width, bool(parameters.normalized))
    if found is None:
        return graph, None
    return graph, np.concatenate([graph.features_of(z).astype(blocks.x.dtype, copy=False) for z in found])


def number_of_components(values: Float64, parts: int, wanted: int) -> int:
    """Return the automatic number of eigenvectors: at least those wanted and one for each part of the graph, ties whole."""
    return int(np.flatnonzero(values > values[min(max(wanted, parts), len(values)) - 1] - TIE)[-1]) + 1


def _leading(matrix: Float64, count: int) -> tuple[Float64, Float64]:
    """Return the largest eigenvalues (k,) of a symmetric matrix (s, s), the largest first, and their eigenvectors (s, k)."""
    s = len(matrix)
    values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2.0, subset_by_index=(max(s - count, 0), s - 1), check_finite=False)
    return values[::-1].copy(), vectors[:, ::-1]


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
            f"{sought.call}: the graph falls into {parts} parts that nothing joins, more than {count} {what} can tell apart; take more "
            f"{what}, or a graph that joins each row to more others."
        )
    elif len(values) > count and values[count - 1] - values[count] < TIE:
        warn(
            f"{sought.call}: eigenvalues number {count} and {count + 1} of the graph are equal, so that chance decides which {what} are "
            f"made; take another number of them (the graph shows {suggested_clusters(values)} clusters most clearly)."
        )


def suggested_clusters(eigenvalues: Float64) -> int:
    """Return the number of clusters that a graph shows: before the largest gap of its frequencies, sqrt(1 - eigenvalue).

    Of one long, thin cluster these are evenly spaced (of broader ones they come closer), while gaps of the eigenvalues themselves grow;
    so of gaps that are large within a tenth the first is taken.
    """
    gaps = np.diff(np.sqrt(np.maximum(1.0 - eigenvalues, 0.0)))
    return int(np.argmax(gaps >= NEARLY * gaps.max())) + 1 if len(gaps) else 1
