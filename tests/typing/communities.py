"""Communities of the neighbours' graph, in place of Leiden's."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import ConsensusClustering, ModularityClustering

X: NDArray[np.float64] = np.zeros((9, 2))
communities = assert_type(ModularityClustering(n_neighbors=5).fit(X), ModularityClustering)
assert_type(communities.labels_, NDArray[np.integer[Any]])
assert_type(communities.n_clusters_, int)
assert_type(communities.modularity_, float)
assert_type(communities.memberships_, NDArray[np.float64])
assert_type(communities.predict(X), NDArray[np.integer[Any]])
assert_type(ConsensusClustering(3).fit(X).labels_, NDArray[np.integer[Any]])
assert_type(ConsensusClustering(3).fit(X).predict(X), NDArray[np.integer[Any]])
