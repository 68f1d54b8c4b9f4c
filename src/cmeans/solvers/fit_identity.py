"""The identity of a fit for checkpoints: its parameters, and all rows and weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import host_float64, is_sparse, to_numpy
from ..data.blocks import Block, Blocks, GivenRows
from ..data.column_facts import are_here
from ..engines import Engine, NumberedPass
from ..runtime.parameter_object import ParameterObject

Hashes = npt.NDArray[np.uint64]

# The odd multipliers of SplitMix64 (Steele, Lea, Flood 2014), and one for weights.
OF_ROWS, FIRST, SECOND = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)
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
        numbers = (
            np.arange(self.first + block.start, self.first + block.stop, dtype=np.uint64) * OF_ROWS
        )
        x: Any = block.x
        if is_sparse(x):
            x, places = (
                x.data,
                np.repeat(numbers, np.diff(x.indptr)) + x.indices.astype(np.uint64) * OF_COLUMNS,
            )
        else:
            places = numbers[:, None] + np.arange(1, x.shape[1] + 1, dtype=np.uint64) * OF_COLUMNS
        values = _hashed(to_numpy(x), places)
        return np.array(
            [values, _hashed(np.asarray(block.weight), numbers + OF_WEIGHTS)], np.uint64
        )


def _hashed(values: npt.NDArray[Any], places: Any) -> np.uint64:
    """Return the sum of hashes of numbers at places."""
    bits = np.ascontiguousarray(values).view(np.uint32 if values.dtype.itemsize == 4 else np.uint64)
    z = bits.astype(np.uint64) * OF_ROWS ^ places
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return (z ^ (z >> np.uint64(31))).sum(dtype=np.uint64)  # type: ignore[no-any-return]


def digest_of(*columns: Any) -> str:
    """Return what identifies numbers by row, wherever they are."""
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(_shown(column)).tobytes() for column in columns)
    ).hexdigest()


def _shown(values: Any) -> Any:
    """Return values by row that are here, or what is known here of those that are not."""
    return values if are_here(values) else [values.sum(), values.min(), values.max()]


def formatted(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters of an estimator as text that tells different ones apart."""
    return {name: _formatted(value) for name, value in parameters.items()}


def _formatted(value: Any) -> str:
    if isinstance(value, ParameterObject):
        return f"{type(value).__name__}({_listed(value.non_defaults())})"
    if isinstance(value, partial):  # whose repr has the function's address
        given: dict[Any, Any] = {**dict(enumerate(value.args)), **value.keywords}
        return f"{_formatted(value.func)}({_listed(given)})"
    if hasattr(value, "shape") or isinstance(value, (list, tuple)):
        digest = hashlib.sha256(
            np.ascontiguousarray(
                host_float64(np.asarray(value) if not hasattr(value, "shape") else value)
            ).tobytes()
        )
        return f"array {getattr(value, 'shape', len(value))} {digest.hexdigest()[:16]}"
    return f"function {value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)


def _listed(parameters: Mapping[Any, Any]) -> str:
    return ", ".join(
        f"{name}={repr(value) if isinstance(value, (list, tuple)) else _formatted(value)}"
        for name, value in parameters.items()
    )
