"""Times: FAGP against AGP, dense projectors against the closed form, and the batched form on large
data.

All are processor seconds of one thread, one run after the other, so that other work on the machine
disturbs them little.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import threadpoolctl
from scipy.linalg import blas
from scipy.spatial.distance import pdist

from cmeans import KernelKMeans, ProbabilisticKMeans

from ...harness import load, unit_interval
from .. import seconds
from ..paper import Run
from .methods import digits, rbf, uci
from .projections import Walked, closed, dense, drawn_start

COMPARED = ("iris", "wine", "seeds", "sonar", "glass", "ionosphere")
STARTS = {1.0: 3, 0.1: 3, 0.01: 1}  # AGP's longest step -> starts
# rows of Iris, AGP's step, starts
DENSE = ((40, 1.0, 3), (80, 1.0, 3), (150, 1.0, 1), (40, 0.1, 3), (80, 0.1, 3))
LARGE_CLUSTERS = 10
LANDMARKS, CLUSTERS = 300, 7  # on Covertype
ON_COVERTYPE = {  # what -> (words, starts measured)
    "batched, quantile 1": ({"solver": "batched", "quantile": 1.0, "polish": None}, 3),
    "batched, quantile .3": ({"solver": "batched", "quantile": 0.3, "polish": None}, 1),
    "batched, quantile .1": ({"solver": "batched", "quantile": 0.1, "polish": None}, 1),
    'solver="lloyd", init="k-means++", n_init=5, with the polish': (
        {"solver": "lloyd", "init": "k-means++", "n_init": 5, "search": None},
        1,
    ),
}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    with threadpoolctl.threadpool_limits(1):
        return seconds.timed(work)


@cache
def _gram(name: str) -> tuple[np.ndarray, int]:
    x, y = uci(name)
    return rbf(x, 1.0), int(y.max()) + 1


@cache
def _fast(name: str, start: int) -> tuple[Walked, float]:
    k, c = _gram(name)
    return timed(lambda: closed(k, drawn_start(len(k), c, start)))


def compare(run: Run, name: str) -> None:
    """Both in closed form from the same starts, AGP with three steps."""
    k, c = _gram(name)
    run.once(f"times | {name}", lambda: {"rows": len(k), "classes": c})
    for step, starts in {1.0: 1, 0.1: 1}.items() if run.quick else STARTS.items():
        run.trials(f"times | {name} | FAGP", starts, partial(_fast_trial, name))
        run.trials(f"times | {name} | AGP {step:g}", starts, partial(_slow_trial, name, step))


def _fast_trial(name: str, start: int) -> dict[str, Any]:
    walked, seconds = _fast(name, start)
    return {"iterations": walked.n_iter, "seconds": seconds}


def _slow_trial(name: str, step: float, start: int) -> dict[str, Any]:
    k, c = _gram(name)
    fast, _ = _fast(name, start)
    slow, seconds = timed(lambda: closed(k, drawn_start(len(k), c, start), step))
    same = bool(np.array_equal(fast.memberships.argmax(1), slow.memberships.argmax(1)))
    return {"iterations": slow.n_iter, "seconds": seconds, "same": same}


def dense_projectors(run: Run) -> None:
    """Both with dense projectors and both in closed form on the first rows of Iris in a random
    order."""
    for rows, step, starts in ((40, 1.0, 1),) if run.quick else DENSE:
        run.trials(f"times | dense | {rows} | {step:g}", starts, partial(_dense_trial, rows, step))


def _dense_trial(rows: int, step: float, start: int) -> dict[str, Any]:
    x, _ = uci("iris")
    k = rbf(x[np.random.default_rng(0).permutation(len(x))[:rows]], 1.0)
    first = drawn_start(rows, 3, start)
    cell: dict[str, Any] = {}
    (fast, many), cell["dense FAGP"] = timed(lambda: dense(k, first, None))
    (slow, more), cell["dense AGP"] = timed(lambda: dense(k, first, step))
    one, cell["closed FAGP"] = timed(lambda: closed(k, first))
    two, cell["closed AGP"] = timed(lambda: closed(k, first, step))
    apart = max(np.abs(fast - one.memberships).max(), np.abs(slow - two.memberships).max())
    same = (many, more) == (one.n_iter, two.n_iter)
    return cell | {"FAGP": many, "AGP": more, "same steps": same, "apart": float(apart)}


def large(run: Run) -> None:
    """FAGP in closed form on a thousand digits in ten clusters, and single dense updates of the
    projector at full size."""
    of_each = 10 if run.quick else 100
    run.trials("times | large", 1, partial(_large_trial, of_each))


def _large_trial(of_each: int, start: int) -> dict[str, Any]:
    x, _ = digits(of_each)
    k, c = rbf(x, 1.0), LARGE_CLUSTERS
    size = len(k) * c
    walked, whole = timed(lambda: closed(k, drawn_start(len(k), c, start)))
    q = np.asfortranarray(np.eye(size, order="F") - np.kron(np.eye(len(k)), np.full((c, c), 1 / c)))
    g, parts = np.ones(size), []
    for first in range(3):
        at = first * c + start
        column = q[:, at].copy()
        # (32) as written
        _, written = timed(lambda column=column, at=at: q - np.outer(column, column) / column[at])
        _, in_place = timed(
            partial(blas.dger, -1 / column[at], column, column, a=q, overwrite_a=True)
        )
        _, direction = timed(partial(blas.dgemv, 1.0, q, g))  # (33)
        parts.append((written, in_place, direction))
    written, in_place, direction = np.median(parts, axis=0).tolist()
    return {
        "rows": len(k),
        "size": size,
        "iterations": walked.n_iter,
        "seconds": whole,
        "written": written,
        "in place": in_place,
        "direction": direction,
    }


def covertype(run: Run) -> None:
    """Every fifth row of Covertype with 300 landmarks: starts of the batched form against five
    k-means++ starts of kernel k-means."""
    part = slice(None, None, 200 if run.quick else 5)
    x = unit_interval(load("covtype")[part], np.float32)
    rng = np.random.default_rng(0)
    sample = x[rng.choice(len(x), min(len(x), 2000), replace=False)].astype(np.float64)
    words: dict[str, Any] = {
        "kernel": "rbf",
        "gamma": 1.0 / float(np.median(pdist(sample, "sqeuclidean"))),
        "landmarks": rng.choice(len(x), LANDMARKS, replace=False),
        "n_jobs": 1,
    }
    run.once(
        "times | covertype", lambda: {"rows": len(x), "landmarks": LANDMARKS, "classes": CLUSTERS}
    )

    def trial(make: Callable[..., Any], start: int) -> dict[str, Any]:
        model, seconds = timed(lambda: make(CLUSTERS, random_state=start, **words).fit(x))
        return {"objective": float(model.objective_history_[-1]), "seconds": seconds}

    for warm in (KernelKMeans, ProbabilisticKMeans):  # what is loaded once is no part of the times
        warm(CLUSTERS, max_iter=2, random_state=0, **words).fit(x)
    run.trials(
        "times | covertype | KernelKMeans", 1, partial(trial, partial(KernelKMeans, n_init=5))
    )
    for name, (more, starts) in ON_COVERTYPE.items():
        run.trials(
            f"times | covertype | {name}",
            1 if run.quick else starts,
            partial(trial, partial(ProbabilisticKMeans, **more)),
        )
