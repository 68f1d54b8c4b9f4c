"""Clusters with metrics of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ...data.arrays import Array, Float64, as_like, host_float64, is_sparse
from ...data.blocks import Blocks, mapped
from ...data.csr import diagonal_csr
from ...data.files.schema import shortened
from ...data.known_labels import GROUP, LABEL
from ...runtime.numerals import in_digits
from ...runtime.user_warnings import warn
from ...solvers.multistart import Runs, ScalesPilot
from ...solvers.observer import UNOBSERVED
from ...solvers.search import Breathing
from ...solvers.stretched import (
    RANDOM_STARTS,
    SHAPES,
    FilledRows,
    GivenClusters,
    Mapped,
    Shrinkage,
    Stretched,
    Volumes,
    shown_rows,
)
from ...solvers.subsampling import subsample_schedule
from ...spaces import EuclideanSpace, PointSpace, Space
from ...sweeps.represented_rows import RepresentedRows
from ...tuning.rounding import rounding_of
from ..covariance import Covariance
from ..geometry import Geometry
from ..init import InitContext, given_partition, starts
from ..procedure import FitContext, Outcome, Stage, Swept
from ..space import euclidean_space
from .known import with_second_moments
from .linked import counted_as_one, with_members

MOST_COLUMNS = 1024  # of full matrices
JUDGED_ROWS = 10_000  # of which a fair sample says how few values columns have


@dataclass(frozen=True)
class MappedRows:
    """A function of rows: the products of a matrix, or of a number a column, with their differences
    from a point; of CSR rows with these themselves."""

    factor: Float64  # (l, r) or (r,)
    point: Float64  # (r,)

    def __call__(self, x: Array) -> Array:
        if is_sparse(x):  # whose zeros a shift would fill
            return (x @ diagonal_csr(self.factor)).astype(x.dtype)
        factor, away = as_like(self.factor, x), x - as_like(self.point, x)[None, :]
        return away * factor[None, :] if factor.ndim == 1 else away @ factor.T


@dataclass(frozen=True)
class StretchedClusters(Stage):
    """Clusters have covariances, which follow their rows."""

    covariance: Covariance
    volumes: Callable[[Swept], Volumes]
    # the rule, settled, and its pilot, for the rows of a fit whose scatter within clusters is known
    rules: Callable[[Geometry, Shrinkage], tuple[Any, ScalesPilot | None]]
    # the start that the estimator's `init` gives; None where it is drawn
    given: Callable[[Swept], GivenClusters | None]
    # the rows from which runs start; None: all of them
    near: Callable[[Swept], Blocks | None] = lambda _: None

    context: FitContext | None = None  # settled

    name = "covariance"
    solves = True

    def further_runs(self, blocks: Blocks, n_clusters: int, *, drawn: bool) -> list[int]:
        n, columns = blocks.n_rows, int(blocks.x.shape[1])
        if not drawn:
            return [n]
        # one from each partition, of which one is of the whitened rows, and from random rows
        shown = n if self.covariance.prior_rows == 0 else shown_rows(n, n_clusters, columns)
        return [n] * 3 + [shown] * self._random_starts

    @property
    def _random_starts(self) -> int:
        """Tails leave centres where most rows are, so that few rows far out lead no run astray."""
        return RANDOM_STARTS if self.covariance.df is None else 0

    def settle(self, context: FitContext) -> FitContext:
        return context.with_stage(replace(self, context=context))

    def restore(self, outcome: Outcome) -> Outcome:
        assert self.context is not None, "stages are settled first"
        metrics, name = outcome.result.state.metrics, self.context.estimator_name
        assert metrics is not None, "stretched clusters have metrics"
        dead = np.setdiff1d(np.arange(metrics.factors.shape[1]), metrics.live)
        if len(dead) and outcome.geometry.space.as_points(outcome.result.state.centres) is not None:
            warn(
                f"{name}: all rows have the same value in "
                f"{shortened(self.context.column_labels[dead].tolist())}, which says nothing of "
                "clusters and is left out of covariances; leave it out of X."
            )
        blocks, shape = outcome.geometry.blocks, SHAPES[self.covariance.shape]
        least = shape.prior_rows(len(metrics.factors[0]) - len(dead))
        least *= 1 if shape.is_tied else len(metrics)
        if (weight := blocks.unit * float(blocks.weight.sum())) < least:
            warn(
                f"{name}: the rows weigh {in_digits(weight, 6)} together, of which {len(metrics)} "
                f"clusters would need {in_digits(least, 6)} or more: covariances come from the "
                "prior above all. "
                'Weights are counts of rows. Take fewer clusters, or covariance="diag" or "tied".'
            )
        return outcome

    def place(self, geometry: Geometry) -> Geometry:
        """Known and linked rows must add what is theirs alone to covariances."""
        assert self.context is not None, "stages are settled first"
        words = {
            'missing="partial"': geometry.space.completes_rows,
            "df=": self.covariance.df is not None,
        }
        told = bool({LABEL, GROUP} & set(geometry.blocks.columns))
        for word in (word for word, there in words.items() if told and there):
            raise ValueError(
                f"{self.context.estimator_name}({word}): rows with missing values, and those of "
                f"heavy tails, are neither known nor linked so far; leave out {word}, or "
                "known_labels= and must_link=."
            )
        return geometry

    def prepare(self, swept: Swept) -> Swept:
        self._refuse(swept)
        swept = self._with_moments(swept)
        solving, near = self._solver(swept), self.near(swept)
        if near is not None:
            solving = replace(solving, near=self._solver(_over(swept, near, swept.problem.space)))
        problem = swept.problem
        problem = counted_as_one(problem) if self.volumes(swept).are_densities else problem
        return replace(swept, problem=problem, solving=solving)

    def _with_moments(self, swept: Swept) -> Swept:
        """Return the problem that knows how members of its rows differ, and holds second moments of
        what is known of its rows."""
        linked = with_members(swept)
        diagonal, problem = SHAPES[self.covariance.shape].is_diagonal, linked.problem
        known = with_second_moments(problem.known, problem.engine, diagonal=diagonal)
        starting = replace(linked.starting, known=known)
        return replace(linked, problem=replace(problem, known=known), starting=starting)

    def _solver(self, swept: Swept) -> Stretched:
        swept = self._with_moments(swept)
        geometry = swept.geometry

        def rules(shrinkage: Shrinkage) -> tuple[Any, ScalesPilot | None]:
            return self.rules(geometry, shrinkage)

        return Stretched(
            SHAPES[self.covariance.shape],
            self.volumes(swept),
            self.covariance.prior_rows,
            rules,
            _drawn(swept),
            lambda factor, point: _mapped(swept, MappedRows(factor, point)),
            swept.population,
            swept.context.settings.rng,
            lambda expected: self._solver(_completed(swept, expected)),
            self.given(swept),
            rounding=self._rounding(geometry),
            random_starts=self._random_starts,
        )

    def _rounding(self, geometry: Geometry) -> Float64 | None:
        """Return what rounding has taken from the columns, of a fair sample of the rows."""
        if self.covariance.rounding is None:
            return None
        positions, weights = geometry.population.fixed_sample_of(JUDGED_ROWS)
        x = geometry.blocks.take(geometry.population.at(positions)).x
        return rounding_of(host_float64(x), weights)

    def _refuse(self, swept: Swept) -> None:
        name, space = swept.context.estimator_name, swept.problem.space
        said = f"{name}(covariance={swept.context.estimator.covariance!r})"
        if not space.takes_metrics:
            raise ValueError(
                f'{said}: clusters have covariances among rows as they are, kernel="linear" with '
                'metric="euclidean", or among the features of kernel="landmark_graph"; not in the '
                f"space of {space.kernel!r}. Take one of these, or leave covariance= out."
            )
        diagonal = SHAPES[self.covariance.shape].is_diagonal
        if is_sparse(swept.geometry.blocks.x) and not diagonal:
            raise ValueError(
                f"{said}: X is sparse, and covariances of its columns would not be; take "
                'covariance="diag" or "spherical", or reduce it to a few dense columns first '
                "(scikit-learn's TruncatedSVD)."
            )
        columns = space.n_coordinates
        if columns > MOST_COLUMNS and not SHAPES[self.covariance.shape].is_diagonal:
            raise ValueError(
                f"{said}: there are {columns} columns, of which every cluster would have "
                f'{columns}^2 numbers; take covariance="diag", or reduce the columns to at most '
                f"{MOST_COLUMNS}."
            )


def given_start(swept: Swept) -> GivenClusters | None:
    """Return the clusters that the parameter `init` gives; None where starts are drawn."""
    context, init = swept.context, swept.context.estimator.init
    if isinstance(init, str):
        return None
    about = InitContext(
        context.estimator_name, context.settings.n_clusters, swept.geometry, swept.starting
    )
    memberships = given_partition(init, about)
    if memberships is not None:
        return GivenClusters(memberships=memberships, rows=swept.starting.rows)
    return GivenClusters(next(starts(init, 1, about, context.settings.rng)))


def _drawn(swept: Swept) -> Runs:
    """Return the runs that find the best hard partition, from drawn starts."""
    context, settings, problem = swept.context, swept.context.settings, swept.problem
    rule, name = context.estimator.init, context.estimator_name
    init = rule if isinstance(rule, str) else "k-means++"
    about = InitContext(name, settings.n_clusters, swept.geometry, swept.starting)
    drawn = starts(init, settings.n_init, about, settings.rng)
    population, schedule, search = swept.population, None, None
    if settings.search.progressive and problem.space.sweeps_products:
        schedule = subsample_schedule(population, settings.n_clusters, settings.rng)
    if settings.search.method is not None and problem.known is None:
        thorough = settings.search.method == "breathing"
        search = Breathing(population, settings.rng, thorough=thorough)
    return Runs(drawn, settings.n_init, problem, UNOBSERVED, schedule, search)


def _completed(swept: Swept, expected: FilledRows) -> Swept:
    """Return the same of rows with what is expected in place of missing values."""
    blocks = swept.geometry.blocks
    space = EuclideanSpace(cast(PointSpace, swept.problem.space).shift)
    return _over(swept, replace(blocks, x=mapped(blocks.x, expected)), space)


def _mapped(swept: Swept, function: MappedRows) -> Mapped | None:
    """Return the runs over rows in other coordinates."""
    if not swept.geometry.space.in_coordinates:
        return None
    blocks = swept.geometry.blocks
    blocks = replace(blocks, x=mapped(blocks.x, function))
    space = euclidean_space(blocks)
    shift = function.factor * function.point if is_sparse(blocks.x) else 0.0
    drawn = _drawn(_over(swept, blocks, space))
    return Mapped(drawn, lambda centres: space.as_points(centres) - shift)


def _over(swept: Swept, blocks: Blocks, space: Space) -> Swept:
    """Return the same of other rows in their own space, of which as much is known."""
    geometry = replace(
        swept.geometry, blocks=blocks, space=space, former=None, landmark_rows=None, units=None
    )
    problem = replace(swept.problem, rows=RepresentedRows(space, blocks, 0), known=None)
    plain = replace(swept, geometry=geometry, problem=problem, starting=problem)
    return swept.context.prepared_to_solve(plain)
