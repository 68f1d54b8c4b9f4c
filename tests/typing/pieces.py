"""Connected pieces, in place of HDBSCAN."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import ConnectivityClustering

X: NDArray[np.float64] = np.zeros((9, 2))
pieces = assert_type(ConnectivityClustering(min_samples=5).fit(X), ConnectivityClustering)
assert_type(pieces.labels_, NDArray[np.integer[Any]])
assert_type(pieces.n_clusters_, int)
assert_type(pieces.probabilities_, NDArray[np.float64])
assert_type(pieces.memberships_, NDArray[np.float64])
assert_type(pieces.linkage_, NDArray[np.float64])
assert_type(pieces.partition(k=3), NDArray[np.integer[Any]])
assert_type(pieces.partition(distance=0.5), NDArray[np.integer[Any]])
assert_type(pieces.predict(X), NDArray[np.integer[Any]])
