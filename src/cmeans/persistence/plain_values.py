"""Parameters and attributes of scikit-learn's transformers as JSON and arrays: numbers, text, lists, types of numbers, nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..storage.codec import DTYPES, Arrays, Packer

KINDS = "OUb"  # of arrays whose values are written one by one: of any plain values, text, truth values


def encoded(value: Any, where: str, writer: Packer) -> Any:
    """Return a value as JSON, its arrays of numbers in the writer."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.name in DTYPES and value.ndim:
            return _in_order(value, where, writer) if value.ndim == 2 else writer.encode(value, where)
        if value.dtype.kind in KINDS and value.ndim == 1:
            return {"$values": [_plain(one, where) for one in value.tolist()], "kind": value.dtype.kind}
    elif isinstance(value, list | tuple):
        return {"$tuple" if isinstance(value, tuple) else "$list": [encoded(one, f"{where}.{at}", writer) for at, one in enumerate(value)]}
    elif isinstance(value, dict):
        return {"$dict": [[_plain(key, where), encoded(one, f"{where}.{key}", writer)] for key, one in value.items()]}
    elif isinstance(value, slice):
        return {"$slice": [_plain(one, where) for one in (value.start, value.stop, value.step)]}
    elif isinstance(value, type | np.dtype) and np.dtype(value).kind in "fiu":
        return {"$dtype": np.dtype(value).name}
    raise ValueError(f"{where.rpartition('.')[2]}={value!r} is neither numbers nor text")


def _in_order(value: npt.NDArray[Any], where: str, writer: Packer) -> Any:
    """Return a matrix with the order of its numbers in memory, on which the last bit of its products depends."""
    transposed = value.strides[0] < value.strides[1]
    rows = value.T if transposed else value
    apart, size = rows.strides[0], rows.itemsize
    if rows.strides[1] == size and apart % size == 0 and apart // size > rows.shape[1]:  # a part of a wider matrix
        wide = np.zeros((len(rows), apart // size), dtype=rows.dtype)
        wide[:, : rows.shape[1]] = rows
        rows = wide
    return {"$matrix": writer.encode(rows, where)["$array"], "columns": value.shape[0 if transposed else 1], "transposed": transposed}


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is not None and type(value) not in (bool, int, float, str):
        raise ValueError(f"{where.rpartition('.')[2]} holds {value!r} ({type(value).__name__}), which is neither a number nor text")
    return value


def decoded(value: Any, arrays: Arrays) -> Any:
    """Return the value that was encoded; one of `UNREADABLE` for anything else."""
    if not isinstance(value, dict):
        return _plain(value, "a value")
    [(sign, content)] = [(key, one) for key, one in value.items() if key.startswith("$")]
    if sign == "$array":
        return arrays[content]
    if sign == "$matrix":
        rows = arrays[content][:, : value["columns"]]
        return rows.T if value["transposed"] else rows
    if sign in ("$list", "$tuple"):
        parts = [decoded(one, arrays) for one in content]
        return tuple(parts) if sign == "$tuple" else parts
    if sign == "$dict":
        return {key: decoded(one, arrays) for key, one in content}
    if sign == "$slice":
        return slice(*(_plain(one, "a slice") for one in content))
    if sign == "$dtype":
        number = np.dtype(str(content))
        if number.kind not in "fiu":
            raise ValueError(f"{content!r} is no type of numbers")
        return number.type
    if sign != "$values" or value["kind"] not in KINDS:
        raise ValueError(f"unknown kind of value {sign!r}")
    values = [_plain(one, "an array") for one in content]
    if value["kind"] != "O":
        return np.array(values, dtype={"U": str, "b": bool}[value["kind"]])
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
