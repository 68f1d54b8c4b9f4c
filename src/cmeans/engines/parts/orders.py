"""Orders to parts of rows, and how whoever holds a part works it out: values made of the
rows and of each other, some of which are kept there and may be forgotten at any time."""

from __future__ import annotations

import copy
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from ...runtime.free_memory import free_memory
from ...runtime.user_warnings import Message, collected, warn

SHARE = 2  # of a machine's free memory, divided by this and its processors, a store may fill
NO_ROWS = "rows"  # what a part lacks whose rows are not at hand
RECENT = 16  # orders: what none of so many has used makes room for what can be made again


@dataclass(frozen=True, eq=False)
class Each:
    """One value for each part."""

    values: Sequence[Any]


@dataclass(frozen=True)
class Slot:
    """The place of such a value among those that are sent to a part alone."""

    index: int


@dataclass(frozen=True)
class RowsOfPart:
    """The rows of a part, read anew."""


@dataclass(frozen=True)
class Room:
    """The function of a number of bytes that are wanted which reserves them where the value is kept
    whose argument it is, and returns how many there are."""


@dataclass(frozen=True, eq=False)
class Made:
    """The value of a function of others; one with a key is kept where it is made."""

    function: Callable[..., Any] | None  # None: it is sent as known there
    arguments: tuple[Any, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class StepBeside:
    """A pass that writes to what is kept beside the rows: `function(rows, written, *arguments)`."""

    key: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class WrittenBeside:
    """Columns that several steps have written beside a part, and the answer of the last of them:
    (answer, written). Whoever has forgotten it takes the steps again from the last that is
    there."""

    rows: Made
    steps: tuple[StepBeside, ...]
    are_all: bool = True  # False: only the last are sent


@dataclass(frozen=True)
class Answer:
    """The answer of a part, and the warnings on the way."""

    value: Any = None
    warnings: tuple[Message, ...] = ()
    error: Exception | None = None
    lacks: str = ""  # the key of what was forgotten and not sent, or what else is not at hand
    order: str = ""  # of which it is an answer: one of an earlier order may come late

    def told(self) -> Any:
        """Return it to the user's process, with warnings and errors."""
        for message, category in self.warnings:
            warn(message, category)
        if self.error is not None:
            raise self.error
        return self.value


class LackingError(Exception):
    """Something is not there that was thought to be."""


class Store:
    """Values that are kept beside parts, up to a number of bytes. What can be made again takes the
    room that is left; for what passes have written, the least used of all else is forgotten."""

    def __init__(self, most: int) -> None:
        self._most, self._used = most, 0
        self._held: OrderedDict[Any, tuple[Any, int, str]] = OrderedDict()  # least used first
        self._recent: deque[str] = deque(maxlen=RECENT)  # orders
        self._lock = threading.Lock()

    def get(self, key: Any, order: str = "") -> Any:
        """Return a value, or None."""
        with self._lock:
            if key not in self._held:
                return None
            value, size, _ = self._held[key]
            self._note(key, value, size, order)
            return value

    def put(self, key: Any, value: Any, order: str = "") -> None:
        """Keep a value, which is never changed."""
        with self._lock:
            self._note(key, value, bytes_of(value), order)
            while self._used > self._most and len(self._held) > 1:
                self._forget(next(iter(self._held)))

    def reserve(self, key: Any, wanted: int, order: str = "") -> int:
        """Reserve bytes for what will be offered, and return how many there were."""
        with self._lock:
            self._note(key, None, 0, order)
            self._make_room(wanted)
            taken = max(0, min(wanted, self._most - self._used))
            self._note(key, None, taken, order)
            return taken

    def offer(self, key: Any, value: Any, order: str = "") -> None:
        """Keep a value where there is room for it beside what is in use."""
        size = bytes_of(value)
        with self._lock:
            self._forget(key)
            self._make_room(size)
            if self._used + size <= self._most:
                self._note(key, value, size, order)

    def drop(self, key: Any) -> None:
        """Forget a value, if it is there."""
        with self._lock:
            self._forget(key)

    def _note(self, key: Any, value: Any, size: int, order: str) -> None:
        self._forget(key)
        self._held[key] = value, size, order
        self._used += size
        if order not in self._recent:
            self._recent.append(order)

    def _make_room(self, size: int) -> None:
        """Forget what has not been used of late, as far as needed."""
        for key, (_, _, order) in list(self._held.items()):
            if self._used + size <= self._most:
                return
            if order not in self._recent:
                self._forget(key)

    def _forget(self, key: Any) -> None:
        _, size, _ = self._held.pop(key, (None, 0, ""))
        self._used -= size


def bytes_of(value: Any) -> int:
    """Return about how many bytes a kept value takes."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(bytes_of, value))
    if (blocks := getattr(value, "blocks", None)) is not None:
        return int(blocks.x.nbytes) + int(getattr(value, "room_to_keep", 0))
    return (
        sum(int(one.nbytes) for one in vars(value).values() if isinstance(one, np.ndarray))
        if (hasattr(value, "__dict__"))
        else 0
    )


@cache
def store_of_process() -> Store:
    """Return what this process keeps."""
    return Store(free_memory() // (SHARE * (os.cpu_count() or 1)))


@dataclass(frozen=True, eq=False)
class Work:
    """An order to parts, sent once for many of them. Call it where a part lies."""

    asked: Any
    order: str = ""

    @property
    def reads(self) -> bool:
        """True where it needs the rows themselves, unless they are kept; else who has nothing kept
        lacks it."""
        return _reads(self.asked)

    def __call__(
        self,
        read: Callable[[], Any],
        number: int,
        argument: tuple[Any, ...],
        store: Store | None = None,
    ) -> Answer:
        """Return the answer of part `number`, whose rows (b, d) `read()` returns; `argument`: what
        was sent for it alone. `store`: what is kept there, None for that of the process."""
        there = store_of_process() if store is None else store
        with collected() as messages:
            try:
                value = _Desk(read, number, argument, there, self.order).made(self.asked)
            except LackingError as error:
                return Answer(lacks=str(error), order=self.order)
            except Exception as error:
                return Answer(None, tuple(messages), error, order=self.order)
        return Answer(value, tuple(messages), order=self.order)


@dataclass(frozen=True)
class _Desk:
    """The place where one order is worked out."""

    read: Callable[[], Any]
    number: int
    argument: tuple[Any, ...]
    store: Store
    order: str

    def made(self, value: Any) -> Any:
        """Return what a value stands for."""
        if isinstance(value, Slot):
            return self.made(self.argument[value.index])
        if isinstance(value, RowsOfPart):
            return self.read()
        if isinstance(value, WrittenBeside):
            return self._written(value)
        return self._made(value) if isinstance(value, Made) else value

    def _made(self, value: Made) -> Any:
        place = value.key, self.number
        if value.key and (found := self.store.get(place, self.order)) is not None:
            return found
        if value.function is None:
            raise LackingError(value.key)
        made = value.function(
            *(
                partial(self.store.reserve, place, order=self.order)
                if isinstance(argument, Room)
                else self.made(argument)
                for argument in value.arguments
            )
        )
        if value.key:
            self.store.offer(place, made, self.order)
        return made

    def _written(self, value: WrittenBeside) -> Any:
        steps, found, done = value.steps, None, len(value.steps)
        while done and (found := self._kept(steps[done - 1])) is None:
            done -= 1
        if not value.are_all and done < len(steps) - 1:
            raise LackingError(steps[-2].key)
        for at in range(done, len(steps)):
            # a copy, as the step may be asked for again
            beside = None if found is None else copy.deepcopy(found[1])
            step, rows = steps[at], self.made(value.rows)
            found = step.function(rows, beside, *map(self.made, step.arguments))
            self.store.put((step.key, self.number), found, self.order)
            if at > 1:
                self.store.drop((steps[at - 2].key, self.number))
        return found

    def _kept(self, step: StepBeside) -> Any:
        return self.store.get((step.key, self.number), self.order)


def sent(value: Any, known: frozenset[str], slots: list[Each]) -> Any:
    """Return a value as it is sent: without what is known there, and with a slot in place of what
    differs from part to part, which is added to `slots`."""
    if isinstance(value, Each):
        slots.append(value)
        return Slot(len(slots) - 1)
    if isinstance(value, Made):
        if value.key in known:
            return Made(None, (), value.key)
        inner = tuple(sent(one, known, slots) for one in value.arguments)
        return replace(value, arguments=inner)
    if isinstance(value, WrittenBeside):
        are_all = len(value.steps) == 1 or value.steps[-2].key not in known
        # those before the last are named, to be found or forgotten
        named = () if are_all else tuple(replace(step, arguments=()) for step in value.steps[-3:-1])
        steps = named + tuple(
            replace(step, arguments=tuple(sent(one, known, slots) for one in step.arguments))
            for step in value.steps[len(value.steps) - 1 if named else 0 :]
        )
        return WrittenBeside(sent(value.rows, known, slots), steps, are_all)
    return value


def _reads(value: Any) -> bool:
    if isinstance(value, Made):
        return any(map(_reads, value.arguments))
    return isinstance(value, RowsOfPart) or (
        isinstance(value, WrittenBeside) and _reads(value.rows)
    )


def read_nothing() -> Any:
    """Read the rows of a part where they are not at hand."""
    raise LackingError(NO_ROWS)


def keys_of(value: Any) -> set[str]:
    """Return the keys of all that a value is made of: known where it has been answered."""
    if isinstance(value, Made):
        return {value.key} - {""} | {key for one in value.arguments for key in keys_of(one)}
    if isinstance(value, WrittenBeside):
        return keys_of(value.rows) | {step.key for step in value.steps[-1:]}
    return set()
