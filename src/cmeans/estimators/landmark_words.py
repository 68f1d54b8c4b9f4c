"""The many ways a person names landmarks and rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, IntArray, as_like, is_foreign, is_sparse, to_numpy
from ..blocks import Blocks


def given_landmarks(value: Any, owner: str, blocks: Blocks, number: int | str | None) -> tuple[IntArray | None, Array] | None:
    """Landmarks given as row numbers (rows, points) or as points (None, points); None where `value` is the name of a method."""
    if isinstance(value, str):
        return None
    if is_sparse(value) or is_foreign(value) or np.ndim(value) == 2:
        rows, points = None, matching_points(value, "landmarks", owner, blocks)
    else:
        rows = row_numbers(value, owner, blocks.n_rows)
        points = blocks.take(rows).x
    if isinstance(number, int) and number != points.shape[0]:
        raise ValueError(f"{owner}(n_landmarks={number}): landmarks holds {points.shape[0]}; leave n_landmarks out when they are given.")
    return rows, points


def row_numbers(value: Any, owner: str, n_rows: int, name: str = "landmarks") -> IntArray:
    """Row numbers (s,), checked against how many rows there are."""
    numbers = np.asarray(value)
    if numbers.ndim != 1 or len(numbers) == 0 or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"{owner}({name}=...): give a 1-D array of row numbers, got shape {numbers.shape} of {numbers.dtype}.")
    wrong = (numbers < 0) | (numbers >= n_rows)
    if wrong.any():
        raise ValueError(f"{owner}({name}=...): row number {numbers[wrong][0]} does not exist; there are {n_rows} rows, from 0.")
    return numbers.astype(np.intp)


def matching_points(value: Any, name: str, owner: str, blocks: Blocks) -> Array:
    """Points (s, d) in the form and units of the rows: dense or CSR, same library and dtype."""
    x = blocks.x
    points: Any = value if is_sparse(value) else np.asarray(to_numpy(value) if is_foreign(value) else value)
    if points.ndim != 2 or points.shape[0] == 0 or points.shape[1] != x.shape[1]:
        raise ValueError(f"{owner}({name}=...): points must have shape (count, {x.shape[1]}) as the rows have, got {tuple(points.shape)}.")
    if not is_sparse(points) and not np.issubdtype(points.dtype, np.number):
        raise ValueError(f"{owner}({name}=...): points must be numbers, got {points.dtype}.")
    if not np.isfinite(points.data if is_sparse(points) else points).all():
        raise ValueError(f"{owner}({name}=...): points must be finite; NaN or infinity found.")
    if is_sparse(x):
        return blocks.scaled(type(x)(sparse.csr_array(points).astype(x.dtype)))
    return blocks.scaled(as_like(points.toarray() if is_sparse(points) else points, x))
