"""The runs on MNIST behind Tables 2 and 3 and Figures 3 and 4."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans, Search

from ..paper import Run
from ..seconds import timed
from . import fits
from .problem import (
    CLUSTERS,
    KERNELS,
    MOST_SWEEPS,
    RUNS,
    UNDIVIDED,
    Array,
    rows,
    sample,
    some_rows,
    starts,
)

ROWS = 70_000
SIZES = (50, 100, 200, 500, 1000, 5000, 10000)
# a neural kernel's matrix has eigenvalues of either sign, so it takes eigenpairs: minutes at 10,000
FEWER_RUNS = {5000: 2, 10000: 1}
# where the exact runs on all rows are not there, contestants are compared on these
FEWER_ROWS = 4000
QUICK_ROWS, QUICK_SIZES, QUICK_RUNS = 800, (50, 200), 2
UNDIVIDED_SIZES, UNDIVIDED_RUNS = (100, 1000), 3
# rows whose kernel columns the clustering error is taken from, where there are more than ten
# thousand
DRAWN = 4000


def key_of(n: int, kernel: str, what: int | str) -> str:
    return f"{n} rows | {kernel} | {what}"


def runs_at(m: int) -> int:
    return FEWER_RUNS.get(m, RUNS)


def exact_file(folder: Path, kernel: str) -> Path:
    return folder / f"chitta2011-{kernel}.npz"


def measure(run: Run) -> None:
    for kernel in KERNELS:
        run.stage(f"MNIST, {kernel} kernel", partial(_kernel, run, kernel))
    if not run.quick:
        run.stage("MNIST, polynomial kernel as printed", partial(_undivided, run))


def _kernel(run: Run, kernel: str) -> None:
    rows()  # or say that there are none
    if run.quick:
        compare(run, kernel, QUICK_ROWS, QUICK_SIZES, QUICK_RUNS)
        return
    there = exact_file(run.exact_folder, kernel).exists()
    if not there:
        compare(run, kernel, FEWER_ROWS, [m for m in SIZES if m <= FEWER_ROWS // 4], RUNS)
    contest = contest_on(ROWS, kernel)
    labels = _against_exact(run, kernel, contest) if there else []
    _starts(run, kernel, ROWS, RUNS, contest)
    for m in SIZES:
        key = key_of(ROWS, kernel, m)
        if there and key in (cells := run.results.read()) and "approximate_ari" not in cells[key]:
            # measured when there was nothing to compare with
            run.results.forget(partial(str.__eq__, key))
        run.trials(
            key,
            runs_at(m),
            lambda number, m=m: contest.trial(
                m, number, labels[number] if number < len(labels) else None
            ),
        )


def contest_on(n: int, kernel: str) -> fits.Contest:
    """On all rows the clustering error is taken from some columns of K."""
    drawn = (
        None
        if n <= FEWER_ROWS
        else np.sort(np.random.default_rng(2012).choice(n, DRAWN, replace=False))
    )
    return fits.Contest(cache(partial(some_rows, n)), KERNELS[kernel], CLUSTERS, drawn)


def compare(run: Run, kernel: str, n: int, sizes: Any, count: int) -> None:
    """All three algorithms on few rows, the full kernel among them."""
    contest = contest_on(n, kernel)
    _starts(run, kernel, n, count, contest)
    run.trials(key_of(n, kernel, "full"), count, contest.full_trial)
    for m in sizes:
        run.trials(
            key_of(n, kernel, m),
            count,
            lambda number, m=m: contest.trial(m, number, contest.full(number).labels),
        )


def _starts(run: Run, kernel: str, n: int, count: int, contest: fits.Contest) -> None:
    run.trials(
        key_of(n, kernel, "start"), count, lambda number: {"error": contest.start_error(number)}
    )


def _against_exact(run: Run, kernel: str, contest: fits.Contest) -> Array:
    """What the exact partitions of all rows are worth, and how far one start's is from
    another's."""
    with np.load(exact_file(run.exact_folder, kernel)) as file:
        labels = file["labels"]

    def one(number: int) -> dict[str, float]:
        return {
            "error": contest.yardstick.error(labels[number]),
            **fits.agreement(labels[number], rows()[1]),
        }

    run.trials(key_of(ROWS, kernel, "full"), len(labels), one)
    pairs = [(a, b) for i, a in enumerate(labels) for b in labels[:i]]
    run.once(
        key_of(ROWS, kernel, "full pairs"),
        lambda: {"ari": [float(adjusted_rand_score(a, b)) for a, b in pairs]},
    )
    return labels


def _undivided(run: Run) -> None:
    """(x.y + 1)^5 as it stands, which has a large constant part: the library centres it in feature
    space, so it is given as a kernel."""
    x, y = rows()

    def one(m: int, number: int) -> dict[str, float]:
        words = {
            "landmarks": sample(number, m, ROWS),
            "init": starts(number, ROWS),
            "max_iter": MOST_SWEEPS,
            "tol": 0,
        }
        model = KernelKMeans(CLUSTERS, kernel=UNDIVIDED, search=Search(progressive=False), **words)
        _, seconds = timed(lambda: model.fit(x))
        return {
            "seconds": seconds,
            "sweeps": int(model.n_iter_),
            **fits.agreement(model.labels_, y),
        }

    for m in UNDIVIDED_SIZES:
        run.trials(key_of(ROWS, "undivided", m), UNDIVIDED_RUNS, partial(one, m))
