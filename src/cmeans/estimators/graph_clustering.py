"""What estimators share that cluster graphs of rows, without kernels or centres."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags

from ..data.blocks import Blocks
from ..data.limits import Limits
from ..data.outputs import Labels
from ..fitting.arguments import RunsPasses
from ..fitting.named_parameters import NamedParameters
from ..fitting.validation import integer
from ..runtime.checks import is_auto

METRICS = ("euclidean", "cosine", "precomputed")


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
