"""The forms of `init`: those that mean the same start lead to the same run."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse

from cmeans import FuzzyCMeans, KernelKMeans, PossibilisticCMeans, TwoStepKernelKMeans
from cmeans.kernels import Polynomial
from cmeans.papers import GradientLandmarks
from contracts.arrays import FORMS, as_form, on_host

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
]

N, C = 70, 3
GAMMA = 0.15
ESTIMATORS = {
    "hard": partial(KernelKMeans, C),
    "fuzzy": partial(FuzzyCMeans, C, m=1.3),
    "possibilistic": partial(PossibilisticCMeans, C, m=1.5, pilot_m=1.3, eta_scale=0.5),
}
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "gamma": GAMMA, "landmarks": None},
    "landmark": {"kernel": "rbf", "gamma": GAMMA, "landmarks": np.arange(0, N, 4)},
    "gradient": {
        "kernel": "rbf",
        "gamma": GAMMA,
        "landmarks": GradientLandmarks(points=np.arange(0, N, 4)),
    },
    "polynomial": {"kernel": Polynomial(degree=2, gamma=0.2), "landmarks": np.arange(0, N, 4)},
}
STEPS = {"max_iter": 6, "tol": 0}


@cache
def three_blobs():
    """Five features, so that K is well conditioned: a projection solves with it."""
    X = np.eye(3, 5)[np.arange(N) % C] * 4 + np.random.default_rng(2).normal(scale=0.6, size=(N, 5))
    X[np.abs(X) < 0.2] = 0
    return X


@pytest.fixture
def X():
    return three_blobs()


def assert_same_runs(a, b, tolerance=1e-9):
    np.testing.assert_allclose(a.objective_history_, b.objective_history_, rtol=tolerance)
    np.testing.assert_allclose(
        on_host(a.memberships_), on_host(b.memberships_), rtol=0, atol=10 * tolerance
    )


@pytest.mark.filterwarnings("ignore:.*(collapsed|coincide):UserWarning")
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", ["hard", "fuzzy"])  # possibilistic scales come of a pilot
def test_centres_that_are_equal_are_not_parted_by_rounding(rule, space, X):
    """Where all rows have the same memberships all centres are the mean, whatever these are: one
    start. Hard clusters then go one way, as the first of equal centres has the rows; where soft
    ones go, the products of a machine decide."""
    make = partial(ESTIMATORS[rule], **SPACES[space], **STEPS)
    alike = [
        make(init=np.tile(shares, (N, 1))).fit(X) for shares in ([0.5, 0.3, 0.2], [0.1, 0.7, 0.2])
    ]
    if rule == "hard":
        np.testing.assert_array_equal(alike[0].labels_, alike[1].labels_)
        assert_same_runs(*alike)
    starts = [model.objective_history_[0] for model in alike]
    np.testing.assert_allclose(starts[0], starts[1], rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", ESTIMATORS)
def test_rows_by_number_are_the_points_themselves(rule, space, X):
    make = partial(ESTIMATORS[rule], **SPACES[space], **STEPS)
    numbers = make(init=[3, 4, 5]).fit(X)
    assert_same_runs(numbers, make(init=X[[3, 4, 5]]).fit(X))
    assert_same_runs(numbers, make(init=sparse.csr_array(X[[3, 4, 5]])).fit(X))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", ESTIMATORS)
def test_labels_are_one_hot_memberships(rule, space, X):
    labels = np.random.default_rng(3).integers(0, C, size=N)
    make = partial(ESTIMATORS[rule], **SPACES[space], **STEPS)
    by_label = make(init=labels).fit(X)
    by_membership = make(init=np.eye(C)[labels]).fit(X)
    np.testing.assert_array_equal(by_label.objective_history_, by_membership.objective_history_)
    np.testing.assert_array_equal(by_label.memberships_, by_membership.memberships_)


# where the second fit is cut short, two are on their way together
@pytest.mark.filterwarnings("ignore:.*pairs of centres coincide")
@pytest.mark.usefixtures("plain_loop")  # a new fit knows of no earlier sweep
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", ["hard", "fuzzy"])
def test_a_fitted_estimator_goes_on_from_where_it_stopped(rule, space, X):
    make = partial(ESTIMATORS[rule], **SPACES[space], tol=0)
    first = make(init=[0, 3, 6], max_iter=2).fit(X)
    second = make(init=first, max_iter=3).fit(X)
    at_once = make(init=[0, 3, 6], max_iter=5).fit(X)
    history = np.concatenate([first.objective_history_[:-1], second.objective_history_])
    np.testing.assert_allclose(
        history[: len(at_once.objective_history_)], at_once.objective_history_, rtol=1e-8
    )
    np.testing.assert_allclose(second.memberships_, at_once.memberships_, rtol=0, atol=1e-7)


@pytest.mark.usefixtures("plain_loop")  # from where a mixture leads
@pytest.mark.parametrize("to", ["exact", "landmark", "gradient"])
@pytest.mark.parametrize("origin", ["exact", "landmark", "gradient"])
def test_a_fitted_estimator_starts_a_fit_in_another_space(origin, to, X):
    """Every centre of the landmarks' span is one of the exact space, and those of all others are
    projected."""
    first = FuzzyCMeans(C, m=1.3, init=[0, 3, 6], **SPACES[origin], **STEPS).fit(X)
    second = FuzzyCMeans(C, m=1.3, init=first, **SPACES[to], **STEPS).fit(X)
    own = FuzzyCMeans(C, m=1.3, init=[0, 3, 6], **SPACES[to], max_iter=60, tol=1e-7).fit(X)
    assert second.objective_ == pytest.approx(own.objective_, rel=1e-4)
    assert second.objective_history_[0] < own.objective_history_[0]
    if to == "exact" or origin == to:
        assert second.objective_history_[0] == pytest.approx(first.objective_, rel=1e-9)


def test_a_fuzzy_start_for_another_rule(X):
    fuzzy = FuzzyCMeans(C, m=1.3, kernel="rbf", gamma=GAMMA, landmarks=None, random_state=0).fit(X)
    hard = KernelKMeans(C, gamma=GAMMA, landmarks=None, init=fuzzy).fit(X)
    np.testing.assert_array_equal(hard.labels_, fuzzy.labels_)


def test_a_fitted_estimator_of_another_kernel_is_refused(X):
    fitted = KernelKMeans(C, gamma=0.1, landmarks=None, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"within one kernel.*same gamma"):
        KernelKMeans(C, gamma=0.2, landmarks=None, init=fitted).fit(X)


def test_as_many_integers_as_clusters_are_row_numbers():
    X = np.array([[0.0], [1], [5], [6]])
    model = KernelKMeans(4, kernel="linear", init=[3, 2, 1, 0]).fit(X)
    np.testing.assert_array_equal(model.labels_, [3, 2, 1, 0])


def test_a_square_of_floats_is_points():
    X = np.array([[0.9, 0.1], [0.1, 0.9]])
    model = KernelKMeans(2, kernel="linear", init=np.array([[0.0, 1.0], [1.0, 0.0]])).fit(X)
    # as memberships, row 0 would have stayed in cluster 1 of its own accord
    np.testing.assert_array_equal(model.labels_, [1, 0])


@cache
def started(kind, form):
    """A fit of rows in some form from a start that is in the same."""
    X, labels = three_blobs(), np.arange(N) % C
    values = {
        "rows": np.array([3, 4, 5]),
        "labels": labels,
        "points": X[[3, 4, 5]],
        "memberships": np.eye(C)[labels],
    }[kind]
    as_given = "numpy" if form.startswith("csr") and kind != "points" else form
    init = as_form(values, as_given, str(values.dtype))
    return FuzzyCMeans(C, m=1.3, kernel="rbf", gamma=GAMMA, landmarks=None, init=init, **STEPS).fit(
        as_form(X, form)
    )


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("kind", ["rows", "labels", "points", "memberships"])
def test_arrays_of_any_library(kind, form):
    assert_same_runs(started(kind, form), started(kind, "numpy"))


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random", "random-partition"])
@pytest.mark.parametrize("space", SPACES)
def test_names(space, init, X):
    words = {**SPACES[space], "init": init, "n_init": 3}
    model = KernelKMeans(C, random_state=1, **words).fit(X)
    assert model.n_clusters_ == C
    again = KernelKMeans(C, random_state=1, **words).fit(X)
    np.testing.assert_array_equal(model.memberships_, again.memberships_)


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
@pytest.mark.parametrize("space", SPACES)
def test_drawn_starts_are_different_rows(space, init, X):
    """With a cluster for every row they must all be drawn, and nothing is left to sweep but what
    the landmarks leave out."""
    words = {**SPACES[space], "init": init}
    drawn = KernelKMeans(N, random_state=0, **words).fit(X)
    assert drawn.objective_history_[0] == pytest.approx(drawn.objective_, rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(np.sort(drawn.labels_), np.arange(N))


def test_two_steps_start_from_labels_of_all_rows(X):
    sample = np.arange(1, N, 2)
    labels = np.random.default_rng(0).integers(0, C, size=N)
    make = partial(TwoStepKernelKMeans, C, gamma=GAMMA, landmarks=sample, **STEPS)
    by_label = make(init=labels).fit(X)
    elsewhere = labels.copy()
    elsewhere[::2] = 0  # rows outside the sample have no say
    np.testing.assert_array_equal(by_label.labels_, make(init=elsewhere).fit(X).labels_)
    np.testing.assert_array_equal(by_label.labels_, make(init=np.eye(C)[labels]).fit(X).labels_)
