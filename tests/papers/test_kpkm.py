"""Probabilistic kernel k-means: step for step what Rosen's gradient projection does, downhill, to
where nothing leads down."""

from __future__ import annotations

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

import naive
import naive_rosen
from cmeans import FuzzyCMeans, KernelKMeans, ProbabilisticKMeans
from cmeans.data.blocks import Blocks
from cmeans.datasets import make_ring_and_disc
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Linear, Polynomial, Sigmoid
from cmeans.papers import GradientLandmarks
from cmeans.papers.kpkm import GivenStart, PartitionProblem
from cmeans.papers.kpkm.batched import follow_batched
from cmeans.papers.kpkm.grams import DenseGram, gram_of
from cmeans.papers.kpkm.projection import follow
from cmeans.papers.kpkm.transfer import transfer_in_memory
from cmeans.rules import Hard
from cmeans.runtime.progress import listening
from cmeans.sampling.population import population_of
from cmeans.spaces import EuclideanSpace, ExactSpace, landmark_space
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.represented_rows import RepresentedRows
from limited import limited, within
from stored_rows import Kept
from sweep_choices import pairs

pytestmark = pytest.mark.slow

SOLVERS = ("fagp", "agp", "batched", "lloyd")
over_solvers = pytest.mark.parametrize("solver", SOLVERS)
SPACES = {
    "exact": {"kernel": "rbf", "gamma": 0.3, "landmarks": None},
    "landmarks": {"kernel": "rbf", "gamma": 0.3, "landmarks": 12},
    "gradient": {"kernel": "rbf", "gamma": 0.3, "landmarks": GradientLandmarks(8)},
    "euclidean": {"kernel": "linear"},
    "polynomial": {"kernel": Polynomial(degree=2, gamma=0.1), "landmarks": None},
}
over_spaces = pytest.mark.parametrize("space", SPACES)


@pytest.fixture(scope="module")
def X():
    return make_blobs(90, 3, centers=4, cluster_std=1.5, random_state=2)[0]


def model(solver="fagp", c=4, **words):
    return ProbabilisticKMeans(c, **{"solver": solver, "random_state": 0, "step": 0.5, **words})


def walk(K, P, step=None, weight=None, max_iter=10**4):
    """The closed form's iterates."""
    iterates = [P.copy()]

    def after_step(p, steps, objective):
        iterates.append(p.copy())
        return False

    weight = np.ones(len(K)) if weight is None else weight
    gram = DenseGram(K, np.diag(K).copy())
    return follow(gram, weight, P, max_iter, float(weight @ np.diag(K)), step, after_step), iterates


# ----------------------------------------------------------------------------------------- the walk


@pytest.mark.parametrize("step", [None, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_iterates_are_those_of_the_dense_projection(seed, step):
    """Rosen's N and Q with the update of rank one, against the closed form that has neither: to
    1e-10, every step."""
    rng = np.random.default_rng(seed)
    n, c = (24, 3) if step is None else (14, 3)
    K, P = rbf_kernel(rng.normal(size=(n, 2)), gamma=0.5), rng.dirichlet(np.ones(c), n)
    dense = naive_rosen.gradient_projection(K, P, np.inf if step is None else step, max_iter=300)
    path, iterates = walk(K, P, step, max_iter=300)
    assert path.n_iter == len(dense.steps) >= n * (c - 1)
    assert path.finished == (len(dense.steps) < 300)
    for ours, theirs in zip(iterates, dense.iterates, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(path.steps, dense.steps, rtol=1e-9)
    for value, P_now in zip(path.history, dense.iterates, strict=True):
        assert value == pytest.approx(naive_rosen.objective(K, P_now), rel=1e-10)


def test_the_gradient_is_the_squared_distance():
    """Substituting the best centres leaves d f / d p_lk = |phi(x_l) - v_k|^2, by finite
    differences."""
    rng = np.random.default_rng(0)
    K, P = rbf_kernel(rng.normal(size=(9, 2))), rng.dirichlet(np.ones(3), 9)
    g, h = naive_rosen.gradient(K, P), 1e-6
    for row, k in itertools.product(range(9), range(3)):
        up, down = P.copy(), P.copy()
        up[row, k] += h
        down[row, k] -= h
        slope = (naive_rosen.objective(K, up) - naive_rosen.objective(K, down)) / (2 * h)
        # which (16) has for rows that sum to one only
        assert slope + K[row, row] == pytest.approx(g[row, k], abs=1e-7)


def test_a_weight_of_two_is_two_rows_of_half_the_way_each():
    """Copies go the same way as the row that stands for them, to the same partition."""
    rng = np.random.default_rng(3)
    X, P = rng.normal(size=(15, 2)), rng.dirichlet(np.ones(3), 15)
    weight = np.ones(15)
    weight[:4] = 2
    once, _ = walk(rbf_kernel(X), P, weight=weight)
    twice = np.r_[np.arange(15), np.arange(4)]
    copies, _ = walk(rbf_kernel(X[twice]), P[twice])
    np.testing.assert_allclose(copies.memberships[:15], once.memberships, atol=1e-9)
    np.testing.assert_array_equal(copies.memberships[15:], copies.memberships[:4])
    assert copies.history[-1] == pytest.approx(once.history[-1], rel=1e-12)


def test_rows_of_no_weight_neither_move_nor_stop_others():
    rng = np.random.default_rng(4)
    X, P = rng.normal(size=(20, 2)), rng.dirichlet(np.ones(3), 20)
    weight = np.r_[np.ones(15), np.zeros(5)]
    path, _ = walk(rbf_kernel(X), P, weight=weight)
    alone, _ = walk(rbf_kernel(X[:15]), P[:15])
    np.testing.assert_allclose(path.memberships[:15], alone.memberships, atol=1e-12)
    assert path.n_iter == alone.n_iter


@pytest.mark.parametrize("solver", ["fagp", "batched"])
def test_from_the_middle_of_everything(solver, X):
    """Where all centres are equal no way leads down at first sight; a vertex is as good as any, and
    the walk goes on from there."""
    start = np.full((len(X), 4), 0.25)
    fitted = model(solver, init=start, **SPACES["exact"]).fit(X)
    assert fitted.converged_
    assert fitted.n_clusters_ == 4
    assert (np.diff(fitted.objective_history_) <= 1e-9).all()
    assert fitted.objective_ < 0.9 * fitted.objective_history_[0]


@pytest.mark.parametrize("start", ["middle", "mirrored"])
@pytest.mark.parametrize("solver", ["fagp", "batched"])
def test_from_a_symmetric_start_rounding_chooses_nothing(solver, start, X):
    """Where the start gives clusters the same centres, distances are equal in exact arithmetic, and
    differ by rounding on every machine in its own way, as they do for rows of other last digits;
    which row settles first, and where, is a matter of their order alone."""
    rng, p = np.random.default_rng(0), np.full((2 * len(X), 3), 1.0 / 3.0)
    if start == "mirrored":  # two centres are one, and the third is at the other side
        p[: len(X)], p[len(X) :] = [0.5, 0.25, 0.25], [0.0, 0.5, 0.5]
    fits = []
    for number in range(8):
        digits = 1.0 + 2.0**-52 * (rng.integers(-4, 5, size=(2 * len(X), 3)) if number else 0)
        x = np.concatenate([X, -X]) * digits
        fits.append(
            model(solver, 3, init=p, quantile=0.6, kernel="rbf", gamma=0.05, landmarks=x[::15]).fit(
                x
            )
        )
    for fitted in fits[1:]:
        np.testing.assert_array_equal(fitted.labels_, fits[0].labels_)
        np.testing.assert_allclose(fitted.objective_history_, fits[0].objective_history_, rtol=1e-9)


@pytest.mark.parametrize("solver", ["fagp", "batched"])
def test_a_cluster_that_nobody_belongs_to_gets_a_row(solver, X):
    start = np.zeros((len(X), 4))
    start[:, :2] = np.random.default_rng(0).dirichlet(np.ones(2), len(X))
    fitted = model(solver, init=start, **SPACES["exact"]).fit(X)
    assert fitted.n_clusters_ == 4
    assert fitted.converged_


def test_quantile_zero_ends_where_the_papers_algorithm_does(X):
    K = rbf_kernel(X, gamma=0.3)
    P = np.random.default_rng(1).dirichlet(np.ones(4), len(X))
    rows = RepresentedRows(
        ExactSpace(RBF(0.3), Blocks(X, np.ones(len(X)))), Blocks(X, np.ones(len(X))), 10**8
    )
    with ThreadEngine(1).opened() as engine:
        problem = PartitionProblem(Problem(rows, Hard(), engine), population_of(rows.blocks))
        start = GivenStart(Hard(), 4, P)
        batched, visits = follow_batched(problem.problem, start, 0.0, 10**4, problem.total_norm())
    assert batched.finished
    vertices = next(i for i, p in enumerate(walk(K, P)[1]) if ((p > 0).sum(axis=1) == 1).all())
    assert batched.n_iter == vertices
    np.testing.assert_allclose(batched.memberships.column("p"), walk(K, P)[1][vertices], atol=1e-6)
    assert visits > len(X)


@over_spaces
def test_grams_are_inner_products_of_the_space(space, X):
    """What the walk in memory goes by is what the space's own distances say."""
    fitted = KernelKMeans(4, init=np.arange(4), **SPACES[space]).fit(X)
    blocks = Blocks(X, np.ones(len(X)))
    kernel = fitted.kernel_
    if isinstance(kernel, Linear):
        rows = RepresentedRows(EuclideanSpace(np.zeros(3)), blocks, 0)
    elif fitted.landmark_indices_ is None or SPACES[space]["landmarks"] is None:
        rows = RepresentedRows(ExactSpace(kernel, blocks), blocks, 0)
    else:
        rows = RepresentedRows(
            landmark_space(kernel, fitted.landmarks_, None, X.dtype, factor=space != "gradient"),
            blocks,
            0,
        )
    gram = gram_of(rows, np.arange(len(X)))
    centres = rows.space.embed(blocks.cut(0, len(X)), np.arange(len(X)))
    matrix = np.stack([gram.column(row) for row in range(len(X))])
    np.testing.assert_allclose(matrix, centres.inner(centres), rtol=1e-6, atol=1e-6 * matrix.max())
    np.testing.assert_allclose(gram.product(np.eye(len(X))), matrix, atol=1e-10 * matrix.max())
    np.testing.assert_allclose(
        gram.among(np.array([2, 5, 7])).product(np.eye(3)),
        matrix[np.ix_([2, 5, 7], [2, 5, 7])],
        atol=1e-9,
    )


# ------------------------------------------------------------------------------------ the estimator


@over_spaces
@over_solvers
def test_downhill_to_a_fixed_point_that_no_single_move_improves(solver, space, X):
    fitted = model(solver, **SPACES[space]).fit(X)
    history = fitted.objective_history_
    assert fitted.converged_
    assert len(history) == fitted.n_iter_ + 1
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert history[-1] == fitted.objective_
    u = np.eye(4)[fitted.labels_]
    np.testing.assert_array_equal(fitted.memberships_, u)
    np.testing.assert_array_equal(fitted.labels_, fitted.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X), u)
    np.testing.assert_array_equal(fitted.labels_, fitted.transform(X).argmin(axis=1))
    again = KernelKMeans(
        4, init=fitted.labels_, **{**SPACES[space], **_same_space(fitted, space)}
    ).fit(X)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    if space in ("exact", "euclidean"):
        K = (
            rbf_kernel(X, gamma=0.3)
            if space == "exact"
            else (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
        )
        best = naive_rosen.objective(K, u)
        assert fitted.objective_ == pytest.approx(best, rel=1e-9)
        for row in range(len(X)):
            for k in range(4):
                moved = u.copy()
                moved[row] = np.eye(4)[k]
                if (moved.sum(axis=0) > 0).all():
                    assert naive_rosen.objective(K, moved) >= best - 1e-9 * best


def _same_space(fitted, space):
    return (
        {"kernel": "rbf", "landmarks": fitted.landmark_indices_}
        if space in ("landmarks", "gradient")
        else {}
    )


def test_polishing_improves_on_k_means():
    """A fixed point of k-means that a single move improves: three rows, and a start that k-means
    stays at."""
    X = np.array([[0.0], [2.0], [3.5]])
    stuck = np.array([0, 0, 1])
    plain = model("lloyd", 2, init=stuck, kernel="linear", polish=None).fit(X)
    np.testing.assert_array_equal(plain.labels_, stuck)
    polished = model("lloyd", 2, init=stuck, kernel="linear").fit(X)
    np.testing.assert_array_equal(polished.labels_, [0, 1, 1])
    assert polished.objective_ == pytest.approx(1.125)
    assert plain.objective_ == pytest.approx(2.0)


def test_ring_and_disc():
    """The paper's first picture: a kernel parts them, straight lines do not."""
    X, y = make_ring_and_disc(random_state=0)
    for solver in SOLVERS:
        assert (
            adjusted_rand_score(
                y, model(solver, 2, kernel="rbf", gamma=1.0, landmarks=None).fit(X).labels_
            )
            == 1.0
        )
        assert adjusted_rand_score(y, model(solver, 2, kernel="linear").fit(X).labels_) < 0.2


def test_better_minima_than_from_the_same_start_by_k_means():
    """On average, on well parted clusters; there are data where it is the other way round. k-means
    goes without search."""
    X, _ = make_blobs(200, 2, centers=12, cluster_std=0.8, random_state=5)
    objectives = {
        solver: np.mean(
            [
                model(solver, 12, kernel="linear", random_state=seed, search=None).fit(X).objective_
                for seed in range(3)
            ]
        )
        for solver in ("fagp", "batched", "lloyd")
    }
    assert objectives["fagp"] < 0.99 * objectives["lloyd"]
    assert objectives["batched"] < 0.99 * objectives["lloyd"]


def test_auto_follows_the_paper_where_it_takes_few_steps():
    rng = np.random.default_rng(0)
    assert model("auto", 2, kernel="linear").fit(rng.normal(size=(100, 2))).solver_ == "fagp"
    assert model("auto", 2, kernel="linear").fit(rng.normal(size=(3001, 2))).solver_ == "batched"
    assert model("auto", 31, kernel="linear").fit(rng.normal(size=(101, 2))).solver_ == "batched"


@pytest.mark.parametrize("solver", ["fagp", "agp", "batched"])
def test_cut_short_it_is_soft_and_says_so(solver, X):
    with pytest.warns(UserWarning, match="before every row belonged to one cluster"):
        fitted = model(solver, max_iter=3, **SPACES["exact"]).fit(X)
    assert not fitted.converged_
    assert fitted.n_iter_ == 3
    sums = fitted.memberships_.sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-9)
    assert ((fitted.memberships_ > 0).sum(axis=1) > 1).any()
    np.testing.assert_array_equal(np.unique(fitted.predict_proba(X)), [0, 1])


def cut_short(solver, X, weight=None, **words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = model(solver, **words).fit(X, sample_weight=weight)
    assert not fitted.converged_
    return fitted


NOISE = np.random.default_rng(7).normal(size=(90, 3))


CUT_SHORT = [("fagp", 1), ("fagp", 40), ("agp", 5), ("batched", 1), ("batched", 6), ("lloyd", 1)]


@pytest.mark.parametrize(
    ("way", "polish", "space"),
    pairs(CUT_SHORT, ["hartigan", None], ["exact", "landmarks", "gradient", "euclidean"]),
)
def test_labels_are_the_largest_memberships_also_where_it_is_cut_short(way, polish, space):
    solver, steps = way
    weight = np.r_[np.zeros(5), np.ones(85)]
    for dtype, init in itertools.product(
        (np.float64, np.float32), ("dirichlet", np.full((90, 4), 0.25), "random-partition")
    ):
        words = {"max_iter": steps, "polish": polish, "init": init, **SPACES[space]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fitted = model(solver, **words).fit(NOISE.astype(dtype), sample_weight=weight)
        np.testing.assert_array_equal(fitted.labels_, fitted.memberships_.argmax(axis=1))
        own = fitted.transform(NOISE.astype(dtype))[np.arange(90), fitted.labels_]
        for k, rows in enumerate(fitted.representatives(3)):
            near = own[rows[rows >= 0]]
            assert (np.diff(near) >= 0).all()
            np.testing.assert_array_equal(near, np.sort(own[fitted.labels_ == k])[: len(near)])


@pytest.mark.parametrize("solver", ["batched", "lloyd"])
def test_labels_of_a_search_that_k_means_could_not_end(solver):
    """Batched gradients have come to a partition, from which k-means goes on and is not done
    either."""
    for steps, seed in itertools.product(range(2, 40, 3), range(2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fitted = model(
                solver,
                6,
                max_iter=steps,
                kernel="linear",
                quantile=1.0,
                random_state=seed,
                polish=None,
            ).fit(NOISE)
        np.testing.assert_array_equal(fitted.labels_, fitted.memberships_.argmax(axis=1))


@pytest.mark.parametrize(
    "words",
    [{"solver": "batched", "max_iter": 3}, {"solver": "lloyd", "max_iter": 1, "polish": None}],
)
def test_labels_of_rows_in_files_are_those_of_rows_in_memory(words, monkeypatch):
    limited(monkeypatch, loaded_bytes=0)
    X = np.random.default_rng(8).normal(size=(2500, 3))
    inside = cut_short(X=X, kernel="linear", **words)
    stored = cut_short(X=Kept(X), kernel="linear", **words)
    np.testing.assert_array_equal(stored.labels_, inside.labels_)
    np.testing.assert_array_equal(inside.labels_, inside.memberships_.argmax(axis=1))
    assert (stored.labels_ != stored.predict(X)).any()


@cache
@within()
def of_noise(solver, **words):
    return model(solver, kernel="linear", n_init=1, **words).fit(NOISE)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("refit", [False, True])
def test_an_interrupt_leaves_the_centres_so_far_and_no_rows(solver, refit, monkeypatch):
    """After three steps or sweeps, in a second start that is worse than the first, too."""
    heard, follow_on = [0], of_noise(solver)

    def listener(progress):
        heard[0] += progress.objective is not None
        if heard[0] == 3:
            raise KeyboardInterrupt

    other = model(solver, kernel="linear", n_init=1)
    if refit:
        other.fit(NOISE[:50])
    before = dict(vars(other))
    with pytest.raises(KeyboardInterrupt), listening(listener):
        other.fit(NOISE)
    assert not other.converged_
    assert "interrupted after" in other.stop_reason_
    assert not {"labels_", "memberships_", "_nearest", "objective_", "row_visits_"} & set(
        vars(other)
    )
    assert other.predict(NOISE).shape == (90,)
    assert set(vars(other)) <= set(before) | set(vars(follow_on))
    with pytest.raises(ValueError, match="rows"):
        other.representatives()

    best, runs = of_noise(solver, init="dirichlet"), [0]

    def late(progress):
        if progress.stage == "fit" and progress.run == 1:
            runs[0] += 1
            raise KeyboardInterrupt

    twice = model(solver, kernel="linear", n_init=2, init="dirichlet")
    with pytest.raises(KeyboardInterrupt), listening(late):
        twice.fit(NOISE)
    assert runs == [1]
    # clusters are numbered at the end of a fit
    assert adjusted_rand_score(twice.predict(NOISE), best.labels_) == 1.0


@pytest.mark.parametrize(
    "init",
    [
        "k-means++",
        "k-means||",
        "random",
        "max-min",
        "labels",
        "rows",
        "points",
        "model",
        "memberships",
    ],
)
def test_any_start(init, X):
    given = {
        "labels": np.arange(len(X)) % 4,
        "rows": np.array([0, 10, 20, 30]),
        "points": X[:4] + 0.01,
        "model": FuzzyCMeans(4, kernel="linear", random_state=0).fit(X),
        "memberships": np.random.default_rng(0).dirichlet(np.ones(4), len(X)),
    }
    fitted = model("fagp", init=given.get(init, init), kernel="linear").fit(X)
    assert fitted.converged_
    assert (np.diff(fitted.objective_history_) <= 1e-9 * fitted.objective_history_[0]).all()
    if init == "memberships":
        start = naive_rosen.objective(
            (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T, given["memberships"]
        )
        assert fitted.objective_history_[0] == pytest.approx(start, rel=1e-9)


def test_of_moves_that_gain_the_same_the_first_is_made():
    """Rows of a small table move one by one; whichever way rounding turns products that are equal,
    they come to the same partition."""
    x = np.array(list(itertools.product(range(4), range(3))), dtype=float) - [1.5, 1.0]
    gram, rng = x @ x.T, np.random.default_rng(0)

    def moved(gram, labels):
        return transfer_in_memory(
            DenseGram(gram, np.diag(gram).copy()), np.ones(12), labels, 3, 100
        )

    for _ in range(20):
        noise = 1.0 + 2.0**-52 * rng.integers(-4, 5, size=gram.shape)
        labels = rng.permutation(12) % 3
        np.testing.assert_array_equal(
            moved(gram * (noise + noise.T) / 2.0, labels), moved(gram, labels)
        )


def test_several_starts_keep_the_best(X):
    one = [model("fagp", n_init=1, random_state=np.random.RandomState(7), **SPACES["exact"])]
    several = model("fagp", n_init=6, random_state=7, **SPACES["exact"]).fit(X)
    assert several.objective_ <= one[0].fit(X).objective_
    assert several.row_visits_ > one[0].row_visits_


@over_solvers
def test_weights_are_copies_and_order_does_not_matter(solver, X):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(X))
    fitted = model(solver, **SPACES["exact"]).fit(X, sample_weight=weight)
    rows = rng.permutation(np.repeat(np.arange(len(X)), weight))
    copies = model(solver, **SPACES["exact"]).fit(X[rows])
    np.testing.assert_array_equal(copies.labels_, fitted.labels_[rows])
    assert copies.objective_ == pytest.approx(fitted.objective_, rel=1e-9)


@over_solvers
def test_precomputed_is_the_kernel_itself(solver, X):
    """Without the polish, which takes equal rows together where it can tell them, and the rows in
    another order."""
    words = {"polish": None, "init": np.random.default_rng(0).dirichlet(np.ones(4), len(X))}
    given = model(solver, kernel="precomputed", **words).fit(rbf_kernel(X, gamma=0.3))
    same = model(solver, **words, **SPACES["exact"]).fit(X)
    assert given.converged_
    np.testing.assert_array_equal(given.labels_, same.labels_)
    assert given.objective_ == pytest.approx(same.objective_, rel=1e-9)


@pytest.mark.parametrize("solver", ["fagp", "batched"])
def test_float32_and_threads(solver):
    X, y = make_blobs(3000, 4, centers=5, random_state=0)
    rows = 300 if solver == "fagp" else 1500
    X, y = X[:rows], y[:rows]
    words = (
        {"kernel": "linear"}
        if solver == "fagp"
        else {"kernel": "rbf", "landmarks": 50, "gamma": 0.05}
    )
    single = model(solver, 5, n_jobs=1, **words).fit(X.astype(np.float32))
    double = model(solver, 5, n_jobs=2, **words).fit(X.astype(np.float32))
    assert single.memberships_.dtype == np.float32
    np.testing.assert_array_equal(single.labels_, double.labels_)
    np.testing.assert_array_equal(single.objective_history_, double.objective_history_)
    assert adjusted_rand_score(y, single.labels_) > 0.9
    assert (np.diff(single.objective_history_) <= 1e-5 * single.objective_history_[0]).all()


def test_an_indefinite_kernel_is_told_of():
    X = scale(load_wine().data[:60, :4])
    with pytest.warns(UserWarning, match="indefinite"):
        ProbabilisticKMeans(3, kernel=Sigmoid(0.3, -1.0), landmarks=None, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"solver": "newton"}, "unknown solver; known are"),
        ({"step": 0.0}, "step must be a number greater than 0"),
        ({"quantile": 1.5}, "quantile must lie between 0 and 1"),
        ({"quantile": -0.1}, "quantile must be a number of at least 0"),
        ({"polish": "nails"}, "unknown polish"),
        ({"max_iter": 0}, "max_iter must be None or a whole number of at least 1"),
        ({"init": "dirichlet-2"}, "unknown init"),
        ({"n_clusters": 99}, "fewer rows than clusters"),
    ],
)
def test_bad_words(words, message, X):
    with pytest.raises(ValueError, match=message):
        ProbabilisticKMeans(**{"n_clusters": 4, **words}).fit(X)


def test_one_cluster_one_row_and_equal_rows(X):
    assert ProbabilisticKMeans(1, kernel="linear").fit(X).objective_ == pytest.approx(
        ((X - X.mean(axis=0)) ** 2).sum()
    )
    assert ProbabilisticKMeans(1, kernel="linear").fit(X[:1]).labels_.tolist() == [0]
    equal = ProbabilisticKMeans(1, kernel="linear").fit(np.ones((5, 2)))
    assert equal.objective_ == 0
    two = ProbabilisticKMeans(2, kernel="linear", random_state=0).fit(
        np.array([[0.0], [0.0], [1.0], [1.0]])
    )
    assert two.objective_ == 0
    assert two.n_clusters_ == 2


def test_naive_hard_distances_agree(X):
    """The centres that the model keeps are the means of its clusters."""
    fitted = model("fagp", kernel="linear").fit(X)
    means = np.stack([X[fitted.labels_ == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(fitted.cluster_centers_, means, atol=1e-9)
    np.testing.assert_allclose(fitted.transform(X) ** 2, naive.point_distances(X, means), atol=1e-8)
