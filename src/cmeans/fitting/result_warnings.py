"""Warnings of what a fit has come to."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.arrays import Float64
from ..data.blocks import blocks_of
from ..engines.one_blas_thread import one_blas_thread
from ..runtime.numerals import percent
from ..runtime.user_warnings import warn
from ..solvers.multistart import FitResult
from ..spaces.centres import Centres
from ..tuning.diagnosis import COLLAPSED, coincident_pairs, separation
from .geometry import Geometry
from .rows.empty import warn_of_empty_rows

MOSTLY = 0.6  # share of rows without a cluster from which on a warning is issued


def warn_of_result(geometry: Geometry, result: FitResult, estimator_name: str) -> None:
    """Warn of a run cut short, of clusters without rows, and of coinciding centres."""
    warn_of_rows(geometry, result, estimator_name)
    fallen = fallen_centres(geometry, result)
    if fallen is not None:
        warn(f"{estimator_name}: {fallen}", ConvergenceWarning)


def warn_of_rows(geometry: Geometry, result: FitResult, estimator_name: str) -> None:
    """Warn of a run cut short, and of clusters without rows."""
    if not result.solution.converged and not result.solution.ended:
        warn(f"{estimator_name}: {result.reason}.", ConvergenceWarning)
    dead = np.flatnonzero(~result.alive)
    if len(dead):
        warn(
            f"{estimator_name}: {len(dead)} of {len(result.alive)} clusters hold no row (numbers "
            f"{dead[:10].tolist()}). Take fewer clusters, or another init.",
            ConvergenceWarning,
        )
    labels, nowhere = result.assignment.labels, result.assignment.nowhere
    if nowhere is None:  # a few at a time, as there may be more than memory holds
        nowhere = sum(
            int(np.count_nonzero(part < 0))
            for part in blocks_of(labels, geometry.blocks.limits.rows_at_once)
        )
    nowhere = (nowhere - result.assignment.empty) / labels.shape[0]
    if nowhere > MOSTLY and result.rule.leaves_rows_out and result.rule.noise_distance is None:
        warn(
            f"{estimator_name}: {percent(nowhere)} of the rows belong nowhere: their typicality is "
            "0 in every cluster. Take a smaller sparsity; 0 leaves no row out.",
            ConvergenceWarning,
        )
    if result.assignment.empty:
        warn_of_empty_rows(result.assignment.empty, labels.shape[0], geometry.space, estimator_name)


def fallen_centres(geometry: Geometry, result: FitResult, *, lay_apart: bool = False) -> str | None:
    """Return what is told of centres that have fallen together, with advice; None where none have;
    `lay_apart`: in the chunks of a stream before."""
    # clusters with metrics may share a centre
    if not result.rule.is_soft or len(result.alive) < 2 or result.state.metrics is not None:
        return None
    rule, (centres, within, mass) = result.rule, cluster_spreads(geometry, result)
    apart = separation(centres, within, mass)
    pairs = 0 if apart < COLLAPSED else coincident_pairs(centres, within)
    if apart >= COLLAPSED and not pairs:
        return None
    if lay_apart:
        return (
            "centres that lay apart have come together, as rows in the order of their clusters "
            f"make them, or memberships that are too soft. {rule.advice_on_meeting()}"
        )
    if apart < COLLAPSED:
        with one_blas_thread():  # the matrices of advice are too small for more threads
            advice = rule.advice_on_collapse(geometry)
        return (
            "the clusters have collapsed, all centres are nearly the same point "
            f"(separation_={apart:.2g}); {advice}."
        )
    with one_blas_thread():
        return f"{pairs} pairs of centres coincide. {rule.advice_on_coincidence(geometry)}"


def cluster_spreads(geometry: Geometry, result: FitResult) -> tuple[Centres, Float64, Float64]:
    """Return the centres, the mean squared distance of each cluster's rows to its own, as they pull
    it, and what they count together.

    Where the last sweep was not of these clusters, the mean squared distance of all rows to all
    centres is an upper bound.
    """
    last, centres = result.solution.last, result.solution.state.centres
    metrics = result.solution.state.metrics
    if metrics is not None:
        centres = result.solution.state.centres_apart(result.assignment.mass)
    if last is not None and len(last[1].mass) == len(centres) and last[1].mass.any():
        mass = last[1].mass
        return centres, last[1].spread / np.where(mass > 0, mass, 1.0), mass
    total = float(geometry.blocks.weight.sum()) * len(result.alive)
    return (
        centres if metrics is not None else result.state.centres,
        np.full(len(result.alive), result.assignment.total_distance / total),
        np.ones(len(result.alive)),
    )
