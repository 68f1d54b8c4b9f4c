"""Weights, covariances and densities of a mixture, as its clusters hold them, and mixtures to start
from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.special import softmax

from ..data.arrays import Array, Float64, host_float64, is_sparse, to_numpy
from ..data.blocks import Block, Blocks
from ..engines import Engine, Pass
from ..rules import Mixture, NoiseMixture, StudentMixture
from ..runtime.checks import ParameterError, is_auto, real
from ..solvers.stretched import SHAPES, GivenClusters, MixtureVolumes, Shrinkage, UniformNoise
from ..spaces import Metrics
from ..spaces.centres import Centres
from ..spaces.completed import CompletedRows
from ..sweeps.choice import MeasureFunction, measure_for
from ..sweeps.generic_measures import costs
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from .geometry import Geometry
from .noise_box import NoiseBox
from .procedure import Outcome, Swept
from .stages.steps import steps_of_columns
from .stages.stretched import StretchedClusters, given_start
from .validation import host_array

AnyMixture = Mixture | NoiseMixture | StudentMixture
WANTED = (
    "{name} must be a name, points (c, d), labels or memberships of all rows, row numbers, "
    "(weights, means, covariances), or a fitted mixture, also of scikit-learn."
)

# where in a step rows are seen, for criteria: pairs of opposite places, the same for all rows
PLACES, SPREAD_SEED = 16, 0


def n_parameters(name: str, metrics: Metrics, *, noise: bool) -> int:
    """Return the number of free numbers of a mixture whose covariances have a shape; `noise`: the
    share of noise is one of them."""
    c, live = len(metrics), len(metrics.live)
    return SHAPES[name].n_parameters(c, live) + c * live + c - 1 + noise


def in_shape(matrices: Float64, name: str, live: Any) -> Float64:
    """Return what scikit-learn keeps of matrices (c, r, r), or diagonals, of a shape: one matrix of
    tied ones, a number of spherical ones."""
    if name == "tied":
        matrices = matrices[0]
    return matrices[:, live[0]] if name == "spherical" else matrices


@dataclass(frozen=True)
class LikelihoodPass(Pass[Float64]):
    """(b,) log-likelihoods of rows, the mean over some mixtures."""

    rule: AnyMixture
    states: tuple[State, ...]

    def prepare(self, rows: RepresentedRows) -> list[MeasureFunction]:
        if rows.space.completes_rows:
            return [costs] * len(self.states)
        c = len(self.states[0].centres)
        return [_squared(measure_for(rows, rows.space, self.rule, c)) for _ in self.states]

    def work(self, rows: RepresentedRows, task: int, prepared: list[MeasureFunction]) -> Float64:
        total: Float64 = np.zeros(1)
        more = self._of_holes(rows, task)
        for state, measure in zip(self.states, prepared, strict=True):
            d2, metrics = measure(rows, rows.space, state, task), _clusters(state)[0]
            sizes = metrics.log_volumes + metrics.expected_errors, len(metrics.live)
            d2 = self.rule.tails(d2 + more, state.expected_errors)[0]
            logs = self.rule.log_likelihoods(d2, state.known_scales(), *sizes)
            total = total + logs + more[:, 0] / 2.0
        return total / len(self.states)

    def _of_holes(self, rows: RepresentedRows, task: int) -> Float64:
        """(b, 1) what rows have more of distances as they lack values; (1, 1) zero where none
        does."""
        if not rows.space.completes_rows:
            return np.zeros((1, 1))
        more = self.rule.of_holes(np.isnan(to_numpy(rows.blocks.cut(*rows.task_range(task)).x)))
        return np.zeros((1, 1)) if more is None else host_float64(more)[:, None]


@dataclass(frozen=True)
class DeviancePass(Pass[float]):
    """-2 log-likelihoods of rows, summed by weight."""

    of_rows: LikelihoodPass

    def prepare(self, rows: RepresentedRows) -> list[MeasureFunction]:
        return self.of_rows.prepare(rows)

    def work(self, rows: RepresentedRows, task: int, prepared: list[MeasureFunction]) -> float:
        weight = host_float64(rows.blocks.cut(*rows.task_range(task)).weight)
        return -2.0 * float(weight @ self.of_rows.work(rows, task, prepared))


def deviance(outcome: Outcome, engine: Engine) -> float:
    """Return -2 log-likelihood of the rows of a fit, spread over the steps in which they are
    told."""
    geometry, result = outcome.geometry, outcome.result
    rule = cast(AnyMixture, result.rule)
    mixtures = spread_over(steps_of_columns(geometry), result.state)
    rows = RepresentedRows(result.space, geometry.blocks, 0)
    sums = engine.map(rows, DeviancePass(LikelihoodPass(rule, mixtures)))
    return geometry.blocks.unit * math.fsum(sums)


def _squared(measure: MeasureFunction) -> MeasureFunction:
    return lambda *where: host_float64(measure(*where)) ** 2


@dataclass(frozen=True)
class ImputePass(Pass[Array]):
    """Rows (b, d) with their means given what is there, under a mixture, in place of what is
    missing."""

    state: State

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Array:
        start, stop = rows.task_range(task)
        x = to_numpy(rows.blocks.cut(start, stop).x)
        if not rows.space.completes_rows:
            return x
        parts = []
        for block in rows.task(task):
            completed = CompletedRows.of(block.rows.plain(), *_clusters(self.state))
            logs = (
                self.state.known_scales() - completed.costs(completed.d2, self.state.metrics)
            ) / 2.0
            parts.append(completed.mean(softmax(logs, axis=1)))
        means = rows.space.as_points(Centres.orthonormal(np.concatenate(parts)))
        assert means is not None, "rows with missing values are points"
        return np.where(np.isnan(x), means, x).astype(x.dtype)


def _clusters(state: State) -> tuple[Metrics, Float64]:
    assert state.metrics is not None, "a mixture has metrics"
    return state.metrics, state.centres.coordinates


def spread_over(steps: Float64, state: State) -> tuple[State, ...]:
    """Return the mixture for rows that are spread evenly over the steps (d,) in which their columns
    are told: for each of a few places within these, which are the same for all rows, the mixture
    of the spread rows moved back by it.

    So a component on a single value has no more density than a step allows: spread rows have the
    variance step^2 / 12 more in each component (Sheppard's correction).
    """
    if not steps.any():
        return (state,)
    half = np.random.default_rng(SPREAD_SEED).random((PLACES // 2, len(steps))) - 0.5
    assert state.metrics is not None, "a mixture has metrics"
    metrics = state.metrics.blurred(steps**2 / 12.0)
    scales = state.known_scales() + state.metrics.log_volumes - metrics.log_volumes
    moved = (state.centres.coordinates - steps * place for place in (*half, *-half))
    return tuple(State(Centres.orthonormal(points), scales, metrics) for points in moved)


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
    d, c = swept.problem.space.n_coordinates, swept.context.settings.n_clusters
    if not isinstance(init, tuple):
        init = init.weights_, init.means_, _covariances_of(init, c, d)
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


def _covariances_of(mixture: Any, c: int, d: int) -> Float64:
    """Return the covariances (c, d, d) of a fitted mixture, ours or scikit-learn's."""
    kind = getattr(mixture, "covariance_type", None)
    if kind is not None:
        return _spread(mixture.covariances_, kind, c, d)
    metrics = mixture._state.metrics
    covariances: Float64 = metrics.covariances
    return covariances[:, :, None] * np.eye(d) if metrics.are_diagonal else covariances


def _spread(covariances: Any, name: str, c: int, d: int) -> Float64:
    """Return covariances (c, d, d) of what is kept of a shape."""
    kept = np.asarray(covariances, np.float64)
    if name == "tied" and kept.shape == (d, d):
        return np.repeat(kept[None], c, axis=0)
    if name == "spherical" and kept.shape == (c,):
        return kept[:, None, None] * np.eye(d)
    return kept[:, :, None] * np.eye(d) if name == "diag" and kept.shape == (c, d) else kept


def mixture_rule(df: float | None, _: Geometry, shrinkage: Shrinkage) -> tuple[AnyMixture, None]:
    """Return the rule of a mixture without noise: of Gaussians, or t distributions."""
    if df is None:
        return Mixture(), None
    return StudentMixture(df, len(shrinkage.columns.live)), None


def noise_share(value: Any, estimator_name: str) -> float | None:
    """Return the share of the rows that the parameter `noise` makes noise; None for "auto", where
    a run finds it."""
    if is_auto(value):
        return None
    share = real(value, "noise", estimator_name, above=True, others='None, "auto" or ')
    if share >= 1:
        wanted = "{name}, the share of the rows that are noise, must be less than 1."
        raise ParameterError(estimator_name, "noise", value, wanted)
    return share


def with_noise(stage: StretchedClusters, share: float | None) -> StretchedClusters:
    """Return the stage of a mixture beside noise, of which runs start without rows far out."""

    def noise(geometry: Geometry) -> UniformNoise:
        return UniformNoise(NoiseBox.of(geometry).ranges, share)

    def near(swept: Swept) -> Blocks | None:
        geometry = swept.geometry
        if is_sparse(geometry.blocks.x):
            raise ValueError(
                f"{swept.context.estimator_name}(noise=): X is sparse, and columns of zeros in "
                "nearly all rows have no ranges in which noise is spread; leave noise out, or "
                "reduce X to a few dense columns first (scikit-learn's TruncatedSVD)."
            )
        return NoiseBox.of(geometry).without_far_rows(geometry.blocks, swept.context.engine)

    return replace(
        stage,
        volumes=lambda swept: MixtureVolumes(noise(swept.geometry)),
        rules=lambda geometry, shrinkage: (noise(geometry).rule(shrinkage.columns), None),
        near=near,
    )
