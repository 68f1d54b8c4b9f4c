"""The family of c-means.

The scripts in this folder are users': mypy and pyright read them in the lint stage, and hold what
they know of results to what is written here. They are never run. A precision may be any.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import FuzzyCMeans, KernelKMeans, PossibilisticCMeans, StreamingFuzzyCMeans

Floats = NDArray[np.floating[Any]]
Labels = NDArray[np.integer[Any]]


def use(X: Floats) -> None:
    """Fit and ask, as a user with a type checker does."""
    fuzzy = assert_type(FuzzyCMeans(3).fit(X), FuzzyCMeans)
    assert_type(fuzzy.labels_, Labels)
    assert_type(fuzzy.memberships_, Floats)
    assert_type(fuzzy.cluster_centers_, Floats)
    assert_type(fuzzy.m_, float)
    assert_type(fuzzy.objective_history_, NDArray[np.float64])
    assert_type(fuzzy.predict(X), Labels)
    assert_type(fuzzy.fit_predict(X), Labels)
    assert_type(fuzzy.memberships(X), Floats)
    assert_type(fuzzy.predict_proba(X), Floats)
    assert_type(fuzzy.transform(X), Floats)
    assert_type(fuzzy.score(X), float)

    assert_type(KernelKMeans(3).fit_predict(X), Labels)
    assert_type(PossibilisticCMeans(3).fit(X).typicality(X), Floats)
    assert_type(PossibilisticCMeans(3).fit(X).outlier_score(X), Floats)
    assert_type(StreamingFuzzyCMeans(3).partial_fit(X).labels_, Labels)
