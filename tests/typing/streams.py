"""Rows that never end."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import StreamingFuzzyCMeans, StreamingGaussianMixture

stream = StreamingFuzzyCMeans(5, random_state=0)
living = StreamingGaussianMixture()
chunk: NDArray[np.float64] = np.zeros((100, 3))
for _ in range(9):
    assert_type(stream.partial_fit(chunk), StreamingFuzzyCMeans)
    assert_type(living.partial_fit(chunk), StreamingGaussianMixture)
assert_type(stream.labels_, NDArray[np.integer[Any]])
assert_type(stream.cluster_centers_, NDArray[np.floating[Any]])
assert_type(stream.predict(chunk), NDArray[np.integer[Any]])
assert_type(living.labels_, NDArray[np.integer[Any]])
assert_type(living.n_clusters_, int)
assert_type(living.predict(chunk), NDArray[np.integer[Any]])
