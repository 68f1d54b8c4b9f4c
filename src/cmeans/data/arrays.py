"""Functions of arrays of any library (NumPy, SciPy CSR, PyTorch, CuPy, ...).

Rows that are not in memory (`StoredRows`) have a shape and a dtype, and are NumPy arrays once they
are read.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import array_api_compat
import numpy as np
import numpy.typing as npt
from scipy import sparse

from .csr import with_values
from .precision import itemsize
from .row_source import StoredRows

Array: TypeAlias = Any  # an array of any array-API library, or a CSR matrix where that is noted
Float64: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]

DIFFERENCES = 2**20  # numbers of differences in memory at a time
CENTRAL_ROWS = 64  # that tell whether the mean lies among the rows
# distance of the mean from the median, in median distances of rows from it, beyond which it does
# not
CENTRAL = 32.0

NUMPY = array_api_compat.array_namespace(np.empty(0))


def is_sparse(x: Array) -> bool:
    """True where x is a SciPy sparse matrix or array."""
    # which is asked a hundred times in a fit, of arrays more often than not
    return not isinstance(x, np.ndarray) and bool(sparse.issparse(x))


def is_stored(x: Array) -> bool:
    """True where x represents rows that are read block by block: they are not in memory, or stored
    there in fewer bytes."""
    return isinstance(x, StoredRows)


def is_outside(x: Array) -> bool:
    """True where x represents rows that are not in memory; those that are, in fewer bytes, are
    treated as an array is."""
    return isinstance(x, StoredRows) and not x.is_here


def is_foreign(x: Array) -> bool:
    """True where x belongs to an array library other than NumPy (PyTorch, CuPy, array-api-strict,
    ...)."""
    return (
        not isinstance(x, np.ndarray)
        and not is_sparse(x)
        and bool(array_api_compat.is_array_api_obj(x))
    )


def namespace(x: Array) -> Any:
    """Return the array-API namespace of x, which is NumPy's for sparse matrices and for rows that
    are not in memory."""
    if isinstance(x, np.ndarray) or is_sparse(x) or is_stored(x):
        return NUMPY
    return array_api_compat.array_namespace(x)


def without_gradients(x: Array) -> Array:
    """Return x detached from PyTorch's graph of gradients, which a fit would only enlarge."""
    return x.detach() if array_api_compat.is_torch_array(x) else x


def ratios(numerators: Any, denominators: Any, otherwise: Any = 0.0) -> Float64:
    """Return quotients where the denominator is above 0, and another value elsewhere."""
    shape = np.broadcast_shapes(numerators.shape, denominators.shape)
    found: Float64 = np.broadcast_to(np.asarray(otherwise, np.float64), shape).copy()
    np.divide(numerators, denominators, out=found, where=denominators > 0)
    return found


def dense_like(x: Array) -> Array:
    """Return an empty array (0,) of the library, device and dtype that values computed from x
    have."""
    return np.empty(0, dtype=x.dtype) if is_sparse(x) or is_stored(x) else x[:0, 0]


def device(x: Array) -> Any:
    """Return the device of x; None, the CPU, for NumPy, sparse matrices and rows that are not in
    memory."""
    if isinstance(x, np.ndarray) or is_sparse(x) or is_stored(x):
        return None
    return array_api_compat.device(x)


def to_numpy(x: Array) -> npt.NDArray[Any]:
    """Return x on the host as a NumPy array (a view where possible)."""
    if isinstance(x, np.ndarray):
        return x
    if array_api_compat.is_torch_array(x):
        return x.detach().cpu().numpy()  # type: ignore[no-any-return,unused-ignore]
    if array_api_compat.is_cupy_array(x):
        return x.get()  # type: ignore[no-any-return]
    return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)


def as_like(values: Array, like: Array, dtype: Any = None) -> Array:
    """Return host values as an array of `like`'s library, device and (unless given) dtype."""
    dtype = like.dtype if dtype is None else dtype
    if is_sparse(like) or isinstance(like, np.ndarray) or is_stored(like):
        return np.asarray(values, dtype=dtype)
    xp = namespace(like)
    if is_foreign(values):
        return xp.astype(values, dtype, copy=False)
    values = np.ascontiguousarray(values)
    # libraries warn of what cannot be written to
    values = values if values.flags.writeable else values.copy()
    return xp.asarray(values, dtype=dtype, device=device(like))


def foreign_like(values: Array, like: Array) -> Array:
    """Return host results as arrays of the caller's library, where that is not NumPy."""
    return namespace(like).asarray(values, device=device(like)) if is_foreign(like) else values


def in_order(x: Array) -> Array:
    """Return NumPy's numbers (n,) or rows (n, d) as any code may read them, CSR with the columns of
    each row in order, and arrays of other libraries as they are.

    It is x itself where numbers are in the machine's byte order and aligned, those of a row (or all
    (n,)) one after the other, and each row begins a whole number of numbers behind the one before;
    else a copy.

    Columns of record arrays, say, may lie anywhere: the next row may begin within a number. Native
    code would read other bytes; NumPy reads the right ones, but adds them in another order if they
    lie in another.
    """
    if type(x) is np.ndarray:  # the usual case first, as this is asked often
        flags = x.flags
        if flags.c_contiguous and flags.aligned and x.dtype.isnative:
            return x
    if is_sparse(x):
        return x if x.has_sorted_indices else x.sorted_indices()
    if is_foreign(x) or x.ndim == 0 or x.size == 0:
        return x
    apart = x.strides[0] if x.ndim > 1 and len(x) > 1 else 0
    beside = x.shape[-1] == 1 or x.strides[-1] == x.itemsize
    if x.flags.aligned and x.dtype.isnative and beside and apart >= 0 and apart % x.itemsize == 0:
        return x
    return np.array(x, x.dtype.newbyteorder("="), order="C")


def host_float64(x: Array) -> Float64:
    """Return x as a dense float64 NumPy array."""
    dense = x.toarray() if is_sparse(x) else to_numpy(x)
    return np.asarray(dense, dtype=np.float64)


def take(x: Array, rows: IntArray) -> Array:
    """Return the given rows of x, in that order."""
    if is_stored(x):
        return x.take(rows)
    if is_sparse(x) or isinstance(x, np.ndarray):
        return x[rows]
    xp = namespace(x)
    return xp.take(x, xp.asarray(rows, device=device(x)), axis=0)


def fill_rows(x: Array, rows: IntArray, value: float) -> None:
    """Write one number to the given rows of a dense array (n, k) of any library."""
    if not is_foreign(x):
        x[rows] = value
        return
    here = np.isin(np.arange(x.shape[0]), rows)  # not all libraries write to rows by their numbers
    x[...] = namespace(x).where(as_like(here, x, namespace(x).bool)[:, None], value, x)


def squared_norms(x: Array) -> Array:
    """|x_i|^2 of every row, in x's dtype."""
    if is_sparse(x):
        # SciPy's product of matrices is many times slower, and needed only for repeated columns
        plain = x.has_canonical_format
        squares = with_values(x, x.data * x.data) if plain else x.multiply(x)
        return np.asarray(squares.sum(axis=1)).ravel()
    if isinstance(x, np.ndarray):
        return np.einsum("ij,ij->i", x, x)
    return namespace(x).sum(x * x, axis=1)


def numbers_of_a_row(x: Array) -> int:
    """Numbers of a row as it is given: of CSR those that are stored, on average."""
    n, d = x.shape
    return max(-(-int(x.nnz) // max(int(n), 1)), 1) if is_sparse(x) else int(d)


def row_bytes(x: Array) -> int:
    """Bytes of a row as it is given: of CSR its stored values and their columns, on average."""
    if is_sparse(x):
        each = itemsize(x) + int(x.indices.itemsize)
        return numbers_of_a_row(x) * each + int(x.indptr.itemsize)
    return numbers_of_a_row(x) * itemsize(x)


def in_form_of(x: Array, points: Array) -> Array:
    """Return a block of rows in the form of the points: dense or CSR, and in their array
    library."""
    if is_foreign(points) and not is_foreign(x):
        return as_like(x.toarray() if is_sparse(x) else x, points)
    if is_sparse(x) == is_sparse(points):
        return x
    return x.toarray() if is_sparse(x) else sparse.csr_array(x)


def stacked(points: Array, more: Array) -> Array:
    """Return points (s, d) followed by further ones, in the form and dtype of the first."""
    more = in_form_of(more, points)
    if is_foreign(points):
        xp = namespace(points)
        return xp.concat([points, xp.astype(more, points.dtype, copy=False)])
    more = more.astype(points.dtype, copy=False)
    if is_sparse(points):
        return type(points)(sparse.vstack([points, more], format="csr"))
    return np.concatenate([points, more])


def equal(points: Array, others: Array) -> bool:
    """True where two sets of points are the same in the same order."""
    if points.shape != others.shape:
        return False
    others = in_form_of(others, points)
    if is_sparse(points):
        return not (points != others).nnz
    return bool(namespace(points).all(points == others))


def central_point(x: Array, mean: Array | None = None) -> Array:
    """Return the point (d,) about which rows (n, d) of a dense array have small coordinates, so
    that products of them round little.

    That is their mean (as it is given, or found here), or, where a few far rows draw that away from
    all others, the median of some rows.
    """
    mean = namespace(x).mean(x, axis=0) if mean is None else mean
    some = host_float64(x[:: -(-x.shape[0] // CENTRAL_ROWS), ...])
    middle = len(some) // 2
    median = np.partition(some, middle, axis=0)[middle]
    away, off = some - median, host_float64(mean) - median
    near = np.einsum("ij,ij->i", away, away) * CENTRAL**2 < np.einsum("i,i->", off, off)
    return as_like(median, mean) if np.count_nonzero(near) > middle else mean


def replaced(x: Array, which: Array, values: Array) -> Array:
    """Return x with the entries where `which` is true replaced by values (k,), in their order; in
    place for NumPy."""
    if isinstance(x, np.ndarray):
        x[which] = values
        return x
    xp = namespace(x)
    places = xp.cumulative_sum(xp.astype(xp.reshape(which, (-1,)), xp.int64)) - 1
    spread = xp.take(values, xp.where(places < 0, xp.zeros_like(places), places), axis=0)
    return xp.where(which, xp.reshape(spread, x.shape), x)


def in_float64(points: Array) -> Array:
    """Return points in float64, in their own library."""
    if is_sparse(points) or isinstance(points, np.ndarray):
        return points.astype(np.float64, copy=False)
    xp = namespace(points)
    return xp.astype(points, xp.float64, copy=False)


def in_type_of(points: Array, like: Array) -> Array:
    """Return points in the float dtype of other rows of their library."""
    if is_sparse(points) or isinstance(points, np.ndarray):
        return points.astype(like.dtype, copy=False)
    return namespace(points).astype(points, like.dtype, copy=False)


def squared_differences(x: Array, y: Array, i: IntArray, j: IntArray) -> Array:
    """|x_i - y_j|^2 (k,) of pairs of rows, from their differences: exact however far the rows are
    from the origin."""
    step = max(1, DIFFERENCES // x.shape[1])
    parts = [
        squared_norms(take(x, i[at : at + step]) - take(y, j[at : at + step]))
        for at in range(0, max(len(i), 1), step)
    ]
    return namespace(parts[0]).concat(parts)


def inverse_root(squares: Array) -> Array:
    """1 / sqrt of each number, 0 for those that are not positive."""
    xp = namespace(squares)
    positive = squares > 0
    return xp.where(
        positive,
        1.0 / xp.sqrt(xp.where(positive, squares, xp.ones_like(squares))),
        xp.zeros_like(squares),
    )
