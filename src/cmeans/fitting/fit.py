"""Base class of all estimators: parameters and rows in, a solver's result out."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import ClassifierTags, Tags

from ..data.arrays import Array, itemsize
from ..data.blocks import Blocks
from ..data.memory_estimate import of_start
from ..engines import count_threads
from ..kernels import Kernel, PrecomputedGraphKernel
from ..rules import Rule
from ..runtime.callbacks import CallbackSupportMixin, SweepHook, logger, memory_logger, verbose_log, with_callbacks
from ..runtime.progress import Reporter, current_listeners
from ..solvers.checkpoints import OBJECTS, Checkpoint, CheckpointLog, checked_checkpoint, fingerprint, formatted
from ..solvers.multistart import FitResult, best_of, concluded, from_pilot, lower_cut
from ..solvers.observer import AfterSweep, FitRecord, Observer
from ..solvers.search import Breathing, Searching
from ..solvers.sizes import Sized
from ..solvers.subsampling import SubsampleSchedule, subsample_schedule
from ..spaces import Space
from ..sweeps.choice import memory_of
from ..sweeps.final_pass import RowTaker
from ..sweeps.problem import Problem, Stopping
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from ..tuning.annealing import Annealing
from .arguments import (
    SearchName,
    checked_landmark_parameters,
    graph_parameters,
    takes_affinities,
    takes_kernel_values,
)
from .fitted_attributes import OPTIONAL, PER_ROW, certified, model_attributes, restored_on_failure, row_attributes, warn_of_result
from .geometry import Geometry
from .init import InitContext, check_init, starts
from .memory import MemoryPlan, parse_budget, plan
from .prediction import Predicting
from .procedure import FitContext, FitSettings, Method, Procedure
from .rows.joining import equal_rows_joined, joins_equal_rows
from .rows.missing import check_missing, with_means
from .rows.swept import SweptRows, for_linked_rows, swept_rows
from .rows.told import NOTHING, Told
from .space import SpaceRequest, build_geometry, check_kernel
from .validation import checked_random_state, engine_of, integer, one_of, read_rows, real, weights_of

OF_INIT = {"k-means||": 12}  # bytes per row for starts that keep something of all rows
MAY_CHANGE = {"random_state", "n_jobs", "engine", "memory_budget", "verbose", "checkpoint"}  # parameters that a resumed fit may change
OF_ROWS = (*PER_ROW, "objective_", "objective_history_", "separation_")  # attributes


class BaseCMeans(CallbackSupportMixin, Predicting, ClusterMixin, BaseEstimator):
    """The parameters that all estimators share, and their fit. An estimator adds its own, and the `Procedure` that they make."""

    n_clusters: int
    kernel: str | Kernel | Callable[..., Any]
    gamma: str | float
    degree: int
    coef0: float
    kernel_params: Mapping[str, Any] | None
    init: Any
    n_init: int
    max_iter: int | None
    tol: float
    memory_budget: int | float | str | None
    n_jobs: int | None
    random_state: Any
    verbose: int
    # Defaults of the parameters that some estimators do not offer:
    n_landmarks: int | str | None = "auto"
    landmarks: Any = "rpcholesky"
    landmark_tol: float = 0.02
    landmark_solver: str = "eigh"
    spherical: bool = False
    engine: Any = None
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None
    acceleration: str | None = None
    progressive: bool = False
    search: str | None = None
    missing: str = "error"
    join_equal_rows: bool | str = False
    _takes_labels = False  # True of an estimator with a `cluster` of its own that uses known labels
    _kept_objects = OBJECTS  # classes of what a checkpoint of its fit holds

    def _store(self, parameters: dict[str, Any]) -> None:
        """Keep the parameters of a constructor as they came (its `locals()`)."""
        for name, value in parameters.items():
            if name != "self":
                setattr(self, name, value)

    @abstractmethod
    def _procedure(self) -> Procedure:
        """Check the parameters that are the estimator's own, as far as is possible without rows, and return what they ask for."""

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        known_labels: Any = None,
        label_strength: Any = None,
        must_link: Any = None,
        cannot_link: None = None,
    ) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : (n, d) array, CSR matrix, data frame, memory map, or array of PyTorch, CuPy, ... ; kernel values for kernel="precomputed",
            affinities (n, n), CSR above all, for "precomputed_graph". A file, a folder or a pattern of files (str or path), or
            `cmeans.open_blocks` of them, is read block by block in every sweep, so that it need not fit in memory; `labels_` are then of
            the smallest integers that hold them, and `memberships_` are not kept (`predict_to` writes them). Of float16 or bfloat16 they
            become float32, above 16 MB block by block. Dask's are clustered on its workers (`DaskEngine`); `labels_` is a Dask array then.
        y : not used to cluster; callbacks that score see it.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
        known_labels : (n,) whole numbers, default=None
            Clusters that rows are known to belong to, 0 ... n_clusters - 1, which keep these numbers; -1: not known. Clusters begin at the
            means of their known rows, and are not searched for (`search`).
        label_strength : float or (n,) in [0, 1], default=None
            Share s of a row's weight that belongs to its known cluster whatever its distances are; the rule divides the rest, and the
            row's memberships are (1 - s) u + s. None: 1, known rows keep their labels.
        must_link : (k, 2) row numbers of pairs, or (n,) numbers of groups, -1 for rows in none, default=None
            Rows that must share a cluster: they are one row whose squared distance to a centre is the weighted mean of theirs. What is
            known of one of them is known of all. Rows in files are read into memory for it.
        cannot_link : None
            Refused: with such pairs it is NP-hard to say if there is any partition (Davidson & Ravi 2005). Give `known_labels` of them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, rows or weights, naming the argument, what came and what to do. The model is then what it was before.
        """
        return self._fitted(X, y, sample_weight, told=Told(known_labels, label_strength, must_link, cannot_link))

    def _fitted(self, X: Any, y: Any, sample_weight: Any, taker: RowTaker | None = None, told: Told = NOTHING) -> Self:
        estimator_name, record = type(self).__name__, FitRecord()
        with restored_on_failure(self, record), verbose_log(self.verbose, estimator_name, self.tol):
            procedure, settings = self._checked()
            if taker is not None:
                taker.check(settings.n_clusters, most=procedure.top_k)
            given = read_rows(self, X, fitting=True, sparse=not takes_kernel_values(self.kernel))
            weight, unit = weights_of(given, sample_weight, estimator_name)
            blocks = Blocks(given.x, weight, unit=unit, limits=self._limits, n_threads=self._threads(given.x)).in_their_place()
            if procedure.factors is not None:
                with self._engine(given.x) as engine:
                    blocks = replace(blocks, factors=procedure.factors(blocks, engine))
            settings = replace(settings, n_clusters=procedure.clusters_for(settings.n_clusters, blocks.n_rows, estimator_name))
            blocks = told.of(blocks, self, settings.n_clusters, estimator_name, by_sweeps=procedure.cluster is None, top_k=procedure.top_k)
            if procedure.sizes is not None and (blocks.known is not None or blocks.groups is not None):
                raise ValueError(
                    f"{estimator_name}({procedure.sizes.given}): sizes are bounded of rows that are free to move; leave out known_labels= "
                    "and must_link=, or the bounds."
                )
            for name in OPTIONAL:
                self.__dict__.pop(name, None)  # left by a fit with other parameters
            if self.missing == "partial":
                blocks, self.n_missing_ = with_means(self, blocks, estimator_name, holes=given.holes)
            most = settings.stopping.max_iter * (settings.n_init + (self.search is not None)) if procedure.bounded else None
            hook = SweepHook(self, X, y, sample_weight, most)
            log = self._checkpoint_log(settings, blocks)
            settings = settings if log is None else replace(settings, rng=log.rng)
            joined = equal_rows_joined(self, blocks, settings.n_clusters, estimator_name)
            swept = blocks if joined is None else joined.blocks
            with self._engine(swept.x) as engine, nullcontext() if log is None else log.resumed():
                context = FitContext(procedure, settings, given, swept, engine, hook, current_listeners(), log, record, taker)
                geometry, method, result = (procedure.cluster or self._by_sweeps)(context)
            if log is not None:
                log.write()
            if joined is not None:
                result = replace(result, assignment=joined.everywhere(result.assignment, blocks, taker, is_soft=result.rule.is_soft))
            self._keep(geometry, method, result, blocks)
            if self.verbose:
                logger.info("%s: %s, objective %.8g", estimator_name, self.stop_reason_, self.objective_)
            warn_of_result(geometry, result, estimator_name)
            hook.fit_ended()
        return self

    def _checkpoint_log(self, settings: FitSettings, blocks: Blocks) -> CheckpointLog | None:
        """Return the log that records the progress of the fit, if a checkpoint is set."""
        if (checkpoint := checked_checkpoint(self.checkpoint, type(self).__name__)) is None:
            return None
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in MAY_CHANGE}
        identity = {"estimator": type(self).__name__, **formatted(parameters), **fingerprint(blocks)}
        return CheckpointLog(checkpoint, identity, settings.rng, self._kept_objects)

    def _observer(self, context: FitContext, geometry: Geometry, method: Method) -> Observer:
        """Return the observer of the solves of a fit."""
        after_sweep = self._after_sweep(context.hook, geometry, method)
        return Observer(Reporter(context.listeners), after_sweep, context.log, context.record, taker=context.taker)

    @contextmanager
    def _interruptible(self, context: FitContext, geometry: Geometry, method: Method) -> Iterator[None]:
        """Leave an interrupted fit with a model of its best centres so far, if there are any, which holds nothing of its rows."""
        try:
            yield
        except KeyboardInterrupt:
            interim = context.record.interim()
            if interim is not None:
                space, centres = geometry.portable(interim.state.centres)
                for name in (*OF_ROWS, "row_visits_"):
                    self.__dict__.pop(name, None)
                state, method = State(centres, interim.state.scales), replace(method, rule=interim.rule)
                for name, value in self._model_attributes(geometry, method, space, state).items():
                    setattr(self, name, value)
                self.converged_, self.stop_reason_, self.n_iter_ = False, f"interrupted after {interim.n_iter} sweeps", interim.n_iter
                self.n_clusters_, self.approximation_ = len(centres), None
                context.record.kept = True
            raise

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, **told: Any) -> Array:
        """Find the clusters of X and return their labels: `fit(X, y, sample_weight).labels_`; `told`: further arguments of `fit`."""
        return self.fit(X, y, sample_weight=sample_weight, **told).labels_

    def _by_sweeps(self, context: FitContext) -> tuple[Geometry, Method, FitResult]:
        """Sweep from every start, and return the best result."""
        settings, engine = context.settings, context.engine
        rows = for_linked_rows(build_geometry(self._space_request(context, context.blocks)))
        (geometry, method), sized = context.procedure.in_its_space(rows), None
        if context.procedure.sizes is not None:
            limits = context.procedure.sizes.limits(geometry.blocks, settings.n_clusters, soft=method.rule.is_soft)
            sized = Sized(limits, method.rule, geometry.blocks.n_rows)
        given = self._rows_for(context, geometry, method.rule)
        swept = swept_rows(geometry, given, Problem(given, method.rule, engine, settings.stopping), settings.n_clusters)
        problem, init = swept.problem, InitContext(type(self).__name__, settings.n_clusters, geometry, swept.starting(method.pilot))
        first = starts(self.init, settings.n_init, init, settings.rng)
        observer, schedule = self._observer(context, geometry, method), self._schedule(settings, swept)
        search = self._searching(swept, settings.rng)
        with self._interruptible(context, geometry, method):
            if sized is not None:
                named = isinstance(self.init, str)
                best = sized.best_of(first, settings.n_init, problem, observer, given=not named, schedule=schedule, search=search)
                problem = replace(problem, rule=sized.rule)
            elif method.pilot is None:
                best = best_of(first, settings.n_init, problem, observer, schedule=schedule, search=search)
            else:
                problem, best = from_pilot(first, settings.n_init, problem, observer, pilot=method.pilot, schedule=schedule, search=search)
        if sized is not None:
            return geometry, method, certified(sized.concluded(best, problem, observer), best, geometry, problem)
        if isinstance(geometry.kernel, PrecomputedGraphKernel) and self._refines(method, geometry):

            def rows_of(space: Space) -> RepresentedRows:
                return self._rows_for(context, replace(geometry, kernel=space.kernel, space=space), method.rule)

            problem, best = lower_cut(geometry.kernel, geometry.blocks.x, problem, best, observer, rows_of)
            geometry = replace(geometry, kernel=problem.space.kernel, space=problem.space)
        renumber = isinstance(self.init, str) and geometry.blocks.known is None
        result = swept.of_all_rows(concluded(best, problem, observer, renumber=renumber))
        return geometry, method, certified(result, best, geometry, problem)

    def _refines(self, method: Method, geometry: Geometry) -> bool:
        """Return True where a cut of a given graph is sought on the graph itself too: by hard rules, from no given start."""
        named, told = isinstance(self.kernel, str) and isinstance(self.init, str), geometry.blocks
        if not named or self.spherical or method.rule.is_soft or told.known is not None or told.groups is not None:
            return False
        return graph_parameters(self, type(self).__name__).refine

    def _space_request(self, context: FitContext, blocks: Blocks) -> SpaceRequest:
        settings = context.settings
        return SpaceRequest(self, type(self).__name__, blocks, settings.n_clusters, settings.rng, context.engine, settings.budget)

    def _schedule(self, settings: FitSettings, swept: SweptRows) -> SubsampleSchedule | None:
        """Return the subsamples to fit first; None for a given start, which uses all rows."""
        if not self.progressive or not isinstance(self.init, str) or not swept.problem.space.sweeps_products:
            return None
        return subsample_schedule(swept.population, settings.n_clusters, settings.rng)

    def _searching(self, swept: SweptRows, rng: np.random.RandomState) -> Searching | None:
        """Return the search for a better optimum; None for a given start, whose own is meant, and for clusters of known rows."""
        if self.search == "annealing" and swept.blocks.known is None:
            return Annealing(swept.population, rng, swept.geometry.critical_temperature)
        return self._breathing(swept, rng)

    def _breathing(self, rows: Geometry | SweptRows, rng: np.random.RandomState) -> Breathing | None:
        """Return the search by clusters that come and go."""
        if self.search is None or rows.blocks.known is not None or (self.search == "auto" and not isinstance(self.init, str)):
            return None
        return Breathing(rows.population, rng, thorough=self.search == "breathing")

    def _rows_for(self, context: FitContext, geometry: Geometry, rule: Rule, remembered: int = 0) -> RepresentedRows:
        """Return the represented rows of a fit, within the memory budget."""
        space, blocks, c = geometry.space, geometry.blocks.free, context.settings.n_clusters
        known = memory_of(space, blocks, rule, c)
        remembered += space.bytes_of_rows + (0 if blocks.read_anew else known.total)
        if isinstance(init := vars(self).get("init"), str):
            remembered += of_start(blocks, OF_INIT.get(init, 0))
        memory = self._memory_plan(context, space, blocks, remembered, rule.most_clusters)
        if blocks.read_anew:
            memory = memory.with_bounds(known, blocks.limits.bounds_bytes if context.settings.budget is None else memory.for_rows)
        rows = RepresentedRows(space, blocks, memory.for_rows, **memory.kept)
        memory_logger.info("%s: %s", type(self).__name__, memory.said_of(rows.kept_share, blocks))
        return rows

    def _memory_plan(self, context: FitContext, space: Space, blocks: Blocks, remembered: int = 0, most: int | None = None) -> MemoryPlan:
        return plan(
            context.settings.budget,
            type(self).__name__,
            space,
            blocks,
            n_clusters=context.settings.n_clusters,
            itemsize=itemsize(context.given.x),
            n_threads=context.engine.n_threads,
            copied=context.given.copied,
            remembered=remembered,
            most_clusters=most,
        )

    def _after_sweep(self, hook: SweepHook | None, geometry: Geometry, method: Method) -> AfterSweep | None:
        if hook is None or not hook.listens:
            return None

        def after_sweep(rule: Rule, state: State, sweeps: int) -> bool:
            def fitted() -> dict[str, Any]:
                space, centres = geometry.portable(state.centres)
                state_there = State(centres, state.scales)
                return {**self._model_attributes(geometry, replace(method, rule=rule), space, state_there), "n_iter_": sweeps}

            return hook.sweep_ended(fitted)

        return after_sweep

    def _model_attributes(self, geometry: Geometry, method: Method, space: Space, state: State) -> dict[str, Any]:
        """Attributes needed for prediction, and the parameters determined by the data."""
        attributes = {**model_attributes(geometry, method.rule, space, state), **method.attributes}
        if "m" in vars(self):
            attributes["m_"] = getattr(method.rule, "m", 1.0)
        if method.pilot is not None and "pilot_m" in vars(self):
            attributes["pilot_m_"] = getattr(method.pilot.rule, "m", 1.0)
        return attributes

    def _keep(self, geometry: Geometry, method: Method, result: FitResult, blocks: Blocks) -> None:
        """Keep the attributes of a fit; `blocks`: the rows that were given."""
        method = replace(method, rule=result.rule)
        attributes = self._model_attributes(geometry, method, result.space, result.state)
        for name, value in {**attributes, **row_attributes(geometry, result, blocks)}.items():
            setattr(self, name, value)

    def _checked(self) -> tuple[Procedure, FitSettings]:
        """Refuse parameters that are invalid for all rows: before a fit reads any, and where a model is read."""
        name, procedure = type(self).__name__, self._procedure()
        if procedure.cluster is not None and takes_affinities(self.kernel):
            raise ValueError(
                f'{name}(kernel="precomputed_graph"): a cut of a given graph is sought by KernelKMeans, FuzzyCMeans, CMeans and '
                "PossibilisticCMeans; this estimator works on rows."
            )
        check_kernel(self, name)
        checked_landmark_parameters(self, name)
        check_init(self.init, name, procedure.starts)
        check_missing(self, name)
        joins_equal_rows(self.join_equal_rows, name)
        count_threads(self.n_jobs, name)
        checked_checkpoint(self.checkpoint, name)
        engine_of(self)
        way = None if self.search is None else one_of(self.search, "search", name, get_args(SearchName))
        if way == "annealing" and not procedure.can_be_annealed:
            raise ValueError(
                f'{name}(search="annealing"): only a rule with a temperature can be annealed, as CMeans(rule="entropy") has one; take '
                'search="breathing".'
            )
        integer(int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, "verbose", name, 0)
        n_clusters = integer(self.n_clusters, "n_clusters", name, 1) if procedure.max_clusters is None else procedure.max_clusters
        n_init = integer(self.n_init, "n_init", name, 1)
        max_iter = integer(self.max_iter, "max_iter", name, 1) if procedure.most_sweeps is None else procedure.most_sweeps
        stopping = Stopping(max_iter, real(self.tol, "tol", name), procedure.criterion, self._mixing(name))
        budget, rng = parse_budget(self.memory_budget, name), checked_random_state(self.random_state, name)
        return procedure, FitSettings(n_clusters, n_init if isinstance(self.init, str) else 1, stopping, budget, rng)

    def _mixing(self, estimator_name: str) -> str | None:
        """Return the acceleration of sweeps, or None."""
        if not isinstance(self.progressive, (bool, np.bool_)):
            raise ValueError(f"{estimator_name}(progressive={self.progressive!r}): give True or False.")
        if self.acceleration is None or (isinstance(self.acceleration, str) and self.acceleration == "anderson"):
            return self.acceleration
        raise ValueError(f'{estimator_name}(acceleration={self.acceleration!r}): unknown acceleration; give "anderson" or None.')

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = takes_kernel_values(self.kernel)
        tags.input_tags.sparse, tags.input_tags.allow_nan = not precomputed, self.missing == "partial"
        tags.input_tags.pairwise = precomputed or takes_affinities(self.kernel)
        # Not a classifier, but scikit-learn's check of CSR input reads this tag where predict_proba exists.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
