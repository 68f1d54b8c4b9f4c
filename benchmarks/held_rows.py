"""Fits of rows that others hold: the memory of the process that asks, and what a sweep on Spark
takes beside one of threads.

    python -m benchmarks.held_rows memory [--engine NAME ...] [--rows N N ...]
    python -m benchmarks.held_rows spark [--rows N] [--rounds R]

The first fits rows that workers make, in a process of its own for each engine and number of rows:
by how much its peak exceeds what it had after a fit of 10^6 rows, which should not grow with the
rows. Workers of the engine "here", in this process, make them anew part by part in each sweep and
forget them at once; two of Dask, Ray or Spark, which must be installed, hold them in 100 parts.
The second fits a file by two threads and by Spark with two, in turns: seconds of a sweep, as the
difference of a long and a short fit, from a data frame in Spark's storage and from the file that
workers read (pyspark and Java are needed). Wanted: at most .3 s, and
1 s for each 300 MB, above threads; three times as long where workers hold their rows.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
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
PARTS = 100  # of rows that engines hold, however many they are: each part takes some memory itself
LEAST = 1_000_000  # rows of a fit before
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


def tables(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Yield the rows of each part, of a size, whose number comes in an Arrow table."""
    import pyarrow as pa

    for batch in batches:
        for number in batch.column(0).to_pylist():
            rows = block(number * size, (number + 1) * size, COLUMNS)
            columns = [pa.array(column) for column in rows.T]
            yield pa.RecordBatch.from_arrays(columns, [f"x{at}" for at in range(COLUMNS)])


def of_dask(n_rows: int, n_parts: int) -> Any:
    """Return rows as an array of Dask."""
    import dask
    import dask.array as da

    size, make = n_rows // n_parts, dask.delayed(block)
    made = [make(at * size, (at + 1) * size, COLUMNS) for at in range(n_parts)]
    return da.concatenate([da.from_delayed(rows, (size, COLUMNS), np.float32) for rows in made])


def of_ray(n_rows: int, n_parts: int) -> Any:
    """Return rows as a dataset of Ray."""
    import pyarrow as pa
    import ray

    def make(numbers: Any) -> Any:
        return pa.Table.from_batches(tables(iter([numbers]), n_rows // n_parts))

    numbers = ray.data.range(n_parts, override_num_blocks=n_parts)
    return numbers.map_batches(make, batch_size=1, batch_format="pyarrow")


def of_spark(n_rows: int, n_parts: int) -> Any:
    """Return rows as a data frame of Spark."""
    names = ", ".join(f"x{at} float" for at in range(COLUMNS))
    make = partial(tables, size=n_rows // n_parts)
    return spark_session().range(0, n_parts, 1, n_parts).mapInArrow(make, names)


ROWS: dict[str, Callable[[int, int], Any]] = {
    "here": lambda n_rows, _: range(n_rows),
    "dask": of_dask,
    "ray": of_ray,
    "spark": of_spark,
}


def memory_here(engine: str, n_rows: int, address: str) -> None:
    """Print by how many MB the peak of this process rises in a fit."""
    words = dict[str, Any]()
    if engine == "here":
        words["engine"] = Making()
    elif engine == "dask":
        from distributed import Client

        words["engine"] = cmeans.DaskEngine(Client(address))
    elif engine == "ray":
        import ray

        ray.init(num_cpus=2, object_store_memory=6 * 10**9, include_dashboard=False)
    fit(ROWS[engine](LEAST, PARTS), 2, **words)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, started = resident("VmHWM"), time.perf_counter()
    model = fit(ROWS[engine](n_rows, PARTS), 3, **words)
    more, seconds = resident("VmHWM") - before, time.perf_counter() - started
    sys.stdout.write(
        f"{engine:>6} {n_rows:>12,} {more:8.1f} {before:7.1f} {seconds:8.1f} "
        f"{model.objective_ / n_rows:.9f}\n"
    )


def memory(engines: list[str], rows: list[int]) -> None:
    """Print it of a process for each engine and number of rows."""
    sys.stdout.write("engine         rows  MB more  before  seconds  objective of a row\n")
    sys.stdout.flush()
    for engine in engines:
        with contextlib.ExitStack() as stack:
            address = ""
            if engine == "dask":
                from distributed import LocalCluster

                cluster = LocalCluster(2, threads_per_worker=1, memory_limit="3GB")
                address = stack.enter_context(cluster).scheduler_address
            for n_rows in rows:
                words = ["--rows", str(n_rows), "--engine", engine, "--address", address]
                command = [sys.executable, "-m", "benchmarks.held_rows", "one", *words]
                subprocess.run(command, check=True)


def seconds_of_a_sweep(x: Any, **words: Any) -> float:
    """What each further sweep takes."""
    took, swept = [], []
    for sweeps in (SHORT, LONG):
        started = time.perf_counter()
        swept.append(fit(x, sweeps, **words).n_iter_)
        took.append(time.perf_counter() - started)
    return (took[1] - took[0]) / (swept[1] - swept[0])


def spark_session() -> Any:
    """Return a session of Spark in two threads of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    words = {"spark.ui.enabled": "false", "spark.driver.memory": "6g"}
    session = SparkSession.builder.master("local[2]").config(map=words).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark(n_rows: int, rounds: int) -> None:
    """Print seconds of a sweep of threads, of a data frame, and of files that workers read."""
    session = spark_session()
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
    words.add_argument("what", choices=["memory", "spark", "one"])
    words.add_argument("--engine", nargs="+", default=["here"], choices=list(ROWS))
    words.add_argument("--address", help=argparse.SUPPRESS)
    words.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7])
    words.add_argument("--rounds", type=int, default=3)
    given = words.parse_args()
    if given.what == "spark":
        spark(given.rows[0], given.rounds)
    elif given.what == "memory":
        memory(given.engine, given.rows)
    else:
        memory_here(given.engine[0], given.rows[0], given.address)


if __name__ == "__main__":
    main()
