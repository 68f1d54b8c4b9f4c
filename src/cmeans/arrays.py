"""The few questions the library asks of an array, whatever library made it (NumPy, SciPy CSR, PyTorch, CuPy, ...).

Rows that are not in memory (`StoredRows`) have a shape and a type, and are NumPy arrays as soon as they come.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import array_api_compat
import numpy as np
import numpy.typing as npt
from scipy import sparse

from .stored import StoredRows

Array: TypeAlias = Any  # an array of any array-API library, or a CSR matrix where the text says so
Float64: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


def is_sparse(x: Array) -> bool:
    """Whether x is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(x))


def is_stored(x: Array) -> bool:
    """Whether x stands for rows that are not in memory."""
    return isinstance(x, StoredRows)


def is_foreign(x: Array) -> bool:
    """Whether x belongs to an array library other than NumPy (PyTorch, CuPy, array-api-strict, ...)."""
    return not isinstance(x, np.ndarray) and not is_sparse(x) and bool(array_api_compat.is_array_api_obj(x))


def namespace(x: Array) -> Any:
    """The array-API namespace of x; a sparse matrix computes in NumPy's, and so do rows that are not in memory."""
    return array_api_compat.array_namespace(np.empty(0) if is_sparse(x) or is_stored(x) else x)


def without_gradients(x: Array) -> Array:
    """x cut loose from PyTorch's record of where it came from, which a fit would only make longer."""
    return x.detach() if array_api_compat.is_torch_array(x) else x


def dense_like(x: Array) -> Array:
    """An empty array (0,) of the library, device and dtype that values computed from x have."""
    return np.empty(0, dtype=x.dtype) if is_sparse(x) or is_stored(x) else x[:0, 0]


def device(x: Array) -> Any:
    """Where x lives (the CPU for NumPy and sparse matrices, and for rows that are not in memory)."""
    return None if is_sparse(x) or is_stored(x) else array_api_compat.device(x)


def to_numpy(x: Array) -> npt.NDArray[Any]:
    """x on the host as a NumPy array (a view where that is possible)."""
    if isinstance(x, np.ndarray):
        return x
    if array_api_compat.is_torch_array(x):
        return x.detach().cpu().numpy()  # type: ignore[no-any-return,unused-ignore]
    if array_api_compat.is_cupy_array(x):
        return x.get()  # type: ignore[no-any-return]
    return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)


def as_like(values: Array, like: Array, dtype: Any = None) -> Array:
    """Host values as an array of `like`'s library, device and (unless given) dtype."""
    dtype = like.dtype if dtype is None else dtype
    if is_sparse(like) or isinstance(like, np.ndarray) or is_stored(like):
        return np.asarray(values, dtype=dtype)
    xp = namespace(like)
    if is_foreign(values):
        return xp.astype(values, dtype, copy=False)
    return xp.asarray(np.ascontiguousarray(values), dtype=dtype, device=device(like))


def host_float64(x: Array) -> Float64:
    """x as a dense float64 NumPy array."""
    dense = x.toarray() if is_sparse(x) else to_numpy(x)
    return np.asarray(dense, dtype=np.float64)


def take(x: Array, rows: IntArray) -> Array:
    """The named rows of x, in the given order."""
    if is_stored(x):
        return x.take(rows)
    if is_sparse(x) or isinstance(x, np.ndarray):
        return x[rows]
    xp = namespace(x)
    return xp.take(x, xp.asarray(rows, device=device(x)), axis=0)


def squared_norms(x: Array) -> Array:
    """|x_i|^2 of every row, in x's dtype."""
    if is_sparse(x):
        return np.asarray(x.multiply(x).sum(axis=1)).ravel()
    if isinstance(x, np.ndarray):
        return np.einsum("ij,ij->i", x, x)
    return namespace(x).sum(x * x, axis=1)


def resolution(dtype: Any) -> float:
    """The relative spacing of a float type of any array library."""
    return 2.0**-23 if "float32" in str(dtype) else 2.0**-52


ASYMMETRY = 1e-5  # of k(x, y) and k(y, x) over the largest value, up to which it is rounding: single precision, made in other blocks


def rounding(dtype: Any) -> float:
    """Relative error to expect of a squared distance made from inner products: what is below it may as well be zero."""
    return 8 * 2.0**-23 if resolution(dtype) > 1e-10 else 64 * 2.0**-52


def itemsize(x: Array) -> int:
    """Bytes of one number of x."""
    return 4 if resolution(x.dtype) > 1e-10 else 8


def numpy_dtype(x: Array) -> Any:
    """NumPy's name for the float type of x."""
    return np.float32 if itemsize(x) == 4 else np.float64


def in_form_of(x: Array, points: Array) -> Array:
    """A block of rows dense or CSR, and in the array library, as the points are that it will meet."""
    if is_foreign(points) and not is_foreign(x):
        return as_like(x.toarray() if is_sparse(x) else x, points)
    if is_sparse(x) == is_sparse(points):
        return x
    return x.toarray() if is_sparse(x) else sparse.csr_array(x)


def stacked(points: Array, more: Array) -> Array:
    """Points (s, d) followed by further ones, in the form and type of the first."""
    more = in_form_of(more, points)
    if is_foreign(points):
        xp = namespace(points)
        return xp.concat([points, xp.astype(more, points.dtype, copy=False)])
    more = more.astype(points.dtype, copy=False)
    return type(points)(sparse.vstack([points, more], format="csr")) if is_sparse(points) else np.concatenate([points, more])


def equal(points: Array, others: Array) -> bool:
    """Whether two sets of points are the same in the same order."""
    if points.shape != others.shape:
        return False
    others = in_form_of(others, points)
    return not (points != others).nnz if is_sparse(points) else bool(namespace(points).all(points == others))


def in_float64(points: Array) -> Array:
    """Points in float64 of their own library."""
    if is_sparse(points) or isinstance(points, np.ndarray):
        return points.astype(np.float64, copy=False)
    xp = namespace(points)
    return xp.astype(points, xp.float64, copy=False)


def in_type_of(points: Array, like: Array) -> Array:
    """Points in the float type of other rows of their library."""
    if is_sparse(points) or isinstance(points, np.ndarray):
        return points.astype(like.dtype, copy=False)
    return namespace(points).astype(points, like.dtype, copy=False)


def inverse_root(squares: Array) -> Array:
    """1 / sqrt of each number, 0 for those that are not positive."""
    xp = namespace(squares)
    positive = squares > 0
    return xp.where(positive, 1.0 / xp.sqrt(xp.where(positive, squares, xp.ones_like(squares))), xp.zeros_like(squares))


def canonical_csr(x: Array) -> Array:
    """CSR in order and with 32-bit indices, which is what scikit-learn's distances make of it in place; the caller's stays as it is."""
    parts = (x.data, x.indices.astype(np.int32, copy=False), x.indptr.astype(np.int32, copy=False))
    own = sparse.csr_matrix(parts, shape=x.shape, copy=not x.has_canonical_format)
    own.sum_duplicates()
    return own


def one_hot(labels: IntArray, count: int, like: Array) -> Array:
    """Memberships (n, count) of a partition, in the library and dtype of `like`."""
    return as_like(labels[:, None] == np.arange(count)[None, :], like)


class Partition:
    """Memberships (n, count) of a partition, made for the rows that somebody asks for."""

    def __init__(self, labels: IntArray, count: int, like: Array) -> None:
        self.shape = (len(labels), count)
        self._labels, self._like = labels, like if like.ndim == 1 else dense_like(like)  # it travels

    def __getitem__(self, key: tuple[slice, Any]) -> Array:
        return self.between(key[0].start, key[0].stop)

    def between(self, start: int, stop: int) -> Array:
        """Those of rows start ... stop - 1."""
        return one_hot(self._labels[start:stop], self.shape[1], self._like)

    def part(self, start: int, stop: int) -> Partition:
        """The partition of rows start ... stop - 1."""
        return Partition(self._labels[start:stop], self.shape[1], self._like)
