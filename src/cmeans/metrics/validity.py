"""Quality of a clustering without a known truth: crispness of the memberships, compactness and separation of the clusters.

With a truth, see `cmeans.metrics`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, host_float64, rounding
from ..fitting.prediction import Predicting
from ..fitting.validation import intact, read_weights
from ..spaces.centres import Centres

__all__ = ["partition_coefficient", "partition_entropy", "simplified_silhouette", "xie_beni"]

ROUNDING = 1e-4  # margin by which a membership may exceed 1, as in float32 or after printing


def partition_coefficient(memberships: Any, *, sample_weight: Any = None, normalized: bool = False) -> float:
    """Partition coefficient:  PC = sum_ij w_i u_ij^2 / sum_i w_i, the crispness of a fuzzy partition.

    Use it to compare numbers of clusters or values of m on the same rows, larger being crisper. PC falls with c by itself, which
    `normalized` corrects; and it depends on memberships alone, so that a small m looks good on any rows.

    Parameters
    ----------
    memberships : (n, c) array of any library, numbers from 0 to 1: a model's `memberships_`.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    normalized : bool, default=False
        (c PC - 1) / (c - 1) instead.

    Returns
    -------
    float
        From 1/c (every row equally in all clusters) to 1 (crisp), normalized from 0 to 1, where rows sum to one. Typicalities need
        not, and give values from 0 to c.

    Raises
    ------
    ValueError
        If memberships are not 2-D, empty, not finite, negative or above 1, weights are invalid, or `normalized` is True for one cluster.

    References
    ----------
    Bezdek: Cluster validity with fuzzy sets. Journal of Cybernetics 3, 1974; Pattern Recognition with Fuzzy Objective Function
    Algorithms. Plenum, 1981, chapter 4.
    Normalized: Dave: Validating fuzzy partitions obtained through c-shells clustering. Pattern Recognition Letters 17, 1996.

    Examples
    --------
    >>> from cmeans.validity import partition_coefficient
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]], normalized=True)
    0.5
    """
    u, w = _checked(memberships, sample_weight, "partition_coefficient")
    c = u.shape[1]
    if normalized and c == 1:
        raise ValueError("partition_coefficient(normalized=True): memberships have one column; normalized needs at least two clusters.")
    coefficient = float(w @ np.einsum("ij,ij->i", u, u) / w.sum())
    return (c * coefficient - 1.0) / (c - 1.0) if normalized else coefficient


def partition_entropy(memberships: Any, *, sample_weight: Any = None) -> float:
    """Partition entropy:  PE = - sum_ij w_i u_ij ln u_ij / sum_i w_i  (0 ln 0 = 0), the fuzziness of a partition, in nats.

    Use it as `partition_coefficient`, smaller being crisper; it gives small memberships more weight.

    Parameters
    ----------
    memberships : (n, c) array of any library, numbers from 0 to 1: a model's `memberships_`.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

    Returns
    -------
    float
        From 0 (crisp) to ln c (every row equally in all clusters), where rows sum to one. Typicalities need not: at most c/e.

    Raises
    ------
    ValueError
        If memberships are not 2-D, empty, not finite, negative or above 1, or weights are invalid.

    References
    ----------
    Bezdek: Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum, 1981, chapter 4.

    Examples
    --------
    >>> from cmeans.validity import partition_entropy
    >>> round(partition_entropy([[1.0, 0.0], [0.5, 0.5]]), 6)  # ln(2) / 2
    0.346574
    """
    u, w = _checked(memberships, sample_weight, "partition_entropy")
    return float(w @ entr(u).sum(axis=1) / w.sum()) + 0.0  # not -0.0


def xie_beni(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Xie-Beni index:  XB = sum_ij w_i u_ij^m |phi(x_i) - v_j|^2 / (sum_i w_i min_{j != k} |v_j - v_k|^2), in the model's own space.

    Use it to choose the number of clusters: the smallest XB means compact and well separated clusters. Compare models of one kernel
    and m, and c far below n: XB falls by itself as c approaches n.

    Parameters
    ----------
    model : a fitted estimator of this library, whose kernel, space and m are used (hard clusters: m = 1).
    X : (n, d) rows as for `model.transform`: those of the fit, or others.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float of at least 0; infinite where two centres coincide (to rounding)

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or rows or weights are invalid.

    References
    ----------
    Xie, Beni: A validity measure for fuzzy clustering. IEEE Trans. Pattern Analysis and Machine Intelligence 13(8), 1991 (there m = 2).
    From inner products alone: Sledge, Havens, Bezdek, Keller: Relational duals of cluster validity functions for the c-means family.
    IEEE Trans. Fuzzy Systems 18(6), 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.validity import xie_beni
    >>> X = load_iris().data
    >>> indices = {c: xie_beni(FuzzyCMeans(c, kernel="linear", m=2, random_state=0).fit(X), X) for c in (2, 3, 4)}
    >>> min(indices, key=indices.get)
    2
    """
    centres = _check_model(model, "xie_beni")
    d2 = host_float64(model.transform(X, diag=diag)) ** 2
    u = host_float64(model.memberships(X, diag=diag))
    weight, _ = read_weights(sample_weight, len(d2), "xie_beni")
    separation = _smallest_squared_distance(centres)
    if separation == 0.0:
        return float("inf")
    scatter = weight @ np.einsum("ij,ij->i", host_float64(model._rule.weights(u)), d2)
    return float(scatter / weight.sum() / separation)


def simplified_silhouette(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Simplified silhouette:  sum_i w_i (b_i - a_i) / b_i / sum_i w_i,  a_i and b_i the distances of row i to the two nearest centres.

    Use it to compare numbers of clusters, larger being better; `cmeans.select` does, after correcting it for chance.

    Parameters
    ----------
    model : a fitted estimator of this library, in whose space distances are taken.
    X : (n, d) rows as for `model.transform`: those of the fit, or others.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float
        From 0 (each row is as near to a second centre) to 1 (rows are at centres). Rows at two centres at once count as 0.

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or rows or weights are invalid.

    References
    ----------
    Hruschka, Campello, de Castro: Evolving clusters in gene-expression data. Information Sciences 176, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans
    >>> from cmeans.validity import simplified_silhouette
    >>> X = load_iris().data
    >>> models = {c: KernelKMeans(c, kernel="linear", random_state=0).fit(X) for c in (2, 3, 4)}
    >>> max(models, key=lambda c: simplified_silhouette(models[c], X))
    2
    """
    _check_model(model, "simplified_silhouette")
    distances = np.partition(host_float64(model.transform(X, diag=diag)), 1, axis=1)[:, :2]
    weight, _ = read_weights(sample_weight, len(distances), "simplified_silhouette")
    nearest, second = distances.T
    values = np.divide(second - nearest, second, out=np.zeros(len(second)), where=second > 0)
    return float(weight @ values / weight.sum())


def _smallest_squared_distance(centres: Centres) -> float:
    """min_{j != k} |v_j - v_k|^2, 0 where it is below rounding."""
    d2 = centres.squared_distances()
    np.fill_diagonal(d2, np.inf)
    smallest = float(d2.min())
    return smallest if smallest > rounding(d2.dtype) * float(centres.squared_norms().max()) else 0.0


def _check_model(model: Any, function_name: str) -> Centres:
    """Return the centres of a fitted model of at least two clusters."""
    if not isinstance(model, Predicting):
        raise ValueError(f"{function_name}(model={model!r}): pass a fitted estimator of this library, which has centres.")
    check_is_fitted(model)
    if len(model._state.centres) < 2:
        raise ValueError(f"{function_name}(model={model!r}): the model has one cluster, and the index needs two; fit at least two.")
    return model._state.centres


def _checked(memberships: Any, sample_weight: Any, function_name: str) -> tuple[Float64, Float64]:
    """Return memberships (n, c) and weights (n,), in float64."""
    try:
        u = host_float64(intact(memberships, "memberships", function_name))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{function_name}: memberships must be a table of numbers: {error}.") from None
    if u.ndim != 2:
        raise ValueError(f"{function_name}: memberships have shape {u.shape}; a 2-D array (n, c), one row for each row of X, is needed.")
    if u.size == 0:
        raise ValueError(f"{function_name}: memberships have shape {u.shape}; at least one row and one cluster are needed.")
    bad = ~((u >= 0.0) & (u <= 1.0 + ROUNDING))  # NaN too
    if bad.any():
        row, column = (int(number) for number in np.argwhere(bad)[0])
        raise ValueError(
            f"{function_name}: memberships[{row}, {column}] is {u[row, column]:g}; memberships lie between 0 and 1 "
            "(a model's memberships_, not the distances of its transform)."
        )
    return u, read_weights(sample_weight, len(u), function_name)[0]
