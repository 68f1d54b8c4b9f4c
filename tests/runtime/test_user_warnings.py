"""Each kind of warning has a class of its own, so that a filter tells it from the others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cmeans import DataWarning, FuzzyCMeans, KernelKMeans, ParameterWarning, Sizes

X = np.random.default_rng(0).normal(size=(60, 2))
TWO = np.repeat(np.eye(2), 5, axis=0)
FITS = {
    "max_iter=1": (ConvergenceWarning, FuzzyCMeans(3, max_iter=1, random_state=0), X),
    "only 2 distinct rows": (ConvergenceWarning, KernelKMeans(3, kernel="linear"), TWO),
    "hold no row": (
        ConvergenceWarning,
        KernelKMeans(3, kernel="linear", init=np.array([[0.0, 1], [1, 0], [9, 9]])),
        TWO,
    ),
    "have collapsed": (
        ConvergenceWarning,
        FuzzyCMeans(3, m=3, random_state=0),
        np.random.default_rng(0).normal(size=(60, 20)),
    ),
    "sizes miss their bounds": (
        ConvergenceWarning,
        KernelKMeans(2, kernel="linear", sizes=Sizes(most=0.5), random_state=0),
        X,
    ),
    "nearly the identity": (DataWarning, KernelKMeans(2, gamma=1e9, random_state=0), X),
    "needs no gamma": (
        ParameterWarning,
        KernelKMeans(2, kernel="linear", gamma=2.0, random_state=0),
        X,
    ),
}


@pytest.mark.parametrize("words", FITS)
def test_a_filter_of_one_class_meets_one_kind(words):
    kind, model, rows = FITS[words]
    weights = np.random.default_rng(0).random(len(rows)) if "sizes" in words else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, sample_weight=weights)
    met = [warning for warning in caught if words in str(warning.message)]
    assert [warning.category for warning in met] == [kind]
    assert issubclass(kind, UserWarning)
