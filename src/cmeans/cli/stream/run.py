"""`cmeans stream`: one run, from the request to the summary; labels out chunk by chunk, and a state
to resume from."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ... import StreamingGaussianMixture
from ...data.arrow_library import pa
from ...data.files.schema import ColumnChoice
from ...data.recipe.front import in_units
from ...runtime.checks import integer
from ...runtime.numerals import in_digits, several
from ...runtime.signals import held_back
from ...runtime.user_warnings import UnfitRowError
from ...storage.atomic import write_text
from ..config import KEY
from ..errors import InputError, Stopped
from ..option_names import as_option
from ..output.results import Stopwatch, as_json, caught_warnings, files_kept, staged_file
from ..output.terminal import Screen
from .answers import Answers, begun_model, learnt
from .batches import Batch, Faults, FirstOnes, chunks, with_few_faults
from .events import EventLog
from .labels import STDOUT, LabelWriter, plain_file
from .pace import PaceLines
from .request import CHUNK, StreamRequest, refuse_clashes, refuse_of_kind
from .sources import STDIN, Source, the_file
from .state import (
    SavedStream,
    StreamPlace,
    column_words,
    refuse_no_state,
    refuse_other_columns,
    refuse_other_words,
)
from .summary import summary_of

IN_PIPES = 0.5  # seconds that a row waits for others there, unless the user says how many


def _is_pipe(source: Path) -> bool:
    """Return True where rows come as somebody writes them."""
    if source == STDIN:
        return sys.stdin is not None and plain_file(sys.stdin) is None
    return source.is_fifo()


class StreamRun:
    """A run that updates the state of a stream."""

    def __init__(self, request: StreamRequest, screen: Screen, former: SavedStream | None) -> None:
        self._request, self._screen, self._stream = request, screen, former
        self._chunk_size = request.chunk_size or _chunk_size(former)
        begun = StreamPlace() if former is None else former.place
        source = str(request.reading.file)
        self._place = begun if source == begun.source else begun.in_another(source)
        reading, recipe = request.reading, None
        if former is not None:
            reading = replace(reading, weight=reading.weight or former.weight)
            recipe = former.recipe
        self.warned = FirstOnes(screen.warn, "further warnings are not shown.")
        self._wait = request.wait or (IN_PIPES if _is_pipe(the_file(request.reading)) else None)
        self._source = Source(
            reading,
            recipe,
            self._place,
            self.warned.note,
            request.follow,
            self._wait,
            request.beside,
            request.table,
            self._chunk_size,
        )
        self._events = EventLog(request.events, None if former is None else former.model)
        self._metrics = PaceLines(screen.say, request.metrics)
        self.alerts = 0
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
                with caught_warnings(self.warned.note):
                    self._source.unseen.tell()
                self._keep()
            except (KeyboardInterrupt, ValueError, BrokenPipeError) as end:
                with suppress(KeyboardInterrupt):  # it ends anyway
                    self._keep()
                if isinstance(end, KeyboardInterrupt):
                    raise Stopped(self._account()) from None
                raise
        if self._stream is None:
            count = self._faults.count
            skipped = f" but {several(count, 'malformed one')}" if count else ""
            raise InputError(f"{self._source.where}: no rows came{skipped}.")
        return replace(self._stream, place=self._place)

    def _read(self) -> None:
        least = 1 if self._stream else int(self._request.words.get("n_clusters") or 1)
        self._screen.say(f"reading {self._source.where}")
        with closing(self._source.batches()) as batches, self._screen.counting() as tell:
            sound = with_few_faults(batches, self._faults)
            for chunk in chunks(sound, self._chunk_size, self._wait, least):
                self._take(chunk)
                tell(self._place.clustered, len(self._place.sizes))

    def _take(self, chunk: Batch) -> None:
        if not len(chunk):  # the last, with malformed rows alone
            self._place = self._place.after(chunk, self._source.files, self._source.stamps)
            return
        with held_back():
            chunk, found = self._learn(chunk)
            if self.labels.to_file:
                self._whole = False
                self._write(chunk, found)
                self._whole = True
        if not self.labels.to_file:  # stdout may block until it is read, and must not delay signals
            self._write(chunk, found)
        self._account_for(chunk, found)
        if self._unsaved >= self._request.checkpoint_every:
            with held_back():
                self._save()

    def _write(self, chunk: Batch, found: Answers) -> None:
        """Write the labels of a chunk, and what goes with them."""
        request, last = self._request, dict[str, Any]()
        if found.score is not None and request.outlier_score:
            last["outlier_score"] = np.asarray(found.score, np.float64)
        if found.score is not None and request.alert is not None:
            last["alert"] = (found.score >= request.alert).astype(np.int8)
        first = {
            name: pa.array(column.tolist(), pa.string())
            for name, column in zip(request.beside, chunk.beside, strict=True)
        }
        u = found.memberships if request.memberships else None
        self.labels.write(chunk.rows, found.labels, u, first, last)

    def _account_for(self, chunk: Batch, found: Answers) -> None:
        """Tell of the events and alerts of a chunk."""
        assert self._stream is not None
        model, alerts = self._stream.model, 0
        if found.score is not None and self._request.alert is not None:
            alerts = int(np.count_nonzero(found.score >= self._request.alert))
        self.alerts += alerts
        for text in self._events.note(model):
            self._screen.say(text)
        self._metrics.note(len(chunk), alerts, chunk.since, int(model.n_clusters_))

    def _learn(self, chunk: Batch) -> tuple[Batch, Answers]:
        """Update the model with a chunk; return its rows, but for those that no model with this
        kernel can take, and what the model says of them."""
        choice = self._source.choice
        assert choice is not None, "rows come after their columns"
        if self._stream is None:
            wanted = self._request.words.get("n_clusters")
            number = "clusters that come and go" if wanted is None else several(wanted, "cluster")
            self._screen.say(
                f"looking for {number} in {len(choice.columns):,} columns of {choice.dtype.name}"
            )
        came, files = chunk, (self._source.files, self._source.stamps)
        while True:
            stream = self._stream or self._begun(chunk, choice)
            try:
                found = self._labelled(stream, chunk)
                break
            except UnfitRowError as error:
                value, label = chunk.x[error.row, error.column], choice.columns[error.column]
                self._faults.note(
                    f"row {chunk.rows[error.row]} (counted from 0): column {label!r} has "
                    f"{in_digits(value, 5)}, too much for the kernel; scale the data, or take "
                    "another kernel"
                )
                chunk = chunk.without(error.row)
        self._stream, self._unsaved = stream, self._unsaved + 1
        self._place = self._place.after(came, *files, found.labels, found.n_clusters)
        return chunk, found

    def _labelled(self, stream: SavedStream, chunk: Batch) -> Answers:
        """Update a model with a chunk, and return what it says of it."""
        # of a copy: the rows are looked at again as they came
        model, x = stream.model, stream.recipe.scaling.apply(chunk.x.copy())
        weightless = chunk.weight is not None and not chunk.weight.any()
        scored = self._request.outlier_score or self._request.alert is not None
        with caught_warnings(self.warned.note):
            return learnt(
                model, x, chunk, scored=scored, only_told=weightless and self._stream is not None
            )

    def _begun(self, chunk: Batch, choice: ColumnChoice) -> SavedStream:
        """Return a new model, and the scaling of the first chunk."""
        words = self._request.words
        if len(chunk) < (words.get("n_clusters") or 1):
            came = f"{several(len(chunk), 'row')} came"
            raise InputError(
                f"{self._source.where}: {came}, too few for --clusters {words['n_clusters']}."
            )
        learnt, scale, table = self._source.recipe, self._request.scale, self._request.table
        assert learnt is not None, "it is learnt from the first rows"
        recipe = in_units(
            learnt, chunk.x, choice.columns, chunk.weight, scale or "none", table, as_option
        )
        model, weight = begun_model(words), self._request.reading.weight
        return SavedStream(model, recipe, weight, said=column_words(table))

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
        file = self._request.checkpoint
        waiting = self._clustered_before + self._source.n_rows - self._place.clustered
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
    refuse_clashes(request, the_file(request.reading))
    out, watch = None if request.out == STDOUT else request.out, Stopwatch()
    with files_kept({"--out": out, "--checkpoint": request.checkpoint}):
        run = StreamRun(request, screen, _former(request, screen))
        with watch.part("stream"):
            state = run.to_the_end()
    outputs = {"labels": request.out, "model": request.checkpoint, "summary": request.summary}
    written = {name: str(file) for name, file in outputs.items() if file is not None}
    summary = summary_of(request, state) | ({"alerts": run.alerts} if request.alert else {})
    summary |= {
        "seconds": watch.seconds,
        "warnings": run.warned.texts,
        "outputs": written,
        KEY: request.config,
    }
    skipped = (
        f", {summary['rows_malformed']:,} malformed skipped" if summary["rows_malformed"] else ""
    )
    screen.say(f"{state.place.clustered:,} rows clustered{skipped}")
    if request.summary is not None:
        with staged_file(request.summary, "--summary") as place:
            write_text(place, as_json(summary) + "\n")
    return summary if run.labels.to_file else None


def _chunk_size(former: SavedStream | None) -> int:
    """Return the rows of a chunk where nothing is said of them."""
    if former is None:
        return CHUNK
    return integer(former.model.chunk_size, "chunk_size", type(former.model).__name__, 1)


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
    refuse_other_columns(file, former.said, request.table)
    refuse_of_kind(request, isinstance(former.model, StreamingGaussianMixture))
    own = former.model.get_params(deep=False)
    words = {name: value for name, value in request.words.items() if name.split("__")[0] in own}
    former.model.set_params(**words)
    screen.say(f"going on after {former.place.rows:,} rows")
    if source != str(STDIN) and former.place.source not in (None, source):
        from_pipe = former.place.source == str(STDIN)
        (screen.warn if from_pipe else screen.say)(
            f"they came from {'a pipe' if from_pipe else former.place.source}; {source} is read "
            "from its beginning"
            + ("; if it holds these rows, they are clustered twice" if from_pipe else "")
        )
    return former
