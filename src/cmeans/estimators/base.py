"""What all estimators share: words in, a solver's result out, and the same questions answered about new rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import ClassifierTags, Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..arrays import Array, as_like, itemsize, namespace, numpy_dtype, to_numpy
from ..blocks import Block, Blocks
from ..callbacks import CallbackSupportMixin, SweepHook, logger, verbose_log, with_callbacks
from ..centres import Centres
from ..engines import ThreadEngine, count_threads
from ..kernels import Kernel, Precomputed
from ..memory import parse_budget, plan
from ..rules import Rule
from ..runs import Result, best_of
from ..solver import Assignment, Stopping, assign_all
from ..spaces import Space
from ..sweep import State, distances, nearest
from ..table import Table
from .geometry import Geometry, build_geometry
from .inputs import Input, foreign_like, integer, read_rows, read_weights, real
from .precomputed import diagonal_for_prediction
from .results import OPTIONAL, complain_of_result, model_attributes, row_attributes
from .starts import starts


def _rows_sum_to_one(estimator: Any) -> bool:
    return bool(estimator._rule_class_sums_to_one())


class BaseCMeans(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """The words and methods of the family. Estimators say which rule they mean and add the rule's own words."""

    _space: Space
    _state: State
    _rule: Rule

    def __init__(
        self,
        n_clusters: int,
        *,
        kernel: str | Kernel | Callable[..., Any],
        gamma: str | float,
        degree: int,
        coef0: float,
        kernel_params: Mapping[str, Any] | None,
        n_landmarks: int | str | None,
        landmarks: Any,
        landmark_solver: str,
        init: Any,
        n_init: int,
        max_iter: int,
        tol: float,
        memory_budget: int | float | str | None,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.landmark_solver = landmark_solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---- what an estimator says of itself

    @abstractmethod
    def _make_rule(self, geometry: Geometry) -> Rule:
        """The rule, from the estimator's words; `geometry` where a word is settled by the data."""

    def _make_pilot(self, geometry: Geometry) -> tuple[Rule, float] | None:
        """The fuzzy rule that goes first and eta_scale, for rules that need scales."""
        return None

    def _rule_class_sums_to_one(self) -> bool:
        return True

    def _criterion(self) -> str:
        return "centres"

    # ---- fitting

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : (n, d) array, CSR matrix, data frame, memory map, or array of PyTorch, CuPy, ... ; kernel values for kernel="precomputed".
        y : ignored.
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
        given = read_rows(self, X, fitting=True)
        blocks = Blocks(given.x, read_weights(sample_weight, int(given.x.shape[0]), owner))
        n_clusters = self._checked_number_of_clusters(blocks.n_rows, owner)
        hook = SweepHook(self, X, sample_weight, self.max_iter)
        with ThreadEngine(self._threads(given.x)) as engine, verbose_log(self.verbose, owner):
            geometry, result = self._cluster(given, blocks, n_clusters, engine, hook)
        self._keep(geometry, result)
        complain_of_result(geometry, result, owner)
        if self.verbose:
            logger.info("%s: %s, objective %.8g", owner, self.stop_reason_, self.objective_)
        hook.fit_ended()
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters of X and return their labels: `fit(X).labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def _cluster(self, given: Input, blocks: Blocks, n_clusters: int, engine: ThreadEngine, hook: SweepHook) -> tuple[Geometry, Result]:
        owner = type(self).__name__
        rng = check_random_state(self.random_state)
        stopping = self._stopping(owner)
        n_init = self._checked_n_init(owner)
        budget = parse_budget(self.memory_budget, owner)
        geometry = build_geometry(self, owner, blocks, n_clusters, rng)
        blocks = geometry.blocks
        rule, pilot = self._make_rule(geometry), self._make_pilot(geometry)
        memory = plan(
            budget,
            owner,
            geometry.space,
            blocks,
            n_clusters=n_clusters,
            itemsize=itemsize(given.x),
            n_threads=engine.n_threads,
            copied=given.copied,
        )
        table = Table(geometry.space, blocks, memory.for_rows)
        first_rule = rule if pilot is None else pilot[0]
        result = best_of(
            starts(self.init, n_init, n_clusters, geometry, table, first_rule, engine, rng, owner),
            n_init,
            table,
            rule,
            engine,
            stopping,
            pilot=None if pilot is None else pilot[0],
            eta_scale=1.0 if pilot is None else pilot[1],
            after_sweep=self._after_sweep(hook, geometry, rule),
        )
        return geometry, result

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
        for name in OPTIONAL:
            self.__dict__.pop(name, None)  # a refit with other words must not leave these behind
        for name, value in {
            **model_attributes(geometry, result.rule, result.space, result.state),
            **row_attributes(geometry, result),
        }.items():
            setattr(self, name, value)

    # ---- questions about new rows

    def memberships(self, X: Any, *, diag: Any = None) -> Array:
        """Memberships (rows, c) of new rows, whatever the rule (typicalities for possibilistic ones).

        `diag`: k(x, x) of each row, for precomputed kernels whose diagonal is not constant.
        """
        return self._assign(X, diag).memberships

    def predict(self, X: Any, *, diag: Any = None) -> Array:
        """Labels (rows,) of new rows: the cluster of largest membership, ties to the lowest number."""
        check_is_fitted(self)
        table, known = self._table(X, diag)
        with ThreadEngine(self._threads(table.blocks.x)) as engine:
            if known or not self._rule.rows_sum_to_one:
                labels = assign_all(table, self._space, self._rule, self._state, engine).labels
            else:  # the nearest centre is the same whatever k(x, x) is
                labels = np.concatenate(list(engine.map(lambda task: nearest(table, self._space, self._state, task), table.n_tasks)))
        return foreign_like(labels.astype(np.int64), table.blocks.x)

    @available_if(_rows_sum_to_one)
    def predict_proba(self, X: Any, *, diag: Any = None) -> Array:
        """Memberships (rows, c) of new rows, which sum to one (one-hot for hard rules)."""
        return self.memberships(X, diag=diag)

    def transform(self, X: Any, *, diag: Any = None) -> Array:
        """Distances (rows, c) of new rows to the centres, sqrt(d2) in the space, with what the landmarks leave out of a row."""
        check_is_fitted(self)
        table = self._known_table(X, diag)
        with ThreadEngine(self._threads(table.blocks.x)) as engine:
            parts = list(engine.map(lambda task: distances(table, self._space, self._state, task), table.n_tasks))
        return namespace(parts[0]).concat(parts)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, diag: Any = None) -> float:
        """Minus the objective of X at the fitted centres: larger is better."""
        return -self._assign(X, diag, sample_weight).objective

    def outlier_score(self, X: Any, *, diag: Any = None) -> Array:
        """How far each row is from every cluster (rows,), larger for stranger rows.

        1 - largest typicality for possibilistic rules; the distance to the nearest centre for the others, whose
        memberships say nothing of rows that are far from everything.
        """
        assignment = self._assign(X, diag)
        u = assignment.memberships
        if not self._rule.rows_sum_to_one:
            return 1.0 - namespace(u).max(u, axis=1)
        return foreign_like(np.sqrt(assignment.nearest).astype(numpy_dtype(u)), u)

    def representatives(self, k: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Row numbers (c, k) of the k most typical training rows of each cluster, nearest first; -1 where it has fewer."""
        check_is_fitted(self)
        k = integer(k, "k", f"{type(self).__name__}.representatives", 1)
        labels = to_numpy(self.labels_)
        out = np.full((len(self._state.centres), k), -1, dtype=np.int64)
        for j in range(len(out)):
            rows = np.flatnonzero(labels == j)
            nearest = rows[np.argsort(self._nearest[rows], kind="stable")[:k]]
            out[j, : len(nearest)] = nearest
        return out

    def _assign(self, X: Any, diag: Any, sample_weight: Any = None) -> Assignment:
        check_is_fitted(self)
        table = self._known_table(X, diag, sample_weight)
        with ThreadEngine(self._threads(table.blocks.x)) as engine:
            return assign_all(table, self._space, self._rule, self._state, engine)

    def _known_table(self, X: Any, diag: Any, sample_weight: Any = None) -> Table:
        table, known = self._table(X, diag, sample_weight)
        if not known:
            raise ValueError(
                f'{type(self).__name__}(kernel="precomputed"): distances of new rows need their own k(x, x), which differs from row to '
                "row here; pass diag=..., one number for each row of X."
            )
        return table

    def _table(self, X: Any, diag: Any, sample_weight: Any = None) -> tuple[Table, bool]:
        """New rows as the model sees them, and whether their k(x, x) are known."""
        owner = type(self).__name__
        x = read_rows(self, X, fitting=False).x
        blocks = Blocks(x, read_weights(sample_weight, int(x.shape[0]), owner))
        known = True
        if isinstance(self.kernel_, Precomputed):
            kxx = diagonal_for_prediction(diag, x, owner, self._training_diag)
            known = kxx is not None
            blocks = replace(blocks, kxx=kxx if known else as_like(np.zeros(blocks.n_rows), x))
        elif diag is not None:
            raise ValueError(f'{owner}: diag is for kernel="precomputed" only; this model computes k(x, x) itself.')
        return Table(self._space, blocks, 0, training=False), known

    def _centres_for(self, space: Space, basis: Block | None, owner: str) -> Centres:
        """The fitted centres as a start in another space."""
        check_is_fitted(self)
        if space.kernel != self._space.kernel:
            raise ValueError(
                f"{owner}(init=fitted {type(self).__name__}): it was fitted with {self._space.kernel!r}, this fit has {space.kernel!r}; "
                "centres carry over only within one kernel. Give the same kernel and the same gamma as a number."
            )
        return space.project(self._state.centres, self._space, basis)

    # ---- words

    def _threads(self, x: Array) -> int:
        threads = count_threads(self.n_jobs, type(self).__name__)
        return threads if isinstance(x, np.ndarray) or hasattr(x, "indptr") else 1  # other libraries bring their own threads

    def _checked_number_of_clusters(self, n_rows: int, owner: str) -> int:
        n_clusters = integer(self.n_clusters, "n_clusters", owner, 1)
        if n_clusters > n_rows:
            raise ValueError(f"{owner}(n_clusters={n_clusters}): there are fewer rows than clusters, n_samples={n_rows}.")
        return n_clusters

    def _checked_n_init(self, owner: str) -> int:
        n_init = integer(self.n_init, "n_init", owner, 1)
        return n_init if isinstance(self.init, str) else 1

    def _stopping(self, owner: str) -> Stopping:
        return Stopping(integer(self.max_iter, "max_iter", owner, 1), real(self.tol, "tol", owner), self._criterion())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = (isinstance(self.kernel, str) and self.kernel == "precomputed") or isinstance(self.kernel, Precomputed)
        tags.input_tags.sparse = not precomputed
        tags.input_tags.pairwise = precomputed
        # Not a classifier, but scikit-learn's check of CSR input asks this tag of whatever has predict_proba.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
