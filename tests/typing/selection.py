"""How many clusters, and how stable they are."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import FuzzyCMeans, Selection, Stability, select, stability
from cmeans.validity import indices, partition_coefficient, xie_beni

X: NDArray[np.float64] = np.zeros((9, 2))
chosen = assert_type(select(FuzzyCMeans(), X, range(2, 6), random_state=0), Selection)
assert_type(chosen.n_clusters, int)
assert_type(chosen.reason, str)
model = FuzzyCMeans(chosen.n_clusters).fit(X)
assert_type(stability(model, X, random_state=0), Stability)
assert_type(stability(model, X, random_state=0).clusters, NDArray[np.float64])
assert_type(xie_beni(model, X), float)
assert_type(partition_coefficient(model.memberships_), float)
assert_type(indices(model, X), dict[str, float])
