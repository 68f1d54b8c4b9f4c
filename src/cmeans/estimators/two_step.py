"""Two-step kernel k-means: the baseline that approximate kernel k-means is measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.arrays import is_sparse, one_hot
from ..fitting.fit import BaseCMeans, FitContext, Method, Procedure
from ..fitting.init import InitContext, checked_labels, starts
from ..fitting.landmark_argument import check_landmarks, row_numbers
from ..fitting.prediction import Predicting
from ..fitting.sample_space import build_sample_geometry
from ..fitting.space import Geometry
from ..fitting.validation import host_array
from ..kernels import Kernel
from ..rules import Hard
from ..solvers.multistart import FitResult, best_of, concluded
from ..sweeps.choice import quick_for
from ..sweeps.final_pass import assign_all
from ..sweeps.problem import Problem
from ..sweeps.represented import RepresentedRows


class TwoStepKernelKMeans(BaseCMeans):
    """Two-step kernel k-means: exact kernel k-means on a sample of rows, then every row joins its nearest centre.

    Use it as a baseline, or for a quick rough result: rows outside the sample never move a centre, so it needs
    a far larger sample than `KernelKMeans` needs landmarks (Chitta 2011, Alg. 1 against Alg. 2).

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters sought.
    n_landmarks : int, "auto" or None, default="auto"
        Rows in the sample ("auto" and None as in `KernelKMeans`).

    All other parameters, attributes and methods are those of `KernelKMeans`. Memberships, labels and row numbers in `init` refer to X;
    those of rows outside the sample are not used. `objective_history_` is the sample's, `objective_` that of all rows.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, Alg. 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from cmeans import TwoStepKernelKMeans
    >>> X = load_digits().data
    >>> TwoStepKernelKMeans(n_clusters=10, n_landmarks=200, random_state=0).fit(X).labels_.shape
    (1797,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        landmarks: Any = "uniform",
        landmark_solver: str = "eigh",
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        memory_budget: int | float | str | None = None,
        n_jobs: int | None = None,
        engine: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _procedure(self) -> Procedure:
        if not isinstance(self.landmarks, str):
            check_landmarks(self.landmarks, type(self).__name__, rows_only=True)
        return Procedure(lambda _: Method(Hard()), self._by_sample)

    def _by_sample(self, context: FitContext) -> tuple[Geometry, Method, FitResult]:
        estimator_name, settings, engine = type(self).__name__, context.settings, context.engine
        whole, sample = build_sample_geometry(self, estimator_name, context.blocks, settings.n_clusters, settings.rng)
        method = context.procedure.method(whole)
        memory = self._memory_plan(context, sample.space, whole.blocks)
        problem = Problem(RepresentedRows(sample.space, sample.blocks, memory.for_rows), method.rule, engine, settings.stopping)
        init = _init_on_sample(self.init, whole, sample, settings.n_clusters, estimator_name)
        first = starts(init, settings.n_init, InitContext(estimator_name, settings.n_clusters, sample, problem), settings.rng)
        observer = self._observer(context, whole, method)
        with self._interruptible(context, whole, method):
            best = best_of(first, settings.n_init, problem, observer)
        result = concluded(best, problem, observer)
        space, _ = whole.portable(best.solution.state.centres)
        rows = RepresentedRows(space, whole.blocks, 0, training=False, quick=quick_for(space, whole.blocks, method.rule))
        assignment = assign_all(rows, space, result.rule, result.state, engine, observer.reporter)
        visits = result.row_visits + whole.blocks.n_rows
        return whole, method, replace(result, assignment=assignment, space=space, alive=assignment.mass > 0, row_visits=visits)


def _init_on_sample(init: Any, whole: Geometry, sample: Geometry, n_clusters: int, estimator_name: str) -> Any:
    """Translate `init` from the rows of X to those of the sample."""
    n, rows = whole.blocks.n_rows, whole.landmark_rows
    assert rows is not None
    if isinstance(init, (str, Predicting)) or is_sparse(init):
        return init
    values = host_array(init, "init", estimator_name)
    if values.ndim == 1 and np.issubdtype(values.dtype, np.integer):
        if len(values) == n_clusters:
            named = whole.blocks.take(row_numbers(values, estimator_name, n, "init"))
            return sample.space.embed(replace(named, x=whole.kernel.prepare(rows)(named.x)) if sample.is_precomputed else named)
        if len(values) == n:
            return one_hot(checked_labels(values, n_clusters, estimator_name)[rows], n_clusters, np.zeros(0))
    if values.ndim == 2 and values.shape == (n, n_clusters) and values.shape != (n_clusters, whole.blocks.x.shape[1]):
        return values[rows]
    return init
