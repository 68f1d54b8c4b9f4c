"""The identity of a fit for checkpoints: its parameters, and all rows and weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from types import CellType, CodeType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import host_float64, is_sparse, to_numpy
from ..data.blocks import Block, Blocks, GivenRows
from ..data.column_facts import asked
from ..engines import Engine, NumberedPass
from ..runtime.parameter_object import ParameterObject

Hashes = npt.NDArray[np.uint64]

# The odd multipliers of SplitMix64 (Steele, Lea, Flood 2014), and one for weights.
OF_ROWS = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
# of what a function uses: other values, such as modules, have no text that tells them apart
PLAIN = (int, float, str, tuple, list, np.ndarray, np.generic, ParameterObject)
OF_COLUMNS, OF_WEIGHTS = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


def fingerprint(blocks: Blocks, engine: Engine) -> dict[str, Any]:
    """Return what identifies an input: its size, type, rows and weights. It takes one pass."""
    n, d = blocks.x.shape
    values, weights = engine.fold(GivenRows(blocks, blocks.numbers_of_a_row), HashPass())
    return {
        "rows": int(n),
        "columns": int(d),
        "dtype": str(blocks.x.dtype).rpartition(".")[2],
        "values": f"{values:016x}",
        "weights": f"{weights:016x} of {blocks.unit:g}",
    }


@dataclass(frozen=True)
class HashPass(NumberedPass[Hashes]):
    """The sums, modulo 2^64, of hashes of all entries and of all weights with their places: they
    depend on no order and no division."""

    def work(self, rows: GivenRows, task: int, prepared: None) -> Hashes:
        return np.add.reduce([self._of_block(block) for block in rows.task(task)])  # type: ignore[no-any-return]

    def _of_block(self, block: Block) -> Hashes:
        numbers = np.arange(self.first + block.start, self.first + block.stop)
        return hashes_of(block.x, block.weight, numbers)


def hashes_of(x: Any, weight: npt.NDArray[Any] | None, numbers: npt.NDArray[Any]) -> Hashes:
    """Return the sums of hashes of the entries of some rows and of their weights; `numbers` are
    those of the rows among all."""
    numbers = numbers.astype(np.uint64) * OF_ROWS
    if is_sparse(x):
        x, places = (
            x.data,
            np.repeat(numbers, np.diff(x.indptr)) + x.indices.astype(np.uint64) * OF_COLUMNS,
        )
    else:
        places = numbers[:, None] + np.arange(1, x.shape[1] + 1, dtype=np.uint64) * OF_COLUMNS
    of_weights = 0 if weight is None else _hashed(np.asarray(weight), numbers + OF_WEIGHTS)
    return np.array([_hashed(to_numpy(x), places), of_weights], np.uint64)


def _hashed(values: npt.NDArray[Any], places: Any) -> np.uint64:
    """Return the sum of hashes of numbers at places."""
    bits = np.ascontiguousarray(values).view(np.uint32 if values.dtype.itemsize == 4 else np.uint64)
    z = bits.astype(np.uint64) * OF_ROWS ^ places
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return (z ^ (z >> np.uint64(31))).sum(dtype=np.uint64)  # type: ignore[no-any-return]


def digest_of(*columns: Any) -> str:
    """Return what identifies numbers by row, wherever they are."""
    return " ".join(f"{np.add.reduce(asked(column, _hashed_rows)):016x}" for column in columns)


def _hashed_rows(values: npt.NDArray[Any], start: int) -> np.uint64:
    """Return the sum of hashes of numbers of the rows from `start` on."""
    numbers = np.arange(start, start + len(values), dtype=np.uint64) * OF_ROWS
    return _hashed(values.astype(np.float64), numbers)


def formatted(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters of an estimator as text that tells different ones apart."""
    return {name: _formatted(value) for name, value in parameters.items()}


def _formatted(value: Any) -> str:
    if isinstance(value, ParameterObject):
        return f"{type(value).__name__}({_listed(value.non_defaults())})"
    if is_dataclass(value) and not isinstance(value, type):
        parts = {one.name: getattr(value, one.name) for one in fields(value) if one.compare}
        return f"{type(value).__name__}({_listed(parts)})"
    if isinstance(value, partial):  # whose repr has the function's address
        given: dict[Any, Any] = {**dict(enumerate(value.args)), **value.keywords}
        return f"{_formatted(value.func)}({_listed(given)})"
    if isinstance(value, np.generic):
        return repr(value.item())
    if hasattr(value, "shape"):
        data = np.ascontiguousarray(host_float64(value)).tobytes()
        return f"array {tuple(value.shape)} {_short(data)}"
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(map(_formatted, value))}]"
        return text if len(text) < 100 else f"{len(value)} values {_short(text.encode())}"
    if hasattr(value, "__code__"):
        return f"function {value.__qualname__} {_short(_code_of(value).encode())}"
    if hasattr(value, "__sklearn_is_fitted__"):  # a start: what matters are its centres
        found = [_formatted(vars(value).get(name)) for name in ("_space", "_state")]
        return f"{type(value).__name__} {_short(str(found).encode())}"
    return f"function {value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)


def _listed(parameters: Mapping[Any, Any]) -> str:
    return ", ".join(f"{name}={_formatted(value)}" for name, value in parameters.items())


def _code_of(function: Any) -> str:
    """Return what a function does, as far as it can be seen: its code, its defaults, and the
    values of its place of birth that it uses."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    values = [*(function.__defaults__ or ()), *cells]
    used = [_formatted(value) for value in values if isinstance(value, PLAIN)]
    return f"{_instructions(function.__code__)} {used}"


def _instructions(code: CodeType) -> str:
    constants = [
        _instructions(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
