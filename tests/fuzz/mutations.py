"""Changes to bytes, to JSON and to arrays, as dice have it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

NUMBERS = (
    0,
    1,
    -1,
    2,
    127,
    255,
    256,
    2**15,
    2**31 - 1,
    -(2**31),
    2**32 - 1,
    2**53,
    2**63 - 1,
    -(2**63),
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    2**31,
    10**18,
    10**400,
    0.5,
    1e308,
    -0.0,
    1e-320,
    "",
    "x",
    "auto",
    [],
    {},
)
VALUES += (
    {"$array": "none"},
    {"$list": []},
    {"$dict": {}},
    {"$strings": ["a"]},
    {"$object": "Hard", "fields": {}},
    float("inf"),
    float("nan"),
)

Change = Callable[[bytearray, random.Random, Sequence[bytes]], None]


def flip(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def put(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    """A number where one may be."""
    width = dice.choice((1, 2, 4, 8))
    at = dice.randrange(len(data) + 1)
    data[at : at + width] = (dice.choice(NUMBERS) % 256**width).to_bytes(
        width, dice.choice(("little", "big"))
    )


def everywhere(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    """Another number in all places where one stands, as a count that stands in several."""
    width = dice.choice((4, 8))
    at = dice.randrange(len(data) + 1) & -width
    old, new = (
        bytes(data[at : at + width]),
        (dice.choice((*NUMBERS, 91, 1000, 10**6)) % 256**width).to_bytes(width, "little"),
    )
    if any(old):
        data[:] = data.replace(old, new)


def cut(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    del data[dice.randrange(len(data) + 1) :]


def drop(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    at = dice.randrange(len(data) + 1)
    del data[at : at + dice.choice((1, 4, 8, 64))]


def again(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    """A piece once more, somewhere else."""
    start, at = dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)
    data[at:at] = data[start : start + dice.choice((1, 8, 100))]


def blank(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    at, size = dice.randrange(len(data) + 1), dice.choice((1, 8, 64, 512))
    size = min(size, len(data) - at)
    data[at : at + size] = bytes([dice.choice((0, 255, 48))]) * size


def splice(data: bytearray, dice: random.Random, others: Sequence[bytes]) -> None:
    """The beginning of one file and the end of another."""
    if others:
        other = dice.choice(others)
        at = dice.randrange(len(data) + 1)
        data[at:] = other[dice.randrange(len(other) + 1) :]


WAYS: tuple[Change, ...] = (flip, flip, flip, put, put, everywhere, cut, drop, again, blank, splice)


def changed_bytes(data: bytes, dice: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return the bytes with a few changes."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 16))):
        dice.choice(WAYS)(changed, dice, others)
    return bytes(changed)


def changed_text(text: str, dice: random.Random, words: Sequence[str]) -> str:
    """Return a text with a few changes, by words that mean something there."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice((0, 0, 1, 3, 20)))
        text = text[:at] + dice.choice(words) + text[end:]
    return text


def changed_json(value: Any, dice: random.Random) -> Any:
    """Return a value of JSON of which one place holds something else, is gone, or has another
    name."""
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return value
    parent, key = dice.choice(places)
    way = dice.randrange(6)
    if way == 0:
        del parent[key]
    elif way == 1:
        other, its = dice.choice(places)
        parent[key] = copy.deepcopy(other[its])
    elif way == 2 and isinstance(parent, dict):
        parent[dice.choice(("x", "digest", "_space", "labels_", "__class__", "fit"))] = parent.pop(
            key
        )
    elif way == 3 and isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
        parent[key] = dice.choice(
            (
                parent[key] + 1,
                -parent[key],
                parent[key] * 2,
                parent[key] * (1e6 if abs(parent[key]) < 1e300 else 3),
            )
        )
    else:
        parent[key] = dice.choice(VALUES)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All places of a value: their containers, and their keys there."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        for key in list(container) if isinstance(container, dict) else range(len(container)):
            found.append((container, key))
            if isinstance(container[key], (dict, list)):
                waiting.append(container[key])
    return found


def changed_array(array: np.ndarray, dice: random.Random) -> np.ndarray:
    """Return an array of other numbers, another type or another shape."""
    with np.errstate(all="ignore"):
        way = dice.randrange(9)
        if way == 0:
            return array[:-1] if array.ndim else array[None]
        if way == 1:
            return array[..., None]
        if way == 2:
            return array.reshape(-1)
        if way == 3:
            return np.concatenate([array, array]) if array.ndim else array
        if way == 4:
            return array.astype(
                dice.choice((np.float32, np.float64, np.int8, np.int32, np.int64, np.uint32))
            )
        if way == 5:
            return array[:0] if array.ndim else array
        if way == 6 and array.ndim == 2:
            return array.T
        changed = array.copy()
        if changed.size:
            number = dice.choice(
                (0, -1, 1, np.nan, np.inf, -np.inf, 1e308, 2**31 - 1, 1e-310)
                if array.dtype.kind == "f"
                else NUMBERS[:9]
            )
            changed.reshape(-1)[dice.randrange(changed.size)] = np.array(number).astype(array.dtype)
        return changed


def by_hand(data: bytes, dice: random.Random, scratch: Path) -> bytes:
    """Return a file as somebody makes it who knows the format: changed in the header or an array,
    and with a digest that is right."""
    from forged import forge, key_of, parts_of

    header, arrays = parts_of(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        name = dice.choice(sorted(arrays)) if arrays else None
        if name is None or dice.random() < 0.6:
            header = changed_json(header, dice)
        elif dice.random() < 0.2:
            del arrays[name]
        else:
            arrays[name] = np.ascontiguousarray(changed_array(arrays[name], dice))
    forge(scratch, header, arrays, key_of(data))
    return scratch.read_bytes()
