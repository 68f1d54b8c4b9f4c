"""What scikit-learn's own tests of its GaussianMixture hold it to, by public names: held here of
ours, through an adapter of words. Where ours differs by design, the test says how.

By design: weights that do not sum to one are shares of their sum; means, covariances and precisions
are float64 whatever the rows are; `max_iter=0` is refused; in place of `warm_start` a fitted model
is the `init` of the next; `lower_bounds_` is `objective_history_`, which has the prior; `verbose`
goes to a logger; `init_params` draws centres of the hard partitions, of which `n_init` are made, so
that more of them need not help a run that is cut short; errors and warnings say what to do in their
own words. A run of one sweep has not converged, as it has nothing to compare.
"""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from cmeans import Covariance, GaussianMixture

SHAPES = ("full", "tied", "diag", "spherical")


def peer(n_components=1, *, covariance_type="full", reg_covar=None, **words):
    """Our mixture by scikit-learn's words: `reg_covar=0` is no prior, all others are ours."""
    given = [words.pop(f"{name}_init", None) for name in ("weights", "means", "precisions")]
    prior = 0 if reg_covar == 0 else "auto"
    if all(one is not None for one in given):
        words["init"] = (*given[:2], inverse(given[2], covariance_type))
    elif given[1] is not None:
        words["init"] = given[1]
    elif "init_params" in words:
        names = {"kmeans": "k-means++", "random": "random-partition", "random_from_data": "random"}
        word = words.pop("init_params")
        words["init"] = names.get(word, word)
    return GaussianMixture(n_components, covariance=Covariance(covariance_type, prior), **words)


def inverse(matrices, shape):
    matrices = np.asarray(matrices, float)
    return np.linalg.inv(matrices) if shape in ("full", "tied") else 1.0 / matrices


class Drawn:
    """Rows of a mixture with known parameters, for each shape."""

    def __init__(self, seed=0, n=200, c=2, d=2, scale=50.0):
        rng = np.random.default_rng(seed)
        self.weights = rng.uniform(0.3, 1.0, c)
        self.weights /= self.weights.sum()
        self.means = scale * rng.uniform(size=(c, d))
        turned = 0.5 * rng.normal(size=(c, d, d))
        full = turned @ turned.swapaxes(1, 2) + 0.3 * np.eye(d)
        self.covariances = {
            "full": full,
            "tied": full[0],
            "diag": (0.5 + rng.uniform(size=(c, d))) ** 2,
            "spherical": 0.5 + rng.uniform(size=c),
        }
        self.precisions = {name: inverse(S, name) for name, S in self.covariances.items()}
        self.y = rng.choice(c, n, p=self.weights)
        normal = rng.normal(size=(n, d))
        self.X = {
            name: self.means[self.y]
            + np.einsum("nab,nb->na", np.linalg.cholesky(self.full(S))[self.y], normal)
            for name, S in self.covariances.items()
        }

    def full(self, S):
        c, d = self.means.shape
        if S.ndim == 3:
            return S
        if S.shape == (c,):
            return S[:, None, None] * np.eye(d)
        tied = S is self.covariances.get("tied")
        return np.array([S] * c) if tied else S[:, :, None] * np.eye(d)

    def start(self, shape):
        return {
            "weights_init": self.weights,
            "means_init": self.means,
            "precisions_init": self.precisions[shape],
            "covariance_type": shape,
        }


def quietly(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def test_parameters_stay_as_they_were_given():
    words = {"n_init": 3, "tol": 1e-4, "max_iter": 30, "init_params": "random"}
    model = peer(2, **words).fit(np.random.default_rng(0).uniform(size=(10, 2)))
    got = model.n_clusters, model.n_init, model.tol, model.max_iter, model.init
    assert got == (2, 3, 1e-4, 30, "random-partition")


@pytest.mark.parametrize("weights", [[[0.5], [0.5]], [-0.1, 1.1], [0.0, 1.0], [1.0]])
def test_weights_to_start_from_are_checked(weights):
    known = Drawn()
    start = {**known.start("full"), "weights_init": np.array(weights)}
    with pytest.raises(ValueError, match=r"init=\(weights, means, covariances\)"):
        peer(2, **start).fit(known.X["full"])


def test_weights_to_start_from_are_shares_of_their_sum():
    """Scikit-learn refuses them."""
    known = Drawn()
    start = known.start("full")
    one = quietly(peer(2, max_iter=2, **start), known.X["full"])
    other = quietly(
        peer(2, max_iter=2, **{**start, "weights_init": 3.0 * known.weights}), known.X["full"]
    )
    np.testing.assert_allclose(other.means_, one.means_, rtol=1e-12)


def test_means_to_start_from_are_checked():
    known = Drawn()
    with pytest.raises(ValueError, match="init"):
        peer(2, means_init=np.ones((3, 2))).fit(known.X["full"])
    means = known.means.copy()
    peer(2, means_init=means).fit(known.X["full"])
    np.testing.assert_array_equal(means, known.means)


@pytest.mark.parametrize("shape", SHAPES)
def test_covariances_to_start_from_are_checked(shape):
    known = Drawn()
    start = known.start(shape)
    more = {"full": (3, 2, 2), "tied": (3, 3), "diag": (3, 2), "spherical": (3,)}[shape]
    wrong = np.array(known.covariances[shape])
    wrong.flat[0] = -1.0
    for bad in (np.ones(more), wrong):
        model = peer(2, **start)
        model.init = (known.weights, known.means, bad)
        with pytest.raises(ValueError, match="covariance"):
            model.fit(known.X[shape])
    given = known.precisions[shape].copy()
    peer(2, **start).fit(known.X[shape])
    np.testing.assert_array_equal(given, known.precisions[shape])


@pytest.mark.parametrize("shape", SHAPES)
def test_log_densities_are_those_of_scipy(shape):
    known = Drawn(scale=5)
    model = peer(2, covariance_type=shape, random_state=0).fit(known.X[shape])
    S = {
        "full": lambda S: S,
        "tied": lambda S: np.array([S] * 2),
        "diag": lambda S: S[:, :, None] * np.eye(2),
        "spherical": lambda S: S[:, None, None] * np.eye(2),
    }[shape](model.covariances_)
    rows = np.random.default_rng(1).uniform(-5, 10, size=(100, 2))
    values = sum(
        p * stats.multivariate_normal(v, s).pdf(rows)
        for p, v, s in zip(model.weights_, model.means_, S, strict=True)
    )
    np.testing.assert_allclose(model.score_samples(rows), np.log(values), rtol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_posteriors_sum_to_one_and_decide(shape):
    known = Drawn()
    model = peer(2, **known.start(shape))
    with pytest.raises(NotFittedError):
        model.predict(known.X[shape])
    posteriors = model.fit(known.X[shape]).predict_proba(known.X[shape])
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    np.testing.assert_array_equal(posteriors.argmax(axis=1), model.predict(known.X[shape]))
    assert adjusted_rand_score(known.y, model.labels_) > 0.95


@pytest.mark.parametrize(("seed", "max_iter", "tol"), [(0, 2, 1e-7), (1, 2, 0.1), (3, 300, 1e-7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_predict_is_fit_and_predict(seed, max_iter, tol, dtype):
    known = Drawn(seed)
    for shape in SHAPES:
        X = known.X[shape].astype(dtype)
        one = peer(2, max_iter=max_iter, tol=tol, **known.start(shape))
        other = copy.deepcopy(one)
        labels = one.fit(X).predict(X)
        np.testing.assert_array_equal(labels, other.fit_predict(X))
        assert adjusted_rand_score(known.y, labels) > 0.95
        assert one.means_.dtype == np.float64  # scikit-learn: that of the rows
        assert one.predict_proba(X).dtype == dtype


def test_fit_predict_of_several_starts():
    X = np.random.default_rng(0).normal(size=(100, 5))
    model = peer(5, n_init=5, random_state=0)
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))


@pytest.mark.parametrize("shape", SHAPES)
def test_parameters_are_found_again(shape):
    known = Drawn(n=1500)
    model = peer(2, covariance_type=shape, n_init=5, reg_covar=0, random_state=0)
    model.fit(known.X[shape])
    order = np.argsort(model.means_[:, 0])[np.argsort(np.argsort(known.means[:, 0]))]
    np.testing.assert_allclose(model.weights_[order], known.weights, atol=0.03)
    np.testing.assert_allclose(model.means_[order], known.means, rtol=0.02, atol=0.1)
    found = model.covariances_ if shape == "tied" else model.covariances_[order]
    np.testing.assert_allclose(found, known.covariances[shape], rtol=0.2, atol=0.1)


@pytest.mark.parametrize("shape", SHAPES)
def test_more_starts_are_no_worse(shape):
    """By the objective, which is what starts compare by (a likelihood has no prior)."""
    for seed in range(1):
        X = np.random.default_rng(seed).normal(size=(50, 5))
        one, more = (
            quietly(peer(2, covariance_type=shape, n_init=n, random_state=0), X) for n in (1, 5)
        )
        assert more.objective_ <= one.objective_ * (1 + 1e-3 * np.sign(one.objective_))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_of_clear_starts_is_any_of_them(shape):
    known = Drawn()
    scores = [
        peer(2, covariance_type=shape, reg_covar=0, n_init=n, random_state=seed)
        .fit(known.X[shape])
        .score(known.X[shape])
        for n, seed in ((1, 0), (1, 1), (10, 2))
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_that_are_cut_short_warn(shape):
    known = Drawn(scale=1)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = peer(2, covariance_type=shape, max_iter=1, random_state=0).fit(known.X[shape])
    assert not model.converged_


def test_shapes_of_one_component_in_one_column_are_one():
    X = np.random.default_rng(0).normal(size=(100, 1))
    bics = [peer(1, covariance_type=shape, reg_covar=0).fit(X).bic(X) for shape in SHAPES]
    np.testing.assert_allclose(bics, bics[0], rtol=1e-10)


def test_bic_and_aic_count_parameters():
    """As 2 n H and the number of parameters say, H the entropy of a Gaussian."""
    X = np.random.default_rng(0).normal(size=(500, 3)) @ [[1, 0.5, 0], [0, 1, 0.2], [0, 0, 2.0]]
    model = peer(1, reg_covar=0).fit(X)
    entropy = (np.linalg.slogdet(np.cov(X.T, bias=True))[1] + 3 * (1 + np.log(2 * np.pi))) / 2
    np.testing.assert_allclose(model.aic(X), 2 * 500 * entropy + 2 * 9, rtol=1e-10)
    np.testing.assert_allclose(model.bic(X), 2 * 500 * entropy + np.log(500) * 9, rtol=1e-10)
    numbers = {"spherical": 13, "diag": 21, "tied": 26, "full": 41}  # of 2 components of 5 columns
    X = np.random.default_rng(0).normal(size=(60, 5))
    for shape, number in numbers.items():
        model = quietly(peer(2, covariance_type=shape, max_iter=1, random_state=0), X)
        counted = (model.bic(X) - model.aic(X)) / (np.log(60) - 2)
        np.testing.assert_allclose(counted, number)


@pytest.mark.parametrize("verbose", [1, 2])
def test_a_talking_fit_prints_nothing(verbose, capsys, logged):
    """Scikit-learn's lines are on the standard output."""
    peer(2, verbose=verbose, random_state=0).fit(Drawn().X["full"])
    assert capsys.readouterr().out == ""
    assert all("GaussianMixture" in message for message in logged.messages)
    assert logged.messages


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_goes_on_from_another(seed):
    """In place of `warm_start`: two sweeps are one and one."""
    X = np.random.default_rng(seed).uniform(size=(500, 2))
    words = {"tol": 0, "reg_covar": 0, "random_state": 0}
    start = Drawn(seed, scale=1).start("full")
    both = quietly(peer(2, max_iter=2, **words, **start), X)
    one = quietly(peer(2, max_iter=1, **words, **start), X)
    other = copy.deepcopy(one).set_params(init=one)
    quietly(other, X)
    for name in ("weights_", "means_", "precisions_"):
        np.testing.assert_allclose(getattr(other, name), getattr(both, name), rtol=1e-9, atol=1e-9)
    assert other.score(X) > one.score(X)


@pytest.mark.parametrize("max_iter", [2, 50])
def test_a_fit_that_goes_on_ends(max_iter):
    X = Drawn(scale=7).X["full"]
    model = quietly(peer(2, max_iter=max_iter, random_state=0), X)
    for _ in range(100):
        if model.converged_:
            break
        init = model.weights_, model.means_, model.covariances_
        model = quietly(peer(2, max_iter=max_iter, random_state=0).set_params(init=init), X)
    assert model.converged_
    assert model.n_iter_ <= max_iter


def test_scores_are_means_of_log_likelihoods():
    X = Drawn(scale=7).X["full"]
    short = peer(2, max_iter=1, reg_covar=0, random_state=0)
    for method in (short.score, short.score_samples):
        with pytest.raises(NotFittedError):
            method(X)
    quietly(short, X)
    assert short.score_samples(X).shape == (200,)
    np.testing.assert_allclose(short.score(X), short.score_samples(X).mean())
    long = peer(2, reg_covar=0, random_state=0).fit(X)
    assert long.score(X) >= short.score(X)
    np.testing.assert_allclose(long.lower_bound_, long.score(X))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_sweep_raises_the_likelihood(shape):
    X = Drawn(seed=2, scale=4).X[shape]
    model = peer(2, covariance_type=shape, reg_covar=0, tol=1e-9, random_state=0).fit(X)
    assert model.converged_
    assert (np.diff(-model.objective_history_) >= -1e-9 * abs(model.objective_)).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_clusters_of_one_point_need_a_prior(shape):
    X = np.repeat([[1.0] * 5, [0.0] * 5], 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fewer distinct rows than clusters
        with pytest.raises(ValueError, match=r"without an inverse.*leave prior out"):
            peer(10, covariance_type=shape, reg_covar=0, random_state=0).fit(X)
        model = peer(10, covariance_type=shape, random_state=0).fit(X)
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize("shape", SHAPES)
def test_precisions_are_inverse_covariances(shape):
    known = Drawn(scale=7)
    model = peer(2, covariance_type=shape, random_state=0).fit(known.X[shape])
    np.testing.assert_allclose(model.precisions_, inverse(model.covariances_, shape), rtol=1e-9)
    triangles = model.precisions_cholesky_
    if shape in ("full", "tied"):
        assert not np.tril(triangles, -1).any()
        squares = triangles @ np.swapaxes(triangles, -1, -2)
    else:
        squares = triangles**2
    np.testing.assert_allclose(squares, model.precisions_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_samples_have_the_moments_of_the_components(shape):
    known = Drawn(c=3, scale=7)
    model = peer(3, covariance_type=shape, random_state=0)
    with pytest.raises(NotFittedError):
        model.sample(1)
    model.fit(known.X[shape])
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)
    X, y = model.sample(20_000)
    for j in range(3):
        S = np.cov(X[y == j].T)
        here = {
            "full": lambda S: S,
            "tied": lambda S: S,
            "diag": np.diag,
            "spherical": lambda S: np.diag(S).mean(),
        }[shape](S)
        found = model.covariances_ if shape == "tied" else model.covariances_[j]
        atol = 16.0 / np.sqrt((y == j).sum())
        np.testing.assert_allclose(here, found, atol=atol)
        np.testing.assert_allclose(X[y == j].mean(axis=0), model.means_[j], atol=atol)
    for n in range(1, 40):
        assert model.sample(n)[0].shape == (n, 2)


def test_components_of_no_spread_stand():
    """Starts whose components are points of deviation a thousandth: a fit of one sweep stands."""
    X = np.random.default_rng(0).uniform(size=(30, 3))
    weights = np.array([1, 1, 2, 5, 18, 3]) / 30
    start = {"weights_init": weights, "means_init": X[:6], "precisions_init": [1e6] * 2 + [200] * 4}
    words = {"covariance_type": "spherical", "max_iter": 1, "random_state": 0}
    model = quietly(peer(6, **words, **start), X)
    assert not model.converged_
    assert model.n_iter_ == 1
    assert np.isfinite(model.lower_bound_)
    assert np.isfinite(model.precisions_cholesky_).all()


@pytest.mark.parametrize("init", ["random", "random_from_data", "k-means++", "kmeans"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_of_every_start(init, dtype):
    X = Drawn(scale=5).X["full"].astype(dtype)
    model = peer(2, init_params=init, random_state=0).fit(X)
    assert model.means_.shape == (2, 2)
    assert (X.min(axis=0) <= model.means_).all()
    assert (model.means_ <= X.max(axis=0)).all()
    assert not np.allclose(*model.means_)
    assert model.converged_


def test_no_sweeps_are_refused():
    """Scikit-learn returns the start."""
    with pytest.raises(ValueError, match="max_iter"):
        peer(2, max_iter=0).fit(Drawn().X["full"])


def test_one_component_of_three_rows():
    X = np.random.default_rng(0).normal(size=(3, 2))
    assert peer(1, random_state=0).fit(X).sample()[0].shape == (1, 2)
