"""One run of (a)kFCM or (a)kPCM on kernel values that are given, so that their time and that of the
sweeps come apart as in the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cmeans.kernels import Kernel, Precomputed
from cmeans.metrics import purity
from cmeans.papers import GradientLandmarks, PrintedCMeans, PrintedFuzzy, PrintedPossibilistic
from cmeans.rules import Fuzzy, Possibilistic, Rule

from ..seconds import timed
from .settings import EPSILON, M, Problem, first_rows, kernel_of

FCM, PCM = "FCM", "PCM"
ALGORITHMS = (FCM, PCM)
CORRECTED, PRINTED, AUTO = "m 2", "printed", "m auto"
VARIANTS = (CORRECTED, PRINTED, AUTO)
ROWS = 16_384  # of kernel values made together
MAX_ITER = 1000


def fuzzy_rule(variant: str, m: float) -> Rule:
    """`m` is what m="auto" comes to."""
    return Fuzzy(m) if variant == AUTO else PrintedFuzzy(M) if variant == PRINTED else Fuzzy(M)


def estimator(algorithm: str, variant: str, clusters: int, m: float, **words: Any) -> PrintedCMeans:
    """akPCM and PCM start from their FCM, whose start is `init`; eta by eq. 11 with Theta = 1."""
    words = {"tol": EPSILON, "max_iter": MAX_ITER, "kernel": "precomputed", **words}
    if algorithm == FCM:
        return PrintedCMeans(clusters, rule=fuzzy_rule(variant, m), **words)
    if variant == PRINTED:
        return PrintedCMeans(clusters, rule=PrintedPossibilistic(M), **words)
    return PrintedCMeans(
        clusters, rule=Possibilistic(M, pilot_m=m if variant == AUTO else M), **words
    )


def kernel_values(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """k(x_i, y_j) (n, s), some rows at a time."""
    values, prepared = np.empty((len(x), len(y)), dtype=x.dtype), kernel.prepare(y)
    for start in range(0, len(x), ROWS):
        values[start : start + ROWS] = prepared(x[start : start + ROWS])
    return values


@dataclass(frozen=True)
class Values:
    """Kernel values for the fits of one draw, or all of them, and the seconds that they took."""

    values: np.ndarray
    words: dict[str, Any]  # by which an estimator takes them
    seconds: float


def full(problem: Problem) -> Values:
    """All n^2 of them: sweeps take the product with the whole matrix, as the paper's exact
    algorithms do."""
    values, seconds = timed(lambda: kernel_values(kernel_of(problem.kernel), problem.x, problem.x))
    return Values(values, {"landmarks": GradientLandmarks(None)}, seconds)


def first_memberships(problem: Problem, rows: np.ndarray, rule: Rule) -> np.ndarray:
    """U (n, c) of the centres that lie at some rows, by their exact distances: the start of both
    sides."""
    kernel = kernel_of(problem.kernel)
    diag = kernel.diag(problem.x)
    d2 = (
        diag[:, None]
        + diag[rows][None, :]
        - 2.0 * kernel_values(kernel, problem.x, problem.x[rows])
    )
    d2[rows, np.arange(len(rows))] = 0.0
    return rule.memberships(np.maximum(d2, 0.0), None)


def one_run(values: Values, model: PrintedCMeans, classes: np.ndarray) -> dict[str, Any]:
    """Fit, and what the tables say of a run; `seconds` are those of the fit, without the kernel
    values."""
    _, seconds = timed(lambda: model.fit(values.values))
    u = model.memberships_
    objective = model.objective_
    if hasattr(model, "eta_"):  # E of eq. 22 is without the penalty
        for start in range(0, len(u), ROWS):
            objective -= float(
                ((1.0 - u[start : start + ROWS].astype(np.float64)) ** model.m_).sum(axis=0)
                @ model.eta_
            )
    return {
        "objective": float(objective),
        "purity": purity(classes, model.labels_),
        "sweeps": round(model.row_visits_ / len(u)),
        "seconds": seconds,
        "kernel_seconds": values.seconds,
        "peak": float(u.max(axis=1).mean()),
        "separation": float(model.separation_),
        "converged": int(model.converged_),
    }


class Drawn:
    """One draw of landmarks, and rows to start from. What takes long is made when a fit first needs
    it, after `warm`."""

    def __init__(
        self,
        problem: Problem,
        size: int,
        seed: int,
        start: int | np.ndarray,
        warm: Callable[[], None] | None = None,
    ) -> None:
        self.problem, self.warm = problem, warm
        self._size, self._seed, self._start = size, seed, start

    @cached_property
    def landmarks(self) -> np.ndarray:
        """Evenly at random."""
        n = len(self.problem.x)
        return np.sort(
            np.random.default_rng([1102, n, self._size, self._seed]).choice(
                n, self._size, replace=False
            )
        )

    @cached_property
    def values(self) -> Values:
        """The columns of the landmarks, and the diagonal."""
        x, landmarks, kernel = self.problem.x, self.landmarks, kernel_of(self.problem.kernel)
        (values, diag), seconds = timed(
            lambda: (kernel_values(kernel, x, x[landmarks]), kernel.diag(x))
        )
        words = {"landmarks": landmarks, "kernel": Precomputed(diagonal=diag)}
        return Values(values, words, seconds)

    def memberships(self, variant: str, m: float) -> np.ndarray:
        """U of the start."""
        start = self._start
        rows = (
            first_rows(len(self.problem.x), start, self.problem.clusters)
            if isinstance(start, int)
            else start
        )
        return first_memberships(self.problem, rows, fuzzy_rule(variant, m))

    def fit(self, algorithm: str, variant: str, m: float, **words: Any) -> dict[str, Any]:
        """One run on kernel values that are there."""
        if self.warm is not None:
            self.warm()
        words |= {"init": self.memberships(variant, m), **self.values.words}
        return one_run(
            self.values,
            estimator(algorithm, variant, self.problem.clusters, m, **words),
            self.problem.classes,
        )

    def whole_fit(self, algorithm: str, m: float, **words: Any) -> dict[str, Any]:
        """The same as its users run it: from the rows, the library making the kernel values as it
        goes."""
        if self.warm is not None:
            self.warm()
        u = self.memberships(CORRECTED, m)
        words = {**self.problem.kernel, "landmarks": self.landmarks, "init": u, **words}
        model = estimator(algorithm, CORRECTED, self.problem.clusters, M, **words)
        _, seconds = timed(lambda: model.fit(self.problem.x))
        return {
            "seconds": seconds,
            "sweeps": round(model.row_visits_ / len(u)),
            "purity": purity(self.problem.classes, model.labels_),
        }
