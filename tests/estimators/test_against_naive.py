"""Every rule in every space, from the same start over the same landmarks for the same number of
sweeps, against the naive loops."""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, Landmarks, PossibilisticCMeans, ThreadEngine
from cmeans.data.blocks import Blocks
from cmeans.papers import GradientLandmarks, PrintedFuzzy
from contracts.arrays import DTYPES, as_form, cut_raggedly, on_host
from sweep_choices import pairs

# Five sweeps from anywhere seldom end a run.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("plain_loop"),
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
]

N, C, SWEEPS = 67, 3, 5
GAMMA = 0.15
START = np.array([0, 1, 2])  # one row of each blob
LANDMARKS = np.arange(1, N, 5)  # of all three blobs
M, PILOT_M, ETA_SCALE = 1.7, 1.5, 0.8

OBJECTIVE = {"float64": 1e-8, "float32": 1e-4}  # relative
MEMBERSHIPS = {"float64": 1e-6, "float32": 1e-3}


class RuleCase(NamedTuple):
    estimator: type
    words: dict[str, Any]
    memberships: Any  # d2 -> u, of the rule that starts the run
    m: float


RULES = {
    "hard": RuleCase(KernelKMeans, {}, naive.hard_memberships, 1),
    "fuzzy": RuleCase(FuzzyCMeans, {"m": 2.0}, partial(naive.fuzzy_memberships, m=2.0), 2.0),
    "fuzzy-1.3": RuleCase(FuzzyCMeans, {"m": 1.3}, partial(naive.fuzzy_memberships, m=1.3), 1.3),
    "printed-exponent": RuleCase(
        CMeans,
        {"rule": PrintedFuzzy(2.0)},
        partial(naive.fuzzy_memberships, m=2.0, exponent=2.0),
        2.0,
    ),
    "possibilistic": RuleCase(
        PossibilisticCMeans,
        {"m": M, "pilot_m": PILOT_M, "eta_scale": ETA_SCALE},
        partial(naive.fuzzy_memberships, m=PILOT_M),
        PILOT_M,
    ),
}  # fmt: skip
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "gamma": GAMMA, "landmarks": None},
    "landmark": {"kernel": "rbf", "gamma": GAMMA, "landmarks": LANDMARKS},
    "gradient": {
        "kernel": "rbf",
        "gamma": GAMMA,
        "landmarks": GradientLandmarks(points=LANDMARKS),
    },
}


@cache
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with many zeros (three blobs), weights (some zero), and memberships to start from."""
    rng = np.random.default_rng(5)
    X = np.array([[3, 0, 0, 1], [0, 3, 1, 0], [0, 0, 3, 3]])[np.arange(N) % C] + rng.normal(
        scale=0.6, size=(N, 4)
    )
    X[np.abs(X) < 0.5] = 0
    weights = rng.uniform(0.2, 3, size=N)
    weights[[5, 40, 66]] = 0
    memberships = (rng.dirichlet(np.ones(C), size=N) + np.eye(C)[np.arange(N) % C]) / 2
    return X.astype(np.float32).astype(np.float64), weights, memberships


def starts(start: str) -> np.ndarray:
    return START if start == "rows" else problem()[2]


@cache
def naive_run(rule: str, space: str, weighted: bool, start: str) -> naive.Result:
    X, weights, U = problem()
    w = weights if weighted else np.ones(N)
    K = naive.kernel_matrix(
        X, X, naive.linear if space == "euclidean" else partial(naive.rbf, gamma=GAMMA)
    )
    if space in ("landmark", "gradient"):
        pieces = K[:, LANDMARKS], K[np.ix_(LANDMARKS, LANDMARKS)], np.diag(K)
        distances = lambda A: naive.landmark_distances(*pieces, A, 1e-12)  # noqa: E731
        at_rows = naive.row_start_distances_landmark(*pieces, START, 1e-12)
    else:
        distances = partial(naive.exact_distances, K)
        at_rows = naive.row_start_distances_exact(K, START)
    case = RULES[rule]
    first = at_rows if start == "rows" else distances(w[:, None] * U**case.m)
    result = naive.cmeans(distances, case.memberships, first, SWEEPS, case.m, w)
    if rule != "possibilistic":
        return result
    eta = naive.possibilistic_scales(result.d2, result.memberships, PILOT_M, w, ETA_SCALE)
    return naive.cmeans(
        distances,
        partial(naive.possibilistic_memberships, eta=eta, m=M),
        result.d2,
        SWEEPS,
        M,
        w,
        eta,
    )


def least_budget(model: Any, X: Any, weights: Any = None) -> int:
    """The memory that a fit cannot do without: nothing is left to keep rows in."""
    with pytest.raises(ValueError, match="memory_budget") as refused:
        model.set_params(engine=ThreadEngine(1, memory_budget=1)).fit(X, sample_weight=weights)
    return int(re.search(r"at least (\d+) bytes", str(refused.value))[1])


def assert_same(model: Any, expected: naive.Result, dtype: str) -> None:
    # a hard run may stand still before the last sweep
    history = np.array([*expected.history[: model.n_iter_], expected.objective])
    np.testing.assert_allclose(model.objective_history_, history, rtol=OBJECTIVE[dtype])
    np.testing.assert_allclose(model.objective_, expected.objective, rtol=OBJECTIVE[dtype])
    np.testing.assert_allclose(
        on_host(model.memberships_), expected.memberships, rtol=0, atol=MEMBERSHIPS[dtype]
    )
    assert on_host(model.memberships_).dtype == dtype


def test_blocks_are_ragged(monkeypatch):
    blocks = Blocks(problem()[0], problem()[1], limits=cut_raggedly(monkeypatch))
    sizes = [
        [block.x.shape[0] for block in blocks.task(task, 4)] for task in range(blocks.n_tasks(4))
    ]
    assert sizes == [[9, 9, 5], [9, 9, 5], [9, 9, 3]]


def in_every_space(spaces, *others):
    """Each rule in each space with every one of the other choices."""
    return [(*both, *rest) for both, *rest in pairs(product(RULES, spaces), *others)]


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("rule", "space", "form", "dtype", "weighted", "start", "sweeps"),
    in_every_space(
        SPACES,
        ["numpy", "csr"],
        DTYPES,
        [False, True],
        ["rows", "memberships"],
        ["generic", "native"],
    ),
    indirect=["sweeps"],
)
def test_a_run_is_that_of_the_loops(rule, space, form, dtype, weighted, start, monkeypatch):
    cut_raggedly(monkeypatch)
    X, weights, _ = problem()
    case = RULES[rule]
    words = {
        **case.words,
        **SPACES[space],
        "init": starts(start),
        "max_iter": SWEEPS,
        "tol": 0.0,
        "n_jobs": 1,
    }
    rows, w = as_form(X, form, dtype), weights if weighted else None
    model = case.estimator(C, **words).fit(rows, sample_weight=w)
    assert_same(model, naive_run(rule, space, weighted, start), dtype)


@pytest.mark.parametrize(
    ("rule", "space", "form", "start"),
    pairs(RULES, SPACES, ["torch", "array_api_strict"], ["rows", "memberships"]),
)
def test_a_run_in_other_array_libraries(rule, space, form, start, monkeypatch):
    cut_raggedly(monkeypatch)
    X, weights, _ = problem()
    case, rows = RULES[rule], as_form(X, form)
    words = {**case.words, **SPACES[space], "init": starts(start), "max_iter": SWEEPS, "tol": 0.0}
    model = case.estimator(C, **words).fit(rows, sample_weight=weights)
    assert_same(model, naive_run(rule, space, True, start), "float64")
    assert type(model.memberships_) is type(rows)
    assert type(model.labels_) is type(rows)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("rule", "space", "form", "spare", "sweeps"),  # nothing is kept, or one task
    in_every_space(
        ["exact", "landmark", "gradient"], ["numpy", "csr"], [0, 3000], ["generic", "native"]
    ),
    indirect=["sweeps"],
)
def test_a_run_that_makes_its_rows_again(rule, space, form, spare, monkeypatch):
    cut_raggedly(monkeypatch)
    X, weights, _ = problem()
    case, rows = RULES[rule], as_form(X, form)
    model = case.estimator(C, **case.words, **SPACES[space], init=START, max_iter=SWEEPS, tol=0.0)
    budget = least_budget(model, rows, weights) + spare
    model.set_params(engine=ThreadEngine(1, memory_budget=budget)).fit(rows, sample_weight=weights)
    assert_same(model, naive_run(rule, space, True, "rows"), "float64")


@pytest.mark.usefixtures("sweeps")
def test_scales_of_the_possibilistic_run_come_from_the_pilot():
    X, weights, _ = problem()
    model = PossibilisticCMeans(
        C,
        m=M,
        pilot_m=PILOT_M,
        eta_scale=ETA_SCALE,
        **SPACES["exact"],
        init=START,
        max_iter=SWEEPS,
        tol=0.0,
    )
    K = naive.kernel_matrix(X, X, partial(naive.rbf, gamma=GAMMA))
    d2 = naive.row_start_distances_exact(K, START)
    pilot = naive.cmeans(
        partial(naive.exact_distances, K),
        partial(naive.fuzzy_memberships, m=PILOT_M),
        d2,
        SWEEPS,
        PILOT_M,
        weights,
    )
    eta = naive.possibilistic_scales(pilot.d2, pilot.memberships, PILOT_M, weights, ETA_SCALE)
    np.testing.assert_allclose(model.fit(X, sample_weight=weights).eta_, eta, rtol=1e-8)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("space", "choice"), [("landmark", Landmarks), ("gradient", GradientLandmarks)]
)
def test_landmarks_given_twice_change_nothing(space, choice):
    X, weights, _ = problem()
    twice = choice(points=np.concatenate([LANDMARKS, LANDMARKS[:3]]))
    words = {**SPACES[space], "landmarks": twice, "init": START, "max_iter": SWEEPS, "tol": 0.0}
    model = FuzzyCMeans(C, m=1.3, **words).fit(X, sample_weight=weights)
    assert_same(model, naive_run("fuzzy-1.3", space, True, "rows"), "float64")


@pytest.mark.parametrize(
    "space", [{"landmarks": None}, {"landmarks": LANDMARKS}], ids=["exact", "landmark"]
)
def test_rows_are_made_once_where_memory_allows_and_in_every_sweep_where_not(space, monkeypatch):
    cut_raggedly(monkeypatch)
    X, _, _ = problem()

    class Counting:
        seen = 0

        def __call__(self, a, b):
            self.seen += len(a)
            return np.exp(-GAMMA * ((a[:, None] - b) ** 2).sum(axis=2))

        def diag(self, a):
            return np.ones(len(a))

    def rows_seen(sweeps, budget=None):
        kernel, engine = Counting(), ThreadEngine(1, memory_budget=budget)
        FuzzyCMeans(
            C, m=1.3, kernel=kernel, **space, init=START, tol=0, max_iter=sweeps, engine=engine
        ).fit(X)
        return kernel.seen

    least = least_budget(FuzzyCMeans(C, m=1.3, kernel=Counting(), **space), X)
    assert rows_seen(7) == rows_seen(4)
    assert rows_seen(7, least) == rows_seen(4, least) + 3 * N
    # room for one task of three
    some = least + 23 * 8 * (2 + (N if space["landmarks"] is None else len(LANDMARKS)))
    assert rows_seen(7, some) == rows_seen(4, some) + 3 * (N - 23)
