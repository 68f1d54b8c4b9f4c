"""Fits of rows that others hold: the memory of the process that asks, and what a sweep on Spark
takes beside one of threads.

    python -m benchmarks.held_rows memory [--rows N N ...]
    python -m benchmarks.held_rows spark [--rows N] [--rounds R]

The first fits simulated rows, made anew part by part in each sweep and forgotten at once, in a
process of its own for each number of rows: by how much its peak exceeds that before the fit, which
should not grow with the rows. The second fits a file by two threads and by Spark with two, in
turns: seconds of a sweep, as the difference of a long and a short fit, from a data frame in Spark's
storage and from the file that workers read (pyspark and Java are needed). Wanted: at most .3 s, and
1 s for each 300 MB, above threads; three times as long where workers hold their rows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cmeans
from cmeans.engines import Answer, Holder, HoldingEngine, PartsOfFiles, Work
from cmeans.engines.parts.orders import Store
from cmeans.engines.parts.rows import HeldRows

from .dask_client import block, resident

COLUMNS, PART = 8, 100_000
CLUSTERS = 8  # in four clouds, so that it takes many sweeps to part them
SHORT, LONG = 3, 23  # sweeps


class Made(Holder):
    """Rows that are made where they are read, by a worker that keeps one thing at a time."""

    where = "rows that are made"

    def __init__(self, n_rows: int) -> None:
        self.n_parts = -(-n_rows // PART)
        self._store = Store(0)

    def ask(self, work: Work, arguments: Mapping[int, Any]) -> Iterator[tuple[int, Answer]]:
        for number, mine in arguments.items():
            read = partial(block, number * PART, (number + 1) * PART, COLUMNS)
            yield number, work(read, number, mine, self._store)


class Making(HoldingEngine):
    """Fits a number of rows, given in place of the rows."""

    def holds(self, x: Any) -> bool:
        return isinstance(x, range)

    def held(self, x: Any, estimator_name: str, *, holes: bool = False) -> HeldRows:
        columns = tuple(range(COLUMNS))
        return HeldRows(Made(len(x)), columns, np.float32, estimator_name, self, holes=holes)

    def holder_of_files(self, files: PartsOfFiles) -> Holder:
        raise ValueError("this engine takes a number of rows, no files")


def fit(x: Any, sweeps: int, **words: Any) -> Any:
    """A fit of so many sweeps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = block(0, CLUSTERS, COLUMNS)
        return cmeans.FuzzyCMeans(
            CLUSTERS, kernel="linear", init=start, max_iter=sweeps, tol=0.0, search=None, **words
        ).fit(x)


def memory_here(n_rows: int) -> None:
    """Print by how many MB the peak of this process rises in a fit."""
    fit(range(3 * PART), 2, engine=Making())
    before = resident("VmHWM")
    model = fit(range(n_rows), 3, engine=Making())
    sys.stdout.write(f"{n_rows:>12,} {resident('VmHWM') - before:8.1f} {model.objective_:.6g}\n")


def memory(rows: list[int]) -> None:
    """Print it of a process for each number of rows."""
    sys.stdout.write("        rows  MB more  objective\n")
    for n_rows in rows:
        command = [sys.executable, "-m", "benchmarks.held_rows", "here", "--rows", str(n_rows)]
        subprocess.run(command, check=True)


def seconds_of_a_sweep(x: Any, **words: Any) -> float:
    """What each further sweep takes."""
    took, swept = [], []
    for sweeps in (SHORT, LONG):
        started = time.perf_counter()
        swept.append(fit(x, sweeps, **words).n_iter_)
        took.append(time.perf_counter() - started)
    return (took[1] - took[0]) / (swept[1] - swept[0])


def spark(n_rows: int, rounds: int) -> None:
    """Print seconds of a sweep of threads, of a data frame, and of files that workers read."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    words = {"spark.ui.enabled": "false"}
    session = SparkSession.builder.master("local[2]").config(map=words).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, block(0, n_rows, COLUMNS))
        names = [f"x{number}" for number in range(COLUMNS)]
        table = cmeans.open_blocks(file)
        pieces = session.sparkContext.parallelize(range(0, n_rows, PART), -(-n_rows // PART))
        rows = pieces.flatMap(lambda at: block(at, min(at + PART, n_rows), COLUMNS).tolist())
        frame = session.createDataFrame(rows, names).selectExpr(
            *(f"float({name}) {name}" for name in names)
        )
        fit(frame.persist(), SHORT)  # the first is slower, as workers start
        found = {"threads": [], "a data frame": [], "files": []}  # type: dict[str, list[float]]
        for _ in range(rounds):
            found["threads"].append(seconds_of_a_sweep(table, n_jobs=2))
            found["a data frame"].append(seconds_of_a_sweep(frame))
            found["files"].append(seconds_of_a_sweep(table, engine=cmeans.SparkEngine(session)))
    megabytes = n_rows * COLUMNS * 4 / 1e6
    sys.stdout.write(f"{n_rows:,} x {COLUMNS} float32, {megabytes:.0f} MB, seconds of a sweep\n")
    for name, seconds in found.items():
        sys.stdout.write(f"{name:>14} {statistics.median(seconds):.3f}\n")
    session.stop()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("what", choices=["memory", "spark", "here"])
    words.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7])
    words.add_argument("--rounds", type=int, default=3)
    given = words.parse_args()
    if given.what == "spark":
        spark(given.rows[0], given.rounds)
    else:
        (memory if given.what == "memory" else lambda rows: memory_here(rows[0]))(given.rows)


if __name__ == "__main__":
    main()
