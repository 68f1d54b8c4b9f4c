"""CSR matrices made of others' parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def diagonal_csr(values: Any) -> Any:
    """Return the CSR array (n, n) with these values (n,) on its diagonal."""
    n = len(values)
    return sparse.csr_array((values, np.arange(n), np.arange(n + 1)), shape=(n, n))


def with_values(x: Any, values: Any) -> Any:
    """Return CSR with other stored values (nnz,) in the same places."""
    return type(x)((values, x.indices, x.indptr), shape=x.shape)


def csr_between(x: Any, start: int, stop: int) -> Any:
    """Return rows start ... stop - 1 of CSR as a view of its numbers; SciPy would copy them."""
    first, last = int(x.indptr[start]), int(x.indptr[min(stop, x.shape[0])])
    ends = x.indptr[start : stop + 1] - x.indptr[start]
    parts = x.data[first:last], x.indices[first:last], ends
    return type(x)(parts, shape=(len(ends) - 1, x.shape[1]))


def canonical_csr(x: Any) -> Any:
    """Return CSR in canonical order with 32-bit indices: scikit-learn's distances would convert the
    caller's matrix in place."""
    parts = (x.data, x.indices.astype(np.int32, copy=False), x.indptr.astype(np.int32, copy=False))
    canonical = sparse.csr_matrix(parts, shape=x.shape, copy=not x.has_canonical_format)
    canonical.sum_duplicates()
    return canonical
