"""The same rows in every kind of array that the library takes, and blocks small enough that small
tests cut them raggedly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cmeans.data.limits import Limits
from limited import limited

DENSE = ("numpy", "torch", "array_api_strict")
FORMS = (*DENSE, "csr", "csr64")
DTYPES = ("float64", "float32")


def as_form(x: np.ndarray, form: str, dtype: str = "float64") -> Any:
    """Host values as an array of some library, or as CSR with 32- or 64-bit indices."""
    x = np.ascontiguousarray(x, dtype=dtype)
    if form == "numpy":
        return x
    if form == "csr":
        return sparse.csr_array(x)
    if form == "csr64":
        csr = sparse.csr_matrix(x)
        csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
        return csr
    library = pytest.importorskip(form)
    return library.asarray(x.copy())


def torch_tensor(x: Any, dtype: str = "float64") -> Any:
    torch = pytest.importorskip("torch")
    return torch.asarray(np.array(x), dtype=getattr(torch, dtype))


def strict_array(x: Any, dtype: str = "float64") -> Any:
    strict = pytest.importorskip("array_api_strict", minversion="2.3")  # take_along_axis
    return strict.asarray(np.array(x), dtype=getattr(strict, dtype))


def on_host(x: Any) -> np.ndarray:
    """Any of these as a dense NumPy array of the same dtype."""
    if sparse.issparse(x):
        return x.toarray()
    return (
        x.numpy()
        if hasattr(x, "numpy")
        else np.asarray(np.from_dlpack(x) if hasattr(x, "__dlpack__") else x)
    )


def cut_raggedly(monkeypatch: pytest.MonkeyPatch, block: int = 9, tasks: int = 3) -> Limits:
    """Blocks of `block` rows in about `tasks` tasks. With 67 rows: blocks of 9, three to a task,
    the last block of 4."""
    return limited(monkeypatch, block_rows=block, tasks=tasks, task_values=1)
