"""A log of what becomes of a stream's clusters: a line of CSV for each event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ... import StreamingGaussianMixture
from ..errors import InputError
from ..output.results import refuse_unwritable

HEADER = "row,event,cluster,other"


class EventLog:
    """Writer of events, as they happen."""

    def __init__(self, file: Path | None, former: Any) -> None:
        """`former`: the model of the state that a run goes on from; events after it are written
        anew."""
        self._file, self._model, self._known = file, None, 0
        if file is None:
            return
        refuse_unwritable("--events", file, grows=True)
        kept = []
        if isinstance(former, StreamingGaussianMixture):
            self._known, last = former._stream.n_events, former._stream.n_rows
            if file.exists():
                kept = [line for line in _lines(file) if int(line.split(",")[0]) <= last]
        file.write_text("".join(f"{line}\n" for line in (HEADER, *kept)), encoding="utf-8")

    def note(self, model: Any) -> list[str]:
        """Write the events since the last time; return them in words."""
        if not isinstance(model, StreamingGaussianMixture):
            return []
        stream = model._stream
        events = stream.events_since(self._known)
        self._known = stream.n_events
        if self._file is not None and events:
            with self._file.open("a", encoding="utf-8") as file:
                for event in events:
                    other = "" if event.other < 0 else event.other
                    file.write(f"{event.row},{event.kind},{event.cluster},{other}\n")
        return [
            f"row {event.row:,}: cluster {event.cluster} {event.kind}"
            + {"splits": f" off {event.other}", "merges": f" into {event.other}"}.get(
                event.kind, ""
            )
            for event in events
        ]


def _lines(file: Path) -> list[str]:
    """Return the lines of a log but the first; InputError where it is none."""
    head, *lines = file.read_text(encoding="utf-8", errors="replace").splitlines() or [HEADER]
    if head != HEADER or not all(line.split(",")[0].isdigit() for line in lines):
        raise InputError(f"--events {file}: holds something else; give another name.")
    return lines
