"""A panel of small fits and predictions that a refactoring must not change by a single bit.

    python -m benchmarks.panel record before.npz     with the code before a change: run all cases, store their results
    python -m benchmarks.panel compare before.npz    with the code after it: run them again, and say what differs

Bits mean something on one machine only, with the same number of CPUs and the same releases of NumPy and the like; a reference from
another is refused. Code just compiled may round otherwise than the same code read from Numba's cache, so that a run which compiles is
made once more. Cases use nothing but public names, so that they survive any change inside.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numba.core.event import install_recorder

from .arrays import Arrays, differences, leaves
from .cases import Case

ABOUT = "about"  # the key of the reference that says where it was recorded
BETWEEN = "\t"  # of a case and an array, in a key
RELEASES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "dask", "torch")
TOLD = 5  # arrays of a case, at most
AGAIN = "CMEANS_PANEL_AGAIN"  # set where a run is the second


class CompiledError(Exception):
    """A case has compiled something: its bits are not those of later runs."""


def run(case: Case) -> Arrays:
    """What one case comes to."""
    with warnings.catch_warnings(), install_recorder("numba:compile") as compiled:
        warnings.simplefilter("ignore")  # texts may change
        arrays = dict(leaves("", case()))
    if compiled.buffer:
        raise CompiledError
    return arrays


def about() -> str:
    """Where bits come from that no change of this library makes."""
    parts = [platform.machine(), f"{os.cpu_count()} CPUs", f"Python {platform.python_version()}"]
    for name in RELEASES:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            parts.append(f"no {name}")
    return ", ".join(parts)


def record(cases: Mapping[str, Case], file: Path) -> int:
    """Store what all cases come to."""
    started, stored = time.perf_counter(), {ABOUT: np.array(about())}
    for name, case in cases.items():
        try:
            stored |= {f"{name}{BETWEEN}{array}": values for array, values in run(case).items()}
        except Exception as error:
            error.add_note(f"in the case {name!r}")
            raise
    with file.open("wb") as out:
        np.savez(out, **stored)
    print(f"{len(cases)} cases, {len(stored) - 1:,} arrays, {time.perf_counter() - started:.0f} s: {file}")
    return 0


def compare(cases: Mapping[str, Case], file: Path, wanted: Callable[[str], bool]) -> int:
    """Run all cases again; 1 where one of them differs, fails, or is missing here or in the file."""
    started, wrong = time.perf_counter(), 0
    with np.load(file) as stored:
        there = str(stored[ABOUT])
        if there != about():
            print(f"{file}: its bits come from elsewhere and say nothing here.\n  there: {there}\n  here:  {about()}", file=sys.stderr)
            return 2
        keys = [key.partition(BETWEEN) for key in stored.files if key != ABOUT]
        known = {name: [array for case, _, array in keys if case == name] for name in dict.fromkeys(case for case, _, _ in keys)}
        names = [name for name in {**known, **cases} if wanted(name)]
        for name in names:
            if name not in known:
                lines = ["missing in the file: record it with the code before the change"]
            elif name not in cases:
                lines = ["missing here: no such case, or a package that it needs is not installed"]
            else:
                lines = _judged(cases[name], {array: stored[f"{name}{BETWEEN}{array}"] for array in known[name]})
            if lines:
                wrong += 1
                more = [f"and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
                print("\n    ".join([name, *lines[:TOLD], *more]), flush=True)
    verdict = f"{wrong} differ or are missing" if wrong else "the same to the last bit"
    print(f"{len(names)} cases, {time.perf_counter() - started:.0f} s: {verdict}")
    return int(wrong > 0)


def _judged(case: Case, before: Arrays) -> list[str]:
    try:
        return differences(before, run(case))
    except CompiledError:
        raise
    except Exception as error:
        return [f"ends with {type(error).__name__}: {error}"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.panel", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="the reference, an .npz file")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="cases whose names hold this")
    told = parser.parse_args(arguments)
    from . import CASES

    def wanted(name: str) -> bool:
        return told.only in name

    cases = {name: case for name, case in CASES.items() if wanted(name)}
    if not cases:
        parser.error(f"--only {told.only}: no such case")
    try:
        return record(cases, told.file) if told.action == "record" else compare(cases, told.file, wanted)
    except CompiledError:
        return _once_more(cases, sys.argv[1:] if arguments is None else arguments)


def _once_more(cases: Mapping[str, Case], arguments: list[str]) -> int:
    """The same in a new process, which finds all that the cases need compiled."""
    if AGAIN in os.environ:
        print("Numba compiles in every run, as its cache cannot be written: set NUMBA_CACHE_DIR.", file=sys.stderr)
        return 2
    print("code was compiled: once more, with code from the cache", flush=True)
    for case in cases.values():
        with suppress(Exception):  # told by the next run
            run(case)
    return subprocess.call([sys.executable, "-m", "benchmarks.panel", *arguments], env={**os.environ, AGAIN: "1"})


if __name__ == "__main__":
    sys.exit(main())
