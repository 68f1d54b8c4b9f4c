"""Weights, covariances and densities of a mixture, as its clusters hold them, and mixtures to start
from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..data.arrays import Array, Float64, to_numpy
from ..data.blocks import Block
from ..runtime.checks import ParameterError
from ..solvers.stretched import SHAPES, GivenClusters
from ..spaces import Metrics
from ..sweeps.state import State
from .procedure import Swept
from .stages.stretched import given_start
from .validation import host_array

WANTED = (
    "{name} must be a name, points (c, d), labels or memberships of all rows, row numbers, "
    "(weights, means, covariances), or a fitted mixture, also of scikit-learn."
)


def live_columns(metrics: Metrics) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the numbers of the columns of the rows that are in the metrics."""
    diagonal = metrics.factors if metrics.are_diagonal else np.einsum("jaa->ja", metrics.factors)
    return np.flatnonzero(diagonal[0] > 0)


def log_volumes(metrics: Metrics) -> Float64:
    """(c,) ln |S_j|."""
    diagonal = metrics.factors if metrics.are_diagonal else np.einsum("jaa->ja", metrics.factors)
    volumes: Float64 = -2.0 * np.log(diagonal[:, live_columns(metrics)]).sum(axis=1)
    return volumes


def n_parameters(name: str, metrics: Metrics) -> int:
    """Return the number of free numbers of a mixture whose covariances have a shape."""
    c, live = len(metrics), len(live_columns(metrics))
    return SHAPES[name].n_parameters(c, live) + c * live + c - 1


def component_weights(state: State) -> Float64:
    """(c,) p_j, of scales 2 ln p_j - ln |S_j|."""
    assert state.metrics is not None, "a mixture has metrics"
    weights: Float64 = np.exp((state.known_scales() + log_volumes(state.metrics)) / 2.0)
    weights /= weights.sum()
    return weights


def covariances_of(metrics: Metrics) -> Float64:
    """(c, r, r) or (c, r) S_j; 0 in columns of one value."""
    live, out = live_columns(metrics), np.zeros(metrics.factors.shape)
    if metrics.are_diagonal:
        out[:, live] = metrics.factors[:, live] ** -2.0
        return out
    lower = np.linalg.inv(metrics.factors[:, live[:, None], live])
    out[:, live[:, None], live] = lower @ np.swapaxes(lower, 1, 2)
    return out


def in_shape(matrices: Float64, name: str, live: Any) -> Float64:
    """Return what scikit-learn keeps of matrices (c, r, r), or diagonals, of a shape: one matrix of
    tied ones, a number of spherical ones."""
    if name == "tied":
        matrices = matrices[0]
    return matrices[:, live[0]] if name == "spherical" else matrices


def log_densities(state: State, distances: Array) -> Float64:
    """(b, c) ln p_j N(x_i; v_j, S_j), from distances (b, c), square roots taken."""
    assert state.metrics is not None, "a mixture has metrics"
    constant = len(live_columns(state.metrics)) * math.log(2.0 * math.pi)
    d2 = to_numpy(distances).astype(np.float64) ** 2
    densities: Float64 = (state.known_scales()[None, :] - d2 - constant) / 2.0
    return densities


def log_likelihoods(state: State, distances: Array) -> Float64:
    """(b,) ln sum_j p_j N(x_i; v_j, S_j)."""
    values: Float64 = logsumexp(log_densities(state, distances), axis=1)
    return values


def is_mixture(init: Any, estimator_name: str) -> bool:
    """Return True for a start that is a mixture, checked as far as is possible without rows."""
    if isinstance(init, tuple):
        if len(init) != 3:
            raise ParameterError(estimator_name, "init", f"tuple of {len(init)}", WANTED)
        return True
    return not isinstance(init, str) and hasattr(init, "covariances_")


def given_mixture(swept: Swept) -> GivenClusters | None:
    """Return the clusters that the parameter `init` gives; None where starts are drawn."""
    init, name = swept.context.estimator.init, swept.context.estimator_name
    return _parameters_of(init, swept) if is_mixture(init, name) else given_start(swept)


def _parameters_of(init: Any, swept: Swept) -> GivenClusters:
    estimator, name = swept.context.estimator, swept.context.estimator_name
    d, c = swept.problem.space.size, swept.context.settings.n_clusters
    if not isinstance(init, tuple):
        kind = getattr(init, "covariance_type", None) or init._covariance.shape
        init = init.weights_, init.means_, _spread(init.covariances_, kind, c, d)
    weights, means, covariances = (host_array(one, "init", name).astype(np.float64) for one in init)
    shape = SHAPES[estimator._covariance.shape]
    covariances = _spread(covariances, shape.name, c, d) if covariances.ndim < 3 else covariances
    if weights.shape != (c,) or means.shape != (c, d) or covariances.shape != (c, d, d):
        raise ValueError(
            f"{name}(init=(weights, means, covariances)): for {c} clusters of {d} columns they are "
            f"({c},), ({c}, {d}) and ({c}, {d}, {d}), or as covariances_ is; got {weights.shape}, "
            f"{means.shape} and {covariances.shape}."
        )
    if not (weights > 0).all() or not all(np.isfinite(one).all() for one in (means, covariances)):
        raise ValueError(
            f"{name}(init=(weights, means, covariances)): weights must be above 0, and all numbers "
            "finite."
        )
    if shape.is_diagonal:
        covariances = np.einsum("jaa->ja", covariances)
    centres = swept.problem.space.embed(Block(means, weights, 0))
    return GivenClusters(centres, covariances, weights / weights.sum())


def _spread(covariances: Any, name: str, c: int, d: int) -> Float64:
    """Return covariances (c, d, d) of what is kept of a shape."""
    kept = np.asarray(covariances, np.float64)
    if name == "tied" and kept.shape == (d, d):
        return np.repeat(kept[None], c, axis=0)
    if name == "spherical" and kept.shape == (c,):
        return kept[:, None, None] * np.eye(d)
    return kept[:, :, None] * np.eye(d) if name == "diag" and kept.shape == (c, d) else kept
