"""A line on how a stream does, now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...runtime.numerals import several


class PaceLines:
    """Counts of what has come since the last line."""

    def __init__(self, tell: Callable[[str], None], every: float | None) -> None:
        """`every`: seconds between two lines; None: there are none."""
        self._tell, self._every = tell, every
        self._began = time.monotonic()
        self._rows, self._alerts, self._delay = 0, 0, 0.0

    def note(self, rows: int, alerts: int, since: float, clusters: int) -> None:
        """Count a chunk of rows, the first of which came at the time `since`, after its labels
        have been written."""
        now = time.monotonic()
        self._rows, self._alerts = self._rows + rows, self._alerts + alerts
        self._delay = max(self._delay, now - since)
        if self._every is None or now - self._began < self._every:
            return
        pace = self._rows / (now - self._began)
        self._tell(
            f"{several(self._rows, 'row')}, {pace:,.0f}/s; {several(clusters, 'cluster')}; "
            f"{several(self._alerts, 'alert')}; longest delay {self._delay:.2g} s"
        )
        self._began, self._rows, self._alerts, self._delay = now, 0, 0, 0.0
