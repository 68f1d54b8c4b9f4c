"""Rows that belong to no cluster."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import AdaptivePossibilisticCMeans, FuzzyCMeans, PossibilisticCMeans

X: NDArray[np.float64] = np.zeros((9, 2))
possibilistic = assert_type(PossibilisticCMeans(3).fit(X), PossibilisticCMeans)
assert_type(possibilistic.typicality(X), NDArray[np.floating[Any]])
assert_type(possibilistic.outlier_score(X), NDArray[np.floating[Any]])
assert_type(possibilistic.outlier_threshold_, float)
outliers = possibilistic.outlier_score(X) > possibilistic.outlier_threshold_
assert_type(FuzzyCMeans(3, noise="auto").fit(X).labels_, NDArray[np.integer[Any]])
assert_type(AdaptivePossibilisticCMeans().fit(X).n_clusters_, int)
