"""What holds for any data: the objective falls, memberships add up, copies are weights; order,
blocks, threads and units do not count."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning

from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    Landmarks,
    PossibilisticCMeans,
    Search,
    ThreadEngine,
    TwoStepKernelKMeans,
)
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.kernels import KERNELS, RBF, Linear
from cmeans.papers import GradientLandmarks
from cmeans.rules import Fuzzy, Hard, Possibilistic
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.sweeps.generic import sweep
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from contracts.arrays import as_form
from limited import limited
from sweep_choices import pairs

# Anything may be drawn: data that collapse, coincide, hold fewer distinct rows than clusters, or
# take long.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings(
        "ignore:.*(collapsed|coincide|hold no row|nearly the identity|nearly constant|distinct "
        "row):UserWarning"
    ),
]

ESTIMATORS = {
    "hard": KernelKMeans,
    "fuzzy": partial(FuzzyCMeans, m=1.5),
    "fuzzy-auto": FuzzyCMeans,
    "possibilistic": partial(PossibilisticCMeans, m=1.8, pilot_m=1.5),
}
SWEEPS = ["generic", "native"]
# Sweeps alone: mixed centres are differences of nearly equal ones, which rounding decides.
PLAIN = Search(None, acceleration=None)
some = partial(settings, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def datasets(draw, largest=60):
    """Rows in blobs of any number, size and scale; sometimes on a grid, so that rows repeat and
    distances tie; with zeros."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(8, largest)), draw(st.integers(1, 5))
    blobs = draw(st.integers(1, 4))
    X = rng.normal(size=(blobs, d))[np.arange(n) % blobs] * 3 + rng.normal(
        scale=draw(st.sampled_from([0.05, 0.5, 2.0])), size=(n, d)
    )
    X[np.abs(X) < 0.2] = 0
    if draw(st.booleans()):
        X = np.round(X)
    return X * draw(st.sampled_from([1e-3, 1.0, 50.0]))


@st.composite
def words(
    draw, X, kernels=("linear", "rbf", "laplacian", "polynomial", "normalized_polynomial", "cosine")
):
    """A kernel that is positive semi-definite, and a space."""
    kernel = draw(st.sampled_from(kernels))
    chosen = {"kernel": kernel}
    if kernel in ("rbf", "laplacian"):
        chosen["gamma"] = draw(st.sampled_from(["scale", "median"]))
    elif kernel.endswith("polynomial"):
        chosen["kernel"] = KERNELS[kernel](
            degree=2, gamma=1.0 / max(1e-12, float((X**2).sum(axis=1).mean()))
        )
    space = draw(
        st.sampled_from(["landmark", "gradient", "euclidean" if kernel == "linear" else "exact"])
    )
    if space in ("landmark", "gradient"):
        count = draw(st.integers(1, len(X)))
        points = np.sort(np.random.default_rng(count).permutation(len(X))[:count])
        chosen["landmarks"] = GradientLandmarks(points=points) if space == "gradient" else points
        if kernel == "linear":  # by its name it would be told that it needs no landmarks
            chosen["kernel"] = Linear()
    elif space == "exact":
        chosen["landmarks"] = None
    return chosen


def renumbered(space, numbers):
    """The words of a space whose landmarks are rows that have other numbers elsewhere."""
    chosen = space.get("landmarks")
    if chosen is None:
        return space
    if isinstance(chosen, Landmarks):
        return {**space, "landmarks": replace(chosen, points=numbers[chosen.points])}
    return {**space, "landmarks": numbers[chosen]}


def by_gradients(model):
    return isinstance(model.landmarks, GradientLandmarks)


@contextmanager
def blocks_of(rows, tasks=3, **others):
    with pytest.MonkeyPatch.context() as patch:
        yield limited(patch, block_rows=rows, tasks=tasks, task_values=1, **others)


# ----------------------------------------------------------------------------------- within one run


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("rule", ESTIMATORS)
@some(max_examples=8)
@given(data=st.data())
def test_the_objective_never_rises(rule, data):
    X = data.draw(datasets())
    weights = data.draw(
        st.sampled_from([None, np.random.default_rng(1).uniform(0, 2, size=len(X))])
    )
    c = data.draw(st.integers(1, 5))
    chosen = data.draw(words(X))
    model = ESTIMATORS[rule](c, **chosen, random_state=0, max_iter=30, tol=0).fit(
        X, sample_weight=weights
    )
    history = model.objective_history_
    # Rounding, where landmarks are redundant; conjugate gradients stop where they find nothing more
    # to gain.
    rounding = 1e-8 if by_gradients(model) else 1e-9
    assert (np.diff(history) <= rounding * (history[0] + model.kernel_.diag(X).sum())).all()
    assert (history >= 0).all()


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("rule", ["hard", "fuzzy", "fuzzy-auto"])
@some(max_examples=5)
@given(data=st.data())
def test_rows_sum_to_one(rule, data):
    X = data.draw(datasets())
    model = ESTIMATORS[rule](3, **data.draw(words(X)), random_state=0).fit(X)
    for u in (model.memberships_, model.predict_proba(X[::-1] * 1.1)):
        np.testing.assert_allclose(u.sum(axis=1), 1, atol=1e-12)
        assert (u >= 0).all()


@pytest.mark.usefixtures("sweeps")
@some(max_examples=6)
@given(data=st.data())
def test_typicalities_lie_between_zero_and_one(data):
    X = data.draw(datasets())
    model = PossibilisticCMeans(3, **data.draw(words(X)), random_state=0).fit(X)
    assert ((model.memberships_ >= 0) & (model.memberships_ <= 1)).all()
    assert (model.eta_ > 0).all()


# ------------------------------------------------------------ copies, weights and the order of rows


def assert_alike(a, b, rows_of_b, tolerance=1e-7):
    """The same run, on rows that stand elsewhere: row i of a is row rows_of_b[i] of b."""
    assume(clear_of_the_cut(a))
    if by_gradients(a):  # on nearly coincident landmarks it stops where nothing is left to gain
        tolerance = max(tolerance, 1e-6)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=tolerance, atol=1e-12)
    np.testing.assert_allclose(
        a.memberships_, b.memberships_[rows_of_b], rtol=0, atol=100 * tolerance
    )


def clear_of_the_cut(model):
    """Whether no direction of the landmarks' span is so thin that rounding decides if it is
    kept."""
    if isinstance(model.kernel_, Linear) or model.landmarks_.shape[0] == model.labels_.shape[0]:
        return True
    values = (
        np.linalg.eigvalsh(model.kernel_(model.landmarks_, model.landmarks_))
        / model.landmarks_.shape[0]
    )
    return not ((values > 1e-14) & (values < 1e-9)).any()


def no_row_between(model, X):
    """Whether no row is as far from one centre as from another, to rounding: as with a width that
    is small beside all distances."""
    nearest = np.sort(model.transform(X), axis=1)[:, :2]
    return bool((nearest[:, 1] - nearest[:, 0] > 1e-9 * nearest[:, 1]).all())


def generic(X, data):
    """Rows without ties: which of two equal distances rounding makes the smaller is nobody's
    promise. Some rows twice."""
    X = X + np.random.default_rng(len(X)).normal(
        scale=1e-2 * max(np.abs(X).max(), 1e-6), size=X.shape
    )
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=6, max_size=40))
    assume(len(set(rows)) > 2)  # else every distance is rounding
    return X[rows]


DRAWN = {
    "exact": {"kernel": "rbf", "gamma": "median", "landmarks": None},
    "landmark": {"kernel": "rbf", "gamma": "scale", "landmarks": 5},
    "far-landmarks": {
        "kernel": "rbf",
        "gamma": "median",
        "landmarks": Landmarks(5, method="k-means++"),
    },
    "euclidean": {"kernel": "linear"},
}


@pytest.mark.parametrize(
    ("rule", "space", "init"),
    pairs(
        ["hard", "two-step", "fuzzy-auto"],
        DRAWN,
        ["k-means++", "k-means||", "random", "random-partition"],
    ),
)
@some(max_examples=4)
@given(data=st.data())
def test_a_weight_of_k_is_k_copies_in_any_order_whatever_is_drawn(rule, space, init, data):
    """Up to 2,000 rows landmarks, starts, gamma and m are blind to order and copies."""
    X = generic(data.draw(datasets(largest=25)), data)
    copies = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    distinct = len(np.unique(X[copies > 0], axis=0)) if copies.any() else 0
    assume(distinct >= 5)
    form = data.draw(st.sampled_from(["numpy", "csr"]))
    repeated = np.repeat(np.arange(len(X)), copies)
    repeated = repeated[
        np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(repeated))
    ]
    estimator = TwoStepKernelKMeans if rule == "two-step" else ESTIMATORS[rule]
    make = partial(estimator, 2, init=init, random_state=3, max_iter=20, tol=0, **DRAWN[space])
    weighted = make().fit(as_form(X, form), sample_weight=copies)
    # A kernel so narrow that far rows are all equally far leaves it to rounding who is nearest.
    assume(weighted.gamma_ is None or weighted.gamma_ * pdist(X, "sqeuclidean").max() < 20)
    assume(clear_of_the_cut(weighted))
    copied = make().fit(as_form(X[repeated], form))
    where = np.array([np.flatnonzero(repeated == row)[0] for row in np.flatnonzero(copies)])
    assert (
        copied.gamma_ == pytest.approx(weighted.gamma_, rel=1e-9)
        if weighted.gamma_
        else copied.gamma_ is None
    )
    np.testing.assert_allclose(weighted.objective_, copied.objective_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(
        weighted.memberships_[copies > 0], copied.memberships_[where], rtol=0, atol=1e-5
    )


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("rule", ESTIMATORS)
@some(max_examples=5)
@given(data=st.data())
def test_a_weight_of_k_is_k_copies_for_a_given_start(rule, data):
    X = generic(data.draw(datasets(largest=30)), data)
    copies = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X))))
    repeated = np.repeat(np.arange(len(X)), copies)
    form = data.draw(st.sampled_from(["numpy", "csr"]))
    first = np.flatnonzero(np.r_[True, np.diff(repeated) > 0])
    space = data.draw(words(X, kernels=("linear", "rbf")))
    there = renumbered(space, first)
    make = partial(ESTIMATORS[rule], 2, max_iter=10, tol=0)
    weighted = make(init=[0, 1], **space).fit(as_form(X, form), sample_weight=copies)
    copied = make(init=first[[0, 1]], **there).fit(as_form(X[repeated], form))
    assert_alike(weighted, copied, first)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("rule", ESTIMATORS)
@some(max_examples=5)
@given(data=st.data())
def test_the_order_of_rows_does_not_matter_for_a_given_start(rule, data):
    X = generic(data.draw(datasets(largest=40)), data)
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(X))
    place = np.argsort(order)
    form = data.draw(st.sampled_from(["numpy", "csr"]))
    space = data.draw(words(X, kernels=("linear", "rbf")))
    there = renumbered(space, place)
    make = partial(ESTIMATORS[rule], 2, max_iter=10, tol=0)
    with blocks_of(7):
        ordered = make(init=[0, 1], **space).fit(as_form(X, form))
        shuffled = make(init=place[[0, 1]], **there).fit(as_form(X[order], form))
    assert_alike(ordered, shuffled, place)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("rule", "space", "sweeps"), pairs(ESTIMATORS, DRAWN, SWEEPS), indirect=["sweeps"]
)
@some(max_examples=4)
@given(data=st.data())
def test_rows_of_no_weight_change_nothing_but_are_labelled(rule, space, data):
    X = generic(data.draw(datasets(largest=30)), data)
    assume(len(np.unique(X, axis=0)) >= 5)
    strangers = np.random.default_rng(0).normal(scale=2 * np.abs(X).max(), size=(5, X.shape[1]))
    form = data.draw(st.sampled_from(["numpy", "csr"]))
    # With tol=0 rounding decides whether a fit settles within max_iter, and is searched from.
    make = partial(
        ESTIMATORS[rule], 2, random_state=5, max_iter=100, tol=1e-8, search=PLAIN, **DRAWN[space]
    )
    alone = make().fit(as_form(X, form))
    assume(no_row_between(alone, np.r_[X, strangers]))
    weights = np.r_[np.zeros(2), np.ones(len(X)), np.zeros(3)]
    among = make().fit(as_form(np.r_[strangers[:2], X, strangers[2:]], form), sample_weight=weights)
    assert_alike(alone, among, np.arange(2, 2 + len(X)))
    np.testing.assert_array_equal(
        among.labels_[[0, 1, -1]], alone.predict(as_form(strangers[[0, 1, -1]], form))
    )


# ------------------------------------------------------------------- units, blocks and equal spaces


@pytest.mark.parametrize("rule", ESTIMATORS)
@some(max_examples=5)
@given(data=st.data(), t=st.sampled_from([1e-4, 0.1, 3.0, 1e4]))
def test_scaling_the_data_and_the_kernel_with_them_changes_nothing(rule, data, t):
    X = generic(data.draw(datasets(largest=40)), data)
    gamma = 1.0 / max(np.var(X, axis=0).sum(), 1e-12)
    space = data.draw(
        st.sampled_from(
            [
                {"kernel": "rbf", "landmarks": None},
                {"kernel": "rbf", "landmarks": np.arange(0, len(X), 2)},
            ]
        )
    )
    make = partial(ESTIMATORS[rule], 2, init=[0, 1], max_iter=10, tol=0, search=PLAIN, **space)
    assert_alike(make(gamma=gamma).fit(X), make(gamma=gamma / t**2).fit(t * X), np.arange(len(X)))


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@some(max_examples=4)
@given(data=st.data(), t=st.sampled_from([1e-4, 0.1, 3.0, 1e4]))
def test_gamma_scales_with_the_data(kernel, gamma, data, t):
    X = generic(data.draw(datasets(largest=40)), data)
    assume(len(np.unique(X, axis=0)) > 2)
    make = partial(KernelKMeans, 2, kernel=kernel, gamma=gamma, init=[0, 1], max_iter=1)
    power = 2 if kernel == "rbf" else 1
    assert make().fit(t * X).gamma_ * t**power == pytest.approx(make().fit(X).gamma_, rel=1e-6)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("rule", ESTIMATORS)
@some(max_examples=5)
@given(data=st.data(), size=st.integers(1, 30))
def test_blocks_of_any_size_give_the_same(rule, data, size):
    X = generic(data.draw(datasets(largest=40)), data)
    space = data.draw(words(X, kernels=("linear", "rbf")))
    make = partial(ESTIMATORS[rule], 2, init=[0, 1], max_iter=10, tol=0, **space)
    whole = make().fit(X)
    with blocks_of(size, tasks=data.draw(st.integers(1, 5))):
        cut = make().fit(X)
    assert_alike(whole, cut, np.arange(len(X)))


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("rule", ESTIMATORS)
@some(max_examples=4)
@given(data=st.data())
def test_all_rows_as_landmarks_are_exact(rule, data):
    X = generic(data.draw(datasets(largest=30)), data)
    gamma = data.draw(st.sampled_from([0.3, 2.0])) / max(np.var(X, axis=0).sum(), 1e-12)
    make = partial(ESTIMATORS[rule], 2, kernel="rbf", gamma=gamma, init=[0, 1], max_iter=10, tol=0)
    assert_alike(
        make(landmarks=None).fit(X),
        make(landmarks=np.arange(len(X))).fit(X),
        np.arange(len(X)),
        tolerance=1e-6,
    )


@pytest.mark.parametrize("form", ["numpy", "csr", "torch", "array_api_strict"])
@pytest.mark.parametrize(
    "rule", [Hard(), Fuzzy(1.5), Possibilistic(2.0)], ids=lambda rule: type(rule).__name__.lower()
)
@some(max_examples=3)
@given(data=st.data())
def test_statistics_of_two_halves_merge_into_those_of_the_whole(rule, form, data):
    X = generic(data.draw(datasets(largest=50)), data)
    weights = np.random.default_rng(2).uniform(size=len(X))
    cut = data.draw(st.integers(1, len(X) - 1))
    x = as_form(X, form)
    limits = Limits(block_rows=9, tasks=3, task_values=1)
    whole = Blocks(x, weights, limits=limits)
    halves = [
        Blocks(x[:cut, :], weights[:cut], limits=limits),
        Blocks(x[cut:, :], weights[cut:], limits=limits),
    ]
    kernel = RBF(1.0 / max(float(np.var(X, axis=0).sum()), 1e-12))
    space = data.draw(
        st.sampled_from(
            [EuclideanSpace(X.mean(axis=0)), landmark_space(kernel, x[:5, :], None, x.dtype)]
        )
    )
    scales = np.ones(3) if rule.needs_pilot else None
    state = State(space.embed(whole.cut(0, 3)), scales)

    def statistics(blocks):
        rows = RepresentedRows(space, blocks, 0)
        parts = [sweep(rows, rule, state, task) for task in range(rows.n_tasks)]
        return sum(parts[1:], parts[0])

    total, merged = statistics(whole), statistics(halves[0]) + statistics(halves[1])
    for name in ("weight", "mass", "moment", "spread", "penalty", "objective"):
        size = np.abs(getattr(total, name)).max()
        np.testing.assert_allclose(
            getattr(merged, name), getattr(total, name), rtol=1e-10, atol=1e-12 * size
        )
    forgotten = total * 0.25
    assert forgotten.objective == pytest.approx(total.objective / 4, rel=1e-12, abs=0)
    np.testing.assert_allclose(forgotten.moment, total.moment / 4, rtol=1e-12)


# ---------------------------------------------------------------------------------------- same bits


BITS = {
    "euclidean": {"kernel": "linear"},
    "landmark": {"kernel": "rbf", "landmarks": 20, "gamma": "median"},
    "gradient": {"kernel": "rbf", "landmarks": GradientLandmarks(20), "gamma": "median"},
    "exact": {"kernel": "rbf", "landmarks": None, "gamma": "median"},
}


def many_rows(space, form):
    n = 300 if space == "exact" else 620
    X = np.random.default_rng(8).normal(size=(n, 3)) + 3 * np.eye(3)[np.arange(n) % 3]
    X[np.abs(X) < 0.3] = 0
    return as_form(X, form, "float32")


def bits(model):
    return [
        getattr(model, name)
        for name in (
            "memberships_",
            "labels_",
            "objective_history_",
            "objective_",
            "n_iter_",
            "row_visits_",
        )
    ]


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("rule", "space", "form", "sweeps"),
    pairs(["hard", "fuzzy", "possibilistic"], BITS, ["numpy", "csr"], SWEEPS),
    indirect=["sweeps"],
)
def test_a_seed_gives_the_same_bits_for_any_number_of_threads_and_any_memory(rule, space, form):
    X = many_rows(space, form)
    make = partial(ESTIMATORS[rule], 4, random_state=1, max_iter=3, **BITS[space])
    with (
        blocks_of(50, tasks=20, canonical_rows=500, fixed_rows=150, certified_rows=500) as limits,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert (
            Blocks(X, np.ones(len(X) if form == "numpy" else X.shape[0]), limits=limits).n_tasks(20)
            > 4
        )
        expected = bits(make(n_jobs=1).fit(X))
        least = least_budget(make(engine=ThreadEngine(n_jobs=5, memory_budget=1)), X)
        for other in (
            ThreadEngine(2),
            ThreadEngine(5, memory_budget=least),
            ThreadEngine(2, memory_budget=least + 100_000),
        ):
            for ours, one in zip(bits(make(engine=other).fit(X)), expected, strict=True):
                np.testing.assert_array_equal(ours, one)


def least_budget(model, X):
    with pytest.raises(ValueError, match="memory_budget") as refused:
        model.fit(X)
    return int(str(refused.value).partition("at least ")[2].partition(" bytes")[0])
