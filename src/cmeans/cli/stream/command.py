"""`cmeans stream`: from the request to the summary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import __version__
from ..errors import InputError
from ..outputs import staged_file, write_text
from ..screen import Screen
from ..summaries import Stopwatch, as_json
from .request import StreamRequest, refuse_clashes
from .run import StreamRun
from .sources import STDIN
from .state import SavedStream, refuse_no_state, refuse_other_words


def stream(request: StreamRequest, screen: Screen) -> dict[str, Any] | None:
    """Read to the end of the source and return the summary; None where the labels go to stdout."""
    refuse_clashes(request)
    former = _former(request, screen)
    if former.learnt is not None:
        request = replace(request, wish=replace(request.wish, weight=request.wish.weight or former.learnt.weight))
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
    for option, said, was in (("--scale", request.scale, recipe.scaling.kind), ("--dtype", request.wish.dtype, recipe.dtype)):
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
    }


def _outputs(request: StreamRequest) -> dict[str, str]:
    files = {"labels": request.out, "model": request.checkpoints.file, "summary": request.summary}
    return {name: str(file) for name, file in files.items() if file is not None}
