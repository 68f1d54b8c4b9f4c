"""Base of clusterings that find a place for each row, and say all else of that place."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks, spans
from ..data.outputs import Labels, RowOutputs
from ..fitting.named_parameters import NamedParameters
from ..fitting.runs_passes import RunsPasses
from ..fitting.seen_rows import SeenRows, evenly_spaced
from ..fitting.validation import read_rows
from ..fitting.weights import weights_of
from ..spaces.centres import Centres
from ..storage.parted_results import results_file
from ..storage.row_writer import ResultsFile, Written
from ..sweeps.state import State

Answer = TypeVar("Answer")  # places of rows


@dataclass(frozen=True)
class ClusterView:
    """Rows among the clusters."""

    labels: IntArray  # (s,)
    memberships: Float64  # (s, c) one-hot where clusters are hard
    is_soft: bool
    distances: Float64  # (s, c) to the centres
    centres: Centres


class WholeClustering(
    RunsPasses, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, NamedParameters
):
    """Base of clusterings without sweeps of their own."""

    n_clusters: Any
    labels_: Labels
    n_clusters_: int

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X."""

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, **known: Any) -> Labels:
        """Find the clusters of X and return their labels: `fit(X, y, sample_weight).labels_`;
        `known`: further arguments of `fit`."""
        return self.fit(X, y, sample_weight, **known).labels_

    def predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        **asked: Any,
    ) -> IntArray:
        """Write the labels of rows to a file, and their memberships.

        Parameters
        ----------
        X : rows, as `predict` takes them, files too.
        out, memberships, top_k, threshold : as of `KernelKMeans.predict_to`.
        asked : further arguments of `predict`.

        Returns
        -------
        counts : (c,) the number of rows with each label.
        """
        word = f"{type(self).__name__}.predict_to(out={os.fspath(out)!r})"
        with results_file(out, X, word) as place:
            return self._write_rows(X, place, (memberships, top_k, threshold), **asked)

    def fit_predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        sample_weight: Any = None,
        **known: Any,
    ) -> IntArray:
        """Find the clusters of X, and write labels of its rows to a file, and memberships.

        Parameters
        ----------
        X, sample_weight, known : as for `fit`.
        out, memberships, top_k, threshold : as for `predict_to`.

        Returns
        -------
        counts : (c,) the number of rows with each label.
        """
        word = f"{type(self).__name__}.fit_predict_to(out={os.fspath(out)!r})"
        with results_file(out, X, word) as place:
            self.fit(X, sample_weight=sample_weight, **known)
            return self._write_fit(X, place, (memberships, top_k, threshold))

    @abstractmethod
    def _write_rows(self, X: Any, out: Any, written: Written, **asked: Any) -> IntArray:
        """Write labels and memberships of rows X; return the number of rows of each label (c,)."""

    def _write_fit(self, X: Any, out: Any, written: Written) -> IntArray:
        """Do so for the rows of the fit, X."""
        return self._write_rows(X, out, written)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PlacedClustering(WholeClustering, Generic[Answer]):
    """Base of clusterings without kernels and sweeps: rows have places, such as the nearest nodes
    of a graph, and all answers come from these."""

    _of_rows = "_point_of_row"  # the attribute of the places of the rows of the fit

    def _require_stored(self, *names: str) -> None:
        """Refuse a model that was read without attributes that its answers need."""
        if missing := [name for name in names if name not in vars(self)]:
            raise ValueError(f"{missing} missing")

    def _write_answers(
        self,
        answers: Callable[[int, int], tuple[IntArray, Float64]],  # of rows start ... stop - 1
        n: int,
        c: int,
        out: Any,
        written: Written,
    ) -> IntArray:
        """Write labels and memberships of rows."""
        with ResultsFile(out, type(self).__name__, *written) as file:
            file.check(c, False)
            made, put = file.begin(n, c, np.float64, False)
            for start, stop in spans(n, self._limits.rows_at_once):
                put(made(RowOutputs(*answers(start, stop), np.zeros(stop - start), start)))
        assert file.counts is not None
        return file.counts

    @abstractmethod
    def _find_rows(self, blocks: Blocks) -> Answer:
        """Return the places of rows of features."""

    @abstractmethod
    def _view(self, found: Answer) -> ClusterView:
        """Return what the model says of rows that are there."""

    def _refuse_without_rows(self, asked: str) -> None:
        """Refuse what needs the rows of the fit where a model has none."""
        check_is_fitted(self)
        if self._of_rows not in vars(self):
            raise ValueError(
                f"{type(self).__name__}.{asked}: this model was saved without its rows "
                "(rows=False); take predict, or save with them."
            )

    def _find(self, X: Any) -> Answer:
        """Return the places of rows, new ones too."""
        check_is_fitted(self)
        x = read_rows(self, X, fitting=False).x
        return self._find_rows(self._blocks(x, np.broadcast_to(1.0, (int(x.shape[0]),))))

    def _seen(self, X: Any, diag: Any, sample_weight: Any, most: int) -> SeenRows:
        """Return what the model says of at most so many rows of X, evenly spaced."""
        check_is_fitted(self)
        if diag is not None:
            raise ValueError(
                f"{type(self).__name__}: diag is for kernels, of which there is none; leave it out."
            )
        numbers, x, weight, unit, found = self._some_of(X, sample_weight, most)
        view = self._view(found)
        return SeenRows(
            numbers=numbers,
            n_rows=len(weight),
            x=x,
            weight=np.array(weight[numbers]) * unit,
            labels=view.labels,
            memberships=view.memberships,
            is_soft=view.is_soft,
            distances=view.distances,
            state=State(view.centres),
        )

    def _some_of(
        self, X: Any, sample_weight: Any, most: int
    ) -> tuple[IntArray, Any, Float64, float, Answer]:
        """Return the numbers of at most so many rows, evenly spaced, these rows where they have
        features, the weights of all rows and their unit, and the places of these."""
        rows = read_rows(self, X, fitting=False)
        blocks = self._blocks(rows.x, *weights_of(rows, sample_weight, type(self).__name__))
        weight, unit = blocks.weight, blocks.unit
        numbers = evenly_spaced(blocks.n_rows, most)
        if len(numbers) < blocks.n_rows:
            blocks = blocks.part(numbers, weight[numbers])
        blocks = blocks.in_memory()
        return numbers, blocks.x, weight, unit, self._find_rows(blocks)
