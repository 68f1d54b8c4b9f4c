"""Samples that grow before the first sweep over all rows: the same fixed points, told apart and
counted."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans, Search
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.engines import ThreadEngine
from cmeans.rules import Fuzzy, Hard
from cmeans.runtime.progress import listening
from cmeans.sampling.population import population_of
from cmeans.solvers.observer import UNOBSERVED
from cmeans.solvers.subsampling import sample_sizes, subsample_schedule
from cmeans.sweeps.problem import Problem, Stopping
from cmeans.sweeps.state import State
from contracts.arrays import cut_raggedly
from euclidean_rows import euclidean_rows
from limited import limited

pytestmark = pytest.mark.slow

C, N = 3, 4100
FEW = Limits(subsampled_above=4000)
SIZES = [N // 64, N // 16, N // 4]  # a 256th of the rows is fewer than 20 a cluster
SPACES = {
    "euclidean": {"kernel": "linear", "search": None},
    "landmarks": {"kernel": "rbf", "gamma": 0.1, "landmarks": np.arange(0, N, 200), "search": None},
}
RULES = {
    "hard": (KernelKMeans, {}),
    "fuzzy": (FuzzyCMeans, {"m": 1.3}),
    "own": (CMeans, {"rule": Fuzzy(1.3)}),
}
over_spaces = pytest.mark.parametrize("space", SPACES)
over_rules = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(autouse=True, scope="module")
def _small():
    """Samples for a few thousand rows, and one thread for their products."""
    with threadpool_limits(1), pytest.MonkeyPatch.context() as patch:
        limited(patch, subsampled_above=FEW.subsampled_above)
        yield


def groups(n=N, d=2, c=C, seed=0):
    rng = np.random.default_rng(seed)
    return 5.0 * rng.normal(size=(c, d))[np.arange(n) % c] + rng.normal(size=(n, d))


X = groups()


def watched(model, rows, **words):
    """The model fitted, and (stage, run, rows) of every sweep over whatever rows."""
    sweeps = []

    def listen(message):
        if message.objective is None and message.rows_done == message.n_rows:
            sweeps.append((message.stage, message.run, message.n_rows))

    with listening(listen):
        model.fit(rows, **words)
    return model, sweeps


def products(rows, space):
    """Rows as points z with what their space leaves out of them."""
    if space == "euclidean":
        return rows, np.zeros(len(rows))
    points = rows[SPACES[space]["landmarks"]]
    kernel = [np.exp(-0.1 * ((a[:, None] - points[None]) ** 2).sum(axis=2)) for a in (rows, points)]
    values, vectors = np.linalg.eigh(kernel[1])
    kept = values > 1e-11 * values[-1]
    z = kernel[0] @ vectors[:, kept] / np.sqrt(values[kept])
    return z, 1 - (z**2).sum(axis=1)


def last_move(model, rows, space, m, weight=None):
    """max_j |dv_j| of one more plain sweep over all rows, relative to the root of the objective for
    each row."""
    weight = np.ones(len(rows)) if weight is None else weight
    z, e = products(rows, space)
    a = weight[:, None] * np.asarray(model.memberships_) ** m
    V = (a.T @ z) / a.sum(axis=0)[:, None]
    d2 = np.maximum(np.column_stack([((z - v) ** 2).sum(axis=1) + e for v in V]), 1e-30)
    if m == 1:
        u = np.eye(len(V))[d2.argmin(axis=1)]
    else:
        r = (d2 / d2.min(axis=1, keepdims=True)) ** (-1 / (m - 1))
        u = r / r.sum(axis=1, keepdims=True)
    a = weight[:, None] * u**m
    moved = ((a.T @ z) / a.sum(axis=0)[:, None] - V) ** 2
    return np.sqrt(moved.sum(axis=1).max() * weight.sum() / (a * d2).sum())


# ----------------------------------------------------------------------------------- sizes, samples


def test_sizes():
    """A 256th, a 64th, a 16th and a quarter, those that have 20 rows a cluster; none up to the
    number where it begins to pay."""
    sizes = partial(sample_sizes, limits=Limits())
    assert sizes(25_000, 3) == []
    assert sizes(25_001, 3) == [97, 390, 1562, 6250]
    assert sizes(25_001, 4) == [97, 390, 1562, 6250]
    assert sizes(25_001, 5) == [390, 1562, 6250]
    assert sizes(25_001, 79) == [6250]
    assert sizes(25_001, 313) == []
    assert sizes(1_000_000, 8) == [3906, 15625, 62500, 250000]


def population(weight, n=N, limits=FEW):
    return population_of(Blocks(np.arange(n, dtype=float)[:, None], weight, limits=limits))


def test_it_begins_above_25000_rows_that_count():
    weight = np.ones(25_001)
    schedule = subsample_schedule(population(weight, 25_001, Limits()), 3, np.random.RandomState(0))
    assert [len(rows) for rows, _ in schedule.samples()] == [97, 390, 1562, 6250]
    weight[7] = 0
    assert (
        subsample_schedule(population(weight, 25_001, Limits()), 3, np.random.RandomState(0))
        is None
    )


def test_rows_without_weight_are_in_no_sample():
    weight = np.ones(2 * N)
    weight[::2] = 0
    for seed in range(5):
        schedule = subsample_schedule(population(weight, 2 * N), C, np.random.RandomState(seed))
        assert [len(rows) for rows, _ in schedule.samples()] == SIZES
        for rows, weights in schedule.samples():
            assert (rows % 2 == 1).all()
            assert len(set(rows.tolist())) == len(rows)
            np.testing.assert_array_equal(weights, np.ones(len(rows)))


def test_rows_stand_in_samples_in_proportion_to_their_weight():
    """In expectation: over 400 samples each row's multiplicity is its share of the sample."""
    weight = np.random.default_rng(0).uniform(0, 5, size=N)
    weight[3] = 60.0  # sampled several times over
    total, draws = np.zeros(N), 400
    rng = np.random.RandomState(0)
    for _ in range(draws):
        _, (rows, weights), *_ = subsample_schedule(population(weight), C, rng).samples()
        assert weights.sum() == pytest.approx(SIZES[1])
        np.add.at(total, rows, weights)
    expected = draws * SIZES[1] * weight / weight.sum()
    spread = np.sqrt(np.maximum(expected, 1.0))
    assert np.abs(total - expected).max() < 6 * spread.max()
    assert abs(total[3] - expected[3]) < 0.1 * expected[3]
    heavy = weight > np.median(weight)
    assert total[heavy].sum() == pytest.approx(expected[heavy].sum(), rel=0.01)


# --------------------------------------------------------------------------------------------- fits


@over_spaces
@over_rules
def test_the_result_is_a_fixed_point_on_all_rows(space, rule):
    make, own = RULES[rule]
    model, sweeps = watched(make(C, random_state=0, tol=1e-6, **own, **SPACES[space]), X)
    assert last_move(model, X, space, 1.0 if rule == "hard" else 1.3) <= 1.5e-6
    assert model.converged_
    stages = [(stage, rows) for stage, _, rows in sweeps]
    assert list(dict.fromkeys(rows for stage, rows in stages if stage == "sample")) == SIZES
    full = sum(stage == "fit" for stage, _ in stages)
    assert {rows for stage, rows in stages if stage != "sample"} == {N}
    assert model.n_iter_ == full == len(model.objective_history_) - 1
    # Every row of every sweep, the last pass, and one sweep more for the certificate where the last
    # one moved a centre.
    assert model.row_visits_ == sum(rows for _, rows in stages) + N * (
        space == "landmarks" and rule != "hard"
    )
    assert sum(stage == "assign" for stage, _ in stages) == 1


@over_spaces
def test_without_it_every_sweep_is_over_all_rows(space):
    words = {**SPACES[space], "search": Search(None, progressive=False)}
    model, sweeps = watched(FuzzyCMeans(C, m=1.3, random_state=0, tol=1e-7, **words), X)
    assert {rows for _, _, rows in sweeps} == {N}
    assert model.row_visits_ == N * (model.n_iter_ + 1 + (space == "landmarks"))
    sampled = FuzzyCMeans(C, m=1.3, random_state=0, tol=1e-7, **SPACES[space]).fit(X)
    assert sampled.objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert sampled.n_iter_ <= model.n_iter_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fewer_rows_are_visited_in_all():
    """Three seeds of a problem that takes its time: less than two thirds of the visits."""
    rows = groups(N, 2, 6, seed=3)
    visits = [
        sum(
            FuzzyCMeans(
                6,
                kernel="linear",
                m=2.0,
                random_state=seed,
                search=Search(progressive=how),
                tol=1e-5,
            )
            .fit(rows)
            .row_visits_
            for seed in range(3)
        )
        for how in (True, False)
    ]
    assert visits[0] < 0.67 * visits[1]


def test_weights_count():
    """Rows of weight zero, however far, change nothing; the fixed point is that of the weighted
    rows."""
    weight = np.random.default_rng(1).integers(0, 4, size=2 * N).astype(float)
    rows = groups(2 * N, seed=1)
    rows[weight == 0] += 1e3
    for space in ("euclidean",):
        model, sweeps = watched(
            FuzzyCMeans(C, m=1.3, random_state=0, tol=1e-6, **SPACES[space]),
            rows,
            sample_weight=weight,
        )
        assert any(stage == "sample" for stage, _, _ in sweeps)
        assert last_move(model, rows, space, 1.3, weight) <= 1.5e-6
        assert np.abs(model.cluster_centers_).max() < 100


@pytest.mark.parametrize("kind", ["rows", "points", "labels", "memberships", "model"])
def test_a_start_that_is_given_is_followed_on_all_rows(kind):
    u = np.random.default_rng(0).dirichlet(np.ones(C), size=N)
    init = {
        "rows": np.arange(C),
        "points": X[:C],
        "labels": np.arange(N) % C,
        "memberships": u,
    }.get(kind)
    if kind == "model":
        init = KernelKMeans(C, kernel="linear", random_state=1).fit(X)
    ends = [
        watched(
            FuzzyCMeans(C, m=1.3, kernel="linear", init=init, search=Search(progressive=how)), X
        )
        for how in (True, False)
    ]
    assert all(stage != "sample" for stage, _, _ in ends[0][1])
    np.testing.assert_array_equal(ends[0][0].objective_history_, ends[1][0].objective_history_)


@pytest.mark.parametrize("init", ["random", "random-partition", "max-min", "k-means||"])
def test_starts_by_name_go_through_samples(init):
    model, sweeps = watched(
        FuzzyCMeans(C, m=1.3, kernel="linear", init=init, random_state=0, tol=1e-6), X
    )
    assert any(stage == "sample" for stage, _, _ in sweeps)
    assert last_move(model, X, "euclidean", 1.3) <= 1.5e-6


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "words", [{"kernel": "rbf", "gamma": 2000.0}, {"kernel": "precomputed"}], ids=str
)
def test_exact_spaces_are_not_sampled(words, monkeypatch):
    limited(monkeypatch, subsampled_above=300)
    rows = groups(400)
    given = (
        np.exp(-2000.0 * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
        if words["kernel"] == "precomputed"
        else rows
    )
    model, sweeps = watched(
        KernelKMeans(C, landmarks=None, search=None, random_state=0, **words), given
    )
    assert model.approximation_ is None
    assert {stage for stage, _, _ in sweeps} == {"fit", "assign"}


def test_possibilistic_fits_have_a_sampled_pilot_and_samples_of_their_own():
    """The scales are those of the pilot on all rows; with them the result is a fixed point on all
    rows."""
    rows = groups(seed=2)
    words = {"m": 2.0, "pilot_m": 1.3, "eta_scale": 0.5, "random_state": 0, "tol": 1e-7}
    model, sweeps = watched(PossibilisticCMeans(C, **words, **SPACES["euclidean"]), rows)
    stages = [(stage, size) for stage, _, size in sweeps]
    kinds = [
        stage
        for number, (stage, _) in enumerate(stages)
        if number == 0 or stages[number - 1][0] != stage
    ]
    assert kinds == ["sample", "pilot", "sample", "fit", "assign"]
    assert (
        model.n_iter_
        == sum(stage == "fit" for stage, _ in stages)
        == len(model.objective_history_) - 1
    )
    # one look more for far rows, one sweep for the scales
    assert model.row_visits_ == sum(size for _, size in stages) + 2 * N
    plain = PossibilisticCMeans(
        C,
        m=2.0,
        pilot_m=1.3,
        eta_scale=0.5,
        kernel="linear",
        random_state=0,
        tol=1e-7,
        search=Search(progressive=False),
    ).fit(rows)
    np.testing.assert_allclose(
        model.eta_[np.argsort(model.eta_)], plain.eta_[np.argsort(plain.eta_)], rtol=1e-5
    )
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    u = model.memberships_
    V = (u**2).T @ rows / (u**2).sum(axis=0)[:, None]
    d2 = ((rows[:, None] - V[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(u, 1 / (1 + d2 / model.eta_), atol=1e-5)


# ----------------------------------------------------------------------------------- several starts


@pytest.mark.parametrize("rule", [Hard(), Fuzzy(1.3)])
def test_of_several_starts_the_best_on_the_largest_sample_is_kept(rule):
    """Each run alone through the same samples; their objectives on the largest, by hand."""
    c = 8
    X = groups(N, 2, c, seed=5)
    rows = euclidean_rows(X, keep_bytes=10**8, limits=FEW)

    def schedule():  # with the same samples every time
        return subsample_schedule(population_of(rows.blocks), c, np.random.RandomState(0))

    rng = np.random.default_rng(0)
    states = [
        State(rows.space.embed(rows.blocks.take(rng.choice(N, size=c, replace=False))))
        for _ in range(5)
    ]
    last = X[list(schedule().samples())[-1][0]]
    with ThreadEngine(1).opened() as engine:
        problem = Problem(rows, rule, engine, Stopping(100, 1e-4))
        together = schedule()(states, problem, 5, UNOBSERVED)
        alone = [schedule()([state], problem, 5, UNOBSERVED) for state in states]
    costs = []
    for warm in alone:
        V = warm.state.centres.coordinates
        d2 = np.maximum(((last[:, None] - V[None]) ** 2).sum(axis=2), 1e-30)
        if isinstance(rule, Hard):
            costs.append(d2.min(axis=1).sum())
        else:
            costs.append((d2 ** (-1 / 0.3)).sum(axis=1) ** -0.3 @ np.ones(len(last)))
    assert together.run == int(np.argmin(costs))
    assert max(costs) > 1.01 * min(costs)
    np.testing.assert_array_equal(
        together.state.centres.coordinates, alone[together.run].state.centres.coordinates
    )
    assert together.row_visits == sum(warm.row_visits for warm in alone) + 5 * len(last)
    assert all(warm.run == 0 for warm in alone)


def test_only_the_best_start_sees_all_rows():
    rows = groups(N, 2, 8, seed=5)
    model, sweeps = watched(
        KernelKMeans(8, kernel="linear", init="random", n_init=4, search=None, random_state=0), rows
    )
    assert {run for stage, run, _ in sweeps if stage == "sample"} == {0, 1, 2, 3}
    assert len({run for stage, run, _ in sweeps if stage == "fit"}) == 1
    assert model.n_iter_ == sum(stage == "fit" for stage, _, _ in sweeps)
    # and what tells the starts apart
    assert model.row_visits_ == sum(size for _, _, size in sweeps) + 4 * (N // 4)
    single = [
        KernelKMeans(8, kernel="linear", init="random", search=None, random_state=seed)
        .fit(rows)
        .objective_
        for seed in range(4)
    ]
    assert model.objective_ < max(single)


# --------------------------------------------------------------------------------- same bits, words


@pytest.mark.parametrize(
    ("space", "rule"), [("euclidean", "hard"), ("landmarks", "fuzzy"), ("euclidean", "own")]
)
def test_any_number_of_threads_and_any_budget_give_the_same_bits(space, rule, monkeypatch):
    cut_raggedly(monkeypatch, block=101, tasks=7)
    make, own = RULES[rule]
    words = {"n_init": 2, "random_state": 0, "tol": 1e-5, **own, **SPACES[space]}
    one, *others = (
        make(C, engine=ThreadEngine(n_jobs=jobs, memory_budget=budget), **words).fit(X)
        for jobs, budget in ((1, None), (2, "80MB"), (5, "1GB"))
    )
    for other in others:
        np.testing.assert_array_equal(other.objective_history_, one.objective_history_)
        np.testing.assert_array_equal(other.memberships_, one.memberships_)
        assert other.row_visits_ == one.row_visits_


def test_compiled_sweeps_go_through_samples_too(sweeps):
    model, seen = watched(KernelKMeans(C, kernel="linear", random_state=0, tol=1e-6), X)
    assert any(stage == "sample" for stage, _, _ in seen)
    assert last_move(model, X, "euclidean", 1.0) <= 1.5e-6


def test_sparse_and_single_precision_rows():
    dense = FuzzyCMeans(C, m=1.3, kernel="linear", random_state=0, tol=1e-6).fit(X)
    csr = FuzzyCMeans(C, m=1.3, kernel="linear", random_state=0, tol=1e-6).fit(sparse.csr_array(X))
    single = FuzzyCMeans(C, m=1.3, kernel="linear", random_state=0, tol=1e-4).fit(
        X.astype(np.float32)
    )
    assert csr.objective_ == pytest.approx(dense.objective_, rel=1e-9)
    assert single.objective_ == pytest.approx(dense.objective_, rel=1e-5)


@pytest.mark.parametrize("word", ["yes", 1, None, np.array([True])])
def test_unknown_words_are_refused(word):
    with pytest.raises(ValueError, match=r"Search\(progressive=.*True or False"):
        Search(progressive=word)


def test_numpys_own_words_will_do():
    for word in (np.True_, np.False_):
        KernelKMeans(C, kernel="linear", random_state=0, search=Search(progressive=word)).fit(
            X[:200]
        )
