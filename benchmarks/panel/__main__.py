"""A panel of small fits and predictions that a refactoring must not change by a single bit.

    python -m benchmarks.panel record before.npz      with the code before a change: run all cases,
                                                      store their results
    python -m benchmarks.panel compare before.npz     with the code after it: run them again, and
                                                      say what differs

Bits mean something on one machine only, with the same number of CPUs and the same releases of NumPy
and the like; a reference from another is refused. Cases use nothing but public names, so that they
survive any change inside.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from .arrays import Arrays, differences, leaves
from .cases import Case

ABOUT = "about"  # the key of the reference that says where it was recorded
BETWEEN = "\t"  # of a case and an array, in a key
RELEASES = ("numpy", "scipy", "scikit-learn", "pyarrow", "dask", "torch")
TOLD = 5  # arrays of a case, at most


def run(case: Case) -> Arrays:
    """What one case comes to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # texts may change
        return dict(leaves("", case()))


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
    print(
        f"{len(cases)} cases, {len(stored) - 1:,} arrays, {time.perf_counter() - started:.0f} s: "
        f"{file}"
    )
    return 0


def compare(cases: Mapping[str, Case], file: Path, wanted: Callable[[str], bool]) -> int:
    """Run all cases again; 1 where one of them differs, fails, or is missing here or in the
    file."""
    started, wrong = time.perf_counter(), 0
    with np.load(file) as stored:
        there = str(stored[ABOUT])
        if there != about():
            print(
                f"{file}: its bits come from elsewhere and say nothing here.\n  there: {there}\n  "
                f"here:  {about()}",
                file=sys.stderr,
            )
            return 2
        keys = [key.partition(BETWEEN) for key in stored.files if key != ABOUT]
        known = {
            name: [array for case, _, array in keys if case == name]
            for name in dict.fromkeys(case for case, _, _ in keys)
        }
        names = [name for name in {**known, **cases} if wanted(name)]
        for name in names:
            if name not in known:
                lines = ["missing in the file: record it with the code before the change"]
            elif name not in cases:
                lines = ["missing here: no such case, or a package that it needs is not installed"]
            else:
                lines = _judged(
                    cases[name], {array: stored[f"{name}{BETWEEN}{array}"] for array in known[name]}
                )
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
    except Exception as error:
        return [f"ends with {type(error).__name__}: {error}"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.panel",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="the reference, an .npz file")
    parser.add_argument(
        "--only", default="", metavar="SUBSTRING", help="cases whose names hold this"
    )
    told = parser.parse_args(arguments)
    from . import CASES

    def wanted(name: str) -> bool:
        return told.only in name

    cases = {name: case for name, case in CASES.items() if wanted(name)}
    if not cases:
        parser.error(f"--only {told.only}: no such case")
    return (
        record(cases, told.file) if told.action == "record" else compare(cases, told.file, wanted)
    )


if __name__ == "__main__":
    sys.exit(main())
