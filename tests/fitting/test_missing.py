"""Fits of rows with missing values: partial distances, means column by column."""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import nan_euclidean_distances

import cmeans
import naive
from cmeans import (
    CMeans,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    PossibilisticCMeans,
    Search,
    Sizes,
)
from cmeans.data.blocks import Block, Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import Linear
from cmeans.rules import Entropy, Fuzzy, Hard, NoiseFuzzy, Possibilistic, Rule
from cmeans.sampling.pairwise import Metric
from cmeans.solvers.fixed_point import solve
from cmeans.spaces import EuclideanSpace, PartialSpace
from cmeans.sweeps.problem import Problem, Stopping
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from every_estimator import NAMES, build, with_parameter, without
from limited import limited
from naive_partial import partial_cmeans, partial_distances

pytestmark = pytest.mark.slow

C, D = 3, 5
MAKES: dict[str, Any] = {
    "hard": lambda **words: KernelKMeans(C, kernel="linear", **{"missing": "partial", **words}),
    "fuzzy": lambda **words: FuzzyCMeans(C, **{"missing": "partial", **words}),
    "possibilistic": lambda **words: PossibilisticCMeans(
        C, eta_scale=0.3, **{"missing": "partial", **words}
    ),
    "entropy": lambda **words: CMeans(C, rule="entropy", **{"missing": "partial", **words}),
    "noise": lambda **words: FuzzyCMeans(C, noise="auto", **{"missing": "partial", **words}),
    "sizes": lambda **words: KernelKMeans(
        C, kernel="linear", sizes=Sizes(least=0.3), **{"missing": "partial", **words}
    ),
}
RULES: dict[str, tuple[Rule, float]] = {  # and the power of memberships in their weights
    "hard": (Hard(), 1.0),
    "fuzzy": (Fuzzy(2.0), 2.0),
    "fuzzy-1.4": (Fuzzy(1.4), 1.4),
    "possibilistic": (Possibilistic(1.5), 1.5),
    "noise": (NoiseFuzzy(2.0, delta=6.0), 2.0),
    "entropy": (Entropy(2.0), 1.0),
}
ETA = np.array([3.0, 5.0, 8.0])
WAY_OUT = r"impute such rows \(scikit-learn's SimpleImputer, KNNImputer\), or take "
WEIGHTS = np.random.default_rng(3).uniform(0.2, 3, 60)


def rows(
    n: int = 60, share: float = 0.3, seed: int = 0, d: int = D
) -> tuple[np.ndarray, np.ndarray]:
    """Blobs with holes; no row is blank."""
    X, y = make_blobs(n, n_features=d, centers=C, cluster_std=2.0, random_state=seed)
    rng = np.random.default_rng(seed)
    holes = rng.random(X.shape) < share
    holes[np.arange(n), rng.integers(0, d, n)] = False
    X[holes] = np.nan
    return X, y


def fitted(kind: str, X: Any, **words: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MAKES[kind](**{"random_state": 0, **words}).fit(X)


# ----------------------------------------------------------------------------------- the naive twin


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("scaled", [False, True])
def test_sweeps_are_those_of_the_naive_loop(name: str, scaled: bool) -> None:
    (rule, m), (X, _) = RULES[name], rows()
    V = np.nan_to_num(X[:C]) + 0.1
    memberships, penalty = {
        "hard": (naive.hard_memberships, None),
        "possibilistic": (
            lambda d2: naive.possibilistic_memberships(d2, ETA, m),
            lambda u: ((1 - u) ** m) @ ETA,
        ),
        "noise": (
            lambda d2: naive.noise_memberships(d2, m, 6.0),
            lambda u: 6.0 * (1 - u.sum(axis=1)) ** m,
        ),
        "entropy": (
            lambda d2: naive.entropy_memberships(d2, 2.0),
            lambda u: 2.0 * np.where(u > 0, u * np.log(u), 0).sum(axis=1),
        ),
    }.get(name, (lambda d2: naive.fuzzy_memberships(d2, m), None))
    twin = partial_cmeans(
        X,
        V,
        memberships,
        m,
        6,
        WEIGHTS,
        **({} if penalty is None else {"penalty": penalty}),
        scaled=scaled,
    )
    space = PartialSpace(np.nanmean(X, axis=0), scaled)
    with ThreadEngine(1).opened() as engine:
        problem = Problem(
            RepresentedRows(space, Blocks(X, WEIGHTS), 10**6), rule, engine, Stopping(6, 0.0)
        )
        solution = solve(problem, State(space.at(V), ETA if rule.needs_pilot else None))
    np.testing.assert_allclose(solution.history, twin.history[: len(solution.history)], rtol=1e-9)
    np.testing.assert_allclose(space.as_points(solution.state.centres), twin.centres, atol=1e-9)
    assert (np.diff(solution.history) <= 1e-9 * abs(solution.history[0])).all()


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("m", [1.0, 2.0, 1.4])
def test_fits_are_those_of_the_naive_loop(m: float) -> None:
    X, _ = rows(seed=1)
    V = np.nan_to_num(X[[5, 25, 45]])
    words: dict[str, Any] = {"init": V, "max_iter": 6, "tol": 0, "missing": "partial"}
    model = (
        KernelKMeans(C, kernel="linear", **words)
        if m == 1
        else FuzzyCMeans(C, m=m, search=Search(acceleration=None), **words)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, sample_weight=WEIGHTS)
    memberships = naive.hard_memberships if m == 1 else lambda d2: naive.fuzzy_memberships(d2, m)
    twin = partial_cmeans(X, V, memberships, m, 6, WEIGHTS)
    np.testing.assert_allclose(model.cluster_centers_, twin.centres, atol=1e-9)
    np.testing.assert_allclose(model.memberships_, twin.memberships, atol=1e-9)
    np.testing.assert_allclose(model.objective_, twin.history[-1], rtol=1e-9)


def test_a_possibilistic_fit_scales_all_its_distances() -> None:
    """Pilot, scales and sweeps are those of distances that compare between rows."""
    X, _ = rows(seed=2)
    V, ones = np.nan_to_num(X[[5, 25, 45]]), np.ones(60)
    model = PossibilisticCMeans(
        C,
        m=1.5,
        pilot_m=1.6,
        eta_scale=0.7,
        init=V,
        max_iter=5,
        tol=0,
        search=Search(acceleration=None),
        missing="partial",
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    pilot = partial_cmeans(
        X, V, lambda d2: naive.fuzzy_memberships(d2, 1.6), 1.6, 5, ones, scaled=True
    )
    eta = naive.possibilistic_scales(pilot.d2, pilot.memberships, 1.6, eta_scale=0.7)
    twin = partial_cmeans(
        X,
        pilot.centres,
        lambda d2: naive.possibilistic_memberships(d2, eta, 1.5),
        1.5,
        5,
        ones,
        lambda u: ((1 - u) ** 1.5) @ eta,
        scaled=True,
    )
    np.testing.assert_allclose(model.eta_, eta, rtol=1e-9)
    np.testing.assert_allclose(model.memberships_, twin.memberships, atol=1e-9)
    assert model.objective_ == pytest.approx(twin.history[-1], rel=1e-9)


def test_distances_are_those_of_scikit_learn() -> None:
    X, _ = rows()
    for kind in MAKES:
        model = fitted(kind, X)
        expected = nan_euclidean_distances(X, model.cluster_centers_)
        np.testing.assert_allclose(model.transform(X), expected, atol=1e-9)
        if kind in ("hard", "fuzzy"):
            np.testing.assert_allclose(model.outlier_score(X), expected.min(axis=1), atol=1e-9)
            np.testing.assert_allclose(
                model._nearest, expected[np.arange(60), model.labels_] ** 2, atol=1e-9
            )


def test_a_column_without_mass_keeps_its_coordinate() -> None:
    X = np.array([[0.0, np.nan], [0.2, np.nan], [9.0, 1.0], [9.2, 3.0]])
    model = KernelKMeans(
        2, kernel="linear", init=np.array([[0.0, 7.5], [9.0, 0.0]]), missing="partial"
    ).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[0.1, 7.5], [9.1, 2.0]], atol=1e-12)
    assert model.objective_ == pytest.approx(0.02 + 0.02 + 2.0)


@pytest.mark.parametrize("scaled", [False, True])
def test_seeds_are_drawn_by_partial_distances(scaled: bool) -> None:
    """To another row as a centre whose holes are filled with the means."""
    X, _ = rows()
    space = PartialSpace(np.nanmean(X, axis=0), scaled)
    metric = Metric(Linear(), Blocks(X, np.ones(60)), space)
    chosen = np.array([3, 40])
    expected = partial_distances(X, np.where(np.isnan(X), space.shift, X)[chosen], scaled=scaled)
    np.testing.assert_allclose(
        metric.among(np.arange(60)).squared_distances(chosen), expected, atol=1e-9
    )
    best, d2 = metric.nearest_of(chosen).nearest(Block(X, np.ones(60), 0))
    np.testing.assert_allclose(d2, expected.min(axis=1), atol=1e-9)
    np.testing.assert_array_equal(best, expected.argmin(axis=1))


# ------------------------------------------------------------------------ as without missing values


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("kind", MAKES)
def test_without_holes_it_is_the_plain_fit_to_the_bit(kind: str) -> None:
    X, _ = make_blobs(200, n_features=4, centers=C, random_state=0)
    model, plain = fitted(kind, X), fitted(kind, X, missing="error")
    for name in ("labels_", "memberships_", "objective_history_", "cluster_centers_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name))
    np.testing.assert_array_equal(model.n_missing_, np.zeros(4))
    assert "n_missing_" not in vars(plain)
    hollow = np.where(np.arange(4) == 1, np.nan, X)
    assert (model.predict(hollow) == model.labels_).mean() > 0.6


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_without_holes_is_as_far_from_centres_as_ever(dtype: str) -> None:
    X = make_blobs(300, n_features=7, centers=C, random_state=0)[0].astype(dtype)
    model = fitted("fuzzy", X)
    holes = X.copy()
    holes[::2, 3] = np.nan
    for answer in (model.predict, model.memberships, model.transform):
        np.testing.assert_allclose(
            answer(holes)[1::2],
            answer(X)[1::2],
            rtol=1e-9 if dtype == "float64" else 1e-3,
            atol=1e-12,
        )


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("kind", MAKES)
def test_a_model_says_the_same_of_its_rows(kind: str, tmp_path: Path) -> None:
    X, _ = rows(200)
    model = fitted(kind, X)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.n_missing_, np.isnan(X).sum(axis=0))
    for one in (model, again):
        np.testing.assert_array_equal(one.memberships(X), model.memberships_)
        if kind != "sizes":  # whose last rows are moved to keep the bounds
            np.testing.assert_array_equal(one.predict(X), model.labels_)
            assert one.score(X) == pytest.approx(-model.objective_, rel=1e-12)
        np.testing.assert_array_equal(one.predict(X[7:8]), one.predict(X)[7:8])
    assert model.predict_to(X, tmp_path / "labels.npy").sum() == (model.predict(X) >= 0).sum()


@pytest.mark.parametrize("kind", MAKES)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_objective_falls(kind: str, share: float) -> None:
    X, _ = rows(200, share, seed=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of columns that are mostly missing
        model = fitted(
            kind, X, **({} if kind in ("hard", "sizes") else {"search": Search(acceleration=None)})
        )
    history = model.objective_history_
    assert (np.diff(history) <= 1e-9 * abs(history[0])).all()


@pytest.mark.parametrize("kind", MAKES)
def test_a_weight_is_as_many_copies(kind: str) -> None:
    X, _ = rows()
    times = np.random.default_rng(5).integers(0, 4, len(X))
    weighted, copied = (
        MAKES[kind](random_state=0).fit(X, sample_weight=times),
        fitted(kind, np.repeat(X, times, axis=0)),
    )
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-7)
    np.testing.assert_allclose(weighted.cluster_centers_, copied.cluster_centers_, atol=1e-5)


@pytest.mark.parametrize("kind", MAKES)
def test_the_same_bits_for_any_number_of_threads(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, block_rows=64, task_values=256)
    X, _ = rows(600)
    models = [fitted(kind, X, n_jobs=jobs) for jobs in (1, 2, 5)]
    for model in models[1:]:
        for name in ("labels_", "memberships_", "objective_history_", "cluster_centers_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(models[0], name))


@pytest.mark.parametrize("kind", MAKES)
def test_single_precision(kind: str) -> None:
    X, _ = rows(300)
    single, double = fitted(kind, X.astype(np.float32)), fitted(kind, X)
    assert single.memberships_.dtype == single.cluster_centers_.dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)
    assert adjusted_rand_score(single.labels_, double.labels_) > 0.95


@cache
def wide_rows() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(200, 70))
    X[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    return X, np.nan_to_num(X[[0, 50, 100]])


@cache
def looped(n_iter: int) -> Any:
    return partial_cmeans(*wide_rows(), naive.hard_memberships, 1.0, n_iter, np.ones(200))


@pytest.mark.usefixtures("sweeps")
def test_hard_sweeps_that_remember_distances() -> None:
    """Above 128 columns of a represented row, bounds say which rows are read."""
    X, start = wide_rows()
    model = fitted("hard", X, init=start)
    twin = looped(model.n_iter_)
    np.testing.assert_allclose(model.cluster_centers_, twin.centres, atol=1e-9)
    assert model.n_iter_ > 5


@pytest.mark.parametrize(
    "init", ["k-means++", "k-means||", "max-min", "random", "random-partition"]
)
@pytest.mark.parametrize("kind", ["hard", "fuzzy"])
def test_starts(kind: str, init: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, seeding_rows=100)
    X, y = rows(400)
    model = fitted(kind, X, init=init, n_init=3)
    assert model.objective_ == pytest.approx(fitted(kind, X).objective_, rel=1e-3)
    assert adjusted_rand_score(y, model.labels_) > 0.7


def test_given_starts() -> None:
    X, y = rows()
    found = [
        fitted("fuzzy", X, init=init).objective_
        for init in (np.array([5, 25, 45]), y, fitted("hard", X))
    ]
    np.testing.assert_allclose(found, fitted("fuzzy", X).objective_, rtol=1e-6)
    assert fitted("fuzzy", X, init=fitted("fuzzy", X)).n_iter_ == 1


@pytest.mark.parametrize("kind", ["fuzzy", "entropy", "possibilistic"])
def test_acceleration_leads_to_the_same_optimum(kind: str) -> None:
    X, _ = rows(300, 0.4)
    quick, plain = (
        fitted(kind, X, search=Search(acceleration=way), tol=1e-7) for way in ("anderson", None)
    )
    assert quick.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    assert quick.n_iter_ < plain.n_iter_


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_m_keeps_centres_apart(share: float) -> None:
    X, y = load_iris(return_X_y=True)
    holes = np.random.default_rng(0).random(X.shape) < share
    holes[holes.all(axis=1), 0] = False
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FuzzyCMeans: X has no value")
        model = fitted("fuzzy", np.where(holes, np.nan, X))
    assert 1.3 < model.m_ <= 2.0
    assert model.separation_ > 0.5
    assert adjusted_rand_score(y, model.labels_) > 0.5


def test_searches() -> None:
    X, _ = rows(300)
    for kind, search in (("fuzzy", "breathing"), ("hard", "breathing"), ("entropy", "annealing")):
        assert fitted(kind, X, search=search).objective_ <= fitted(
            kind, X, search=None
        ).objective_ * (1 + 1e-6)


def test_what_is_told_of_rows() -> None:
    X, y = rows()
    known = np.where(np.arange(60) % 5 == 0, (y + 1) % C, -1)
    model = MAKES["fuzzy"](random_state=0).fit(X, known_labels=known, must_link=[[1, 2], [3, 4]])
    np.testing.assert_array_equal(model.labels_[known >= 0], known[known >= 0])
    assert model.labels_[1] == model.labels_[2]
    assert model.labels_[3] == model.labels_[4]
    assert (np.diff(model.objective_history_) <= 1e-9).all()
    np.testing.assert_array_equal(
        np.bincount(MAKES["hard"](sizes=Sizes(least=20, most=20), random_state=0).fit(X).labels_),
        [20, 20, 20],
    )


def test_equal_rows_are_joined() -> None:
    X = np.round(rows(50)[0] / 3)[np.random.default_rng(0).integers(0, 50, 3000)]
    joined, apart = (
        fitted("hard", X, search=Search(join_equal_rows=join), init=np.nan_to_num(X[:C]))
        for join in (True, False)
    )
    assert joined.objective_ == pytest.approx(apart.objective_, rel=1e-12)
    np.testing.assert_array_equal(joined.labels_, apart.labels_)
    np.testing.assert_array_equal(joined.n_missing_, np.isnan(X).sum(axis=0))


def test_a_fit_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    X, _ = rows(200)
    model = fitted("fuzzy", X, engine=ThreadEngine(checkpoint=tmp_path / "progress"))
    again = fitted(
        "fuzzy",
        X,
        engine=ThreadEngine(checkpoint=cmeans.Checkpoint(tmp_path / "progress", resume=True)),
    )
    np.testing.assert_array_equal(again.memberships_, model.memberships_)


def test_rows_far_from_the_origin() -> None:
    X, _ = rows(200)
    assert fitted("fuzzy", X + 1e6).objective_ == pytest.approx(
        fitted("fuzzy", X).objective_, rel=1e-6
    )


def test_inspection_leaves_out_what_is_missing() -> None:
    X, _ = rows(200)
    model = fitted("hard", X)
    told = cmeans.inspection.explain(model, X, n_columns=D)
    for cluster, column, inside, outside in zip(
        *(told.columns[name] for name in ("cluster", "column", "inside", "outside")), strict=True
    ):
        own, k = model.labels_ == cluster, int(column.split()[1])
        assert (inside, outside) == pytest.approx((np.nanmean(X[own, k]), np.nanmean(X[~own, k])))
    assert told.fidelity > 0.8
    assert cmeans.validity.indices(model, X)["xie_beni"] > 0
    chosen = cmeans.select(
        FuzzyCMeans(missing="partial", random_state=0), X, (2, 3, 4), n_bootstrap=0
    )
    assert chosen.n_clusters == 3


# -------------------------------------------------------------------------------- wherever rows lie


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("place", ["csv", "parquet", "npy", "opened"])
@pytest.mark.parametrize("kind", ["hard", "possibilistic"])
def test_files(kind: str, place: str, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    X, _ = rows(1200)
    path = tmp_path / f"rows.{'parquet' if place == 'opened' else place}"
    frame = pd.DataFrame(X, columns=list("abcde"))
    {"csv": lambda: frame.to_csv(path, index=False), "npy": lambda: np.save(path, X)}.get(
        place, lambda: frame.to_parquet(path)
    )()
    given = cmeans.open_blocks(path, missing="partial") if place == "opened" else path
    start = np.nan_to_num(X[[0, 400, 800]])
    model, expected = (
        fitted(kind, each, init=start, engine=ThreadEngine(memory_budget="200MB"))
        for each in (given, X)
    )
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.n_missing_, np.isnan(X).sum(axis=0))
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    np.testing.assert_allclose(model.transform(given), expected.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match=r"(empty or not a number|was opened with missing)"):
        fitted("fuzzy", given, missing="error")


@cache
def of_numbers() -> np.ndarray:
    return fitted("fuzzy", rows()[0]).memberships_


@pytest.mark.parametrize("form", ["frame", "nullable frame", "masked", "list", "torch"])
def test_forms(form: str) -> None:
    pd = pytest.importorskip("pandas")
    X, _ = rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    made: dict[str, Any] = {
        "frame": lambda: frame,
        "nullable frame": frame.convert_dtypes,
        "masked": lambda: np.ma.masked_invalid(
            np.nan_to_num(X, nan=1e9) * np.where(np.isnan(X), np.nan, 1)
        ),
        "list": X.tolist,
        "torch": lambda: pytest.importorskip("torch").tensor(X),
    }
    model = fitted("fuzzy", made[form]())
    np.testing.assert_allclose(np.asarray(model.memberships_), of_numbers(), atol=1e-9)


def test_integers_under_a_mask() -> None:
    counts = np.random.default_rng(0).integers(0, 9, (60, D))
    masked = np.ma.array(counts, mask=counts == 8)
    expected = fitted("fuzzy", np.where(counts == 8, np.nan, counts))
    np.testing.assert_array_equal(fitted("fuzzy", masked).memberships_, expected.memberships_)


def test_sparse_rows_hold_zeros_and_no_holes() -> None:
    X = sparse.csr_array(np.abs(np.nan_to_num(rows()[0])))
    np.testing.assert_array_equal(
        fitted("fuzzy", X).labels_, fitted("fuzzy", X, missing="error").labels_
    )


# ---------------------------------------------------------------------------------- what is refused


def test_mostly_missing_columns_are_told_of() -> None:
    X, _ = rows(share=0.0)
    X[5:40, 1] = np.nan
    with pytest.warns(
        UserWarning, match=r"FuzzyCMeans: X has no value in column 1 in more than half of the rows"
    ):
        fitted("fuzzy", X)
    weight = np.where(np.isnan(X[:, 1]), 0.5, 2.0)
    MAKES["fuzzy"](random_state=0).fit(X, sample_weight=weight)  # by weight it is half and more


def never(X: np.ndarray) -> np.ndarray:
    X[:, [0, 2]] = np.nan
    X[:, 1] = 1.0
    return X


def infinite(X: np.ndarray) -> np.ndarray:
    X[3, 2] = -np.inf
    return X


@pytest.mark.parametrize(
    ("words", "spoilt", "message"),
    [
        ({}, never, r"X has no value in columns 0, 2, in any row of positive weight"),
        ({}, infinite, "contains infinity, first at row 3, column 2"),
        (
            {},
            lambda X: sparse.csr_array(X),
            "Entries that a sparse matrix does not hold are zeros; pass dense rows",
        ),
        ({"missing": "error"}, None, WAY_OUT + 'missing="partial"'),
        (
            {"missing": "impute"},
            None,
            r"FuzzyCMeans\(missing='impute'\): unknown missing; known are \['error', 'partial'\]",
        ),
        ({"missing": True}, None, r"missing=True\): unknown missing"),
        ({"kernel": "rbf"}, None, r'FuzzyCMeans\(missing="partial", kernel=.rbf.\): .* impute X'),
        ({"kernel": "landmark_graph"}, None, r'missing="partial", kernel=.landmark_graph.\)'),
        ({"landmarks": 20}, None, "rows with missing values have no landmarks"),
        ({"landmarks": np.arange(9)}, None, "rows with missing values have no landmarks"),
        ({"init": np.array([[0, 1, 2, 3, np.nan]] * C)}, None, "points must be finite"),
        ({}, lambda X: [*X.astype(object).tolist()[:2], ["a"] * D], "could not convert string"),
        ({}, lambda X: X[:, :0], "0 feature"),
    ],
)
def test_what_cannot_be_is_refused(words: dict[str, Any], spoilt: Any, message: str) -> None:
    X, _ = rows(share=0.2)
    with pytest.raises(ValueError, match=message):
        fitted("fuzzy", X if spoilt is None else spoilt(X), **words)


def test_what_cannot_be_predicted_is_refused() -> None:
    X, _ = rows(share=0.2)
    model = fitted("hard", X)
    for answer in (model.predict, model.transform, model.outlier_score):
        with pytest.raises(ValueError, match="contains infinity"):
            answer(infinite(X.copy()))
    with pytest.raises(ValueError, match="X has 4 features"):
        model.predict(X[:, :4])


@pytest.mark.parametrize("name", without(NAMES, *with_parameter("missing")))
def test_other_estimators_name_the_ways_out(name: str) -> None:
    with pytest.raises(ValueError, match=WAY_OUT + r'FuzzyCMeans\(missing="partial"\)'):
        build(name).fit(rows(200)[0])


@pytest.mark.parametrize(
    ("model", "way"),
    [
        (GaussianMixture(C), 'missing="partial".'),
        (FuzzyCMeans(C, covariance="full"), 'GaussianMixture(missing="partial").'),
    ],
)
def test_clusters_with_covariances_name_a_way_that_there_is(model: Any, way: str) -> None:
    with pytest.raises(ValueError, match=WAY_OUT + re.escape(way)):
        model.fit(rows()[0])


def test_the_space_of_a_point_is_one() -> None:
    with pytest.raises(ValueError, match="is no point"):
        PartialSpace(np.zeros((2, 2)))
    assert PartialSpace(np.zeros(3), True).in_scale().size == 6
    assert isinstance(fitted("fuzzy", np.nan_to_num(rows()[0]))._space, EuclideanSpace)


def test_bounds_of_distances_do_not_hold_for_scaled_ones() -> None:
    """The hard search of other rules goes without them: its sweeps are those of the naive loop
    too."""
    X = np.random.default_rng(0).normal(size=(110, 70))
    X[:, 1:][np.random.default_rng(1).random((110, 69)) < np.linspace(0.0, 0.95, 110)[:, None]] = (
        np.nan
    )
    V = np.nan_to_num(X[[0, 30, 60]])
    twin = partial_cmeans(X, V, naive.hard_memberships, 1.0, 8, np.ones(110), scaled=True)
    space = PartialSpace(np.nanmean(X, axis=0), True)
    with ThreadEngine(1).opened() as engine:
        problem = Problem(
            RepresentedRows(space, Blocks(X, np.ones(110)), 10**9), Hard(), engine, Stopping(8, 0.0)
        )
        solution = solve(problem, State(space.at(V)))
    np.testing.assert_allclose(solution.history, twin.history[: len(solution.history)], rtol=1e-9)
    assert len(solution.history) >= 4
