"""Rows per second of streams: partial_fit of StreamingFuzzyCMeans against scikit-learn's Nystroem +
MiniBatchKMeans, and river's KMeans.

    python -m benchmarks.streams      covtype in chunks of 5,000 rows, and the memory of a long
                                      stream
    python -m benchmarks.streams --river-python VENV/bin/python     river 0.26.1, in an environment
                                                                    of its own

Landmarks are the same for all: those that Nystroem draws from the first chunk. Nystroem is fitted
on it and MiniBatchKMeans takes one step a chunk on its features; ours repeat sweeps until the
centres of a chunk stand still ("one sweep": max_iter=1). river learns row by row, on the features
themselves. `StreamingKernelFCM` factors a matrix of 5,000 x 5,000 for every chunk and sees few of
them. The judge is the hard objective, on the span of the landmarks, of the labels that each model
gives to all rows at the end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.kernel_approximation import Nystroem

from cmeans import StreamingFuzzyCMeans
from cmeans.papers import StreamingKernelFCM

from .harness import header, load, quiet, unit_interval
from .judge import landmark_kmeans_cost

# m: what "auto" finds on these rows; well above it centres coincide
CHUNK, LANDMARKS, CLUSTERS, GAMMA, M = 5000, 300, 7, 1.0, 1.2
PROJECTED_CHUNKS = 2
RIVER_ROWS = 5000
LONG, LONG_CHUNK, LONG_FEATURES, LONG_CLUSTERS = 10_000_000, 50_000, 8, 10
WARM_UP = 1_000_000  # rows before memory counts
FLAT = 50.0  # MB

RIVER = """
import json, sys, time
import numpy as np
from river import cluster
rows = [dict(enumerate(row)) for row in np.load(sys.argv[1]).tolist()]
model = cluster.KMeans(n_clusters=int(sys.argv[2]), seed=0)
started = time.perf_counter()
for row in rows:
    model.learn_one(row)
print(json.dumps(time.perf_counter() - started))
"""

Outcome = tuple[float, Callable[[], np.ndarray]]  # seconds, and what labels all rows


def contestants(x: np.ndarray) -> tuple[dict[str, Callable[[], Outcome]], np.ndarray]:
    """Each streams through x and times itself; and the landmarks."""
    chunks = [x[start : start + CHUNK] for start in range(0, len(x), CHUNK)]
    landmarks = (
        Nystroem(gamma=GAMMA, n_components=LANDMARKS, random_state=0).fit(chunks[0]).components_
    )

    def peer() -> Outcome:
        started = time.perf_counter()
        features = Nystroem(gamma=GAMMA, n_components=LANDMARKS, random_state=0).fit(chunks[0])
        model = MiniBatchKMeans(CLUSTERS, random_state=0, n_init=1)
        for chunk in chunks:
            model.partial_fit(features.transform(chunk))
        seconds = time.perf_counter() - started
        return seconds, lambda: np.concatenate(
            [model.predict(features.transform(chunk)) for chunk in chunks]
        )

    def ours(
        parts: list[np.ndarray],
        stream: type[StreamingFuzzyCMeans] = StreamingFuzzyCMeans,
        **words: Any,
    ) -> Callable[[], Outcome]:
        def run() -> Outcome:
            model = stream(
                CLUSTERS, kernel="rbf", gamma=GAMMA, search=None, random_state=0, **words
            )
            started = time.perf_counter()
            for chunk in parts:
                model.partial_fit(chunk)
            return time.perf_counter() - started, lambda: model.predict(x)

        return run

    few = chunks[:PROJECTED_CHUNKS]
    return {
        "Nystroem + MiniBatchKMeans": peer,
        "landmarks, hard": ours(chunks, rule="hard", landmarks=landmarks),
        "landmarks, hard, one sweep": ours(chunks, rule="hard", landmarks=landmarks, max_iter=1),
        f"landmarks, fuzzy m = {M:g}": ours(chunks, m=M, landmarks=landmarks),
        f"landmarks, fuzzy m = {M:g}, one sweep": ours(
            chunks, m=M, landmarks=landmarks, max_iter=1
        ),
        "projection, hard": ours(few, StreamingKernelFCM, rule="hard"),
        f"projection, fuzzy m = {M:g}": ours(few, StreamingKernelFCM, m=M),
    }, landmarks


def compare(x: np.ndarray, repeats: int, *, projection: bool) -> None:
    """Paired runs, taking turns, after one of each that does not count; streams by projection run
    once."""
    runs, landmarks = contestants(x)
    runs = {
        name: run for name, run in runs.items() if projection or not name.startswith("projection")
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    labels: dict[str, Callable[[], np.ndarray]] = {}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            if name.startswith("projection") and repeat != 1:
                continue  # a minute each
            taken, labels[name] = run()
            seconds[name] += [taken] if repeat else []
    print(f"\n{'':38s}{'rows':>9s}{'rows/s':>10s}{'times the peer':>16s}{'objective':>14s}")
    peer = "Nystroem + MiniBatchKMeans"
    for name, taken in seconds.items():
        rows = min(len(x), PROJECTED_CHUNKS * CHUNK) if name.startswith("projection") else len(x)
        ratios = [
            (theirs / len(x)) / (own / rows)
            for own, theirs in zip(taken, seconds[peer], strict=False)
        ]
        cost = landmark_kmeans_cost(x, labels[name](), landmarks, GAMMA)
        speed = rows / statistics.median(taken)
        print(
            f"{name:38s}{rows:9,d}{speed:10,.0f}{statistics.median(ratios):16.2f}{cost:14.1f}   "
            f"{len(taken)} run{'s'[: len(taken) > 1]}",
            flush=True,
        )


def compare_river(x: np.ndarray, python: str | None, repeats: int) -> None:
    """river, one row at a time, where there is one."""
    interpreter = python or sys.executable
    found = subprocess.run(
        [interpreter, "-c", "import river; print(river.__version__)"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        print(
            "\nriver: not there; name a Python that has it (pip install river==0.26.1) with "
            "--river-python"
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, x[:RIVER_ROWS])
        command = [interpreter, "-c", RIVER, str(path), str(CLUSTERS)]
        taken = [
            float(
                json.loads(
                    subprocess.run(command, capture_output=True, text=True, check=True).stdout
                )
            )
            for _ in range(repeats)
        ]
    rows = min(RIVER_ROWS, len(x))
    print(
        f"\nriver {found.stdout.strip()}, cluster.KMeans, linear, learn_one: "
        f"{rows / statistics.median(taken):,.0f} rows/s ({rows:,} rows)"
    )


def long_stream(rows: int) -> None:
    """Resident memory along a stream of generated blobs."""
    rng = np.random.default_rng(0)
    middles = rng.normal(size=(LONG_CLUSTERS, LONG_FEATURES)).astype(np.float32) * 4
    model = StreamingFuzzyCMeans(
        LONG_CLUSTERS, kernel="rbf", gamma=0.1, search=None, random_state=0
    )
    sizes, started = {}, time.perf_counter()
    for seen in range(LONG_CHUNK, rows + 1, LONG_CHUNK):
        chunk = middles[rng.integers(LONG_CLUSTERS, size=LONG_CHUNK)] + rng.normal(
            size=(LONG_CHUNK, LONG_FEATURES)
        ).astype(np.float32)
        model.partial_fit(chunk)
        if seen % (rows // 10) == 0:
            sizes[seen] = _resident()
            print(f"   after {seen:11,d} rows: {sizes[seen]:7.1f} MB", flush=True)
    kept = [size for seen, size in sizes.items() if seen >= min(WARM_UP, rows // 10)]
    said = "flat" if max(kept) - kept[0] <= FLAT else "NOT FLAT"
    print(
        f"   {said}: {max(kept) - kept[0]:+.1f} MB at most after the first tenth; "
        f"{rows / (time.perf_counter() - started):,.0f} rows/s"
    )


def _resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError("no VmRSS in /proc/self/status")


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of each contestant; one of method='projection'"
    )
    parser.add_argument("--rows", type=int, default=200_000, help="of covtype")
    parser.add_argument(
        "--long", type=int, default=LONG, metavar="ROWS", help="of the long stream; 0: none"
    )
    parser.add_argument(
        "--quick", action="store_true", help="without method='projection', which takes minutes"
    )
    parser.add_argument("--river-python", metavar="PYTHON")
    parser.add_argument(
        "--memory", action="store_true", help="the long stream alone, in this process"
    )
    arguments = parser.parse_args()
    if arguments.memory:
        long_stream(arguments.long)
        return
    print(header())
    x = unit_interval(load("covtype"), np.float32)
    x = x[np.random.default_rng(0).permutation(len(x))[: arguments.rows]]
    words = (
        f"{len(x):,} x {x.shape[1]}, float32, chunks of {CHUNK:,}, RBF gamma {GAMMA:g}, s = "
        f"{LANDMARKS}, c = {CLUSTERS}"
    )
    print(f"\nstreams of covtype: {words}; medians of paired runs")
    compare(x, arguments.repeats, projection=not arguments.quick)
    compare_river(x, arguments.river_python, arguments.repeats)
    if arguments.long:
        size = (
            f"{arguments.long:,} rows of blobs, {LONG_FEATURES} features, chunks of "
            f"{LONG_CHUNK:,}, c = {LONG_CLUSTERS}"
        )
        print(f"\nmemory of a long stream: {size}; resident", flush=True)
        subprocess.run(
            [sys.executable, "-m", "benchmarks.streams", "--memory", "--long", str(arguments.long)],
            check=True,
        )


if __name__ == "__main__":
    main()
