"""What a fit leaves behind: every attribute there, of the right kind, and meaning what it says."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    pairwise_distances,
    polynomial_kernel,
    rbf_kernel,
)

import every_estimator
from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    Landmarks,
    PossibilisticCMeans,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
)
from cmeans.kernels import RBF, Linear, Polynomial
from cmeans.papers import GradientLandmarks, StreamingKernelFCM
from cmeans.rules import Fuzzy, Hard, Possibilistic, Rule
from every_estimator import known
from sweep_choices import often

pytestmark = pytest.mark.slow

N, D, C = 90, 3, 3
MODELS = {
    "hard": (KernelKMeans, {}),
    "two-step": (TwoStepKernelKMeans, {}),
    "fuzzy": (FuzzyCMeans, {"m": 1.5}),
    "possibilistic": (PossibilisticCMeans, {"m": 1.8, "eta_scale": 0.2}),
    "CMeans hard": (CMeans, {"rule": "hard"}),
    "CMeans fuzzy": (CMeans, {"rule": Fuzzy(1.5)}),
    "CMeans possibilistic": (CMeans, {"rule": Possibilistic(eta_scale=0.1)}),
}
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "gamma": 0.05, "landmarks": None},
    "landmarks": {"kernel": "rbf", "gamma": 0.05, "landmarks": 15},
    "gradient": {"kernel": "rbf", "gamma": 0.05, "landmarks": GradientLandmarks(15)},
    "points": {
        "kernel": "rbf",
        "gamma": 0.05,
        "landmarks": np.random.default_rng(3).uniform(-3, 6, size=(12, D)),
    },
    "polynomial": {
        "kernel": Polynomial(degree=2, gamma=0.1, coef0=2.0),
        "landmarks": Landmarks(15, method="uniform"),
    },
    "laplacian": {"kernel": "laplacian", "gamma": 0.05, "landmarks": 15},
    "cosine": {"kernel": "cosine", "landmarks": Landmarks(15, method="uniform")},
    "linear landmarks": {"kernel": Linear(), "landmarks": Landmarks(15, method="uniform")},
    "callable": {
        "kernel": partial(polynomial_kernel, degree=2),
        "landmarks": Landmarks(15, method="uniform"),
    },
    "precomputed": {"kernel": "precomputed", "landmarks": 15},
    "precomputed, exact": {"kernel": "precomputed"},
}
KERNELS = {  # as somebody else computes them
    "polynomial": lambda x, y: polynomial_kernel(x, y, degree=2, gamma=0.1, coef0=2.0),
    "laplacian": lambda x, y: laplacian_kernel(x, y, gamma=0.05),
    "cosine": cosine_similarity,
    "linear landmarks": lambda x, y: x @ y.T,
    "callable": lambda x, y: polynomial_kernel(x, y, degree=2),
}
over_models = pytest.mark.parametrize("model_name", MODELS)
over_spaces = pytest.mark.parametrize("space", SPACES)
# spaces that two-step has none of: its landmarks are a sample of rows, without a solver
OF_NO_SAMPLE = ("points", "gradient")
PAIRS = [(m, s) for m in MODELS for s in SPACES if m != "two-step" or s not in OF_NO_SAMPLE]
over_pairs = pytest.mark.parametrize(("model_name", "space"), PAIRS)


def other_kernel(space):
    return KERNELS.get(space, lambda x, y: rbf_kernel(x, y, gamma=0.05))


@cache
def blobs():
    return make_blobs(
        N, D, centers=[[0, 0, 1], [5, 0, 1], [0, 5, 3]], cluster_std=0.7, random_state=1
    )[0]


@pytest.fixture
def X():
    return blobs()


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(2).uniform(0.5, 2, size=N)


def build(model_name, space, **words):
    estimator, own = MODELS[model_name]
    return estimator(
        **{"n_clusters": C, "random_state": 0, **own, **SPACES[space], **known(estimator, words)}
    )


def rows_for(space, X):
    return rbf_kernel(X, gamma=0.05) if space.startswith("precomputed") else X


@cache
def fitted(model_name, space):
    """The fit of all rows, which many tests look at and none may change."""
    return build(model_name, space).fit(rows_for(space, blobs()))


def rule_m(model):
    return getattr(model, "m_", 1.0)


# -------------------------------------------------------------------------- there, and of what kind


@over_pairs
def test_every_attribute(model_name, space, X):
    rows, model = rows_for(space, X), fitted(model_name, space)
    assert (model.labels_.shape, model.labels_.dtype) == ((N,), np.int64)
    assert (model.memberships_.shape, model.memberships_.dtype) == ((N, C), np.float64)
    assert type(model.objective_) is float
    assert model.objective_ > 0
    assert model.objective_history_.shape == (model.n_iter_ + 1,)
    assert model.objective_history_.dtype == np.float64
    assert type(model.n_iter_) is int
    assert type(model.row_visits_) is int
    assert model.converged_ is True
    assert "converged" in model.stop_reason_
    assert (type(model.n_clusters_), model.n_clusters_) == (int, C)
    assert model.n_features_in_ == rows.shape[1]
    assert not hasattr(model, "feature_names_in_")
    assert 0.01 < model.separation_ < 100
    assert model.gamma_ is None or model.gamma_ > 0
    soft = "fuzzy" in model_name or "possibilistic" in model_name
    if soft:
        assert (
            model.m_
            == {
                "fuzzy": 1.5,
                "possibilistic": 1.8,
                "CMeans fuzzy": 1.5,
                "CMeans possibilistic": 2.0,
            }[model_name]
        )
    if "possibilistic" in model_name:
        assert model.eta_.shape == (C,)
        assert (model.eta_ > 0).all()
        assert 1 < model.pilot_m_ <= 2
    else:
        assert not hasattr(model, "eta_")
        assert not hasattr(model, "pilot_m_")
    plain = space == "euclidean" or (space == "linear landmarks" and model_name == "two-step")
    if plain:
        assert model.cluster_centers_.shape == (C, D)
        assert not any(
            hasattr(model, name) for name in ("landmarks_", "landmark_indices_", "dual_coef_")
        )
    else:
        s = N if "exact" in space else 12 if space == "points" else 15
        assert not hasattr(model, "cluster_centers_")
        assert model.dual_coef_.shape == (C, s)
        if space == "points":
            assert model.landmark_indices_ is None
        else:
            assert model.landmark_indices_.shape == (s,)
            assert np.issubdtype(model.landmark_indices_.dtype, np.integer)
            assert len(set(model.landmark_indices_)) == s
        if space.startswith("precomputed"):
            assert not hasattr(model, "landmarks_")
        else:
            expected = (
                SPACES[space].get("landmarks") if space == "points" else X[model.landmark_indices_]
            )
            np.testing.assert_array_equal(model.landmarks_, expected)


@pytest.mark.parametrize("estimator", [AdaptivePossibilisticCMeans, SequentialPossibilisticCMeans])
@over_spaces
def test_every_attribute_of_models_that_find_their_number(estimator, space, X):
    rows = rows_for(space, X)
    words = {
        "kernel": "rbf",
        "sparsity": 0,
        **known(estimator, {"patience": 1, "alpha": 1.0}),
        **SPACES[space],
    }
    model = every_estimator.build(estimator, n_clusters=8, **words).fit(rows)
    found = model.n_clusters_
    assert type(found) is int
    assert 1 <= found <= 8
    assert (model.labels_.shape, model.labels_.dtype) == ((N,), np.int64)
    assert set(model.labels_) <= set(range(found))
    assert (model.memberships_.shape, model.memberships_.dtype) == ((N, found), np.float64)
    assert (model.eta_.shape, model.eta_.dtype) == ((found,), np.float64)
    assert (model.eta_ > 0).all()
    assert model.objective_history_.shape == (model.n_iter_ + 1,)
    assert model.objective_history_[-1] == model.objective_ > 0
    assert model.converged_ is True
    assert "converged" in model.stop_reason_
    assert model.row_visits_ % N == 0
    assert model.row_visits_ > 2 * model.n_iter_ * N  # deviations take a pass of their own
    assert model.n_features_in_ == rows.shape[1]
    assert model.get_feature_names_out().tolist() == [
        f"{estimator.__name__.lower()}{j}" for j in range(found)
    ]
    assert hasattr(model, "pilot_m_") is (estimator is AdaptivePossibilisticCMeans)
    assert not hasattr(model, "m_")
    d2, u = model.transform(rows) ** 2, model.memberships_
    np.testing.assert_allclose(u, np.exp(-d2 / model.eta_), rtol=1e-6, atol=1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(u > 0, u * np.log(u), 0.0) - u + 1
    assert model.objective_ == pytest.approx((u * d2 + model.eta_ * entropy).sum(), rel=1e-9)
    if space == "euclidean":
        assert model.cluster_centers_.shape == (found, D)
    else:
        s = N if "exact" in space else 12 if space == "points" else 15
        assert model.dual_coef_.shape == (found, s)
        assert hasattr(model, "landmarks_") is not space.startswith("precomputed")


STREAMS = {
    "growing": (StreamingFuzzyCMeans, {"kernel": "rbf", "landmarks": 16}),
    "points": (StreamingFuzzyCMeans, {"kernel": "rbf", "landmarks": SPACES["points"]["landmarks"]}),
    "euclidean": (StreamingFuzzyCMeans, {"kernel": "linear", "gamma": "scale"}),
    "projection": (StreamingKernelFCM, {"method": "projection"}),
    "patches": (KernelPatchClustering, {"n_points": 4}),
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("rule", ["fuzzy", "hard"])
@pytest.mark.parametrize("fitted", [False, True])
def test_every_attribute_of_streams(name, rule, fitted, X, weight):
    """After three chunks of thirty rows, or one fit of them: rows are those of the last chunk, or
    all."""
    estimator, own = STREAMS[name]
    size = (
        {"patch_size": 30}
        if estimator is KernelPatchClustering
        else {"chunk_size": 30, "warm_up": 0}
    )
    model = estimator(
        C, m=1.5, rule=rule, random_state=0, **{"kernel": "rbf", "gamma": 0.05, **own}, **size
    )
    if fitted:
        model.fit(X, sample_weight=weight)
    else:
        for rows in (slice(0, 30), slice(30, 60), slice(60, 90)):
            model.partial_fit(X[rows], sample_weight=weight[rows])
    n = N if fitted else 30
    assert (model.labels_.shape, model.labels_.dtype) == ((n,), np.int64)
    assert (model.memberships_.shape, model.memberships_.dtype) == ((n, C), np.float64)
    assert type(model.objective_) is float
    assert model.objective_ == pytest.approx(-model.score(X[-n:], sample_weight=weight[-n:]))
    assert model.objective_history_.dtype == np.float64
    assert (type(model.n_iter_), type(model.row_visits_), type(model.n_clusters_)) == (
        int,
        int,
        int,
    )
    assert (type(model.n_chunks_), type(model.n_samples_seen_)) == (int, int)
    assert (model.n_chunks_, model.n_samples_seen_, model.n_clusters_) == (3, N, C)
    assert model.row_visits_ > N + model.n_iter_ * 30
    assert model.converged_ is True
    assert "converged" in model.stop_reason_
    assert (model.mass_.shape, model.mass_.dtype) == ((C,), np.float64)
    assert (model.mass_ > 0).all()
    if rule == "hard" or name == "patches":
        assert model.mass_.sum() == pytest.approx(weight.sum())
    else:
        assert weight.sum() / 3 < model.mass_.sum() < weight.sum()
    assert (model.projection_loss_.shape, model.projection_loss_.dtype) == ((C,), np.float64)
    assert ((model.projection_loss_ >= 0) & (model.projection_loss_ <= 1)).all()
    assert model.m_ == (1.0 if rule == "hard" else 1.5)
    assert model.gamma_ == (None if name == "euclidean" else 0.05)
    assert 0.01 < model.separation_ < 100
    assert model.n_features_in_ == D
    assert not hasattr(model, "feature_names_in_")
    assert model.get_feature_names_out().tolist() == [
        f"{estimator.__name__.lower()}{j}" for j in range(C)
    ]
    if name == "euclidean":
        assert model.cluster_centers_.shape == (C, D)
        assert model.n_landmarks_ is None
        assert not any(hasattr(model, attribute) for attribute in ("landmarks_", "dual_coef_"))
        return
    assert not hasattr(model, "cluster_centers_")
    assert model.landmarks_.shape == (model.dual_coef_.shape[1], D)
    assert model.dual_coef_.shape[0] == C
    assert model.landmark_indices_ is None
    assert model.n_landmarks_ == len(model.landmarks_)
    assert (
        model.n_landmarks_
        <= {"growing": 16, "points": 12, "projection": 30, "patches": 4 * C}[name]
    )
    if name == "points":
        np.testing.assert_array_equal(model.landmarks_, own["landmarks"])
    else:
        seen = X[60:] if name == "projection" else X
        assert {tuple(row) for row in model.landmarks_} <= {tuple(row) for row in seen}
    K = rbf_kernel(X, model.landmarks_, gamma=0.05)
    norms = np.einsum(
        "js,st,jt->j", model.dual_coef_, rbf_kernel(model.landmarks_, gamma=0.05), model.dual_coef_
    )
    np.testing.assert_allclose(
        model.transform(X) ** 2, 1 - 2 * K @ model.dual_coef_.T + norms, atol=1e-9
    )


@over_models
def test_row_visits_count_every_pass(model_name, X):
    model = fitted(model_name, "landmarks")
    seen = 15 if model_name == "two-step" else N
    assert model.row_visits_ >= model.n_iter_ * seen + N
    assert model.row_visits_ % seen == 0
    assert build(model_name, "landmarks", n_init=3).fit(X).row_visits_ > model.row_visits_


def test_names_of_features(X):
    pd = pytest.importorskip("pandas")
    model = build("fuzzy", "euclidean").fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.get_feature_names_out().tolist() == [
        "fuzzycmeans0",
        "fuzzycmeans1",
        "fuzzycmeans2",
    ]


# ----------------------------------------------------------------------------------- what they mean


@over_pairs
def test_distances_follow_from_dual_coef(model_name, space, X):
    """|phi(x) - sum_l a_l phi(l)|^2 in a kernel that somebody else computes."""
    model, new = fitted(model_name, space), np.random.default_rng(4).normal(size=(11, D))
    distances = (
        model.transform(rbf_kernel(new, X, gamma=0.05))
        if space.startswith("precomputed")
        else model.transform(new)
    )
    if hasattr(model, "cluster_centers_"):
        expected = pairwise_distances(new, model.cluster_centers_)
    else:
        kernel, a = other_kernel(space), model.dual_coef_
        points = X[model.landmark_indices_] if space.startswith("precomputed") else model.landmarks_
        own = np.array([kernel(row[None], row[None])[0, 0] for row in new])
        expected = np.sqrt(
            own[:, None]
            - 2 * kernel(new, points) @ a.T
            + np.einsum("js,st,jt->j", a, kernel(points, points), a)
        )
    np.testing.assert_allclose(distances, expected, rtol=1e-6)


@over_models
@pytest.mark.parametrize("weighted", [False, True])
def test_centres_are_weighted_means(model_name, weighted, X, weight):
    w = weight if weighted else np.ones(N)
    model = build(model_name, "euclidean", tol=1e-12, max_iter=2000).fit(
        X, sample_weight=w if weighted else None
    )
    pull = w[:, None] * model.memberships_ ** rule_m(model)
    np.testing.assert_allclose(
        model.cluster_centers_, pull.T @ X / pull.sum(axis=0)[:, None], rtol=1e-7, atol=1e-9
    )


@over_models
@pytest.mark.parametrize("space", ["exact", "landmarks"])
def test_kernel_centres_are_weighted_means(model_name, space, X, weight):
    """In the exact space the coefficients are the normalised weights; on landmarks, those of the
    mean's projection."""
    if (model_name, space) == ("two-step", "landmarks"):
        weight = np.ones(N)  # its sample is drawn by weight, and rows of a sample weigh the same
    model = build(model_name, space, tol=1e-12, max_iter=2000).fit(X, sample_weight=weight)
    pull = weight[:, None] * model.memberships_ ** rule_m(model)
    if space == "exact" or model_name == "two-step":
        pull = pull[model.landmark_indices_]
        np.testing.assert_allclose(model.dual_coef_, (pull / pull.sum(axis=0)).T, atol=1e-7)
    else:  # coefficients are ill-conditioned, their products with the landmarks are not
        points = model.landmarks_
        expected = (pull / pull.sum(axis=0)).T @ rbf_kernel(X, points, gamma=0.05)
        np.testing.assert_allclose(
            model.dual_coef_ @ rbf_kernel(points, points, gamma=0.05), expected, atol=1e-7
        )


@over_pairs
def test_labels_memberships_and_objective_agree(model_name, space, X, weight):
    rows = rows_for(space, X)
    model = build(model_name, space, search=None).fit(rows, sample_weight=weight)
    u, d2 = model.memberships_, model.transform(rows) ** 2
    np.testing.assert_array_equal(model.labels_, u.argmax(axis=1))
    assert ((u >= 0) & (u <= 1)).all()
    m = rule_m(model)
    objective = (weight[:, None] * u**m * d2).sum()
    if "possibilistic" in model_name:
        objective += (weight[:, None] * model.eta_ * (1 - u) ** m).sum()
        np.testing.assert_allclose(u, 1 / (1 + (d2 / model.eta_) ** (1 / (m - 1))), rtol=1e-7)
    else:
        np.testing.assert_allclose(u.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(model.labels_, d2.argmin(axis=1))
    assert model.objective_ == pytest.approx(objective, rel=1e-9)
    assert model.score(rows, sample_weight=weight) == pytest.approx(-model.objective_, rel=1e-12)
    if "fuzzy" not in model_name and "possibilistic" not in model_name:
        np.testing.assert_array_equal(u, np.eye(C)[model.labels_])


@over_pairs
def test_history_starts_at_the_start_and_ends_at_the_result(model_name, space, X):
    rows, start = rows_for(space, X), np.array([0, 1, 3])
    model = build(model_name, space, init=start, search=None).fit(rows)
    history = model.objective_history_
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    if model_name != "two-step":
        assert history[-1] == model.objective_
    # a row starts as itself
    if model_name in ("hard", "fuzzy") and space in ("exact", "precomputed, exact"):
        d2 = 2 - 2 * rbf_kernel(X, X[start], gamma=0.05)
        if model_name == "hard":
            assert history[0] == pytest.approx(d2.min(axis=1).sum())
        else:  # sum_j u^m d2 = (sum_j d2^(-1/(m-1)))^(1-m), zero where a row is a start
            away = np.delete(d2, start, axis=0)
            assert history[0] == pytest.approx(((away**-2).sum(axis=1) ** -0.5).sum(), rel=1e-6)


@over_pairs
def test_a_fit_answers_for_its_own_rows(model_name, space, X):
    rows, model = rows_for(space, X), fitted(model_name, space)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    np.testing.assert_array_equal(model.memberships(rows), model.memberships_)


@pytest.mark.parametrize(
    ("model_name", "space"), [some for some in often(2, MODELS, SPACES) if some in PAIRS]
)
def test_fits_that_answer_at_once(model_name, space, X):
    rows, model = rows_for(space, X), fitted(model_name, space)
    np.testing.assert_array_equal(build(model_name, space).fit_predict(rows), model.labels_)
    np.testing.assert_array_equal(
        build(model_name, space).fit_transform(rows), model.transform(rows)
    )


@pytest.mark.parametrize("space", ["euclidean", "exact", "landmarks", "polynomial"])
@pytest.mark.parametrize("weighted", [False, True])
def test_eta_is_the_mean_squared_distance_in_the_pilots_clusters(space, weighted, X, weight):
    w = weight if weighted else np.ones(N)
    model = PossibilisticCMeans(C, eta_scale=0.7, pilot_m=1.6, random_state=0, **SPACES[space]).fit(
        X, sample_weight=w
    )
    pilot = FuzzyCMeans(C, m=1.6, random_state=0, **SPACES[space]).fit(X, sample_weight=w)
    pull = w[:, None] * pilot.memberships_**1.6
    expected = 0.7 * (pull * pilot.transform(X) ** 2).sum(axis=0) / pull.sum(axis=0)
    # each fit numbers its clusters by their mass
    np.testing.assert_allclose(np.sort(model.eta_), np.sort(expected), rtol=1e-9)
    assert model.pilot_m_ == 1.6


# ---------------------------------------------------------------------------------------- questions


def test_typicality_and_predict_proba_are_where_they_make_sense(X):
    for name in MODELS:
        model = fitted(name, "euclidean")
        possibilistic = "possibilistic" in name
        assert hasattr(model, "typicality") is possibilistic
        assert hasattr(model, "predict_proba") is not possibilistic
        memberships = (model.typicality if possibilistic else model.predict_proba)(X)
        np.testing.assert_array_equal(memberships, model.memberships_)
    assert hasattr(CMeans(rule=Hard()), "predict_proba")
    assert hasattr(CMeans(rule=Possibilistic(3.0)), "typicality")
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = PossibilisticCMeans().predict_proba


def test_typicality_is_one_half_at_the_root_of_eta(X):
    model = PossibilisticCMeans(1, kernel="linear", m=3.0, random_state=0).fit(X)
    centre = model.cluster_centers_[0]
    rows = np.array([centre, centre + np.array([np.sqrt(model.eta_[0]), 0, 0]), centre + 1e9])
    np.testing.assert_allclose(model.typicality(rows)[:, 0], [1, 0.5, 0], atol=1e-8)


@over_models
def test_outlier_score(model_name, X):
    model = fitted(model_name, "landmarks")
    far = np.vstack([X, X.mean(axis=0) + 50])
    score = model.outlier_score(far)
    assert score.shape == (N + 1,)
    assert score.argmax() == N
    if "possibilistic" in model_name:
        np.testing.assert_allclose(score, 1 - model.typicality(far).max(axis=1), atol=1e-12)
    else:
        np.testing.assert_allclose(score, model.transform(far).min(axis=1), rtol=1e-9)


@over_pairs
def test_representatives(model_name, space, X):
    rows, model = rows_for(space, X), fitted(model_name, space)
    table = model.representatives(N)
    assert (table.shape, table.dtype) == ((C, N), np.int64)
    own = np.take_along_axis(model.transform(rows), model.labels_[:, None], axis=1)[:, 0]
    for j, listed in enumerate(table):
        size = (model.labels_ == j).sum()
        assert set(listed[:size]) == set(np.flatnonzero(model.labels_ == j))
        assert (listed[size:] == -1).all()
        assert (np.diff(own[listed[:size]]) >= -1e-12).all()
    np.testing.assert_array_equal(model.representatives(2), table[:, :2])
    assert model.representatives().shape == (C, 1)


@pytest.mark.parametrize(
    "method", ["predict", "transform", "memberships", "score", "outlier_score", "predict_proba"]
)
def test_an_unfitted_model_says_so(method, X):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(FuzzyCMeans(), method)(X)
    with pytest.raises(NotFittedError, match="not fitted"):
        FuzzyCMeans().representatives()
    with pytest.raises(NotFittedError, match="not fitted"):
        FuzzyCMeans().get_feature_names_out()


# ------------------------------------------------------------------------ words settled by the data


def test_gamma_of_the_data(X):
    squared, city = pdist(X, "sqeuclidean"), pdist(X, "cityblock")
    assert FuzzyCMeans(C, kernel="rbf").fit(X).gamma_ == pytest.approx(1 / X.var(axis=0).sum())
    assert FuzzyCMeans(C, kernel="rbf", gamma="median").fit(X).gamma_ == pytest.approx(
        1 / np.median(squared), rel=1e-2
    )
    assert KernelKMeans(C, kernel="laplacian").fit(X).gamma_ == pytest.approx(
        1 / (D * np.sqrt(X.var(axis=0).mean()))
    )
    assert KernelKMeans(C, kernel="laplacian", gamma="median").fit(X).gamma_ == pytest.approx(
        1 / np.median(city), rel=1e-2
    )
    assert KernelKMeans(C, kernel="polynomial").fit(X).gamma_ == 1
    assert KernelKMeans(C, gamma=0.25).fit(X).gamma_ == 0.25
    assert KernelKMeans(C, kernel="linear").fit(X).gamma_ is None
    assert KernelKMeans(C, kernel=RBF(0.5)).fit(X).gamma_ == 0.5
    assert KernelKMeans(C, kernel=RBF(0.125)).fit(X).gamma_ == 0.125


def test_m_of_the_data(X):
    """The same whatever random_state is, so that objectives of different seeds compare."""
    models = [
        FuzzyCMeans(C, kernel="rbf", gamma=0.05, random_state=seed).fit(X) for seed in range(3)
    ]
    assert len({model.m_ for model in models}) == 1
    assert 1 < models[0].m_ <= 2
    assert (
        CMeans(C, kernel="rbf", gamma=0.05).fit(X).m_
        == PossibilisticCMeans(C, kernel="rbf", gamma=0.05).fit(X).pilot_m_
        == models[0].m_
    )
    assert PossibilisticCMeans(C, kernel="rbf", gamma=0.05).fit(X).m_ == 1.2


# ----------------------------------------------------------------------------------- fewer clusters


def test_dead_clusters_are_counted():
    """Two distinct rows, three centres: nothing is left to fill the third with."""
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    for estimator in (
        KernelKMeans(3, kernel="linear", init=np.array([0, 1, 5])),
        CMeans(3, rule="hard", init=np.array([0, 1, 5])),
    ):
        with pytest.warns(UserWarning, match=r"1 of 3 clusters hold no row \(numbers \[1\]\)"):
            model = estimator.fit(X)
        assert model.n_clusters_ == 2
        assert model.memberships_.shape == model.transform(X).shape == (10, 3)
        assert sorted(set(model.labels_)) == [0, 2]
        np.testing.assert_array_equal(model.representatives(1), [[0], [-1], [5]])
        assert len(model.get_feature_names_out()) == 3
        assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize(
    "estimator", [KernelKMeans, TwoStepKernelKMeans, FuzzyCMeans, PossibilisticCMeans, CMeans]
)
@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random", "random-partition"])
@pytest.mark.parametrize("words", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 1.0}])
def test_fewer_distinct_rows_than_clusters_make_fewer_clusters(estimator, init, words):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0]], 5, axis=0)
    weight = np.r_[np.ones(10), np.zeros(5)]
    with pytest.warns(UserWarning, match="only 2 distinct rows of positive weight"):
        model = estimator(3, init=init, random_state=0, **words).fit(X, sample_weight=weight)
    assert model.n_clusters_ == 2
    assert model.memberships_.shape == (15, 2)
    assert model.transform(X).shape == (15, 2)
    assert len(model.get_feature_names_out()) == 2
    assert len(set(model.labels_[:10])) == 2
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_rule_that_leaves_rows_out(X):
    """A rule of one's own, in which far rows belong nowhere."""

    class Near(Rule):
        rows_sum_to_one = False

        def memberships(self, d2, scales):
            return np.where(d2 <= 6.0, (d2 == d2.min(axis=1, keepdims=True)).astype(d2.dtype), 0.0)

        def weights(self, u):
            return u

    far = np.vstack([X, [[50.0, 50.0, 50.0]]])
    model = CMeans(C, rule=Near(), kernel="linear", init=np.array([0, 1, 3])).fit(far)
    assert hasattr(model, "typicality")
    assert model.memberships_[-1].sum() == 0
    assert model.outlier_score(far)[-1] == 1


# ------------------------------------------------------------------------------------------- refits

REFITS = [
    ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.05}),
    ({"kernel": "rbf", "gamma": 0.05}, {"kernel": "linear", "gamma": "scale"}),
    ({"kernel": "rbf", "landmarks": 15}, {"kernel": "rbf", "landmarks": None}),
    (
        {"kernel": "rbf", "landmarks": np.arange(20)},
        {"kernel": "rbf", "landmarks": np.random.default_rng(5).uniform(-2, 6, size=(25, D))},
    ),
]


@over_models
@pytest.mark.parametrize(("before", "after"), REFITS)
def test_a_refit_with_other_words_is_a_fresh_fit(model_name, before, after, X):
    estimator, own = MODELS[model_name]
    if estimator is TwoStepKernelKMeans and "landmarks" in after:
        pytest.skip("its landmarks are rows")
    words = {**own, **known(estimator, {"search": None}), "random_state": 0}
    used = estimator(C, **{**words, **before}).fit(X).set_params(**after).fit(X[:60])
    fresh = estimator(C, **{**words, **before, **after}).fit(X[:60])
    assert set(vars(used)) == set(vars(fresh))
    np.testing.assert_array_equal(used.memberships_, fresh.memberships_)
    np.testing.assert_array_equal(used.transform(X), fresh.transform(X))


@pytest.mark.parametrize("rule", ["hard", "fuzzy", "possibilistic"])
def test_a_refit_with_another_rule_is_a_fresh_fit(rule, X):
    for other in ("possibilistic", "fuzzy", "hard"):
        used = (
            CMeans(C, rule=other, kernel="linear", random_state=0)
            .fit(X)
            .set_params(rule=rule)
            .fit(X)
        )
        fresh = CMeans(C, rule=rule, kernel="linear", random_state=0).fit(X)
        assert set(vars(used)) == set(vars(fresh))
        assert used.objective_ == fresh.objective_


def test_a_precomputed_model_refitted_on_rows(X):
    model = KernelKMeans(C, kernel="precomputed", random_state=0).fit(rbf_kernel(X, gamma=0.05))
    model.set_params(kernel="rbf", gamma=0.05).fit(X)
    assert model.n_features_in_ == D
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_fit_that_fails_leaves_the_words_alone(X):
    model = build("fuzzy", "euclidean").fit(X)
    before = model.get_params()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 5, np.nan, X))
    assert model.get_params() == before


@over_pairs
def test_one_cluster_is_the_mean(model_name, space, X):
    rows = rows_for(space, X)
    model = build(model_name, space, n_clusters=1).fit(rows)
    assert model.labels_.tolist() == [0] * N
    assert model.n_clusters_ == 1
    if "possibilistic" not in model_name:
        np.testing.assert_allclose(model.memberships_, 1, rtol=1e-12)
        if space == "euclidean":
            np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0), rtol=1e-9)
            assert model.objective_ == pytest.approx(N * X.var(axis=0).sum())


@over_models
def test_words_changed_after_a_fit_wait_for_the_next(model_name, X):
    model = build(model_name, "landmarks").fit(X)
    before = model.transform(X)
    words = {"kernel": "linear", "n_clusters": 7, "landmarks": None, "gamma": 3.0}
    np.testing.assert_array_equal(model.set_params(**words).transform(X), before)


@over_models
def test_random_state_none_and_generators(model_name, X):
    """None draws anew, a RandomState is drawn from, an int is the same each time."""
    assert build(model_name, "euclidean", random_state=None).fit(X).converged_
    state = np.random.RandomState(0)
    first, second = (build(model_name, "landmarks", random_state=state).fit(X) for _ in range(2))
    assert first.landmark_indices_.tolist() != second.landmark_indices_.tolist()
    same = [build(model_name, "landmarks", random_state=7).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(same[0].memberships_, same[1].memberships_)
