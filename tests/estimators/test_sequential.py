"""Sequential possibilistic c-means: against the naive loops, step by step and as a whole, and what its words do."""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import naive
import naive_sparse
from cmeans import SequentialPossibilisticCMeans
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.datasets import make_s_set
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Linear
from cmeans.metrics import rand_measure, success_rate
from cmeans.rules import Hard
from cmeans.sampling.farthest import farthest_rows
from cmeans.solvers.sequential import diametral_rows
from cmeans.spaces.centres import Centres
from cmeans.sweeps.passes import NearestDistancePass
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.state import State
from cmeans.tuning.initial_scale import Spacing
from contracts.arrays import cut_raggedly
from euclidean_rows import euclidean_rows
from limited import limited
from naive_sparse import Recipe

pytestmark = pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")

PAPER = {"sparsity_test": "local", "patience": 1}


def blobs(n=72, seed=2):
    """Three blobs of unequal width, and two rows far from all."""
    rng = np.random.default_rng(seed)
    member = np.arange(n) % 3
    X = np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 7.0]])[member] + rng.normal(size=(n, 2)) * np.array([0.4, 0.7, 0.9])[member, None]
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
    with ThreadEngine(1) as engine:
        yield lambda *rows: Problem(euclidean_rows(*rows, limits=Limits(block_rows=9, tasks=3)), Hard(), engine)


# ----------------------------------------------------------------------------------------------------------- the naive twin


@cache
def naive_run(seed, recipe):
    return naive_sparse.sequential(naive_sparse.to_ten(blobs(seed=seed)), recipe, tol=1e-9)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("words", "recipe", "seed"),
    [
        ({"sparsity": 0.15, **PAPER}, Recipe(lam=0.15), 0),
        ({"sparsity": 0.1, "sparsity_test": "global", "p": 0.4, "patience": 1}, Recipe(lam=0.1, p=0.4, test="global"), 5),
        ({"sparsity": "auto", "patience": 1}, Recipe(factor=0.4, test="global", reach=3.0), 0),
        ({"sparsity": 0, "patience": 1}, Recipe(), 5),
        ({"sparsity": 0.05, "adaptation": "squared", "patience": 1}, Recipe(lam=0.05, test="global", adaptation="squared"), 5),
    ],
    ids=["paper", "global", "auto", "not sparse", "squared"],
)
def test_a_run_is_the_naive_one(words, recipe, seed, monkeypatch):
    cut_raggedly(monkeypatch)
    X = naive_sparse.to_ten(blobs(seed=seed))
    found = naive_run(seed, recipe)
    model = sequential(**words, scaling=None, tol=1e-9, max_iter=3000).fit(X)
    assert model.n_clusters_ == len(found.centers) >= 1
    np.testing.assert_allclose(model.cluster_centers_, found.centers, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.eta_, found.eta, rtol=1e-7)
    np.testing.assert_allclose(model.memberships_, found.memberships, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(model.labels_, found.labels)


@pytest.mark.parametrize(("load", "sparsity"), [(load_iris, 0.15), (load_wine, 0.08)], ids=["iris", "wine"])
def test_a_run_on_real_data_is_the_naive_one(load, sparsity):
    X = load().data
    rows = naive_sparse.to_ten(X)
    found = naive_sparse.sequential(rows, Recipe(lam=sparsity), tol=1e-6)
    model = sequential(sparsity=sparsity, **PAPER, tol=1e-6, max_iter=1000).fit(X)
    assert model.n_clusters_ == len(found.centers)
    np.testing.assert_array_equal(model.labels_, found.labels)
    np.testing.assert_allclose(model.memberships_, found.memberships, rtol=0, atol=1e-3)
    np.testing.assert_allclose(naive_sparse.to_ten(np.vstack([X, model.cluster_centers_]))[len(X) :], found.centers, atol=1e-3)


@pytest.mark.parametrize(
    ("load", "sparsity", "printed"), [(load_iris, 0.15, (3, 88.59, 90.00)), (load_wine, 0.08, (3, 93.98, 95.51))], ids=["iris", "wine"]
)
def test_the_printed_tables(load, sparsity, printed):
    """(clusters, Rand measure, success rate). Wine is printed as (3, 93.31, 94.94)."""
    data = load()
    model = sequential(sparsity=sparsity, **PAPER).fit(data.data)
    nearest = model.transform(data.data).argmin(axis=1)
    measures = [round(100 * measure(data.target, model.labels_, nearest=nearest), 2) for measure in (rand_measure, success_rate)]
    assert (model.n_clusters_, *measures) == printed


# ------------------------------------------------------------------------------------------------------------ first scales


LINE = np.arange(7.0)[:, None] ** 2


@pytest.mark.parametrize("rows", [blobs(), grid(), np.repeat(blobs(12), 3, axis=0), LINE], ids=["blobs", "grid", "copies", "line"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_scale_of_a_row(rows, offset):
    """max(d_max, d_slope)^2, from distances that differ; far from the origin too."""
    spacing = Spacing(Linear(), Blocks(rows + offset, np.ones(len(rows))), np.arange(len(rows)))
    assert spacing.largest_gap == pytest.approx(naive_sparse.largest_gap(rows), rel=1e-6)
    for q in (2, 3, 10):
        for row in range(0, len(rows), 5):
            assert spacing.slope(row, q) == pytest.approx(naive_sparse.slope_distance(rows, row, q), rel=1e-6)
        for row in range(0, len(rows), 20):  # which looks for the largest gap each time
            assert spacing.scale(row, q) == pytest.approx(naive_sparse.row_scale(rows, row, q), rel=1e-6)


def test_equal_distances_count_once_whatever_the_units():
    rows = grid()
    for factor in (1.0, 0.1, 1 / 3):
        for row in range(0, len(rows), 7):
            spacing = Spacing(Linear(), Blocks(rows * factor, np.ones(len(rows))), np.arange(len(rows)))
            assert spacing.slope(row, 4) == pytest.approx(factor * naive_sparse.slope_distance(rows, row, 4), rel=1e-9)


def test_the_scale_of_a_row_in_the_space_of_a_kernel():
    X, gamma = blobs(), 0.05
    K = naive.kernel_matrix(X, X, lambda x, y: naive.rbf(x, y, gamma))
    distances = np.sqrt(np.maximum(2 - 2 * K, 0))
    spacing = Spacing(RBF(gamma), Blocks(X, np.ones(len(X))), np.arange(len(X)))
    gaps = np.where(distances > 1e-7, distances, np.inf).min(axis=0)
    assert spacing.largest_gap == pytest.approx(gaps.max(), rel=1e-9)
    for row in (0, 10, 71):
        nearest = np.sort(distances[row])[1:6]
        assert spacing.slope(row, 5) == pytest.approx(nearest[1 + np.argmax(np.diff(nearest))], rel=1e-9)


def test_scales_of_rows_that_are_few_or_equal():
    def spacing(rows):
        return Spacing(Linear(), Blocks(np.array(rows), np.ones(len(rows))), np.arange(len(rows)))

    assert spacing([[1.0], [1.0]]).scale(0, 10) == 1.0
    assert spacing([[1.0]]).scale(0, 10) == 1.0
    assert spacing([[0.0], [3.0], [3.0]]).scale(0, 10) == 9.0


# ------------------------------------------------------------------------------------------------------------- far rows


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


def test_farthest_rows_one_after_the_other(problem_of):
    X = blobs()
    start = Centres.orthonormal(X[:2])
    far = farthest_rows(problem_of(X), start, 4)
    assert far.rows.tolist() == [naive_sparse.farthest_row(X, X[[0, 1, *far.rows[:k]]]) for k in range(4)]
    assert far.passes == 4
    np.testing.assert_allclose(far.centres.coordinates, X[far.rows])
    distances = np.concatenate(list(problem_of(X).map(NearestDistancePass(State(start)))))
    np.testing.assert_allclose(distances, naive.point_distances(X, X[:2]).min(axis=1), atol=1e-12)
    repeated = np.repeat(X[:3], 5, axis=0)
    assert len(farthest_rows(problem_of(repeated), Centres.orthonormal(X[:1]), 9).rows) == 2
    nothing = farthest_rows(problem_of(repeated), Centres.orthonormal(X[:3]), 2)
    assert len(nothing.rows) == 0
    assert nothing.centres is None


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


# ------------------------------------------------------------------------------------------------------------------- words


def mixture(n=900, noise=0.0, seed=4):
    return make_s_set(6, n, noise=noise, random_state=seed)


@cache
def settled(**words):
    """The fit of the mixture, which many tests compare with and none may change."""
    return sequential(**words).fit(mixture()[0])


def rate(model, X, y):
    return success_rate(y, model.labels_, nearest=model.transform(X).argmin(axis=1))


def test_it_finds_the_clusters():
    (X, y), model = mixture(), settled()
    assert model.n_clusters_ == 6
    assert rate(model, X, y) > 0.95
    assert model.converged_


def test_nothing_is_drawn_from_small_inputs():
    X, _ = mixture()
    one, two = (SequentialPossibilisticCMeans(random_state=seed).fit(X) for seed in (0, 1))
    np.testing.assert_array_equal(one.memberships_, two.memberships_)
    assert one.row_visits_ == two.row_visits_


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_growth_ends_at_max_clusters(most):
    X, _ = mixture()
    model = sequential(max_clusters=most).fit(X)
    assert 1 <= model.n_clusters_ <= most
    if most in (3, 5):
        assert model.n_clusters_ == most


def test_patience_goes_on_after_a_seed_is_given_up():
    """From the printed end on it may only find more."""
    X, _ = make_s_set(15, 1500, random_state=1)
    impatient, patient = (sequential(patience=patience).fit(X) for patience in (1, 5))
    assert impatient.n_clusters_ <= patient.n_clusters_
    assert abs(patient.n_clusters_ - 15) <= 2
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


def test_the_sample_that_clusters_of_large_inputs_are_looked_for_on(monkeypatch):
    """They are settled on all rows."""
    X, y = mixture(3000)
    whole = sequential().fit(X)
    limited(monkeypatch, adaptive_rows=900, spaced_rows=400)
    sampled, again = (sequential().fit(X) for _ in range(2))
    assert whole.n_clusters_ == sampled.n_clusters_ == 6
    assert sampled.row_visits_ < whole.row_visits_
    assert sampled.labels_.shape == (3000,)
    assert rate(sampled, X, y) > 0.95
    np.testing.assert_array_equal(sampled.memberships_, again.memberships_)
    np.testing.assert_array_equal(sampled.predict(X), sampled.labels_)
    weighted = sequential().fit(X, sample_weight=1.0 + (np.arange(3000) % 2))
    assert weighted.n_clusters_ == 6


@pytest.mark.parametrize("n_neighbors", [2, 10, 100])
def test_any_number_of_neighbours(n_neighbors):
    X, y = mixture()
    model = sequential(n_neighbors=n_neighbors).fit(X)
    assert 4 <= model.n_clusters_ <= 8
    assert rate(model, X, y) > 0.7


def test_eta_is_what_a_clusters_own_rows_deviate():
    X, _ = mixture()
    scaled = X * 10 / np.ptp(X, axis=0)
    for adaptation, power in (("conference", 1), ("squared", 2)):
        model = sequential(adaptation=adaptation, sparsity=0.02, tol=1e-8, max_iter=1000).fit(X)
        own = [scaled[model.labels_ == j] for j in range(model.n_clusters_)]
        expected = [(np.linalg.norm(rows - rows.mean(axis=0), axis=1) ** power).mean() for rows in own]
        np.testing.assert_allclose(model.eta_, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*(coincide|collapsed|hold no row):UserWarning")
@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
def test_a_seed_that_leaves_nobody_is_given_up():
    """What was found before stays."""
    found = 0
    for seed in (30, 44, 68, 148):
        rng = np.random.default_rng(seed)
        n, d, b = int(rng.integers(10, 80)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
        X = rng.normal(size=(b, d))[np.arange(n) % b] * 3 + rng.normal(scale=(0.05, 0.5, 2.0)[seed % 3], size=(n, d))
        sparsity = 0.1 if seed == 30 else 0.3
        start = sequential(sparsity=sparsity, max_clusters=2).fit(X)
        assert sequential(sparsity=sparsity).fit(X).n_clusters_ >= start.n_clusters_
        found += start.n_clusters_
    assert found >= 4


def test_a_growth_that_ends_early_leaves_most_rows_out():
    X, _ = mixture()
    with pytest.warns(UserWarning, match=r"SequentialPossibilisticCMeans: 7\d% of the rows belong nowhere.*smaller sparsity") as caught:
        model = sequential(max_clusters=2).fit(X)
    assert 0.7 < (model.labels_ == -1).mean() < 0.8
    assert "alpha" not in str(caught[0].message)  # it has no such word


def test_there_is_no_start_to_give():
    assert not {"init", "n_init"} & set(sequential().get_params())
    with pytest.raises(TypeError, match="init"):
        SequentialPossibilisticCMeans(init="random")


def test_a_run_cut_short():
    X, _ = mixture()
    with pytest.warns(UserWarning, match=r"SequentialPossibilisticCMeans: stopped at max_iter=1\b"):
        model = sequential(max_iter=1, max_clusters=2).fit(X)
    assert model.n_iter_ == 1
    assert not model.converged_


# ----------------------------------------------------------------------------------------------------------------- spaces


def same(model, other, atol=1e-6):
    assert model.n_clusters_ == other.n_clusters_ > 1
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=atol)
    np.testing.assert_allclose(model.eta_, other.eta_, rtol=1e-5)


@pytest.mark.parametrize("adaptation", ["conference", "squared"])
def test_landmarks_that_span_everything_are_the_plain_space(adaptation):
    X, words = blobs(), {"adaptation": adaptation, "sparsity": 0.05, "tol": 1e-7}
    plain = sequential(**words).fit(X)
    same(sequential(**words, n_landmarks=40).fit(X), plain)
    same(sequential(**words, landmarks=np.arange(len(X))).fit(X), plain)
    inner = {"kernel": "polynomial", "degree": 1, "gamma": 1.0, "coef0": 0.0, "n_landmarks": None}
    if adaptation == "squared":
        same(sequential(**words, **inner).fit(X), plain)


def test_the_conference_form_in_other_spaces_has_a_tenth_of_the_diameter_as_its_unit():
    X = blobs()
    one, two = naive_sparse.diametral_rows(X)
    unit = 0.1 * np.linalg.norm(X[one] - X[two])
    plain = sequential(scaling=None, tol=1e-7).fit(X / unit)
    words = {"kernel": "polynomial", "degree": 1, "gamma": 1.0, "coef0": 0.0, "n_landmarks": None}
    exact = sequential(scaling=None, tol=1e-7, **words).fit(X)
    np.testing.assert_array_equal(exact.labels_, plain.labels_)
    np.testing.assert_allclose(exact.eta_, plain.eta_ * unit**2, rtol=1e-6)


def test_a_precomputed_kernel_is_the_exact_space():
    X, gamma = blobs(), 0.02
    K = np.exp(-gamma * naive.point_distances(X, X))
    exact = sequential(kernel="rbf", gamma=gamma, n_landmarks=None, scaling=None, sparsity=0).fit(X)
    given = sequential(kernel="precomputed", sparsity=0).fit(K)
    np.testing.assert_array_equal(given.labels_, exact.labels_)
    np.testing.assert_allclose(given.memberships_, exact.memberships_, atol=1e-6)


# ------------------------------------------------------------------------------------------------- what must not matter


@pytest.mark.parametrize("factor", [1e-3, 1e3, np.array([1.0, 1e3])])
def test_units_do_not_matter(factor):
    X, y = mixture()
    model, other = settled(), sequential().fit(X * factor)
    assert other.n_clusters_ == model.n_clusters_
    assert rate(model, X, y) == rate(other, X * factor, y)
    np.testing.assert_allclose(other.memberships_, model.memberships_, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_matter_without_scaling_in_the_conference_form_alone(factor):
    """Its scales are lengths that stand for squared ones."""
    X, _ = mixture()
    squared = [settled(scaling=None, adaptation="squared"), sequential(scaling=None, adaptation="squared").fit(X * factor)]
    np.testing.assert_array_equal(squared[0].labels_, squared[1].labels_)
    np.testing.assert_allclose(squared[1].eta_, squared[0].eta_ * factor**2, rtol=1e-6)
    conference = [sequential(scaling=None, sparsity=0).fit(rows) for rows in (X * 10, X * 10 * factor)]
    assert conference[0].n_clusters_ != conference[1].n_clusters_


@pytest.mark.parametrize("shift", [np.array([-0.5, 3.0]), np.array([1e4, -1e4]), np.array([0.0, 1e9])])
def test_the_origin_does_not_matter(shift):
    X, y = mixture()
    model, other = settled(), sequential().fit(X + shift)
    assert other.n_clusters_ == model.n_clusters_
    assert rate(other, X + shift, y) == pytest.approx(rate(model, X, y), abs=0.003)


@pytest.mark.parametrize("words", [{}, {"n_new": 3}, {"adaptation": "squared"}])
def test_the_order_of_rows_and_copies_do_not_matter(words):
    """Weights of 2 are copies; an order changes nothing where no two rows are equally far."""
    X, _ = mixture()
    order = np.random.default_rng(0).permutation(len(X))
    model = settled(**words)
    shuffled = sequential(**words).fit(X[order])
    copies = sequential(**words).fit(np.vstack([X, X]))
    weighted = sequential(**words).fit(X, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
    np.testing.assert_array_equal(copies.labels_, np.tile(model.labels_, 2))
    np.testing.assert_array_equal(weighted.labels_, model.labels_)
    np.testing.assert_allclose(copies.eta_, model.eta_, rtol=1e-6)
    np.testing.assert_allclose(weighted.eta_, model.eta_, rtol=1e-9)
    assert weighted.objective_ == pytest.approx(2 * model.objective_, rel=1e-9)


def test_uneven_weights_are_uneven_copies():
    X, _ = mixture(600)
    count = np.random.default_rng(1).integers(1, 4, size=len(X))
    weighted, copies = sequential().fit(X, sample_weight=count), sequential().fit(np.repeat(X, count, axis=0))
    np.testing.assert_array_equal(copies.labels_, np.repeat(weighted.labels_, count))


def test_rows_of_weight_zero_are_labelled_and_do_not_count():
    X, _ = mixture(600)
    rows = np.vstack([[[50.0, 50.0], [0.5, 0.5], [-9.0, 0.0]], X])
    model = sequential().fit(rows, sample_weight=np.r_[0, 0, 0, np.ones(len(X))])
    alone = sequential().fit(X)
    np.testing.assert_array_equal(model.labels_[3:], alone.labels_)
    np.testing.assert_array_equal(model.labels_[:3], alone.predict(rows[:3]))
    assert model.labels_[0] == model.labels_[2] == -1
    np.testing.assert_allclose(model.cluster_centers_, alone.cluster_centers_, atol=1e-7)


def test_float32_and_csr():
    X, _ = mixture()
    X = np.where(X < 0.15, 0.0, X)
    model, small, rows = (sequential().fit(form(X)) for form in (np.asarray, np.float32, sparse.csr_array))
    assert model.n_clusters_ == small.n_clusters_ == rows.n_clusters_
    assert small.memberships_.dtype == small.cluster_centers_.dtype == np.float32
    assert (small.labels_ == model.labels_).mean() > 0.99
    np.testing.assert_array_equal(rows.labels_, model.labels_)
    np.testing.assert_allclose(rows.memberships_, model.memberships_, atol=1e-6)
    np.testing.assert_allclose(rows.cluster_centers_, model.cluster_centers_, atol=1e-7)


@pytest.mark.parametrize("words", [{}, {"kernel": "rbf", "gamma": "median", "n_landmarks": 30, "sparsity": 0}])
def test_threads_change_no_bit(words, monkeypatch):
    cut_raggedly(monkeypatch, block=300, tasks=9)
    X = make_s_set(4, 2150, random_state=4)[0]
    one, two = (sequential(n_jobs=n, max_clusters=6, patience=1, **words).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(two.memberships_, one.memberships_)
    np.testing.assert_array_equal(two.eta_, one.eta_)
    assert (two.n_iter_, two.row_visits_) == (one.n_iter_, one.row_visits_)


# ------------------------------------------------------------------------------------------------------------- real data


def test_number_of_clusters_of_real_data(load_data):
    """With no number given: wrong by a fifth at most, on average. (D31 takes most of a minute.) Of large sets 1,500 rows show the same."""
    errors = {}
    for name in ("s1", "s2", "r15", "aggregation", "unbalance", "a1"):
        X, y = load_data(name)
        wanted, step = len(set(y.tolist())), -(-len(X) // 1500)
        errors[name] = abs(sequential().fit(X[::step]).n_clusters_ - wanted) / wanted
    assert np.mean(list(errors.values())) <= 0.2, errors


# -------------------------------------------------------------------------------------------------------------- questions


@pytest.mark.parametrize(
    "words", [{}, {"scaling": None, "sparsity": 0}, {"kernel": "rbf", "gamma": 0.02, "n_landmarks": 20, "sparsity": 0}]
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32])
def test_a_fit_answers_for_its_own_rows(words, form):
    """To the last bit."""
    rows = form(blobs())
    model = sequential(**words).fit(rows)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    np.testing.assert_array_equal(model.typicality(rows), model.memberships_)
    np.testing.assert_array_equal(model.outlier_score(rows), 1 - model.memberships_.max(axis=1))
    np.testing.assert_array_equal(clone(model).fit_transform(rows), model.transform(rows))
    np.testing.assert_array_equal(model.labels_ == -1, (model.memberships_ == 0).all(axis=1))
    assert model.score(rows) == pytest.approx(-model.objective_, rel=1e-9)
    assert model.eta_.shape == (model.n_clusters_,)
    assert model.objective_history_.shape == (model.n_iter_ + 1,)
    assert not hasattr(model, "pilot_m_")


# ------------------------------------------------------------------------------------------------------ bad words, odd rows


def refused(pattern, **words):
    model = sequential(**words)
    with pytest.raises(ValueError, match=rf"SequentialPossibilisticCMeans.*{pattern}") as caught:
        model.fit(blobs())
    assert not hasattr(model, "labels_")
    return str(caught.value)


BAD = {
    "sparsity": ([-0.1, np.nan, np.inf, "lots", None, True], r'"auto" or a number of at least 0'),
    "p": ([0, 1, 1.5, np.nan, "half", None], r"p must"),
    "max_clusters": ([0, -1, 2.5, None, "a", True], r"whole number of at least 1"),
    "n_neighbors": ([1, 0, -1, 2.5, None, "a", True], r"whole number of at least 2"),
    "n_new": ([0, -1, 1.5, None, True], r"whole number of at least 1"),
    "patience": ([0, -1, 1.5, None, True], r"whole number of at least 1"),
    "seed_quantile": ([0, -0.5, 1.01, np.nan, np.inf, "x", None], r"0"),
    "adaptation": (["journal", None, "foo", 1], r"known are.*conference.*squared"),
    "scaling": (["foo", 1, True], r"known are.*range"),
    "sparsity_test": (["foo", None], r"known are.*global.*local"),
    "max_iter": ([0, None], r"whole number of at least 1"),
    "tol": ([-1, np.nan], r"at least 0"),
}


@pytest.mark.parametrize("word", BAD)
def test_bad_words(word):
    values, message = BAD[word]
    for value in values:
        refused(rf"\({word}={re.escape(repr(value))}\).*({message})", **{word: value})


def test_a_sparsity_too_large_names_what_is_feasible():
    message = refused(r"sparsity=100000.0.*no cluster wants any row.*0 <= lambda < ", sparsity=1e5)
    limit = float(re.search(r"lambda < ([\d.e+-]+?)\. ", message)[1])
    refused(r"no cluster wants any row", sparsity=1.01 * limit)
    assert sequential(sparsity=0.001 * limit).fit(blobs()).n_clusters_ >= 1


@pytest.mark.parametrize("adaptation", ["conference", "squared"])
@pytest.mark.parametrize("words", [{}, {"scaling": None}, {"kernel": "rbf", "gamma": 0.1, "n_landmarks": None}])
@pytest.mark.parametrize("rows", [np.zeros((50, 3)), np.full((50, 2), -1e9), np.array([[2.0, -7.0]])], ids=["zeros", "far", "one row"])
def test_rows_that_are_all_equal(adaptation, words, rows):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SequentialPossibilisticCMeans", UserWarning)
        model = sequential(adaptation=adaptation, **words).fit(rows)
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.labels_, 0)
    assert (model.eta_ > 0).all()


@pytest.mark.filterwarnings("ignore:.*collapsed:UserWarning")
@pytest.mark.parametrize("adaptation", ["conference", "squared"])
@pytest.mark.parametrize("sparsity", ["auto", 0])
def test_two_rows(adaptation, sparsity):
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    model = sequential(adaptation=adaptation, sparsity=sparsity).fit(X)
    assert model.n_clusters_ in (1, 2)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("adaptation", ["conference", "squared"])
@pytest.mark.parametrize("words", [{}, {"n_new": 3}, {"seed_quantile": 0.9}, {"patience": 1}])
def test_three_rows_a_hundred_times_each(adaptation, words):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [1.0, 9.0]], 100, axis=0)
    model = sequential(adaptation=adaptation, **words).fit(X)
    assert model.n_clusters_ <= 3
    assert (model.labels_ >= 0).all()
    assert all(len(set(model.labels_[100 * j : 100 * j + 100])) == 1 for j in range(3))


@pytest.mark.parametrize("adaptation", ["conference", "squared"])
def test_many_zeros(adaptation):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 1)) < 0.75, 0.0, rng.exponential(size=(300, 4)) + 2)
    for rows in (X, sparse.csr_array(X)):
        model = sequential(adaptation=adaptation, sparsity=0).fit(rows)
        assert np.isfinite(model.memberships_).all()
        assert len(set(model.labels_[(X == 0).all(axis=1)])) == 1


def test_constant_features_do_not_matter():
    X, _ = mixture()
    model, other = settled(), sequential().fit(np.column_stack([np.full(len(X), 1e6), X, np.zeros(len(X))]))
    np.testing.assert_array_equal(other.labels_, model.labels_)


@pytest.mark.parametrize("factor", [1e-120, 1e-30, 1e30, 1e120])
def test_ranges_of_any_size(factor):
    X, _ = mixture()
    np.testing.assert_array_equal(sequential().fit(X * factor).labels_, settled().labels_)
