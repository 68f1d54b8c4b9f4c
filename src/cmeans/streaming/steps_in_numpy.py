"""The C function `absorb_step` in NumPy: sums of a step's rows by cluster, the E-step of a mixture
whose clusters have metrics of their own, and what they make of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray
from .living_clusters import (
    HORIZONS,
    LATE,
    MEMORY,
    OF_DEVIATION,
    OF_HEARING,
    OF_ITS_OWN,
    OF_MEDIAN,
    OF_SHARES,
    LivingClusters,
    Shapes,
    scatter,
)

Changes = dict[str, Any]  # of clusters, by name


@dataclass(frozen=True)
class StepSums:
    """Sums over a step's rows; u are posterior probabilities, 0 of outlying rows, and e differences
    from the means that clusters had before."""

    nearest: IntArray  # (b,) the likeliest cluster
    order: IntArray  # (b,) rows by their clusters, outlying ones last
    ends: IntArray  # (c + 2,) where those of each end, 0 first
    facts: Float64  # (5, c) numbers of rows that are nearest to it, of those above its median, of
    # those that are not outlying; of these the sum of roots less the median, and of their squares
    came: Float64  # (c,) of u
    first: Float64  # (c, d) of u e
    second: Float64  # (c, d, d) of u e e', or (c, d) of u e^2


def sums_of_step(x: Float64, shapes: Shapes, median: Float64, far: Float64) -> StepSums:
    """Return the sums over rows (b, d)."""
    b, c = len(x), len(far)
    d2 = shapes.distances(x)
    log_shares = shapes.log_shares(d2)
    nearest = log_shares.argmax(axis=1)
    root = np.cbrt(d2[np.arange(b), nearest])
    inside = root <= far[nearest]
    u = np.exp(log_shares - log_shares.max(axis=1, keepdims=True))
    u = np.where(inside[:, None], u / u.sum(axis=1, keepdims=True), 0.0)
    owner = np.where(inside, nearest, c)
    over = root - median[nearest]
    facts = [
        np.bincount(nearest, weights, c)
        for weights in (np.ones(b), over > 0, inside, inside * over, inside * over * over)
    ]
    e = [x - mean for mean in shapes.mean]
    return StepSums(
        nearest,
        np.argsort(owner, kind="stable"),
        np.cumsum(np.bincount(owner + 1, minlength=c + 2)),
        np.stack(facts),
        u.sum(axis=0),
        np.array([u[:, j] @ e[j] for j in range(c)]),
        np.array([scatter(e[j], u[:, j]) for j in range(c)]),
    )


def moved(
    c: LivingClusters, shapes: Shapes, sums: StepSums, b: int, now: int
) -> tuple[Changes, Float64]:
    """Return what b rows make of the clusters, and the shares (c, 2) of masses and of late masses
    that their cells keep."""
    came = sums.came
    here = came >= OF_ITS_OWN  # others forget nothing
    means, kept = _moved_means(c, shapes, sums, here)
    changes = {
        "share": c.share + (1 - np.exp(-b / OF_SHARES)) * (came / b - c.share),
        **_distances_seen(c, sums.facts),
        **_heard(c, here, came, b, now),
        **means,
    }
    left = np.column_stack([kept, np.exp(-came / LATE)])
    left[~here] = 1.0
    return changes, left


def _distances_seen(c: LivingClusters, facts: Float64) -> Changes:
    """Return the median of distances of all nearest rows, and the deviation of those that are not
    outlying."""
    mine, above, ok, over, squares = facts
    move = (1 - np.exp(-mine / OF_MEDIAN)) * 1.25 * c.deviation
    move *= 2 * above / np.maximum(mine, 1) - 1
    move[(mine == 0) | (c.awake == 0)] = 0.0
    weight = np.where((ok > 1) & (c.awake > 0), 1 - np.exp(-ok / OF_DEVIATION), 0.0)
    square = np.maximum(squares - move * (2 * over - ok * move), 0.0)  # about the median now
    variance = (1 - weight) * c.deviation**2 + weight * square / np.maximum(ok, 1)
    return {"median": c.median + move, "deviation": np.sqrt(variance)}


def _heard(c: LivingClusters, here: np.ndarray, came: Float64, b: int, now: int) -> Changes:
    """Return the rates at which rows of clusters come."""
    since = b + c.silence
    q = np.exp(-since / OF_HEARING)
    return {
        "heard": np.where(here, c.heard * q + came, c.heard),
        "time": np.where(here, c.time * q + since, c.time),
        "silence": np.where(here, 0.0, since),
        "seen": np.where(here, now, c.seen),
        "awake": np.where(here, 1, c.awake),
    }


def _moved_means(
    c: LivingClusters, shapes: Shapes, sums: StepSums, here: np.ndarray
) -> tuple[Changes, Float64]:
    """Return means and moments of the clusters whose rows are here, and the share (c,) of the past
    that they keep."""
    came, some, d = sums.came, np.flatnonzero(here), c.means.shape[2]
    n = came[some]
    mean = shapes.mean[some] + sums.first[some] / n[:, None]
    away = mean[:, None] - c.means[some]  # (k, h, d)
    factor = shapes.factors[some]
    y = away @ factor.transpose(0, 2, 1) if factor.ndim == 3 else away * factor[:, None]
    errors, means, moments = c.errors.copy(), c.means.copy(), c.moments.copy()
    errors[some] += (1 - np.exp(-n / LATE))[:, None] * ((y * y).sum(axis=2) - errors[some])
    pace = np.maximum(1 - (1 - 1 / HORIZONS) ** n[:, None], (n / (c.rows[some] + n))[:, None])
    means[some] += pace[:, :, None] * away
    rows = c.rows.copy()
    rows[some] += n
    rung = c.rung.copy()
    lived = np.maximum(rows[some], HORIZONS[0])[:, None] >= HORIZONS
    rung[some] = np.where(lived, errors[some], np.inf).argmin(axis=1)
    kept = np.exp(-came / (MEMORY * np.maximum(HORIZONS[rung], d / 2)))
    mass = np.where(here, kept * c.mass + came, c.mass)
    past = kept[some].reshape(-1, *[1] * (moments.ndim - 1)) * moments[some]
    moments[some] = past + sums.second[some]
    moved = {"errors": errors, "means": means, "moments": moments, "rows": rows, "rung": rung}
    return {**moved, "mass": mass}, kept
