"""What all estimators share: words in, a solver's result out."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import ClassifierTags, Tags, check_random_state

from ..arrays import Array, Float64, itemsize
from ..blocks import Blocks
from ..callbacks import CallbackSupportMixin, SweepHook, logger, memory_logger, verbose_log, with_callbacks
from ..checkpoints import Checkpoint, Journal, checked_checkpoint, fingerprint, kept_in, spelt
from ..choice import layout_for, memory_of, quick_for
from ..engines import Engine
from ..kernels import Kernel
from ..memory import Plan, parse_budget, plan
from ..progressive import Approach, approach_for
from ..rules import Rule
from ..runs import Pilot, Result, best_of, concluded, from_pilot
from ..solver import Interrupted, Stopping
from ..spaces import Space
from ..sweep import State
from ..table import Table
from .geometry import Geometry, build_geometry, takes_kernel_values
from .inputs import Input, engine_of, integer, read_rows, real, weights_of
from .predicting import Predicting
from .results import OPTIONAL, certified, complain_of_result, model_attributes, row_attributes, whole_or_nothing
from .starts import Ground, starts

OF_INIT = {"k-means||": 36, "random-partition": 24}  # bytes a row that starts take, where all rows are looked at
MAY_CHANGE = {"random_state", "n_jobs", "engine", "memory_budget", "verbose", "checkpoint"}  # words between a fit and its resumption
OF_ROWS = ("labels_", "memberships_", "_nearest", "objective_", "objective_history_", "separation_")  # attributes


@dataclass(frozen=True)
class Run:
    """The words about how a fit goes, checked."""

    n_clusters: int  # to start from
    n_init: int
    stopping: Stopping
    budget: int | None
    rng: np.random.RandomState


class BaseCMeans(CallbackSupportMixin, Predicting, ClusterMixin, BaseEstimator):
    """The words of the family and its fit. Estimators say which rule they mean and add the rule's own words."""

    n_clusters: int
    init: Any
    n_init: int
    n_landmarks: int | str | None = "auto"
    landmarks: Any = "rpcholesky"
    landmark_tol: float = 0.02
    landmark_solver: str = "eigh"
    engine: Any = None
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None
    acceleration: str | None = None
    progressive: bool = False

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any],
        gamma: str | float,
        degree: int,
        coef0: float,
        kernel_params: Mapping[str, Any] | None,
        max_iter: int | None,
        tol: float,
        memory_budget: int | float | str | None,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
        **words: Any,  # those above that the estimator leaves to its user
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        for word, value in words.items():
            setattr(self, word, value)
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _make_rule(self, geometry: Geometry) -> Rule:
        """The rule, from the estimator's words; `geometry` where a word is settled by the data."""

    def _make_pilot(self, geometry: Geometry) -> Pilot | None:
        """The fuzzy run that goes first, for rules that need scales."""
        return None

    def _criterion(self) -> str:
        return "centres"

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : (n, d) array, CSR matrix, data frame, memory map, or array of PyTorch, CuPy, ... ; kernel values for kernel="precomputed".
            A file, a folder or a pattern of files (str or path), or `cmeans.open_blocks` of them, is read block by block in every sweep,
            so that it need not fit in memory; `labels_` are then of the smallest integers that hold them, and `memberships_` are not kept
            (`predict_to` writes them).
            A Dask array or data frame is clustered where its partitions are (`cmeans.DaskEngine`).
        y : not used to cluster; callbacks that score see it.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad words, rows or weights, naming the argument, what came and what to do.
        """
        owner = type(self).__name__
        run = self._checked_run(owner)
        given = read_rows(self, X, fitting=True, sparse=not takes_kernel_values(self.kernel))
        weight, unit = weights_of(given, sample_weight, owner)
        blocks = Blocks(given.x, weight, unit=unit, factors=self._feature_factors(given.x, weight))
        run = replace(run, n_clusters=self._fitting_number(run.n_clusters, blocks.n_rows))
        for name in OPTIONAL:
            self.__dict__.pop(name, None)  # a refit with other words must not leave these behind
        hook = SweepHook(self, X, y, sample_weight, self._most_sweeps(run))
        with verbose_log(self.verbose, owner):
            journal = self._journal(run, blocks)
            run = run if journal is None else replace(run, rng=journal.rng)
            with self._engine(given.x) as engine, kept_in(journal), whole_or_nothing(self):
                geometry, result = self._cluster(run, given, blocks, engine, hook)
            if journal is not None:
                journal.write()
            self._keep(geometry, result)
            if self.verbose:
                logger.info("%s: %s, objective %.8g", owner, self.stop_reason_, self.objective_)
        complain_of_result(geometry, result, owner)
        hook.fit_ended()
        return self

    def _journal(self, run: Run, blocks: Blocks) -> Journal | None:
        """Where the fit keeps how far it has come."""
        checkpoint = checked_checkpoint(self.checkpoint, type(self).__name__)
        if checkpoint is None:
            return None
        words = {word: value for word, value in self.get_params(deep=False).items() if word not in MAY_CHANGE}
        return Journal(checkpoint, {"estimator": type(self).__name__, **spelt(words), **fingerprint(blocks)}, run.rng)

    @contextmanager
    def _kept_if_interrupted(self, geometry: Geometry, rule: Rule) -> Iterator[None]:
        """Who interrupts a fit is left with a model of the best centres so far, which knows nothing of its rows."""
        try:
            yield
        except Interrupted as end:
            if type(end.rule) is not type(rule):
                raise KeyboardInterrupt from None  # a run that only makes ready has come to nothing yet
            space, centres = geometry.space.portable(end.state.centres)
            for name in OF_ROWS:
                self.__dict__.pop(name, None)
            for name, value in model_attributes(geometry, end.rule, space, State(centres, end.state.scales)).items():
                setattr(self, name, value)
            self.converged_, self.stop_reason_, self.n_iter_ = False, str(end), end.n_iter
            self.n_clusters_, self.approximation_ = len(centres), None
            raise

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters of X and return their labels: `fit(X).labels_`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def _cluster(self, run: Run, given: Input, blocks: Blocks, engine: Engine, hook: SweepHook) -> tuple[Geometry, Result]:
        owner = type(self).__name__
        geometry = build_geometry(self, owner, blocks, run.n_clusters, run.rng)
        rule, pilot = self._make_rule(geometry), self._make_pilot(geometry)
        table = self._table_for(run, given, geometry, rule, engine)
        first_rule = rule if pilot is None else pilot.rule
        first = starts(self.init, run.n_init, Ground(owner, run.n_clusters, geometry, table, first_rule, engine), run.rng)
        way: dict[str, Any] = {"after_sweep": self._after_sweep(hook, geometry, rule), "approach": self._approach(run, geometry)}
        with self._kept_if_interrupted(geometry, rule):
            if pilot is None:
                best = best_of(first, run.n_init, table, rule, engine, run.stopping, **way)
            else:
                best = from_pilot(first, run.n_init, table, rule, engine, run.stopping, pilot=pilot, **way)
        return geometry, certified(concluded(best, table, rule, engine, run.stopping), best, geometry, table, engine)

    def _approach(self, run: Run, geometry: Geometry) -> Approach | None:
        """The samples that a fit goes through first; a start that was given is followed on all rows."""
        if not self.progressive or not isinstance(self.init, str) or not geometry.space.sweeps_products:
            return None
        return approach_for(geometry.population, run.n_clusters, run.rng)

    def _table_for(
        self,
        run: Run,
        given: Input,
        geometry: Geometry,
        rule: Rule,
        engine: Engine,
        remembered: int = 0,
        rows_in_all: int = 0,  # where these rows are but a part of what will be swept
    ) -> Table:
        """The rows of a fit in their space, laid out for the rule's sweeps, within the memory there is."""
        space, blocks, c = geometry.space, geometry.blocks, run.n_clusters
        layout = layout_for(space, blocks, rule, c, rows_in_all)
        remembered += memory_of(layout, rule, blocks, space.size, c)
        if blocks.are_stored and isinstance(init := vars(self).get("init"), str):
            remembered += OF_INIT.get(init, 0) * blocks.n_rows
        memory = self._plan(run, given, space, blocks, engine, remembered)
        quick = quick_for(space, blocks, rule, rows_in_all)
        table = Table(space, blocks, memory.for_rows, layout=layout, quick=quick, rows_in_all=rows_in_all)
        memory_logger.info("%s: %s", type(self).__name__, memory.said_of(table.kept_share, blocks))
        return table

    def _plan(self, run: Run, given: Input, space: Space, blocks: Blocks, engine: Engine, remembered: int = 0) -> Plan:
        return plan(
            run.budget,
            type(self).__name__,
            space,
            blocks,
            n_clusters=run.n_clusters,
            itemsize=itemsize(given.x),
            n_threads=engine.n_threads,
            copied=given.copied,
            remembered=remembered,
        )

    def _after_sweep(self, hook: SweepHook, geometry: Geometry, rule: Rule) -> Callable[[State, int], bool] | None:
        if not hook.listens:
            return None

        def after_sweep(state: State, sweeps: int) -> bool:
            def fitted() -> dict[str, Any]:
                space, centres = geometry.space.portable(state.centres)
                return {**model_attributes(geometry, rule, space, State(centres, state.scales)), "n_iter_": sweeps}

            return hook.sweep_ended(fitted)

        return after_sweep

    def _keep(self, geometry: Geometry, result: Result) -> None:
        for name, value in {
            **model_attributes(geometry, result.rule, result.space, result.state),
            **row_attributes(geometry, result),
        }.items():
            setattr(self, name, value)

    def _checked_run(self, owner: str) -> Run:
        n_init = integer(self.n_init, "n_init", owner, 1)
        engine_of(self)
        integer(int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, "verbose", owner, 0)
        return Run(
            self._clusters_asked(owner),
            n_init if isinstance(self.init, str) else 1,
            Stopping(self._sweeps_asked(owner), real(self.tol, "tol", owner), self._criterion(), self._mixing(owner)),
            parse_budget(self.memory_budget, owner),
            check_random_state(self.random_state),
        )

    def _mixing(self, owner: str) -> str | None:
        """How sweeps are accelerated."""
        if not isinstance(self.progressive, (bool, np.bool_)):
            raise ValueError(f"{owner}(progressive={self.progressive!r}): give True or False.")
        if self.acceleration is None or (isinstance(self.acceleration, str) and self.acceleration == "anderson"):
            return self.acceleration
        raise ValueError(f'{owner}(acceleration={self.acceleration!r}): unknown acceleration; give "anderson" or None.')

    def _clusters_asked(self, owner: str) -> int:
        """How many clusters the words ask for."""
        return integer(self.n_clusters, "n_clusters", owner, 1)

    def _sweeps_asked(self, owner: str) -> int:
        """How many sweeps the words allow."""
        return integer(self.max_iter, "max_iter", owner, 1)

    def _fitting_number(self, n_clusters: int, n_rows: int) -> int:
        """How many clusters these rows start with."""
        if n_clusters > n_rows:
            owner = type(self).__name__
            raise ValueError(
                f"{owner}(n_clusters={n_clusters}): there are fewer rows than clusters, n_samples={n_rows}; take fewer clusters."
            )
        return n_clusters

    def _feature_factors(self, x: Array, weight: Float64) -> Float64 | None:
        """What each feature is multiplied by (d,) before anything else happens."""
        return None

    def _most_sweeps(self, run: Run) -> int | None:
        """An upper bound of the sweeps that callbacks hear of, where there is one."""
        return run.stopping.max_iter * run.n_init

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = takes_kernel_values(self.kernel)
        tags.input_tags.sparse = not precomputed
        tags.input_tags.pairwise = precomputed
        # Not a classifier, but scikit-learn's check of CSR input asks this tag of whatever has predict_proba.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
