"""Two clusterings of the same rows: which clusters of one are those of the other, and how far the
two agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..data.arrays import Float64, IntArray, is_foreign, to_numpy
from ..data.blocks import spans
from ..data.limits import DEFAULT, MOST_COPIES
from ..fitting.validation import intact
from ..fitting.weights import read_weights

NOISE = -1


def match_labels(labels: Any, reference: Any, *, sample_weight: Any = None) -> IntArray:
    """Labels with the clusters numbered as in a reference, so that the weight of rows whose labels
    agree is the largest possible.

    Use it to compare refits, or fits of other parameters, row by row and cluster by cluster.

    Parameters
    ----------
    labels : (n,) whole numbers of at least 0, the clusters; -1 is noise.
    reference : (n,) the same for the clusters whose numbers are to be taken.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

    Returns
    -------
    (n,) integers
        The reference's number for each cluster that is matched with one of its; clusters that are
        left over are numbered from the first number on that the reference does not use, by
        increasing label. -1 stays -1.

    Raises
    ------
    ValueError
        If labels are no whole numbers, below -1, or not one for each row, or weights are invalid.

    References
    ----------
    Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2,
    1955.

    Examples
    --------
    >>> from cmeans.metrics import match_labels
    >>> match_labels([2, 2, 0, 0, 1, -1], [0, 0, 1, 1, 1, 2]).tolist()
    [0, 0, 1, 1, 3, -1]
    """
    ours, theirs = _checked(labels, "labels"), _checked(reference, "reference")
    if len(ours) != len(theirs):
        raise ValueError(
            f"match_labels: labels has {len(ours)} rows and reference has {len(theirs)}; both need "
            "one label for each row."
        )
    weight, _ = read_weights(sample_weight, len(ours), "match_labels")
    n_theirs, n_ours = int(theirs.max()) + 1, int(ours.max()) + 1
    number = numbers_as_in(shared_weights(theirs, ours, weight, n_theirs, n_ours))
    left = np.flatnonzero((number < 0) & (np.bincount(ours[ours >= 0], minlength=n_ours) > 0))
    number[left] = n_theirs + np.arange(len(left))
    return np.append(number, NOISE)[ours]


def shared_weights(
    reference: IntArray, labels: IntArray, weight: Float64, n_reference: int, n_labels: int
) -> Float64:
    """Weight (n_reference + 1, n_labels + 1) of the rows that two clusters share; last are the rows
    in none."""
    shape = n_reference + 1, n_labels + 1
    total = np.zeros(shape[0] * shape[1])
    for start, stop in spans(len(labels), DEFAULT.rows_at_once):
        pairs = (reference[start:stop].astype(np.intp) % shape[0]) * shape[1] + labels[
            start:stop
        ].astype(np.intp) % shape[1]
        total += np.bincount(pairs, weights=weight[start:stop], minlength=len(total))
    return total.reshape(shape)


def numbers_as_in(shared: Float64) -> IntArray:
    """Return for each cluster of some labels the number of the reference's that it is matched with;
    -1 where it shares no row with it."""
    number: IntArray = np.full(shared.shape[1] - 1, NOISE, dtype=np.intp)
    theirs, ours = linear_sum_assignment(shared[:-1, :-1], maximize=True)
    meet = shared[theirs, ours] > 0
    number[ours[meet]] = theirs[meet]
    return number


def jaccard(shared: Float64) -> Float64:
    """Weight of the rows in both over that of the rows in either, for each cluster of the reference
    and the one that is matched with it.

    0 where none is; NaN for clusters without rows (Hennig 2007, eq. 1).
    """
    number = numbers_as_in(shared)
    matched = np.flatnonzero(number >= 0)
    own, other = shared.sum(axis=1)[:-1], shared.sum(axis=0)[:-1]
    result = np.where(own > 0, 0.0, np.nan)
    both = shared[number[matched], matched]
    result[number[matched]] = both / (own[number[matched]] + other[matched] - both)
    return result


def adjusted_rand(shared: Float64) -> float:
    """Adjusted Rand index of two clusterings: the share of pairs of rows on which they agree, 0 by
    chance (Hubert & Arabie 1985).

    A weight counts copies of a row; noise is a cluster.
    """
    shared = shared * min(1.0, MOST_COPIES / max(float(shared.sum()), 1.0))

    def pairs(weight: Any) -> Any:
        return weight * (weight - 1.0) / 2.0

    both = pairs(shared).sum()
    ours = pairs(shared.sum(axis=1)).sum()
    theirs = pairs(shared.sum(axis=0)).sum()
    chance = ours * theirs / pairs(shared.sum())
    most = (ours + theirs) / 2.0
    return 1.0 if most == chance else float((both - chance) / (most - chance))


def _checked(labels: Any, name: str) -> IntArray:
    """Return labels (n,) as integers."""
    values = intact(labels, name, "match_labels")
    array = np.asarray(to_numpy(values) if is_foreign(values) else values)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
        raise ValueError(
            f"match_labels: {name} has shape {array.shape}, {array.dtype}; one whole number a row "
            "is needed: shape (n,)."
        )
    if array.min() < NOISE:
        raise ValueError(
            f"match_labels: {name} holds {array.min()}; clusters are numbered from 0, and -1 is "
            "noise."
        )
    return array.astype(np.intp, copy=False)
