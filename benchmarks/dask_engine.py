"""A fit on Dask's workers against the same fit in threads: what it costs to send centres out and
sums back.

    python -m benchmarks.dask_engine [--rows N] [--times T] [--rounds R] [--chunk ROWS]

akFCM on covtype (rows of the same shape where the data are absent), 582 landmarks, 10 sweeps, no
growing samples, the same landmarks and start: a local cluster of two processes with a thread each,
its rows persisted, against n_jobs=2 on the array, in turns on one machine. The ratio is the median
of those of the pairs. Both begin without memory of a former fit: Dask's workers give all of it
back, as their nannies ask, and to get it anew takes about a second of a processor for each GB,
which threads that fit again would be spared. Wanted: no more than 1.5 times as long, and 1.15 at
ten times the rows (--times 10: each row so often, with a little noise). Bytes are those of what a
sweep sends to each worker, pickled. A sweep of 4,000 rows, less its time in threads, is what a
sweep costs beside the computation. The client's memory: `python -m benchmarks.dask_client`.
"""

from __future__ import annotations

import argparse
import ctypes
import pickle
import statistics
import tempfile
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import cmeans
from cmeans import Search
from cmeans.engines.dask.holder import DaskHolder
from cmeans.engines.parts.beside import folded
from cmeans.fitting.prediction import Predicting

from .harness import DataError, finish, header, load, machine, unit_interval

CLUSTERS, LANDMARKS, SWEEPS, GAMMA, M = 7, 582, 10, 1.0, 1.2
WANTED, WANTED_OF_MANY, MANY = 1.5, 1.15, 10
FEW, MORE_SWEEPS = 4_000, 60


def rows_of(n: int | None, times: int = 1) -> np.ndarray:
    """Covtype in float32, every feature in [0, 1], so many times."""
    try:
        x = load("covtype")
    except DataError:
        rng = np.random.default_rng(0)
        x = (
            rng.normal(size=(581_012, 54))
            + 2 * rng.normal(size=(CLUSTERS, 54))[rng.integers(0, CLUSTERS, 581_012)]
        )
    x, rng = unit_interval(x[:n], np.float32), np.random.default_rng(1)
    noisy = (x + 1e-3 * rng.standard_normal(x.shape, dtype=np.float32) for _ in range(times - 1))
    return x if times == 1 else np.concatenate([x, *noisy])


def timed(x: Any, words: dict[str, Any], sweeps: int = SWEEPS) -> tuple[float, cmeans.FuzzyCMeans]:
    """Seconds of one fit."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = cmeans.FuzzyCMeans(
            CLUSTERS,
            m=M,
            kernel="rbf",
            gamma=GAMMA,
            max_iter=sweeps,
            tol=0.0,
            search=Search(acceleration=None, progressive=False),
            **words,
        ).fit(x)
    return time.perf_counter() - started, model


def give_back_memory() -> None:
    """Return to the system what this process has freed, where its C library can."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def seconds_of_a_sweep(x: Any, words: dict[str, Any]) -> float:
    """What each further sweep takes: of three pairs of a short and a long fit the least."""
    pairs = [(timed(x, words)[0], timed(x, words, MORE_SWEEPS)[0]) for _ in range(3)]
    return min(longer - shorter for shorter, longer in pairs) / (MORE_SWEEPS - SWEEPS)


def bytes_of_a_sweep(x: Any, words: dict[str, Any]) -> int:
    """The most that any sweep of a fit sends to a worker."""
    sizes, task = list[int](), DaskHolder.task

    def weighed(self: DaskHolder, work: Any, numbers: Any, arguments: Any) -> Any:
        # workers have the rows in their space, and nothing is written beside them
        if not getattr(work, "reads", True) and work.asked.arguments[0].function is folded:
            sizes.append(len(pickle.dumps(work)))
        return task(self, work, numbers, arguments)

    DaskHolder.task = weighed
    try:
        timed(x, words)
    finally:
        DaskHolder.task = task
    return max(sizes)


def main() -> None:
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chunk", type=int, default=50_000)
    parser.add_argument("--json", dest="path")
    words = parser.parse_args()
    print(header())
    Predicting._limits = replace(Predicting._limits, loaded_bytes=0)  # few rows would be swept here
    x = rows_of(words.rows, words.times)
    rng = np.random.default_rng(0)
    given = {
        "landmarks": x[rng.choice(len(x), LANDMARKS, replace=False)],
        "init": x[rng.choice(len(x), CLUSTERS, replace=False)],
    }
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with tempfile.TemporaryDirectory() as folder, cluster, Client(cluster) as client:
        np.save(Path(folder) / "rows.npy", x)
        read = dask.delayed(
            lambda start: np.load(Path(folder) / "rows.npy", mmap_mode="r")[
                start : start + words.chunk
            ].copy()
        )
        starts = range(0, len(x), words.chunk)
        chunks = [
            da.from_delayed(read(a), (min(words.chunk, len(x) - a), x.shape[1]), x.dtype)
            for a in starts
        ]
        there = da.concatenate(chunks).persist()
        engine = {"engine": cmeans.DaskEngine(client)}
        # compile, and meet the workers
        timed(x, {**given, "n_jobs": 2}), timed(there, {**given, **engine})
        here, away = [], []
        for _ in range(words.rounds):
            give_back_memory()
            seconds, one = timed(x, {**given, "n_jobs": 2})
            here.append(seconds)
            seconds, two = timed(there, {**given, **engine})
            away.append(seconds)
        alike = float(np.mean(one.labels_ == np.asarray(two.labels_)))  # these go with the cluster
        sent = bytes_of_a_sweep(there, {**given, **engine})
        few = x[:: max(1, len(x) // FEW)]
        apart = da.from_array(few, chunks=(-(-len(few) // 2), few.shape[1])).persist()
        with_messages = seconds_of_a_sweep(apart, {**given, **engine})
        alone = seconds_of_a_sweep(few, {**given, "n_jobs": 1})
    ratio = statistics.median(b / a for a, b in zip(here, away, strict=True))
    bound = 3 * CLUSTERS * LANDMARKS * 8
    table = {
        "caption": f"{len(x):,} rows, {LANDMARKS} landmarks, {CLUSTERS} clusters, {SWEEPS} sweeps; "
        f"medians of {words.rounds}",
        "columns": ["", "threads", "Dask", "ratio", "wanted"],
        "rows": [
            [
                "seconds",
                statistics.median(here),
                statistics.median(away),
                ratio,
                WANTED_OF_MANY if words.times >= MANY else WANTED,
            ],
            ["ms of a small sweep", 1e3 * alone, 1e3 * with_messages, "", ""],
            ["bytes a sweep", "", sent, sent / bound, 1.0],
            ["objectives", one.objective_, two.objective_, two.objective_ / one.objective_, 1.0],
            ["labels alike", "", "", alike, 1.0],
        ],
    }
    finish({"machine": machine(2), "tables": [table]}, words.path)


if __name__ == "__main__":
    main()
