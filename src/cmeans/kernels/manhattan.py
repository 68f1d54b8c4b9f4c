"""Kernels of Manhattan distances: the Laplacian, and Gower's of tables that mix numbers and
categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    in_float64,
    is_sparse,
    namespace,
)
from ..data.csr import canonical_csr
from ..runtime.checks import known_number
from .base import Columns, GammaName, Kernel, KernelEvidence, check_gamma, equal_fields
from .native_values import NativeValues, serves
from .products import exponential, ones_of


@dataclass(frozen=True, repr=False)
class Laplacian(Kernel):
    """k(x, y) = exp(-gamma sum_f |x_f - y_f|). Rougher than RBF: its spectrum decays slowly, so it
    needs more landmarks.

    Parameters
    ----------
    gamma : "scale", "median" or float > 0, default="scale"
        Factor of Manhattan distances. "scale": the inverse of the number of columns times the root
        of their mean variance, "median": of the median distance among at most 1,000, whatever
        random_state is, both of a fit's rows.

    Raises
    ------
    ValueError
        If gamma is neither a name nor a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Laplacian
    >>> Laplacian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])
    """

    gamma: GammaName | float = "scale"
    name = "laplacian"

    def __post_init__(self) -> None:
        check_gamma(self)

    def distances(self, x: Array) -> Float64:
        x = in_float64(x)
        return host_float64(manhattan(x, x))

    def spread(self, evidence: KernelEvidence) -> float:
        return float(np.sqrt(evidence.n_features * evidence.variance))

    def prepare(self, y: Array) -> Columns:
        gamma = known_number(self, "gamma")
        if is_sparse(y):
            y = canonical_csr(y)  # once, as threads share y
        native = NativeValues("laplacians", y, gamma) if serves(y) else None

        def columns(x: Array, room: Array | None = None) -> Array:
            if native is not None and serves(x):
                return native(x, room)
            distances = manhattan(x, y)
            distances *= -gamma
            return exponential(distances)

        return columns

    def diag(self, x: Array) -> Array:
        return ones_of(x)


@dataclass(frozen=True, repr=False, eq=False)
class Gower(Kernel):
    """k(x, y) = 1 - (1/d) sum_f g_f,  g = min(|x_f - y_f| / span_f, 1) for numbers, and 0 or 1 for
    equal or other categories.

    Use it for tables of customers, patients, houses: a category that differs costs what the whole
    range of a number does. It is positive semi-definite (a mean of triangle kernels and of
    equalities), so that centres are means in a space of its own, and landmarks, exact fits, soft
    rules and predictions work as ever. Values beyond the known range count as its ends. Missing
    values are refused: impute them.

    Parameters
    ----------
    low, span : (d,) least value and range of each column of numbers; of categories they are not
        used, and a range of 0 counts as equal.
    categorical : (k,) numbers of the columns of categories, whose values are codes, such as those
        of scikit-learn's OrdinalEncoder.

    `Gower.of(X, categorical)` reads low and span off rows.

    Raises
    ------
    ValueError
        For ranges that are negative or not finite, and column numbers that are none.

    References
    ----------
    Gower: A general coefficient of similarity and some of its properties. Biometrics 27, 1971.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Gower
    >>> rows = np.array([[20.0, 0], [60.0, 1], [40.0, 0]])  # age, and a code of a plan
    >>> Gower.of(rows, categorical=[1])(rows[:1], rows)
    array([[1.  , 0.  , 0.75]])
    """

    low: Float64
    span: Float64
    categorical: IntArray

    def __post_init__(self) -> None:
        low = np.asarray(self.low)
        span = np.asarray(self.span)
        chosen = np.asarray(self.categorical)
        if (
            low.ndim != 1
            or low.shape != span.shape
            or not len(low)
            or not np.isfinite([low, span]).all()
            or (span < 0).any()
        ):
            raise ValueError(
                f"Gower: low {low.shape} and span {span.shape} must be finite numbers (d,), and no "
                "span below 0."
            )
        if (
            chosen.ndim != 1
            or len(np.unique(chosen)) < len(chosen)
            or ((chosen < 0) | (chosen >= len(low))).any()
        ):
            raise ValueError(
                f"Gower(categorical={chosen.tolist()}): give different column numbers from 0 to "
                f"{len(low) - 1}."
            )

    @classmethod
    def of(cls, X: Any, categorical: Sequence[int] = ()) -> Gower:
        """Return the kernel with the ranges of rows X (n, d).

        Parameters
        ----------
        X : (n, d) numbers, categories as codes.
        categorical : numbers of the columns of categories.
        """
        x = host_float64(np.asarray(X))
        if x.ndim != 2 or not x.size or not np.isfinite(x).all():
            raise ValueError(
                f"Gower.of: X has shape {x.shape}; finite numbers (n, d) are needed, categories as "
                "codes (OrdinalEncoder)."
            )
        chosen = np.asarray(categorical)
        if chosen.ndim != 1 or (len(chosen) and not np.issubdtype(chosen.dtype, np.integer)):
            raise ValueError(
                f"Gower.of(categorical={categorical!r}): give column numbers, such as [0, 3]."
            )
        low = x.min(axis=0)
        return cls(low, x.max(axis=0) - low, chosen.astype(np.intp))

    def prepare(self, y: Array) -> Columns:
        points, codes = self._parts(y)

        def columns(x: Array, room: Array | None = None) -> Array:
            rows, own = self._parts(x)
            xp = namespace(rows)
            here, there = as_like(codes, rows), as_like(points, rows)
            if rows.shape[1]:
                total = manhattan(rows, there)
            else:
                total = xp.zeros((x.shape[0], y.shape[0]), dtype=rows.dtype)
            for f in range(own.shape[1]):
                total += xp.astype(own[:, f][:, None] != here[:, f][None, :], total.dtype)
            return 1.0 - total / len(self.low)

        return columns

    def diag(self, x: Array) -> Array:
        return ones_of(x)

    def _parts(self, x: Array) -> tuple[Array, Array]:
        """Columns of numbers, as shares of their ranges, and columns of categories."""
        if is_sparse(x):
            raise ValueError("Gower: rows of mixed tables are dense; pass X.toarray().")
        if x.shape[1] != len(self.low):
            raise ValueError(
                f"Gower: rows have {x.shape[1]} columns, and its ranges are of {len(self.low)}."
            )
        xp = namespace(x)
        chosen = np.asarray(self.categorical, dtype=np.intp)
        numeric = np.setdiff1d(np.arange(len(self.low)), chosen)
        numbers = xp.stack([x[:, int(f)] for f in numeric], axis=1) if len(numeric) else x[:, :0]
        codes = xp.stack([x[:, int(f)] for f in chosen], axis=1) if len(chosen) else x[:, :0]
        span = self.span[numeric]
        factor = np.divide(1.0, span, out=np.zeros(len(span)), where=span > 0)
        shares = (numbers - as_like(self.low[numeric], x)[None, :]) * as_like(factor, x)[None, :]
        return xp.clip(shares, 0.0, 1.0), codes

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)


def manhattan(x: Array, y: Array) -> Array:
    """sum_f |x_if - y_lf| (b, s); no (b, s, d) array is made."""
    if is_sparse(x):
        return manhattan_distances(canonical_csr(x), canonical_csr(y)).astype(x.dtype, copy=False)
    if isinstance(x, np.ndarray):
        return cdist(x, y, "cityblock").astype(x.dtype, copy=False)
    xp = namespace(x)
    total = xp.abs(x[:, 0][:, None] - y[:, 0][None, :])
    for f in range(1, x.shape[1]):
        total += xp.abs(x[:, f][:, None] - y[:, f][None, :])
    return total
