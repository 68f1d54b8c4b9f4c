"""Memory of a Dask client while its workers fit: by how much its peak grows from some rows to a
hundred times as many.

    python -m benchmarks.dask_client [--rows N N] [--columns D] [--only NAME ...] [--json PATH]

Every estimator, and fits with weights and known labels that are Dask arrays. A cluster of two
processes makes the rows; each fit has a client, a process of its own, whose peak is measured from
just before the fit. Both numbers of rows come in as many partitions, so that what grows is what
depends on rows. Wanted: no more than 20 MB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import cmeans
from cmeans.fitting.prediction import Predicting

from .harness import finish, header, machine, quiet

CLUSTERS, PARTITIONS, WANTED = 4, 20, 20.0
LANDMARKS: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5, "landmarks": 20}
COUNTED: dict[str, Any] = {"n_clusters": CLUSTERS, "random_state": 0}
FOUND: dict[str, Any] = {"n_clusters": (1, CLUSTERS), "random_state": 0}

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "CMeans": ("CMeans", {**COUNTED, "rule": "entropy"}),
    "FuzzyCMeans": ("FuzzyCMeans", {**COUNTED, **LANDMARKS}),
    "KernelKMeans": ("KernelKMeans", {**COUNTED, **LANDMARKS}),
    "KernelKMeans, k-means||": (
        "KernelKMeans",
        {**COUNTED, "kernel": "linear", "init": "k-means||"},
    ),
    "KernelKMeans, landmark graph": (
        "KernelKMeans",
        {**COUNTED, "kernel": "landmark_graph", "landmarks": 20},
    ),
    "KernelKMeans, weights": ("KernelKMeans", {**COUNTED, "kernel": "linear"}),
    "KernelKMeans, known labels": ("KernelKMeans", {**COUNTED, "kernel": "linear"}),
    "TwoStepKernelKMeans": ("TwoStepKernelKMeans", {**COUNTED, **LANDMARKS}),
    "PossibilisticCMeans": ("PossibilisticCMeans", {**COUNTED, **LANDMARKS}),
    "ProbabilisticKMeans": ("ProbabilisticKMeans", {**COUNTED, **LANDMARKS, "quantile": 0.5}),
    "AdaptivePossibilisticCMeans": ("AdaptivePossibilisticCMeans", {**FOUND, "kernel": "linear"}),
    "SequentialPossibilisticCMeans": (
        "SequentialPossibilisticCMeans",
        {**FOUND, "kernel": "linear", "tol": 1e-2},
    ),
    "StreamingFuzzyCMeans": ("StreamingFuzzyCMeans", {**COUNTED, **LANDMARKS, "chunk_size": 5_000}),
    "KernelPatchClustering": (
        "KernelPatchClustering",
        {**COUNTED, "kernel": "rbf", "gamma": 0.5, "patch_size": 500},
    ),
    "select": ("KernelKMeans", {**COUNTED, "kernel": "linear"}),
    "stability": ("KernelKMeans", {**COUNTED, "kernel": "linear"}),
}


def block(start: int, stop: int, columns: int) -> np.ndarray:
    """Rows of four clouds."""
    rng = np.random.default_rng(start)
    which = rng.integers(0, CLUSTERS, stop - start)
    return (
        rng.normal(size=(stop - start, columns)) + 8.0 * np.eye(CLUSTERS, columns)[which]
    ).astype(np.float32)


def by_row(start: int, stop: int, what: str) -> np.ndarray:
    """Weights, or labels that are known of a tenth of the rows."""
    numbers = np.arange(start, stop)
    if what == "weights":
        return 1.0 + numbers % 3
    return np.where(numbers % 10 == 0, np.argmax(block(start, stop, CLUSTERS), axis=1), -1)


def spread(n: int, function: Any, dtype: Any, *words: Any, columns: int | None = None) -> Any:
    """A Dask array whose partitions the workers make."""
    import dask
    import dask.array as da

    bounds, made = np.linspace(0, n, PARTITIONS + 1).astype(int).tolist(), dask.delayed(function)
    width = () if columns is None else (columns,)
    return da.concatenate(
        [da.from_delayed(made(a, b, *words), (b - a, *width), dtype) for a, b in pairwise(bounds)]
    )


def resident(word: str) -> float:
    """MB of this process: "VmRSS" now, "VmHWM" at most since it was last asked to forget."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith(word)) / 1024


def fit(case: str, x: Any, n: int) -> None:
    """What is measured."""
    name, words = CASES[case]
    model = getattr(cmeans, name)(**words)
    if case == "select":
        cmeans.select(model, x, range(2, 5), n_bootstrap=0)
    elif case == "stability":
        cmeans.stability(model.fit(x), x, n_bootstrap=2)
    elif case.endswith("weights"):
        model.fit(x, sample_weight=spread(n, by_row, np.float64, "weights"))
    elif case.endswith("known labels"):
        model.fit(x, known_labels=spread(n, by_row, np.int64, "labels"))
    else:
        model.fit(x)


def measured_here(case: str, n: int, columns: int, scheduler: str) -> dict[str, float]:
    """Peak of this process, a client that has done nothing before but a fit to few rows."""
    from distributed import Client

    # few rows would be clustered here
    Predicting._limits = replace(Predicting._limits, loaded_bytes=0)
    quiet()
    with Client(scheduler) as client:
        # modules are loaded, helpers begun
        fit(case, spread(2_000, block, np.float32, columns, columns=columns), 2_000)
        x = spread(n, block, np.float32, columns, columns=columns)
        Path("/proc/self/clear_refs").write_text("5")
        before, started = resident("VmRSS"), time.perf_counter()
        fit(case, x, n)
        client.run(lambda: None)
        return {
            "before": before,
            "peak": resident("VmHWM"),
            "seconds": time.perf_counter() - started,
        }


def measured(case: str, n: int, columns: int, scheduler: str) -> dict[str, float]:
    """The same in a process of its own."""
    words = [
        sys.executable,
        "-m",
        "benchmarks.dask_client",
        "--one",
        case,
        "--rows",
        str(n),
        "--columns",
        str(columns),
    ]
    done = subprocess.run(
        [*words, "--scheduler", scheduler], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--only", nargs="+", default=[], help="beginnings of the names of cases")
    parser.add_argument("--json", dest="path")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--scheduler", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.one:
        print(json.dumps(measured_here(words.one, words.rows[0], words.columns, words.scheduler)))
        return
    from distributed import LocalCluster

    print(header(), flush=True)
    few, many = words.rows
    table = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        for case in CASES:
            if words.only and not any(case.startswith(one) for one in words.only):
                continue
            one, other = (
                measured(case, n, words.columns, cluster.scheduler_address) for n in (few, many)
            )
            grown = other["peak"] - one["peak"]
            table.append(
                [
                    case,
                    one["peak"] - one["before"],
                    other["peak"] - other["before"],
                    grown,
                    WANTED,
                    other["seconds"],
                ]
            )
            print(
                f"{case}: {grown:+.1f} MB ({one['peak']:.0f} to {other['peak']:.0f}), "
                f"{other['seconds']:.0f} s",
                flush=True,
            )
    caption = (
        f"MB at the client's peak above what it had before the fit, {words.columns} columns "
        f"of float32, {PARTITIONS} partitions"
    )
    columns = ["", f"{few:,} rows", f"{many:,} rows", "growth of the peak", "wanted", "seconds"]
    finish(
        {
            "machine": machine(2),
            "tables": [{"caption": caption, "columns": columns, "rows": table}],
        },
        words.path,
    )


if __name__ == "__main__":
    main()
