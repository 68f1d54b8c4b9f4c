"""What estimators share that cluster graphs of rows, without kernels or centres."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks, spans
from ..data.files.discovery import files_of
from ..data.limits import Limits
from ..data.outputs import Labels, RowOutputs
from ..fitting.arguments import RunsPasses
from ..fitting.named_parameters import NamedParameters
from ..fitting.validation import integer
from ..runtime.checks import is_auto
from ..storage.overwriting import refuse_overwriting
from ..storage.row_writer import ResultsFile

# whether memberships are written, of how many clusters, and from which on
Written = tuple[bool | None, int | None, float | None]
METRICS = ("euclidean", "cosine", "precomputed")


def first_rows(labels: Labels, values: Float64, n_clusters: int, count: int) -> IntArray:
    """Return the numbers (c, count) of the rows of the smallest values (n,) of each cluster, the
    smallest first; -1 where it has fewer."""
    found = np.full((n_clusters, count), -1)
    for cluster in range(n_clusters):
        rows = np.flatnonzero(labels == cluster)
        first = rows[np.argsort(values[rows], kind="stable")[:count]]
        found[cluster, : len(first)] = first
    return found


class GraphClustering(
    RunsPasses,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    NamedParameters,
):
    """Base of clusterings of graphs of rows."""

    _limits = Limits()  # no parameter
    n_clusters: Any
    metric: str
    labels_: Labels
    n_clusters_: int

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X."""

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Find the clusters of X and return their labels: `fit(X, y, sample_weight).labels_`."""
        return self.fit(X, y, sample_weight).labels_

    def fit_predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        sample_weight: Any = None,
    ) -> IntArray:
        """Find the clusters of X, and write labels of its rows to a file, and memberships.

        Parameters
        ----------
        X, sample_weight : as for `fit`.
        out, memberships, top_k, threshold : as for `predict_to`.

        Returns
        -------
        counts : (c,) the number of rows with each label.
        """
        refuse_overwriting({f"{type(self).__name__}.fit_predict_to(out={out!r})": out}, files_of(X))
        self.fit(X, sample_weight=sample_weight)
        written = memberships, top_k, threshold
        return self._write_fit(out, written)

    @abstractmethod
    def _write_fit(self, out: Any, written: Written) -> IntArray:
        """Write labels and memberships of the rows of the fit; return the sizes (c,)."""

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

    def _blocks(self, x: Any, weight: Any, unit: float) -> Blocks:
        return Blocks(
            x,
            weight,
            unit=unit,
            limits=self._limits,
            n_threads=self._engine_of(x).n_threads,
        )

    def _bounds(self) -> tuple[int, float]:
        """Return the least and the largest number of clusters."""
        given: Any = self.n_clusters
        name = type(self).__name__
        if is_auto(given):
            return 1, np.inf
        of_both = isinstance(given, tuple) and len(given) == 2
        least, most = given if of_both else (given, given)
        others = '"auto", (least, most) or '
        least = integer(least, "n_clusters", name, 1, others)
        return least, integer(most, "n_clusters", name, least, others)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
