"""State saved between runs: the model, the preparation of its rows, and the position in the stream and its labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import StreamingFuzzyCMeans, load
from ...data.row_source import ColumnLabel
from ...fitting.named_parameters import OBJECTS
from ...persistence.model_file import KEY, packed
from ...storage.codec import DIGEST, read_packed, text_in, write_packed
from ..errors import InputError
from ..models import Preprocessing, open_model, read_recipe
from ..option_values import option_of
from ..output.results import plain
from .batches import Batch, Offset
from .labels import Written

METHOD = "stream"  # the method in the metadata of a state, and their key for the stream
FREE = {"chunk_size", "max_iter", "tol", "memory_budget", "n_jobs"}  # parameters that may change from run to run


NO_LABELS: NDArray[Any] = np.empty(0, np.intp)


@dataclass(frozen=True)
class StreamCounts:
    """Counts of the rows so far."""

    place: Offset = field(default_factory=Offset)
    clustered: int = 0
    malformed: int = 0
    sizes: tuple[int, ...] = ()  # rows assigned to each cluster on arrival
    noise: int = 0  # rows that were in none

    def in_source(self, source: str) -> StreamCounts:
        """Return the same counts, before the next row of a source."""
        return replace(self, place=self.place.of(source))

    def after(self, chunk: Batch, labels: NDArray[Any] = NO_LABELS, n_clusters: int = 0) -> StreamCounts:
        """Return the counts after a chunk whose sound rows have these labels."""
        came = np.bincount(labels[labels >= 0], minlength=max(n_clusters, len(self.sizes)))
        came[: len(self.sizes)] += np.array(self.sizes, came.dtype)
        return StreamCounts(
            self.place.after(chunk),
            self.clustered + len(chunk),
            self.malformed + len(chunk.faults),
            tuple(came.tolist()),
            self.noise + int(np.count_nonzero(labels < 0)),
        )


@dataclass(frozen=True)
class Learnt:
    """A model, and the preparation of its rows."""

    model: StreamingFuzzyCMeans
    recipe: Preprocessing
    weight: ColumnLabel | None = None


@dataclass(frozen=True)
class SavedStream:
    """The state of a stream between two chunks."""

    learnt: Learnt | None = None
    tally: StreamCounts = field(default_factory=StreamCounts)
    written: Written | None = None

    def save(self, file: Path) -> None:
        """Save as a model file, which `cmeans predict` and `cmeans info` can read too."""
        assert self.learnt is not None
        recipe = self.learnt.recipe
        metadata = {
            "method": METHOD,
            "columns": recipe.columns,
            "weight": self.learnt.weight,
            "scaling": recipe.scaling.to_json(),
            "dtype": recipe.dtype,
            METHOD: {**asdict(self.tally), "written": None if self.written is None else asdict(self.written)},
        }
        write_packed(file, KEY, *packed(self.learnt.model, rows=False, metadata=plain(metadata)))

    @classmethod
    def load(cls, file: Path) -> SavedStream:
        """Return the state in a model file. The file is not trusted, so its contents are checked."""
        if not file.exists():
            raise InputError(f"--resume: there is no {file}; without --resume the stream begins anew.")
        try:
            stored = open_model(file)
            beside = stored.get("metadata") or {}
            tally, written = _tally_in(file, beside)
            if METHOD in (beside.get("method"), *beside):
                _refuse_changed(file)
            if stored["estimator"] != StreamingFuzzyCMeans.__name__ or "steps" in stored:
                held = "a pipeline" if "steps" in stored else stored["estimator"]
                raise InputError(f"--resume: {file} holds {held}, which no stream can go on with.")
            model = load(file)
            return cls(Learnt(model, read_recipe(stored, model), beside.get("weight")), tally, written)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"--resume: {file} is damaged, or no state of a stream: {error}") from error


def refuse_no_state(file: Path) -> None:
    """Refuse to overwrite a file that is not the state of a stream."""
    try:
        metadata = json.loads(text_in(file, KEY) or "{}")["metadata"]
        is_state = metadata["method"] == METHOD and METHOD in metadata
    except (ValueError, LookupError, TypeError, RecursionError):
        is_state = False
    if not is_state:
        raise InputError(f"--checkpoint {file}: is no state of a stream, and is not written over; give another name, or remove it first.")


def _tally_in(file: Path, beside: Mapping[str, Any]) -> tuple[StreamCounts, Written | None]:
    try:
        return _read_tally(beside.get(METHOD) or {})
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"--resume: what {file} says of its stream cannot be read ({error!r}); it is damaged.") from error


def _refuse_changed(file: Path) -> None:
    """Raise ValueError where a state differs in any bit from what was written."""
    if DIGEST not in read_packed(file, KEY)[0]:
        raise ValueError("it holds something else than was written.")


def refuse_other_words(file: Path, model: StreamingFuzzyCMeans, words: Mapping[str, Any]) -> None:
    """Refuse parameters other than those the stream was begun with."""
    began = model.get_params(deep=False)
    for word, value in words.items():
        name, _, field = word.partition("__")
        former = getattr(OBJECTS[name](began[name], ""), field) if field else began[name]
        if word not in FREE and value != former:
            raise InputError(f"{option_of(word)} {value}: {file} was begun with {former}; leave the option out to go on with that.")


def _read_tally(stored: Mapping[str, Any]) -> tuple[StreamCounts, Written | None]:
    if not stored:
        return StreamCounts(), None  # a model saved from Python
    place, written = stored["place"], stored["written"]
    files = {str(name): int(row) for name, row in place["files"].items()}
    numbers = (int(stored["clustered"]), int(stored["malformed"]), tuple(int(size) for size in stored["sizes"]))
    so_far = Offset(int(place["rows"]), place["source"], files, place.get("tail"))
    labels = None if written is None else Written(str(written["name"]), int(written["bytes"]), bool(written["memberships"]))
    noise = int(stored.get("noise", 0))
    if min(so_far.rows, *files.values(), *numbers[:2], *numbers[2], noise, 0 if labels is None else labels.bytes) < 0:
        raise ValueError("counts below zero")
    return StreamCounts(so_far, *numbers, noise), labels
