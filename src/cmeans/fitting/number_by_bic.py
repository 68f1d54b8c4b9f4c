"""The number of clusters of a mixture that has the least criterion of Schwarz."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.known_labels import GROUP, LABEL
from ..runtime.checks import ParameterError, integer
from ..spaces.metrics import Metrics
from ..sweeps.final_pass import RowTaker
from .mixture import deviance
from .procedure import FitContext, Outcome


def numbers_to_choose(value: Any, init: Any, name: str) -> range | None:
    """Return the numbers of clusters to choose from; None where one is given."""
    if not isinstance(value, tuple | list):
        return None
    if len(value) != 2 or not all(isinstance(one, numbers.Integral) for one in value):
        wanted = "{name} must be a number, or the range (least, most) to choose from by BIC."
        raise ParameterError(name, "n_clusters", value, wanted)
    least, most = (integer(one, "n_clusters", name, 1) for one in value)
    if least >= most:
        wanted = "of the range {name} the second number must be the larger one."
        raise ParameterError(name, "n_clusters", value, wanted)
    if not isinstance(init, str):
        wanted = "where n_clusters is a range, {name} must be a name."
        raise ParameterError(name, "init", type(init).__name__, wanted)
    return range(least, most + 1)


@dataclass(frozen=True)
class NumberByBic:
    """A fit of every number of clusters, each as if it were the only one, of which the best is
    returned."""

    choices: range
    fit: Callable[[FitContext], Outcome]
    n_parameters: Callable[[Metrics], int]  # that are free
    said: str  # the estimator and its numbers, in messages
    too_few: str  # what is said of fewer rows than clusters

    def __call__(self, context: FitContext) -> Outcome:
        if {LABEL, GROUP} & set(context.blocks.columns):
            raise ValueError(
                f"{self.said}: likelihoods by which numbers compare are those of free rows; give "
                "one number beside known_labels= and must_link=."
            )
        least, most = self.choices[0], context.settings.n_clusters  # of no more than rows
        if least > most:
            raise ValueError(f"{self.said}: {self.too_few.format(n=context.blocks.n_rows)}")
        weight = float(context.blocks.weight.sum()) * context.blocks.unit
        best, bics = None, list[float]()
        for number in range(least, most + 1):
            found = self._fitted(context, number)
            metrics = found.result.state.metrics
            assert metrics is not None, "a mixture has metrics"
            price = self.n_parameters(metrics) * math.log(weight)
            bics.append(deviance(found, context.engine) + price)
            if best is None or bics[-1] == min(bics):
                best = found
        assert best is not None, "there is a number to choose"
        chosen = self.choices[int(np.argmin(bics))]
        if context.taker is not None:
            best = self._fitted(context, chosen, context.taker)
        have = "has" if chosen == 1 else "have"
        said = f"; of {least} to {most} clusters, {chosen} {have} the least BIC"
        result = best.result
        attributes = {**result.attributes, "bics_": np.array(bics)}
        return replace(
            best, result=replace(result, attributes=attributes, reason=result.reason + said)
        )

    def _fitted(
        self, context: FitContext, n_clusters: int, taker: RowTaker | None = None
    ) -> Outcome:
        settings = replace(
            context.settings, n_clusters=n_clusters, rng=deepcopy(context.settings.rng)
        )
        scope = f"{n_clusters} clusters{', again' if taker is not None else ''}/"
        return self.fit(replace(context, settings=settings, taker=taker, scope=scope))
