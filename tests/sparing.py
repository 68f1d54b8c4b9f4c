"""What pytest does for each of thousands of tests and files, for less: a plugin, as it hears of
those of the package too, of which a conftest.py of the tests does not."""

from __future__ import annotations

import faulthandler
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HANGS = 300  # seconds, after which a test is named, and where each thread stands


class Sparing:
    """Registered while nothing is captured, so that it knows where errors are written."""

    def __init__(self) -> None:
        self.errors = os.dup(2)
        self.watched = -float("inf")

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Iterator[None]:
        """Examples in docstrings are looked for in the files of the package that have some."""
        found = yield
        of_the_package = parent.config.rootpath / "src" in file_path.parents
        some = of_the_package and b">>> " in file_path.read_bytes()
        return [one for one in found if some or type(one) is pytest.Module]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        """Each watch is a thread: one is enough for the tests of a minute."""
        if time.monotonic() > self.watched + 60:
            faulthandler.dump_traceback_later(HANGS, file=self.errors)
            self.watched = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """A third of what is written, sent and read of a test is words that nobody looks up."""
        report = yield
        report.keywords = {}
        return report
