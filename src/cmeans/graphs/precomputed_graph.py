"""A graph of rows given by a sparse matrix of affinities: its checks, its parts, its leading
eigenvectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..data.arrays import Array, Float64, IntArray, is_foreign, to_numpy
from ..data.blocks import spans
from ..data.precision import ASYMMETRY
from ..kernels import PrecomputedGraphKernel
from ..kernels.base import TIE
from ..kernels.precomputed_graph import NEGATIVE
from ..runtime.user_warnings import warn
from .landmark_graph import GAPS, Sought, complain, number_of_components
from .multigrid import leading_eigenvectors

DENSE = 1000  # rows up to which all eigenvectors are found
FEW, BEYOND = 20_000, 8  # rows beyond which only so many eigenvalues after those wanted are found
COMPARED = 2**16  # rows that are compared with columns at once
OF_VECTORS, OF_EDGES = 12, 5  # copies of eigenvectors and of affinities that the solver works in


def precomputed_graph(
    x: Array,
    weight: Float64,
    parameters: PrecomputedGraphKernel,
    sought: Sought,
    rng: np.random.RandomState,
    room: int,  # bytes that may be taken
) -> tuple[PrecomputedGraphKernel, Float64]:
    """Return the graph of n rows from their affinities (n, n), and the rows' weights (n,) in its
    cut.

    A weight of k is k copies of the row, each joined to all others as the row is: degrees d and the
    cut count it so. A row weighs s_i d_i, divided by the mean of d, in the k-means that is the
    relaxed cut; one without edges weighs nothing.
    """
    affinities = sparse.csr_array(to_numpy(x) if is_foreign(x) else x)
    if not affinities.data.all():  # entries that are there and zero are no edges
        affinities = affinities.copy()
        affinities.eliminate_zeros()
    _refuse_unfit(affinities, sought.call)
    degrees = np.asarray(affinities @ weight, np.float64)
    used = np.flatnonzero((weight > 0) & (degrees > 0))
    if not len(used):
        raise ValueError(
            f"{sought.call}: X holds no edge between rows of positive weight; give affinities "
            "above 0."
        )
    inner = affinities if len(used) == len(weight) else affinities[used][:, used]
    mass = weight[used] * degrees[used]
    n_parts, part = sparse.csgraph.connected_components(inner, directed=False)
    automatic = isinstance(parameters.n_components, str)
    wanted = sought.count if automatic else int(parameters.n_components)
    count = (
        max(2 * wanted, n_parts, GAPS) + 1 if len(used) <= FEW else max(wanted, n_parts) + BEYOND
    )
    needed = OF_VECTORS * 8 * len(used) * count + OF_EDGES * 12 * inner.nnz
    if needed > room:
        raise ValueError(
            f"{sought.call}: {count} eigenvectors of {len(used)} rows and {inner.nnz} affinities "
            f"need some {needed} bytes, more than the {room} that there are or that memory_budget "
            f"allows; the graph falls into {n_parts} parts that nothing joins. Raise it, ask for "
            "fewer clusters or n_components, or cluster the parts one by one "
            "(scipy.sparse.csgraph.connected_components)."
        )
    matrix = _scaled(inner, np.sqrt(weight[used] / degrees[used]))
    values, vectors = _leading(
        matrix, np.sqrt(mass), part.astype(np.intp), count, wanted, rng, sought.call
    )
    complain(values, n_parts, sought)
    leading = np.arange(
        number_of_components(values, n_parts, wanted) if automatic else min(wanted, len(values))
    )
    leading = leading[values[leading] > TIE]
    axes = np.zeros((len(weight), len(leading)))
    axes[used] = (
        (weight[used] / np.sqrt(mass) * np.sqrt(mass.sum()))[:, None]
        * vectors[:, leading]
        / values[leading]
    )
    mean = float(mass.sum() / weight[used].sum())
    graph = replace(
        parameters,
        axes=axes,
        eigenvalues=values,
        weight=np.array(weight),
        mean_degree=mean,
        n_components=axes.shape[1],
    )
    return graph, weight * (degrees / mean)


def _refuse_unfit(affinities: Any, call: str) -> None:
    n, width = affinities.shape
    if n != width:
        raise ValueError(
            f"{call}: X has shape ({n}, {width}); give the square matrix of affinities between all "
            "rows."
        )
    if affinities.nnz and affinities.data.min() < 0:
        raise ValueError(f"{call}: {NEGATIVE}")
    turned, largest = affinities.T.tocsr(), affinities.data.max(initial=0.0)
    for start, stop in spans(n, COMPARED):
        differences = (affinities[start:stop] - turned[start:stop]).data
        worst = float(np.abs(differences).max(initial=0.0))
        if worst > ASYMMETRY * largest:
            raise ValueError(
                f"{call}: the affinities are not symmetric (there and back differ by up to "
                f"{worst:.3g}); of a directed graph, such as one "
                "of nearest neighbours, give (X + X.T) / 2."
            )


def _scaled(affinities: Any, scale: Float64) -> Any:
    """Return the affinities (n, n) with rows and columns multiplied by `scale` (n,), in float64."""
    data = (
        affinities.data * np.repeat(scale, np.diff(affinities.indptr)) * scale[affinities.indices]
    )
    return sparse.csr_array((data, affinities.indices, affinities.indptr), shape=affinities.shape)


def _leading(
    matrix: Any,  # (n, n) D^-1/2 W D^-1/2
    # (n,) D^1/2: its part on each part of the graph is an eigenvector of eigenvalue 1
    root: Float64,
    part: IntArray,  # (n,) of the graph
    count: int,
    wanted: int,
    rng: np.random.RandomState,
    call: str,
) -> tuple[Float64, Float64]:
    """Return the largest eigenvalues (k,), k = count at most, the largest first, and their
    eigenvectors (n, k).

    Those of eigenvalue 1 are known, one for each part, large parts first; the solver is asked for
    the others alone. `wanted`: of the largest eigenvalues, to be found exactly.
    """
    n, n_parts = len(root), int(part.max()) + 1
    mass = np.bincount(part, weights=root * root)
    rank = np.empty(n_parts, dtype=np.intp)
    rank[np.argsort(-mass, kind="stable")] = np.arange(n_parts)
    known = np.zeros((n, n_parts))
    known[np.arange(n), rank[part]] = root / np.sqrt(mass[part])
    others = min(count, n) - n_parts
    if others == 0:
        return np.ones(n_parts), known
    if n <= DENSE or 5 * count >= n:
        # the known ones as those of -1, the smallest there is
        dense = matrix.toarray() - 2.0 * known @ known.T
        values, vectors = scipy.linalg.eigh(
            (dense + dense.T) / 2.0, subset_by_index=(n - others, n - 1)
        )
    else:
        needed = min(max(wanted + 1 - n_parts, 1), others)
        values, vectors, found = leading_eigenvectors(matrix, root, known, others, needed, rng)
        if not found:
            warn(
                f"{call}: the eigenvectors of the graph are inexact, those of many eigenvalues "
                f"near {values[needed - 1]:.8g} hard to tell "
                "apart. A graph that joins each row to more others has them further apart.",
                ConvergenceWarning,
            )
    order = np.argsort(-values, kind="stable")
    return np.concatenate([np.ones(n_parts), values[order]]), np.concatenate(
        [known, vectors[:, order]], axis=1
    )
