"""What outlives a run: the model, how its rows are made ready, and how far the stream was read and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import StreamingFuzzyCMeans, load
from ...model_file import save
from ..errors import InputError
from ..outputs import staged_file
from ..predicting import Recipe, open_model, read_recipe
from ..summaries import plain
from ..words import option_of
from .batches import Batch
from .labels import Written
from .places import Place

FREE = {"chunk_size", "max_iter", "tol", "memory_budget", "n_jobs"}  # words that may change from run to run


@dataclass(frozen=True)
class Tally:
    """What came of the rows so far."""

    place: Place = field(default_factory=Place)
    clustered: int = 0
    malformed: int = 0
    sizes: tuple[int, ...] = ()  # rows that went to each cluster when they came

    def in_source(self, source: str) -> Tally:
        """The same, before the next row of a source."""
        return replace(self, place=self.place.of(source))

    def after(self, chunk: Batch, labels: Sequence[int] | NDArray[Any] = (), n_clusters: int = 0) -> Tally:
        """With a chunk whose sound rows have been given these labels."""
        came = np.bincount(labels, minlength=max(n_clusters, len(self.sizes))) if len(chunk) else np.zeros(len(self.sizes), int)
        came[: len(self.sizes)] += np.array(self.sizes, came.dtype)
        return Tally(
            replace(self.place, rows=chunk.stop, files={**self.place.files, **dict(chunk.begins)}),
            self.clustered + len(chunk),
            self.malformed + len(chunk.faults),
            tuple(came.tolist()),
        )


@dataclass(frozen=True)
class Learnt:
    """A model, and how rows are made ready for it."""

    model: StreamingFuzzyCMeans
    recipe: Recipe
    weight: str | None = None


@dataclass(frozen=True)
class State:
    """A stream between two chunks."""

    learnt: Learnt | None = None
    tally: Tally = field(default_factory=Tally)
    written: Written | None = None

    def save(self, file: Path) -> None:
        """As a model file: `cmeans predict` and `cmeans info` know it too."""
        assert self.learnt is not None
        recipe = self.learnt.recipe
        metadata = {
            "method": "stream",
            "columns": recipe.columns,
            "weight": self.learnt.weight,
            "scaling": recipe.scaling.to_json(),
            "dtype": recipe.dtype,
            "stream": {**asdict(self.tally), "written": None if self.written is None else asdict(self.written)},
        }
        with staged_file(file, "--checkpoint") as place:
            save(self.learnt.model, place, rows=False, metadata=plain(metadata))

    @classmethod
    def load(cls, file: Path) -> State:
        """The state in a model file. It may come from anywhere, so what it says is checked."""
        if not file.exists():
            raise InputError(f"--resume: there is no {file}; without --resume the stream begins anew.")
        stored = open_model(file)
        if stored["estimator"] != StreamingFuzzyCMeans.__name__:
            raise InputError(f"--resume: {file} holds {stored['estimator']}, which no stream can go on with.")
        model, beside = load(file), stored.get("metadata") or {}
        try:
            tally, written = _read_tally(beside.get("stream") or {})
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InputError(f"--resume: what {file} says of its stream cannot be read ({error!r}).") from error
        return cls(Learnt(model, read_recipe(stored, model), beside.get("weight")), tally, written)


def refuse_other_words(file: Path, model: StreamingFuzzyCMeans, words: Mapping[str, Any]) -> None:
    """A stream goes on with the words it was begun with."""
    began = model.get_params(deep=False)
    for word, value in words.items():
        if word not in FREE and value != began[word]:
            raise InputError(f"{option_of(word)} {value}: {file} was begun with {began[word]}; leave the option out to go on with that.")


def _read_tally(stored: Mapping[str, Any]) -> tuple[Tally, Written | None]:
    if not stored:
        return Tally(), None  # a model from Python
    place, written = stored["place"], stored["written"]
    files = {str(name): int(row) for name, row in place["files"].items()}
    numbers = (int(stored["clustered"]), int(stored["malformed"]), tuple(int(size) for size in stored["sizes"]))
    return Tally(Place(int(place["rows"]), place["source"], files), *numbers), None if written is None else Written(**written)
