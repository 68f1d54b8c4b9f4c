"""The runs on MNIST behind Tables 2 and 3 and Figures 3 and 4."""

from __future__ import annotations

import time
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans

from ..paper import Run
from . import fits
from .problem import CLUSTERS, KERNELS, MOST_SWEEPS, RUNS, UNDIVIDED, Array, rows, sample, some_rows, starts

ROWS = 70_000
SIZES = (50, 100, 200, 500, 1000, 5000, 10000)
FEWER_RUNS = {5000: 2, 10000: 1}  # a neural kernel's matrix has eigenvalues of either sign, so it takes eigenpairs: minutes at 10,000
FEWER_ROWS = 4000  # where the exact runs on all rows are not there, contestants are compared on these
QUICK_ROWS, QUICK_SIZES, QUICK_RUNS = 800, (50, 200), 2
UNDIVIDED_SIZES, UNDIVIDED_RUNS = (100, 1000), 3
DRAWN = 4000  # rows whose kernel columns the clustering error is taken from, where there are more than ten thousand


def key_of(n: int, kernel: str, what: int | str) -> str:
    return f"{n} rows | {kernel} | {what}"


def runs_at(m: int) -> int:
    return FEWER_RUNS.get(m, RUNS)


def exact_file(folder: Path, kernel: str) -> Path:
    return folder / f"chitta2011-{kernel}.npz"


def measure(run: Run) -> None:
    for kernel in KERNELS:
        run.stage(f"MNIST, {kernel} kernel", partial(_kernel, run, kernel))
        for kept in (_yardstick, _gram, _full):
            kept.cache_clear()  # 1.1 GB
    if not run.quick:
        run.stage("MNIST, polynomial kernel as printed", partial(_undivided, run))


def _kernel(run: Run, kernel: str) -> None:
    rows()  # or say that there are none
    if run.quick:
        compare(run, kernel, QUICK_ROWS, QUICK_SIZES, QUICK_RUNS)
        return
    there = exact_file(run.exact_folder, kernel).exists()
    if there:
        _against_exact(run, kernel)
    else:
        compare(run, kernel, FEWER_ROWS, [m for m in SIZES if m <= FEWER_ROWS // 4], RUNS)
    _starts(run, kernel, ROWS, RUNS)
    for m in SIZES:
        key = key_of(ROWS, kernel, m)
        if there and key in (cells := run.results.read()) and "approximate_ari" not in cells[key]:
            run.results.forget(partial(str.__eq__, key))  # measured when there was nothing to compare with
        run.trials(key, runs_at(m), partial(trial, kernel, ROWS, m, exact_file(run.exact_folder, kernel) if there else None))


def compare(run: Run, kernel: str, n: int, sizes: Any, count: int) -> None:
    """All three algorithms on few rows, the full kernel among them."""
    _starts(run, kernel, n, count)
    run.trials(key_of(n, kernel, "full"), count, partial(_full_trial, kernel, n))
    for m in sizes:
        run.trials(key_of(n, kernel, m), count, partial(trial, kernel, n, m, None))


def trial(kernel: str, n: int, m: int, exact: Path | None, number: int) -> dict[str, Any]:
    """One run of approximate and two-step kernel k-means, from the same memberships and on the same sample."""
    x, y = some_rows(n)
    chosen, start = sample(number, m, n), starts(number, n)
    started = time.perf_counter()
    columns = KERNELS[kernel].prepare(x[chosen])(x)
    kernel_seconds = time.perf_counter() - started
    diag = KERNELS[kernel].diag(x)
    reference = exact_labels(exact, number) if exact is not None else _full(kernel, n, number).labels if n < ROWS else None
    found: dict[str, Any] = {"kernel_seconds": kernel_seconds}
    for name, fit in (("approximate", fits.approximate), ("two_step", fits.two_step)):
        found |= fits.said(name, fit(columns, chosen, diag, start, CLUSTERS), y, reference, _yardstick(kernel, n))
    return found


def exact_labels(path: Path, number: int) -> Array | None:
    with np.load(path) as file:
        labels = file["labels"]
    return labels[number] if number < len(labels) else None


def _against_exact(run: Run, kernel: str) -> None:
    """What the exact partitions of all rows are worth, and how far one start's is from another's."""
    path = exact_file(run.exact_folder, kernel)
    with np.load(path) as file:
        labels = file["labels"]
    _, y = rows()

    def one(number: int) -> dict[str, float]:
        return {"error": _yardstick(kernel, ROWS).error(labels[number]), **fits.agreement(labels[number], y)}

    run.trials(key_of(ROWS, kernel, "full"), len(labels), one)
    run.once(key_of(ROWS, kernel, "full pairs"), lambda: {"ari": pairs(labels)})


def pairs(labels: Any) -> list[float]:
    """ARI of every two partitions."""
    return [float(adjusted_rand_score(a, b)) for i, a in enumerate(labels) for b in labels[:i]]


@lru_cache(maxsize=2 * RUNS)
def _full(kernel: str, n: int, number: int) -> fits.Fit:
    return fits.full(_gram(kernel, n)[0], starts(number, n), CLUSTERS)


@lru_cache(maxsize=1)
def _gram(kernel: str, n: int) -> tuple[Array, float]:
    x, _ = some_rows(n)
    started = time.perf_counter()
    gram = KERNELS[kernel](x, x)
    return gram, time.perf_counter() - started


@lru_cache(maxsize=1)
def _yardstick(kernel: str, n: int) -> fits.Yardstick:
    x, _ = some_rows(n)
    diag = KERNELS[kernel].diag(x)
    if n <= FEWER_ROWS:
        return fits.Yardstick(_gram(kernel, n)[0], np.arange(n), diag)
    drawn = np.sort(np.random.default_rng(2012).choice(n, DRAWN, replace=False))
    return fits.Yardstick(KERNELS[kernel].prepare(x[drawn])(x), drawn, diag)


def _full_trial(kernel: str, n: int, number: int) -> dict[str, Any]:
    fit = _full(kernel, n, number)
    found = {"objective": fit.objective, "seconds": fit.seconds, "sweeps": fit.sweeps, "kernel_seconds": _gram(kernel, n)[1]}
    found["error"] = _yardstick(kernel, n).error(fit.labels)
    return found | fits.agreement(fit.labels, some_rows(n)[1])


def _starts(run: Run, kernel: str, n: int, count: int) -> None:
    """The error of the random memberships themselves: where the error reduction is measured from."""

    def one(number: int) -> dict[str, float]:
        return {"error": _yardstick(kernel, n).error(starts(number, n))}

    run.trials(key_of(n, kernel, "start"), count, one)


def _undivided(run: Run) -> None:
    """(x.y + 1)^5 as it stands, which has a large constant part: the library centres it in feature space, so it is given as a kernel."""
    x, y = rows()

    def one(m: int, number: int) -> dict[str, float]:
        started = time.perf_counter()
        words = {"landmarks": sample(number, m, ROWS), "init": starts(number, ROWS), "max_iter": MOST_SWEEPS, "tol": 0}
        model = KernelKMeans(CLUSTERS, kernel=UNDIVIDED, progressive=False, **words).fit(x)
        return {"seconds": time.perf_counter() - started, "sweeps": int(model.n_iter_), **fits.agreement(model.labels_, y)}

    for m in UNDIVIDED_SIZES:
        run.trials(key_of(ROWS, "undivided", m), UNDIVIDED_RUNS, partial(one, m))
