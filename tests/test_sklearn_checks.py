"""scikit-learn's own checks of estimators, all of them, with no failure expected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans, TwoStepKernelKMeans

CLUSTERS = 4  # the check of CSR input wants as many columns of predict_proba as its data have classes
ESTIMATORS = (KernelKMeans, TwoStepKernelKMeans, FuzzyCMeans, PossibilisticCMeans, CMeans)
VARIANTS = ({}, {"kernel": "linear"}, {"n_landmarks": 5}, {"kernel": "polynomial"})
EVERY_WORD = [
    *(estimator(CLUSTERS, **words) for estimator in ESTIMATORS for words in VARIANTS),
    *(CMeans(CLUSTERS, rule=rule) for rule in ("hard", "possibilistic")),
]


# The data of these checks are a few rows of noise, in which four clusters may well fall together or creep.
@pytest.mark.filterwarnings("ignore:.*pairs of centres coincide:UserWarning")
@pytest.mark.filterwarnings("ignore:.*the clusters have collapsed:UserWarning")
@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(EVERY_WORD)
def test_scikit_learn_check(estimator, check):
    check(estimator)
