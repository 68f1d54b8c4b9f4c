"""The same rows wherever they may lie, for fits that must not see the difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans.data.files import group_cache
from cmeans.data.row_source import StoredRows
from file_formats import (
    csv,
    ipc,
    ipc_stream,
    npy,
    npy_by_columns,
    npz,
    packed_npz,
    parquet,
    parquet_folder,
    parquet_pattern,
)

Opened = Callable[..., StoredRows]
APART = 123  # rows before and behind those of a part
# of the rows of a fit, which lie in row groups of GROUP; enough that P is followed by "batched", in
# memory too
N, C = 1_001, 4
GROUP = 240
# limits that these rows pass
FEW = {
    "loaded_bytes": 0,
    "canonical_rows": 900,
    "exact_rows": 900,
    "fixed_rows": 300,
    "block_rows": 300,
}


@cache
def rows(dtype: Any = np.float64, *, seed: int = 0) -> np.ndarray:
    """(N, 4), about C centres that are the same for every seed; nobody can write into them."""
    centres, rng = 6 * np.random.default_rng(0).normal(size=(C, 4)), np.random.default_rng(seed)
    x = (centres[rng.integers(C, size=N)] + rng.normal(size=(N, 4))).astype(dtype)
    x.flags.writeable = False
    return x


def huge_group(folder: Path, x: np.ndarray) -> Path:
    return parquet(folder, x, "huge.parquet", group=len(x))


def tiny_groups(folder: Path, x: np.ndarray) -> Path:
    return parquet(folder, x, "tiny.parquet", group=29)


FORMATS: dict[str, Callable[[Path, np.ndarray], Any]] = {
    "npy": npy,
    "npy by columns": npy_by_columns,
    "npz": npz,
    "packed npz": packed_npz,
    "parquet": lambda folder, x: parquet(folder, x, group=GROUP),
    "parquet, many files": parquet_folder,
    "parquet, a pattern": parquet_pattern,
    "parquet, tiny groups": tiny_groups,
    "parquet, one huge group": huge_group,
    "arrow": ipc,
    "arrow stream": ipc_stream,
    "csv": csv,
}
VIEWS = ("part", "mapped", "part of mapped")
ELSEWHERE = (*FORMATS, *VIEWS)
EVERYWHERE = ("array", "memory map", *ELSEWHERE)


def placed(
    where: str,
    folder: Path,
    x: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    opened: bool = True,
) -> Any:
    """Rows x at some place, with weights as one more column; `opened` or, where that says it all,
    as a path."""
    own = x if weight is None else np.column_stack([x, weight]).astype(x.dtype)
    words: dict[str, Any] = {} if weight is None else {"weight": x.shape[1]}
    if where == "array":
        return x
    if where == "memory map":
        np.save(folder / "mapped.npy", x)
        return np.load(folder / "mapped.npy", mmap_mode="r")
    if where in VIEWS:
        return _viewed(where, folder, own, words)
    path = FORMATS[where](folder, own)
    if where == "csv" and x.dtype == np.float32:  # text has no types
        words["dtype"] = "float32"
    with pytest.MonkeyPatch.context() as patch:
        if where == "parquet, one huge group":
            patch.setattr(group_cache, "LARGEST", 1_000)
            opened = True
        return cmeans.open_blocks(path, **words) if opened or words else path


def _viewed(where: str, folder: Path, own: np.ndarray, words: dict[str, Any]) -> StoredRows:
    around = np.full((APART, own.shape[1]), 99, own.dtype)
    if where == "part":
        return cmeans.open_blocks(
            parquet(folder, np.concatenate([around, own, around])), **words
        ).part(APART, APART + len(own))
    halves = own.copy()
    d = own.shape[1] - len(words)
    halves[:, :d] /= 2
    if where == "mapped":
        return cmeans.open_blocks(npy(folder, halves), **words).mapped(lambda rows: rows * 2)
    whole = cmeans.open_blocks(npy(folder, np.concatenate([around, halves])), **words)
    return whole.mapped(lambda rows: rows + rows).part(APART, APART + len(own))


class Kept(StoredRows):
    """Rows of an array that pretend to be elsewhere; `before` hears of every read."""

    def __init__(
        self,
        x: np.ndarray,
        before: Callable[[int, int], None] = lambda *_: None,
        where: str = "far away",
    ) -> None:
        super().__init__(where, range(x.shape[1]), x.dtype, len(x))
        self._x, self._before = x, before

    def memory(self, n_threads: int) -> int:
        return 0

    def _read(self, start: int, stop: int) -> np.ndarray:
        self._before(start, stop)
        return self._x[start:stop].copy()
