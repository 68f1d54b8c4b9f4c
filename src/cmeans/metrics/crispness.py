"""Crispness of a partition: memberships alone, without distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import Float64, host_float64
from ..fitting.prediction import Predicting
from ..fitting.validation import intact
from ..fitting.weights import read_weights
from .validity_sums import ValiditySums, sums_of_model

ROUNDING = 1e-4  # margin by which a membership may exceed 1, as in float32 or after printing


def partition_coefficient(
    model: Any,
    X: Any = None,
    *,
    sample_weight: Any = None,
    diag: Any = None,
    normalized: bool = False,
) -> float:
    """Partition coefficient:  PC = sum_ij w_i u_ij^2 / sum_i w_i, the crispness of a fuzzy
    partition.

    Use it to compare numbers of clusters or values of m on the same rows, larger being crisper. PC
    falls with c by itself, which `normalized` corrects; and it depends on memberships alone, so
    that a small m looks good on any rows.

    Parameters
    ----------
    model : a fitted estimator of this library; or memberships (n, c), an array of any library of
        numbers from 0 to 1.
    X : (n, d) rows as for `model.memberships`, files too; left out where memberships are given.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.
    normalized : bool, default=False
        (c PC - 1) / (c - 1) instead, the modified partition coefficient (MPC).

    Returns
    -------
    float
        From 1/c (every row equally in all clusters) to 1 (crisp), normalized from 0 to 1, where
        rows sum to one. Typicalities need not, and give values from 0 to c.

    Raises
    ------
    ValueError
        If memberships are not 2-D, empty, not finite, negative or above 1, the model is not fitted
        (`NotFittedError`), rows or weights are invalid, or `normalized` is True for one cluster.

    References
    ----------
    Bezdek: Cluster validity with fuzzy sets. Journal of Cybernetics 3, 1974; Pattern Recognition
    with Fuzzy Objective Function Algorithms. Plenum, 1981, chapter 4. Normalized: Dave: Validating
    fuzzy partitions obtained through c-shells clustering. Pattern Recognition Letters 17, 1996.

    Examples
    --------
    >>> from cmeans.validity import partition_coefficient
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]], normalized=True)
    0.5
    """
    sums = _sums(model, X, sample_weight, diag, "partition_coefficient")
    c = len(sums.mass)
    if normalized and c == 1:
        raise ValueError(
            "partition_coefficient(normalized=True): there is one cluster; normalized needs at "
            "least two clusters."
        )
    coefficient = sums.squares / sums.weight
    return (c * coefficient - 1.0) / (c - 1.0) if normalized else coefficient


def partition_entropy(
    model: Any, X: Any = None, *, sample_weight: Any = None, diag: Any = None
) -> float:
    """Partition entropy:  PE = - sum_ij w_i u_ij ln u_ij / sum_i w_i  (0 ln 0 = 0), the fuzziness
    of a partition, in nats.

    Use it as `partition_coefficient`, smaller being crisper; it gives small memberships more
    weight.

    Parameters
    ----------
    model : a fitted estimator of this library; or memberships (n, c), an array of any library of
        numbers from 0 to 1.
    X : (n, d) rows as for `model.memberships`, files too; left out where memberships are given.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float
        From 0 (crisp) to ln c (every row equally in all clusters), where rows sum to one.
        Typicalities need not: at most c/e.

    Raises
    ------
    ValueError
        If memberships are not 2-D, empty, not finite, negative or above 1, the model is not fitted
        (`NotFittedError`), or rows or weights are invalid.

    References
    ----------
    Bezdek: Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum, 1981, chapter 4.

    Examples
    --------
    >>> from cmeans.validity import partition_entropy
    >>> round(partition_entropy([[1.0, 0.0], [0.5, 0.5]]), 6)  # ln(2) / 2
    0.346574
    """
    sums = _sums(model, X, sample_weight, diag, "partition_entropy")
    return sums.entropy / sums.weight + 0.0  # not -0.0


def _sums(model: Any, X: Any, sample_weight: Any, diag: Any, function_name: str) -> ValiditySums:
    """Return the sums of a model's memberships of rows, or of memberships as they are given."""
    if isinstance(model, Predicting):
        if X is None:
            raise ValueError(
                f"{function_name}(X=None): pass the rows too, whose memberships in the model are "
                "meant."
            )
        return sums_of_model(model, X, sample_weight, diag, function_name)[0]
    if X is not None or diag is not None:
        raise ValueError(
            f"{function_name}: X and diag belong to a fitted estimator; memberships are given "
            "alone."
        )
    return ValiditySums.of_memberships(*_checked(model, sample_weight, function_name))


def _checked(memberships: Any, sample_weight: Any, function_name: str) -> tuple[Float64, Float64]:
    """Return memberships (n, c) and weights (n,), in float64."""
    try:
        u = host_float64(intact(memberships, "memberships", function_name))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{function_name}: memberships must be a table of numbers: {error}."
        ) from None
    if u.ndim != 2:
        raise ValueError(
            f"{function_name}: memberships have shape {u.shape}; a 2-D array (n, c), one row for "
            "each row of X, is needed."
        )
    if u.size == 0:
        raise ValueError(
            f"{function_name}: memberships have shape {u.shape}; at least one row and one cluster "
            "are needed."
        )
    bad = ~((u >= 0.0) & (u <= 1.0 + ROUNDING))  # NaN too
    if bad.any():
        row, column = (int(number) for number in np.argwhere(bad)[0])
        raise ValueError(
            f"{function_name}: memberships[{row}, {column}] is {u[row, column]:g}; memberships lie "
            "between 0 and 1 (a model's memberships_, not the distances of its transform)."
        )
    return u, read_weights(sample_weight, len(u), function_name)[0]
