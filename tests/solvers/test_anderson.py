"""Anderson mixing: the same fixed points in fewer sweeps, and plain sweeps wherever it does not
serve; runs that rounding ends."""

from __future__ import annotations

import inspect
import itertools
from collections import deque
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale

import cmeans.solvers.anderson
import cmeans.solvers.fixed_point
from blob_streams import stream as stream_of
from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    Search,
    StreamingFuzzyCMeans,
)
from cmeans.kernels import Linear
from cmeans.papers import GradientLandmarks, PrintedCMeans
from cmeans.rules import Fuzzy, Rule
from cmeans.solvers.anderson import Anderson, Mixing, _least_squares
from cmeans.spaces.centres import Centres
from cmeans.sweeps.state import State
from cmeans.sweeps.statistics import Statistics
from contracts.arrays import as_form, cut_raggedly, on_host
from naive import critical_fuzzifier

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

C, N = 3, 150
START = np.array([0, 1, 2])
GAMMA = 0.5
LANDMARKS = np.arange(0, N, 6)
SPACES = {
    "euclidean": {"kernel": "linear"},
    "landmarks": {"kernel": "rbf", "gamma": GAMMA, "landmarks": LANDMARKS},
    "gradient": {
        "kernel": "rbf",
        "gamma": GAMMA,
        "landmarks": GradientLandmarks(points=LANDMARKS),
    },
    "exact": {"kernel": "rbf", "gamma": GAMMA, "landmarks": None},
    "precomputed": {"kernel": "precomputed", "landmarks": None},
}
M = {"euclidean": 2.0, "landmarks": 1.08, "gradient": 1.08, "exact": 1.08, "precomputed": 1.08}
over_spaces = pytest.mark.parametrize("space", SPACES)
over_acceleration = pytest.mark.parametrize("acceleration", ["anderson", None])


def groups(seed=0, n=N, d=3, apart=2.5):
    """Three groups that overlap, so that plain sweeps take their time, in numbers that float32
    holds exactly."""
    rng = np.random.default_rng(seed)
    X = apart * np.eye(3, d)[np.arange(n) % 3] + rng.normal(size=(n, d))
    return X.astype(np.float32).astype(float)


def rbf(X, Y=None):
    Y = X if Y is None else Y
    return np.exp(-GAMMA * ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))


@pytest.fixture
def mixing_at_once(monkeypatch):
    """Mixtures from the third sweep on, wherever it starts."""
    monkeypatch.setattr(cmeans.solvers.anderson, "SETTLED", np.inf)
    monkeypatch.setattr(cmeans.solvers.anderson, "FLAT", np.inf)


# ------------------------------------------------------------------- the naive loop, in coordinates


def coordinates(X, space):
    """Rows as points z with what their space leaves out of them: |phi(x) - v|^2 = |z - v|^2 + e."""
    if space == "euclidean":
        return X, np.zeros(len(X))
    K = rbf(X)
    if space in ("exact", "precomputed"):
        values, vectors = np.linalg.eigh(K)
        return vectors * np.sqrt(np.maximum(values, 0)), np.zeros(len(X))
    z = np.linalg.solve(np.linalg.cholesky(K[np.ix_(LANDMARKS, LANDMARKS)]), K[LANDMARKS]).T
    return z, np.maximum(1 - (z**2).sum(axis=1), 0)


def distances(z, e, V):
    d2 = np.column_stack([((z - v) ** 2).sum(axis=1) + e for v in V])
    return np.maximum(d2, 1e-30)


def fuzzy(d2, m):
    r = (d2 / d2.min(axis=1, keepdims=True)) ** (-1 / (m - 1))
    return r / r.sum(axis=1, keepdims=True)


def possibilistic(d2, m, eta):
    return 1 / (1 + (d2 / eta) ** (1 / (m - 1)))


def cost(d2, u, m, weight, eta=None):
    penalty = 0 if eta is None else (eta * (1 - u) ** m).sum(axis=1)
    return float(weight @ ((u**m * d2).sum(axis=1) + penalty))


def once(z, e, V, m, weight, eta=None):
    """One plain sweep: the next centres, their masses, the objective where it started and its
    memberships."""
    d2 = distances(z, e, V)
    u = fuzzy(d2, m) if eta is None else possibilistic(d2, m, eta)
    a = weight[:, None] * u**m
    return (a.T @ z) / a.sum(axis=0)[:, None], a.sum(axis=0), cost(d2, u, m, weight, eta), u


def plainly(z, e, V, m, weight=None, eta=None, sweeps=3000):
    """Plain sweeps until nothing moves: centres, memberships, objective, and how many."""
    weight = np.ones(len(z)) if weight is None else weight
    number, moved = 0, np.inf
    while moved > 1e-13 and number < sweeps:
        new = once(z, e, V, m, weight, eta)[0]
        moved, V, number = np.abs(new - V).max(), new, number + 1
    _, _, objective, u = once(z, e, V, m, weight, eta)
    return V, u, objective, number


@cache
def fuzzy_end(space):
    """Memberships and objective where the plain loop leads from the start over the rows of
    `groups()`."""
    z, e = coordinates(groups(), space)
    return plainly(z, e, z[START], M[space])[1:3]


def scales(z, e, V, m):
    """eta_j, the mean squared distance within cluster j of the pilot."""
    d2 = distances(z, e, V)
    a = fuzzy(d2, m) ** m
    return (a * d2).sum(axis=0) / a.sum(axis=0)


# ---------------------------------------------------------------------------- the same fixed points


@over_spaces
@over_acceleration
def test_fuzzy_fits_end_where_plain_sweeps_end(space, acceleration):
    X, (u, objective) = groups(), fuzzy_end(space)
    rows = rbf(X) if space == "precomputed" else X
    model = FuzzyCMeans(
        C,
        m=M[space],
        init=START,
        tol=1e-8,
        max_iter=3000,
        search=Search(acceleration=acceleration),
        **SPACES[space],
    ).fit(rows)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-6)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)
    assert model.converged_


@pytest.mark.filterwarnings("ignore:.*centres coincide:UserWarning")
@pytest.mark.parametrize("space", ["euclidean", "landmarks", "exact"])
def test_possibilistic_fits_end_where_plain_sweeps_end(space):
    """The pilot is mixed too, and so are the sweeps with its scales."""
    X, m = groups(1, apart=6.0), M[space]
    z, e = coordinates(X, space)
    V, *_ = plainly(z, e, z[START], m)
    eta = 0.2 * scales(z, e, V, m)
    _, u, objective, _ = plainly(z, e, V, 1.3, eta=eta)
    model = PossibilisticCMeans(
        C, m=1.3, pilot_m=m, eta_scale=0.2, init=START, tol=1e-9, max_iter=3000, **SPACES[space]
    ).fit(X)
    np.testing.assert_allclose(model.eta_, eta, rtol=1e-6)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-6)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("form", ["csr", "csr64", "torch", "array_api_strict"])
@pytest.mark.parametrize("space", ["euclidean", "landmarks"])
def test_rows_of_other_kinds_end_there_too(space, form):
    u, objective = fuzzy_end(space)
    model = FuzzyCMeans(C, m=M[space], init=START, tol=1e-8, **SPACES[space]).fit(
        as_form(groups(), form)
    )
    np.testing.assert_allclose(on_host(model.memberships_), u, atol=1e-6)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("form", ["numpy", "csr", "torch"])
@pytest.mark.parametrize("space", ["euclidean", "landmarks", "gradient", "exact"])
def test_single_precision_ends_there_as_far_as_it_can(space, form):
    u, objective = fuzzy_end(space)
    model = FuzzyCMeans(C, m=M[space], init=START, tol=1e-5, **SPACES[space]).fit(
        as_form(groups(), form, "float32")
    )
    np.testing.assert_allclose(on_host(model.memberships_), u, atol=3e-3)
    assert model.objective_ == pytest.approx(objective, rel=1e-5)


def test_compiled_sweeps_are_mixed_too(sweeps):
    space = "landmarks"
    model = FuzzyCMeans(C, m=M[space], init=START, tol=1e-8, **SPACES[space]).fit(groups())
    u, _ = fuzzy_end(space)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-6)


def test_a_weight_of_k_is_k_copies():
    X, weight = groups(), np.random.default_rng(0).integers(0, 4, size=N)
    words = {
        "m": 1.08,
        "kernel": "rbf",
        "gamma": GAMMA,
        "landmarks": X[LANDMARKS],
        "init": X[START],
        "tol": 1e-9,
    }
    for make in (FuzzyCMeans, PossibilisticCMeans):
        weighted = make(C, **words).fit(X, sample_weight=weight)
        copied = make(C, **words).fit(np.repeat(X, weight, axis=0))
        np.testing.assert_allclose(
            np.repeat(weighted.memberships_, weight, axis=0), copied.memberships_, atol=1e-7
        )
        assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-10)
    z, e = coordinates(X, "landmarks")
    _, u, objective, _ = plainly(z, e, z[START], 1.08, weight.astype(float))
    model = FuzzyCMeans(C, **words).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-6)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


# ---------------------------------------------------------------------------- starts that are given


def uneven():
    """Three dense groups and five thin ones far from them: k-means has many local minima here."""
    rng, centres = (
        np.random.default_rng(5),
        np.array([[0, 0], [1, 0], [0.5, 1], [6, 0], [7, 1], [6, 2], [7, 3], [6, 4]]),
    )
    sizes = np.array([75, 75, 75, 10, 10, 10, 10, 10])
    return np.repeat(centres, sizes, axis=0) + 0.25 * rng.normal(size=(sizes.sum(), 2))


GIVEN = {
    "iris": (lambda: minmax_scale(load_iris().data), (3, 6)),
    "wine": (lambda: minmax_scale(load_wine().data), (3, 6)),
    "uneven": (uneven, (6, 8)),
}


@pytest.mark.filterwarnings("ignore:.*centres coincide:UserWarning")
@pytest.mark.parametrize(
    ("kernel", "m"),
    [("linear", 1.2), ("linear", 1.5), ("linear", 2.0), ("rbf", 1.05), ("rbf", 1.1)],
)
@pytest.mark.parametrize("name", GIVEN)
def test_given_starts_are_followed(name, kernel, m):
    """Cluster for cluster to where plain sweeps lead, from two random starts of each of two
    numbers of clusters."""
    make, numbers = GIVEN[name]
    X, others = make(), []
    space = (
        {"kernel": "rbf", "gamma": "median", "landmarks": 40, "random_state": 0}
        if kernel == "rbf"
        else {"kernel": kernel}
    )
    for c, seed in itertools.product(numbers, range(2)):
        start = np.random.default_rng(seed).choice(len(X), c, replace=False)
        words = {"m": m, "init": start, "tol": 1e-6, "max_iter": 20_000, **space}
        mixed, plain = (
            FuzzyCMeans(c, search=Search(acceleration=how), **words).fit(X)
            for how in ("anderson", None)
        )
        if np.abs(mixed.memberships_ - plain.memberships_).max() > 1e-2:
            others.append((c, seed))
    assert others == []


def test_sweeps_are_plain_until_centres_have_settled():
    """From where centres move by a tenth of the typical distance, and from where they move by a
    hundredth."""
    for distance, mixes in ((0.1, False), (0.01, True)):
        anderson, mixing, sums = (
            Anderson(1e-11),
            Mixing(),
            Statistics(1.0, np.ones(1), np.zeros((1, 1)), np.ones(1)),
        )
        for x in (2 * distance, distance):
            _, mixing = anderson.next(accepted(anderson, mixing, sums), at(x), at(0.5 * x), sums)
        assert mixing.mixed is mixes


def test_sweeps_are_plain_near_a_saddle():
    """The map doubles one coordinate and halves the other: least squares would lead to where both
    are zero."""
    anderson, mixing, sums = Anderson(1e-11), Mixing(), statistics(1.0)
    v = np.ones((1, 2))
    for _ in range(4):
        image = v * [2.0, 0.5]
        start, mixing = anderson.next(
            accepted(anderson, mixing, sums),
            State(Centres.orthonormal(v)),
            State(Centres.orthonormal(image)),
            sums,
        )
        v = start.centres.coordinates
    np.testing.assert_allclose(v, [[2.0**4, 0.5**4]])


# ------------------------------------------------------------------------------------- fewer sweeps


@pytest.mark.parametrize("space", ["euclidean", "landmarks", "exact"])
def test_it_takes_fewer_sweeps_in_all(space):
    """Five problems to a tol of 1e-6: less than two thirds of the plain sweeps."""
    counts = {"anderson": 0, None: 0}
    for seed in range(5):
        X = groups(seed)
        for acceleration in counts:
            model = FuzzyCMeans(
                C,
                m=M[space],
                init=START,
                tol=1e-6,
                max_iter=3000,
                search=Search(acceleration=acceleration),
                **SPACES[space],
            ).fit(X)
            counts[acceleration] += model.n_iter_
    assert counts["anderson"] < 0.67 * counts[None]


@pytest.mark.filterwarnings("ignore::UserWarning")
@over_acceleration
def test_the_objective_never_rises(acceleration):
    """Beyond rounding; a value for the start, and one for every sweep."""
    for seed in range(4):
        X = groups(seed, apart=1.5)
        for dtype, rounding in (("float64", 1e-10), ("float32", 2e-6)):
            for make, words in (
                (FuzzyCMeans, {"m": 1.1}),
                (PossibilisticCMeans, {"pilot_m": 1.1, "eta_scale": 0.5}),
            ):
                words = {**words, "kernel": "rbf", "gamma": GAMMA, "landmarks": 20}
                model = make(
                    C,
                    random_state=seed,
                    tol=1e-6,
                    search=Search(None, acceleration=acceleration),
                    **words,
                )
                history = model.fit(X.astype(dtype)).objective_history_
                assert len(history) == model.n_iter_ + 1
                assert history[-1] == model.objective_
                assert (np.diff(history) <= rounding * np.abs(history[0])).all()


# ----------------------------------------------------------------------------- the first few sweeps


@over_spaces
def test_the_first_two_sweeps_are_plain_and_the_third_starts_from_a_mixture(space, mixing_at_once):
    """After sweep two:  gamma = <df, f> / <df, df>  with clusters weighted by mass, and the third
    starts from  g - gamma dg; the state is a plain sweep's image at every end."""
    X, m, weight = groups(2), M[space], np.ones(N)
    z, e = coordinates(X, space)
    first, _, start, _ = once(z, e, z[START], m, weight)
    second, mass, before, _ = once(z, e, first, m, weight)
    f = second - first
    df = f - (first - z[START])
    gamma = (mass @ (df * f).sum(axis=1)) / (mass @ (df * df).sum(axis=1))
    third, _, mixed, _ = once(z, e, second - gamma * (second - first), m, weight)
    assert mixed < before  # it serves here
    ends = [first, second, third]
    rows = rbf(X) if space == "precomputed" else X
    for sweeps, V in enumerate(ends, 1):
        model = FuzzyCMeans(C, m=m, init=START, tol=0, max_iter=sweeps, **SPACES[space])
        with pytest.warns(ConvergenceWarning):
            model.fit(rows)
        assert model.n_iter_ == sweeps
        d2 = distances(z, e, V)
        np.testing.assert_allclose(model.memberships_, fuzzy(d2, m), atol=1e-7)
        expected = [*[start, before, mixed][:sweeps], cost(d2, fuzzy(d2, m), m, weight)]
        np.testing.assert_allclose(model.objective_history_, expected, rtol=1e-8)
        if space == "euclidean":
            np.testing.assert_allclose(model.cluster_centers_, V, atol=1e-9)


# -------------------------------------------------------------------------------- what goes without


def test_hard_rules_and_the_papers_stopping_rule_go_without():
    X = groups()
    for made, words in ((CMeans, {"rule": "hard"}), (PrintedCMeans, {"rule": Fuzzy(1.08)})):
        mixed, plain = (
            made(
                C, kernel="rbf", gamma=GAMMA, init=START, search=Search(acceleration=how), **words
            ).fit(X)
            for how in ("anderson", None)
        )
        assert mixed.n_iter_ == plain.n_iter_
        np.testing.assert_array_equal(mixed.objective_history_, plain.objective_history_)
        np.testing.assert_array_equal(mixed.memberships_, plain.memberships_)


PLAIN = {"search": None}  # whose trials mix as well


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_who_mixes_and_who_does_not(monkeypatch):
    made = []
    monkeypatch.setattr(cmeans.solvers.fixed_point, "Mixing", lambda: made.append(1) or Mixing())
    X = groups()
    for model, runs in (
        (FuzzyCMeans(C, m=1.08, kernel="rbf", gamma=GAMMA, random_state=0, **PLAIN), 1),
        (FuzzyCMeans(C, m=1.08, kernel="rbf", gamma=GAMMA, random_state=0, n_init=3, **PLAIN), 3),
        (
            FuzzyCMeans(
                C,
                m=1.08,
                kernel="rbf",
                gamma=GAMMA,
                random_state=0,
                search=Search(None, acceleration=None),
            ),
            0,
        ),
        (
            PossibilisticCMeans(
                C, pilot_m=1.08, kernel="rbf", gamma=GAMMA, random_state=0, **PLAIN
            ),
            2,
        ),
        (CMeans(C, rule=Fuzzy(1.08), kernel="rbf", gamma=GAMMA, random_state=0, **PLAIN), 1),
        (CMeans(C, rule="hard", kernel="rbf", gamma=GAMMA, random_state=0, **PLAIN), 0),
        (PrintedCMeans(C, rule=Fuzzy(1.08), kernel="rbf", gamma=GAMMA, random_state=0, **PLAIN), 0),
        (KernelKMeans(C, gamma=GAMMA, random_state=0, **PLAIN), 0),
        (AdaptivePossibilisticCMeans((1, 4), random_state=0), 0),
        (
            StreamingFuzzyCMeans(
                C,
                m=1.08,
                kernel="rbf",
                gamma=GAMMA,
                random_state=0,
                n_init=1,
                chunk_size=75,
                **PLAIN,
            ),
            2,
        ),
        (
            StreamingFuzzyCMeans(
                C, rule="hard", kernel="rbf", gamma=GAMMA, random_state=0, n_init=1
            ),
            0,
        ),
    ):
        made.clear()
        model.fit(X)
        assert len(made) == runs, model
    assert "search" not in inspect.signature(AdaptivePossibilisticCMeans).parameters


@pytest.mark.parametrize("word", ["Anderson", "", 1, True, ["anderson"], "none"])
def test_unknown_words_are_refused(word):
    with pytest.raises(ValueError, match=r"Search\(acceleration=.*known are \['anderson'\]"):
        Search(acceleration=word)


# ----------------------------------------------------------------------------------------- refusals


def statistics(objective, mass=1.0):
    """Of rows so far away that centres move little."""
    return Statistics(1e-6, np.array([mass]), np.zeros((1, 1)), np.array([objective]))


def at(x):
    return State(Centres.orthonormal(np.array([[float(x)]])))


def accepted(anderson, mixing, sums):
    """What is remembered after a sweep that serves."""
    serves, mixing = anderson.judge(mixing, sums)
    assert serves
    return mixing


def drive(objective, sweeps, slope=0.5):
    """Sweeps as the solver makes them with the map x -> slope x; what each was, and where it
    started."""
    anderson, mixing, state = Anderson(1e-11), Mixing(), at(1.0)
    here, mixed, kinds, starts = state, False, "", []
    for _ in range(sweeps):
        x = here.centres.coordinates[0, 0]
        starts.append(x)
        sums = statistics(objective(x, mixed))
        serves, mixing = anderson.judge(mixing, sums)
        if not serves:
            kinds, here, mixed = kinds + "R", state, False
            continue
        kinds += "M" if mixed else "p"
        state = at(slope * x)
        here, mixing = anderson.next(mixing, here, state, sums)
        mixed = here is not state
    return kinds, starts


def test_after_every_refusal_mixing_pauses_for_twice_as_many_sweeps():
    """At most 16; a pause ends with a sweep more, whose image is the first to be mixed again."""
    kinds, starts = drive(lambda x, mixed: 1e9 if mixed else 1.0 + x**2, 90)
    assert [len(run) for run in kinds.split("R")[:8]] == [2, 2, 3, 5, 9, 17, 17, 17]
    for number in np.flatnonzero(np.array(list(kinds)) == "R"):
        assert starts[number + 1] == 0.5 * starts[number - 1]  # where the last plain sweep led


def test_a_mixture_that_serves_shortens_the_next_pause():
    refused = {"left": 3}

    def objective(x, mixed):
        if mixed and refused["left"]:
            refused["left"] -= 1
            return 1e9
        return x**2

    kinds, _ = drive(objective, 40, slope=0.9)
    before, after = kinds[: kinds.rindex("R")], kinds[kinds.rindex("R") + 1 :]
    assert before == "ppRppRppp"
    assert after.startswith("pppppM")
    # Three halvings bring the pause from four back to nothing: a refusal then costs one sweep
    # again.
    assert set(after[6:]) == {"M"} or "p" not in after[6:9]


def test_a_linear_map_is_solved_in_three_sweeps():
    """In one dimension the mixture of two sweeps is the secant's root."""
    kinds, starts = drive(lambda x, _: x**2, 3, slope=0.99)
    assert kinds == "ppM"
    assert abs(starts[2]) < 1e-8
    assert starts[:2] == [1.0, 0.99]


def test_objectives_that_rise_by_rounding_only_are_accepted():
    for slack, rise, kind in ((1e-6, 5e-7, False), (1e-6, 2e-6, True), (1e-11, 5e-7, True)):
        anderson, mixing, state = Anderson(slack), Mixing(), at(1.0)
        for x in (1.0, 0.5):
            state, mixing = anderson.next(
                accepted(anderson, mixing, statistics(7.0)), at(x), at(0.5 * x), statistics(7.0)
            )
        assert state.centres.coordinates[0, 0] != 0.25
        assert anderson.judge(mixing, statistics(7.0 * (1 + rise)))[0] is not kind


def test_objectives_that_are_no_number_are_refused():
    anderson, mixing = Anderson(1e-11), Mixing()
    for x in (1.0, 0.5):
        _, mixing = anderson.next(
            accepted(anderson, mixing, statistics(7.0)), at(x), at(0.5 * x), statistics(7.0)
        )
    assert not anderson.judge(mixing, statistics(np.nan))[0]


def test_centres_that_stand_still_are_left_alone():
    anderson, mixing = Anderson(1e-11), Mixing()
    for _ in range(5):
        image = at(1.0)
        start, mixing = anderson.next(
            accepted(anderson, mixing, statistics(1.0)), at(1.0), image, statistics(1.0)
        )
        assert start is image


def test_pairs_of_coefficients_and_products_mix_as_coordinates_do():
    """Centres (a, G a) of a space without a factor, and the same in orthonormal coordinates; scales
    travel with them."""
    rng = np.random.default_rng(0)
    root, rates = rng.normal(size=(4, 4)), np.array([0.9, 0.8, 0.5, 0.1])
    G, mass = root.T @ root, np.array([1.0, 5.0])
    modes = rng.normal(size=(2, 4))
    steps = [modes * rates**k @ np.linalg.inv(root.T) for k in range(6)]
    anderson, pairs, plain = Anderson(1e-11), Mixing(), Mixing()
    for k in range(5):
        eta = np.array([1.0, 2.0]) + k
        sums = Statistics(1e-6, mass, np.zeros((2, 4)), np.full(2, 1.0 / (k + 1)))
        old, new = ((Centres(a, a @ G), Centres.orthonormal(a @ root.T)) for a in steps[k : k + 2])
        left, pairs = anderson.next(
            accepted(anderson, pairs, sums), State(old[0], eta), State(new[0], eta), sums
        )
        right, plain = anderson.next(
            accepted(anderson, plain, sums), State(old[1], eta), State(new[1], eta), sums
        )
        np.testing.assert_allclose(
            left.centres.coordinates @ root.T, right.centres.coordinates, atol=1e-7
        )
        np.testing.assert_allclose(left.centres.duals, left.centres.coordinates @ G, atol=1e-10)
        np.testing.assert_array_equal(left.scales, eta)


def test_mixtures_minimise_the_residual_over_the_last_five_differences():
    """Against least squares on the last six sweeps: gamma minimises sum_j mass_j |f - dF gamma|^2,
    the next is g - dG gamma."""
    rng = np.random.default_rng(1)
    anderson, mixing, mass = Anderson(1e-11), Mixing(), np.array([0.2, 3.0, 1.0])
    F, G = [], []
    for k in range(9):
        v = rng.normal(size=(3, 5))
        g = v * [0.9, 0.7, 0.5, 0.3, 0.1]
        sums = Statistics(1e-6, mass, np.zeros((3, 5)), np.full(3, 1.0 / (k + 1)))
        old, new = State(Centres.orthonormal(v)), State(Centres.orthonormal(g))
        start, mixing = anderson.next(accepted(anderson, mixing, sums), old, new, sums)
        mixture = start.centres.coordinates
        F, G = [*F, g - v][-6:], [*G, g][-6:]
        if k == 0:
            np.testing.assert_array_equal(mixture, g)
            continue
        root = np.sqrt(mass)[:, None]
        dF = np.column_stack([(root * (b - a)).ravel() for a, b in itertools.pairwise(F)])
        dG = np.column_stack([(b - a).ravel() for a, b in itertools.pairwise(G)])
        gamma = np.linalg.lstsq(dF, (root * F[-1]).ravel())[0]
        np.testing.assert_allclose(mixture.ravel(), g.ravel() - dG @ gamma, atol=1e-6)


def test_pairs_at_rest_are_not_mixed():
    """Coefficients and products that differ by rounding pair to no Gram matrix: two differences of
    one length and direction, and a residual that they see differently. What solves such a system is
    about 10^10."""
    differences = deque(
        [
            Centres(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]])),
            Centres(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])),
        ]
    )
    residual = Centres(np.array([[1.0, 1.0]]), np.array([[2.0, 1.0]]))
    for tiny in (1.0, 2.0**-53):
        scaled = deque(Centres(tiny * one.coordinates, tiny * one.duals) for one in differences)
        assert (
            _least_squares(
                scaled, Centres(tiny * residual.coordinates, tiny * residual.duals), np.ones(1)
            )
            is None
        )


@pytest.mark.parametrize("angle", [1.0, 1e-3, 1e-5, 1e-8, 0.0])
def test_differences_nearly_the_same_are_mixed(angle):
    """Down to where the ridge decides, and beyond."""
    differences = deque(
        Centres.orthonormal(np.array([[1.0, side * angle, 0.0]])) for side in (0, 1, -1)
    )
    for residual in ([0.5, 0.3, 0.1], [0.0, 1.0, 0.0], [1e-9, 1e-9, 1.0]):
        assert (
            _least_squares(differences, Centres.orthonormal(np.array([residual])), np.ones(1))
            is not None
        )


# where the objective rose from below its minimum, which pairs that had parted made it reach
AT_REST = [
    (
        {"kernel": "rbf", "gamma": "scale", "landmarks": None},
        [[-6], [-6], [-5], [-6], [-5], [-6], [-5], [-5]],
        0.001,
    ),
    ({"kernel": Linear()}, [[0, 1], [0, -2], [-1, 0], [0, 0], [2, 3], [2, -1]], 1.0),
    ({"kernel": "cosine"}, [[2, -1], [1, 2], [0, 3], [2, 0], [1, 1], [3, 1]], 1.0),
    (
        {"kernel": "cosine"},
        [[-2, 2], [-2, -2], [1, 3], [3, 3], [1, -1], [1, 1], [0, -1], [0, 1], [-2, -1]],
        1.0,
    ),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("words", "rows", "unit"), AT_REST)
def test_mixing_at_rest_raises_nothing(words, rows, unit):
    """One cluster, whose run comes to rest and is swept on."""
    X = unit * np.array(rows, dtype=float)
    space = (
        {"kernel": "rbf", "landmarks": None}
        if "landmarks" in words
        else {
            "kernel": "rbf",
            "landmarks": GradientLandmarks(points=np.array([1, 3])),
            "init": [0],
        }
    )
    model = PossibilisticCMeans(
        1, m=1.8, pilot_m=1.5, random_state=0, max_iter=30, tol=0, **{**space, **words}
    ).fit(X)
    history = model.objective_history_
    assert (np.diff(history) <= 1e-10 * (history[0] + model.kernel_.diag(X).sum())).all()


@dataclass(frozen=True)
class Rising(Rule):
    """Fuzzy memberships with m = 1.08 and an objective that is higher at every sweep than at the
    one before."""

    asked: list[int] = field(default_factory=list, compare=False)

    def memberships(self, d2, scales):
        return fuzzy(np.maximum(d2, 1e-30), 1.08)

    def weights(self, u):
        return u**1.08

    def penalty(self, u, scales):
        self.asked.append(1)
        return np.full(len(u), 1e3 * len(self.asked))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("space", ["euclidean", "landmarks", "gradient", "exact"])
def test_a_refused_mixture_repeats_the_value_before_and_leaves_the_centres(space, mixing_at_once):
    """With a rule whose objective always rises the fit is the plain one, but for the sweeps that
    were refused."""
    X = groups()
    z, e = coordinates(X, space)
    V, refused = [z[START]], [2, 5, 9, 15]  # after two, two, three and five plain sweeps
    for _ in range(20):
        V.append(once(z, e, V[-1], 1.08, np.ones(N))[0])
    for sweeps in (1, 2, 3, 4, 6, 10, 16, 17):
        model = CMeans(C, rule=Rising(), init=START, tol=0, max_iter=sweeps, **SPACES[space]).fit(X)
        gone = [number for number in refused if number < sweeps]
        np.testing.assert_allclose(
            model.memberships_, fuzzy(distances(z, e, V[sweeps - len(gone)]), 1.08), atol=1e-8
        )
        history = model.objective_history_
        assert len(history) == sweeps + 1 == model.n_iter_ + 1
        assert [
            number for number in range(1, sweeps) if history[number] == history[number - 1]
        ] == gone
        assert model.row_visits_ == N * (sweeps + 1 + (space in ("landmarks", "gradient")))


# --------------------------------------------------------------------------------- streams, threads


@pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning")
@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": GAMMA},
        {"kernel": "rbf", "gamma": GAMMA, "method": "projection"},
    ],
    ids=str,
)
def test_streams_mix_with_what_they_carry(words):
    """Later chunks are clustered together with the sums of those before: the same fixed points in
    fewer sweeps."""
    chunks = [groups(seed, n=120) for seed in range(3)]
    ends = {}
    for acceleration in ("anderson", None):
        stream = stream_of(
            C,
            m=1.08,
            tol=1e-10,
            max_iter=3000,
            n_init=1,
            random_state=0,
            search=Search(acceleration=acceleration),
            **words,
        )
        sweeps = 0
        for chunk in chunks:
            stream.partial_fit(chunk)
            sweeps += stream.n_iter_
        ends[acceleration] = stream, sweeps
    (mixed, fewer), (plain, sweeps) = ends.values()
    np.testing.assert_allclose(mixed.memberships_, plain.memberships_, atol=1e-6)
    np.testing.assert_allclose(mixed.mass_, plain.mass_, rtol=1e-6)
    assert mixed.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    assert fewer < sweeps


def test_a_streams_fixed_point_is_that_of_the_chunk_and_the_sums_before():
    """Euclidean: v_j = (past moment + chunk moment) / (past mass + chunk mass), memberships of the
    chunk at v."""
    first, second = groups(0, n=120), groups(1, n=120)
    stream = StreamingFuzzyCMeans(C, kernel="linear", m=2.0, tol=1e-9, n_init=1, random_state=0)
    stream.partial_fit(first)
    a = stream.memberships_**2
    mass, moment = a.sum(axis=0), a.T @ first
    V = moment / mass[:, None]
    stream.partial_fit(second)
    for _ in range(500):
        u = fuzzy(distances(second, np.zeros(120), V), 2.0) ** 2
        V = (moment + u.T @ second) / (mass + u.sum(axis=0))[:, None]
    np.testing.assert_allclose(stream.cluster_centers_, V, atol=1e-6)


@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": GAMMA, "landmarks": 20},
        {"kernel": "rbf", "gamma": GAMMA, "landmarks": None},
    ],
    ids=str,
)
def test_any_number_of_threads_and_any_budget_give_the_same_bits(words, monkeypatch):
    cut_raggedly(monkeypatch, block=11, tasks=5)
    X, fits = groups(), []
    for n_jobs, budget in ((1, None), (2, None), (5, "1GB")):
        fits.append(
            FuzzyCMeans(
                C,
                m=1.08,
                random_state=0,
                engine=cmeans.ThreadEngine(n_jobs=n_jobs, memory_budget=budget),
                tol=1e-7,
                **words,
            ).fit(X)
        )
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.objective_history_, fits[0].objective_history_)
        np.testing.assert_array_equal(fit.memberships_, fits[0].memberships_)


# --------------------------------------------------------------------------------------- stagnation


def last_move(model, X, space):
    """max_j |dv_j| of one more plain sweep, relative to the root of the objective for each row."""
    z, e = coordinates(X, space)
    a = model.memberships_.astype(float) ** model.m_
    V = (a.T @ z) / a.sum(axis=0)[:, None]
    new, _, objective, _ = once(z, e, V, model.m_, np.ones(len(X)))
    return np.sqrt(((new - V) ** 2).sum(axis=1).max() / (objective / len(X)))


@over_acceleration
@pytest.mark.parametrize("space", ["euclidean", "landmarks", "exact"])
def test_single_precision_ends_where_only_rounding_is_left(space, acceleration):
    X = groups()
    model = FuzzyCMeans(
        C,
        m=M[space],
        init=START,
        tol=1e-8,
        max_iter=2000,
        search=Search(acceleration=acceleration),
        **SPACES[space],
    )
    model.fit(X.astype(np.float32))
    assert model.converged_
    assert model.n_iter_ < 500
    assert "tol=1e-08" in model.stop_reason_
    assert f"{model.n_iter_} sweeps" in model.stop_reason_
    if space == "landmarks":  # in the others centres may come to rest entirely
        assert "rounding" in model.stop_reason_
    assert last_move(model, X, space) < 1e-3
    exact = FuzzyCMeans(C, m=M[space], init=START, tol=1e-8, max_iter=2000, **SPACES[space]).fit(X)
    np.testing.assert_allclose(model.memberships_, exact.memberships_, atol=3e-3)


def test_single_precision_without_a_factor_ends_too():
    """Landmarks that are nearly redundant: conjugate gradients leave their own rounding in the
    centres."""
    X = groups(d=2, apart=2.2).astype(np.float32)
    words = {
        "m": 1.4,
        "kernel": "rbf",
        "gamma": 0.2,
        "init": START,
        "landmarks": LANDMARKS,
        "search": Search(acceleration=None),
        "max_iter": 150,
    }
    assert FuzzyCMeans(C, **words).fit(X).n_iter_ < 50
    words["landmarks"] = GradientLandmarks(points=LANDMARKS)
    assert FuzzyCMeans(C, **words).fit(X).converged_


@over_acceleration
@over_spaces
def test_a_tol_within_reach_is_reached(space, acceleration):
    X = groups()
    rows = rbf(X) if space == "precomputed" else X
    model = FuzzyCMeans(
        C,
        m=M[space],
        init=START,
        tol=1e-8,
        max_iter=3000,
        search=Search(acceleration=acceleration),
        **SPACES[space],
    ).fit(rows)
    assert model.converged_
    assert "rounding" not in model.stop_reason_
    assert last_move(model, X, space) <= 1.5e-8


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("rate", [0.98, 0.99])
@pytest.mark.parametrize(("dtype", "tol"), [("float64", 1e-8), ("float32", 1e-4)])
def test_a_slow_run_is_not_taken_for_one_that_rounding_holds(dtype, tol, rate):
    """Just beyond m* centres creep together by 1 to 2% a sweep: ten sweeps look much like the ten
    before, and there is far to go still."""
    X = groups(n=60)
    largest = critical_fuzzifier(rbf(X))[0]
    # from where differences of centres shrink by that rate: 2 m / (m - 1) lambda_max
    m = rate / (rate - 2 * largest)
    words = {
        "kernel": "rbf",
        "gamma": GAMMA,
        "landmarks": None,
        "m": m,
        "init": START[:2],
        "max_iter": 5000,
        "search": Search(acceleration=None),
    }
    model = FuzzyCMeans(2, tol=tol, **words).fit(X.astype(dtype))
    assert model.converged_
    assert "rounding" not in model.stop_reason_
    assert last_move(model, X, "exact") <= 1.5 * tol


@pytest.mark.parametrize("space", ["euclidean", "landmarks"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tol_of_zero_makes_all_sweeps(space, dtype):
    X = groups().astype(dtype)
    model = FuzzyCMeans(
        C,
        m=M[space],
        init=START,
        tol=0,
        max_iter=45,
        search=Search(acceleration=None),
        **SPACES[space],
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=45"):
        model.fit(X)
    assert model.n_iter_ == 45
    assert not model.converged_
    assert len(model.objective_history_) == 46


def test_sparse_and_dense_rows_take_the_same_way():
    X = groups()
    dense, csr = (
        FuzzyCMeans(
            C, m=1.08, kernel="rbf", gamma=GAMMA, landmarks=LANDMARKS, init=START, tol=1e-6
        ).fit(x)
        for x in (X, sparse.csr_array(X))
    )
    assert dense.n_iter_ == csr.n_iter_
    np.testing.assert_allclose(dense.objective_history_, csr.objective_history_, rtol=1e-9)
