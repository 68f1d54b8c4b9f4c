"""A stand-in for the full ImageNet of Table 4: 1,262,102 rows of 900 features, made block by block,
so that only K_B is ever held.

    python -m benchmarks.papers.chitta2011.large N M C ...     one sample size, in a process of its
                                                               own: seconds and peak memory as JSON
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cmeans.kernels import RBF

from ...harness import quiet
from ..paper import Run
from ..seconds import timed
from . import fits
from .problem import Array, starts

ROWS, FEATURES, CLASSES = 1_262_102, 900, 164
# TYPICAL: rows of the theme that goes with their class
THEMES, THEMATIC, TYPICAL = 20, np.float32(0.75), 0.4
# Clusters sought with so many landmarks: 100 rows cannot start 164, and with more than 500 a sweep
# of 164 takes minutes.
SIZES = {100: (20,), 200: (20, 164), 500: (20, 164), 1000: (20,), 2000: (20,)}
QUICK_ROWS, QUICK_SIZES = 3000, {100: (20,)}
SWEEPS, QUICK_SWEEPS = 20, 5
SIGMA = 0.1
KERNEL = RBF(gamma=1 / (2 * SIGMA**2))
BLOCK = 2**14
POWER = 5  # squarings: shares of words are 32nd powers of uniform numbers
ROOT = Path(__file__).resolve().parents[3]
GB = 1e9


def key_of(what: int | str, clusters: int | None = None) -> str:
    return f"large | {what}" + (f" | C {clusters}" if clusters is not None else "")


def measure(run: Run) -> None:
    n, sizes, sweeps = (
        (QUICK_ROWS, QUICK_SIZES, QUICK_SWEEPS) if run.quick else (ROWS, SIZES, SWEEPS)
    )
    run.once(key_of("rows"), partial(_of_rows, n, sweeps))
    for m, numbers in sizes.items():
        missing = [c for c in numbers if key_of(m, c) not in run.results.read()]
        if missing and _fits_in_memory(n, m):
            found = _alone(n, m, sweeps, missing)
            for c in missing:
                run.once(key_of(m, c), partial(found.__getitem__, str(c)))


def _of_rows(n: int, sweeps: int) -> dict[str, Any]:
    """What the page says of the rows: kernel values within classes and between, of a few of
    them."""
    x, classes, themes = next(blocks(min(n, 4000)))
    gram = KERNEL(x, x)
    same = (classes[:, None] == classes[None, :]) & (themes[:, None] == themes[None, :])
    apart = gram[~same]
    np.fill_diagonal(same, False)
    ends = [float(value) for value in np.quantile(gram[same], (0.1, 0.5, 0.9))]
    found = {
        "rows": n,
        "features": FEATURES,
        "classes": CLASSES,
        "themes": THEMES,
        "sweeps": sweeps,
        "sigma": SIGMA,
    }
    return found | {"within": ends, "between": float(np.median(apart)), "gb": 4 * n * FEATURES / GB}


def blocks(n: int) -> Iterator[tuple[Array, Array, Array]]:
    """Rows (b, 900), their classes and themes, always the same: shares of words that sum to about
    one. Part is the row's own, most of the rest its theme's, which has little to do with its class,
    and the remainder its class's."""
    words, styles = np.split(_shares(np.random.default_rng(2011), CLASSES + THEMES), [CLASSES])
    for number, first in enumerate(range(0, n, BLOCK)):
        rng = np.random.default_rng([2011, number])
        b = min(BLOCK, n - first)
        classes, themes = rng.integers(0, CLASSES, b), rng.integers(0, THEMES, b)
        themes = np.where(rng.random(b) < TYPICAL, classes % THEMES, themes)
        own = rng.uniform(0.25, 0.8, (b, 1)).astype(np.float32)
        x = _shares(rng, b)
        x *= own
        x += (1 - own) * (THEMATIC * styles[themes] + (1 - THEMATIC) * words[classes])
        yield np.minimum(x, 1.0, out=x), classes, themes


def _shares(rng: np.random.Generator, n: int) -> Array:
    """A few words are frequent, most are rare: (n, 900), a mean of 1/900."""
    x = rng.random((n, FEATURES), dtype=np.float32)
    for _ in range(POWER):
        np.multiply(x, x, out=x)
    x *= (2**POWER + 1) / FEATURES
    return x


def _fits_in_memory(n: int, m: int) -> bool:
    need = 4 * n * m * 1.15
    info = Path("/proc/meminfo")
    free = (
        int(info.read_text().split("MemAvailable:")[1].split()[0]) * 1024 if info.exists() else need
    )
    if free < need:
        print(
            f"      m = {m}: left out: K_B takes {need / GB:.1f} GB, and {free / GB:.1f} GB are "
            "free",
            flush=True,
        )
    return free >= need


def _alone(n: int, m: int, sweeps: int, numbers: list[int]) -> dict[str, Any]:
    """In a process of its own, whose peak is its own."""
    words = [sys.executable, "-W", "ignore", "-m", __name__, *map(str, (n, m, sweeps, *numbers))]
    done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(n: int, m: int, sweeps: int, numbers: list[int]) -> dict[str, Any]:
    """Both contestants with m landmarks, for each number of clusters. Rows are independent, so the
    first are as good a sample as any."""
    chosen = np.arange(m)
    columns, classes = np.empty((n, m), np.float32), np.empty(n, np.int64)
    prepared, kernel_seconds = None, 0.0
    for first, (x, own, _) in zip(range(0, n, BLOCK), blocks(n), strict=True):
        if prepared is None:
            prepared, kernel_seconds = timed(partial(KERNEL.prepare, x[:m].copy()))
        values, seconds = timed(partial(prepared, x))
        columns[first : first + len(x)] = values
        kernel_seconds += seconds
        classes[first : first + len(x)] = own
    diag = np.ones(n, np.float32)
    held, found = peak(), {}
    for clusters in numbers:
        start = starts(0, n, clusters)
        cell: dict[str, Any] = {
            "kernel_seconds": kernel_seconds,
            "start": fits.error_of(start, columns, chosen, diag),
        }
        for name, fit in fits.CONTESTANTS.items():
            cell |= fits.said(name, fit(columns, chosen, diag, start, clusters, sweeps), classes)
        found[str(clusters)] = cell | {
            "columns_gb": columns.nbytes / GB,
            "held_gb": held,
            "peak_gb": peak(),
        }
    return found


def peak() -> float | None:
    """The most memory this process has held, in GB."""
    status = Path("/proc/self/status")
    return (
        int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024 / GB
        if status.exists()
        else None
    )


if __name__ == "__main__":
    quiet()
    size, landmarks, most, *wanted = map(int, sys.argv[1:])
    print(json.dumps(one(size, landmarks, most, wanted)))
