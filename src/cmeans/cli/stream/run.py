"""`cmeans stream`: one run, from the request to the summary; labels out chunk by chunk, and a state to resume from."""

from __future__ import annotations

import os
import sys
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import StreamingFuzzyCMeans, __version__
from ...runtime.signals import held_back
from ...storage.atomic import write_text
from ...storage.overwriting import FileWord, refuse_overwriting
from ..errors import InputError, Stopped
from ..models import Preprocessing
from ..output.results import Stopwatch, as_json, caught_warnings, refuse_unwritable, staged_file
from ..output.terminal import Screen
from ..rows import ReadOptions, learn_scaling
from .batches import Batch, Chunks, ErrorBudget, RateLimiter
from .labels import STDOUT, LabelWriter, plain_file
from .sources import STDIN, ColumnPicker, Wanted, open_source, parquet_files
from .state import Learnt, SavedStream, refuse_no_state, refuse_other_words


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoint options: the file of the state, the chunks between two saves, and whether a saved state is resumed."""

    file: Path | None = None
    every: int = 10
    resume: bool = False


@dataclass(frozen=True)
class StreamRequest:
    """All options of one `cmeans stream`. `words` are the constructor parameters that were given."""

    source: Wanted
    reading: ReadOptions  # the selection of its columns
    words: dict[str, Any]
    scale: str | None = None
    out: Path = STDOUT
    memberships: bool = False
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    chunk_size: int = 5000
    max_wait: float | None = None
    max_errors: int = 100
    summary: Path | None = None

    @property
    def where(self) -> str:
        """Name of the source, for messages."""
        return "standard input" if self.source.path == STDIN else str(self.source.path)


def refuse_clashes(request: StreamRequest) -> None:
    """Refuse options that are invalid whatever the rows are."""
    checkpoint, clusters = request.checkpoints.file, request.words.get("n_clusters")
    if request.checkpoints.resume and checkpoint is None:
        raise InputError("--resume: needs --checkpoint FILE, the state to go on from.")
    if clusters is None and not request.checkpoints.resume:
        raise InputError("--clusters: say how many clusters there are, e.g. -c 3.")
    if clusters is not None and request.chunk_size < clusters:
        raise InputError(f"--chunk-size {request.chunk_size}: a chunk must hold at least --clusters {clusters} rows.")
    for option, file in (("--checkpoint", checkpoint), ("--summary", request.summary)):
        if file is not None and file.is_dir():
            raise InputError(f"{option} {file}: is a folder; give a file.")
        if file is not None:
            refuse_unwritable(option, file)
    _refuse_same(request)


def _refuse_same(request: StreamRequest) -> None:
    """Refuse an output that is the input or another output."""
    source, given = request.source.path, {"--checkpoint": request.checkpoints.file, "--summary": request.summary, "--out": request.out}
    outputs: dict[str, FileWord] = {f"{option} {file}": file for option, file in given.items() if file is not None and file != STDOUT}
    if request.out == STDOUT and (number := plain_file(sys.stdout)) is not None:
        outputs["standard output"] = number
    inputs: list[FileWord] = [source]
    if source == STDIN:
        number = plain_file(sys.stdin)
        inputs = [] if number is None else [number]
    elif source.is_dir():
        inputs = list(parquet_files(source))
        for option, file in given.items():
            if file is not None and file.suffix == ".parquet" and os.path.samefile(file.parent, source):
                raise InputError(f"{option} {file}: lies in {source}, whose .parquet files are read as rows; choose another name.")
    refuse_overwriting(outputs, inputs)


class StreamRun:
    """A run that updates the state of a stream."""

    def __init__(self, request: StreamRequest, screen: Screen, former: SavedStream) -> None:
        self._request, self._screen = request, screen
        self._learnt, self._tally = former.learnt, former.tally.in_source(str(request.source.path))
        self._picker = ColumnPicker(request.reading, None if former.learnt is None else former.learnt.recipe)
        self._chunks = Chunks(request.chunk_size, request.max_wait, 1 if former.learnt else int(request.words["n_clusters"]))
        self._forgiveness = ErrorBudget(request.max_errors, screen.warn)
        self.warned = RateLimiter(screen.warn, "further warnings are not shown.")
        self.labels = LabelWriter(
            request.out, request.memberships, former.written, request.checkpoints.file if request.checkpoints.resume else None
        )
        self._before = self._tally.clustered  # rows, by earlier runs
        self._rows_saved = self._tally.place.rows
        self._unsaved = 0  # chunks since the last checkpoint
        self._whole = True  # True where the labels of all rows in model and tally are written

    def to_the_end(self) -> SavedStream:
        """Read until the source ends. The state is saved at any end, unless the labels of some of its rows could not be written."""
        with self.labels:
            try:
                self._read()
                self._keep()
            except (KeyboardInterrupt, ValueError, BrokenPipeError) as end:
                with suppress(KeyboardInterrupt):  # it ends anyway
                    self._keep()
                if isinstance(end, KeyboardInterrupt):
                    raise Stopped(self._farewell()) from None
                raise
        if self._learnt is None:
            count = self._forgiveness.found.count
            skipped = f" but {count:,} malformed one{'' if count == 1 else 's'}" if count else ""
            raise InputError(f"{self._request.where}: no rows came{skipped}.")
        return SavedStream(self._learnt, self._tally, self.labels.written)

    def _read(self) -> None:
        self._screen.say(f"reading {self._request.where}")
        with (
            open_source(self._request.source, self._tally.place, self._screen.warn) as source,
            closing(source.batches(self._picker, self._chunks.patience)) as batches,
            self._screen.counting() as tell,
        ):
            for chunk in self._chunks.of(self._forgiveness.watch(batches)):
                self._take(chunk)
                tell(self._tally.clustered, len(self._tally.sizes))

    def _take(self, chunk: Batch) -> None:
        if not len(chunk):  # the last, with malformed rows alone
            self._tally = self._tally.after(chunk)
            return
        with held_back():
            labels, u = self._learn(chunk)
            if self.labels.to_file:
                self._whole = False
                self.labels.write(chunk.rows, labels, u)
                self._whole = True
        if not self.labels.to_file:  # stdout may block until it is read, and must not delay signals
            self.labels.write(chunk.rows, labels, u)
        if self._unsaved >= self._request.checkpoints.every:
            with held_back():
                self._save()

    def _learn(self, chunk: Batch) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Update the model with a chunk, and return its labels and memberships."""
        learnt = self._learnt or self._begun(chunk)
        model, x = learnt.model, learnt.recipe.scaling.apply(chunk.x)
        if chunk.weight is None or chunk.weight.any() or self._learnt is None:
            with caught_warnings(self.warned.note):
                model.partial_fit(x, sample_weight=chunk.weight)
            labels, u = np.asarray(model.labels_), np.asarray(model.memberships_)
        else:  # rows of zero weight get labels, but do not change the model
            labels, u = np.asarray(model.predict(x)), np.asarray(model.memberships(x))
        self._learnt, self._tally, self._unsaved = learnt, self._tally.after(chunk, labels, u.shape[1]), self._unsaved + 1
        return labels, u if self._request.memberships else None

    def _begun(self, chunk: Batch) -> Learnt:
        """Return a new model, and the scaling of the first chunk."""
        clusters, choice = int(self._request.words["n_clusters"]), self._picker.choice
        assert choice is not None, "rows come after their columns"
        if len(chunk) < clusters:
            came = f"{len(chunk):,} row{'' if len(chunk) == 1 else 's'} came"
            raise InputError(f"{self._request.where}: {came}, too few for --clusters {clusters}.")
        scaling = learn_scaling(self._request.scale or "none", chunk.x, chunk.weight)
        recipe = Preprocessing(choice.columns, scaling, choice.dtype.name)
        self._screen.say(f"looking for {clusters:,} clusters in {len(choice.columns):,} columns of {recipe.dtype}")
        return Learnt(StreamingFuzzyCMeans().set_params(**self._request.words), recipe, self._request.reading.weight)

    def _keep(self) -> None:
        """Complete the labels, and save the state for a later run."""
        with held_back():
            if self._whole:
                self.labels.finish()
                self._save()

    def _save(self) -> None:
        file = self._request.checkpoints.file
        if file is not None and self._learnt is not None and self._tally.place.rows > self._rows_saved:
            self.labels.settle()  # the state must not record labels that a power cut may remove
            SavedStream(self._learnt, self._tally, self.labels.written).save(file)
            self._rows_saved, self._unsaved = self._tally.place.rows, 0

    def _farewell(self) -> str:
        file, waiting = self._request.checkpoints.file, self._before + self._chunks.n_rows - self._tally.clustered
        account = f"interrupted; {self._tally.clustered:,} rows were clustered, {waiting:,} more read but not yet clustered"
        if self._learnt is None:
            return f"{account}; there is no state yet."
        return f"{account}; {'without --checkpoint their state is gone' if file is None else f'their state is in {file}'}."


def stream(request: StreamRequest, screen: Screen) -> dict[str, Any] | None:
    """Read to the end of the source and return the summary; None where the labels go to stdout."""
    refuse_clashes(request)
    former = _former(request, screen)
    if former.learnt is not None:
        request = replace(request, reading=replace(request.reading, weight=request.reading.weight or former.learnt.weight))
    run, watch = StreamRun(request, screen, former), Stopwatch()
    with watch.part("stream"):
        state = run.to_the_end()
    summary = _summary(request, state) | {"seconds": watch.seconds, "warnings": run.warned.texts, "outputs": _outputs(request)}
    skipped = f", {state.tally.malformed:,} malformed skipped" if state.tally.malformed else ""
    screen.say(f"{state.tally.clustered:,} rows clustered{skipped}")
    if request.summary is not None:
        with staged_file(request.summary, "--summary") as place:
            write_text(place, as_json(summary) + "\n")
    return summary if run.labels.to_file else None


def _former(request: StreamRequest, screen: Screen) -> SavedStream:
    """Return the saved state to resume, or an empty one."""
    file = request.checkpoints.file
    if file is None or not request.checkpoints.resume:
        if file is not None and file.exists():
            refuse_no_state(file)
            screen.say(f"the stream begins anew, and its state replaces {file}; --resume would have gone on from there")
        return SavedStream()
    former = SavedStream.load(file)
    assert former.learnt is not None
    refuse_other_words(file, former.learnt.model, request.words)
    recipe = former.learnt.recipe
    for option, said, was in (("--scale", request.scale, recipe.scaling.kind), ("--dtype", request.reading.dtype, recipe.dtype)):
        if None not in (said, was) and said != was:
            raise InputError(f"{option} {said}: {file} was begun with {was}; leave the option out to go on with that.")
    former.learnt.model.set_params(**request.words)
    place, source = former.tally.place, request.source.path
    screen.say(f"going on after {place.rows:,} rows")
    if source != STDIN and place.source not in (None, str(source)):
        screen.say(f"they came from {place.source}; {source} is read from its beginning")
    return former


def _summary(request: StreamRequest, state: SavedStream) -> dict[str, Any]:
    """Return the summary of a stream from its first row on, over all runs."""
    assert state.learnt is not None
    model, recipe, tally = state.learnt.model, state.learnt.recipe, state.tally
    return {
        "command": "stream",
        "version": __version__,
        "source": request.where,
        "resumed": request.checkpoints.resume,
        "rows": tally.place.rows,
        "rows_clustered": tally.clustered,
        "rows_malformed": tally.malformed,
        "files": tally.place.files,
        "columns": len(recipe.columns),
        "dtype": recipe.dtype,
        "scale": recipe.scaling.kind,
        "weight": state.learnt.weight,
        "method": model.method,
        "rule": model.rule,
        "n_clusters": model.n_clusters_,
        "m": model.m_,
        "decay": model.decay,
        "kernel": model.kernel,
        "gamma": model.gamma_,
        "n_landmarks": model.n_landmarks_,
        "seed": model.random_state,
        "chunks": model.n_chunks_,
        "projection_loss": model.projection_loss_,
        "converged": model.converged_,
        "sizes": tally.sizes,
        "noise": tally.noise,
    }


def _outputs(request: StreamRequest) -> dict[str, str]:
    files = {"labels": request.out, "model": request.checkpoints.file, "summary": request.summary}
    return {name: str(file) for name, file in files.items() if file is not None}
