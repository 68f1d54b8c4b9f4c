"""Base class of all estimators: parameters and rows in, a solver's result out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self, get_args

from sklearn.base import ClusterMixin
from sklearn.utils import ClassifierTags, Tags

from ..data.blocks import Blocks
from ..data.outputs import Labels
from ..data.precision import itemsize
from ..engines import ThreadEngine
from ..kernels import Kernel, Linear
from ..runtime.callbacks import CallbackSupportMixin, SweepHook, logger, verbose_log, with_callbacks
from ..runtime.checks import integer, one_of, real
from ..runtime.numerals import parse_budget
from ..runtime.progress import current_listeners
from ..solvers.checkpoints import CheckpointLog, checked_checkpoint
from ..solvers.fit_identity import fingerprint, formatted
from ..solvers.multistart import FitResult
from ..solvers.observer import FitRecord
from ..sweeps.final_pass import RowTaker
from ..sweeps.problem import Stopping
from .arguments import MissingName, check_engine
from .attribute_names import OF_ROWS, OPTIONAL, restored_on_failure
from .covariance import takes_csr
from .fit_plan import FitPlan
from .fitted_attributes import row_attributes
from .geometry import Geometry
from .init import METHODS, check_init
from .kernel_evidence import given_kernel
from .landmark_choice import checked_landmarks
from .named_parameters import NamedParameters
from .prediction_to_files import PredictingToFiles
from .procedure import FitContext, FitSettings, Method, Procedure, Stage
from .result_warnings import warn_of_result
from .search import Search, search_from, search_within
from .space import check_kernel
from .stages.holes import Holes
from .stages.joined import EqualRows
from .stages.known import KnownRows
from .stages.linked import LinkedRows
from .stages.refined import RefinedCut
from .together import refuse_beside
from .validation import CheckedRows, checked_random_state
from .ways.by_sweeps import BySweeps

# parameters that a resumed fit may change
MAY_CHANGE = {"random_state", "n_jobs", "engine", "verbose"}


class BaseCMeans(CallbackSupportMixin, BySweeps, PredictingToFiles, ClusterMixin, NamedParameters):
    """The fit that all estimators share. An estimator adds its own parameters, and the `Procedure`
    that they make."""

    # arguments of `fit` that its way to clusters heeds
    _takes: frozenset[str] = frozenset({"known_labels", "must_link"})
    # features that go together here, though elsewhere they do not (`fitting/together.py`)
    _together: frozenset[str] = frozenset()
    # of parameters that are objects, where a fit does not use all
    _taken_fields: Mapping[str, tuple[str, ...]] = {}
    _init_names: tuple[str, ...] = METHODS  # that `init` may take
    _is_bounded = True  # a start takes at most `max_iter` sweeps in all
    _can_be_annealed = False  # as its rule can
    _has_likelihood = False  # by which numbers of clusters compare
    _too_few = "there are fewer rows than clusters, n_samples={n}; take fewer clusters."

    def _store(self, parameters: dict[str, Any]) -> None:
        """Keep the parameters of a constructor as they came (its `locals()`)."""
        for name, value in parameters.items():
            if name != "self":
                setattr(self, name, value)

    @abstractmethod
    def _procedure(self) -> Procedure:
        """Check the parameters that are the estimator's own, as far as is possible without rows,
        and return what they ask for."""

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
        X : (n, d) array, CSR matrix, data frame, memory map, or array of PyTorch, CuPy, ... ;
            kernel values for kernel="precomputed", affinities (n, n), CSR above all, for
            "precomputed_graph". A file, a folder or a pattern of files (str or path), or
            `cmeans.open_blocks` of them, is read block by block in every sweep, so that it need not
            fit in memory; `labels_` are then of the smallest integers that hold them, and
            `memberships_` are not kept (`predict_to` writes them). Arrays of int8, uint8, float16
            or bfloat16 stay as they are, and are clustered as float32, block by block. Dask's are
            clustered on its workers (`DaskEngine`); `labels_` is a Dask array then.
        y : not used to cluster; callbacks that score see it.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
        known_labels : (n,) whole numbers, default=None
            Clusters that rows are known to belong to, 0 ... n_clusters - 1, which keep these
            numbers; -1: not known. Clusters begin at the means of their known rows, and are not
            searched for (`search`).
        label_strength : float or (n,) in [0, 1], default=None
            Share s of a row's weight that belongs to its known cluster whatever its distances are;
            the rule divides the rest, and the row's memberships are (1 - s) u + s. None: 1, known
            rows keep their labels.
        must_link : (k, 2) row numbers of pairs, or (n,) numbers of groups, default=None
            -1 for rows in no group. Rows that must share a cluster: they are one row whose squared
            distance to a centre is the weighted mean of theirs; of `GaussianMixture` their
            densities are multiplied, and a group counts as one row in `weights_`. What is known of
            one of them is known of all. Rows in files are read into memory for it.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, rows or weights, naming the argument, what came and what to do. The
            model is then what it was before.
        """
        told = {
            "known_labels": known_labels,
            "label_strength": label_strength,
            "must_link": must_link,
        }
        return self._fitted(X, y, sample_weight, **told)

    def plan(self, X: Any, sample_weight: Any = None) -> FitPlan:
        """Tell what a fit of X would take, from its shape: no more than a little of it is read.

        Parameters
        ----------
        X, sample_weight : as for `fit`.

        Returns
        -------
        plan : FitPlan
            Bytes of memory (`memory`, at most; `least_memory`, which a budget must have), and the
            passes over all rows (`passes`) and visits of rows (`row_visits`) that are usual. Where
            the fit finds its number of landmarks or clusters, it is planned for the most.

        Raises
        ------
        ValueError
            As `fit` raises it for bad parameters, rows or weights, and for an engine's
            `memory_budget` that is too small.

        Examples
        --------
        >>> import cmeans, numpy as np
        >>> plan = cmeans.FuzzyCMeans(100, kernel="linear").plan(np.zeros((300_000, 10)))
        >>> plan.memory // 10**6, plan.passes, f"{plan.row_visits:,}"
        (350, 186, '69,792,185')
        """
        model = copy(self)  # which notes the names of columns
        procedure, settings = model._checked()
        given, blocks = model._blocks_of(X, sample_weight, settings.kernel)
        n_clusters = model._clusters_for(procedure, settings.n_clusters, blocks.n_rows)
        settings = replace(settings, n_clusters=n_clusters)
        engine = model._engine_of(blocks.x)
        context = FitContext(model, procedure, settings, given, blocks, engine)
        memory, (n, d) = model._expected_memory(context, most=True), blocks.x.shape
        visits = model._usual_visits(procedure, settings, blocks)
        return FitPlan(int(n), int(d), memory.taken, memory.needed, memory.share, *visits)

    def _fitted(
        self, X: Any, y: Any, sample_weight: Any, taker: RowTaker | None = None, **told: Any
    ) -> Self:
        record = FitRecord()
        with (
            restored_on_failure(self, record),
            verbose_log(self.verbose, type(self).__name__, self.tol),
        ):
            procedure, settings = self._checked()
            if taker is not None:
                taker.check(settings.n_clusters, most=procedure.top_k)
            given, blocks = self._blocks_of(X, sample_weight, settings.kernel)
            settings = replace(
                settings,
                n_clusters=self._clusters_for(procedure, settings.n_clusters, blocks.n_rows),
            )
            if taker is not None and procedure.most_clusters is None:  # else few may be found
                n, c, number = blocks.n_rows, settings.n_clusters, itemsize(blocks.x)
                # memberships that the rule alone asks for are not counted before it is there
                taker.check_room(n, c, number, is_soft=False, most=procedure.top_k)
            for name in OPTIONAL:
                self.__dict__.pop(name, None)  # left by a fit with other parameters
            most = (
                settings.stopping.max_iter
                * (settings.n_init + (settings.search.method is not None))
                if self._is_bounded
                else None
            )
            hook = SweepHook(self, X, y, sample_weight, most)
            with self._engine(blocks) as engine:
                listeners = current_listeners()
                rows = given, blocks, engine
                context = FitContext(
                    self, procedure, settings, *rows, hook, listeners, None, record, taker
                )
                # refused before there is work; of few rows work takes less time than this
                if settings.budget is not None or blocks.n_rows > blocks.limits.canonical_rows:
                    self._expected_memory(context, most=False)
                for stage in self._stages(procedure, settings, blocks, **told):
                    context = stage.settle(context)
                with self._logged(context, blocks) as context:
                    outcome = (procedure.cluster or self._by_sweeps)(context)
                for stage in reversed(context.stages):
                    outcome = stage.restore(outcome)
                warn_of_result(outcome.geometry, outcome.result, type(self).__name__)
            self._keep(outcome.geometry, outcome.method, outcome.result, blocks)
            if self.verbose:
                logger.info(
                    "%s: %s, objective %.8g",
                    type(self).__name__,
                    self.stop_reason_,
                    self.objective_,
                )
            hook.fit_ended()
        return self

    def _blocks_of(self, X: Any, sample_weight: Any, kernel: Kernel) -> tuple[CheckedRows, Blocks]:
        """Read the rows of a fit and their weights."""
        sparse = not kernel.takes_kernel_values
        given, blocks = self._rows_to_fit(X, sample_weight, sparse=sparse)
        return given, blocks.in_their_place()

    def _clusters_for(self, procedure: Procedure, n_clusters: int, n_rows: int) -> int:
        """Return the number of clusters to start from on so many rows."""
        if procedure.most_clusters is not None:
            return min(n_clusters, n_rows)
        if n_clusters > n_rows:
            raise ValueError(
                f"{type(self).__name__}(n_clusters={n_clusters}): {self._too_few.format(n=n_rows)}"
            )
        return n_clusters

    def _stages(
        self,
        procedure: Procedure,
        settings: FitSettings,
        blocks: Blocks,
        *,
        known_labels: Any = None,
        label_strength: Any = None,
        must_link: Any = None,
    ) -> Iterator[Stage]:
        """Yield the stages that parameters and arguments of a fit ask for, in the order in which
        they see its rows."""
        yield from procedure.stages
        if must_link is not None:
            yield LinkedRows(must_link)
        if known_labels is not None or label_strength is not None:
            yield KnownRows(known_labels, label_strength)
        if self.missing == "partial":
            yield Holes()
        joins = settings.search.join_equal_rows
        if joins if joins != "auto" else blocks.n_rows > blocks.limits.canonical_rows:
            yield EqualRows(joins != "auto")
        if (
            settings.kernel.refines_cut
            and isinstance(self.init, str)
            and self.metric == "euclidean"
        ):
            yield RefinedCut()

    @contextmanager
    def _logged(self, context: FitContext, blocks: Blocks) -> Iterator[FitContext]:
        """Keep a log of the progress of a fit to these rows, if a checkpoint is set."""
        if (log := self._checkpoint_log(context, blocks)) is None:
            yield context
            return
        with log.resumed():
            yield replace(context, log=log, settings=replace(context.settings, rng=log.rng))
        log.write()

    def _checkpoint_log(self, context: FitContext, blocks: Blocks) -> CheckpointLog | None:
        """Return the log that records the progress of the fit, if a checkpoint is set."""
        engine = self._engine_of(blocks.x)
        if (checkpoint := checked_checkpoint(engine.checkpoint, type(engine).__name__)) is None:
            return None
        parameters = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in MAY_CHANGE
        }
        identity = {
            "estimator": type(self).__name__,
            **formatted(parameters),
            **fingerprint(blocks, context.engine),
        }
        for stage in context.stages:
            identity |= stage.identity
        return CheckpointLog(checkpoint, identity, context.settings.rng)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, **told: Any) -> Labels:
        """Find the clusters of X and return their labels: `fit(X, y, sample_weight).labels_`;
        `told`: further arguments of `fit`."""
        return self.fit(X, y, sample_weight=sample_weight, **told).labels_

    def _keep(self, geometry: Geometry, method: Method, result: FitResult, blocks: Blocks) -> None:
        """Keep the attributes of a fit; `blocks`: the rows that were given."""
        for name in OF_ROWS:
            self.__dict__.pop(name, None)  # also what was made of earlier rows when asked for
        method = replace(method, rule=result.rule)
        attributes = self._model_attributes(geometry, method, result.space, result.state)
        for name, value in {**attributes, **row_attributes(geometry, result, blocks)}.items():
            setattr(self, name, value)

    def _checked(self) -> tuple[Procedure, FitSettings]:
        """Refuse parameters that are invalid for all rows: before a fit reads any, and where a
        model is read."""
        name, procedure = type(self).__name__, self._procedure()
        kernel = given_kernel(self, name)
        if procedure.cluster is not None and kernel.takes_affinities:
            raise ValueError(
                f'{name}(kernel="precomputed_graph"): a cut of a given graph is sought by '
                "KernelKMeans, FuzzyCMeans, CMeans and "
                "PossibilisticCMeans; this estimator works on rows."
            )
        check_kernel(self, kernel, name)
        landmarks = checked_landmarks(self, kernel, name)
        search = self._checked_search(name)
        self._check_init()
        if one_of(self.missing, "missing", name, get_args(MissingName)) == "partial":
            refuse_beside(Holes.name, (), self)
        for stage in procedure.stages:
            refuse_beside(stage.name, (), self)
        if procedure.top_k is not None:
            refuse_beside("top_k", (), self)
        engine = check_engine(self) or ThreadEngine()
        checked_checkpoint(engine.checkpoint, type(engine).__name__)
        if search.method == "annealing" and not self._can_be_annealed:
            raise ValueError(
                f'{name}(search="annealing"): only a rule with a temperature can be annealed, as '
                'CMeans(rule="entropy") has one; take search="breathing".'
            )
        if search.method == "hierarchical":
            self._check_hierarchical(name, procedure)
        integer(
            int(self.verbose) if isinstance(self.verbose, bool) else self.verbose,
            "verbose",
            name,
            0,
        )
        if procedure.most_clusters is None:
            n_clusters = integer(self.n_clusters, "n_clusters", name, 1)
        else:
            n_clusters = procedure.most_clusters
        n_init = integer(self.n_init, "n_init", name, 1)
        if procedure.most_sweeps is None:
            max_iter = integer(self.max_iter, "max_iter", name, 1)
        else:
            max_iter = procedure.most_sweeps
        stopping = Stopping(
            max_iter, real(self.tol, "tol", name), procedure.criterion, search.acceleration
        )
        budget = parse_budget(engine.memory_budget, type(engine).__name__)
        rng = checked_random_state(self.random_state, name)
        n_init = n_init if isinstance(self.init, str) else 1
        return procedure, FitSettings(
            n_clusters, n_init, stopping, budget, landmarks, search, rng, kernel
        )

    def _check_hierarchical(self, name: str, procedure: Procedure) -> None:
        """Refuse cells and clusters within them where starts are none, or are given."""
        if procedure.cluster is not None:
            raise ValueError(
                f'{name}(search="hierarchical"): clusters are not found by sweeps from a start '
                'here; take search="auto".'
            )
        if not (isinstance(self.init, str) and self.init == "k-means++"):
            raise ValueError(
                f'{name}(search="hierarchical", init={self.init!r}): cells and the clusters in '
                "them begin at rows that k-means++ draws; leave init out."
            )

    def _check_init(self) -> None:
        """Refuse an `init` that is invalid for all rows."""
        check_init(self.init, type(self).__name__, self._init_names)

    def _checked_search(self, estimator_name: str) -> Search:
        return search_within(
            search_from(self.search, estimator_name),
            self._taken_fields.get("search"),
            estimator_name,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            kernel = given_kernel(self, type(self).__name__)
        except ValueError:  # a fit refuses it
            kernel = Linear()
        tags.input_tags.sparse, tags.input_tags.allow_nan = (
            not kernel.takes_kernel_values and takes_csr(vars(self).get("covariance")),
            self.missing == "partial",
        )
        tags.input_tags.pairwise = kernel.takes_kernel_values or kernel.takes_affinities
        # Not a classifier, but scikit-learn's check of CSR input reads this tag where predict_proba
        # exists.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
