"""What both estimators share that find the number of clusters themselves: what must not matter,
questions, bad words, odd rows."""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from cmeans.datasets import make_s_set
from cmeans.kernels import Polynomial
from cmeans.metrics import success_rate
from cmeans.papers import GradientLandmarks, PrintedAdaptivePossibilisticCMeans
from contracts.arrays import cut_raggedly
from every_estimator import CLASSES, FINDING
from limited import limited, within
from sweep_choices import often

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")]

ADAPTIVE, SEQUENTIAL = FINDING
LANDMARKS = {"kernel": "rbf", "gamma": "median", "landmarks": 40}
WIDE = {"kernel": "rbf", "gamma": 0.1, "landmarks": None}
# Every form of each, with fuzzy starts and others, and several seeds at a time.
VARIANTS = [
    (ADAPTIVE, {}),
    (ADAPTIVE, {"adaptation": "length"}),
    (ADAPTIVE, {"adaptation": "length", "init": "max-min"}),
    (ADAPTIVE, {"adaptation": None}),
    (ADAPTIVE, LANDMARKS),
    (SEQUENTIAL, {}),
    (SEQUENTIAL, {"n_new": 3}),
    (SEQUENTIAL, {"adaptation": "squared"}),
]
FORMS = {ADAPTIVE: ("scale-free", "length", "squared", None), SEQUENTIAL: ("length", "squared")}
few_sweeps = pytest.mark.filterwarnings(
    "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
)
over_estimators = pytest.mark.parametrize("name", FINDING)
over_variants = pytest.mark.parametrize(("name", "words"), VARIANTS, ids=str)
over_adaptations = pytest.mark.parametrize(
    ("name", "adaptation"), [(name, form) for name in FINDING for form in FORMS[name]]
)


def class_for(name, words):
    """The estimator, or that of the forms which papers print."""
    printed = {"adaptation", "sparsity_test", "beta"} & set(words)
    return PrintedAdaptivePossibilisticCMeans if printed and name == ADAPTIVE else CLASSES[name]


def made(name, most=12, **words):
    bounds = (1, most) if isinstance(most, int) else most
    return class_for(name, words)(bounds, **{"random_state": 0, **words})


@cache
def mixture(name, n=300):
    """Six clusters; in noise where a far row does not end the growth."""
    return make_s_set(6, n, noise=0.03 if name == ADAPTIVE else 0.0, random_state=4)


@cache
@within()
def _settled(name, words):
    return made(name, **dict(words)).fit(mixture(name)[0])


def settled(name, **words):
    """The fit of the mixture, which many tests compare with and none may change."""
    return _settled(name, tuple(words.items()))


@cache
def blobs(n=90):
    """Three blobs of unequal width on [0, 10], and rows far from all."""
    rng = np.random.default_rng(2)
    member = np.arange(n) % 3
    X = (
        np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 7.0]])[member]
        + rng.normal(size=(n, 2)) * np.array([0.4, 0.7, 0.9])[member, None]
    )
    X[-3:] = [[9.0, 9.0], [9.2, 8.9], [4.0, 4.0]]
    return 10 * (X - X.min(axis=0)) / np.ptp(X, axis=0)


def rate(model, X, y):
    rows = np.flatnonzero(y >= 0)
    return success_rate(
        y[rows], model.labels_[rows], nearest=model.transform(X[rows]).argmin(axis=1)
    )


@over_estimators
def test_it_finds_the_clusters(name):
    X, y = mixture(name, 600)
    model = made(name).fit(X)
    assert model.n_clusters_ == 6
    assert model.converged_
    assert rate(model, X, y) > 0.95
    if name == ADAPTIVE:
        nowhere = model.labels_ == -1
        assert nowhere[y >= 0].mean() <= 0.02
        assert nowhere[y < 0].mean() >= 5 * nowhere[y >= 0].mean()
        model = made(name, alpha=1.0).fit(X)  # leaves out more, of the clusters' own rows too
    assert np.sum(model.labels_[y < 0] == -1) >= (y < 0).sum() / 2


# ----------------------------------------------------------------------------- what must not matter


UNITS = [
    (ADAPTIVE, {}),
    (ADAPTIVE, {"scaling": None}),
    (SEQUENTIAL, {}),
    (SEQUENTIAL, {"scaling": None, "adaptation": "squared"}),
]


@pytest.mark.parametrize(
    ("case", "factor"), often(2, UNITS, [1e-120, 1e-30, 1e-3, 1e3, 2.0**40, 1e30, 1e120])
)
def test_units_do_not_matter(case, factor):
    name, words = case
    (X, y), model = mixture(name), settled(name, **words)
    other = made(name, **words).fit(X * factor)
    assert other.n_clusters_ == model.n_clusters_
    np.testing.assert_array_equal(other.labels_, model.labels_)
    assert rate(other, X * factor, y) == rate(model, X, y)
    np.testing.assert_allclose(other.memberships_, model.memberships_, atol=1e-6)
    np.testing.assert_allclose(other.cluster_centers_, model.cluster_centers_ * factor, rtol=1e-6)
    if "scaling" in words:
        np.testing.assert_allclose(other.eta_, model.eta_ * factor**2, rtol=1e-6)


@over_estimators
def test_units_of_single_features_do_not_matter(name):
    X, _ = mixture(name)
    np.testing.assert_allclose(
        made(name).fit(X * [1.0, 1e3]).memberships_, settled(name).memberships_, atol=1e-6
    )


@over_estimators
@pytest.mark.parametrize(
    "shift", [np.array([-0.5, 3.0]), np.array([1e4, -1e4]), np.array([0.0, 1e9])]
)
def test_the_origin_does_not_matter(name, shift):
    (X, y), model = mixture(name), settled(name)
    other = made(name).fit(X + shift)
    assert other.n_clusters_ == model.n_clusters_
    assert rate(other, X + shift, y) == pytest.approx(rate(model, X, y), abs=0.003)
    np.testing.assert_allclose(other.memberships_, model.memberships_, atol=1e-4)


@over_variants
def test_the_order_of_rows_does_not_matter(name, words):
    """Where no two rows are equally far."""
    (X, _), model = mixture(name), settled(name, **words)
    order = np.random.default_rng(0).permutation(len(X))
    other = made(name, **words).fit(X[order])
    assert other.n_clusters_ == model.n_clusters_
    np.testing.assert_array_equal(other.labels_, model.labels_[order])
    np.testing.assert_allclose(other.memberships_, model.memberships_[order], atol=1e-6)


@over_variants
def test_copies_are_weights_and_only_ratios_of_weights_count(name, words):
    (X, _), model = mixture(name), settled(name, **words)
    copies = made(name, **words).fit(np.vstack([X, X]))
    weighted = made(name, **words).fit(X, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_array_equal(copies.labels_, np.tile(model.labels_, 2))
    np.testing.assert_array_equal(weighted.labels_, model.labels_)
    np.testing.assert_allclose(copies.memberships_[: len(X)], model.memberships_, atol=1e-6)
    np.testing.assert_allclose(weighted.memberships_, model.memberships_, atol=1e-6)
    np.testing.assert_allclose(copies.eta_, model.eta_, rtol=1e-6)
    np.testing.assert_allclose(weighted.eta_, model.eta_, rtol=1e-9)
    assert weighted.objective_ == pytest.approx(2 * model.objective_, rel=1e-9)
    assert copies.objective_ == pytest.approx(2 * model.objective_, rel=1e-6)


@over_estimators
def test_uneven_weights_are_uneven_copies(name):
    X, _ = mixture(name)
    count = np.random.default_rng(1).integers(1, 4, size=len(X))
    weighted, copies = (
        made(name).fit(X, sample_weight=count),
        made(name).fit(np.repeat(X, count, axis=0)),
    )
    np.testing.assert_array_equal(copies.labels_, np.repeat(weighted.labels_, count))
    np.testing.assert_allclose(copies.eta_, weighted.eta_, rtol=1e-6)


@over_adaptations
def test_rows_of_weight_zero_are_labelled_and_do_not_count(name, adaptation):
    X, _ = mixture(name)
    extra = np.vstack([[[0.5, 0.5]] * 40, [[1e4, 1e4]] * 40, [[-9.0, 0.0]]])
    model = made(name, adaptation=adaptation).fit(
        np.vstack([extra, X]), sample_weight=np.r_[np.zeros(81), np.ones(len(X))]
    )
    alone = settled(name, adaptation=adaptation)
    assert model.n_clusters_ == alone.n_clusters_
    np.testing.assert_allclose(model.cluster_centers_, alone.cluster_centers_, atol=1e-7)
    np.testing.assert_array_equal(model.labels_[81:], alone.labels_)
    np.testing.assert_array_equal(model.labels_[:81], alone.predict(extra))
    assert (model.labels_[40:81] == -1).all()


@over_estimators
def test_constant_features_do_not_matter(name):
    (X, _), model = mixture(name), settled(name)
    other = made(name).fit(np.column_stack([np.full(len(X), 1e6), X, np.zeros(len(X))]))
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_allclose(other.memberships_, model.memberships_, atol=1e-6)
    np.testing.assert_allclose(
        other.cluster_centers_[:, [0, 3]], [[1e6, 0.0]] * model.n_clusters_, rtol=1e-12
    )


@over_estimators
def test_float32(name):
    (X, y), model = mixture(name), settled(name)
    narrow = X.astype(np.float32)
    small = made(name).fit(narrow)
    assert small.n_clusters_ == model.n_clusters_
    for values in (
        small.memberships_,
        small.cluster_centers_,
        small.transform(narrow[:5]),
        small.typicality(narrow),
    ):
        assert values.dtype == np.float32
    assert small.eta_.dtype == np.float64
    assert (small.labels_ == model.labels_).mean() > 0.99
    assert rate(small, narrow, y) == pytest.approx(rate(model, X, y), abs=0.005)
    np.testing.assert_array_equal(small.predict(narrow), small.labels_)


@few_sweeps
@pytest.mark.parametrize(
    ("name", "words"),
    [(ADAPTIVE, {}), (ADAPTIVE, {"scaling": None}), (ADAPTIVE, LANDMARKS), (SEQUENTIAL, {})],
    ids=str,
)
def test_csr_equals_dense(name, words):
    X, _ = mixture(name)
    X = np.where(X < 0.15, 0.0, X)
    dense, rows = (
        made(name, max_iter=8, **words).fit(form(X)) for form in (np.asarray, sparse.csr_array)
    )
    assert rows.n_clusters_ == dense.n_clusters_
    np.testing.assert_array_equal(rows.labels_, dense.labels_)
    np.testing.assert_allclose(rows.memberships_, dense.memberships_, atol=1e-6)
    np.testing.assert_array_equal(rows.predict(sparse.csr_array(X)), rows.labels_)
    if words != LANDMARKS:
        np.testing.assert_allclose(rows.cluster_centers_, dense.cluster_centers_, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((ADAPTIVE, words) for words in ({}, {"adaptation": "length"}, LANDMARKS)),
        *((SEQUENTIAL, {"patience": 1, **words}) for words in ({}, {**LANDMARKS, "sparsity": 0})),
    ],
    ids=str,
)
@few_sweeps
def test_threads_change_no_bit(name, words, sweeps, monkeypatch):
    cut_raggedly(monkeypatch, block=150, tasks=9)
    limited(monkeypatch, canonical_rows=500)
    X = make_s_set(4, 575, noise=0.03 if name == ADAPTIVE else 0.0, random_state=4)[0].astype(
        np.float32 if sweeps == "generic" else float
    )
    one, two = (made(name, 8, n_jobs=n, max_iter=8, **words).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(two.memberships_, one.memberships_)
    np.testing.assert_array_equal(two.eta_, one.eta_)
    np.testing.assert_array_equal(two.labels_, one.labels_)
    assert (two.n_iter_, two.row_visits_) == (one.n_iter_, one.row_visits_)


@over_estimators
def test_the_sample_that_clusters_of_large_inputs_are_looked_for_on(name, monkeypatch):
    """They are settled on all rows."""
    X, y = make_s_set(6, 900, random_state=4)
    whole = made(name).fit(X)
    limited(monkeypatch, adaptive_rows=400, spaced_rows=200)
    sampled, again = (made(name).fit(X) for _ in range(2))
    assert whole.n_clusters_ == sampled.n_clusters_ == 6
    assert sampled.row_visits_ < whole.row_visits_ or name == ADAPTIVE
    assert sampled.labels_.shape == (900,)
    assert rate(sampled, X, y) > 0.95
    np.testing.assert_array_equal(sampled.memberships_, again.memberships_)
    np.testing.assert_array_equal(sampled.predict(X), sampled.labels_)
    weighted = made(name).fit(X, sample_weight=1.0 + (np.arange(900) % 2))
    assert 6 <= weighted.n_clusters_ <= 7


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [(ADAPTIVE, 0.1), pytest.param(SEQUENTIAL, 0.2, marks=pytest.mark.minutes)],
)
def test_number_of_clusters_of_real_data(name, tolerance, load_data):
    """From twice as many as there are, or with no number given: wrong by that part at most, on
    average. Of large sets 900 rows show the same."""
    errors = {}
    for data in (
        "s1",
        "s2",
        "r15",
        "aggregation",
        "unbalance",
    ):
        X, y = load_data(data)
        wanted, step = len(set(y.tolist())), -(-len(X) // 900)
        model = made(name, 2 * wanted if name == ADAPTIVE else 100).fit(X[::step])
        errors[data] = abs(model.n_clusters_ - wanted) / wanted
    assert np.mean(list(errors.values())) <= tolerance, errors


# ---------------------------------------------------------------------------------------- questions


SPACES = {
    "euclidean": {},
    "unscaled": {"scaling": None},
    "exact": {"kernel": "rbf", "gamma": 0.05, "landmarks": None},
    "landmarks": {"kernel": "rbf", "gamma": 0.05, "landmarks": 30},
    "gradient": {
        "kernel": "rbf",
        "gamma": 0.2,
        "landmarks": GradientLandmarks(12),
        "max_iter": 30,
    },
    "polynomial": {"kernel": Polynomial(degree=2), "landmarks": 20},
    "laplacian": {"kernel": "laplacian", "gamma": 0.05, "landmarks": 30},
}
ASKED = [
    *((ADAPTIVE, space) for space in SPACES),
    *((SEQUENTIAL, space) for space in ("euclidean", "unscaled", "landmarks")),
]


@few_sweeps
@pytest.mark.parametrize(
    ("case", "form"), often(2, ASKED, [np.asarray, sparse.csr_array, np.float32])
)
def test_a_fit_answers_for_its_own_rows(case, form):
    """To the last bit."""
    name, space = case
    rows = form(blobs())
    wide = {"sparsity": 0} if name == SEQUENTIAL and space != "euclidean" else {}
    few = {"max_iter": 30} if form is sparse.csr_array else {}  # whose sweeps are generic
    model = made(name, 9, **{**SPACES[space], **wide, **few}).fit(rows)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    np.testing.assert_array_equal(model.typicality(rows), model.memberships_)
    np.testing.assert_array_equal(model.memberships(rows), model.memberships_)
    np.testing.assert_array_equal(model.outlier_score(rows), 1 - model.memberships_.max(axis=1))
    np.testing.assert_array_equal(model.labels_ == -1, (model.memberships_ == 0).all(axis=1))
    np.testing.assert_array_equal(
        model.labels_[model.labels_ >= 0], model.memberships_.argmax(axis=1)[model.labels_ >= 0]
    )
    assert model.score(rows) == pytest.approx(-model.objective_, rel=1e-9)
    assert model.transform(rows).shape == (90, model.n_clusters_) == model.memberships_.shape
    assert model.eta_.shape == (model.n_clusters_,)
    assert model.objective_history_.shape == (model.n_iter_ + 1,)
    assert not hasattr(model, "predict_proba")
    assert hasattr(model, "pilot_m_") is (name == ADAPTIVE)


@over_estimators
def test_fit_predict_and_fit_transform(name):
    X, _ = mixture(name)
    np.testing.assert_array_equal(made(name).fit_predict(X), settled(name).labels_)
    np.testing.assert_array_equal(made(name).fit_transform(X), settled(name).transform(X))


@over_estimators
def test_a_run_cut_short(name):
    X, _ = mixture(name)
    with pytest.warns(UserWarning, match=rf"{name}: stopped at max_iter=2\b.*raise max_iter"):
        model = made(name, 12 if name == ADAPTIVE else 2, max_iter=2).fit(X)
    assert model.n_iter_ == 2
    assert not model.converged_
    assert len(model.objective_history_) == 3


# ---------------------------------------------------------------------------------------- bad words


def refused(name, pattern, **words):
    model = class_for(name, words)(**{"n_clusters": (1, 6), "random_state": 0, **words})
    with pytest.raises(ValueError, match=rf"{name}.*{pattern}") as caught:
        model.fit(blobs(72))
    assert not hasattr(model, "labels_")
    return str(caught.value)


COUNTS = [0, -1, 2.5, None, "a", True, np.nan]
BAD = {
    "sparsity": (
        [-0.1, np.nan, np.inf, "lots", None, True, [1]],
        r'"auto" or a number of at least 0',
    ),
    "p": ([0, 1, 1.5, -1, np.nan, "half", None], r"p must"),
    "n_clusters": (
        [0, -1, 2.5, None, "a", True, np.nan, (2, 5), (1, 0), (1, 2.5), (1,)],
        r'give "auto", or a range \(1, most\)',
    ),
    "scaling": (["foo", 1, True, "standard"], r"known are.*range"),
    "sparsity_test": (["foo", None, 1], r"known are.*global.*local"),
    "max_iter": ([0, None], r"whole number of at least 1"),
    "tol": ([-1, np.nan], r"at least 0"),
}
OF_ONE = {
    ADAPTIVE: {
        "beta": ([0, 1, 2.0, -0.1, np.nan, "x", None], r"beta must"),
        "alpha": ([0, -1, np.nan, np.inf, "x", None], r"greater than 0"),
        "pilot_m": ([1, 0.5, np.nan, "2", None], r"greater than 1|\"auto\""),
        "n_init": (COUNTS, r"whole number of at least 1"),
        "adaptation": (["foo", 1, True], r"known are.*scale-free.*length.*squared"),
    },
    SEQUENTIAL: {
        "n_neighbors": ([1, *COUNTS], r"whole number of at least 2"),
        "n_new": (COUNTS, r"whole number of at least 1"),
        "patience": (COUNTS, r"whole number of at least 1"),
        "seed_quantile": ([0, -0.5, 1.01, np.nan, np.inf, "x", None], r"0"),
        "adaptation": (["scale-free", None, "foo", 1], r"known are.*length.*squared"),
    },
}


@pytest.mark.parametrize(
    ("name", "word"), [(name, word) for name in FINDING for word in {**BAD, **OF_ONE[name]}]
)
def test_bad_words(name, word):
    values, message = {**BAD, **OF_ONE[name]}[word]
    for value in values:
        refused(name, rf"\({word}={re.escape(repr(value))}\).*({message})", **{word: value})


@pytest.mark.parametrize(
    "word", ["alpha", "beta", "adaptation", "sparsity", "p", "sparsity_test", "scaling"]
)
@pytest.mark.parametrize("adaptation", FORMS[ADAPTIVE])
def test_bad_words_are_refused_where_the_form_has_no_use_for_them(word, adaptation):
    """It would once another form is tried."""
    values, message = {**BAD, **OF_ONE[ADAPTIVE]}[word]
    refused(ADAPTIVE, rf"\({word}=.*({message})", **{"adaptation": adaptation, word: values[0]})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *(
            (ADAPTIVE, {"adaptation": "length", **words})
            for words in ({}, {"sparsity_test": "local"}, {"p": 0.3})
        ),
        *((ADAPTIVE, {"adaptation": form}) for form in ("squared", "scale-free")),
        (SEQUENTIAL, {}),
    ],
    ids=str,
)
def test_a_sparsity_too_large_names_what_is_feasible(name, words):
    message = refused(
        name, r"sparsity=1000000.0.*no cluster wants any row.*0 <= lambda < ", sparsity=1e6, **words
    )
    assert '"auto"' in message
    limit = float(re.search(r"lambda < ([\d.e+-]+?)\. ", message)[1])
    eta, p = float(re.search(r"eta ([\d.e+-]+)\)", message)[1]), words.get("p", 0.5)
    edge = 1.0 if words.get("sparsity_test") == "local" else p - np.log(p)
    assert limit == pytest.approx(eta * np.exp(-edge) / (p * (1 - p)), rel=1e-3)
    refused(name, r"no cluster wants any row", sparsity=1.01 * limit, **words)
    if name == SEQUENTIAL:
        assert made(name, sparsity=0.001 * limit).fit(blobs(72)).n_clusters_ >= 1


@pytest.mark.filterwarnings("ignore:.*hold no row:UserWarning")
def test_halving_what_is_feasible_ends_in_a_fit():
    """What is named is what the clusters of that sweep bear; they may be narrower in a later
    one."""
    sparsity, words = 1e6, {"adaptation": "length"}
    for _ in range(6):
        message = refused(ADAPTIVE, r"no cluster wants any row", sparsity=sparsity, **words)
        limit = float(re.search(r"lambda < ([\d.e+-]+?)\. ", message)[1])
        assert limit < sparsity
        sparsity = limit / 2
        try:
            model = made(ADAPTIVE, 6, sparsity=sparsity, **words).fit(blobs(72))
        except ValueError:
            continue
        break
    assert model.n_clusters_ >= 1
    assert (model.labels_ >= 0).any()


# ----------------------------------------------------------------------------------------- odd rows


@over_adaptations
@pytest.mark.parametrize(
    "words", [{}, {"scaling": None}, WIDE], ids=["scaled", "not scaled", "kernel"]
)
@pytest.mark.parametrize(
    "rows",
    [*(np.full((50, 3), value) for value in (0.0, 3.0, -1e9, 1e-200)), np.array([[2.0, -7.0]])],
    ids=["zeros", "threes", "far", "tiny", "one row"],
)
def test_rows_that_are_all_equal(name, adaptation, words, rows):
    """One cluster; no warning of NumPy's, as those are errors here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", name, UserWarning)
        model = made(name, 5, adaptation=adaptation, **words).fit(rows)
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.labels_, 0)
    np.testing.assert_array_equal(model.predict(rows), 0)
    assert np.isfinite(model.eta_).all()
    assert (model.eta_ > 0).all()
    if "kernel" not in words:
        np.testing.assert_allclose(model.cluster_centers_, rows[:1])


@pytest.mark.filterwarnings("ignore:SequentialPossibilisticCMeans.*collapsed:UserWarning")
@over_adaptations
@pytest.mark.parametrize("sparsity", ["auto", 0])
def test_two_rows(name, adaptation, sparsity):
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    model = made(name, 5, adaptation=adaptation, sparsity=sparsity).fit(X)
    assert model.n_clusters_ in (1, 2)
    assert np.isfinite(model.memberships_).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize(
    ("name", "words", "fewest"),
    [
        *(
            (ADAPTIVE, words, 3)
            for words in ({}, {"scaling": None}, {"init": "max-min"}, {**WIDE, "gamma": 0.01})
        ),
        *(
            (SEQUENTIAL, words, 1)
            for words in ({}, {"n_new": 3}, {"seed_quantile": 0.9}, {"patience": 1})
        ),
    ],
    ids=str,
)
def test_three_rows_a_hundred_times_each(name, words, fewest):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [1.0, 9.0]], 100, axis=0)
    for adaptation in FORMS[name]:
        model = made(name, 10, adaptation=adaptation, **words).fit(X)
        assert fewest <= model.n_clusters_ <= 3, adaptation
        assert set(model.labels_) == set(range(model.n_clusters_)), adaptation
        assert all(len(set(model.labels_[100 * j : 100 * j + 100])) == 1 for j in range(3)), (
            adaptation
        )


@over_adaptations
def test_many_zeros(name, adaptation):
    """Three rows of four have no entry at all."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 1)) < 0.75, 0.0, rng.exponential(size=(120, 4)) + 2)
    for rows in (X, sparse.csr_array(X)):
        model = made(name, 8, adaptation=adaptation, sparsity=0).fit(rows)
        assert np.isfinite(model.memberships_).all()
        assert (model.eta_ > 0).all()
        empty = model.labels_[(X == 0).all(axis=1)]
        assert len(set(empty)) == 1
        assert empty[0] >= 0
