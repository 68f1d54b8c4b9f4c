"""What a fit leaves behind: the attributes of the model and of its rows, and the warnings they give cause for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..arrays import numpy_dtype, to_numpy
from ..blocks import pieces
from ..certificate import certify
from ..complaints import warn
from ..diagnosis import COLLAPSED, coincident_pairs, separation
from ..engines import Engine
from ..rules import Fuzzy, Possibilistic, Rule
from ..runs import Best, Result
from ..solver import Interrupted, fold
from ..spaces import EuclideanSpace, LandmarkSpace, Space
from ..statistics import Statistics
from ..sweep import State
from ..table import Table
from .geometry import Geometry
from .inputs import foreign_like

LOOKED_AT = 65_536  # labels looked at together
MOSTLY = 0.6  # share of rows that belong nowhere from which on a user is told
OPTIONAL = (
    "cluster_centers_",
    "dual_coef_",
    "landmark_indices_",
    "landmarks_",
    "eta_",
    "memberships_",
    "pilot_m_",
    "_factors",
    "_nearest",
)  # attributes that only some fits have


@contextmanager
def whole_or_nothing(model: Any) -> Iterator[None]:
    """A fit that fails, perhaps late, as files may go while it reads them, takes back what it has said of itself so far."""
    before = set(vars(model))
    try:
        yield
    except Interrupted:  # its centres are kept
        raise
    except BaseException:
        for name in set(vars(model)) - before:
            if name.endswith("_"):
                delattr(model, name)
        raise


def model_attributes(geometry: Geometry, rule: Rule, space: Space, state: State) -> dict[str, Any]:
    """What predicting needs and what describes the centres."""
    x = geometry.blocks.x
    precomputed = geometry.is_precomputed
    model: dict[str, Any] = {
        "_space": space,
        "_state": state,
        "_rule": rule,
        "_training_diag": to_numpy(geometry.blocks.kxx).astype(np.float64) if precomputed else None,
        "_n_features_out": len(state.centres),
        "kernel_": geometry.kernel,
        "gamma_": geometry.gamma,
        "n_landmarks_": _landmarks_used(geometry),
    }
    if isinstance(space, EuclideanSpace):
        model["cluster_centers_"] = foreign_like(geometry.blocks.unscaled(space.points(state.centres)).astype(numpy_dtype(x)), x)
    if isinstance(space, LandmarkSpace):
        model["dual_coef_"] = space.raw_coefficients(state.centres)
        model["landmark_indices_"] = geometry.landmark_rows
        if not precomputed:
            model["landmarks_"] = geometry.blocks.unscaled(space.points)
    if geometry.blocks.factors is not None:
        model["_factors"] = geometry.blocks.factors
    if rule.needs_pilot:
        model["eta_"] = state.scales
    return model


def _landmarks_used(geometry: Geometry) -> int | None:
    if isinstance(geometry.space, LandmarkSpace):
        return int(geometry.space.points.shape[0])
    rows = geometry.landmark_rows
    return None if rows is None or len(rows) == geometry.blocks.n_rows else len(rows)  # the sample of two-step k-means


def certified(result: Result, best: Best, geometry: Geometry, table: Table, engine: Engine) -> Result:
    """The result with what it says of its landmarks; one more sweep gives the sums of the partition that is returned."""
    if not isinstance(table.space, LandmarkSpace):
        return result
    rule, state, visits = result.rule, best.solution.state, result.row_visits
    sums = best.sums if best.sums is not None else _sums_of_a_fixed_point(best)
    if sums is None:
        sums, visits = fold(table, rule, state, engine, best.solution.sweep), visits + table.n_rows
    sampled = None if geometry.columns_only is not None else geometry.sampled[0]
    approximation = certify(table.space, geometry.blocks, geometry.population, rule, state, sums, sampled)
    return replace(result, approximation=approximation, row_visits=visits)


def _sums_of_a_fixed_point(best: Best) -> Statistics | None:
    """The sums of the last sweep where it moved no centre at all: those at the end are the same."""
    if best.solution.last is None:
        return None
    before, sums = best.solution.last
    centres = best.solution.state.centres
    same = before.scales is best.solution.state.scales and np.array_equal(before.centres.coordinates, centres.coordinates)
    return sums if same else None


def row_attributes(geometry: Geometry, result: Result) -> dict[str, Any]:
    """What the solver and the last pass say."""
    solution, assignment = result.solution, result.assignment
    rows: dict[str, Any] = {"labels_": assignment.labels}
    if assignment.memberships is not None:
        labels = foreign_like(assignment.labels.astype(np.int64), geometry.blocks.x)
        rows = {"labels_": labels, "memberships_": assignment.memberships, "_nearest": assignment.nearest}
    return {
        **rows,
        "objective_": assignment.objective,
        "objective_history_": np.array(result.history),
        "n_iter_": solution.n_iter,
        "row_visits_": result.row_visits,
        "converged_": solution.converged,
        "stop_reason_": result.reason,
        "n_clusters_": int(result.alive.sum()),
        "approximation_": result.approximation,
        "separation_": separation(result.state.centres, _mean_distance(geometry, result)),
    }


def complain_of_result(geometry: Geometry, result: Result, owner: str) -> None:
    """Warn of a run cut short, of clusters without rows, and of centres that have fallen together."""
    if not result.solution.converged and not result.solution.ended:
        warn(f"{owner}: {result.reason}.", ConvergenceWarning)
    dead = np.flatnonzero(~result.alive)
    if len(dead):
        warn(
            f"{owner}: {len(dead)} of {len(result.alive)} clusters hold no row (numbers {dead[:10].tolist()}). "
            "Take fewer clusters, or another init."
        )
    labels = result.assignment.labels  # there may be more of them than memory holds
    nowhere = sum(int(np.count_nonzero(part < 0)) for part in pieces(labels, LOOKED_AT)) / len(labels)
    if nowhere > MOSTLY:
        warn(
            f"{owner}: {100 * nowhere:.0f}% of the rows belong nowhere: their typicality is 0 in every cluster. "
            "Take a smaller sparsity; 0 leaves no row out."
        )
    if result.rule.is_soft and len(result.alive) > 1:
        _complain_of_fallen_centres(geometry, result, owner)


def _complain_of_fallen_centres(geometry: Geometry, result: Result, owner: str) -> None:
    rule, mean = result.rule, _mean_distance(geometry, result)
    apart = separation(result.state.centres, mean)
    if apart < COLLAPSED:
        advice = "take fewer clusters"
        if isinstance(rule, Fuzzy):
            limit = geometry.fuzzifier
            if rule.m > limit.critical:
                advice = f"m={rule.m:g} is beyond m*={limit.critical:.4g}, from where these rows fall together: "
                advice += f'take m="auto" ({limit.automatic:.4g} here)'
            else:
                advice = f"m={rule.m:g} is not too large for these rows, so they need not: take another init or more sweeps"
        elif isinstance(rule, Possibilistic):
            advice = "the scales eta_ are as wide as the data: take a smaller eta_scale or fewer clusters"
        warn(f"{owner}: the clusters have collapsed, all centres are nearly the same point (separation_={apart:.2g}); {advice}.")
        return
    pairs = coincident_pairs(result.state.centres, mean)
    if pairs:
        advice = "Take fewer clusters or a smaller m."
        if rule.needs_pilot:
            narrower = " or a smaller eta_scale" if isinstance(rule, Possibilistic) else ""
            advice = f"Possibilistic clusters do not repel each other: take fewer clusters{narrower}."
        warn(f"{owner}: {pairs} pairs of centres coincide. {advice}")


def _mean_distance(geometry: Geometry, result: Result) -> float:
    return result.assignment.total_distance / (float(geometry.blocks.weight.sum()) * len(result.alive))
