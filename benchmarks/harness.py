"""How a benchmark is run and reported: interleaved repeats, medians, ratios, and peak memory from fresh processes."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import threadpoolctl

Run = Callable[[], np.ndarray]  # does the work, returns what the judge scores


@dataclass(frozen=True)
class Outcome:
    """One contestant: seconds of each repeat, and what its last run returned."""

    seconds: list[float]
    result: np.ndarray

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def load(name: str, part: str = "X") -> np.ndarray:
    """The rows of one data set, as stored, or its classes ("y")."""
    folder = Path(os.environ.get("CMEANS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    with np.load(folder / f"{name}.npz") as file:
        return file[part]


def unit_interval(x: np.ndarray, dtype: type) -> np.ndarray:
    """Every feature to [0, 1]; constant ones to 0."""
    x = np.ascontiguousarray(x, dtype=dtype)
    low, high = x.min(axis=0), x.max(axis=0)
    x -= low
    x /= np.where(high > low, high - low, 1)
    return x


def header() -> str:
    """Machine, versions and BLAS threads: what a timing means nothing without."""
    lines = [f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"]
    if Path("/proc/cpuinfo").exists():
        model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        lines[0] = f"{model[1] if model else '?'}, " + lines[0]
    names = ("cmeans", "numpy", "scipy", "scikit-learn", "numba", "scikit-fuzzy")
    lines.append(", ".join(f"{name} {_version(name)}" for name in names))
    for pool in threadpoolctl.threadpool_info():
        lines.append(
            f"{pool['user_api']}: {pool['internal_api']} {pool.get('version')} {pool.get('architecture', '')} x{pool['num_threads']}"
        )
    return "\n".join(lines)


def contest(runs: dict[str, Run], repeats: int) -> dict[str, Outcome]:
    """Each contestant `repeats` times, taking turns, after one run of each that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    results = {name: run() for name, run in runs.items()}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            results[name] = run()
            seconds[name].append(time.perf_counter() - start)
    return {name: Outcome(seconds[name], results[name]) for name in runs}


def report(title: str, outcomes: dict[str, Outcome], scores: dict[str, float], peaks: dict[str, float] | None = None) -> None:
    """A table: median seconds, how many times faster than the slowest, the judge's score, peak memory beyond the input."""
    slowest = max(outcome.median for outcome in outcomes.values())
    best = min(scores.values())
    print(f"\n{title}\n{'':34s}{'median s':>10s}{'times faster':>14s}{'objective':>16s}{'above best':>12s}{'peak MB':>10s}")
    for name, outcome in outcomes.items():
        peak = f"{peaks[name]:10.0f}" if peaks and name in peaks else f"{'':10s}"
        score = scores[name]
        print(f"{name:34s}{outcome.median:10.3f}{slowest / outcome.median:14.1f}{score:16.6f}{score / best - 1:12.1e}{peak}")


def peak_megabytes(module: str, name: str) -> float:
    """Peak memory of one contestant beyond its input, from a fresh process (Linux): runs `python -m MODULE --memory NAME`."""
    out = subprocess.run([sys.executable, "-m", module, "--memory", name], capture_output=True, text=True, check=True).stdout
    return float(json.loads(out.splitlines()[-1])["peak_mb"])


def measure_memory(run: Run) -> None:
    """Print the peak of resident memory during `run` beyond what stood before it."""
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    run()
    print(json.dumps({"peak_mb": (_resident("VmHWM") - before) / 1e6}))


def _resident(key: str) -> int:
    match = re.search(rf"{key}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) * 1024


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
