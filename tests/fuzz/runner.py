"""Fuzzers run for as long as one likes: each case in another process, which may crash, hang or take
all memory without harm.

A fuzzer is a module with `prepared(folder)`, which returns its case: a function of dice that gives
in a word what came of it, and raises where that must not be. Case number N is that of
`random.Random(N)`, so that a number is all one needs to see it again.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Case = Callable[[random.Random], str]

FUZZERS = (
    *("model_files", "checkpoints", "readers", "tables", "stream_lines", "command_lines"),
    *("inputs", "pages", "schedules"),
)
# seconds in which a case says nothing, after which it hangs even where it has used no processor
SILENCE = 60.0
CASES = 2_000  # of one process, so that none grows old
# where files of cases lie: disks take longer
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True)
class Bounds:
    """What a case may take."""

    seconds: float = 5.0  # of the processor
    memory: int = 2**30  # bytes beyond those of the process before its first case


BOUNDS = Bounds()
# a selection fits dozens of models, and draws; a consensus of eight mixtures follows 40 starts, of
# up to 300 sweeps each where rows have no clusters
OWN_BOUNDS = dict.fromkeys(("command_lines", "pages", "inputs"), Bounds(seconds=30.0))


class FoundError(AssertionError):
    """What a fuzzer looks for."""


@dataclass
class Report:
    """What came of the cases so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    # numbers of cases, and what was wrong
    finds: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {count:,}" for name, count in self.outcomes.most_common())
        return f"{self.outcomes.total():,} cases ({counts}), {len(self.finds)} finds"


def case_of(name: str, folder: Path) -> Case:
    """Return the case of a fuzzer, which works in a folder of its own."""
    return importlib.import_module(f"fuzz.{name}").prepared(folder)


def run(
    name: str,
    seconds: float,
    first: int = 0,
    cases: int | None = None,
    bounds: Bounds | None = None,
) -> Report:
    """Run the cases from a number on, in one process after the other, until the time is over or so
    many are done."""
    report, bounds = Report(), bounds or OWN_BOUNDS.get(name, BOUNDS)
    number, stop = first, None if cases is None else first + cases
    until = time.monotonic() + seconds
    while time.monotonic() < until and (stop is None or number < stop):
        last = number + CASES if stop is None else min(number + CASES, stop)
        number = _watched(name, number, last, until, report, bounds)
    return report


def _watched(name: str, first: int, last: int, until: float, report: Report, bounds: Bounds) -> int:
    """Watch one process; return the number of the case after its last."""
    words = [sys.executable, "-m", "tests.fuzz", name, "--worker", str(first), str(last)]
    with (
        tempfile.TemporaryFile("w+") as said,
        tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder,
        subprocess.Popen(
            [*words, folder],
            stdout=subprocess.PIPE,
            stderr=said,
            env={**os.environ, "TMPDIR": folder},
        ) as process,
    ):
        watch = _Watch(process, first, bounds)
        try:
            for message in watch.messages():
                if message is None:
                    if watch.hangs():
                        report.outcomes["hang"] += 1
                        _told(name, report, watch.number, "hangs")
                        return watch.number + 1
                elif "outcome" in message:
                    grown = watch.grown()
                    outcome, found = (
                        ("memory", f"takes {grown >> 20:,} MB")
                        if grown
                        else (message["outcome"], message["found"])
                    )
                    report.outcomes[outcome] += 1
                    if found:
                        _told(name, report, watch.number - 1, found)
                    if grown or time.monotonic() > until:  # its peak stays; a fresh process goes on
                        return watch.number
            code = process.wait(SILENCE)
        finally:
            process.kill()
        if code:
            said.seek(0)
            text = (
                "the process died: "
                f"{signal.Signals(-code).name if code < 0 else code}\n{said.read()[-2000:]}"
            )
            if not watch.busy:
                raise RuntimeError(f"{name}: {text}")
            report.outcomes["crash"] += 1
            _told(name, report, watch.number, text)
            return watch.number + 1
    return watch.number


class _Watch:
    """What a process says of its cases, and how long it has been about the one that it has
    begun."""

    def __init__(self, process: subprocess.Popen[bytes], first: int, bounds: Bounds) -> None:
        self._process, self._bounds = process, bounds
        self._begun = 0  # bytes of memory before the first case
        self.number = first  # of the case that is under way, or comes next
        self.busy = False
        self._used, self._heard = 0.0, time.monotonic()

    def messages(self) -> Iterator[dict[str, Any] | None]:
        """Yield its messages, and None where none came for a while."""
        assert self._process.stdout is not None
        pipe, left = self._process.stdout.fileno(), b""
        while True:
            if not select.select([pipe], [], [], 0.25)[0]:
                yield None
                continue
            some = os.read(pipe, 2**16)
            if not some:
                return
            *lines, left = (left + some).split(b"\n")
            for line in lines:
                message = json.loads(line)
                self.busy, self._heard = "case" in message, time.monotonic()
                self.number = message["case"] if self.busy else self.number + 1
                self._used = processor_time(self._process.pid)
                self._begun = self._begun or _peak(self._process.pid)
                yield message

    def hangs(self) -> bool:
        """True where a case has taken too long."""
        late = time.monotonic() - self._heard > SILENCE and not is_runnable(self._process.pid)
        return self.busy and (
            late or processor_time(self._process.pid) - self._used > self._bounds.seconds
        )

    def grown(self) -> int:
        """Bytes of memory that its cases have added, where these are too many; else 0."""
        grown = _peak(self._process.pid) - self._begun
        return grown if grown > self._bounds.memory else 0


def _told(name: str, report: Report, number: int, what: str) -> None:
    report.finds.append((number, what))
    print(
        f"--- {name}, case {number}: python -m tests.fuzz {name} --first {number} --cases "
        f"1\n{what}\n",
        file=sys.stderr,
        flush=True,
    )


def processor_time(pid: int) -> float:
    """Seconds of the processor that a process has taken, in all its threads."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def is_runnable(process: int) -> bool:
    """True of a process that would work if the machine had time for it."""
    try:
        return any(
            " R " in task.read_text() for task in Path(f"/proc/{process}/task").glob("*/stat")
        )
    except OSError:  # a thread that has just ended
        return True


def _peak(pid: int) -> int:
    """Bytes of memory that a process has had at most."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def work(name: str, first: int, last: int, folder: Path) -> None:
    """Run cases and write what comes of each to stdout, where nothing else may write."""
    messages = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.nice(10)
    case = case_of(name, folder)
    for number in range(first, last):
        print(json.dumps({"case": number}), file=messages)
        found = ""
        try:
            outcome = case(random.Random(number))
        except Exception as error:
            outcome, found = type(error).__name__, traceback.format_exc(limit=-12)
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps({"outcome": outcome, "found": found}), file=messages)
