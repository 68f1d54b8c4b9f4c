"""Values in one safetensors file: arrays, and JSON that names them. Nothing in it can be executed.

Frozen objects are stored by class and fields. Reading builds only classes that are imported and say
that files may hold them (`runtime.stored_classes`), so a hostile file can give wrong values but
cannot run code. Values are checked against the types of the fields, and each class checks in
`__post_init__` that they fit together. A digest in the header tells files that were damaged:
numbers that are wrong by one bit are numbers too. It is no signature: whoever changes a file can
make another.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import numbers
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from scipy import sparse

from ..data.addresses import local_copy
from ..data.arrays import is_foreign, is_sparse, to_numpy
from ..data.damage import sparse_damage
from ..runtime.stored_classes import stored_class, stored_name
from .atomic import write_atomically

Arrays = dict[str, npt.NDArray[Any]]

Reader = Callable[[Any, Arrays], Any]
NOTHING_ELSE: Mapping[str, Reader] = MappingProxyType({})

DIGEST = "digest"  # the key of a header that holds its digest
MOST_TEXT = 2**25  # bytes of a header at most: parsed, JSON may take twenty times its size
DTYPES = {"float32", "float64", "int8", "int16", "int32", "int64", "uint32"}
# The errors that reading a damaged file may raise; any other is an error of the library.
UNREADABLE = (
    SafetensorError,
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)


def write_packed(path: Path, key: str, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write one file atomically, with the header and its digest under a key of the metadata;
    WriteError where it cannot be written."""
    text = json.dumps(header)
    text = json.dumps({**header, DIGEST: digest_of(text, arrays)})

    def write(temporary: str) -> None:
        try:
            save_file(arrays, temporary, {key: text})
        except SafetensorError as error:  # what the system said is in its text alone
            number = re.search(r"\(os error (\d+)\)", str(error))
            if number is None:
                raise
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from error
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # temporary files are private to their caller

    write_atomically(path, write)


def digest_of(text: str, arrays: Arrays) -> str:
    """Digest of a header in JSON and its arrays, by which a file that is read again is found to be
    the one written, to the last bit."""
    digest = hashlib.sha256(json.dumps(json.loads(text), sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def text_in(path: Path, key: str) -> str | None:
    """Return the metadata of a file under a key; None where it has no such key, or is no such
    file."""
    try:
        with local_copy(path) as copy, safe_open(copy, framework="numpy") as file:
            return _text(file, key)
    except UNREADABLE:
        return None


def _text(file: Any, key: str) -> str | None:
    """Return the metadata of an open file under a key; ValueError where it is too much to be
    parsed."""
    text: str | None = (file.metadata() or {}).get(key)
    if text is not None and len(text) > MOST_TEXT:
        raise ValueError(f"a header of {len(text):,} characters, where {MOST_TEXT:,} are the most")
    return text


def read_packed(path: Path, key: str) -> tuple[Any, Arrays]:
    """Return header (None where the file has none under that key) and arrays; damaged files raise
    one of `UNREADABLE`."""
    with local_copy(path) as copy, safe_open(copy, framework="numpy") as file:
        text = _text(file, key)
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    unknown = sorted({str(a.dtype) for a in arrays.values()} - DTYPES)
    if unknown:
        raise ValueError(f"arrays of {unknown}, where a model has {sorted(DTYPES)}")
    header = json.loads(text) if text is not None else None
    if isinstance(header, dict):
        own = {name: value for name, value in header.items() if name != DIGEST}
        if header.get(DIGEST) != digest_of(json.dumps(own), arrays):
            raise ValueError("it holds something else than was written")
    return header, arrays


class Packer:
    """Encoder of values as JSON and arrays; an array that occurs several times is stored once."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._names: dict[int, str] = {}
        self._referenced: list[Any] = []  # keeps the objects alive, so that their ids stay unique

    def encode(self, value: Any, where: str) -> Any:
        """Return the value as JSON; `where` names it in messages and names its arrays."""
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
            parts = {
                k: self._array(getattr(csr, k), f"{where}.{k}")
                for k in ("data", "indices", "indptr")
            }
            return {"$csr": parts, "shape": [int(n) for n in csr.shape]}
        if is_foreign(value):
            value = to_numpy(value)
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return {"$strings": [str(item) for item in value]}
            return self._array(value, where)
        name = stored_name(type(value)) if dataclasses.is_dataclass(value) else None
        if name is not None:
            fields = {
                f.name: self.encode(getattr(value, f.name), f"{where}.{f.name}")
                for f in stored_fields(type(value))
            }
            return {"$object": name, "fields": fields}
        if isinstance(value, (list, tuple)):
            listed: dict[str, Any] = {
                "$list": [self.encode(item, f"{where}.{i}") for i, item in enumerate(value)]
            }
            return {**listed, "tuple": True} if isinstance(value, tuple) else listed
        if isinstance(value, Mapping):
            return {"$dict": {str(k): self.encode(v, f"{where}.{k}") for k, v in value.items()}}
        raise ValueError(
            f"save: {where}={value!r} cannot be written to a file that executes nothing; models "
            "with callable kernels "
            "can be pickled instead (load pickles only from sources you trust)."
        )

    def _array(self, value: npt.NDArray[Any], where: str) -> dict[str, str]:
        if id(value) not in self._names:
            self._names[id(value)] = where
            self._referenced.append(value)
            self.arrays[where] = np.ascontiguousarray(value)
        return {"$array": self._names[id(value)]}


def stored_fields(cls: type[Any]) -> list[dataclasses.Field[Any]]:
    """Return the fields that make the value of a dataclass: those by which two are compared."""
    return [field for field in dataclasses.fields(cls) if field.compare]


def unpacked(value: Any, arrays: Arrays, others: Mapping[str, Reader] = NOTHING_ELSE) -> Any:
    """Return the value that a `Packer` has encoded; `others` read what one of its own has, by the
    keys that this has written."""
    if isinstance(value, int) and abs(value) >= 2**63:
        raise ValueError("a whole number of more than 64 bits, which no array holds")
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return arrays[value["$array"]]
    if "$strings" in value:
        return np.array([str(item) for item in value["$strings"]], dtype=object)
    if "$csr" in value:
        parts = {k: arrays[value["$csr"][k]["$array"]] for k in ("data", "indices", "indptr")}
        if not all(np.issubdtype(parts[k].dtype, np.integer) for k in ("indices", "indptr")):
            raise ValueError("the indices of a CSR matrix are not integers")
        matrix = sparse.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(value["shape"])
        )
        if damage := sparse_damage(matrix):  # SciPy's own check looks at no indptr that ends at 0
            raise ValueError(f"a CSR matrix is damaged: {damage}")
        return matrix
    if "$list" in value:
        items = [unpacked(item, arrays, others) for item in value["$list"]]
        return tuple(items) if value.get("tuple") else items
    if "$dict" in value:
        return {k: unpacked(v, arrays, others) for k, v in value["$dict"].items()}
    for key, read in others.items():
        if key in value:
            return read(value[key], arrays)
    cls: Any = stored_class(value["$object"])
    fields = {k: unpacked(v, arrays) for k, v in value["fields"].items()}
    if unknown := fields.keys() - {field.name for field in stored_fields(cls)}:
        raise ValueError(f"{cls.__name__} has no {sorted(unknown)}")
    kinds = declared(cls)
    for name in (field.name for field in stored_fields(cls)):
        if not fits(fields.get(name), kinds[name]):
            raise ValueError(
                f"{cls.__name__}.{name} is {type(fields.get(name)).__name__} where {kinds[name]} "
                "belongs"
            )
    return cls(
        **{name: tuple(part) if isinstance(part, list) else part for name, part in fields.items()}
    )


@cache
def declared(cls: type[Any]) -> dict[str, Any]:
    """Types of attributes by name, which take longer to look up than most objects to read."""
    return get_type_hints(cls)


def fits(value: Any, kind: Any, finite: bool = True) -> bool:
    """True where a stored value is of a declared type, and its numbers are finite where they must
    be."""
    origin, parts = get_origin(kind), get_args(kind)
    aliased = getattr(origin, "__value__", None)  # NDArray, from NumPy 2.5 on
    if aliased is not None:
        return fits(value, aliased[parts], finite)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (Union, UnionType):
        return any(fits(value, part, finite) for part in parts)
    if origin is tuple:
        if parts[1:] == (...,):  # of any length
            parts = parts[:1] * len(value) if isinstance(value, list | tuple) else ()
        return (
            isinstance(value, list | tuple)
            and len(value) == len(parts)
            and all(fits(one, part, finite) for one, part in zip(value, parts, strict=True))
        )
    if origin is Sequence:  # a list of numbers, or an array of them
        return isinstance(value, list | tuple | np.ndarray) and all(
            fits(one, parts[0], finite) for one in np.asarray(value).tolist()
        )
    if origin is np.ndarray:  # of a number type, or of one of several
        (number,) = get_args(parts[1])
        of_kind = isinstance(value, np.ndarray) and np.issubdtype(
            value.dtype, get_origin(number) or number
        )
        return of_kind and (not finite or bool(np.isfinite(value).all()))
    if kind is Any:  # an array of any library, which is stored as one of NumPy's
        known = isinstance(value, np.ndarray) or is_sparse(value)
        numbers = value.data if is_sparse(value) else value
        return known and (not finite or bool(np.isfinite(numbers).all()))
    if kind is float:
        return type(value) in (int, float) and (not finite or math.isfinite(value))
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))
