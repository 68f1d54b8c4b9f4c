"""Figure 1: approximate and two-step kernel k-means on two groups of points in the plane, from the
same memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans, Search
from cmeans.kernels import RBF

from ..paper import Run
from .problem import Array, sample, starts

KEY = "crescents"
POINTS, SAMPLE, SHOWN, DRAWS, QUICK_DRAWS = 400, 24, 0, 100, 5
OFFSET = (3.6, 2.9)
KERNEL = RBF(gamma=0.2)
SHOWN_SWEEPS = (1, 3)


def measure(run: Run) -> None:
    run.once(f"{KEY} | panels", panels)
    run.trials(f"{KEY} | draws", QUICK_DRAWS if run.quick else DRAWS, draw)


def points() -> tuple[Array, Array]:
    """Two crescents, one above the other and half as far to the right as it is long, and which is
    which."""
    rng = np.random.default_rng(2011)
    y = np.arange(POINTS) % 2
    t = rng.uniform(-1.0, 1.0, POINTS)
    across, up = 2.3 * t, 0.9 * t**2
    x = (
        np.where(y == 0, across - 0.2, across + OFFSET[0]),
        np.where(y == 0, up - 0.9, OFFSET[1] - up),
    )
    return np.stack(x, axis=1) + rng.normal(0.0, 0.22, (POINTS, 2)), y


def model_of(number: int, *, whole: bool, most: int) -> tuple[Any, Array]:
    """A contestant after so many sweeps, and the rows that it looks at while it makes its
    centres."""
    x, _ = points()
    chosen, start = sample(number, SAMPLE, POINTS), starts(number, POINTS, 2)
    words: dict[str, Any] = {
        "kernel": KERNEL,
        "max_iter": most,
        "tol": 0,
        "search": Search(progressive=False),
    }
    if whole:
        return KernelKMeans(2, landmarks=chosen, init=start, **words).fit(x), chosen
    return KernelKMeans(2, landmarks=None, init=start[chosen], **words).fit(x[chosen]), chosen


def draw(number: int) -> dict[str, float]:
    """Both contestants from one start on one sample, against the two groups."""
    x, y = points()
    found = {}
    for name, whole in (("approximate", True), ("two_step", False)):
        model, _ = model_of(number, whole=whole, most=300)
        found[f"{name}_ari"] = float(adjusted_rand_score(y, model.predict(x)))
        found[f"{name}_sweeps"] = int(model.n_iter_)
    return found


def panels() -> dict[str, Any]:
    """What the figure shows: points, sample, and labels and the rows nearest to the centres after
    some sweeps."""
    x, _ = points()
    found: dict[str, Any] = {
        "points": np.round(x, 3).tolist(),
        "sample": sample(SHOWN, SAMPLE, POINTS).tolist(),
    }
    for name, whole in (("approximate", True), ("two_step", False)):
        steps = []
        for most in (*SHOWN_SWEEPS, 300):
            model, _ = model_of(SHOWN, whole=whole, most=most)
            nearest = model.transform(x).argmin(axis=0)
            steps.append(
                {
                    "sweeps": int(model.n_iter_),
                    "labels": model.predict(x).tolist(),
                    "nearest": nearest.tolist(),
                }
            )
        found[name] = steps
    return found
