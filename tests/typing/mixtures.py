"""A mixture of Gaussians, in place of scikit-learn's."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import GaussianMixture

X: NDArray[np.float64] = np.zeros((9, 2))
mixture = assert_type(GaussianMixture(3, covariance="diag").fit(X), GaussianMixture)
assert_type(mixture.labels_, NDArray[np.integer[Any]])
assert_type(mixture.weights_, NDArray[np.float64])
assert_type(mixture.means_, NDArray[np.float64])
assert_type(mixture.covariances_, NDArray[np.float64])
assert_type(mixture.predict(X), NDArray[np.integer[Any]])
assert_type(mixture.predict_proba(X), NDArray[np.floating[Any]])
assert_type(mixture.score_samples(X), NDArray[np.float64])
assert_type(mixture.bic(X), float)
assert_type(mixture.aic(X), float)
