"""State saved between runs: the model, the preparation of its rows, and how far the stream and its
labels have come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import load
from ...data.recipe.front import TableWords
from ...data.recipe.table_recipe import TableRecipe
from ...data.row_source import ColumnLabel
from ...fitting.named_parameters import OBJECTS
from ...persistence.model_file import KEY, packed
from ...storage.codec import text_in, write_packed
from ..errors import InputError
from ..models import open_model, read_recipe
from ..option_names import option_of
from ..output.results import plain
from .answers import MODELS, Model
from .batches import Batch
from .labels import Written

METHOD = "stream"  # the method in the metadata of a state, and their key for the stream
FREE = {"chunk_size", "max_iter", "tol", "engine"}  # parameters that may change from run to run
NO_LABELS: NDArray[Any] = np.empty(0, np.intp)
MOST = 2**53  # rows or bytes that have ever come


@dataclass(frozen=True)
class StreamPlace:
    """The place that a stream has reached: every row before it is clustered or malformed."""

    rows: int = 0  # before this place
    source: str | None = None  # their source, as the user names it
    # its files in reading order, with the number of the first row of each
    files: Mapping[str, int] = field(default_factory=dict)
    clustered: int = 0
    sizes: tuple[int, ...] = ()  # rows assigned to each cluster on arrival
    noise: int = 0  # rows that were in none
    # of each file, what identifies its rows before this place, and its size and time when it was
    # opened
    digests: Mapping[str, int] = field(default_factory=dict)
    stamps: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def ends(self) -> dict[str, int]:
        """Of each file the number of the row after its last one before this place."""
        return dict(zip(self.files, [*self.files.values(), self.rows][1:], strict=True))

    def in_another(self, source: str) -> StreamPlace:
        """Return the same place, before the first row of another source."""
        return replace(self, source=source, files={}, digests={}, stamps={})

    def after(
        self,
        chunk: Batch,
        files: Mapping[str, int],
        stamps: Mapping[str, tuple[int, int]],
        labels: NDArray[Any] = NO_LABELS,
        n_clusters: int = 0,
    ) -> StreamPlace:
        """Return the place after a chunk of rows of these files, with the labels of those that were
        clustered."""
        came = np.bincount(labels[labels >= 0], minlength=max(n_clusters, len(self.sizes)))
        came[: len(self.sizes)] += np.array(self.sizes, came.dtype)
        begun = {name: first for name, first in files.items() if first <= chunk.stop}
        noise, digests = int(np.count_nonzero(labels < 0)), dict(self.digests)
        for (name, first), end in zip(begun.items(), [*begun.values(), np.inf][1:], strict=True):
            if end > self.rows:
                part = chunk.part(first, end)
                digests[name] = (digests.get(name, 0) + part.digest) % 2**64
        return StreamPlace(
            chunk.stop,
            self.source,
            begun,
            self.clustered + len(labels),
            tuple(came.tolist()),
            self.noise + noise,
            digests,
            {name: stamps[name] for name in begun if name in stamps},
        )


@dataclass(frozen=True)
class SavedStream:
    """The state of a stream between two chunks."""

    model: Model
    recipe: TableRecipe
    weight: ColumnLabel | None = None
    place: StreamPlace = field(default_factory=StreamPlace)
    written: Written | None = None
    said: Mapping[str, str] = field(default_factory=dict)  # of its columns, by option

    def save(self, file: Path) -> None:
        """Save as a model file, which `cmeans predict` and `cmeans info` can read too."""
        metadata = {
            "method": METHOD,
            **self.recipe.to_json(),
            "weight": self.weight,
            METHOD: {
                **asdict(self.place),
                "said": self.said,
                "written": None if self.written is None else asdict(self.written),
            },
        }
        write_packed(file, KEY, *packed(self.model, rows=False, metadata=plain(metadata)))

    @classmethod
    def load(cls, file: Path) -> SavedStream:
        """Return the state in a model file. The file is not trusted, so its contents are
        checked."""
        if not file.exists():
            raise InputError(
                f"--resume: there is no {file}; without --resume the stream begins anew."
            )
        try:
            stored = open_model(file)
            beside = stored.get("metadata") or {}
            place, written, said = _place_in(file, beside)
            if stored["estimator"] not in MODELS or "steps" in stored:
                held = "a pipeline" if "steps" in stored else stored["estimator"]
                raise InputError(f"--resume: {file} holds {held}, which no stream can go on with.")
            model = load(file)
            recipe = read_recipe(stored, model)
            return cls(model, recipe, beside.get("weight"), place, written, said)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(
                f"--resume: {file} is damaged, or no state of a stream: {error}"
            ) from error


def refuse_no_state(file: Path) -> None:
    """Refuse to overwrite a file that is not the state of a stream."""
    try:
        metadata = json.loads(text_in(file, KEY) or "{}")["metadata"]
        is_state = metadata["method"] == METHOD and METHOD in metadata
    except (ValueError, LookupError, TypeError, RecursionError):
        is_state = False
    if not is_state:
        raise InputError(
            f"--checkpoint {file}: is no state of a stream, and is not written over; give another "
            "name, or remove it first."
        )


def refuse_other_words(file: Path, began: Mapping[str, Any], words: Mapping[str, Any]) -> None:
    """Refuse words other than those the stream was begun with."""
    for word, value in words.items():
        name, _, field = word.partition("__")
        if name not in began and word not in FREE:
            if value is None:
                continue
            raise InputError(
                f"{option_of(word)} {value}: {file} was begun without a number of clusters, and "
                "has no such option; leave it out."
            )
        if name not in began:
            continue
        former = getattr(OBJECTS[name](began[name], ""), field) if field else began[name]
        if word not in FREE and value is not None and value != former:
            raise InputError(
                f"{option_of(word)} {value}: {file} was begun with {former}; leave the option out "
                "to go on with that."
            )


def column_words(words: TableWords) -> dict[str, str]:
    """Return what is said of columns, by option; equal texts have one meaning."""
    given = {
        **words.named,
        "dates": words.dates,
        "cyclic": [f"{name}={number:.15g}" for name, number in words.cyclic.items()],
        "column_weight": [f"{name}={number:.15g}" for name, number in words.weights.items()],
        "missing_values": words.missing or (),
        "decimal": words.decimal or (),
        "thousands": words.thousands or (),
    }
    return {option: ",".join(map(str, names)) for option, names in given.items() if names}


def refuse_other_columns(file: Path, began: Mapping[str, str], words: TableWords) -> None:
    """Refuse to say of columns what was not said when the stream was begun."""
    for option, said in column_words(words).items():
        if said != began.get(option):
            former = f"with {began[option]}" if option in began else "without it"
            raise InputError(
                f"{option_of(option)} {said}: {file} was begun {former}; leave the option out to "
                "go on with that."
            )


def _place_in(
    file: Path, beside: Mapping[str, Any]
) -> tuple[StreamPlace, Written | None, dict[str, str]]:
    """Return the place of a stream, the labels that it has written and what was said of its
    columns."""
    stored = beside.get(METHOD) or {}
    if not stored:
        return StreamPlace(), None, {}  # a model saved from Python
    try:
        rows, clustered, noise = (int(stored[name]) for name in ("rows", "clustered", "noise"))
        files, digests = (
            {str(name): int(number) for name, number in stored[word].items()}
            for word in ("files", "digests")
        )
        stamps = {str(name): (int(a), int(b)) for name, (a, b) in stored["stamps"].items()}
        sizes, written = tuple(int(size) for size in stored["sizes"]), stored["written"]
        labels = (
            None
            if written is None
            else Written(str(written["name"]), int(written["bytes"]), bool(written["memberships"]))
        )
        counted = [rows, rows - clustered, clustered, noise, *files.values(), *sizes]
        if labels is not None:
            counted.append(labels.bytes)
        if min(counted) < 0 or max(counted) > MOST:
            raise ValueError("counts below zero, or beyond all that can be counted")
        for name in (stored["source"], beside.get("weight")):
            if not isinstance(name, str | int | None):
                raise TypeError(f"{name!r} is no name")
        said = {str(option): str(words) for option, words in stored.get("said", {}).items()}
        counts = clustered, sizes, noise
        return StreamPlace(rows, stored["source"], files, *counts, digests, stamps), labels, said
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"--resume: what {file} says of its stream cannot be read ({error!r}); it is damaged."
        ) from error
