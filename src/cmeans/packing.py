"""Values in one safetensors file: arrays, and JSON that names them. Nothing in it could run.

The library's own frozen objects are spelt out by class and fields. Reading builds only classes of a table that whoever reads brings
along, so a hostile file can be wrong but cannot act.
"""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from scipy import sparse

from .arrays import is_foreign, is_sparse, to_numpy
from .staging import write_atomically

Arrays = dict[str, npt.NDArray[Any]]
Objects = Mapping[str, type[Any]]

DTYPES = {"float32", "float64", "int8", "int16", "int32", "int64", "uint32"}
# What parsing a damaged file may run into; anything else would be a fault of ours.
UNREADABLE = (SafetensorError, OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, MemoryError)


def write_packed(path: Path, key: str, header: Mapping[str, Any], arrays: Arrays) -> None:
    """One file, whole or absent, with the header under a key of its metadata."""
    text = json.dumps(header)

    def write(temporary: str) -> None:
        save_file(arrays, temporary, {key: text})
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # it was made for its owner alone

    write_atomically(path, write)


def read_packed(path: Path, key: str) -> tuple[Any, Arrays]:
    """Header (None where the file has none under that key) and arrays; what is wrong with a file is one of `UNREADABLE`."""
    with safe_open(path, framework="numpy") as file:
        text = (file.metadata() or {}).get(key)
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    strange = sorted({str(a.dtype) for a in arrays.values()} - DTYPES)
    if strange:
        raise ValueError(f"arrays of {strange}, where a model has {sorted(DTYPES)}")
    return json.loads(text) if text is not None else None, arrays


class Packer:
    """Turns values into JSON, setting arrays aside; the same array is stored once."""

    def __init__(self, objects: Objects) -> None:
        self.arrays: Arrays = {}
        self._objects = objects
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []  # ids stay unique while their objects live

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, numbers.Integral):
            return int(value)
        if isinstance(value, numbers.Real):
            return float(value)
        if is_sparse(value):
            csr = value if value.format == "csr" else sparse.csr_array(value)
            parts = {k: self._array(getattr(csr, k), f"{where}.{k}") for k in ("data", "indices", "indptr")}
            return {"$csr": parts, "shape": [int(n) for n in csr.shape]}
        if is_foreign(value):
            value = to_numpy(value)
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return {"$strings": [str(item) for item in value]}
            return self._array(value, where)
        if dataclasses.is_dataclass(value) and self._objects.get(type(value).__name__) is type(value):
            fields = {f.name: self.encode(getattr(value, f.name), f"{where}.{f.name}") for f in dataclasses.fields(value)}
            return {"$object": type(value).__name__, "fields": fields}
        if isinstance(value, (list, tuple)):
            return {"$list": [self.encode(item, f"{where}.{i}") for i, item in enumerate(value)]}
        if isinstance(value, Mapping):
            return {"$dict": {str(k): self.encode(v, f"{where}.{k}") for k, v in value.items()}}
        raise ValueError(
            f"save: {where}={value!r} cannot be written to a file that executes nothing; models with callable kernels or with "
            "rules of your own can be pickled instead (load pickles only from people you trust)."
        )

    def _array(self, value: npt.NDArray[Any], where: str) -> dict[str, str]:
        if id(value) not in self._names:
            self._names[id(value)] = where
            self._alive.append(value)
            self.arrays[where] = np.ascontiguousarray(value)
        return {"$array": self._names[id(value)]}


def unpacked(value: Any, arrays: Arrays, objects: Objects) -> Any:
    """The value that a `Packer` has turned into JSON and arrays."""
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return arrays[value["$array"]]
    if "$strings" in value:
        return np.array([str(item) for item in value["$strings"]], dtype=object)
    if "$csr" in value:
        parts = {k: arrays[value["$csr"][k]["$array"]] for k in ("data", "indices", "indptr")}
        if not all(np.issubdtype(parts[k].dtype, np.integer) for k in ("indices", "indptr")):
            raise ValueError("the places of a CSR matrix are not integers")
        matrix = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(value["shape"]))
        matrix.check_format(full_check=True)
        return matrix
    if "$list" in value:
        return [unpacked(item, arrays, objects) for item in value["$list"]]
    if "$dict" in value:
        return {k: unpacked(v, arrays, objects) for k, v in value["$dict"].items()}
    cls = objects[value["$object"]]
    fields = {k: unpacked(v, arrays, objects) for k, v in value["fields"].items()}
    for field in dataclasses.fields(cls):
        _check_field(cls.__name__, field, fields.get(field.name), objects)
    return cls(**{name: tuple(part) if isinstance(part, list) else part for name, part in fields.items()})


def _check_field(owner: str, field: dataclasses.Field[Any], value: Any, objects: Objects) -> None:
    kinds = str(field.type)
    if value is None:
        good = "None" in kinds
    elif "Float64" in kinds:
        good = isinstance(value, np.ndarray) and value.dtype == np.float64 and bool(np.isfinite(value).all())
    elif kinds == "str":
        good = isinstance(value, str)
    elif kinds == "bool":
        good = isinstance(value, bool)
    elif kinds.startswith("int"):
        good = isinstance(value, int) and not isinstance(value, bool)
    elif kinds.startswith("tuple[int, int]"):
        good = isinstance(value, list) and len(value) == 2 and all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    elif kinds == "tuple[float, float]":
        good = isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
    elif kinds.startswith("float"):
        good = _is_number(value)
    elif kinds == "Array":
        good = (isinstance(value, np.ndarray) or is_sparse(value)) and bool(np.isfinite(value.data if is_sparse(value) else value).all())
    else:
        good = type(value) in objects.values()
    if not good:
        raise ValueError(f"{owner}.{field.name} is {type(value).__name__} where {kinds} belongs")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
