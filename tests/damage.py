"""What may happen to a file that keeps a state: cut off, bits flipped, or changed by somebody who
knows the format."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from forged import forge, key_of, parts_of

# a file's bytes, and a place for scratch: what was done, other bytes
Damage = Callable[[bytes, Path], Iterator[tuple[object, bytes]]]

KINDS: list[Any] = [
    None,
    -1,
    1.5,
    "x",
    [],
    {},
    True,
    {"$array": "no such"},
    {"$object": "Centres", "fields": {}},
    10**400,
]
CHANGES: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a[:-1],
    lambda a: a[..., None],
    lambda a: np.concatenate([a, a]),
    lambda a: a.astype(np.float32 if a.dtype == np.float64 else np.float64),
    lambda a: a.astype(np.int8) if a.dtype != np.int8 else a + 1,
    lambda a: a + 1,
]


def truncated(data: bytes, scratch: Path) -> Iterator[tuple[object, bytes]]:
    for length in {*range(0, 40, 7), *np.linspace(40, len(data) - 1, 12).astype(int).tolist()}:
        yield f"{length} bytes", data[:length]
    yield "more", data + b"x"


def flipped(data: bytes, scratch: Path) -> Iterator[tuple[object, bytes]]:
    dice = random.Random(len(data))
    header = 8 + struct.unpack("<Q", data[:8])[0]
    for turn in range(60):
        changed, at = bytearray(data), dice.randrange(header if turn % 2 else len(data))
        changed[at] ^= 1 << dice.randrange(8)
        yield f"a bit of byte {at}", bytes(changed)


def changed_by_hand(data: bytes, scratch: Path) -> Iterator[tuple[object, bytes]]:
    """Keys of the metadata that are dropped or hold something else, arrays of other shapes, types
    and values; of many, some."""
    dice = random.Random(len(data))
    (whole, arrays), key = parts_of(data), key_of(data)
    ways = list(_ways(whole))
    for way in [*[way for way in ways if len(way) == 1], *dice.sample(ways, min(len(ways), 15))]:
        for kind in ["drop", *dice.sample(KINDS, 2)]:
            header = deepcopy(whole)
            place = header
            for step in way[:-1]:
                place = place[step]
            if kind == "drop":
                del place[way[-1]]
            else:
                place[way[-1]] = kind
            if json.dumps(header) != json.dumps(whole):
                forge(scratch, header, arrays, key)
                yield (way, kind), scratch.read_bytes()
    names = sorted(arrays)
    for name in dice.sample(names, min(len(names), 15)):
        for number, change in enumerate([None, *CHANGES]):
            changed = dict(arrays)
            if change is None:
                del changed[name]
            else:
                changed[name] = np.ascontiguousarray(change(arrays[name]))
            forge(scratch, whole, changed, key)
            yield (name, number), scratch.read_bytes()


def _ways(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for step, part in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield (*before, step)
        yield from _ways(part, (*before, step))
