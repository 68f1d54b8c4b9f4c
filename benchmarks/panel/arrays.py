"""Results as plain arrays, and what tells two of them apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse

Arrays = dict[str, np.ndarray]


def leaves(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Plain arrays of numbers, truths and text, each with its name; what cannot be told in these is
    left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if sparse.issparse(value):
        value = {part: getattr(value, part) for part in ("data", "indices", "indptr", "shape")}
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(f"{name}.{key}" if name else str(key), part)
        return
    if isinstance(value, (list, tuple)) and any(
        not isinstance(part, (bool, int, float, str)) for part in value
    ):
        for number, part in enumerate(value):
            yield from leaves(f"{name}.{number}", part)
        return
    array = np.asarray("None" if value is None else value)
    if array.dtype == object and all(isinstance(part, str) for part in array.flat):
        array = array.astype(str)
    if array.dtype.kind in "biufU":
        yield name, array


def differences(before: Arrays, now: Arrays) -> list[str]:
    """One line for each array of a case that is not the same, bit for bit."""
    lines = [f"{name}: is gone" for name in before if name not in now]
    for name in before:
        if name in now and (said := difference(before[name], now[name])):
            lines.append(f"{name}: {said}")
    return lines + [f"{name}: is new" for name in now if name not in before]


def difference(before: np.ndarray, now: np.ndarray) -> str | None:
    """What tells two arrays apart; None where every bit is the same."""
    if before.dtype.kind == now.dtype.kind == "U":
        return (
            None
            if np.array_equal(before, now)
            else f"was {_shortened(before)}, is {_shortened(now)}"
        )
    if (before.dtype, before.shape) != (now.dtype, now.shape):
        return f"was {before.dtype} {before.shape}, is {now.dtype} {now.shape}"
    if before.tobytes() == now.tobytes():
        return None
    changed = (_bytes(before) != _bytes(now)).any(axis=1)
    was, come = (array.ravel()[changed].astype(np.float64) for array in (before, now))
    with np.errstate(invalid="ignore"):
        apart = np.abs(was - come).max()
    return (
        f"{changed.sum():,} of {before.size:,} numbers differ, by at most {apart:.3g} (of "
        f"{np.abs(before).max():.3g})"
    )


def _bytes(array: np.ndarray) -> np.ndarray:
    """Of each number, in a row of its own."""
    return np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1)


def _shortened(array: np.ndarray) -> str:
    text = str(array.tolist())
    return text if len(text) <= 200 else f"{text[:200]}..."
