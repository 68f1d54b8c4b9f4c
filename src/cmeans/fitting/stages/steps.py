"""Columns whose values are told in steps, beside which components may be too narrow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...data.arrays import Float64, host_float64, is_sparse
from ...data.blocks import spans
from ...data.files.schema import shortened
from ...data.precision import resolution
from ...runtime.user_warnings import warn
from ...tuning.steps import steps_of
from ..geometry import Geometry
from ..procedure import FitContext, Outcome, Stage

COLUMNS_AT_ONCE = 256  # of CSR rows
JUDGED_ROWS = 10_000  # of which a fair sample says in what steps values are told


@dataclass(frozen=True)
class ToldInSteps(Stage):
    """Finds columns that are told in steps, over which criteria and likelihoods see rows spread: a
    component that sits on a single value of one has a density without bound."""

    context: FitContext | None = None  # settled

    name = "steps"

    def settle(self, context: FitContext) -> FitContext:
        return context.with_stage(ToldInSteps(context))

    def restore(self, outcome: Outcome) -> Outcome:
        assert self.context is not None, "stages are settled first"
        metrics, steps = outcome.result.state.metrics, steps_of_columns(outcome.geometry)
        assert metrics is not None, "a mixture has metrics"
        deviations = np.sqrt(metrics.variances)
        # of rows that are spread evenly over a step
        narrow = (deviations < steps / math.sqrt(12.0)) & (deviations > 0)
        if metrics.errors is not None:  # no component is narrower than what rounding has taken
            narrow &= metrics.errors <= 0
        if narrow.any():
            columns = np.flatnonzero(narrow.any(axis=0))
            told = ", ".join(dict.fromkeys(f"{step:.3g}" for step in steps[columns[:3]]))
            warn(
                f"{self.context.estimator_name}: {narrow.any(axis=1).sum()} of {len(narrow)} "
                f"components are narrower than the steps ({told}) in which values are told of "
                f"{shortened(self.context.column_labels[columns].tolist())}: they may describe "
                "single values. Take fewer components; bic and score see such columns spread over "
                "their steps."
            )
        result = replace(outcome.result, attributes={**outcome.result.attributes, "steps_": steps})
        return replace(outcome, result=result)


def steps_of_columns(geometry: Geometry) -> Float64:
    """Return the steps (d,) of the columns of a fit."""
    population, blocks = geometry.population, geometry.blocks
    positions, weights = population.fixed_sample_of(JUDGED_ROWS)
    x = blocks.take(population.at(positions)).x
    parts = spans(x.shape[1], COLUMNS_AT_ONCE) if is_sparse(x) else [(0, x.shape[1])]
    found = [
        steps_of(host_float64(x[:, start:stop]), weights * blocks.unit, resolution(x.dtype))
        for start, stop in parts
    ]
    return np.concatenate(found)
