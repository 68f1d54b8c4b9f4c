"""`cmeans stream`: one run, from the request to the summary; labels out chunk by chunk, and a state
to resume from."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import StreamingFuzzyCMeans, __version__
from ...data.files.schema import ColumnChoice
from ...data.recipe.scaling import learn_scaling
from ...data.recipe.table_recipe import TableRecipe
from ...runtime.signals import held_back
from ...runtime.user_warnings import UnfitRowError
from ...storage.atomic import write_text
from ...storage.overwriting import FileWord, refuse_overwriting
from ..errors import InputError, Stopped
from ..option_values import as_option, name_of
from ..output.results import (
    Stopwatch,
    as_json,
    caught_warnings,
    files_kept,
    refuse_unwritable,
    staged_file,
)
from ..output.terminal import Screen
from ..rows import ReadOptions
from .batches import Batch, Faults, FirstOnes, chunks, with_few_faults
from .labels import STDOUT, LabelWriter, plain_file
from .sources import STDIN, Source, parquet_files
from .state import SavedStream, StreamPlace, refuse_no_state, refuse_other_words


@dataclass(frozen=True)
class StreamRequest:
    """All options of one `cmeans stream`. `words` are the constructor parameters that were
    given."""

    reading: ReadOptions  # the source, and the selection of its columns
    words: dict[str, Any]
    scale: str | None = None
    follow: bool = False
    wait: float | None = None
    out: Path = STDOUT
    memberships: bool = False
    summary: Path | None = None
    chunk_size: int = 5000
    max_errors: int = 100
    checkpoint: Path | None = None
    checkpoint_every: int = 10
    resume: bool = False


def refuse_clashes(request: StreamRequest, source: Path) -> None:
    """Refuse options that are invalid whatever the rows are, and an output that is the input or
    another output."""
    clusters = request.words.get("n_clusters")
    if request.resume and request.checkpoint is None:
        raise InputError("--resume: needs --checkpoint FILE, the state to go on from.")
    if clusters is None and not request.resume:
        raise InputError("--clusters: say how many clusters there are, e.g. -c 3.")
    if clusters is not None and request.chunk_size < clusters:
        raise InputError(
            f"--chunk-size {request.chunk_size}: a chunk must hold at least --clusters {clusters} "
            "rows."
        )
    outputs: dict[str, FileWord] = {}
    for word, kept in (("--checkpoint", request.checkpoint), ("--summary", request.summary)):
        if kept is not None:
            if kept.is_dir():
                raise InputError(f"{word} {kept}: is a folder; give a file.")
            refuse_unwritable(word, kept)
            outputs[f"{word} {kept}"] = kept
    if request.out != STDOUT:
        outputs[f"--out {request.out}"] = request.out
    elif (number := plain_file(sys.stdout)) is not None:
        outputs["standard output"] = number
    inputs: list[FileWord | None] = [source]
    if source == STDIN:
        inputs = [plain_file(sys.stdin)]
    elif source.is_dir():
        inputs = [*parquet_files(source)]
        for option, file in outputs.items():
            if (
                isinstance(file, Path)
                and file.suffix == ".parquet"
                and file.parent.resolve() == source.resolve()
            ):
                raise InputError(
                    f"{option}: lies in {source}, whose .parquet files are read as rows; choose "
                    "another name."
                )
    refuse_overwriting(outputs, [file for file in inputs if file is not None])


class StreamRun:
    """A run that updates the state of a stream."""

    def __init__(self, request: StreamRequest, screen: Screen, former: SavedStream | None) -> None:
        self._request, self._screen, self._stream = request, screen, former
        begun = StreamPlace() if former is None else former.place
        source = str(request.reading.file)
        self._place = begun if source == begun.source else begun.in_another(source)
        reading, recipe = request.reading, None
        if former is not None:
            reading, recipe = (
                replace(reading, weight=reading.weight or former.weight),
                former.recipe,
            )
        follow = request.follow, request.wait
        self._source = Source(reading, recipe, self._place, screen.warn, *follow)
        self.warned = FirstOnes(screen.warn, "further warnings are not shown.")
        self._faults = Faults(screen.warn, request.max_errors)
        continued = None if former is None else (request.checkpoint, former.written)
        self.labels = LabelWriter(request.out, request.memberships, continued)
        self._rows_saved, self._clustered_before = begun.rows, begun.clustered
        self._unsaved = 0  # chunks since the last checkpoint
        self._whole = True  # True where the labels of all rows in model and place are written

    def to_the_end(self) -> SavedStream:
        """Read until the source ends. The state is saved at any end, unless the labels of some of
        its rows could not be written."""
        with self.labels:
            try:
                self._read()
                self._keep()
            except (KeyboardInterrupt, ValueError, BrokenPipeError) as end:
                with suppress(KeyboardInterrupt):  # it ends anyway
                    self._keep()
                if isinstance(end, KeyboardInterrupt):
                    raise Stopped(self._account()) from None
                raise
        if self._stream is None:
            count = self._faults.count
            skipped = f" but {count:,} malformed one{'' if count == 1 else 's'}" if count else ""
            raise InputError(f"{self._source.where}: no rows came{skipped}.")
        return replace(self._stream, place=self._place)

    def _read(self) -> None:
        request, least = (
            self._request,
            1 if self._stream else int(self._request.words["n_clusters"]),
        )
        self._screen.say(f"reading {self._source.where}")
        with closing(self._source.batches()) as batches, self._screen.counting() as tell:
            sound = with_few_faults(batches, self._faults)
            for chunk in chunks(sound, request.chunk_size, request.wait, least):
                self._take(chunk)
                tell(self._place.clustered, len(self._place.sizes))

    def _take(self, chunk: Batch) -> None:
        if not len(chunk):  # the last, with malformed rows alone
            self._place = self._place.after(chunk, self._source.files, self._source.stamps)
            return
        with held_back():
            chunk, labels, u = self._learn(chunk)
            if self.labels.to_file:
                self._whole = False
                self.labels.write(chunk.rows, labels, u)
                self._whole = True
        if not self.labels.to_file:  # stdout may block until it is read, and must not delay signals
            self.labels.write(chunk.rows, labels, u)
        if self._unsaved >= self._request.checkpoint_every:
            with held_back():
                self._save()

    def _learn(self, chunk: Batch) -> tuple[Batch, NDArray[Any], NDArray[Any] | None]:
        """Update the model with a chunk; return its rows, but for those that no model with this
        kernel can take, and their labels and memberships."""
        choice = self._source.choice
        assert choice is not None, "rows come after their columns"
        if self._stream is None:
            self._screen.say(
                f"looking for {self._request.words['n_clusters']:,} clusters in "
                f"{len(choice.columns):,} columns of {choice.dtype.name}"
            )
        came, files = chunk, (self._source.files, self._source.stamps)
        while True:
            stream = self._stream or self._begun(chunk, choice)
            try:
                labels, u = self._labelled(stream, chunk)
                break
            except UnfitRowError as error:
                value, label = chunk.x[error.row, error.column], choice.columns[error.column]
                self._faults.note(
                    f"row {chunk.rows[error.row]} (counted from 0): column {label!r} has "
                    f"{value:.5g}, too much for the kernel; scale the data, or take another kernel"
                )
                chunk = chunk.without(error.row)
        self._stream, self._unsaved = stream, self._unsaved + 1
        self._place = self._place.after(came, *files, labels, u.shape[1])
        return chunk, labels, u if self._request.memberships else None

    def _labelled(self, stream: SavedStream, chunk: Batch) -> tuple[NDArray[Any], NDArray[Any]]:
        """Update a model with a chunk, and return its labels and memberships."""
        # of a copy: the rows are looked at again as they came
        model, x = stream.model, stream.recipe.scaling.apply(chunk.x.copy())
        if chunk.weight is None or chunk.weight.any() or self._stream is None:
            with caught_warnings(self.warned.note):
                model.partial_fit(x, sample_weight=chunk.weight)
            return np.asarray(model.labels_), np.asarray(model.memberships_)
        # rows of zero weight get labels, but do not change the model
        return np.asarray(model.predict(x)), np.asarray(model.memberships(x))

    def _begun(self, chunk: Batch, choice: ColumnChoice) -> SavedStream:
        """Return a new model, and the scaling of the first chunk."""
        words = self._request.words
        if len(chunk) < words["n_clusters"]:
            came = f"{len(chunk):,} row{'' if len(chunk) == 1 else 's'} came"
            raise InputError(
                f"{self._source.where}: {came}, too few for --clusters {words['n_clusters']}."
            )
        scaling = learn_scaling(
            self._request.scale or "none", chunk.x, chunk.weight, spell=as_option
        )
        recipe = TableRecipe(choice.columns, scaling, choice.dtype.name)
        return SavedStream(
            StreamingFuzzyCMeans().set_params(**words), recipe, self._request.reading.weight
        )

    def _keep(self) -> None:
        """Complete the labels, and save the state for a later run."""
        with held_back():
            if self._whole:
                self.labels.finish()
                self._save()

    def _save(self) -> None:
        file = self._request.checkpoint
        if file is not None and self._stream is not None and self._place.rows > self._rows_saved:
            self.labels.settle()  # the state must not record labels that a power cut may remove
            replace(self._stream, place=self._place, written=self.labels.written).save(file)
            self._rows_saved, self._unsaved = self._place.rows, 0

    def _account(self) -> str:
        """Say what an interrupt leaves."""
        file, waiting = (
            self._request.checkpoint,
            self._clustered_before + self._source.n_rows - self._place.clustered,
        )
        account = (
            f"interrupted; {self._place.clustered:,} rows were clustered, {waiting:,} more "
            "read but not yet clustered"
        )
        if self._stream is None:
            return f"{account}; there is no state yet."
        gone = "without --checkpoint their state is gone"
        return f"{account}; {gone if file is None else f'their state is in {file}'}."


def stream(request: StreamRequest, screen: Screen) -> dict[str, Any] | None:
    """Read to the end of the source and return the summary; None where the labels go to stdout."""
    refuse_clashes(request, Path(str(request.reading.file)))
    out, watch = None if request.out == STDOUT else request.out, Stopwatch()
    with files_kept({"--out": out, "--checkpoint": request.checkpoint}):
        run = StreamRun(request, screen, _former(request, screen))
        with watch.part("stream"):
            state = run.to_the_end()
    outputs = {"labels": request.out, "model": request.checkpoint, "summary": request.summary}
    written = {name: str(file) for name, file in outputs.items() if file is not None}
    summary = _summary(request, state) | {
        "seconds": watch.seconds,
        "warnings": run.warned.texts,
        "outputs": written,
    }
    skipped = (
        f", {summary['rows_malformed']:,} malformed skipped" if summary["rows_malformed"] else ""
    )
    screen.say(f"{state.place.clustered:,} rows clustered{skipped}")
    if request.summary is not None:
        with staged_file(request.summary, "--summary") as place:
            write_text(place, as_json(summary) + "\n")
    return summary if run.labels.to_file else None


def _former(request: StreamRequest, screen: Screen) -> SavedStream | None:
    """Return the saved state to resume, if any."""
    file, source = request.checkpoint, str(request.reading.file)
    if file is None or not request.resume:
        if file is not None and file.exists():
            refuse_no_state(file)
            screen.say(
                f"the stream begins anew, and its state replaces {file}; --resume would have gone "
                "on from there"
            )
        return None
    former = SavedStream.load(file)
    began = former.model.get_params(deep=False) | {
        "scale": former.recipe.scaling.kind,
        "dtype": former.recipe.dtype,
    }
    refuse_other_words(
        file, began, request.words | {"scale": request.scale, "dtype": request.reading.dtype}
    )
    former.model.set_params(**request.words)
    screen.say(f"going on after {former.place.rows:,} rows")
    if source != str(STDIN) and former.place.source not in (None, source):
        screen.say(f"they came from {former.place.source}; {source} is read from its beginning")
    return former


_OF_MODEL = (
    "rule",
    "n_clusters_",
    "m_",
    "decay",
    "kernel",
    "gamma_",
    "n_landmarks_",
    "projection_loss_",
    "converged_",
)


def _summary(request: StreamRequest, state: SavedStream) -> dict[str, Any]:
    """Return the summary of a stream from its first row on, over all runs."""
    recipe, place, source = state.recipe, state.place, str(request.reading.file)
    covariance = state.model.covariance
    return {
        "command": "stream",
        "version": __version__,
        "source": "standard input" if source == str(STDIN) else source,
        "resumed": request.resume,
        "rows": place.rows,
        "rows_clustered": place.clustered,
        "rows_malformed": place.rows - place.clustered,
        "files": place.files,
        "columns": len(recipe.columns),
        "dtype": recipe.dtype,
        "scale": recipe.scaling.kind,
        "weight": state.weight,
        **{name.rstrip("_"): getattr(state.model, name) for name in _OF_MODEL},
        "rule": name_of(state.model.rule),
        "kernel": name_of(state.model.kernel),
        "covariance": getattr(covariance, "shape", covariance),
        "seed": state.model.random_state,
        "chunks": state.model.n_chunks_,
        "sizes": place.sizes,
        "noise": place.noise,
    }
