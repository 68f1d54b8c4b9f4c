"""Adaptive possibilistic c-means: against the naive loops, across spaces, under changes that must
not matter, and on bad input."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache
from math import exp

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import naive
import naive_sparse
from cmeans import AdaptivePossibilisticCMeans, Landmarks
from cmeans.datasets import make_s_set
from cmeans.kernels import Linear, Polynomial
from cmeans.metrics import success_rate
from cmeans.papers import GradientLandmarks, PrintedAdaptivePossibilisticCMeans
from contracts.arrays import cut_raggedly
from limited import within
from naive_sparse import Recipe
from sweep_choices import once

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")]
# a run cut short leaves clusters that would have gone in the next sweep
few_sweeps = pytest.mark.filterwarnings(
    "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning",
    "ignore:.*(hold no row|centres coincide):UserWarning",
)

N = 72
START = np.array([0, 3, 1, 4, 2, 5, 71])  # two rows of each blob, and a far one
P = 0.5
FORMS = {
    "length": {"adaptation": "length", "sparsity": 0.1, "sparsity_test": "local"},
    "length, beta": {
        "adaptation": "length",
        "sparsity": 0.3,
        "sparsity_test": "global",
        "beta": 0.3,
        "p": 0.4,
    },
    "length, auto": {"adaptation": "length", "sparsity": "auto"},
    "length, not sparse": {"adaptation": "length", "sparsity": 0},
    "squared": {"adaptation": "squared", "sparsity": 0.05},
    "squared, auto": {"adaptation": "squared", "sparsity": "auto", "p": 0.3, "beta": 0.2},
    "scale-free": {"adaptation": "scale-free", "sparsity": "auto"},
    "scale-free, alpha": {
        "adaptation": "scale-free",
        "sparsity": "auto",
        "alpha": 1.6,
        "p": 0.2,
        "sparsity_test": "local",
    },
    "scale-free, not sparse": {"adaptation": "scale-free", "sparsity": 0.0, "pilot_m": 1.7},
    "scale-free, lambda": {"adaptation": "scale-free", "sparsity": 0.02},
    "scale-free, too sparse": {"adaptation": "scale-free", "sparsity": 0.2},
    "fixed": {"adaptation": None, "sparsity": 0},
    "fixed, sparse": {"adaptation": None, "sparsity": "auto", "pilot_m": 1.5},
}
over_forms = pytest.mark.parametrize("form", FORMS)


@cache
def blobs(n: int = N) -> np.ndarray:
    """Three blobs of unequal width on [0, 10], and rows far from all."""
    rng = np.random.default_rng(2)
    member = np.arange(n) % 3
    X = (
        np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 7.0]])[member]
        + rng.normal(size=(n, 2)) * np.array([0.4, 0.7, 0.9])[member, None]
    )
    X[-3:] = [[9.0, 9.0], [9.2, 8.9], [4.0, 4.0]]
    return naive_sparse.to_ten(X)


def recipe_of(
    adaptation="scale-free", sparsity="auto", p=P, sparsity_test="global", alpha=1.0, **_
) -> Recipe:
    automatic = (0.2 if adaptation == "squared" else 0.9) * min(1.0, p * exp(2 - 2 * p))
    form = Recipe(p=p, test=sparsity_test, adaptation=adaptation, alpha=alpha)
    form = replace(form, reach=3.0 if adaptation == "length" else 0.0)
    return replace(form, factor=automatic) if sparsity == "auto" else replace(form, lam=sparsity)


@cache
def first_state(form, sweeps, copies=False):
    """Centres and scales to start from; fuzzy ones where the form wants them."""
    X, V, words = repeated() if copies else blobs(), blobs()[START], FORMS[form]
    if words["adaptation"] in ("length", "squared"):
        return V, naive_sparse.beta_scales(V, words.get("beta", 0.1))
    m = words.get("pilot_m", 2.0)
    if words["adaptation"] == "scale-free":
        return naive_sparse.fuzzy_pilot(X, V, m=m, sweeps=sweeps)
    pilot = naive.fcm_points(X, V, m, sweeps)
    return pilot.centers, naive.possibilistic_scales(pilot.d2, pilot.memberships, m)


@cache
def naive_run(form, sweeps, copies=False):
    X = repeated() if copies else blobs()
    return naive_sparse.adaptive(
        X, *first_state(form, sweeps, copies), recipe_of(**FORMS[form]), tol=0, max_sweeps=sweeps
    )


def weights():
    return 1 + np.arange(N) % 3


def repeated():
    return np.repeat(blobs(), weights(), axis=0)


def widths(found, form, sweeps):
    """The bandwidths that memberships see."""
    return naive_sparse.bandwidths(
        found.eta, float(min(first_state(form, sweeps)[1])), recipe_of(**FORMS[form])
    )


def class_for(words):
    """The estimator, or that of the forms which papers print."""
    printed = {"adaptation", "sparsity_test", "beta"} & set(words)
    return PrintedAdaptivePossibilisticCMeans if printed else AdaptivePossibilisticCMeans


def adaptive(n=7, **words):
    return class_for(words)(
        **{"n_clusters": (1, n), "alpha": 1.0, "pilot_m": 2.0, "random_state": 0, **words}
    )


def objective(X, V, u, gamma, lam, p):
    """The printed one, and gamma_j for each row and cluster."""
    return naive_sparse.objective(naive.point_distances(X, V), u, gamma, lam, p) + len(X) * sum(
        gamma
    )


# ----------------------------------------------------------------------------------- the naive twin


@few_sweeps
@pytest.mark.usefixtures("sweeps")
@over_forms
def test_every_sweep_is_the_naive_one(form, monkeypatch):
    cut_raggedly(monkeypatch)
    X = blobs()
    counts = []
    for sweeps in (2, 6):
        found = naive_run(form, sweeps)
        gamma = widths(found, form, sweeps)
        model = adaptive(**FORMS[form], scaling=None, init=X[START], max_iter=sweeps, tol=0).fit(X)
        assert len(model.cluster_centers_) == len(found.centers)
        np.testing.assert_allclose(model.cluster_centers_, found.centers, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.eta_, gamma, rtol=1e-9)
        np.testing.assert_allclose(model.memberships_, found.memberships, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(model.labels_, found.labels)
        assert model.objective_ == pytest.approx(
            objective(
                X, found.centers, found.memberships, gamma, found.lam, FORMS[form].get("p", P)
            ),
            rel=1e-9,
        )
        counts.append(len(found.centers))
    # the fuzzy run that goes before others has as many sweeps
    if FORMS[form]["adaptation"] in ("length", "squared"):
        assert counts == sorted(counts, reverse=True)


def test_clusters_go_in_these_runs():
    """Else the comparison above would say nothing of it."""
    last = {form: len(naive_run(form, 6).centers) for form in FORMS}
    assert sum(count < len(START) for count in last.values()) >= 6
    assert len(set(last.values())) >= 3


@few_sweeps
@pytest.mark.parametrize("form", ["length", "squared", "scale-free", "fixed, sparse"])
@pytest.mark.parametrize("init", ["rows", "points"])
def test_features_brought_to_ten_inside(form, init):
    """The same run from rows in any units; centres come back in those."""
    X = blobs()
    factor, shift = np.array([1e-3, 70.0]), np.array([5.0, -2e3])
    raw = X * factor + shift
    for sweeps in (1, 3, 6):
        found = naive_run(form, sweeps)
        model = adaptive(
            **FORMS[form], init=START if init == "rows" else raw[START], max_iter=sweeps, tol=0
        ).fit(raw)
        np.testing.assert_allclose(
            (model.cluster_centers_ - shift) / factor, found.centers, rtol=0, atol=1e-8
        )
        np.testing.assert_allclose(model.eta_, widths(found, form, sweeps), rtol=1e-8)
        np.testing.assert_allclose(model.memberships_, found.memberships, rtol=0, atol=1e-8)
        np.testing.assert_array_equal(model.labels_, found.labels)


@few_sweeps
@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("form", ["length, auto", "squared", "scale-free"])
def test_weights_are_copies_to_the_naive_twin_too(form, monkeypatch):
    cut_raggedly(monkeypatch)
    X, found = blobs(), naive_run(form, 6, copies=True)
    model = adaptive(**FORMS[form], scaling=None, init=X[START], max_iter=6, tol=0).fit(
        X, sample_weight=weights() * 0.25
    )
    np.testing.assert_allclose(model.cluster_centers_, found.centers, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        np.repeat(model.memberships_, weights(), axis=0), found.memberships, rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(np.repeat(model.labels_, weights()), found.labels)


def test_pcm_of_1996():
    """Scales fixed and no sparsity: centres are means by exp(-d2 / eta)."""
    X = blobs()
    model = adaptive(
        3, adaptation=None, sparsity=0, scaling=None, init=START[::2][:3], tol=1e-10
    ).fit(X)
    d2 = naive.point_distances(X, model.cluster_centers_)
    u = np.exp(-d2 / model.eta_)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-9)
    np.testing.assert_allclose(model.cluster_centers_, u.T @ X / u.sum(axis=0)[:, None], atol=1e-6)
    assert (model.labels_ >= 0).all()


def test_where_no_cluster_wants_any_row_the_sweep_before_was_the_last():
    X, words = blobs(), FORMS["scale-free, too sparse"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = adaptive(**words, scaling=None, init=X[START]).fit(X)
    assert model.converged_
    assert model.n_clusters_ >= 1
    assert (model.labels_ >= 0).any()


def test_eta_is_what_a_clusters_own_rows_deviate():
    X = blobs(300)
    for adaptation, sparsity in (("length", 0.05), ("squared", 0.05), ("scale-free", "auto")):
        model = adaptive(
            8,
            adaptation=adaptation,
            sparsity=sparsity,
            scaling=None,
            alpha=1.5,
            tol=1e-8,
            max_iter=1000,
        ).fit(X)
        assert model.converged_
        own = [X[model.labels_ == j] for j in range(model.n_clusters_)]
        lengths = [np.linalg.norm(rows - rows.mean(axis=0), axis=1) for rows in own]
        deviations = np.array(
            [(length**2 if adaptation == "squared" else length).mean() for length in lengths]
        )
        ratio = model.eta_ / deviations
        np.testing.assert_allclose(
            ratio, ratio[0] if adaptation == "scale-free" else 1.0, rtol=1e-6
        )


def test_alpha_narrows():
    X = blobs(300)
    wide, narrow = (adaptive(10, alpha=alpha).fit(X) for alpha in (0.7, 3.0))
    assert narrow.eta_.max() < wide.eta_.min()
    assert narrow.n_clusters_ >= wide.n_clusters_


# ------------------------------------------------------------------------------------------- spaces


@cache
@within()
def in_the_plain_space(form):
    return adaptive(**FORMS[form], init=START, tol=1e-6).fit(blobs())


def same(model, other, atol=1e-7):
    assert model.n_clusters_ == other.n_clusters_
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=atol)
    np.testing.assert_allclose(model.eta_, other.eta_, rtol=1e-6)


@pytest.mark.parametrize(
    "form", [form for form in FORMS if form not in ("squared, auto", "scale-free, too sparse")]
)
@pytest.mark.parametrize(
    "words",
    [
        {"landmarks": Landmarks(40, method="uniform")},
        {"landmarks": np.arange(N)},
        {"landmarks": GradientLandmarks(points=np.arange(N))},
    ],
)
def test_landmarks_that_span_everything_are_the_plain_space(form, words):
    if words.get("landmarks", 0) is not None and "not sparse" in form:
        words = {**words, "landmarks": np.arange(0, N, 5)}
    X = blobs()
    landmarks = adaptive(**FORMS[form], init=START, tol=1e-6, kernel=Linear(), **words).fit(X)
    same(landmarks, in_the_plain_space(form))
    np.testing.assert_allclose(
        landmarks.transform(X), in_the_plain_space(form).transform(X), atol=1e-6
    )
    assert not hasattr(landmarks, "cluster_centers_")


@pytest.mark.parametrize(
    "form",
    [
        "squared",
        "scale-free",
        "scale-free, alpha",
        "scale-free, not sparse",
        "fixed",
        "fixed, sparse",
    ],
)
def test_the_exact_space_of_inner_products_is_the_plain_space(form):
    """Not in the form "length", which takes its unit of length from the rows' diameter for all
    kernels but the linear one."""
    X = blobs()
    words = {"kernel": Polynomial(degree=1, gamma=1.0, coef0=0.0)}
    same(
        adaptive(**FORMS[form], init=START, tol=1e-6, landmarks=None, **words).fit(X),
        in_the_plain_space(form),
    )
    same(
        adaptive(**FORMS[form], init=START, tol=1e-6, landmarks=np.arange(N), **words).fit(X),
        in_the_plain_space(form),
    )


@pytest.mark.parametrize("form", ["length, auto", "length, not sparse"])
def test_the_conference_form_in_other_spaces_has_a_tenth_of_the_diameter_as_its_unit(form):
    X = blobs()
    one = naive_sparse.farthest_row(X, X.mean(axis=0)[None])
    unit = 0.1 * np.linalg.norm(X[one] - X, axis=1).max()
    plain = adaptive(**FORMS[form], scaling=None, init=START, tol=1e-6).fit(X / unit)
    words = {"kernel": Polynomial(degree=1, gamma=1.0, coef0=0.0), "landmarks": None}
    exact = adaptive(**FORMS[form], scaling=None, init=START, tol=1e-6, **words).fit(X)
    np.testing.assert_array_equal(exact.labels_, plain.labels_)
    np.testing.assert_allclose(exact.memberships_, plain.memberships_, atol=1e-7)
    np.testing.assert_allclose(exact.eta_, plain.eta_ * unit**2, rtol=1e-7)


@pytest.mark.parametrize("form", ["length, auto", "squared", "scale-free", "fixed, sparse"])
def test_all_landmarks_and_a_precomputed_kernel_are_the_exact_space(form):
    X = blobs()
    words = {**FORMS[form], "init": START, "scaling": None, "tol": 1e-6}
    exact = adaptive(**words, kernel="rbf", gamma=0.05, landmarks=None).fit(X)
    assert 1 < exact.n_clusters_ < len(START)
    assert exact.converged_
    same(
        adaptive(**words, kernel="rbf", gamma=0.05, landmarks=np.arange(N)).fit(X), exact, atol=1e-6
    )
    same(adaptive(**words, kernel="precomputed").fit(rbf_kernel(X, gamma=0.05)), exact)


def test_scaling_leaves_kernel_values_alone():
    K = rbf_kernel(blobs(), gamma=0.05)
    models = [adaptive(kernel="precomputed", scaling=scaling).fit(K) for scaling in ("range", None)]
    np.testing.assert_array_equal(models[0].memberships_, models[1].memberships_)


# ------------------------------------------------------------------------ the clusters of a mixture


@cache
def mixture(n=900, noise=0.03, seed=4):
    return make_s_set(6, n, noise=noise, random_state=seed)


def default(n=12, **words):
    return class_for(words)((1, n), random_state=0, **words)


@cache
def settled(**words):
    """The fit of the mixture, which many tests compare with and none may change."""
    return default(**words).fit(mixture()[0])


def rate(model, X, y, rows=None):
    rows = np.flatnonzero(y >= 0) if rows is None else rows
    return success_rate(
        y[rows], model.labels_[rows], nearest=model.transform(X[rows]).argmin(axis=1)
    )


# ------------------------------------------------------------------------------------------- starts


@pytest.mark.parametrize(
    ("init", "adaptation"),
    once(["k-means++", "k-means||", "max-min", "random", "random-partition"], ["scale-free", None]),
)
def test_starts_by_name(init, adaptation):
    X, y = mixture()
    model, again = (default(init=init, adaptation=adaptation).fit(X) for _ in range(2))
    assert 6 <= model.n_clusters_ <= 7
    assert rate(model, X, y) > 0.9
    np.testing.assert_array_equal(again.memberships_, model.memberships_)


@pytest.mark.parametrize("init", ["k-means++", "max-min"])
@pytest.mark.parametrize("sparsity", [0, 0.05, "auto"])
@pytest.mark.parametrize("adaptation", ["length", "squared"])
def test_starts_by_name_that_need_no_pilot(init, sparsity, adaptation):
    X, y = mixture()
    model = default(init=init, adaptation=adaptation, sparsity=sparsity).fit(X)
    assert 5 <= model.n_clusters_ <= 7
    assert rate(model, X, y) > 0.8


def test_max_min_starts_where_rows_are_far_apart():
    """All rows given are clusters to start from; with as many as there are blobs each gets one."""
    X = blobs()[:-3]
    model = adaptive(3, init="max-min", adaptation="length", sparsity=0, max_iter=300).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(np.arange(len(X)) % 3, model.labels_) > 0.95


def test_starts_given():
    X = blobs()
    words = {"tol": 1e-6, "adaptation": "scale-free"}
    by_row = adaptive(init=START, **words).fit(X)
    by_point = adaptive(init=X[START], **words).fit(X)
    np.testing.assert_allclose(by_point.memberships_, by_row.memberships_, atol=1e-12)
    goes_on = adaptive(by_row.n_clusters_, init=by_row, **words).fit(X)
    assert goes_on.n_clusters_ <= by_row.n_clusters_
    one_hot = np.eye(7)[np.arange(N) % 7]
    partition = adaptive(init=np.arange(N) % 7, **words).fit(X)
    np.testing.assert_array_equal(
        adaptive(init=one_hot, **words).fit(X).memberships_, partition.memberships_
    )


def test_points_to_start_from_are_in_the_units_of_the_rows():
    X, _ = mixture()
    X = X * np.array([1.0, 1e4])
    rows = np.arange(12)
    np.testing.assert_allclose(
        default(init=X[rows]).fit(X).memberships_, default(init=rows).fit(X).memberships_, atol=1e-7
    )


def test_several_fuzzy_runs():
    """The best of them is built on, and all are counted."""
    X, _ = mixture()
    one, five = settled(init="random"), default(init="random", n_init=5).fit(X)
    assert five.row_visits_ > one.row_visits_
    assert 5 <= five.n_clusters_ <= 7


def test_the_pilots_fuzzifier():
    X, _ = mixture()
    assert settled().pilot_m_ == 2
    assert default(pilot_m=1.4).fit(X).pilot_m_ == 1.4
    assert 1 < default(pilot_m="auto").fit(X).pilot_m_ <= 2
    assert not hasattr(default(adaptation="length").fit(X), "pilot_m_")


def test_a_pilot_that_is_too_fuzzy_is_told_of():
    X = np.random.default_rng(0).normal(size=(200, 8))
    with pytest.warns(
        UserWarning, match=r'AdaptivePossibilisticCMeans: the 6 centres.*pilot_m=9.*pilot_m="auto"'
    ):
        assert adaptive(6, pilot_m=9.0, init="random-partition").fit(X).n_clusters_ == 1


# ------------------------------------------------------------------------------ noise and real data


# On one draw in a dozen (random_state=1) a wide cluster takes the noise.
@pytest.mark.parametrize("draw", [0, 3])
def test_fifteen_clusters_in_noise(draw):
    X, y = make_s_set(15, 3000, noise=0.05, random_state=draw)
    model = AdaptivePossibilisticCMeans((1, 30), alpha=1.0, random_state=0).fit(X)
    assert model.n_clusters_ == 15
    nowhere = model.labels_ == -1
    assert nowhere[y < 0].mean() >= 0.5
    assert nowhere[y >= 0].mean() <= 0.25
    assert model.row_visits_ <= 200 * len(X)
    assert model.converged_
    by_default = AdaptivePossibilisticCMeans((1, 30), random_state=0).fit(X)
    assert 14 <= by_default.n_clusters_ <= 15  # two that touch may be one
    nowhere = by_default.labels_ == -1
    assert nowhere[y < 0].mean() >= 0.2  # others lie within clusters
    assert nowhere[y >= 0].mean() <= 0.015


# ---------------------------------------------------------------------------------------- questions


def test_rows_beyond_every_radius_belong_nowhere():
    X = blobs(150)
    model = adaptive(9).fit(X)
    far = np.array([[100.0, -100.0], [1e6, 0.0]])
    assert model.predict(far).tolist() == [-1, -1]
    np.testing.assert_array_equal(model.typicality(far), 0)
    np.testing.assert_array_equal(model.outlier_score(far), 1)
    assert set(model.predict(model.cluster_centers_)) == set(range(model.n_clusters_))
    everywhere = adaptive(9, sparsity=0).fit(X)
    assert (everywhere.labels_ >= 0).all()
    assert (everywhere.predict(far[:1]) >= 0).all() or everywhere.typicality(far[:1]).max() == 0


def test_representatives_are_a_clusters_own_rows():
    X = blobs(150)
    model = adaptive(9).fit(X)
    listed = model.representatives(4)
    assert listed.shape == (model.n_clusters_, 4)
    for j, rows in enumerate(listed):
        assert (model.labels_[rows[rows >= 0]] == j).all()
    assert not np.isin(listed[listed >= 0], np.flatnonzero(model.labels_ == -1)).any()


def test_automatic_sparsity_is_no_advice_where_it_is_the_word():
    """Starts that nearly coincide are too narrow to want a row."""
    said = []
    for count in range(3, 9):
        try:
            said.append(
                str(
                    adaptive(count, adaptation="length", init=np.arange(N) % count)
                    .fit(blobs())
                    .n_clusters_
                )
            )
        except ValueError as error:
            said.append(str(error))
    assert len(said) == 6
    assert not [message for message in said if 'or "auto"' in message]


# ----------------------------------------------------------------------------------------- odd rows


over_adaptations = pytest.mark.parametrize("adaptation", ["scale-free", "length", "squared", None])


@over_adaptations
def test_fewer_rows_than_clusters(adaptation):
    X = blobs(9)
    model = default(50, adaptation=adaptation).fit(X)
    assert 1 <= model.n_clusters_ <= 9
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(
        default(9, adaptation=adaptation).fit(X).memberships_, model.memberships_
    )


@pytest.mark.parametrize("zeros", [30, 100, 300])
@pytest.mark.parametrize("adaptation", ["scale-free", "length", None])
def test_clusters_beside_rows_that_coincide(zeros, adaptation):
    """Rows that coincide are a cluster, and no measure for the others."""
    rng = np.random.default_rng(0)
    X = np.vstack(
        [
            rng.normal(size=(50, 2)) * 0.5 + [5, 1],
            rng.normal(size=(50, 2)) * 0.5 + [2, 7],
            np.zeros((zeros, 2)),
        ]
    )
    model = default(8, adaptation=adaptation).fit(X)
    assert 3 <= model.n_clusters_ <= 6
    assert len(set(model.labels_[100:])) == 1
    assert model.labels_[100] >= 0
    assert (model.labels_[:100] == -1).mean() < 0.6
    assert not set(model.labels_[:50]) & set(model.labels_[50:100]) - {-1}


def test_advice_names_words_that_exist():
    """Two fixed scales of one place."""
    X = np.random.default_rng(1).uniform(size=(120, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = default(6, adaptation=None, sparsity=0).fit(X)
    words = set(model.get_params())
    for message in (str(w.message) for w in caught):
        assert message.startswith("AdaptivePossibilisticCMeans")
        assert set(re.findall(r"\b[a-z]+_[a-z]+\b", message)) <= words, message


@pytest.mark.filterwarnings("ignore:.*centres coincide:UserWarning")
@over_adaptations
def test_uniform_noise_and_single_columns(adaptation):
    for d in (1, 5):
        X = np.random.default_rng(d).uniform(size=(120, d))
        model = default(6, adaptation=adaptation, sparsity=0).fit(X)
        assert 1 <= model.n_clusters_ <= 6
        assert np.isfinite(model.objective_)
        assert len(model.eta_) == model.n_clusters_


def test_rows_that_are_left_out_are_told_of():
    """Where they are most."""
    X = blobs()
    with pytest.warns(
        UserWarning,
        match=r"AdaptivePossibilisticCMeans: [5-9]\d% of the rows belong nowhere.*smaller sparsity",
    ):
        model = adaptive(alpha=4.0).fit(X)
    assert (model.labels_ == -1).mean() > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adaptive(alpha=4.0, sparsity=0).fit(X)


def test_largest_distances_are_no_cause_of_a_wrong_number():
    """A single row a thousand times as far as all others."""
    X, _ = mixture()
    rows = np.vstack([X, [[30.0, 30.0]]])
    model = default(scaling=None).fit(rows)
    assert 6 <= model.n_clusters_ <= 7
    assert pdist(model.cluster_centers_).min() > 0.1


@pytest.mark.parametrize(("clusters", "rows", "seed"), [(6, 900, 0), (10, 1000, 2)])
def test_an_automatic_alpha_finds_the_same_from_any_number(clusters, rows, seed):
    """Eight times too many is as good as half as many again; alpha=1 ends with one too many there,
    from so many by a fuzzy run at 2."""
    X, y = make_s_set(clusters, rows, random_state=seed)
    for start in (3 * clusters // 2, 8 * clusters):
        model = AdaptivePossibilisticCMeans((1, start), alpha="auto", random_state=0).fit(X)
        assert model.n_clusters_ == clusters
        assert model.converged_
    assert rate(model, X, y) > 0.95
    assert (
        AdaptivePossibilisticCMeans((1, 8 * clusters), alpha=1.0, random_state=0).fit(X).n_clusters_
        == clusters + 1
    )


def test_an_automatic_alpha_is_of_the_journal_form_alone():
    """Elsewhere there is nothing to widen: it is taken as 1."""
    X, _ = make_s_set(4, 300, random_state=0)
    for adaptation in ("length", None):
        plain, automatic = (
            PrintedAdaptivePossibilisticCMeans(
                (1, 8), adaptation=adaptation, alpha=alpha, random_state=0
            ).fit(X)
            for alpha in (1.0, "auto")
        )
        np.testing.assert_array_equal(plain.labels_, automatic.labels_)
    with pytest.raises(ValueError, match='alpha must be "auto" or a number greater than 0'):
        AdaptivePossibilisticCMeans((1, 8), alpha="wide").fit(X)
