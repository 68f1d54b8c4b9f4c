"""Prediction for new rows by any fitted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    dense_like,
    foreign_like,
    host_float64,
    namespace,
    to_numpy,
)
from ..data.blocks import mapped
from ..data.containers import unlabelled
from ..data.outputs import FloatArray, Labels, RowOutputs, TopMemberships
from ..data.powers import PowerUnits
from ..data.precision import numpy_dtype
from ..data.scaling import FeatureUnits, Units
from ..engines import Engine
from ..engines.dask.dask_api import is_collection
from ..rules import Rule
from ..runtime.checks import integer
from ..runtime.docstrings import describes_arguments
from ..runtime.offered import offered_if
from ..runtime.progress import SILENT, Reporter, current_listeners
from ..runtime.user_warnings import naming
from ..spaces import Space
from ..sweeps.final_pass import ArraySink, Sink, StreamSink, assign_all, assign_into
from ..sweeps.passes import DistancePass, NearestPass
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from ..sweeps.statistics import FinalSums
from .arguments import asked_top_k
from .diagonals import diagonal_for_prediction
from .fitted_attributes import FittedAttributes, KeptMemberships, OutlierThreshold, noise_of
from .rows.dask_answers import lazily
from .rows.empty import warn_of_empty_rows
from .runs_passes import RunsPasses
from .seen_rows import SeenRows, evenly_spaced, first_rows
from .validation import read_rows
from .weights import weights_of

Part = TypeVar("Part")


class Predicting(RunsPasses, FittedAttributes, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin of the methods for new rows; uses only a fit's space, centres and rule."""

    _space: Space
    _state: State
    _rule: Rule
    _training_diag: Float64 | None
    _factors: Float64 | None = None
    _powers: PowerUnits | None = None
    _sums_to_one: bool = True  # whether memberships do, under the rule of the parameters
    _answers_no_rows = False  # True: of a chunk without rows answers are empty
    memberships_ = KeptMemberships()
    outlier_threshold_ = OutlierThreshold()

    @property
    def _units(self) -> Units | None:
        """The units of the features in the model, where they are not the user's."""
        if self._powers is not None:
            return self._powers
        return None if self._factors is None else FeatureUnits(self._factors)

    def __sklearn_is_fitted__(self) -> bool:
        """True once there are centres."""
        return "_state" in vars(self)

    @property
    def rule_(self) -> Rule:
        """The rule of a fitted model, its parameters settled."""
        return self._rule

    @lazily
    def memberships(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Memberships (rows, c) of new rows under any rule (typicalities for possibilistic
        ones)."""
        u: FloatArray = self._outputs_of(X, diag).dense_memberships(len(self._state.centres))
        return u

    @offered_if(lambda estimator: asked_top_k(estimator) is not None)
    @describes_arguments
    def memberships_top_k(self, X: Any, *, diag: Any = None) -> TopMemberships:
        """Memberships of new rows in the `top_k` clusters of each: `clusters` and `values`, (rows,
        k) each, the largest first."""
        if is_collection(X := unlabelled(X)):
            both, k = self._top_columns(X, diag=diag), self._most
            return TopMemberships(both[:, :k].astype(np.int32), both[:, k:])
        top = self._outputs_of(X, diag).top
        assert top is not None, "the rule gives memberships in some clusters alone"
        return top

    @lazily
    def _top_columns(self, X: Any, *, diag: Any = None) -> Array:
        """The numbers of the clusters and the memberships (rows, 2 k), which workers return in one
        array."""
        top = self.memberships_top_k(X, diag=diag)
        return np.hstack([top.clusters.astype(top.values.dtype), top.values])

    @property
    def _most(self) -> int:
        """The number of clusters in which the model gives a row memberships."""
        c, most = len(self._state.centres), self._rule.most_clusters
        return c if most is None else min(most, c)

    @lazily
    def predict(self, X: Any, *, diag: Any = None) -> Labels:
        """Labels (rows,) of new rows: the cluster of largest membership, ties to the lowest number;
        -1 for rows that belong to none."""
        check_is_fitted(self)
        # The price of a cluster, or how far noise is, counts beside d2 itself; nearest centres are
        # the same whatever k(x, x) is.
        with_norms = self._rule.noise_distance is not None or (
            self._rule.has_prices and self._rule.labels_need_norms
        )
        table, known = (self._known_table(X, diag), True) if with_norms else self._table(X, diag)
        with self._engine(table.blocks) as engine:
            if known or self._rule.labels_need_norms:
                found = assign_all(*self._pass(table), engine, Reporter(current_listeners()))
                labels, empty = found.labels, found.empty
            else:  # the nearest centre is the same whatever k(x, x) is
                labels = np.concatenate(list(engine.map(table, NearestPass(self._state))))
                empty = int(np.count_nonzero(labels < 0))
        self._warn_of_empty(empty, table)
        returned: Labels = table.blocks.returned(labels)
        return returned

    @offered_if(lambda estimator: bool(estimator._sums_to_one))
    @describes_arguments
    def predict_proba(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Memberships (rows, c) of new rows, which sum to one (one-hot for hard rules), less what
        is noise where `noise` asks for it."""
        return self.memberships(X, diag=diag)

    @lazily
    def transform(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Distances (rows, c) of new rows to the centres, sqrt(d2) in the space, with what the
        landmarks leave out of a row; NaN for rows that say nothing."""
        table = self._known_table(X, diag).in_scale()
        with self._engine(table.blocks) as engine:
            parts = list(engine.map(table, DistancePass(self._rule, self._state)))
        distances: FloatArray = namespace(parts[0]).concat(parts)
        if table.space.may_hold_empty_rows:
            self._warn_of_empty(int(np.count_nonzero(np.isnan(to_numpy(distances[:, 0])))), table)
        return distances

    @describes_arguments
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, diag: Any = None) -> float:
        """Minus the objective of X at the fitted centres: larger is better, among fits of one
        kernel, m and number of clusters.

        Not to choose any of these by: more clusters always have a larger score, and kernels and m
        change its unit. See `cmeans.select`, and `cmeans.silhouette_scorer` for scikit-learn's
        searches.
        """
        table, heard = self._known_table(X, diag, sample_weight), list[None]()
        with self._engine(table.blocks) as engine:
            return -self._assign(
                table, self._pieces(table, lambda _: None, heard.append), engine
            ).objective

    @lazily
    def outlier_score(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Distance of each row from all clusters (rows,), larger for more unusual rows.

        The membership in the noise cluster where there is one; 1 - largest typicality for
        possibilistic rules; the distance to the nearest centre for the others, whose memberships do
        not show rows that are far from all centres. Rows with at least `outlier_threshold_` are
        outliers: 1/2 of noise, 1 where typicalities can be 0, elsewhere the score at the distance
        from which noise="auto" would call rows of the fit noise. A row that is a cluster of its own
        has 0: only noise and typicalities forbid that. NaN for rows that say nothing.
        """
        table, parts = self._known_table(X, diag).in_scale(), list[Array]()

        def strangeness(out: RowOutputs) -> Array:
            u = out.memberships
            # NaN where a row says nothing
            distances = foreign_like(np.sqrt(out.nearest).astype(numpy_dtype(u)), u)
            if self._rule.noise_distance is None and self._rule.rows_sum_to_one:
                return distances
            unlike = (
                noise_of(u)
                if self._rule.noise_distance is not None
                else 1.0 - namespace(u).max(u, axis=1)
            )
            return namespace(u).where(distances == distances, unlike, distances)

        with self._engine(table.blocks) as engine:
            self._assign(table, self._pieces(table, strangeness, parts.append), engine)
        scores: FloatArray = namespace(parts[0]).concat(parts)
        return scores

    def representatives(self, k: int = 1) -> IntArray:
        """Row numbers (c, k) of the k most typical training rows of each cluster, nearest first; -1
        where it has fewer."""
        check_is_fitted(self)
        k = integer(k, "k", f"{type(self).__name__}.representatives", 1)
        if not hasattr(self, "labels_"):
            raise ValueError(
                "representatives: this model was saved without its rows (rows=False); ask before "
                "saving, or save with them."
            )
        if "_nearest" not in vars(self):
            raise ValueError(
                "representatives: of rows that are not in memory only labels are kept, not how "
                "near each is to its centre."
            )
        return first_rows(to_numpy(self.labels_), self._nearest, len(self._state.centres), k)

    def _outputs_of(self, X: Any, diag: Any) -> RowOutputs:
        """Return labels and memberships from one pass."""
        table = self._known_table(X, diag)
        whole = ArraySink(
            table.n_rows,
            len(self._state.centres),
            dense_like(table.blocks.x),
            self._rule.most_clusters,
        )
        with self._engine(table.blocks) as engine:
            self._assign(table, whole, engine)
        return whole.outputs

    def _assign(self, table: RepresentedRows, sink: Sink[Any], engine: Engine) -> FinalSums:
        """Hand labels and memberships to a sink, by one pass, and return its sums."""
        sums = assign_into(sink, *self._pass(table), engine, Reporter(current_listeners()))
        self._warn_of_empty(sums.empty, table)
        return sums

    def _warn_of_empty(self, count: int, table: RepresentedRows) -> None:
        warn_of_empty_rows(count, table.n_rows, table.space, type(self).__name__)

    def _pieces(
        self,
        table: RepresentedRows,
        function: Callable[[RowOutputs], Part],
        take: Callable[[Part], None],
    ) -> StreamSink[Part]:
        return StreamSink(
            len(self._state.centres),
            dense_like(table.blocks.x),
            function,
            take,
            self._rule.most_clusters,
        )

    def _pass(self, table: RepresentedRows) -> tuple[RepresentedRows, Space, Rule, State]:
        return table, table.space, self._rule, self._state

    def _seen(self, X: Any, diag: Any, sample_weight: Any, most: int) -> SeenRows:
        """Return what the model says of at most so many rows of X, evenly spaced."""
        table, c = self._known_table(X, diag, sample_weight), len(self._state.centres)
        numbers, blocks = evenly_spaced(table.n_rows, most), table.blocks
        if len(numbers) < table.n_rows:
            blocks = blocks.part(numbers, blocks.weight[numbers])
        rows = RepresentedRows(table.space, blocks.in_memory(), 0, training=False)
        x = rows.blocks.x
        sink = ArraySink(len(numbers), c, dense_like(x), self._rule.most_clusters)
        with self._engine(rows.blocks) as engine:
            assign_into(sink, rows, rows.space, self._rule, self._state, engine, SILENT)
            measured = engine.map(rows.in_scale(), DistancePass(self._rule, self._state))
            distances = [host_float64(part) for part in measured]
        return SeenRows(
            numbers=numbers,
            n_rows=table.n_rows,
            x=x if self.kernel_.takes_features else None,
            weight=np.array(rows.blocks.weight) * rows.blocks.unit,
            labels=np.asarray(sink.outputs.labels),
            memberships=host_float64(sink.outputs.dense_memberships(c)),
            is_soft=bool(self._rule.is_soft),
            distances=np.concatenate(distances),
            state=self._state,
            represented=rows,
        )

    def _known_table(
        self, X: Any, diag: Any, sample_weight: Any = None, caller: str | None = None
    ) -> RepresentedRows:
        check_is_fitted(self)
        table, known = self._table(X, diag, sample_weight, caller)
        if not known:
            raise ValueError(
                f'{type(self).__name__}(kernel="precomputed"): distances of new rows need their '
                "own k(x, x), which differs from row to "
                "row here; pass diag=..., one number for each row of X."
            )
        return table

    def _table(
        self, X: Any, diag: Any, sample_weight: Any = None, caller: str | None = None
    ) -> tuple[RepresentedRows, bool]:
        """Return new rows represented in the model's space, and True if their k(x, x) are known;
        messages about weights name `caller`."""
        estimator_name = type(self).__name__
        given = read_rows(self, X, fitting=False, sparse=not self.kernel_.takes_kernel_values)
        x, (weight, unit) = given.x, weights_of(given, sample_weight, caller or estimator_name)
        with naming(estimator_name):
            weight = self.kernel_.row_weights(x, weight)
        scaled = x if self._units is None else mapped(x, self._units)
        blocks = self._blocks(scaled, weight, unit)
        known = True
        if self.kernel_.takes_kernel_values:
            kxx = diagonal_for_prediction(diag, x, estimator_name, self._training_diag)
            known = kxx is not None
            blocks = blocks.with_columns(kxx=kxx if known else as_like(np.zeros(blocks.n_rows), x))
        elif diag is not None:
            raise ValueError(
                f'{estimator_name}: diag is for kernel="precomputed" only; this model computes '
                "k(x, x) itself."
            )
        space = self._space.for_rows(
            x,
            holes=given.holes,
            is_scale_free=self._rule.is_scale_free,
            has_metrics=self._state.metrics is not None,
        )
        return RepresentedRows(space, blocks, 0, training=False), known
