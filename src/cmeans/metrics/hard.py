"""Comparison of labels with a truth: purity, success rate, Rand measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..data.arrays import IntArray
from .labels import coded_pair, contingency, with_noise


def purity(truth: Any, labels: Any) -> float:
    """Purity:  P = (1/n) sum_j max_w |w & C_j|, the share of rows that belong to the commonest
    class of their cluster.

    Use it for clusterings with the same number of clusters: more clusters are purer, and n clusters
    have purity 1.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters; for memberships (n, c), `memberships.argmax(axis=1)`. Noise (-1) is one
        more cluster.

    Returns
    -------
    float, from the share of the largest class to 1

    Raises
    ------
    ValueError
        If the lengths differ, there are no rows, or a label is missing (NaN, None) or not hashable
        (a list).

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 21.

    Examples
    --------
    >>> from cmeans.metrics import purity
    >>> purity(["cat", "cat", "dog", "dog"], [0, 0, 0, 1])
    0.75
    """
    classes, clusters = coded_pair(truth, labels, "labels", "purity")
    table = contingency(clusters[0], classes[0])
    return int(table.max(axis=1).sum()) / len(classes[0])


def relative_purity(truth: Any, labels: Any, reference_labels: Any) -> float:
    """Relative purity:  P(labels) - P(reference_labels), the loss (below 0) or gain of an
    approximation.

    Use it for a run with landmarks against the run with the full kernel from the same start, so
    that the start has no influence.

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
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, V.A.2.

    Examples
    --------
    >>> from cmeans.metrics import relative_purity
    >>> relative_purity(["a", "a", "b", "b"], [0, 0, 0, 1], [0, 0, 1, 1])
    -0.25
    """
    classes, clusters = coded_pair(truth, labels, "labels", "relative_purity")
    _, reference = coded_pair(truth, reference_labels, "reference_labels", "relative_purity")
    approximate, full = (
        int(contingency(codes, classes[0]).max(axis=1).sum()) for codes, _ in (clusters, reference)
    )
    return (approximate - full) / len(classes[0])


def success_rate(truth: Any, labels: Any, *, noise: str = "nearest", nearest: Any = None) -> float:
    """Success rate:  SR = (1/n) max_s sum_j |C_j & w_s(j)|, over matchings s that give a cluster at
    most one class and a class one cluster.

    Use it as the share of rows labelled correctly. Clusters beyond the number of classes, and
    classes beyond the number of clusters, stay unmatched, and their rows count as wrong.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters; -1 is noise, a row that belongs to no cluster.
    noise : "nearest" or "cluster", default="nearest"
        "nearest": a noise row counts in its nearest cluster, as in the papers; "cluster": noise is
        one more cluster.
    nearest : (n,) clusters, read where `labels` is -1 and only for noise="nearest":
        `model.transform(X).argmin(axis=1)`.

    Returns
    -------
    float above 0, at most 1

    Raises
    ------
    ValueError
        For an unknown `noise`, noise rows without `nearest`, lengths that differ, no rows, or
        labels that are missing.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN
    2014, section 4. The matching: Kuhn: The Hungarian method for the assignment problem. Naval
    Research Logistics Quarterly 2, 1955.

    Examples
    --------
    >>> from cmeans.metrics import success_rate
    >>> success_rate(["a", "a", "b", "b"], [1, 1, 0, -1], noise="cluster")
    0.75
    >>> success_rate(["a", "a", "b", "b"], [1, 1, 0, -1], nearest=[1, 1, 0, 0])
    1.0
    """
    classes, clusters = with_noise(truth, labels, noise, nearest, "success_rate")
    table = contingency(clusters, classes).toarray()
    return int(table[linear_sum_assignment(table, maximize=True)].sum()) / len(classes)


def rand_measure(truth: Any, labels: Any, *, noise: str = "nearest", nearest: Any = None) -> float:
    """Rand measure:  RM = (a + d) / (n(n-1)/2), with a pairs of rows together in truth and clusters
    and d pairs apart in both.

    Use it where the numbers of clusters and classes may differ. It is not corrected for chance
    (many clusters put most pairs apart in both); `sklearn.metrics.adjusted_rand_score` is.

    Parameters
    ----------
    truth : (n,) classes.
    labels : (n,) clusters; -1 is noise, a row that belongs to no cluster.
    noise : "nearest" or "cluster", default="nearest"
        "nearest": a noise row counts in its nearest cluster, as in the papers; "cluster": noise is
        one more cluster.
    nearest : (n,) clusters, read where `labels` is -1 and only for noise="nearest":
        `model.transform(X).argmin(axis=1)`.

    Returns
    -------
    float between 0 and 1; the pairs are counted in whole numbers, from the table of classes and
    clusters

    Raises
    ------
    ValueError
        For an unknown `noise`, noise rows without `nearest`, lengths that differ, fewer than two
        rows, or labels that are missing.

    References
    ----------
    Rand: Objective criteria for the evaluation of clustering methods. Journal of the American
    Statistical Association 66, 1971.

    Examples
    --------
    >>> from cmeans.metrics import rand_measure
    >>> labels = [1, 1, 0, -1]  # one of six pairs is wrongly apart
    >>> rand_measure(["a", "a", "b", "b"], labels, noise="cluster")
    0.8333333333333334
    >>> rand_measure(["a", "a", "b", "b"], [1, 1, 0, -1], nearest=[1, 1, 0, 0])
    1.0
    """
    classes, clusters = with_noise(truth, labels, noise, nearest, "rand_measure")
    n = len(classes)
    if n < 2:
        raise ValueError(
            "rand_measure: truth and labels have one row, which makes no pair; at least two rows "
            "are needed."
        )
    together = [
        _sum_of_squares(counts)
        for counts in (
            contingency(clusters, classes).data,
            np.bincount(clusters),
            np.bincount(classes),
        )
    ]
    # ordered pairs, together on one side only
    differing = together[1] + together[2] - 2 * together[0]
    pairs = n * (n - 1)
    return (pairs - differing) / pairs


def _sum_of_squares(counts: IntArray) -> int:
    counts = counts.astype(np.int64, copy=False)  # n^2 fits for n below 3e9
    return int(counts @ counts)
