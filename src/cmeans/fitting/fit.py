"""Base class of all estimators: parameters and rows in, a solver's result out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

from sklearn.base import ClusterMixin
from sklearn.utils import ClassifierTags, Tags

from ..data.blocks import Blocks
from ..data.outputs import Labels
from ..engines import count_threads
from ..runtime.callbacks import CallbackSupportMixin, SweepHook, logger, verbose_log, with_callbacks
from ..runtime.progress import current_listeners
from ..solvers.checkpoints import OBJECTS, CheckpointLog, checked_checkpoint, fingerprint, formatted
from ..solvers.multistart import FitResult
from ..solvers.observer import FitRecord
from ..sweeps.final_pass import RowTaker
from ..sweeps.problem import Stopping
from .arguments import takes_affinities, takes_kernel_values
from .fitted_attributes import OPTIONAL, restored_on_failure, row_attributes, warn_of_result
from .geometry import Geometry
from .init import check_init
from .landmark_choice import checked_landmarks
from .memory import parse_budget
from .named_parameters import NamedParameters
from .prediction import Predicting
from .procedure import FitContext, FitSettings, Method, Procedure
from .rows.joining import equal_rows_joined
from .rows.missing import check_missing, with_means
from .rows.told import NOTHING, Told
from .search import Search, search_from, search_within
from .space import check_kernel
from .validation import checked_random_state, engine_of, integer, read_rows, real, weights_of
from .ways.by_sweeps import BySweeps

MAY_CHANGE = {"random_state", "n_jobs", "engine", "memory_budget", "verbose", "checkpoint"}  # parameters that a resumed fit may change


class BaseCMeans(CallbackSupportMixin, BySweeps, Predicting, ClusterMixin, NamedParameters):
    """The fit that all estimators share. An estimator adds its own parameters, and the `Procedure` that they make."""

    _takes_labels = False  # True of an estimator with a `cluster` of its own that uses known labels
    _taken_fields: Mapping[str, tuple[str, ...]] = {}  # of parameters that are objects, where a fit does not use all
    _kept_objects = OBJECTS  # classes of what a checkpoint of its fit holds

    def _store(self, parameters: dict[str, Any]) -> None:
        """Keep the parameters of a constructor as they came (its `locals()`)."""
        for name, value in parameters.items():
            if name != "self":
                setattr(self, name, value)

    @abstractmethod
    def _procedure(self) -> Procedure:
        """Check the parameters that are the estimator's own, as far as is possible without rows, and return what they ask for."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        known_labels: Any = None,
        label_strength: Any = None,
        must_link: Any = None,
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

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, rows or weights, naming the argument, what came and what to do. The model is then what it was before.
        """
        return self._fitted(X, y, sample_weight, told=Told(known_labels, label_strength, must_link))

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
                with self._engine(blocks) as engine:
                    blocks = replace(blocks, factors=procedure.factors(blocks, engine))
            settings = replace(settings, n_clusters=procedure.clusters_for(settings.n_clusters, blocks.n_rows, estimator_name))
            blocks = told.of(blocks, self, settings, estimator_name, by_sweeps=procedure.cluster is None, top_k=procedure.top_k)
            if procedure.sizes is not None and (blocks.known is not None or blocks.groups is not None):
                raise ValueError(
                    f"{estimator_name}({procedure.sizes.given}): sizes are bounded of rows that are free to move; leave out known_labels= "
                    "and must_link=, or the bounds."
                )
            for name in OPTIONAL:
                self.__dict__.pop(name, None)  # left by a fit with other parameters
            if self.missing == "partial":
                blocks, self.n_missing_ = with_means(self, blocks, estimator_name, holes=given.holes)
            most = settings.stopping.max_iter * (settings.n_init + (settings.search.method is not None)) if procedure.bounded else None
            hook = SweepHook(self, X, y, sample_weight, most)
            log = self._checkpoint_log(settings, blocks)
            settings = settings if log is None else replace(settings, rng=log.rng)
            joined = equal_rows_joined(self, blocks, settings, estimator_name, sized=procedure.sizes is not None)
            swept = blocks if joined is None else joined.blocks
            with self._engine(swept) as engine, nullcontext() if log is None else log.resumed():
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

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, **told: Any) -> Labels:
        """Find the clusters of X and return their labels: `fit(X, y, sample_weight).labels_`; `told`: further arguments of `fit`."""
        return self.fit(X, y, sample_weight=sample_weight, **told).labels_

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
        landmarks, search = checked_landmarks(self, name), self._checked_search(name)
        check_init(self.init, name, procedure.starts)
        check_missing(self, name)
        count_threads(self.n_jobs, name)
        checked_checkpoint(self.checkpoint, name)
        engine_of(self)
        if search.method == "annealing" and not procedure.can_be_annealed:
            raise ValueError(
                f'{name}(search="annealing"): only a rule with a temperature can be annealed, as CMeans(rule="entropy") has one; take '
                'search="breathing".'
            )
        integer(int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, "verbose", name, 0)
        n_clusters = integer(self.n_clusters, "n_clusters", name, 1) if procedure.most_clusters is None else procedure.most_clusters
        n_init = integer(self.n_init, "n_init", name, 1)
        max_iter = integer(self.max_iter, "max_iter", name, 1) if procedure.most_sweeps is None else procedure.most_sweeps
        stopping = Stopping(max_iter, real(self.tol, "tol", name), procedure.criterion, search.acceleration)
        budget, rng = parse_budget(self.memory_budget, name), checked_random_state(self.random_state, name)
        n_init = n_init if isinstance(self.init, str) else 1
        return procedure, FitSettings(n_clusters, n_init, stopping, budget, landmarks, search, rng)

    def _checked_search(self, estimator_name: str) -> Search:
        return search_within(search_from(self.search, estimator_name), self._taken_fields.get("search"), estimator_name)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = takes_kernel_values(self.kernel)
        tags.input_tags.sparse, tags.input_tags.allow_nan = not precomputed, self.missing == "partial"
        tags.input_tags.pairwise = precomputed or takes_affinities(self.kernel)
        # Not a classifier, but scikit-learn's check of CSR input reads this tag where predict_proba exists.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
