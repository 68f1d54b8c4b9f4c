"""The rows of a file, whatever its format: which columns, which weights, which type of number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory import free_memory
from ..sources.columns import Header, shortened
from ..sources.gathering import Choice
from ..sources.one_file import Ask, number_type, open_file
from ..sources.opening import open_chosen
from ..stored import Label, StoredRows
from .errors import InputError
from .words import as_option

SHARE = 4  # rows that take no more than one part in so many of the memory there is are simply read


@dataclass(frozen=True)
class Wish:
    """What the user wants of a file."""

    file: Path
    columns: tuple[str, ...] = ()  # as typed: names, positions, ranges, lists with commas; none means all
    weight: str | None = None
    array: str | None = None  # which array of an npz
    dtype: str | None = None  # None: float32 where every column is, else float64
    header: bool | None = None  # whether the first line of a CSV holds names; None: look


@dataclass(frozen=True)
class Rows:
    """What came out of the file."""

    x: Any  # (n, d) array, a CSR array, or rows that stay in their files
    columns: tuple[Label, ...]
    weight: NDArray[np.float64] | None = None


def read_rows(wish: Wish, known: Sequence[Label] | None = None, most: int | None = None) -> Rows:
    """The rows that were asked for, in memory if they take no more than `most` bytes. `known`: the columns of a model, taken when
    `wish` names none."""
    most = free_memory() // SHARE if most is None else most
    ask = Ask(wish.array, wish.weight, wish.header, as_option)
    if wish.file.is_file() and wish.file.stat().st_size <= most:
        source = open_file(wish.file, ask)
        choice = chosen_columns(source.header, wish, None if source.aside else wish.weight, known)
        if (source.n_rows or 0) * len(choice.picked) * choice.dtype.itemsize <= most:  # what a CSV holds, its text holds
            x, weights = source.read(choice)
            return Rows(x, source.header.labels(choice.picked), weights)
    stored = open_chosen(wish.file, ask, lambda header, weight: chosen_columns(header, wish, weight, known))
    if not isinstance(stored, StoredRows):
        return Rows(stored, tuple(range(stored.shape[1])))
    x = stored.read(0, len(stored)) if stored.nbytes <= most else stored
    return Rows(x, stored.columns, stored.weight)


def chosen_columns(header: Header, wish: Wish, weight: Label | None, known: Sequence[Label] | None = None) -> Choice:
    """The columns that are data: those the user names, else those of a model, else all but the weight."""
    at = None if weight is None else header.weighing(weight)
    picked = header.data(wish.columns, weight) if wish.columns or known is None else _as_in_model(header, known)
    if known is not None and len(picked) != len(known):
        raise InputError(f"--columns: names {len(picked)} columns, but the model was fitted on {len(known)} ({shortened(known)}).")
    return Choice(tuple(picked), at, number_type(header, picked, wish.dtype))


def _as_in_model(header: Header, known: Sequence[Label]) -> list[int]:
    """The columns a model was fitted on, found again by name, or by position where neither side has names."""
    labels = [field.label for field in header.fields]
    missing = [label for label in known if label not in labels]
    if not missing:
        picked = [labels.index(label) for label in known]
        header.refuse_text(picked)
        return picked
    if header.named == any(isinstance(label, str) for label in known):
        advice = "Name the right ones with --columns."
        raise InputError(f"{header.where}: lacks {shortened(missing)} of the model; it has {shortened(labels)}. {advice}")
    with_names, without = ("the file", "the model") if header.named else ("the model", "the file")
    advice = f"say with --columns which columns stand for {shortened(known)}, in that order."
    raise InputError(f"{header.where}: {with_names} names its columns, {without} does not; {advice}")


def refuse_inside(rows: Path, out: Path, advice: str) -> None:
    """Results in the folder that is read would be taken for rows the next time."""
    if rows.is_dir() and out.resolve().is_relative_to(rows.resolve()):
        raise InputError(f"--out {out}: lies in {rows}, all of which is read as rows; choose {advice}.")
