"""Comparison of memberships with a truth, or with other memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from ..data.arrays import Float64, IntArray, host_float64
from ..data.blocks import spans
from ..fitting.validation import intact
from ..runtime.checks import integer
from .labels import coded

EXACT_ROWS = 20_000  # rows up to which all pairs of two fuzzy partitions take seconds
# pairs drawn beyond: within 0.001 of the value of all pairs in 95 cases of 100
DEFAULT_PAIRS = 2_000_000
BLOCK_NUMBERS = 4_000_000  # float64 numbers that a block of pairs may take
ROUNDING = 1e-4  # margin by which a membership may exceed 1, as in float32 or after printing


def generalized_rand_measure(
    truth: Any, memberships: Any, *, n_pairs: int | None = None, random_state: Any = None
) -> float:
    """Generalised Rand measure:  GRM = 1 - mean_{i<k} |E_P(i, k) - E_Q(i, k)|, with E_P(i, k) = 1 -
    sum_j |p_ij - p_kj| / 2.

    Use it to judge memberships and not only the labels they lead to. E is the degree to which two
    rows are together: 1 for equal memberships, 0 for rows without a common cluster. With crisp
    memberships GRM is the Rand measure; like that, it is symmetric, allows for different numbers of
    clusters and is not corrected for chance.

    Parameters
    ----------
    truth : (n,) classes of any kind (-1 is a class like any other), or (n, k) memberships of a
        reference.
    memberships : (n, c) array of any library, numbers from 0 to 1: a model's `memberships_`. Rows
        that sum to less than one, as typicalities may, get one more column, noise, with the rest;
        rows that sum to more are divided by their sum. So are `truth`'s.
    n_pairs : int or None, default=None
        Number of pairs of rows to draw, with replacement, where both sides are fuzzy: with
        probability 1 - a the error is at most sqrt(ln(2 / a) / (2 n_pairs)) (Hoeffding). None: all
        pairs up to 20,000 rows, else 2,000,000 pairs, an error of 0.001 at a = 0.05. All pairs
        count where there are no more than n_pairs, and wherever one side is crisp, which takes O(n
        c log n).
    random_state : int, RandomState or None, for the draw.

    Returns
    -------
    float between 0 and 1

    Raises
    ------
    ValueError
        If lengths differ, there are fewer than two rows, memberships are not 2-D, not finite,
        negative or above 1, a label is missing, or `n_pairs` is not a whole number of at least 1.

    References
    ----------
    Huellermeier, Rifqi, Henzgen, Senge: Comparing fuzzy partitions: a generalization of the Rand
    index and related measures. IEEE Transactions on Fuzzy Systems 20, 2012. The bound: Hoeffding:
    Probability inequalities for sums of bounded random variables. Journal of the American
    Statistical Association 58, 1963.

    Examples
    --------
    >>> from cmeans.metrics import generalized_rand_measure
    >>> generalized_rand_measure(["a", "a", "b"], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    1.0
    >>> memberships = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]  # two pairs of three are half right
    >>> generalized_rand_measure(["a", "a", "b"], memberships)
    0.6666666666666667
    """
    function_name = "generalized_rand_measure"
    if n_pairs is not None:
        integer(n_pairs, "n_pairs", function_name, 1, "None or ")
    q = _checked_partition(memberships, "memberships", function_name)
    classes, p = _classes_or_memberships(truth, function_name)
    n = len(classes) if p is None else len(p)
    if n != len(q):
        raise ValueError(
            f"{function_name}: truth has {n} rows and memberships have {len(q)}; both need one for "
            "each row."
        )
    if n < 2:
        raise ValueError(
            f"{function_name}: truth and memberships have one row, which makes no pair; at least "
            "two rows are needed."
        )
    if p is not None and not _is_crisp(p) and _is_crisp(q):
        p, q = q, p
    crisp = p is None
    if p is not None and _is_crisp(p):
        classes, crisp = p.argmax(axis=1), True

    pairs = n * (n - 1) // 2
    if p is None or crisp:
        return _clipped(1 - _disagreement_with_classes(classes, q) / pairs)
    drawn = n_pairs if n_pairs is not None else pairs if n <= EXACT_ROWS else DEFAULT_PAIRS
    if drawn >= pairs:
        return _clipped(1 - _disagreement(p, q) / pairs)
    return _clipped(
        1 - _sampled_disagreement(p, q, drawn, check_random_state(random_state)) / drawn
    )


def _disagreement_with_classes(classes: IntArray, q: Float64) -> float:
    """sum_{i<k} |E_P - E_Q| for crisp P. With delta = 1 - E_Q, pairs of one class add delta, all
    others 1 - delta."""
    order = np.argsort(classes, kind="stable")
    classes, q = classes[order], q[order]
    sizes = np.bincount(classes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # (n,) first position of a row's class
    size = sizes[classes]
    overall = 2.0 * np.arange(len(q)) + 1 - len(q)
    own = 2.0 * (np.arange(len(q)) - first) + 1 - size
    total = within = 0.0
    # sum_{i<k} |a_i - a_k| = sum_i (2 i - n - 1) a_(i) in ascending order, i from 1
    for column in q.T:
        total += float(overall @ np.sort(column)) / 2
        within += float(own @ column[np.lexsort((column, classes))]) / 2
    n, inside = len(q), int((sizes.astype(np.int64) * (sizes - 1)).sum()) // 2
    between = n * (n - 1) // 2 - inside
    return within + between - (total - within)


def _disagreement(p: Float64, q: Float64) -> float:
    """sum_{i<k} |E_P - E_Q| over all pairs, block by block."""
    total, n = 0.0, len(p)
    for start, stop in spans(n, max(1, BLOCK_NUMBERS // (2 * n))):
        difference = cdist(p[start:stop], p[start:], "cityblock")
        difference -= cdist(q[start:stop], q[start:], "cityblock")
        np.abs(difference, out=difference)
        inside = float(difference[:, : stop - start].sum()) / 2  # every pair is in there twice
        total += inside + float(difference[:, stop - start :].sum())
    return total / 2


def _sampled_disagreement(
    p: Float64, q: Float64, n_pairs: int, rng: np.random.RandomState
) -> float:
    """sum |E_P - E_Q| over pairs of two different rows, all equally likely."""
    total, n = 0.0, len(p)
    for start, stop in spans(n_pairs, max(1, BLOCK_NUMBERS // (4 * max(p.shape[1], q.shape[1])))):
        one, other = rng.randint(n, size=stop - start), rng.randint(n - 1, size=stop - start)
        other += other >= one
        distances = [np.abs(u[one] - u[other]).sum(axis=1) for u in (p, q)]
        total += float(np.abs(distances[0] - distances[1]).sum())
    return total / 2


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))


def _is_crisp(u: Float64) -> bool:
    return bool((u.max(axis=1) == 1.0).all())


def _classes_or_memberships(truth: Any, function_name: str) -> tuple[IntArray, Float64 | None]:
    """Return classes (n,), or an empty array and memberships."""
    if isinstance(truth, (list, tuple)):
        # tuples are labels
        is_table = len(truth) > 0 and all(isinstance(row, (list, np.ndarray)) for row in truth)
    else:
        is_table = len(getattr(truth, "shape", ())) == 2
    if is_table:
        return np.empty(0, dtype=np.intp), _checked_partition(truth, "truth", function_name)
    return coded(truth, "truth", function_name)[0], None


def _checked_partition(memberships: Any, name: str, function_name: str) -> Float64:
    """Return memberships whose rows sum to one, in float64: a column of noise for the rest, or
    divided by a sum above one."""
    try:
        u = host_float64(intact(memberships, name, function_name))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{function_name}: {name} must be a table of numbers: {error}.") from None
    if u.ndim != 2:
        raise ValueError(
            f"{function_name}: {name} has shape {u.shape}; a 2-D array (n, c) is needed. For "
            "labels of both sides use rand_measure."
        )
    if u.size == 0:
        raise ValueError(
            f"{function_name}: {name} has shape {u.shape}; at least one row and one cluster are "
            "needed."
        )
    bad = ~((u >= 0.0) & (u <= 1.0 + ROUNDING))  # NaN too
    if bad.any():
        row, column = (int(number) for number in np.argwhere(bad)[0])
        raise ValueError(
            f"{function_name}: {name}[{row}, {column}] is {u[row, column]:g}; memberships lie "
            "between 0 and 1."
        )
    total = u.sum(axis=1)
    u = u / np.maximum(total, 1.0)[:, None]
    noise = np.maximum(1.0 - total, 0.0)
    return np.column_stack([u, noise]) if noise.any() else u
