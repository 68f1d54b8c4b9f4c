"""Columns of a file, and their selection: by name, by position, by range, or all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..addresses import PathWord
from ..containers import repeated
from ..row_source import ColumnLabel, RowsError
from .notation import AS_PROGRAMS_WRITE, TextFormat

Spelling = Callable[..., str]  # of a name alone, or of a name and its value
MADE = "made of another column"  # kind of a column that no file holds


def in_python(name: str, *value: Any) -> str:
    """Return an argument as Python writes it: `columns`, or `columns=['a', 'b']`."""
    return f"{name}={value[0]!r}" if value else name


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file of rows, as the caller has written them."""

    file: PathWord | Sequence[PathWord]
    # names, positions, ranges, lists with commas; none means those of `known`, or all
    columns: Sequence[ColumnLabel] = ()
    weight: ColumnLabel | None = None  # a column, or an array of an npz
    array: str | None = None  # name of an array of an npz
    dtype: Any = None  # None: float32 where every column is of single precision, else float64
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect
    holes: bool = False  # values may be missing
    known: Sequence[ColumnLabel] | None = None  # the columns of a model
    spell: Spelling = in_python  # formats arguments in messages
    name: ColumnLabel | None = None  # a column that names the rows, and is no data
    with_rows: bool = False  # results by row hold the columns of the file too
    written: TextFormat = AS_PROGRAMS_WRITE  # how the cells of text files are written
    leave_out: Sequence[ColumnLabel] = ()  # columns that are no data where all are taken
    adapt: Callable[[Any], Any] | None = None  # applied to each table that is opened
    bits: int | None = None  # columns of packed bits
    table: Any = None  # an open `FileTable` in place of files; `file` is what it is called


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that are read from a file, and the dtype of the rows."""

    where: str  # the file, for messages
    picked: tuple[int, ...]  # positions of the columns of data
    columns: tuple[ColumnLabel, ...]  # their names
    dtype: np.dtype[Any]
    weight: int | None = None  # position of the column of weights
    # its name, or that of an array of weights beside the rows
    weight_label: ColumnLabel | None = None
    holes: bool = False  # values may be missing
    spell: Spelling = in_python  # formats arguments in messages

    @property
    def places(self) -> list[int]:
        """Positions of all columns to read, the weight last."""
        return [*self.picked, *([] if self.weight is None else [self.weight])]

    def moved(self, where: str, places: Sequence[int]) -> ColumnChoice:
        """Return the same columns at other positions of another file."""
        d = len(self.picked)
        return replace(
            self,
            where=where,
            picked=tuple(places[:d]),
            weight=None if self.weight is None else places[d],
        )


@dataclass(frozen=True)
class Field:
    """One column of a file, as its header describes it."""

    label: ColumnLabel
    kind: str  # name of its type in the file, e.g. "string"
    numeric: bool
    single: bool = False  # single precision holds all its values
    aside: bool = False  # a row index, which is not data
    # the column of lists of numbers that it is one of, as an embedding is stored
    within: str | None = None
    element: int = 0  # its place in them
    written: str = ""  # how a model reads its numbers, where the column holds none so


def _plain(label: ColumnLabel) -> str:
    """Return a name without capitals, blanks and signs."""
    return re.sub(r"[\W_]", "", str(label).casefold())


@dataclass(frozen=True)
class Header:
    """The columns of one file, and methods that select some of them."""

    where: str  # the file, for messages
    fields: tuple[Field, ...]
    spell: Spelling = in_python  # formats arguments in messages

    def __post_init__(self) -> None:
        if said := repeated(field.label for field in self.fields):
            raise RowsError(f"{self.where}: {said}.")

    # Found once: a file may have as many columns as a model, each to be looked up.
    @cached_property
    def _places(self) -> dict[ColumnLabel, int]:
        """Positions of columns by their labels."""
        return {field.label: at for at, field in enumerate(self.fields)}

    @cached_property
    def _lists(self) -> dict[str | None, list[int]]:
        """Positions of the numbers of each column of lists; None: of columns that are none."""
        found: dict[str | None, list[int]] = {}
        for at, field in enumerate(self.fields):
            found.setdefault(field.within, []).append(at)
        return found

    @cached_property
    def _has_numbers_for_names(self) -> bool:
        return any(isinstance(label, str) and label.isdecimal() for label in self._places)

    @property
    def named(self) -> bool:
        return any(isinstance(field.label, str) for field in self.fields)

    def labels(self, picked: Iterable[int]) -> tuple[ColumnLabel, ...]:
        return tuple(self.fields[at].label for at in picked)

    def position(self, word: ColumnLabel) -> int:
        """Return the position of a column given by name or position. Positions count from 0; text
        is a position only where no column has a number for its name."""
        labels = self._places
        if word in labels:
            return labels[word]
        text = str(word)
        if text in self._lists:
            raise RowsError(
                f"{self.where}: column {text!r} holds lists of numbers, of which one is needed, "
                f"e.g. '{text}[0]'."
            )
        if isinstance(word, int) and 0 <= word < len(labels):
            return word
        if text.isdecimal() and not self._has_numbers_for_names:
            if int(text) < len(labels):
                return int(text)
            raise RowsError(
                f"{self.where}: there is no column {text}; it has {len(labels)} columns, counted "
                "from 0."
            )
        raise RowsError(
            f"{self.where}: there is no column {text!r}; it has {shortened(self._own)}."
        )

    def choose(self, asked: ReadOptions) -> ColumnChoice:
        """Return the columns of data: the requested ones, else those of a model, else all but the
        weight."""
        known, weight = asked.known, None if asked.weight is None else self.weighing(asked.weight)
        if asked.columns:
            picked = self.pick(asked.columns)
            if weight in picked:
                columns = self.spell("columns")
                raise RowsError(
                    f"{self.spell('weight')}: column {asked.weight!r} is also in {columns}; it is "
                    "a weight or it is data."
                )
        else:
            left_out = set(asked.leave_out)
            apart = {
                at
                for at, field in enumerate(self.fields)
                if at == weight or field.label in left_out
            }
            picked = self.every(leave_out=apart) if known is None else self._as_in_model(known)
        if known is not None and len(picked) != len(known):
            names = f"{self.spell('columns')}: names {len(picked)} columns"
            raise RowsError(
                f"{names}, but the model was fitted on {len(known)} ({shortened(known)})."
            )
        label = None if weight is None else self.fields[weight].label
        dtype = self._number_type(picked, asked.dtype)
        return ColumnChoice(
            self.where,
            tuple(picked),
            self.labels(picked),
            dtype,
            weight,
            label,
            asked.holes,
            self.spell,
        )

    def _number_type(self, picked: Sequence[int], dtype: Any) -> np.dtype[Any]:
        """Return float32 or float64: the requested one, else the narrower that holds all values."""
        types: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
        if dtype is None:
            return types[0 if all(self.fields[at].single for at in picked) else 1]
        try:
            return types[types.index(np.dtype(dtype))]
        except (TypeError, ValueError):
            raise RowsError(f"{self.spell('dtype', dtype)}: rows are float32 or float64.") from None

    def _as_in_model(self, known: Sequence[ColumnLabel]) -> list[int]:
        """Return the columns of a model's fit, found by name, or by position where neither side has
        names."""
        labels, columns = self._places, self.spell("columns")
        missing = [label for label in known if label not in labels]
        if not missing:
            picked = [labels[label] for label in known]
            self.refuse_text(picked)
            return picked
        if self.named == any(isinstance(label, str) for label in known):
            own = self._own
            lacks = f"lacks {shortened(missing)} of the model; it has {shortened(own)}"
            eighth = not self.named and -(-len(known) // 8) == len(self.fields)
            packed = f"; of packed bits, say {self.spell('bits', len(known))}" if eighth else ""
            # others in their place must be as many, and none of them made
            alike = self._spelt_alike(known)
            advice = f"Name the right ones with {alike or columns}"
            if not alike and len(own) < max(len(known), len(self.fields)):
                which = "one of that name" if len(missing) == 1 else "those of these names"
                advice = f"The model needs {which if self.named else f'{len(known)} columns'}"
            raise RowsError(f"{self.where}: {lacks}. {advice}{packed}.")
        with_names, without = ("the file", "the model") if self.named else ("the model", "the file")
        advice = f"say with {columns} which columns stand for {shortened(known)}, in that order."
        raise RowsError(
            f"{self.where}: {with_names} names its columns, {without} does not; {advice}"
        )

    @property
    def _own(self) -> list[ColumnLabel]:
        """The names of the columns of the file itself."""
        return [field.label for field in self.fields if field.kind != MADE]

    def _spelt_alike(self, known: Sequence[ColumnLabel]) -> str:
        """Return an argument with the columns of a model where capitals and blanks alone set those
        of this table apart; nothing where it has no such ones."""
        own = {_plain(field.label): at for at, field in enumerate(self.fields)}
        made = {field.label for field in self.fields if field.kind == MADE}
        wanted = [_plain(label) for label in known if label not in made]
        distinct = len(own) == len(self.fields) and len(set(wanted)) == len(wanted)
        there = distinct and all(each in own for each in wanted)
        names = [str(self.fields[own[each]].label) for each in wanted] if there else []
        return self.spell("columns", names) if names else ""

    def weighing(self, word: ColumnLabel) -> int:
        """Return the position of the column of weights."""
        try:
            at = self.position(word)
        except RowsError as error:
            raise RowsError(f"{self.spell('weight', word)}: {error}") from error
        if not self.fields[at].numeric:
            raise RowsError(
                f"{self.spell('weight', word)}: the column holds {self.fields[at].kind}, no "
                "numbers."
            )
        return at

    def places(self, words: Sequence[ColumnLabel]) -> list[int]:
        """Return the positions of the columns of these names, positions and ranges."""
        return [at for word in words for at in self._listed(word)]

    def pick(self, words: Sequence[ColumnLabel]) -> list[int]:
        """Return the columns of these names, positions and ranges, in that order."""
        picked = self.places(words)
        if not picked:
            few, many = self.spell("columns", ["a", "b", "c"]), self.spell("columns", ["0-9"])
            raise RowsError(
                f"{self.spell('columns')}: names no column; give names or positions, e.g. {few} or "
                f"{many}."
            )
        twice = {self.fields[at].label for at, count in Counter(picked).items() if count > 1}
        if twice:
            raise RowsError(
                f"{self.spell('columns')}: {shortened(sorted(twice, key=str))} named twice."
            )
        self.refuse_text(picked)
        return picked

    def every(self, leave_out: Collection[int] = ()) -> list[int]:
        """Return all columns of data but those left out; one without numbers is an error that names
        a remedy."""
        kept = [
            at
            for at in range(len(self.fields))
            if at not in leave_out and not self.fields[at].aside
        ]
        numeric = [at for at in kept if self.fields[at].numeric]
        if not numeric:
            raise RowsError(
                f"{self.where}: no numeric columns (it has "
                f"{described(self.fields[at] for at in kept)})."
            )
        sources = dict.fromkeys(self.fields[at].within for at in numeric)
        if len(sources) > 1:
            lists = [within for within in sources if within is not None]
            raise RowsError(
                f"{self.where}: column {lists[0]!r} holds lists of numbers, and there are numbers "
                "beside it; say which columns are data, "
                f"e.g. {self.spell('columns', lists[:1])}."
            )
        nameless = [at for at in kept if self.fields[at].label == ""]
        if nameless:
            rest = self._to_copy(at for at in numeric if at not in nameless)
            raise RowsError(
                f"{self.where}: column {nameless[0]} has no name (a row index?); say which columns "
                f"are data, e.g. {rest}."
            )
        if len(numeric) < len(kept):
            advice = f" Choose the columns that are data, e.g. {self._to_copy(numeric)}."
            self.refuse_text(kept, advice)
        return kept

    def refuse_text(self, picked: Iterable[int], advice: str = "") -> None:
        text = [self.fields[at] for at in picked if not self.fields[at].numeric]
        if text:
            known = [
                f"; the fit read those of {field.label!r} with {field.written}"
                for field in text[:6]
                if field.written
            ]
            raise RowsError(
                f"{self.where}: {described(text)} {'holds' if len(text) == 1 else 'hold'} no "
                f"numbers{''.join(known)}.{advice}"
            )

    def _listed(self, word: ColumnLabel) -> list[int]:
        if isinstance(word, int):
            return [self.position(word)]
        # A name may hold commas and dashes: the whole text is tried first.
        if word.strip() in self._places:
            return [self._places[word.strip()]]
        if word.strip() in self._lists:
            return self._lists[word.strip()]
        parts = [part.strip() for part in word.split(",")]
        if len(parts) > 1:
            return [at for part in parts if part for at in self._listed(part)]
        first, dash, last = parts[0].partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            if int(last) < int(first):
                raise RowsError(f"{self.spell('columns')}: the range {word!r} runs backwards.")
            self.position(last)  # a range far beyond the file is refused before it is expanded
            return [self.position(str(number)) for number in range(int(first), int(last) + 1)]
        return [self.position(parts[0])] if parts[0] else []

    def _to_copy(self, picked: Iterable[int]) -> str:
        """Return an argument that can be copied: names if few and simple, else ranges of positions;
        in Python also whose it is."""
        places = list(picked)
        # a fit that was given a path has no such argument
        reader = " of cmeans.open_blocks" if self.spell is in_python else ""
        names = list(
            dict.fromkeys(self.fields[at].within or str(self.fields[at].label) for at in places)
        )
        if len(names) <= 8 and all(name.replace("_", "").isalnum() for name in names):
            return f"{self.spell('columns', names)}{reader}"
        runs: list[list[int]] = []
        for at in places:
            if runs and at == runs[-1][-1] + 1:
                runs[-1].append(at)
            else:
                runs.append([at])
        ranges = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
        return f"{self.spell('columns', ranges)}{reader}"


def described(fields: Iterable[Field]) -> str:
    """Columns with their types, for a message."""
    found = list(fields)
    words = [f"{field.label!r} ({field.kind})" for field in found[:6]]
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    return (
        f"column{'' if len(found) == 1 else 's'} {', '.join(words)}{more}"
        if found
        else "no columns"
    )


def shortened(labels: Sequence[ColumnLabel]) -> str:
    """Columns by name only, for a message."""
    more = f" and {len(labels) - 12} more" if len(labels) > 12 else ""
    return (
        f"column{'' if len(labels) == 1 else 's'} "
        f"{', '.join(repr(label) for label in labels[:12])}{more}"
    )
