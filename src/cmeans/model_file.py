"""Models in one safetensors file: arrays and JSON, nothing that could run.

The header holds the estimator's words and fitted attributes as JSON, in which arrays are named and the library's own frozen
objects (kernels, rules, spaces) are spelt out by class and fields. Reading builds only classes of a fixed table, and sets
only names that a fit sets, so a hostile file can be wrong but cannot act.
"""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import __version__, estimators
from .arrays import is_foreign, is_sparse, to_numpy
from .centres import Centres
from .certificate import Approximation
from .estimators.stream_state import Held, Stream
from .kernels import (
    RBF,
    ComplexWaveletSSIM,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    NormalizedPolynomial,
    Polynomial,
    Precomputed,
    Sigmoid,
    SpatialPyramid,
)
from .model_checks import check_model
from .rules import Fuzzy, Hard, Possibilistic, SparsePossibilistic
from .spaces import EuclideanSpace, LandmarkSpace
from .spaces.centring import Centring
from .streams import Past, Reserve
from .sweep import State

FORMAT = 1
OBJECTS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        *(Cosine, Laplacian, Linear, NormalizedPolynomial, Polynomial, Precomputed, RBF, Sigmoid),
        *(ComplexWaveletSSIM, HistogramIntersection, SpatialPyramid),
        *(Fuzzy, Hard, Possibilistic, SparsePossibilistic),
        *(EuclideanSpace, LandmarkSpace, Centring, Centres, State),
        *(Stream, Past, Reserve, Held),
        Approximation,
    )
}
ESTIMATORS: dict[str, type[Any]] = {name: getattr(estimators, name) for name in estimators.__all__}
PRIVATE = {"_space", "_state", "_rule", "_training_diag", "_nearest", "_n_features_out", "_factors", "_stream"}
PER_ROW = {"labels_", "memberships_", "_nearest"}
DTYPES = {"float32", "float64", "int8", "int16", "int32", "int64"}
# What parsing a damaged file may run into; anything else would be a fault of ours.
UNREADABLE = (SafetensorError, OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, MemoryError)
FITTED_NAME = re.compile(r"[a-z][a-z0-9_]*_")


def save(model: BaseEstimator, path: str | os.PathLike[str], *, rows: bool = True, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to one safetensors file.

    Parameters
    ----------
    model : a fitted estimator of this library.
    path : where to; written under a temporary name and renamed, so that a file is whole or absent.
    rows : whether to keep what a fit says of each training row (`labels_`, `memberships_`); predicting does not need it.
    metadata : anything JSON can hold, kept beside the model (`read_metadata`).

    Raises
    ------
    ValueError
        If the model holds a callable kernel or a rule or kernel of your own: only the library's can be spelt out in a file.

    Examples
    --------
    >>> import cmeans, os, tempfile
    >>> model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cmeans.save(model, os.path.join(folder, "model.safetensors"))
    ...     again = cmeans.load(os.path.join(folder, "model.safetensors"))
    >>> bool((again.predict([[2.0], [8.0]]) == model.predict([[2.0], [8.0]])).all())
    True
    """
    check_is_fitted(model)
    if metadata is not None and not (isinstance(metadata, Mapping) and all(isinstance(key, str) for key in metadata)):
        raise ValueError(f"save(metadata={metadata!r}): give a mapping of names to what JSON can hold.")
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise ValueError(f"save: {type(model)!r} is not one of the library's estimators ({sorted(ESTIMATORS)}).")
    writer = _Writer()
    fitted = {k: v for k, v in vars(model).items() if _is_fitted_name(k) and (rows or k not in PER_ROW)}
    header = {
        "format": FORMAT,
        "estimator": name,
        "version": __version__,
        "params": {k: writer.encode(_storable(k, v), k) for k, v in model.get_params(deep=False).items()},
        "fitted": {k: writer.encode(v, k) for k, v in fitted.items()},
        "metadata": metadata or {},
    }
    try:
        text = json.dumps(header)
    except TypeError as error:
        raise ValueError(f"save: metadata must be what JSON can hold: {error}.") from None
    write_atomically(Path(path), lambda temporary: save_file(writer.arrays, temporary, {"cmeans": text}))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote: an estimator as it was after `fit`.

    Nothing in the file is executed. A file that is missing, truncated, changed or no model is a `ValueError`
    (`FileNotFoundError` where there is none).
    """
    header, arrays = _read(Path(path))
    try:
        model = _build(header, arrays)
        check_model(model, OBJECTS.values())
    except UNREADABLE as error:
        raise ValueError(f"{os.fspath(path)} is damaged, or no model of this version: {error}.") from None
    return model


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says of itself, without its arrays.

    Keys: "estimator", "version", "params", "fitted" (plain values, and `approximation_` as a mapping), "arrays" (name -> dtype and
    shape) and "metadata".
    """
    header, arrays = _read(Path(path))
    fitted: dict[str, Any] = {k: v for k, v in header["fitted"].items() if v is None or isinstance(v, (bool, int, float, str))}
    certificate = header["fitted"].get("approximation_")
    if certificate is not None:
        try:
            fitted["approximation_"] = _numbers_of(certificate)
        except UNREADABLE as error:
            raise ValueError(f"{os.fspath(path)} is damaged, or no model of this version: {error}.") from None
    return {
        "estimator": header["estimator"],
        "version": header["version"],
        "params": header["params"],
        "fitted": fitted,
        "arrays": {k: {"dtype": str(a.dtype), "shape": list(a.shape)} for k, a in arrays.items()},
        "metadata": header["metadata"],
    }


def _numbers_of(certificate: Any) -> dict[str, Any]:
    decoded = _decode(certificate, {})
    if not isinstance(decoded, Approximation):
        raise ValueError("the certificate is none")
    return dataclasses.asdict(decoded)


def write_atomically(path: Path, write: Any) -> None:
    """Call write(temporary path) in the same folder and rename what it wrote, so that nobody ever sees half a file."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}.") from None
    os.close(handle)
    try:
        write(temporary)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ValueError(f"cannot write {path}: {error.strerror or error}.") from None
        raise


class _Writer:
    """Turns values into JSON, setting arrays aside; the same array is stored once."""

    def __init__(self) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []  # ids stay unique while their objects live

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
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
        if dataclasses.is_dataclass(value) and OBJECTS.get(type(value).__name__) is type(value):
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


def _storable(name: str, value: Any) -> Any:
    # A generator's state is no part of a model, and a model given as start is another model.
    if isinstance(value, BaseEstimator):
        return "k-means++"
    return None if name == "random_state" and not isinstance(value, numbers.Integral) else value


def _decode(value: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
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
        return [_decode(item, arrays) for item in value["$list"]]
    if "$dict" in value:
        return {k: _decode(v, arrays) for k, v in value["$dict"].items()}
    cls = OBJECTS[value["$object"]]
    fields = {k: _decode(v, arrays) for k, v in value["fields"].items()}
    for field in dataclasses.fields(cls):
        _check_field(cls.__name__, field, fields.get(field.name))
    return cls(**{name: tuple(part) if isinstance(part, list) else part for name, part in fields.items()})


def _check_field(owner: str, field: dataclasses.Field[Any], value: Any) -> None:
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
        good = type(value) in OBJECTS.values()
    if not good:
        raise ValueError(f"{owner}.{field.name} is {type(value).__name__} where {kinds} belongs")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("cmeans")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        strange = sorted({str(a.dtype) for a in arrays.values()} - DTYPES)
        if strange:
            raise ValueError(f"arrays of {strange}, where a model has {sorted(DTYPES)}")
        header = json.loads(text) if text is not None else None
    except UNREADABLE as error:
        raise ValueError(f"{path} is not a readable model file: {error}.") from None
    keys = {"format": int, "estimator": str, "version": str, "params": dict, "fitted": dict, "metadata": dict}
    if not isinstance(header, dict) or not all(isinstance(header.get(k), kind) for k, kind in keys.items()):
        raise ValueError(f"{path} is a safetensors file, but not one that cmeans.save wrote.")
    if header["format"] != FORMAT:
        raise ValueError(f"{path} has model format {header['format']}; this version of cmeans reads format {FORMAT}.")
    return header, arrays


def _build(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Any:
    if header["estimator"] not in ESTIMATORS:
        raise ValueError(f"unknown estimator {header['estimator']!r}")
    model = ESTIMATORS[header["estimator"]]()
    model.set_params(**{k: _decode(v, arrays) for k, v in header["params"].items()})
    for name, value in header["fitted"].items():
        if not _is_fitted_name(name) or (name not in PRIVATE and hasattr(type(model), name)):
            raise ValueError(f"{name!r} is no fitted attribute")
        setattr(model, name, _decode(value, arrays))
    return model


def _is_fitted_name(name: str) -> bool:
    return name in PRIVATE or FITTED_NAME.fullmatch(name) is not None
