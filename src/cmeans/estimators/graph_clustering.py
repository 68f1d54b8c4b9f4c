"""Base of clusterings of graphs of rows, which may be given."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray
from ..fitting.seen_rows import evenly_spaced
from ..fitting.weights import read_weights
from ..runtime.checks import number_bounds
from .placed_clustering import Answer, PlacedClustering

METRICS = ("euclidean", "cosine", "precomputed")


class GraphClustering(PlacedClustering[Answer]):
    """Base of clusterings of graphs of rows, made of features or given."""

    metric: str

    @property
    @abstractmethod
    def _is_given(self) -> bool:
        """True where the graph was given, so that rows come as what they are to its nodes."""

    @abstractmethod
    def _given_rows(self, X: Any) -> Any:
        """Return such rows (b, n), checked."""

    @abstractmethod
    def _find_given(self, x: Any) -> Answer:
        """Return the places of such rows."""

    def _find(self, X: Any) -> Answer:
        check_is_fitted(self)
        return self._find_given(self._given_rows(X)) if self._is_given else super()._find(X)

    def _some_of(
        self, X: Any, sample_weight: Any, most: int
    ) -> tuple[IntArray, Any, Float64, float, Answer]:
        if not self._is_given:
            return super()._some_of(X, sample_weight, most)
        given = self._given_rows(X)
        weight, unit = read_weights(sample_weight, given.shape[0], type(self).__name__)
        numbers = evenly_spaced(len(weight), most)
        return numbers, None, weight, unit, self._find_given(given[numbers])

    def _bounds(self) -> tuple[int, float]:
        """Return the least and the largest number of clusters."""
        return number_bounds(self.n_clusters, type(self).__name__)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
