"""The Euclidean space of the rows themselves, for c-means without a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    central_point,
    host_float64,
    in_float64,
    inverse_root,
    is_sparse,
    namespace,
    squared_norms,
    to_numpy,
)
from ...data.blocks import Block
from ...data.csr import with_values
from ...data.precision import numpy_dtype
from ...kernels import Cosine, Kernel, Linear
from ...runtime.stored_classes import stored
from ...runtime.user_warnings import OutOfRangeError
from ..base import kernel_room
from ..centres import Centres
from ..rows import ProductRows, Rows, RowValues, View
from .incomplete import IncompleteSpace
from .partial import PartialSpace
from .points import PointSpace


@dataclass(frozen=True)
class ShiftedRows(Rows):
    """Dense rows about a point, which native code takes from them as it reads them."""

    x: Array  # (b, d)
    shift: Array  # (d,)

    @property
    def kxx(self) -> Array:
        return self.plain().kxx

    def inner(self, view: View) -> Array:
        return self.plain().inner(view)

    def add_moment(self, w: Array, total: Array) -> None:
        self.plain().add_moment(w, total)

    def plain(self) -> ProductRows:
        x = self.x - self.shift[None, :]
        return ProductRows(x, squared_norms(x))

    def prepared(self) -> ProductRows:
        return self.plain()

    def values(self) -> RowValues:
        return RowValues(self.x, self.shift, None)


@stored
@dataclass(frozen=True)
class EuclideanSpace(PointSpace):
    """Basis = the coordinate axes about `shift`, a point among the rows that keeps rounding small
    (CSR rows: the origin).

    In the spherical space, which is about the origin, rows are made of length one as they are read:
    x stands for x / |x|.
    """

    shift: Float64  # (d,)
    spherical: bool = False

    def __post_init__(self) -> None:
        if self.shift.ndim != 1 or (self.spherical and self.shift.any()):
            raise ValueError(
                f"EuclideanSpace: a shift of shape {self.shift.shape} is no point, or not the "
                "origin of a spherical space"
            )

    @classmethod
    def about(cls, rows: Array, weights: Float64) -> EuclideanSpace:
        """Return the space about a point amid a fair sample of the rows, one that their type holds:
        so rows move as centres do."""
        if is_sparse(rows):
            return cls(np.zeros(rows.shape[1]))
        x = host_float64(rows)
        return cls(
            central_point(x, weights @ x / weights.sum())
            .astype(numpy_dtype(rows))
            .astype(np.float64)
        )

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        return Cosine() if self.spherical else Linear()

    @property
    def size(self) -> int:
        return len(self.shift)

    @property
    def keeps_rows_cheaply(self) -> bool:
        return self.spherical

    @property
    def keeps_csr(self) -> bool:
        return not self.shift.any()

    @property
    def takes_metrics(self) -> bool:
        return not self.spherical

    @property
    def represents_by_views(self) -> bool:
        return not self.spherical

    def for_rows(
        self, x: Array, *, holes: bool, is_scale_free: bool, has_metrics: bool
    ) -> PointSpace:
        if holes and has_metrics:
            return IncompleteSpace(self.shift, np.ones(len(self.shift)))
        return PartialSpace(self.shift, not is_scale_free) if holes else self

    def empty_rows_of(self, block: Block) -> IntArray:
        return np.flatnonzero(to_numpy(lengths_squared(block.x) == 0))

    def room(self, n_rows: int, like: Array) -> Array | None:
        return (
            kernel_room(n_rows, self.size, like) if self.spherical and not is_sparse(like) else None
        )

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        if self.spherical:
            x = of_length_one(block.x, room)
            return ProductRows(x, squared_norms(x))
        if is_sparse(block.x):
            x = block.x if self.keeps_csr else block.x.toarray() - self.shift.astype(block.x.dtype)
            return ProductRows(x, squared_norms(x))
        return ShiftedRows(block.x, as_like(self.shift, block.x))

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        return self.at(host_float64(self._points_of(block)))

    def compared(self, block: Block, numbers: IntArray | None = None) -> Centres:
        x, n = self._points_of(block), len(block.weight)
        if not (is_sparse(x) and self.keeps_csr and n < self.size):
            return self.embed(block)
        return Centres(np.eye(n), host_float64(x @ x.T))  # over the rows themselves

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        products: Float64 = np.asarray(self._points_of(block) @ self.as_points(centres).T).T
        return products

    def _points_of(self, block: Block) -> Array:
        """Return rows (b, d) in float64 as the space sees them, CSR as CSR."""
        x = in_float64(block.x) if is_sparse(block.x) else host_float64(block.x)
        return of_length_one(x) if self.spherical else x


def of_length_one(x: Array, room: Array | None = None) -> Array:
    """Return x_i / |x_i|, in `room` where it can be used; rows of zeros, which have no direction,
    as they are."""
    factors = inverse_root(lengths_squared(x))
    if is_sparse(x):
        return with_values(x, x.data * np.repeat(factors, np.diff(x.indptr)))
    if isinstance(x, np.ndarray):
        return np.multiply(x, factors[:, None], out=room)
    return x * factors[:, None]


def lengths_squared(x: Array) -> Array:
    """Return |x_i|^2 (b,); refused where they are out of range, so that they show no length of a
    row that has one."""
    squares, xp = squared_norms(x), namespace(x)
    if not bool(xp.all(squares > 0)) or not bool(xp.all(squares < np.inf)):
        entries = (
            abs(x).max(axis=1).toarray().ravel() if is_sparse(x) else xp.max(xp.abs(x), axis=1)
        )
        if int(xp.count_nonzero(((entries > 0) != (squares > 0)) | ~(squares < np.inf))):
            raise OutOfRangeError(
                'metric="cosine": X holds a row of numbers whose squares are out of range, so that '
                "it has no length."
            )
    return squares
