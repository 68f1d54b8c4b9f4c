"""How good a clustering is, where the truth or a reference run is known: the measures of the papers.

Adjusted Rand index, normalised mutual information and v-measure are scikit-learn's and not repeated here:
`sklearn.metrics.adjusted_rand_score`, `normalized_mutual_info_score`, `v_measure_score`. Without a truth, see `cmeans.validity`.

Labels of any kind serve, as truth and as clusters: integers, strings, any hashable values, in lists, arrays of any library or
columns of data frames. Only which rows share a label counts, never its name, but for -1 in `labels`, which is noise.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from .arrays import IntArray, is_foreign, to_numpy
from .estimators.inputs import one_of, real

__all__ = ["error_reduction", "percent_error", "purity", "rand_measure", "relative_purity", "success_rate"]

NOISE = -1
NOISE_WORDS = ("nearest", "cluster")
SORTED_KINDS = "biufUS"  # dtypes that NumPy sorts and compares by itself


def purity(truth: Any, labels: Any) -> float:
    """Purity:  P = (1/n) sum_j max_w |w & C_j|, the share of rows that belong to the commonest class of their cluster.

    Use it for clusterings of one number of clusters: more clusters are purer, and n clusters have purity 1.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters; for memberships (n, c), `memberships.argmax(axis=1)`. Noise (-1) is one more cluster.

    Returns
    -------
    float, from the share of the largest class to 1

    Raises
    ------
    ValueError
        If the lengths differ, there are no rows, or a label is missing (NaN, None) or cannot be one (a list).

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, eq. 21.

    Examples
    --------
    >>> from cmeans.metrics import purity
    >>> purity(["cat", "cat", "dog", "dog"], [0, 0, 0, 1])
    0.75
    """
    classes, clusters = _both(truth, labels, "labels", "purity")
    table = _contingency(clusters[0], classes[0])
    return int(table.max(axis=1).sum()) / len(classes[0])


def relative_purity(truth: Any, labels: Any, reference_labels: Any) -> float:
    """Relative purity:  P(labels) - P(reference_labels), what an approximation loses (below 0) or gains.

    Use it for a run with landmarks against the run with the full kernel from the same start, so that the start does not count.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters of the approximation.
    reference_labels : (n,) clusters of the full run.

    Returns
    -------
    float between -1 and 1

    Raises
    ------
    ValueError
        As `purity`.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, V.A.2.

    Examples
    --------
    >>> from cmeans.metrics import relative_purity
    >>> relative_purity(["a", "a", "b", "b"], [0, 0, 0, 1], [0, 0, 1, 1])
    -0.25
    """
    classes, clusters = _both(truth, labels, "labels", "relative_purity")
    _, reference = _both(truth, reference_labels, "reference_labels", "relative_purity")
    own, other = (int(_contingency(codes, classes[0]).max(axis=1).sum()) for codes, _ in (clusters, reference))
    return (own - other) / len(classes[0])


def success_rate(truth: Any, labels: Any, *, noise: str = "nearest", nearest: Any = None) -> float:
    """Success rate:  SR = (1/n) max_s sum_j |C_j & w_s(j)|, over matchings s that give a cluster at most one class and a class one cluster.

    Use it as the share of rows labelled correctly. Clusters beyond the number of classes, and classes beyond the number of
    clusters, stay unmatched, and their rows count as wrong.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters; -1 is noise, a row that no cluster wants.
    noise : "nearest" or "cluster", default="nearest"
        "nearest": such a row counts in its nearest cluster, as in the papers; "cluster": noise is one more cluster.
    nearest : (n,) clusters, read where `labels` is -1 and only for noise="nearest": `model.transform(X).argmin(axis=1)`.

    Returns
    -------
    float above 0, at most 1

    Raises
    ------
    ValueError
        For an unknown `noise`, noise rows without `nearest`, lengths that differ, no rows, or labels that are missing.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN 2014, section 4.
    The matching: Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.

    Examples
    --------
    >>> from cmeans.metrics import success_rate
    >>> success_rate(["a", "a", "b", "b"], [1, 1, 0, -1], noise="cluster")
    0.75
    >>> success_rate(["a", "a", "b", "b"], [1, 1, 0, -1], nearest=[1, 1, 0, 0])
    1.0
    """
    classes, clusters = _with_noise(truth, labels, noise, nearest, "success_rate")
    table = _contingency(clusters, classes).toarray()
    return int(table[linear_sum_assignment(table, maximize=True)].sum()) / len(classes)


def rand_measure(truth: Any, labels: Any, *, noise: str = "nearest", nearest: Any = None) -> float:
    """Rand measure:  RM = (a + d) / (n(n-1)/2), with a pairs of rows together in truth and clusters and d pairs apart in both.

    Use it where the numbers of clusters and classes may differ. It is not corrected for chance (many clusters put most pairs
    apart in both); `sklearn.metrics.adjusted_rand_score` is.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters; -1 is noise, a row that no cluster wants.
    noise : "nearest" or "cluster", default="nearest"
        "nearest": such a row counts in its nearest cluster, as in the papers; "cluster": noise is one more cluster.
    nearest : (n,) clusters, read where `labels` is -1 and only for noise="nearest": `model.transform(X).argmin(axis=1)`.

    Returns
    -------
    float between 0 and 1; the pairs are counted in whole numbers, from the table of classes and clusters

    Raises
    ------
    ValueError
        For an unknown `noise`, noise rows without `nearest`, lengths that differ, fewer than two rows, or labels that are missing.

    References
    ----------
    Rand: Objective criteria for the evaluation of clustering methods. Journal of the American Statistical Association 66, 1971.

    Examples
    --------
    >>> from cmeans.metrics import rand_measure
    >>> rand_measure(["a", "a", "b", "b"], [1, 1, 0, -1], noise="cluster")  # one pair of six is apart that should not be
    0.8333333333333334
    >>> rand_measure(["a", "a", "b", "b"], [1, 1, 0, -1], nearest=[1, 1, 0, 0])
    1.0
    """
    classes, clusters = _with_noise(truth, labels, noise, nearest, "rand_measure")
    n = len(classes)
    if n < 2:
        raise ValueError("rand_measure: truth and labels have one row, which makes no pair; at least two rows are needed.")
    together = [_sum_of_squares(counts) for counts in (_contingency(clusters, classes).data, np.bincount(clusters), np.bincount(classes))]
    differing = together[1] + together[2] - 2 * together[0]  # ordered pairs, together on one side only
    pairs = n * (n - 1)
    return (pairs - differing) / pairs


def error_reduction(initial: Any, final: float | None = None) -> float:
    """Error reduction:  (E_initial - E_final) / E_initial, how much of the objective at the start a run has removed.

    Use it to compare runs from the same start: larger means more compact clusters.

    Parameters
    ----------
    initial : number, the objective at the start; or alone, a fitted model's `objective_history_`, from whose first to last value it goes.
    final : number, the objective at the end.

    Returns
    -------
    float, at most 1; below 0 where the objective has risen

    Raises
    ------
    ValueError
        If an objective is no finite number or negative, the initial one is zero, or `final` is missing beside a number.

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means: solution to large scale kernel clustering. KDD 2011, section 5.2.

    Examples
    --------
    >>> from cmeans import KernelKMeans
    >>> from cmeans.metrics import error_reduction
    >>> error_reduction(80.0, 20.0)
    0.75
    >>> model = KernelKMeans(2, kernel="linear", init=[[0.0], [1.0]]).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> bool(error_reduction(model.objective_history_) > 0.9)
    True
    """
    if final is None:
        history = np.asarray(initial)
        if history.ndim != 1 or len(history) == 0:
            raise ValueError(
                f"error_reduction(initial=of shape {history.shape}, final=None): pass two numbers, or a fitted model's "
                "objective_history_ (1-D, not empty) alone."
            )
        initial, final = history[0], history[-1]
    first = real(initial, "initial", "error_reduction", above=True)
    return (first - real(final, "final", "error_reduction")) / first


def percent_error(sampled: float, full: float) -> float:
    """Percent error of the objective:  100 (E_samp - E_full) / E_full, what an approximation costs.

    Use it for a run with landmarks against the run with the full kernel from the same start. Both objectives must be those of
    the same rows, kernel and m; below 0, the approximation has found the better clustering.

    Parameters
    ----------
    sampled : number, the objective of the approximation.
    full : number, the objective of the full run.

    Returns
    -------
    float, at least -100

    Raises
    ------
    ValueError
        If an objective is no finite number or negative, or `full` is zero.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, V.A.3, eq. 22.

    Examples
    --------
    >>> from cmeans.metrics import percent_error
    >>> percent_error(10.5, 10.0)
    5.0
    """
    reference = real(full, "full", "percent_error", above=True)
    return (real(sampled, "sampled", "percent_error") - reference) / reference * 100.0


def _with_noise(truth: Any, labels: Any, noise: str, nearest: Any, owner: str) -> tuple[IntArray, IntArray]:
    """Classes and clusters (n,) as numbers from 0, noise rows where the word puts them."""
    one_of(noise, "noise", owner, NOISE_WORDS)
    (classes, _), (clusters, names) = _both(truth, labels, "labels", owner)
    if noise == "cluster" or NOISE not in names:
        return classes, clusters
    rows = np.flatnonzero(clusters == names.index(NOISE))
    if nearest is None:
        raise ValueError(
            f'{owner}(noise="nearest", nearest=None): {len(rows)} of {len(clusters)} labels are -1 (noise); pass the nearest cluster of '
            'each row, nearest=model.transform(X).argmin(axis=1), or noise="cluster".'
        )
    others, other_names = _coded(nearest, "nearest", owner)
    _same_length(clusters, others, "labels", "nearest", owner)
    lost = rows[[other_names[code] == NOISE for code in others[rows]]]
    if len(lost):
        raise ValueError(
            f"{owner}: labels[{lost[0]}] is -1 (noise), and so is nearest[{lost[0]}]; nearest must name a cluster for every noise row: "
            "model.transform(X).argmin(axis=1)."
        )
    number = {name: code for code, name in enumerate(names)}
    codes = np.array([number.setdefault(name, len(number)) for name in other_names], dtype=np.intp)
    clusters = clusters.copy()
    clusters[rows] = codes[others[rows]]
    return classes, clusters


Coded = tuple[IntArray, list[Hashable]]  # (n,) numbers from 0, and the label that each number stands for


def _both(truth: Any, labels: Any, name: str, owner: str) -> tuple[Coded, Coded]:
    classes, clusters = _coded(truth, "truth", owner), _coded(labels, name, owner)
    _same_length(classes[0], clusters[0], "truth", name, owner)
    return classes, clusters


def _coded(values: Any, name: str, owner: str) -> Coded:
    # A list stays one: as an array [1, "a"] would become strings, and tuples a table.
    given = values if isinstance(values, (list, tuple)) else to_numpy(values) if is_foreign(values) else np.asarray(values)
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise ValueError(
                f"{owner}: {name} has shape {given.shape}; one label a row is needed: shape (n,). "
                "Of memberships take argmax(axis=1), of a column ravel()."
            )
        if given.dtype.kind in SORTED_KINDS and len(given):
            if given.dtype.kind == "f" and np.isnan(given).any():
                raise _missing(int(np.argmax(np.isnan(given))), np.nan, name, owner)
            names, codes = np.unique(given, return_inverse=True)
            return codes.astype(np.intp, copy=False), names.tolist()
        given = given.tolist()
    if len(given) == 0:
        raise ValueError(f"{owner}: {name} is empty; at least one row is needed.")
    return _coded_by_hash(given, name, owner)


def _coded_by_hash(values: list[Any] | tuple[Any, ...], name: str, owner: str) -> Coded:
    number: dict[Hashable, int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
            raise _missing(row, value, name, owner)
        try:
            codes[row] = number.setdefault(value, len(number))
        except TypeError:
            raise ValueError(
                f"{owner}: {name}[{row}] is {value!r}, which is not hashable and so no label; one number, string or tuple a row is needed."
            ) from None
    return codes, list(number)


def _missing(row: int, value: Any, name: str, owner: str) -> ValueError:
    return ValueError(f"{owner}: {name}[{row}] is {value}; leave rows without a label out of all arguments, or give them one of their own.")


def _same_length(one: IntArray, other: IntArray, name: str, other_name: str, owner: str) -> None:
    if len(one) != len(other):
        raise ValueError(f"{owner}: {name} has {len(one)} rows and {other_name} has {len(other)}; both need one label for each row.")


def _contingency(clusters: IntArray, classes: IntArray) -> Any:
    """How many rows each cluster (row) shares with each class (column), as a sparse table: O(n), however many there are."""
    shape = (int(clusters.max()) + 1, int(classes.max()) + 1)
    return sparse.coo_array((np.ones(len(clusters), dtype=np.int64), (clusters, classes)), shape=shape).tocsr()


def _sum_of_squares(counts: IntArray) -> int:
    counts = counts.astype(np.int64, copy=False)  # n^2 fits for n below 3e9
    return int(counts @ counts)
