"""Two-step kernel k-means: the baseline that approximate kernel k-means is measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import is_foreign, is_sparse, one_hot, to_numpy
from ..assignment import assign_all
from ..blocks import Blocks
from ..callbacks import SweepHook
from ..choice import quick_for
from ..engines import Engine
from ..kernels import Kernel
from ..rules import Hard, Rule
from ..runs import Result, best_of, concluded
from ..spaces import LandmarkSpace
from ..table import Table
from .base import BaseCMeans, Run
from .geometry import Geometry
from .inputs import Input
from .landmark_words import row_numbers
from .predicting import Predicting
from .sample_geometry import build_sample_geometry
from .starts import Ground, checked_labels, starts


class TwoStepKernelKMeans(BaseCMeans):
    """Two-step kernel k-means: exact kernel k-means on a sample of rows, then every row joins its nearest centre.

    Use it as a baseline, or when a rough answer must come at once: rows outside the sample never move a centre, so it needs
    a far larger sample than `KernelKMeans` needs landmarks (Chitta 2011, Alg. 1 against Alg. 2).

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters sought.
    n_landmarks : int, "auto" or None, default="auto"
        Rows in the sample ("auto" and None as in `KernelKMeans`).

    All other words, attributes and methods are those of `KernelKMeans`. Memberships, labels and row numbers in `init` speak of X;
    those of rows outside the sample are not used. `objective_history_` is the sample's, `objective_` that of all rows.

    Raises
    ------
    ValueError
        For bad words, rows or weights, naming the argument, what came and what to do.

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
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            landmark_solver=landmark_solver,
            max_iter=max_iter,
            tol=tol,
            memory_budget=memory_budget,
            n_jobs=n_jobs,
            engine=engine,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init

    def _make_rule(self, geometry: Geometry) -> Rule:
        return Hard()

    def _cluster(self, run: Run, given: Input, blocks: Blocks, engine: Engine, hook: SweepHook) -> tuple[Geometry, Result]:
        owner = type(self).__name__
        whole, sample = build_sample_geometry(self, owner, blocks, run.n_clusters, run.rng)
        memory = self._plan(run, given, sample.space, whole.blocks, engine)
        table = Table(sample.space, sample.blocks, memory.for_rows)
        init = _init_on_sample(self.init, whole, sample, run.n_clusters, owner)
        first = starts(init, run.n_init, Ground(owner, run.n_clusters, sample, table, Hard(), engine), run.rng)
        best = best_of(first, run.n_init, table, Hard(), engine, run.stopping, after_sweep=self._after_sweep(hook, whole, Hard()))
        result = concluded(best, table, Hard(), engine, run.stopping)
        space = result.space
        if isinstance(space, LandmarkSpace) and whole.is_precomputed:
            assert whole.landmark_rows is not None
            space = replace(space, points=whole.landmark_rows)
        everybody = Table(space, whole.blocks, 0, training=False, quick=quick_for(space, whole.blocks, Hard()))
        assignment = assign_all(everybody, space, result.rule, result.state, engine)
        visits = result.row_visits + whole.blocks.n_rows
        return whole, replace(result, assignment=assignment, space=space, alive=assignment.mass > 0, row_visits=visits)


def _init_on_sample(init: Any, whole: Geometry, sample: Geometry, n_clusters: int, owner: str) -> Any:
    """What `init` says of X, said of the sample's rows."""
    n, rows = whole.blocks.n_rows, whole.landmark_rows
    assert rows is not None
    if isinstance(init, (str, Predicting)) or is_sparse(init):
        return init
    values = np.asarray(to_numpy(init) if is_foreign(init) else init)
    if values.ndim == 1 and np.issubdtype(values.dtype, np.integer):
        if len(values) == n_clusters:
            named = whole.blocks.take(row_numbers(values, owner, n, "init"))
            return sample.space.embed(replace(named, x=whole.kernel.prepare(rows)(named.x)) if sample.is_precomputed else named)
        if len(values) == n:
            return one_hot(checked_labels(values, n_clusters, owner)[rows], n_clusters, np.zeros(0))
    if values.ndim == 2 and values.shape == (n, n_clusters) and values.shape != (n_clusters, whole.blocks.x.shape[1]):
        return values[rows]
    return init
