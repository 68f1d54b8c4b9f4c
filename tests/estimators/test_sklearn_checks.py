"""scikit-learn's own checks of estimators, with no failure expected: all of them of one estimator
as it is, of the others those that do not ask about the forms of input, which one of streams is
asked too, and those of fits with other kernels, landmarks, rules and solvers. As the base that all
share answers most of them, each is asked of a fifth of the others, and each of these meets a fifth;
what is left out here runs with what takes minutes."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from functools import cache

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cmeans import (
    AdaptivePossibilisticCMeans,
    AutoClustering,
    CMeans,
    ConnectivityClustering,
    ConsensusClustering,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    KernelPatchClustering,
    ModularityClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
)
from cmeans.kernels import Linear, Polynomial
from cmeans.papers import PrintedAdaptivePossibilisticCMeans, StreamingKernelFCM
from every_estimator import EVERY_NAME, MEMBERS

# the check of CSR input wants as many columns of predict_proba as its data have classes
CLUSTERS = 4
AS_THEY_ARE = [
    *(
        estimator(CLUSTERS)
        for estimator in (
            KernelKMeans,
            TwoStepKernelKMeans,
            FuzzyCMeans,
            PossibilisticCMeans,
            ProbabilisticKMeans,
        )
    ),
    CMeans(CLUSTERS, rule="fuzzy"),
    AdaptivePossibilisticCMeans(),
    SequentialPossibilisticCMeans(),
    StreamingFuzzyCMeans(CLUSTERS),
    KernelPatchClustering(CLUSTERS),
    GaussianMixture(CLUSTERS),
    ConnectivityClustering(),
    ModularityClustering(),
    ConsensusClustering(CLUSTERS, members=MEMBERS),
    AutoClustering(CLUSTERS, candidates=["plain"]),
]
assert {type(estimator).__name__ for estimator in AS_THEY_ARE} == set(EVERY_NAME), (
    "an estimator is not checked"
)
CONFIGURED = [
    KernelKMeans(CLUSTERS, kernel="linear"),
    # At degree 3 one possibilistic cluster takes all the noise and is then so wide that it outbids
    # another everywhere.
    TwoStepKernelKMeans(CLUSTERS, kernel=Polynomial(degree=2)),
    FuzzyCMeans(CLUSTERS, kernel=Polynomial(degree=2)),
    PossibilisticCMeans(CLUSTERS, kernel="rbf", landmarks=5),
    ProbabilisticKMeans(CLUSTERS, solver="batched", kernel="rbf", landmarks=5),
    CMeans(CLUSTERS, rule="hard"),
    CMeans(CLUSTERS, rule="possibilistic"),
    AdaptivePossibilisticCMeans((1, CLUSTERS), kernel=Linear(), landmarks=5, sparsity=0),
    PrintedAdaptivePossibilisticCMeans(CLUSTERS, adaptation="length", sparsity=0),
    SequentialPossibilisticCMeans(
        n_clusters=(1, CLUSTERS), kernel=Linear(), landmarks=5, sparsity=0, patience=1
    ),
    StreamingFuzzyCMeans(CLUSTERS, kernel="rbf", landmarks=8, rule="hard"),
    StreamingKernelFCM(CLUSTERS, method="projection"),
    StreamingKernelFCM(CLUSTERS, method="projection", projection="gradient"),
    KernelPatchClustering(CLUSTERS, merge="tree", rule="hard"),
    ConnectivityClustering(CLUSTERS, noise="auto"),
    FuzzyCMeans(CLUSTERS, covariance="full"),
]
# Of rows and of what is fitted. The others look at parameters, tags, names and the forms of input,
# which are treated alike whatever the kernel, the landmarks, the rule and the solver.
OF_FITS = {
    "check_clustering",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_estimators_dtypes",
    "check_estimators_overwrite_params",
    "check_estimators_partial_fit_n_features",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_not_overwritten",
    "check_transformer_general",
    "check_transformer_preserve_dtypes",
}
# Of forms of input, which the base that all estimators share reads, and which are asked of one
# estimator for rows and one for streams.
OF_INPUT = {
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_nan_inf",
    "check_fit_check_is_fitted",
    "check_fit_score_takes_y",
    "check_fit2d_predict1d",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
    "check_transformer_data_not_an_array",
}
WHOLE = (FuzzyCMeans, StreamingFuzzyCMeans)
# Equally heavy communities are named in the order in which they come, and these checks shuffle the
# rows; the estimator's own tests compare weights and copies. Mixtures take no sparse rows, which
# scikit-learn 1.6 does not ask before its check.
LEFT_OUT = {
    (GaussianMixture, "check_sample_weight_equivalence_on_sparse_data"),
    (ModularityClustering, "check_sample_weight_equivalence_on_dense_data"),
    (ModularityClustering, "check_sample_weight_equivalence_on_sparse_data"),
}


def is_of_input(check):
    return check.func.__name__ in OF_INPUT or "readonly_memmap" in check.keywords


def parametrize_with_checks_once(estimators):
    """As parametrize_with_checks, with the checks in OF_INPUT, and those again with a read-only
    memory map, for two estimators only."""
    words, cases, names = checks_of(estimators)
    turn = {id(estimator): at for at, estimator in enumerate(estimators)}
    place = {name: at for at, name in enumerate(sorted({case[1].func.__name__ for case in cases}))}
    kept = []
    for estimator, check in cases:
        name, whole = check.func.__name__, isinstance(estimator, WHOLE)
        if (is_of_input(check) and not whole) or (type(estimator), name) in LEFT_OUT:
            continue
        asked = isinstance(estimator, FuzzyCMeans) or is_of_input(check)
        asked = asked or (place[name] + turn[id(estimator)]) % 5 == 0
        marks = () if asked else pytest.mark.minutes
        kept.append(pytest.param(estimator, check, marks=marks))
    return pytest.mark.parametrize(words, kept, ids=names)


def checks_of(estimators):
    """What parametrize_with_checks gives pytest: the words, the cases and their names, which take
    long to write and are written once."""
    every = parametrize_with_checks(estimators)
    return *every.args, cache(every.kwargs["ids"])


def parametrize_with_checks_of_fits(estimators):
    """As parametrize_with_checks, with the checks in OF_FITS only, and those once: not again with a
    read-only memory map. Each estimator meets one third of them, its neighbours the others; the
    second half of these runs with what takes minutes."""
    words, cases, names = checks_of(estimators)
    place = {name: at for at, name in enumerate(sorted(OF_FITS))}
    turn = {id(estimator): at for at, estimator in enumerate(estimators)}
    kept = [
        (case, (place[case[1].func.__name__] + turn[id(case[0])]) % 6)
        for case in cases
        if case[1].func.__name__ in OF_FITS and "readonly_memmap" not in case[1].keywords
    ]
    first = [case for case, at in kept if at == 0]
    second = [pytest.param(*case, marks=pytest.mark.minutes) for case, at in kept if at == 3]
    return pytest.mark.parametrize(words, first + second, ids=names)


# The data of these checks are a few rows of noise, in which four clusters may well fall together or
# creep.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*pairs of centres coincide:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*the clusters have collapsed:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning"),
    # they give a number
    pytest.mark.filterwarnings("ignore:.*the number of clusters is a result here:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*have fallen together:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*no stable level:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*doubtful whether there are clusters:UserWarning"),
    # of rows as few, and as often the same, as some checks have
    pytest.mark.filterwarnings("ignore:.*covariances come from the prior above all:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*are narrower than the steps:UserWarning"),
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
]


@parametrize_with_checks_once(AS_THEY_ARE)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@parametrize_with_checks_of_fits(CONFIGURED)
def test_scikit_learn_check_of_a_configured_estimator(estimator, check):
    check(estimator)


def test_all_checks_of_fits_are_known_to_scikit_learn():
    """A check that is renamed there does not drop out here unnoticed."""
    _, cases = parametrize_with_checks(AS_THEY_ARE).args
    assert {case[1].func.__name__ for case in cases} >= OF_FITS


def array_api_checks():
    """Of the two that all checks are asked of, and of one that has loops of its own."""
    of_few = [one for one in AS_THEY_ARE if isinstance(one, (*WHOLE, GaussianMixture))]
    _, cases = parametrize_with_checks(of_few).args
    return [
        (estimator, check)
        for estimator, check in cases
        if check.func.__name__ == "check_array_api_input"
    ]


@pytest.mark.skipif("SCIPY_ARRAY_API" in os.environ, reason="the checks above include it")
def test_with_array_api_dispatch():
    """SciPy reads SCIPY_ARRAY_API when it is imported, so the check that wants it runs in a process
    of its own."""
    if not array_api_checks():
        pytest.skip("this scikit-learn has no such check for NumPy")
    variables = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, __file__],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr


if __name__ == "__main__":
    warnings.simplefilter("error")
    for mark in pytestmark[1:]:
        warnings.filterwarnings("ignore", mark.args[0].split(":")[1])
    for estimator, check in array_api_checks():
        check(estimator)  # one that is skipped raises too
