"""Centres of length one: what fits do on the sphere, in every space."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import cmeans
import naive
import naive_spherical
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, Landmarks, Search, Sizes
from cmeans.data.blocks import Blocks
from cmeans.kernels import Cosine, Linear, Polynomial
from cmeans.papers import GradientLandmarks
from cmeans.rules import Entropy
from cmeans.spaces import EuclideanSpace
from cmeans.spaces.centres import Centres
from cmeans.tuning.softness import critical_temperature
from contracts.arrays import as_form, cut_raggedly, on_host
from every_estimator import CLASSES, SWEPT, with_parameter
from limited import limited
from sweep_choices import pairs

pytestmark = pytest.mark.slow

N, C = 80, 3
START = np.array([0, 1, 2])
FEW = np.arange(3, N, 6)
FITS = {
    "hard": (partial(KernelKMeans, C, search=None), naive_spherical.hard()),
    "fuzzy": (
        partial(FuzzyCMeans, C, m=1.3, search=Search(None, acceleration=None)),
        naive_spherical.fuzzy(1.3),
    ),
    "entropy": (
        partial(CMeans, C, rule=Entropy(T=0.3), search=Search(None, acceleration=None)),
        naive_spherical.entropy(0.3),
    ),
}
KERNELS = {
    "linear": (naive.cosine, {}),
    "cosine": (naive.cosine, {}),
    "rbf": (partial(naive.rbf, gamma=0.1), {"gamma": 0.1}),
    "polynomial": (
        partial(naive.polynomial, gamma=0.3, coef0=1.0, degree=2),
        {"kernel": Polynomial(gamma=0.3, degree=2)},
    ),
}
SPACES = {
    "whole": {},
    "landmarks": {"landmarks": FEW},
    "gradient": {"landmarks": GradientLandmarks(points=FEW)},
}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(21)
    x = np.array([[2.0, 0, 0, 1, 0], [0, 2.5, 1, 0, 0], [0, 0, 2, 2, 1]])[
        np.arange(N) % C
    ] + rng.normal(scale=0.6, size=(N, 5))
    x[np.abs(x) < 0.2] = 0
    return x * rng.uniform(0.2, 5, size=(N, 1))  # lengths that directions do not depend on


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(22).uniform(0.2, 2, size=N)


def lengths(model):
    return model._space.norms(model._state.centres)


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kernel", "where", "rule", "form", "sweeps"),
    pairs(KERNELS, SPACES, FITS, [np.asarray, sparse.csr_array], ["generic", "native"]),
    indirect=["sweeps"],
)
def test_fits_are_those_of_the_naive_twin(
    kernel, where, rule, form, sweeps, X, weights, monkeypatch
):
    cut_raggedly(monkeypatch)
    made, twin = FITS[rule]
    loop, words = KERNELS[kernel]
    x = X / 4 if kernel == "polynomial" else X
    # an object, which may have landmarks without a warning
    given = Linear() if kernel == "linear" else kernel
    words = {"kernel": given, **words, **SPACES[where], "metric": "cosine", "init": START, "tol": 0}
    model = made(**words, max_iter=6).fit(form(x), sample_weight=weights)
    K = naive.kernel_matrix(x, x, loop)
    basis = np.arange(N) if where == "whole" else FEW
    run = naive_spherical.cmeans(
        K[:, basis], K[np.ix_(basis, basis)], np.diag(K), START, twin, 6, weights
    )
    np.testing.assert_allclose(
        model.objective_history_, run.history[: len(model.objective_history_)], rtol=1e-9
    )
    # hard fits stand still before
    assert model.objective_ == pytest.approx(run.history[-1], rel=1e-9)
    np.testing.assert_allclose(model.memberships_, run.memberships, rtol=0, atol=1e-8)
    np.testing.assert_allclose(lengths(model), 1.0, rtol=1e-9)


@pytest.mark.parametrize("rule", ["hard", "fuzzy"])
def test_text_counts_as_the_formulas_of_spherical_k_means(rule):
    """2 sum u^m (1 - cos), and prototypes that are sums of rows of length one, made of length one:
    loops of Hornik 2012, on counts."""
    rng = np.random.default_rng(4)
    # of six topics, whose words are rare elsewhere
    likely = np.where(np.arange(300) % 6 == np.arange(6)[:, None], 0.25, 0.02)
    counts = sparse.csr_array(rng.poisson(likely[rng.integers(0, 6, 240)]))
    counts = counts[np.flatnonzero(counts.sum(axis=1))].astype(float)
    # a partition: rows share no word with most rows
    m, start = (1.0, 1.2)[rule == "fuzzy"], np.arange(counts.shape[0]) % 6
    unit = counts.toarray() / np.sqrt((counts.toarray() ** 2).sum(axis=1))[:, None]
    sums = np.eye(6)[start].T @ unit
    prototypes = sums / np.sqrt((sums**2).sum(axis=1))[:, None]
    for _ in range(30):
        apart = 1.0 - unit @ prototypes.T
        if m == 1.0:
            u = np.eye(6)[apart.argmin(axis=1)]
        else:
            u = np.maximum(apart, 1e-30) ** (-1.0 / (m - 1.0))
            u /= u.sum(axis=1, keepdims=True)
        sums = (u**m).T @ unit
        prototypes = sums / np.sqrt((sums**2).sum(axis=1))[:, None]
    model = FITS[rule][0](kernel="linear", metric="cosine", init=start, tol=0, max_iter=30)
    model = model.set_params(n_clusters=6, **({"m": m} if rule == "fuzzy" else {}))
    with (
        pytest.warns(Warning, match="stopped at max_iter")
        if rule == "fuzzy"
        else pytest.MonkeyPatch.context()
    ):
        model.fit(counts)
    apart = 1.0 - unit @ prototypes.T
    if m == 1.0:
        u = np.eye(6)[apart.argmin(axis=1)]
    else:
        u = np.maximum(apart, 1e-30) ** (-1.0 / (m - 1.0))
        u /= u.sum(axis=1, keepdims=True)
    assert model.objective_ == pytest.approx(2.0 * (u**m * apart).sum(), rel=1e-9)
    np.testing.assert_allclose(model.cluster_centers_, prototypes, atol=1e-8)
    np.testing.assert_array_equal(model.labels_, u.argmax(axis=1))


@pytest.mark.parametrize(("rule", "kernel"), pairs(FITS, ["linear", "rbf", "polynomial"]))
def test_no_centres_of_length_one_do_better(rule, kernel, X, weights):
    """A step is the exact minimiser for its memberships, so the objective falls from sweep to
    sweep."""
    words = {"kernel": kernel, **KERNELS[kernel][1], "metric": "cosine", "init": START}
    x = X / 4 if kernel == "polynomial" else X
    model = FITS[rule][0](**words).fit(x, sample_weight=weights)
    falls = np.diff(model.objective_history_)
    assert falls.max() <= 1e-12 * abs(model.objective_history_[0])
    space, v = model._space, model._state.centres
    w = model.rule_.weights(model.memberships_) * weights[:, None]
    rows = space.rows(Blocks(x, weights).cut(0, N))
    best = (w * rows.squared_distances(space.view(v, rows.kxx))).sum()
    for size in (1e-3, 0.1, 1.0):
        other = space.feasible(v.towards(v[[1, 2, 0]], np.full(C, size * 0.9)))
        assert (w * rows.squared_distances(space.view(other, rows.kxx))).sum() > best


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_accelerated_fits_end_where_plain_ones_do(kernel, X):
    x = X / 4 if kernel == "polynomial" else X
    words = {
        "kernel": kernel,
        **KERNELS[kernel][1],
        "metric": "cosine",
        "init": START,
        "tol": 1e-6,
        "m": 1.5,
    }
    fast, plain = (
        FuzzyCMeans(C, search=Search(acceleration=name), **words).fit(x)
        for name in ("anderson", None)
    )
    assert fast.n_iter_ < plain.n_iter_
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    np.testing.assert_allclose(fast.memberships_, plain.memberships_, atol=1e-4)
    np.testing.assert_allclose(lengths(fast), 1.0, rtol=1e-12)


@pytest.mark.parametrize("rule", FITS)
def test_directions_alone_count(rule, X):
    """Rows of any length are the same rows; so are those that are made of length one before, for
    any kind of array."""
    words = {"kernel": "linear", "metric": "cosine", "init": START}
    made = FITS[rule][0]
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    expected = made(**words).fit(unit)
    for form, dtype in (
        ("numpy", "float64"),
        ("csr", "float64"),
        ("torch", "float64"),
        ("csr64", "float32"),
        ("numpy", "float32"),
    ):
        model = made(**words).fit(as_form(X, form, dtype))
        np.testing.assert_allclose(
            on_host(model.memberships_),
            expected.memberships_,
            atol=1e-9 if dtype == "float64" else 1e-3,
        )
        np.testing.assert_array_equal(on_host(model.labels_), expected.labels_)
        np.testing.assert_array_equal(
            on_host(model.predict(as_form(X, form, dtype))), expected.labels_
        )
    assert model.kernel_ == Cosine()


def test_a_weight_of_k_is_k_copies_and_threads_do_not_matter(X, monkeypatch):
    cut_raggedly(monkeypatch)
    copies = np.random.default_rng(3).integers(1, 4, N)
    words = {"kernel": "linear", "metric": "cosine", "m": 1.4, "random_state": 0}
    weighted = FuzzyCMeans(C, **words).fit(X, sample_weight=copies)
    copied = FuzzyCMeans(C, search=Search(join_equal_rows=False), **words).fit(
        np.repeat(X, copies, axis=0)
    )
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-9)
    np.testing.assert_allclose(weighted.cluster_centers_, copied.cluster_centers_, atol=1e-7)
    for n_jobs in (2, 5):
        again = FuzzyCMeans(C, n_jobs=n_jobs, **words).fit(X, sample_weight=copies)
        np.testing.assert_array_equal(again.memberships_, weighted.memberships_)


@pytest.mark.parametrize(
    ("kernel", "choice"),
    [
        ("linear", Landmarks),
        ("rbf", Landmarks),
        ("rbf", GradientLandmarks),
        ("landmark_graph", Landmarks),
    ],
)
def test_models_go_to_files_and_back(kernel, choice, X, tmp_path):
    words = {} if kernel != "rbf" else {"landmarks": choice(points=FEW)}
    model = FuzzyCMeans(C, kernel=kernel, metric="cosine", random_state=0, m=1.3, **words).fit(X)
    cmeans.save(model, tmp_path / "model")
    again = cmeans.load(tmp_path / "model")
    assert again.metric == "cosine"
    np.testing.assert_array_equal(again.memberships(X), model.memberships_)
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_allclose(lengths(model), 1.0, rtol=1e-9)
    on = clone(model).set_params(init=again).fit(X)
    assert on.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_rows_in_files_and_starts_by_points(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    words = {"kernel": "linear", "metric": "cosine", "m": 1.3}
    points = 7.0 * X[START]
    here, there = (
        FuzzyCMeans(C, init=points, **words).fit(X),
        FuzzyCMeans(C, init=points, **words).fit(str(tmp_path / "rows.npy")),
    )
    np.testing.assert_array_equal(here.labels_, there.labels_)
    assert here.objective_ == there.objective_
    assert FuzzyCMeans(C, init=START, **words).fit(X).objective_ == here.objective_


@pytest.mark.parametrize("search", ["auto", "breathing"])
def test_searches_and_seeds_see_directions(search):
    """Clusters of directions at very unequal lengths are found from any start."""
    rng = np.random.default_rng(5)
    truth = np.arange(600) % 12
    rows = (rng.normal(size=(12, 20))[truth] + 0.3 * rng.normal(size=(600, 20))) * rng.uniform(
        0.01, 100, size=(600, 1)
    )
    model = KernelKMeans(12, kernel="linear", metric="cosine", search=search, random_state=1).fit(
        rows
    )
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert lengths(model) == pytest.approx(np.ones(12))


def test_annealing_begins_where_centres_coincide(X):
    hot = FuzzyCMeans(2, kernel="linear", metric="cosine", random_state=0)
    assert hot.set_params(m=1.2).fit(X).separation_ > 0
    model = CMeans(
        C, rule=Entropy(T=0.1), search="annealing", kernel="linear", metric="cosine", random_state=0
    ).fit(X)
    plain = CMeans(C, rule=Entropy(T=0.1), kernel="linear", metric="cosine", random_state=0).fit(X)
    assert model.objective_ <= plain.objective_ * (1 + 1e-9)
    np.testing.assert_allclose(lengths(model), 1.0, rtol=1e-12)


def test_centres_coincide_above_the_critical_temperature(X):
    """From one linearised step: 2 lambda_max / |mean|, where the mean is orthogonal to the
    direction in which they part."""
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    critical = critical_temperature(unit @ unit.T, np.ones(N), spherical=True)
    words = {"kernel": "linear", "metric": "cosine", "init": START, "max_iter": 5000, "tol": 1e-7}
    assert CMeans(C, rule=Entropy(critical / 4), **words).fit(X).separation_ > 0.1
    with pytest.warns(UserWarning, match="have collapsed"):
        assert CMeans(C, rule=Entropy(critical * 1.01), **words).fit(X).separation_ < 1e-6


def test_known_labels_linked_rows_and_sizes(X):
    words = {"kernel": "linear", "metric": "cosine", "random_state": 0}
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    known = np.where(np.arange(N) < 12, np.arange(N) % C, -1)
    model = KernelKMeans(C, **words).fit(
        X, known_labels=known, must_link=np.array([[20, 21], [40, 50]])
    )
    np.testing.assert_array_equal(model.labels_[:12], known[:12])
    assert model.labels_[20] == model.labels_[21]
    sums = np.array([unit[model.labels_ == j].sum(axis=0) for j in range(C)])
    np.testing.assert_allclose(
        model.cluster_centers_, sums / np.linalg.norm(sums, axis=1)[:, None], atol=1e-9
    )
    even = KernelKMeans(C, sizes=Sizes(least=26, most=27), **words).fit(X)
    assert sorted(np.bincount(even.labels_)) == [26, 27, 27]
    assert lengths(even) == pytest.approx(np.ones(C))


def test_the_certificate_holds_the_true_cost(X):
    """The best centres of length one in the whole space for the memberships found cost what the
    bounds say."""
    for m in (None, 1.3):
        rule = {"m": m} if m else {}
        model = (FuzzyCMeans if m else KernelKMeans)(
            C, kernel="rbf", gamma=0.1, landmarks=FEW, metric="cosine", random_state=0, **rule
        ).fit(X)
        K = naive.kernel_matrix(X, X, partial(naive.rbf, gamma=0.1))
        w = model.memberships_ ** (m or 1.0)
        cost = sum(
            w[:, j] @ (np.diag(K) + 1.0) - 2.0 * np.sqrt(w[:, j] @ K @ w[:, j]) for j in range(C)
        )
        low, high = model.approximation_.cost_bounds
        assert low <= cost <= high * (1 + 1e-12)
        assert model.approximation_.comparison_error is None


def test_a_mean_of_no_direction_leaves_its_centre():
    """Opposed rows cancel: any centre of length one is as good, and the one there was stays."""
    rows = np.array([[1.0, 0], [-1, 0], [0, 1], [0, 1]])
    model = KernelKMeans(1, kernel="linear", metric="cosine", init=np.array([[0.0, 2.0]])).fit(
        rows[:2]
    )
    np.testing.assert_allclose(model.cluster_centers_, [[0, 1]])
    assert model.objective_ == pytest.approx(4.0)
    space = EuclideanSpace(np.zeros(2), spherical=True)
    made = space.centres(np.array([2.0, 2.0, 0.0]), np.array([[0.0, 0], [0, 2], [0, 0]]))
    np.testing.assert_array_equal(space.undetermined(np.array([2.0, 2.0, 0.0]), made), [0, 2])


def test_centres_of_length_one_stay_what_they_are_to_the_bit():
    v = Centres.orthonormal(np.random.default_rng(0).normal(size=(50, 768)))
    once = v.of_length_one()
    np.testing.assert_array_equal(once.of_length_one().coordinates, once.coordinates)
    np.testing.assert_allclose(once.squared_norms(), 1.0, rtol=1e-14)


def test_what_is_refused(X, tmp_path, monkeypatch):
    rows = X.copy()
    rows[17] = 1e-200
    message = (
        r'KernelKMeans: metric="cosine": X holds a row of numbers whose squares are out of range'
    )
    fitted = KernelKMeans(C, kernel="linear", metric="cosine", random_state=0).fit(X)
    for form in (np.asarray, sparse.csr_array):
        for answer in (KernelKMeans(C, kernel="linear", metric="cosine").fit, fitted.predict):
            with pytest.raises(ValueError, match=message):
                answer(form(rows))
    np.save(tmp_path / "rows.npy", rows)
    limited(monkeypatch, loaded_bytes=0)
    with pytest.raises(ValueError, match=message):
        KernelKMeans(C, kernel="linear", metric="cosine").fit(str(tmp_path / "rows.npy"))
    with pytest.raises(
        ValueError,
        match=r"FuzzyCMeans\(metric='yes'\): unknown metric; known are .*euclidean.*cosine",
    ):
        FuzzyCMeans(C, metric="yes").fit(X)
    for name in set(SWEPT) - set(with_parameter("metric")):
        with pytest.raises(TypeError, match="metric"):
            CLASSES[name](metric="cosine")
    assert set(with_parameter("metric")) == {
        "KernelKMeans",
        "FuzzyCMeans",
        "PossibilisticCMeans",
        "CMeans",
    }
