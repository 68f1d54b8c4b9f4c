"""Clusters of a kind and number that are found."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import cmeans
from cmeans import AutoClustering

X: NDArray[np.float64] = np.zeros((9, 2))
found = assert_type(cmeans.cluster(X), AutoClustering)
assert_type(found.n_clusters_, int)
assert_type(found.labels_, NDArray[np.integer[Any]])
assert_type(found.memberships_, NDArray[np.floating[Any]])
assert_type(found.predict(X), NDArray[np.integer[Any]])
assert_type(found.fit_predict(X), NDArray[np.integer[Any]])
assert_type(found.memberships(X), NDArray[np.floating[Any]])
assert_type(found.transform(X), NDArray[np.floating[Any]])
assert_type(found.stop_reason_, str)
assert_type(found.evidence_.n_clusters, int)
assert_type(found.evidence_.reason, str)
assert_type([candidate.space for candidate in found.evidence_.candidates], list[str])
