"""Fitted attributes of the model and of its rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..data.arrays import Array, Float64, IntArray, dense_like, foreign_like, namespace, to_numpy
from ..data.blocks import Blocks, blocks_of
from ..data.outputs import FloatArray, Labels, TopMemberships
from ..data.partitions import one_hot
from ..data.precision import numpy_dtype
from ..kernels import Kernel
from ..landmarks.certificate import certify
from ..rules import Mixture, Rule
from ..solvers.multistart import BestRun, FitResult
from ..solvers.noise import automatic_distance
from ..spaces import LandmarkSpace, Space, row_scales
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from ..tuning.diagnosis import separation
from .geometry import Geometry
from .result_warnings import cluster_spreads

MOSTLY_NOISE = 0.5  # membership in the noise cluster that is more than in all others together
IN_FEATURES = {"cluster_centers_", "landmarks_"}  # which are in the units of the rows


def model_attributes(geometry: Geometry, rule: Rule, space: Space, state: State) -> dict[str, Any]:
    """Attributes that predict and that describe the centres."""
    blocks, x = geometry.blocks, geometry.blocks.x
    model = centre_attributes(rule, space, state, geometry.given_landmark_rows)
    model |= {
        "_training_diag": to_numpy(blocks.kxx).astype(np.float64)
        if geometry.is_precomputed
        else None,
        "kernel_": geometry.kernel,
        "gamma_": geometry.gamma,
        "n_landmarks_": _landmarks_used(geometry),
    }
    for name in IN_FEATURES & model.keys():
        model[name] = geometry.as_given(model[name])
    if "cluster_centers_" in model:
        model["cluster_centers_"] = foreign_like(
            model["cluster_centers_"].astype(numpy_dtype(x)), x
        )
    return model


def centre_attributes(
    rule: Rule, space: Space, state: State, landmark_rows: IntArray | None = None
) -> dict[str, Any]:
    """Return the attributes that follow from the centres, without any rows; `landmark_rows` are the
    numbers of the landmarks, where these are rows."""
    model = {"_space": space, "_state": state, "_rule": rule, "_n_features_out": len(state.centres)}
    model |= space.attributes(state.centres, landmark_rows)
    if state.metrics is not None:
        model["metrics_"] = state.metrics.matrices
        if rule.has_densities:
            sizes = state.metrics.log_volumes, len(state.metrics.live)
            weights = cast(Mixture, rule).component_weights(state.known_scales(), *sizes)
            model |= {"weights_": weights, "covariances_": state.metrics.covariances}
    if rule.needs_pilot:
        model["eta_"] = state.scales
    if rule.has_prices and state.metrics is None:
        model["prices_"] = state.scales
    if rule.noise_distance is not None:
        model["noise_distance_"] = float(rule.noise_distance)
    return model


def _landmarks_used(geometry: Geometry) -> int | None:
    if geometry.space.n_landmarks is not None:
        return geometry.space.n_landmarks
    rows = geometry.landmark_rows
    # the sample of two-step k-means
    return None if rows is None or len(rows) == geometry.blocks.n_rows else len(rows)


def certified(result: FitResult, best: BestRun, geometry: Geometry, problem: Problem) -> FitResult:
    """Return the result with the certificate of its landmarks; one more sweep gives the sums of the
    returned partition."""
    if problem.space.basis_points is None:  # nothing is left out
        return result
    space = cast(LandmarkSpace, problem.space)
    state, visits = best.solution.state, result.row_visits
    sums = best.sums if best.sums is not None else _sums_of_a_fixed_point(best)
    if sums is None:
        sums, visits = problem.sweep(state, best.solution.sweep), visits + problem.n_rows
    gram, judged = (None, None) if geometry.columns_only is not None else geometry.judged
    approximation = certify(
        space,
        geometry.blocks,
        geometry.population,
        result.rule,
        state,
        sums,
        gram,
        judged,
        float(problem.known is not None),
    )
    return replace(result, approximation=approximation, row_visits=visits)


def _sums_of_a_fixed_point(best: BestRun) -> Statistics | None:
    """Return the sums of the last sweep if it moved no centre: they equal those at the end."""
    if best.solution.last is None:
        return None
    before, sums = best.solution.last
    centres = best.solution.state.centres
    same = before.scales is best.solution.state.scales and np.array_equal(
        before.centres.coordinates, centres.coordinates
    )
    return sums if same else None


def row_attributes(geometry: Geometry, result: FitResult, blocks: Blocks) -> dict[str, Any]:
    """Attributes from the solver and the final pass over all rows that were given."""
    solution, assignment = result.solution, result.assignment
    rows: dict[str, Any] = {"labels_": blocks.returned(assignment.labels)}
    if assignment.nearest is not None:
        scaled = geometry.space.in_scale() is not geometry.space
        parts = blocks_of(blocks.x, blocks.limits.rows_at_once) if scaled else ()
        scales = np.concatenate([row_scales(part) for part in parts]) if scaled else 1.0
        rows["_nearest"] = assignment.nearest * scales
    if assignment.memberships is not None:
        if assignment.clusters is None:
            rows["memberships_"] = assignment.memberships
        else:
            rows["memberships_top_k_"] = TopMemberships(assignment.clusters, assignment.memberships)
        if result.rule.noise_distance is not None:
            rows["noise_membership_"] = noise_of(assignment.memberships)
    elif assignment.nearest is not None:
        rows["_like"] = dense_like(blocks.x)
    if result.size_gap is not None:
        rows["size_gap_"] = result.size_gap
    return {
        **rows,
        **result.attributes,
        "objective_": assignment.objective,
        "objective_history_": np.array(result.history),
        "n_iter_": solution.n_iter,
        "row_visits_": result.row_visits,
        "converged_": solution.converged,
        "stop_reason_": result.reason,
        "n_clusters_": int(result.alive.sum()),
        "approximation_": result.approximation,
        "separation_": separation(*cluster_spreads(geometry, result)),
    }


class FittedAttributes:
    """Types of the attributes that a fit sets. Which of them an estimator has, and what they mean,
    its docstring says."""

    n_features_in_: int
    kernel_: Kernel
    labels_: Labels
    cluster_centers_: FloatArray
    dual_coef_: FloatArray
    landmarks_: Any  # (p, d), sparse where rows are
    landmark_indices_: IntArray | None
    n_landmarks_: int | None
    eta_: Float64
    metrics_: Float64
    prices_: Float64
    eigenvalues_: Float64
    noise_membership_: FloatArray
    objective_: float
    objective_history_: Float64
    separation_: float
    n_iter_: int
    row_visits_: int
    converged_: bool
    stop_reason_: str
    n_clusters_: int
    m_: float
    pilot_m_: float
    gamma_: float | None
    noise_distance_: float
    outlier_threshold_: float
    memberships_top_k_: TopMemberships
    n_clusters_suggested_: int
    n_missing_: IntArray
    n_starts_: int
    start_: str
    size_gap_: float
    # (n,) squared distance of each row to its nearest centre; NaN for rows that say nothing
    _nearest: Float64
    # (0,) an array of the library and dtype of memberships that labels tell
    _like: FloatArray


class KeptMemberships:
    """`memberships_` of a fit that keeps no (n, c) numbers, made when they are first asked for:
    those in a few clusters of each row as a CSR array that shares their memory, those of a hard
    rule as its labels tell them. An attribute of the same name comes first."""

    def __get__(self, model: Any, owner: type) -> FloatArray:
        kept = {} if model is None else vars(model)
        if "memberships_top_k_" in kept:
            few: FloatArray = kept["memberships_top_k_"].sparse(len(model._state.centres))
            return few
        if "_nearest" not in kept or model.rule_.is_soft:
            raise AttributeError(
                f"{owner.__name__!r} object has no attribute 'memberships_': it keeps none of its "
                "rows"
            )
        # files of earlier versions have rows in plain space alone, whose type the centres have
        like = model._like if "_like" in kept else model.cluster_centers_
        made: FloatArray = one_hot(to_numpy(model.labels_), len(model._state.centres), like)
        kept["memberships_"] = made
        return made


class OutlierThreshold:
    """`outlier_threshold_`: the `outlier_score` from which on a row counts as an outlier of its
    model, found when it is first asked for."""

    def __get__(self, model: Any, owner: type) -> float:
        kept = {} if model is None else vars(model)
        rule: Rule | None = kept.get("_rule")
        if rule is not None and rule.noise_distance is not None:
            return MOSTLY_NOISE
        if rule is not None and rule.leaves_rows_out and getattr(rule, "sparsity", None) != 0:
            return 1.0  # the score of rows that belong nowhere
        if rule is None or "_nearest" not in kept:
            raise AttributeError(
                f"{owner.__name__!r} object has no attribute 'outlier_threshold_': it is found "
                "from the rows of a fit, and none are kept"
            )
        kept["outlier_threshold_"] = _threshold(
            rule, model._state.scales, model._nearest, to_numpy(model.labels_)
        )
        return float(kept["outlier_threshold_"])


def _threshold(rule: Rule, scales: Float64 | None, nearest: Float64, labels: IntArray) -> float:
    """Return the score at the distance from which noise="auto" would call rows noise."""
    within = labels >= 0  # others say nothing
    labels, nearest = labels[within], nearest[within].astype(np.float64)
    everyone = np.ones(len(labels))
    if rule.rows_sum_to_one:
        return math.sqrt(automatic_distance(nearest, everyone, labels))
    unit = None if scales is None else np.ones(1)
    width = automatic_distance(
        nearest / (1.0 if scales is None else scales[labels]), everyone, np.zeros_like(labels)
    )
    return 1.0 - float(rule.memberships(np.array([[width]]), unit)[0, 0])


def noise_of(memberships: Array) -> Array:
    """Memberships (n,) in the noise cluster: what the others (n, c) lack of one."""
    xp = namespace(memberships)
    rest = 1.0 - xp.sum(memberships, axis=1)
    return xp.where(rest > 0, rest, xp.zeros_like(rest))
