"""The kernel of a spatial pyramid: histogram intersection summed over grids of cells (Lazebnik
2006, as Chitta 2011 uses it)."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..data.arrays import Array, inverse_root, is_sparse, namespace
from ..data.blocks import blocks_of
from ..kernels import Columns, Kernel
from ..kernels.histogram_intersection import (
    check_not_negative,
    in_dtype,
    intersections_with,
    row_sums,
)

EXPANDED_ELEMENTS = 2**20  # numbers of a pyramid's rows written out at a time: 8 MB
SMALLEST_PIECE = 16  # rows: below that the calls cost more than the arithmetic


@dataclass(frozen=True, repr=False)
class SpatialPyramid(Kernel):
    """k(x, y) = sum_words [ 2^-L I^0 + sum_{l=1..L} 2^-(L-l+1) I^l ] / sqrt(k(x, x) k(y, y)),
    images as words on a grid (Lazebnik 2006).

    I^l is the histogram intersection on a grid of 2^l x 2^l cells: the sum over cells of min(count
    in x, count in y). Use it for images whose local features have been replaced by the nearest of a
    dictionary of visual words: agreement within a small cell counts most. Positive definite. It is
    computed as the intersection kernel of the weighted histograms of all levels, joined into one
    long row.

    Rows hold the counts on the finest grid: 4^L n_words columns, cells row by row from the top
    left, the words of one cell side by side; cell (r, c) and word w stand in column (r 2^L + c)
    n_words + w. Counts of coarser grids are sums of these.

    Parameters
    ----------
    levels : number of grids, L + 1. 4 (Chitta 2011) means L = 3: grids of 1, 2 x 2, 4 x 4 and 8 x 8
        cells.
    n_words : size of the dictionary; None derives it from the number of columns.
    normalize : False leaves out the division, so that k(x, x) is the row's sum. (On rows that sum
        to one, as in Lazebnik 2006, the division changes nothing.) A row of zeros has k = 0 with
        everything.

    Raises
    ------
    ValueError
        For parameters that are not whole numbers of at least 1, a negative feature, or a number of
        columns that does not fit.

    Examples
    --------
    One word on a grid of 2 x 2 cells: the first two images have a cell in common, the last two only
    their number of features.

    >>> import numpy as np
    >>> from cmeans.papers import SpatialPyramid
    >>> images = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    >>> SpatialPyramid(levels=2)(images, images)
    array([[1.  , 0.75, 0.75],
           [0.75, 1.  , 0.5 ],
           [0.75, 0.5 , 1.  ]])

    References
    ----------
    S. Lazebnik, C. Schmid, J. Ponce, Beyond bags of features: spatial pyramid matching for
    recognizing natural scene categories, CVPR 2006, equation 3. R. Chitta et al., Approximate
    kernel k-means, KDD 2011 (4 levels).
    """

    levels: int = 4
    n_words: int | None = None
    normalize: bool = True

    def __post_init__(self) -> None:
        for name in ("levels", "n_words"):
            value = getattr(self, name)
            whole = (
                isinstance(value, numbers.Integral)
                and not isinstance(value, bool)
                and int(value) >= 1
            )
            if not whole and not (name == "n_words" and value is None):
                raise ValueError(
                    f"SpatialPyramid({name}={value!r}): {name} must be a whole number of at least "
                    "1."
                )
        if not isinstance(self.normalize, bool):
            raise ValueError(
                f"SpatialPyramid(normalize={self.normalize!r}): normalize must be True or False."
            )

    @property
    def side(self) -> int:
        """Cells along one side of the finest grid."""
        return 1 << (int(self.levels) - 1)

    def prepare(self, y: Array) -> Columns:
        n_words = self._checked_n_words(y)
        check_not_negative(self, y)
        width = n_words * sum(4**level for level in range(self.levels))
        step = max(EXPANDED_ELEMENTS // width, SMALLEST_PIECE)
        expand = (
            _SparseExpansion(self.levels, n_words)
            if is_sparse(y)
            else _DenseExpansion(self.levels, n_words)
        )
        intersections = intersections_with(expand(y))
        inverse_roots = inverse_root(row_sums(y)) if self.normalize else None

        def columns(x: Array, room: Array | None = None) -> Array:
            self._checked_n_words(x, n_words)
            check_not_negative(self, x)
            xp = namespace(x)
            parts = [intersections(expand(part)) for part in blocks_of(x, step)]
            values = parts[0] if len(parts) == 1 else xp.concat(parts)
            if inverse_roots is not None:
                values = (
                    values
                    * inverse_root(row_sums(x))[:, None]
                    * xp.astype(inverse_roots, values.dtype, copy=False)[None, :]
                )
            return in_dtype(values, x)

        return columns

    def diag(self, x: Array) -> Array:
        self._checked_n_words(x)
        check_not_negative(self, x)
        totals = row_sums(x)  # the weights of one cell and its parents sum to one
        return in_dtype(totals > 0 if self.normalize else totals, x)

    def _checked_n_words(self, x: Array, n_words: int | None = None) -> int:
        """Return the size of the dictionary; ValueError for a number of columns that does not
        fit."""
        n_columns, cells = int(x.shape[1]), self.side**2
        n_words = int(self.n_words) if self.n_words is not None else n_words
        if (
            n_columns % cells
            or n_columns == 0
            or (n_words is not None and n_columns != cells * n_words)
        ):
            wanted = (
                f"a multiple of {cells}"
                if n_words is None
                else f"{cells} x {n_words} = {cells * n_words}"
            )
            raise ValueError(
                f"{self!r}: rows have {n_columns} columns where {wanted} belong: the counts of "
                f"every word in each of the {self.side} x {self.side} cells of the finest grid."
            )
        return n_columns // cells


@dataclass(frozen=True)
class _DenseExpansion:
    """Counts on the finest grid (b, 4^L n_words) -> weighted counts on all grids, finest first."""

    levels: int
    n_words: int

    def __call__(self, x: Array) -> Array:
        xp = namespace(x)
        b, side = int(x.shape[0]), 1 << (self.levels - 1)
        parts = []
        for weight in _weights(self.levels):
            parts.append(xp.reshape(x, (b, side * side * self.n_words)) * weight)
            if side > 1:
                side //= 2
                x = xp.sum(xp.reshape(x, (b, side, 2, side, 2, self.n_words)), axis=(2, 4))
        return xp.concat(parts, axis=1)


class _SparseExpansion:
    """The same expansion for CSR: a product with a matrix of one weight per level and column."""

    def __init__(self, levels: int, n_words: int) -> None:
        side = 1 << (levels - 1)
        row, column, word = (a.ravel() for a in np.indices((side, side, n_words), dtype=np.int64))
        positions, first = [], 0
        for level in range(levels):  # finest first, as in the dense expansion
            across = side >> level
            positions.append(first + ((row >> level) * across + (column >> level)) * n_words + word)
            first += across * across * n_words
        d = side * side * n_words
        weights = np.tile(_weights(levels), d)
        self._matrix = sparse.csr_array(
            (weights, np.stack(positions, axis=1).ravel(), np.arange(d + 1) * levels),
            shape=(d, first),
        )

    def __call__(self, x: Array) -> Array:
        return x @ self._matrix.astype(np.result_type(x.dtype, np.float32))


def _weights(levels: int) -> list[float]:
    """2^-(L-l+1) for l = L ... 1, then 2^-L for l = 0."""
    finest = levels - 1
    return [2.0 ** -(finest - level + 1) for level in range(finest, 0, -1)] + [2.0**-finest]
