"""scikit-learn's own checks of estimators, all of them, with no failure expected."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
)
from every_estimator import NAMES

CLUSTERS = 4  # the check of CSR input wants as many columns of predict_proba as its data have classes
LINEAR, FEW = {"kernel": "linear"}, {"n_landmarks": 5}
# At degree 3 one possibilistic cluster takes all the noise and is then so wide that it outbids another everywhere.
POLYNOMIAL = {"kernel": "polynomial", "degree": 2}
WAYS = {  # each as it is, and two of the three other ways; these meet all estimators in test_inputs.py
    KernelKMeans: ({}, LINEAR, FEW),
    TwoStepKernelKMeans: ({}, FEW, POLYNOMIAL),
    FuzzyCMeans: ({}, LINEAR, POLYNOMIAL),
    PossibilisticCMeans: ({}, FEW, POLYNOMIAL),
}
# The check of clusterings counts rows that belong nowhere as a cluster; on its 50 rows alpha=1 leaves two fifths of them out.
ADAPTIVE = ({"alpha": 0.5}, {"n_landmarks": 5, "sparsity": 0}, {"adaptation": "conference", "sparsity": 0})
STREAMS = (
    {},
    {"kernel": "linear"},
    {"n_landmarks": 8, "rule": "hard"},
    {"method": "projection"},
    {"method": "projection", "projection": "gradient"},
)
EVERYBODY = [
    *(estimator(CLUSTERS, **words) for estimator, ways in WAYS.items() for words in ways),
    *(ProbabilisticKMeans(CLUSTERS, **words) for words in ({}, {"solver": "batched"}, {"n_landmarks": 5})),
    *(CMeans(CLUSTERS, rule=rule) for rule in ("fuzzy", "hard", "possibilistic")),
    *(AdaptivePossibilisticCMeans(CLUSTERS, **words) for words in ADAPTIVE),
    *(SequentialPossibilisticCMeans(max_clusters=CLUSTERS, **words) for words in ({}, {"n_landmarks": 5, "sparsity": 0})),
    *(StreamingFuzzyCMeans(CLUSTERS, **words) for words in STREAMS),
    *(KernelPatchClustering(CLUSTERS, **words) for words in ({}, {"merge": "tree", "rule": "hard"})),
]
assert {type(estimator).__name__ for estimator in EVERYBODY} == set(NAMES), "an estimator is not checked"


# The data of these checks are a few rows of noise, in which four clusters may well fall together or creep.
@pytest.mark.filterwarnings("ignore:.*pairs of centres coincide:UserWarning")
@pytest.mark.filterwarnings("ignore:.*the clusters have collapsed:UserWarning")
@pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")
@pytest.mark.filterwarnings("ignore:.*have fallen together:UserWarning")
@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(EVERYBODY)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.skipif("SCIPY_ARRAY_API" in os.environ, reason="the checks above include it")
def test_with_array_api_dispatch():
    """SciPy reads SCIPY_ARRAY_API when it is imported, so the check that wants it runs in a process of its own."""
    command = [sys.executable, "-m", "pytest", __file__, "-n0", "-q", "-p", "no:cacheprovider", "-k", "check_array_api_input"]
    run = subprocess.run(command, env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True, check=False)
    if run.returncode == 5:
        pytest.skip("this scikit-learn has no such check for NumPy")
    assert run.returncode == 0, run.stdout
    assert "skipped" not in run.stdout
