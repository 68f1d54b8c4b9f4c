"""A plane to draw rows in, of any space: the two directions in which the centres lie apart most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64
from ..runtime.numerals import percent
from ..spaces.centres import Centres
from .ellipses import cluster_covariances
from .rows import InspectedRows

FLAT = 1e-6  # share of the largest spread below which centres do not differ in a direction
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Plane:
    """A plane, and where rows and clusters are in it."""

    positions: Float64  # (n, 2) of the rows
    centres: Float64  # (c, 2)
    names: tuple[str, str]  # of the axes
    covariances: Float64 | None = None  # (c, 2, 2) of clusters that have some


def plane_of(seen: InspectedRows) -> Plane:
    """Return the plane in which the centres of a model lie apart most; where its space has no
    coordinates, that in which the rows themselves do."""
    state = seen.state
    if seen.represented is None and isinstance(seen.x, np.ndarray):
        return _plane_of_rows(seen.x, seen.feature_names)
    if state.metrics is None:
        return Plane(*plane_by_distances(state.centres, seen.distances, seen.masses))
    return _plane_of_coordinates(seen)


def _plane_of_rows(x: Float64, names: tuple[str, ...]) -> Plane:
    """Return the plane of the two principal axes of rows; that of the columns where there are no
    more than two. What is missing is drawn at the means of the columns."""
    nothing, missing = np.empty((0, 2)), np.isnan(x)
    if missing.any():
        counts = np.maximum((~missing).sum(axis=0), 1)
        x = np.where(missing, np.where(missing, 0.0, x).sum(axis=0) / counts, x)
    if (d := x.shape[1]) <= 2:
        return Plane(np.pad(x, ((0, 0), (0, 2 - d))), nothing, (names[0], (*names, "")[1]))
    from sklearn.decomposition import PCA  # which takes a while to load

    axes = PCA(2, random_state=0)
    positions = axes.fit_transform(x)
    one, other = (
        f"direction {number} ({percent(share)} of the rows' spread)"
        for number, share in enumerate(axes.explained_variance_ratio_, 1)
    )
    return Plane(positions, nothing, (one, other))


def _plane_of_coordinates(seen: InspectedRows) -> Plane:
    """Return the plane of clusters with metrics, whose distances are no single space's: where
    their centres span less than a plane, the rest is where their rows lie apart most."""
    centres, covariances = seen.state.centres.coordinates, cluster_covariances(seen)
    weight = np.maximum(seen.masses, 1e-3 * max(seen.masses.max(initial=0.0), 1.0))
    share = weight / weight.sum()
    middle = share @ centres
    away = np.sqrt(share)[:, None] * (centres - middle)
    values, vectors = np.linalg.eigh(away.T @ away)
    kept = [k for k in np.argsort(-values)[:2] if values[k] > FLAT * max(values.max(), TINY)]
    apart, spread = vectors[:, kept], values[kept] / max(values.clip(min=0).sum(), TINY)
    names = [
        f"direction {number + 1} ({percent(part)} of the centres' spread)"
        for number, part in enumerate(spread)
    ]
    rest, width = np.eye(len(middle)) - apart @ apart.T, min(2, len(middle))
    within = rest @ np.einsum("j,jab->ab", share, covariances) @ rest
    along = np.linalg.eigh(within)[1][:, ::-1][:, : width - len(kept)]
    axes = np.zeros((len(middle), 2))  # of one column the second stays empty
    axes[:, :width] = np.c_[apart, along]
    names += ["direction in which rows lie apart most"] * along.shape[1] + ["", ""]
    return Plane(
        (seen.coordinates - middle) @ axes,
        (centres - middle) @ axes,
        (names[0], names[1]),
        axes.T @ covariances @ axes,
    )


def plane_by_distances(
    centres: Centres, distances: Float64, masses: Float64
) -> tuple[Float64, Float64, tuple[str, str]]:
    """Return positions of rows (n, 2) and of centres (c, 2) in the plane in which centres lie apart
    most, and the names of its axes.

    With p_k = sum_j b_jk (v_j - mean), weights b_j summing to zero, inner products need distances
    alone: <phi(x), p> = sum_j b_j (|v_j|^2 - |phi(x) - v_j|^2) / 2, because |phi(x)|^2 drops out.
    Where centres span one direction or none (one or two clusters), the other axis is the distance
    of a row from their span.

    `distances`: (n, c) of the rows to the centres; `masses`: (c,) of the clusters.
    """
    c = len(centres)
    weight = np.maximum(masses, 1e-3 * max(masses.max(initial=0.0), 1.0))
    share = weight / weight.sum()
    centring = np.eye(c) - np.outer(np.ones(c), share)  # rows: v_j - mean over the centres
    gram = centring @ ((centres.inner(centres) + centres.inner(centres).T) / 2) @ centring.T
    values, vectors = np.linalg.eigh(np.sqrt(np.outer(share, share)) * gram)
    order = np.argsort(-values)[:2]
    kept = [number for number in order if values[number] > FLAT * max(values.max(), TINY)]
    # Unit directions: p = sum_j coefficient_j (v_j - mean), |p| = 1.
    # (k, c), rows sum to zero
    coefficients = (np.sqrt(share)[:, None] * vectors[:, kept] / np.sqrt(values[kept])).T @ centring
    norms = centres.squared_norms()
    rows = (norms - distances**2) @ coefficients.T / 2
    middle = share @ centres.inner(centres) @ coefficients.T
    # <v_j - mean, p>
    apart = gram @ (np.sqrt(share)[:, None] * vectors[:, kept] / np.sqrt(values[kept]))
    spread = values[kept] / max(values.clip(min=0).sum(), TINY)
    names = [
        f"direction {number + 1} ({percent(part)} of the centres' spread)"
        for number, part in enumerate(spread)
    ]
    rows = rows - middle
    if len(kept) == 2:
        return rows, apart, (names[0], names[1])
    nearest = np.argmin(distances, axis=1)
    along = ((rows - apart[nearest]) ** 2).sum(axis=1)
    across = np.sqrt(np.maximum(distances[np.arange(len(rows)), nearest] ** 2 - along, 0.0))
    if not kept:
        return (
            np.column_stack([across, np.zeros(len(rows))]),
            np.zeros((c, 2)),
            ("distance from the centre", ""),
        )
    return (
        np.column_stack([rows[:, 0], across]),
        np.column_stack([apart[:, 0], np.zeros(c)]),
        (names[0], "distance from the line of centres"),
    )
