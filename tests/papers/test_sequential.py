"""Sequential possibilistic c-means: against the naive loops, step by step and as a whole, and what
its words do."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import naive
import naive_sparse
from cmeans import SequentialPossibilisticCMeans
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.datasets import make_s_set
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Linear, Polynomial
from cmeans.metrics import rand_measure, success_rate
from cmeans.papers.sequential import diametral_rows
from cmeans.rules import Hard
from cmeans.sampling.farthest import farthest_of_few, farthest_rows
from cmeans.spaces.centres import Centres
from cmeans.sweeps.passes import NearestRowsPass
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.state import State
from cmeans.tuning.initial_scale import Spacing
from contracts.arrays import cut_raggedly
from euclidean_rows import euclidean_rows
from naive_sparse import Recipe

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")]

PAPER = {"sparsity_test": "local", "patience": 1}


def blobs(n=72, seed=2):
    """Three blobs of unequal width, and two rows far from all."""
    rng = np.random.default_rng(seed)
    member = np.arange(n) % 3
    X = (
        np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 7.0]])[member]
        + rng.normal(size=(n, 2)) * np.array([0.4, 0.7, 0.9])[member, None]
    )
    X[-2:] = [[9.0, 9.0], [4.0, 4.0]]
    return X


def grid():
    """Rows that repeat, and many equal distances."""
    return np.random.default_rng(0).integers(0, 5, size=(60, 2)).astype(float)


def sequential(**words):
    return SequentialPossibilisticCMeans(**{"random_state": 0, **words})


@pytest.fixture
def problem_of():
    """The problem of hard clusters of rows, and of their weights."""
    with ThreadEngine(1).opened() as engine:
        yield lambda *rows: Problem(
            euclidean_rows(*rows, limits=Limits(block_rows=9, tasks=3, task_values=1)),
            Hard(),
            engine,
        )


# ----------------------------------------------------------------------------------- the naive twin


@cache
def naive_run(seed, recipe):
    return naive_sparse.sequential(naive_sparse.to_ten(blobs(48, seed)), recipe, tol=1e-9)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("words", "recipe", "seed"),
    [
        ({"sparsity": 0.15, **PAPER}, Recipe(lam=0.15), 0),
        (
            {"sparsity": 0.1, "sparsity_test": "global", "p": 0.4, "patience": 1},
            Recipe(lam=0.1, p=0.4, test="global"),
            5,
        ),
        ({"sparsity": "auto", "patience": 1}, Recipe(factor=0.4, test="global", reach=3.0), 0),
        ({"sparsity": 0, "patience": 1}, Recipe(), 5),
        (
            {"sparsity": 0.05, "adaptation": "squared", "patience": 1},
            Recipe(lam=0.05, test="global", adaptation="squared"),
            5,
        ),
    ],
    ids=["paper", "global", "auto", "not sparse", "squared"],
)
def test_a_run_is_the_naive_one(words, recipe, seed, monkeypatch):
    cut_raggedly(monkeypatch)
    X = naive_sparse.to_ten(blobs(48, seed))
    found = naive_run(seed, recipe)
    model = sequential(**words, scaling=None, tol=1e-9, max_iter=3000).fit(X)
    assert model.n_clusters_ == len(found.centers) >= 1
    np.testing.assert_allclose(model.cluster_centers_, found.centers, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.eta_, found.eta, rtol=1e-7)
    np.testing.assert_allclose(model.memberships_, found.memberships, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(model.labels_, found.labels)


@pytest.mark.parametrize(
    ("load", "sparsity", "printed"),
    [
        pytest.param(load_iris, 0.15, (3, 88.59, 90.00), id="iris", marks=pytest.mark.minutes),
        pytest.param(load_wine, 0.08, (3, 93.98, 95.51), id="wine"),
    ],
)
def test_a_run_on_real_data_is_the_naive_one_and_gives_the_printed_table(load, sparsity, printed):
    """(clusters, Rand measure, success rate). Wine is printed as (3, 93.31, 94.94)."""
    X, truth = load(return_X_y=True)
    rows = naive_sparse.to_ten(X)
    found = naive_sparse.sequential(rows, Recipe(lam=sparsity))
    model = sequential(sparsity=sparsity, **PAPER).fit(X)
    assert model.n_clusters_ == len(found.centers)
    np.testing.assert_array_equal(model.labels_, found.labels)
    np.testing.assert_allclose(model.memberships_, found.memberships, rtol=0, atol=1e-3)
    np.testing.assert_allclose(
        naive_sparse.to_ten(np.vstack([X, model.cluster_centers_]))[len(X) :],
        found.centers,
        atol=1e-3,
    )
    nearest = model.transform(X).argmin(axis=1)
    measures = [
        round(100 * measure(truth, model.labels_, nearest=nearest), 2)
        for measure in (rand_measure, success_rate)
    ]
    assert (model.n_clusters_, *measures) == printed


# ------------------------------------------------------------------------------------- first scales


LINE = np.arange(7.0)[:, None] ** 2


@pytest.mark.parametrize(
    "rows",
    [blobs(), grid(), np.repeat(blobs(12), 3, axis=0), LINE],
    ids=["blobs", "grid", "copies", "line"],
)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_scale_of_a_row(rows, offset):
    """max(d_max, d_slope)^2, from distances that differ; far from the origin too."""
    spacing = Spacing(Linear(), Blocks(rows + offset, np.ones(len(rows))), np.arange(len(rows)))
    assert spacing.largest_gap == pytest.approx(naive_sparse.largest_gap(rows), rel=1e-6)
    for q in (2, 3, 10):
        for row in range(0, len(rows), 5):
            assert spacing.slope(row, q) == pytest.approx(
                naive_sparse.slope_distance(rows, row, q), rel=1e-6
            )
        for row in range(0, len(rows), 20):  # which looks for the largest gap each time
            assert spacing.scale(row, q) == pytest.approx(
                naive_sparse.row_scale(rows, row, q), rel=1e-6
            )


def test_equal_distances_count_once_whatever_the_units():
    rows = grid()
    for factor in (1.0, 0.1, 1 / 3):
        for row in range(0, len(rows), 7):
            spacing = Spacing(
                Linear(), Blocks(rows * factor, np.ones(len(rows))), np.arange(len(rows))
            )
            assert spacing.slope(row, 4) == pytest.approx(
                factor * naive_sparse.slope_distance(rows, row, 4), rel=1e-9
            )


def test_the_scale_of_a_row_in_the_space_of_a_kernel():
    X, gamma = blobs(), 0.05
    K = naive.kernel_matrix(X, X, lambda x, y: naive.rbf(x, y, gamma))
    distances = np.sqrt(np.maximum(2 - 2 * K, 0))
    spacing = Spacing(RBF(gamma), Blocks(X, np.ones(len(X))), np.arange(len(X)))
    gaps = np.where(distances > 1e-7, distances, np.inf).min(axis=0)
    assert spacing.largest_gap == pytest.approx(gaps.max(), rel=1e-9)
    for row in (0, 10, 71):
        nearest = np.sort(distances[row])[1:6]
        assert spacing.slope(row, 5) == pytest.approx(
            nearest[1 + np.argmax(np.diff(nearest))], rel=1e-9
        )


def test_scales_of_rows_that_are_few_or_equal():
    def spacing(rows):
        return Spacing(Linear(), Blocks(np.array(rows), np.ones(len(rows))), np.arange(len(rows)))

    assert spacing([[1.0], [1.0]]).scale(0, 10) == 1.0
    assert spacing([[1.0]]).scale(0, 10) == 1.0
    assert spacing([[0.0], [3.0], [3.0]]).scale(0, 10) == 9.0


# ----------------------------------------------------------------------------------------- far rows


def test_diametral_rows_are_the_naive_ones(problem_of):
    for X in (blobs(), grid(), blobs(31, seed=4)):
        far, squared = diametral_rows(problem_of(X))
        one, two = naive_sparse.diametral_rows(X)
        assert far.rows.tolist() == [one, two]
        assert squared == pytest.approx(((X[one] - X[two]) ** 2).sum())


def test_diametral_rows_have_weight(problem_of):
    X, weight = blobs(), np.ones(72)
    weight[-2:] = 0
    far, _ = diametral_rows(problem_of(X, weight))
    assert far.rows.tolist() == list(naive_sparse.diametral_rows(X[:-2]))
    all_but_one, squared = diametral_rows(problem_of(X, np.arange(72) == 9))
    assert all_but_one.rows.tolist() == [9]
    assert squared == 0


@pytest.mark.parametrize(
    ("farthest", "together"), [(farthest_rows, 0), (farthest_of_few, 2048), (farthest_of_few, 5)]
)
def test_farthest_rows_one_after_the_other(farthest, together, problem_of, monkeypatch):
    monkeypatch.setattr("cmeans.sampling.farthest.TOGETHER", together)
    X = blobs()
    start = Centres.orthonormal(X[:2])
    far = farthest(problem_of(X), start, 20)
    assert far.rows.tolist() == [
        naive_sparse.farthest_row(X, X[[0, 1, *far.rows[:k]]]) for k in range(20)
    ]
    assert far.passes == 20 or farthest is farthest_of_few
    np.testing.assert_allclose(far.centres.coordinates, X[far.rows])
    distances = np.concatenate(
        [d2 for _, d2 in problem_of(X).map(NearestRowsPass(Hard(), State(start)))]
    )
    np.testing.assert_allclose(distances, naive.point_distances(X, X[:2]).min(axis=1), atol=1e-12)
    repeated = np.repeat(X[:3], 5, axis=0)
    assert len(farthest(problem_of(repeated), Centres.orthonormal(X[:1]), 9).rows) == 2
    nothing = farthest(problem_of(repeated), Centres.orthonormal(X[:3]), 2)
    assert len(nothing.rows) == 0
    assert nothing.centres is None


def test_of_rows_equally_far_but_for_rounding_the_first_is_taken(problem_of):
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=5)))
    origin = Centres.orthonormal(np.zeros((1, 5)))
    for shrinking in (1.0, 1.0 - 2.0**-50):
        X = corners * np.where(np.arange(32) < 16, shrinking, 1.0)[:, None]
        assert farthest_rows(problem_of(X), origin, 2).rows.tolist() == [0, 3]
        assert farthest_rows(problem_of(X), origin, 1, 0.9).rows.tolist() == [0]


def test_a_quantile_of_the_weight_passes_over_the_farthest(problem_of):
    line = np.arange(10.0)[:, None]
    start = Centres.orthonormal(line[:1])

    def row(quantile, weight=None):
        return farthest_rows(problem_of(line, weight), start, 1, quantile).rows.tolist()

    assert row(1.0) == [9]
    assert row(0.9) == [8]
    assert row(0.5) == [4]
    assert row(0.9, np.r_[np.ones(9), 11]) == [9]
    assert row(1.0, np.r_[np.ones(9), 0]) == [8]


# -------------------------------------------------------------------------------------------- words


def mixture(n=900, noise=0.0, seed=4):
    return make_s_set(6, n, noise=noise, random_state=seed)


@cache
def settled(**words):
    """The fit of the mixture, which many tests compare with and none may change."""
    return sequential(**words).fit(mixture()[0])


def rate(model, X, y):
    return success_rate(y, model.labels_, nearest=model.transform(X).argmin(axis=1))


def test_nothing_is_drawn_from_small_inputs():
    X, _ = mixture()
    one, two = (SequentialPossibilisticCMeans(random_state=seed).fit(X) for seed in (0, 1))
    np.testing.assert_array_equal(one.memberships_, two.memberships_)
    assert one.row_visits_ == two.row_visits_


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_growth_ends_at_the_most_clusters(most):
    X, _ = mixture()
    model = sequential(n_clusters=(1, most)).fit(X)
    assert 1 <= model.n_clusters_ <= most
    if most in (3, 5):
        assert model.n_clusters_ == most


def test_patience_goes_on_after_a_seed_is_given_up():
    """From the printed end on it may only find more."""
    X, _ = make_s_set(8, 600, random_state=1)
    impatient, patient = (sequential(patience=patience).fit(X) for patience in (1, 5))
    assert impatient.n_clusters_ <= patient.n_clusters_
    assert abs(patient.n_clusters_ - 8) <= 2
    assert patient.row_visits_ > impatient.row_visits_


def test_several_seeds_at_a_time():
    X, y = mixture()
    model = sequential(n_new=3).fit(X)
    assert abs(model.n_clusters_ - 6) <= 1
    assert rate(model, X, y) > 0.9


def test_noise_is_no_seed_below_a_quantile():
    """As printed, the first far row that is noise ends the growth."""
    X, y = mixture(2000, noise=0.05)
    printed, quantile = (sequential(patience=1, seed_quantile=q).fit(X) for q in (1.0, 0.95))
    assert printed.n_clusters_ < quantile.n_clusters_ == 6
    assert (quantile.labels_[y < 0] == -1).mean() > 2 * (quantile.labels_[y >= 0] == -1).mean()


@pytest.mark.parametrize("n_neighbors", [2, 10, 100])
def test_any_number_of_neighbours(n_neighbors):
    X, y = mixture()
    model = sequential(n_neighbors=n_neighbors).fit(X)
    assert 4 <= model.n_clusters_ <= 8
    assert rate(model, X, y) > 0.7


def test_eta_is_what_a_clusters_own_rows_deviate():
    X, _ = mixture()
    scaled = X * 10 / np.ptp(X, axis=0)
    for adaptation, power in (("length", 1), ("squared", 2)):
        model = sequential(adaptation=adaptation, sparsity=0.02, tol=1e-8, max_iter=1000).fit(X)
        own = [scaled[model.labels_ == j] for j in range(model.n_clusters_)]
        expected = [
            (np.linalg.norm(rows - rows.mean(axis=0), axis=1) ** power).mean() for rows in own
        ]
        np.testing.assert_allclose(model.eta_, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*(coincide|collapsed|hold no row):UserWarning")
@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
def test_a_seed_that_leaves_nobody_is_given_up():
    """What was found before stays."""
    found = 0
    for seed in (30, 44, 68, 148):
        rng = np.random.default_rng(seed)
        n, d, b = int(rng.integers(10, 80)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
        X = rng.normal(size=(b, d))[np.arange(n) % b] * 3 + rng.normal(
            scale=(0.05, 0.5, 2.0)[seed % 3], size=(n, d)
        )
        sparsity = 0.1 if seed == 30 else 0.3
        start = sequential(sparsity=sparsity, n_clusters=(1, 2)).fit(X)
        assert sequential(sparsity=sparsity).fit(X).n_clusters_ >= start.n_clusters_
        found += start.n_clusters_
    assert found >= 4


def test_a_growth_that_ends_early_leaves_most_rows_out():
    X, _ = mixture()
    with pytest.warns(
        UserWarning,
        match=r"SequentialPossibilisticCMeans: 7\d% of the rows belong nowhere.*smaller sparsity",
    ) as caught:
        model = sequential(n_clusters=(1, 2)).fit(X)
    assert 0.7 < (model.labels_ == -1).mean() < 0.8
    assert "alpha" not in str(caught[0].message)  # it has no such word


def test_there_is_no_start_to_give():
    assert not {"init", "n_init"} & set(sequential().get_params())
    with pytest.raises(TypeError, match="init"):
        SequentialPossibilisticCMeans(init="random")


# ------------------------------------------------------------------------------------------- spaces


def same(model, other, atol=1e-6):
    assert model.n_clusters_ == other.n_clusters_ > 1
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=atol)
    np.testing.assert_allclose(model.eta_, other.eta_, rtol=1e-5)


@pytest.mark.parametrize("adaptation", ["length", "squared"])
def test_landmarks_that_span_everything_are_the_plain_space(adaptation):
    X, words = blobs(), {"adaptation": adaptation, "sparsity": 0.05, "tol": 1e-7}
    plain = sequential(**words).fit(X)
    same(sequential(**words, kernel=Linear(), landmarks=40).fit(X), plain)
    same(sequential(**words, kernel=Linear(), landmarks=np.arange(len(X))).fit(X), plain)
    inner = {"kernel": Polynomial(degree=1, gamma=1.0, coef0=0.0), "landmarks": None}
    if adaptation == "squared":
        same(sequential(**words, **inner).fit(X), plain)


def test_the_conference_form_in_other_spaces_has_a_tenth_of_the_diameter_as_its_unit():
    X = blobs()
    one, two = naive_sparse.diametral_rows(X)
    unit = 0.1 * np.linalg.norm(X[one] - X[two])
    plain = sequential(patience=1, scaling=None, tol=1e-7).fit(X / unit)
    words = {"kernel": Polynomial(degree=1, gamma=1.0, coef0=0.0), "landmarks": None}
    exact = sequential(patience=1, scaling=None, tol=1e-7, **words).fit(X)
    np.testing.assert_array_equal(exact.labels_, plain.labels_)
    np.testing.assert_allclose(exact.eta_, plain.eta_ * unit**2, rtol=1e-6)


def test_a_precomputed_kernel_is_the_exact_space():
    X, gamma = blobs(), 0.02
    K = np.exp(-gamma * naive.point_distances(X, X))
    exact = sequential(kernel="rbf", gamma=gamma, landmarks=None, scaling=None, sparsity=0).fit(X)
    given = sequential(kernel="precomputed", sparsity=0).fit(K)
    np.testing.assert_array_equal(given.labels_, exact.labels_)
    np.testing.assert_allclose(given.memberships_, exact.memberships_, atol=1e-6)


# ------------------------------------------------------------------------------------------- units


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_matter_without_scaling_in_the_conference_form_alone(factor):
    """Its scales are lengths that stand for squared ones."""
    X, _ = mixture()
    squared = [
        settled(scaling=None, adaptation="squared"),
        sequential(scaling=None, adaptation="squared").fit(X * factor),
    ]
    np.testing.assert_array_equal(squared[0].labels_, squared[1].labels_)
    np.testing.assert_allclose(squared[1].eta_, squared[0].eta_ * factor**2, rtol=1e-6)
    conference = [
        sequential(scaling=None, sparsity=0).fit(rows) for rows in (X * 10, X * 10 * factor)
    ]
    assert conference[0].n_clusters_ != conference[1].n_clusters_
