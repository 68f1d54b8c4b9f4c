"""Fits of 150 to 1,000,000 rows beside scikit-learn and scikit-fuzzy: the peer's time over ours,
size by size.

    python -m benchmarks.every_size [--quick] [--json FILE] [--only WORD] [--sizes N ...]
    python -m benchmarks --only every_size [--part WORD] [--sizes N ...]

The second way writes the page. With a word or sizes, all else stays in it as it was measured
before, so that it can be made in parts. Both take the same rows, start and number of sweeps, or,
where a line says so, each its own defaults. Every package has one process for all sizes, and they
take turns; small fits are repeated until they last long enough. The first fit is that of a fresh
process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import judge
from .contest import Settings, Worker, judged
from .environments import FOLDER, UnavailableError
from .harness import DataError, finish, load, unit_interval
from .jobs import (
    PEERS_FUZZY,
    Arrays,
    Contestant,
    landmarks_and_start,
    nothing,
    ours,
    sklearn,
    start_memberships,
    start_rows,
)
from .players import job as files

SIZES, QUICK_SIZES = (
    (150, 1_000, 2_000, 5_000, 10_000, 30_000, 100_000, 1_000_000),
    (150, 1_000, 2_000),
)
FIRST = 10_000  # rows of the first fit of a process
LEAST = 0.1  # seconds that one timing should last
ALLOWANCE = 0.5e-3  # seconds that k-means may take longer than scikit-learn's on the fewest rows
SWEEPS = 10


@dataclass(frozen=True)
class Line:
    """One kind of work, ours and a peer's, and what is wanted of their times."""

    name: str
    data: str  # "D columns, C clusters" of blobs, or a data set
    clusters: int
    arrays: Callable[[np.ndarray, dict[str, Any]], Arrays]
    own: Contestant
    peer: Contestant
    least: dict[int, float]  # the wanted ratio from a number of rows on
    words: dict[str, Any]
    most_rows: int = 1_000_000
    judged: str | None = None  # objectives are compared too: "hard" or "kernel"

    def rows(self, n: int) -> np.ndarray | None:
        """The first n rows; None where there are not as many."""
        if n > self.most_rows or n < 2 * max(self.clusters, self.words.get("n_landmarks", 0)):
            return None
        x = blobs(n, int(self.data.split()[0])) if self.data[0].isdigit() else drawn(self.data)[:n]
        return unit_interval(x, np.dtype(self.words["dtype"]).type) if len(x) == n else None

    def wanted(self, n: int) -> float:
        """The least ratio of the peer's time to ours."""
        return max((ratio for rows, ratio in self.least.items() if rows <= n), default=0.0)


def blobs(n: int, columns: int) -> np.ndarray:
    """Rows of twenty overlapping blobs."""
    rng = np.random.default_rng(columns)
    middles = 1.5 * rng.standard_normal((20, columns))
    return middles[rng.integers(20, size=n)] + rng.standard_normal((n, columns))


def drawn(name: str) -> np.ndarray:
    """The rows of a data set in an order of chance."""
    x = load(name)
    return x[np.random.default_rng(0).permutation(len(x))]


def lines() -> list[Line]:
    """All kinds of work."""
    made: list[Line] = []
    same, faster = {0: 1.0}, {1_000: 2.0, 100_000: 6.0}
    for dtype in ("float64", "float32"):
        for columns, clusters in ((4, 3), (10, 6), (10, 100), (54, 7)):
            words = {"clusters": clusters, "sweeps": SWEEPS, "dtype": dtype}
            where = f"{columns} columns, {clusters} clusters" if columns < 54 else "covtype"
            own, peer = ours("k-means", "linear_hard"), sklearn("k-means", "kmeans")
            made.append(
                Line(
                    f"k-means, {where}, {dtype}",
                    where,
                    clusters,
                    start_rows,
                    own,
                    peer,
                    same,
                    words,
                )
            )
    for columns, clusters in ((4, 3), (10, 6), (54, 7), (2, 100)):
        words = {"clusters": clusters, "sweeps": SWEEPS, "m": 2.0, "dtype": "float64"}
        where = {54: "covtype", 2: "birch1"}.get(columns, f"{columns} columns, {clusters} clusters")
        least = {1_000: 5.0, 30_000: 50.0} if clusters < 100 else {1_000: 5.0}
        own, peer = ours("fuzzy", "linear_fuzzy"), PEERS_FUZZY["scikit-fuzzy"]
        made.append(
            Line(
                f"fuzzy c-means, {where}, float64",
                where,
                clusters,
                start_memberships,
                own,
                peer,
                least,
                words,
            )
        )
    for dtype, landmarks in (("float64", 100), ("float64", 300), ("float32", 300)):
        for where, clusters in (("10 columns, 6 clusters", 6), ("covtype", 7)):
            words = {
                "clusters": clusters,
                "sweeps": SWEEPS,
                "n_landmarks": landmarks,
                "kernel": "rbf",
                "gamma": 1.0,
                "dtype": dtype,
            }
            own, peer = ours("kernel", "hard"), sklearn("kernel", "nystroem_kmeans")
            name = f"kernel k-means, {landmarks} landmarks, {where}, {dtype}"
            most = 1_000_000 if landmarks == 100 else 200_000
            made.append(
                Line(name, where, clusters, landmarks_and_start, own, peer, faster, words, most)
            )
    for where, clusters in (("10 columns, 6 clusters", 6), ("covtype", 7)):
        words = {"clusters": clusters, "dtype": "float64"}
        own, peer = ours("defaults", "linear_defaults"), sklearn("defaults", "kmeans_defaults")
        made.append(
            Line(
                f"k-means, defaults, {where}",
                where,
                clusters,
                nothing,
                own,
                peer,
                same,
                words,
                judged="hard",
            )
        )
        words = {**words, "n_landmarks": 100, "kernel": "rbf", "gamma": 1.0}
        own, peer = ours("kernel defaults", "defaults"), sklearn("kernel defaults", "defaults")
        name = f"kernel k-means, defaults, 100 landmarks, {where}"
        made.append(
            Line(
                name,
                where,
                clusters,
                nothing,
                own,
                peer,
                {0: 1.0, 200_000: 5.0},
                words,
                judged="kernel",
            )
        )
    return made


def measure(
    line: Line, sizes: tuple[int, ...], settings: Settings, folder: Path
) -> dict[int, dict[str, Any]]:
    """Paired times of every size, and of the first and second fit in fresh processes."""
    results: dict[int, dict[str, Any]] = {}
    workers = {
        name: Worker(who, settings) for name, who in (("own", line.own), ("peer", line.peer))
    }
    for n in sizes:
        x = line.rows(n)
        if x is None:
            continue
        files.write(folder, line.words, {"x": x, **line.arrays(x, line.words)})
        times: dict[str, list[float]] = {"own": [], "peer": []}
        costs: dict[str, list[float]] = {"own": [], "peer": []}
        for run in range(settings.runs):
            for name, worker in workers.items():
                answer = folder / f"{name}.npz" if line.judged else None
                times[name].append(
                    worker.run(folder, run, answer, LEAST if n <= 100_000 else 0.0)["seconds"]
                )
                if answer is not None:
                    costs[name].append(cost(line, x, answer))
            if sum(times["peer"]) > settings.patience:
                break
        results[n] = {"own": times["own"], "peer": times["peer"], "costs": costs}
        if n == FIRST or (sizes == QUICK_SIZES and n == max(sizes)):
            results[0] = {
                "own": first_fits(line.own, settings, folder),
                "peer": first_fits(line.peer, settings, folder),
            }
    for worker in workers.values():
        worker.close()
    return results


def first_fits(who: Contestant, settings: Settings, folder: Path) -> list[float]:
    """Seconds of the first two fits of a fresh process."""
    worker = Worker(who, settings)
    times = [worker.run(folder, 0)["seconds"] for _ in range(2)]
    worker.close()
    return times


def cost(line: Line, x: np.ndarray, answer: Path) -> float:
    """The judge's objective of an answer."""
    with np.load(answer) as file:
        labels = file["labels"]
    if line.judged == "hard":
        return judge.hard_cost(x, labels)
    rows = judge.fixed_sample(len(x))[:3000]
    return judge.full_kernel_costs(x[rows], [labels[rows]], judge.kernel_of(line.words))[0]


def report(results: dict[str, dict[int, dict[str, Any]]], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Tables of ratios and of our times, and what was wanted."""
    known = {line.name: line for line in lines()}
    ratios, own, checks = [], [], []
    for name, of in results.items():
        line, medians = known[name], {n: statistics.median(paired(at)) for n, at in of.items()}
        ratios.append([name, *(medians.get(n) for n in sizes), medians.get(0)])
        first = of[0]["own"] if 0 in of else [None, None]
        own.append(
            [
                name,
                *(1e3 * statistics.median(of[n]["own"]) if n in of else None for n in sizes),
                *(1e3 * t if t else t for t in first),
            ]
        )
        for n in sizes:
            if n not in of:
                continue
            allowed = ALLOWANCE if n <= 150 and line.own.call == "linear_hard" else 0.0
            values = [
                peer / max(mine - allowed, 1e-9)
                for peer, mine in zip(of[n]["peer"], of[n]["own"], strict=True)
            ]
            if line.wanted(n):
                text = f"{name}, {n:,} rows, the peer's time over ours" + (
                    " less half a millisecond" if allowed else ""
                )
                checks.append(
                    judged(text, f"at least {line.wanted(n):g}", values, least=line.wanted(n))
                )
            if line.judged:
                costs = [sum(of[n]["costs"][who]) for who in ("own", "peer")]
                checks.append(
                    judged(
                        f"{name}, {n:,} rows, our objective over the peer's",
                        "at most 1.005",
                        [costs[0] / costs[1]],
                        most=1.005,
                    )
                )
        if 0 in of:
            late = of[0]["own"][0] - of[0]["own"][1]
            checks.append(
                judged(
                    f"{name}, seconds by which the first fit of a process is longer than the "
                    "second",
                    "at most 0.1",
                    [late],
                    most=0.1,
                )
            )
    columns = [f"{n:,}" for n in sizes]
    tables = [
        {
            "caption": "The peer's time over ours, by number of rows",
            "columns": ["", *columns, "first fit"],
            "rows": ratios,
        },
        {
            "caption": "Our milliseconds",
            "columns": ["", *columns, "first fit", "second fit"],
            "rows": own,
        },
    ]
    return {"title": "Every size", "tables": tables, "checks": checks, "measured": results}


def paired(at: dict[str, Any]) -> list[float]:
    """Ratios of paired runs."""
    return [peer / mine for peer, mine in zip(at["peer"], at["own"], strict=True)]


def before(path: str | None) -> dict[str, dict[int, dict[str, Any]]]:
    """What an earlier run has measured."""
    if path is None or not Path(path).exists():
        return {}
    return {
        name: {int(n): at for n, at in of.items()}
        for name, of in json.loads(Path(path).read_text())["measured"].items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORD", help="lines whose name holds WORD")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--envs", type=Path, default=FOLDER)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    sizes = tuple(arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES))
    results = before(arguments.json) if arguments.only or arguments.sizes else {}
    with tempfile.TemporaryDirectory() as scratch:
        runs = 2 if arguments.quick else arguments.runs
        settings = Settings(
            runs, arguments.threads, 300.0, 20.0, None, arguments.envs.resolve(), Path(scratch)
        )
        for line in lines():
            if arguments.only not in line.name:
                continue
            try:
                measured = measure(line, sizes, settings, Path(scratch) / "job")
            except (DataError, UnavailableError) as error:
                print(f"   {line.name}: {error}")
                continue
            shown = (
                f"{n or 'first'}: {statistics.median(paired(at)):.3g} "
                f"({1e3 * statistics.median(at['own']):.3g} ms)"
                for n, at in measured.items()
            )
            print(f"   {line.name}: " + ", ".join(shown), flush=True)
            results.setdefault(line.name, {}).update(measured)
    finish(
        report(results, tuple(sorted({n for of in results.values() for n in of} - {0}))),
        arguments.json,
    )


if __name__ == "__main__":
    main()
