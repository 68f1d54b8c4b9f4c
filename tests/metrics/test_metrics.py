"""Measures against a truth: against loops over pairs and permutations, scikit-learn, examples by
hand, and what holds for any labels."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import rand_score
from sklearn.metrics.cluster import contingency_matrix

from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.metrics import (
    error_reduction,
    fuzzy,
    generalized_rand_measure,
    percent_error,
    purity,
    rand_measure,
    relative_purity,
    success_rate,
)
from contracts.arrays import DENSE, as_form

pytestmark = pytest.mark.slow

BY_NAME = {function.__name__: function for function in (purity, success_rate, rand_measure)}
over_measures = pytest.mark.parametrize("measure", BY_NAME.values(), ids=BY_NAME)
with_noise = pytest.mark.parametrize("measure", [success_rate, rand_measure])

TRUTH = ["a", "a", "a", "b", "b", "c"]
LABELS = [0, 0, 1, 1, 1, 1]


@st.composite
def partitions(draw, least=2, largest=25, classes=5, clusters=5):
    """Two labellings (lists of whole numbers from 0) of the same rows."""
    n = draw(st.integers(least, largest))
    sides = [
        st.lists(st.integers(0, count - 1), min_size=n, max_size=n) for count in (classes, clusters)
    ]
    return draw(st.tuples(*sides))


# ---------------------------------------------------------------------------------- the naive twins


def naive_purity(truth, labels):
    right = 0
    for cluster in set(labels):
        members = [t for t, label in zip(truth, labels, strict=True) if label == cluster]
        right += max(members.count(t) for t in members)
    return Fraction(right, len(truth))


def naive_success_rate(truth, labels):
    classes, clusters = sorted(set(truth)), sorted(set(labels))
    # a cluster matched with None matches no class
    classes += [None] * (len(clusters) - len(classes))
    best = 0
    for matched in permutations(classes, len(clusters)):
        meaning = dict(zip(clusters, matched, strict=True))
        best = max(best, sum(meaning[label] == t for t, label in zip(truth, labels, strict=True)))
    return Fraction(best, len(truth))


def naive_rand_measure(truth, labels):
    pairs = list(combinations(range(len(truth)), 2))
    return Fraction(
        sum((truth[i] == truth[j]) == (labels[i] == labels[j]) for i, j in pairs), len(pairs)
    )


NAIVE = {purity: naive_purity, success_rate: naive_success_rate, rand_measure: naive_rand_measure}


@over_measures
@given(pair=partitions())
def test_against_loops(measure, pair):
    assert measure(*pair) == float(NAIVE[measure](*pair))


@over_measures
def test_by_hand(measure):
    # clusters {a, a} and {a, b, b, c}; matched with a and b: 2 + 2 rows; pairs: 2 together in both,
    # 6 apart in both, of 15
    assert (
        measure(TRUTH, LABELS)
        == {purity: 4 / 6, success_rate: 4 / 6, rand_measure: 8 / 15}[measure]
    )


def test_matching_is_the_best_one_not_the_greedy_one():
    truth = ["a"] * 9 + ["b"] * 4 + ["a"] * 8
    # greedy takes cluster 0 for a (9 rows) and has nothing left for cluster 1; the best is 4 + 8
    labels = [0] * 13 + [1] * 8
    assert success_rate(truth, labels) == 12 / 21
    assert purity(truth, labels) == 17 / 21


@given(pair=partitions(largest=60, classes=9, clusters=9))
def test_rand_measure_is_scikit_learns_rand_score(pair):
    assert rand_measure(*pair) == pytest.approx(rand_score(*pair), abs=1e-15)


@given(pair=partitions(largest=60, classes=9, clusters=9))
def test_purity_is_that_of_scikit_learns_table(pair):
    assert purity(*pair) == contingency_matrix(*pair).max(axis=0).sum() / len(pair[0])


def test_large_counts_do_not_overflow():
    n = 1_000_000
    truth, labels = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int8)
    assert rand_measure(truth, labels) == 1.0
    labels[0] = 1  # n - 1 pairs differ: each with row 0
    assert rand_measure(truth, labels) == float(1 - Fraction(n - 1, n * (n - 1) // 2))
    assert rand_measure(truth, np.arange(n)) == 0.0  # no table of n x n
    assert purity(np.arange(n), np.arange(n)) == 1.0
    assert success_rate(truth, np.arange(n)) == 1 / n


# -------------------------------------------------------------------------------- what holds always


@over_measures
@given(pair=partitions(), seed=st.integers(0, 1000))
def test_names_and_order_do_not_matter(measure, pair, seed):
    rng = np.random.default_rng(seed)
    truth, labels = (np.array(side) for side in pair)
    order, renamed = rng.permutation(len(truth)), rng.permutation(5)
    assert measure(truth[order], renamed[labels][order]) == measure(truth, labels)
    assert measure([f"class {t}" for t in truth], labels * 10 + 3) == measure(truth, labels)


@over_measures
@given(pair=partitions())
def test_range(measure, pair):
    truth, labels = pair
    value = measure(truth, labels)
    assert isinstance(value, float)
    assert 0.0 <= value <= 1.0
    assert measure(truth, truth) == 1.0
    if measure is purity:
        assert value >= max(truth.count(t) for t in truth) / len(truth)
        assert value >= success_rate(truth, labels) > 0
    if measure is not purity:
        assert value == measure(labels, truth)  # symmetric, without noise


@given(pair=partitions(), seed=st.integers(0, 1000))
def test_splitting_a_cluster_never_lowers_purity(pair, seed):
    truth, labels = pair
    split = np.array(labels) + 10 * np.random.default_rng(seed).integers(0, 2, len(labels))
    assert purity(truth, split) >= purity(truth, labels)


# -------------------------------------------------------------------------------------------- noise


@with_noise
@given(pair=partitions(), seed=st.integers(0, 1000))
def test_noise_counts_where_the_word_says(measure, pair, seed):
    truth, full = pair[0], np.array(pair[1])
    rng = np.random.default_rng(seed)
    lost = rng.random(len(full)) < 0.4
    labels = np.where(lost, -1, full)
    elsewhere = np.where(lost, full, rng.integers(-1, 9, len(full)))  # read at noise rows only
    assert measure(truth, labels, nearest=elsewhere) == measure(truth, full)
    assert measure(truth, labels, noise="nearest", nearest=list(elsewhere)) == measure(truth, full)
    assert measure(truth, labels, noise="cluster") == measure(truth, np.where(lost, 77, full))
    assert measure(truth, labels, noise="cluster", nearest=full) == measure(
        truth, np.where(lost, 77, full)
    )


@with_noise
def test_nearest_may_name_a_cluster_without_other_rows(measure):
    assert measure(["a", "a", "b"], [0, 0, -1], nearest=[0, 0, 1]) == 1.0
    assert measure(["a", "a", "b"], [-1, -1, -1], nearest=[0, 0, 1]) == 1.0


@with_noise
def test_noise_in_the_truth_is_a_class(measure):
    assert measure([-1, -1, 0, 0], [-1, -1, 3, 3], noise="cluster") == 1.0
    assert measure([-1, -1, 0, 0], [1, 1, 3, 3]) == 1.0


def test_noise_is_one_more_cluster_of_purity():
    assert purity(["a", "a", "b", "b"], [0, -1, -1, 0]) == 0.5
    assert purity(["a", "a", "b", "b"], [0, 0, -1, -1]) == 1.0


def test_nearest_from_a_model():
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([0, 9], 20)[:, None]
    truth = np.repeat(["left", "right"], 20)
    model = FuzzyCMeans(2, kernel="linear", m=2, random_state=0).fit(X)
    labels = np.where(np.arange(40) % 7 == 0, -1, model.labels_)
    assert success_rate(truth, labels, nearest=model.transform(X).argmin(axis=1)) == 1.0
    assert success_rate(truth, labels, noise="cluster") == 34 / 40


# ------------------------------------------------------------------------------- labels of any kind


FORMS = [
    np.array(TRUTH),
    np.array(TRUTH, dtype=object),
    np.array(TRUTH, dtype=bytes),
    tuple(TRUTH),
    pd.Series(TRUTH, index=range(10, 16)),
    pd.Series(TRUTH, dtype="category"),
    pl.Series(TRUTH),
    [{"a": 1.5, "b": 2.5, "c": -np.inf}[t] for t in TRUTH],
    np.array([{"a": 1.5, "b": 2.5, "c": -np.inf}[t] for t in TRUTH]),
    [{"a": 1, "b": "1", "c": (1,)}[t] for t in TRUTH],  # three labels, though "1" == str(1)
    [{"a": ("x", 1), "b": ("x", 2), "c": ("y", 1)}[t] for t in TRUTH],
    [frozenset(t) for t in TRUTH],
    pd.to_datetime(
        pd.Series([{"a": "2020-01-01", "b": "2020-01-02", "c": "2021-01-01"}[t] for t in TRUTH])
    ),
    np.array([ord(t) for t in TRUTH], dtype=np.uint8),
]


@over_measures
@pytest.mark.parametrize("truth", FORMS, ids=lambda form: type(form).__name__)
def test_any_hashable_label(measure, truth):
    assert measure(truth, LABELS) == measure(TRUTH, LABELS)
    assert measure(truth, np.array(LABELS, dtype=float)) == measure(TRUTH, LABELS)
    assert measure(truth, [str(label) for label in LABELS]) == measure(TRUTH, LABELS)


@over_measures
@pytest.mark.parametrize("form", DENSE)
def test_labels_of_any_array_library(measure, form):
    labels = as_form(np.array(LABELS), form, "int64")
    assert measure(TRUTH, labels) == measure(TRUTH, LABELS)
    if measure is not purity:
        lost = as_form(np.array([0, 0, -1, 1, 1, -1]), form, "int64")
        assert measure(TRUTH, lost, nearest=labels) == measure(TRUTH, LABELS)


def test_truth_values():
    assert purity(np.array([True, True, False]), [False, False, True]) == 1.0


# -------------------------------------------------------------------------- memberships as they are


def naive_partition(u):
    """Rows that sum to one: one more column for what is missing, divided where there is too
    much."""
    return [
        [v / max(sum(row), 1) for v in row] + [max(1 - sum(row), 0)]
        for row in np.asarray(u, dtype=float).tolist()
    ]


def naive_generalized_rand_measure(p, q):
    p, q = naive_partition(p), naive_partition(q)
    pairs = list(combinations(range(len(p)), 2))
    apart = [
        [sum(abs(a - b) for a, b in zip(u[i], u[k], strict=True)) / 2 for i, k in pairs]
        for u in (p, q)
    ]
    return 1 - sum(abs(one - other) for one, other in zip(*apart, strict=True)) / len(pairs)


def typicalities(n, c, seed):
    """Rows of all kinds: crisp, of sum one, below and above, and of zeros."""
    rng = np.random.default_rng(seed)
    u = rng.dirichlet(np.ones(c), n)
    kind = rng.integers(0, 5, n)
    u[kind == 1] *= 0.4
    u[kind == 2] = rng.random((int((kind == 2).sum()), c))
    u[kind == 3] = 0
    u[kind == 4] = np.eye(c)[rng.integers(0, c, int((kind == 4).sum()))]
    return u


@given(pair=partitions(largest=15), c=st.integers(1, 4), seed=st.integers(0, 10_000))
def test_generalized_rand_measure_against_pairs(pair, c, seed):
    truth = np.array(pair[0])
    u, v = typicalities(len(truth), c, seed), typicalities(len(truth), 3, seed + 1)
    for p, one in ((truth, np.eye(5)[truth]), (v, v), (v.tolist(), v)):
        value = generalized_rand_measure(p, u)
        assert isinstance(value, float)
        assert value == pytest.approx(naive_generalized_rand_measure(one, u), abs=1e-12)
    assert generalized_rand_measure(v, u) == pytest.approx(
        generalized_rand_measure(u, v), abs=1e-12
    )
    assert generalized_rand_measure(np.eye(5)[truth], u) == generalized_rand_measure(
        u, np.eye(5)[truth]
    )
    assert generalized_rand_measure(u, u) == pytest.approx(1.0, abs=1e-12)


@given(pair=partitions(largest=40))
def test_generalized_rand_measure_of_crisp_memberships_is_the_rand_measure(pair):
    truth, labels = pair
    assert generalized_rand_measure(truth, np.eye(5)[labels]) == pytest.approx(
        rand_measure(truth, labels), abs=1e-15
    )
    names = [f"class {t}" for t in truth]
    assert generalized_rand_measure(names, np.eye(7)[labels]) == generalized_rand_measure(
        truth, np.eye(5)[labels]
    )


def test_possibilistic_rows_by_hand():
    # rows (.5, 0 | .5), (1, 0 | 0), (.5, .5 | 0): each half apart from each other; the truth says
    # 0, 1, 1
    assert generalized_rand_measure(["a", "a", "b"], [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0]]) == 0.5
    # noise in the truth is a class
    assert generalized_rand_measure([-1, -1, 0], [[0.0], [0.0], [1.0]]) == 1.0


def test_blocks_change_nothing(monkeypatch):
    p, q = typicalities(101, 3, 0), typicalities(101, 4, 1)
    whole = generalized_rand_measure(p, q)
    monkeypatch.setattr(fuzzy, "BLOCK_NUMBERS", 7 * 2 * 101)
    assert generalized_rand_measure(p, q) == pytest.approx(whole, abs=1e-13)
    assert whole == pytest.approx(naive_generalized_rand_measure(p, q), abs=1e-12)
    drawn = generalized_rand_measure(p, q, n_pairs=5000, random_state=3)
    assert abs(drawn - whole) < np.sqrt(np.log(2 / 1e-6) / (2 * 5000))


def test_drawn_pairs(monkeypatch):
    p, q = typicalities(400, 3, 0), typicalities(400, 4, 1)
    exact = generalized_rand_measure(p, q)
    drawn = [generalized_rand_measure(p, q, n_pairs=2000, random_state=seed) for seed in range(40)]
    errors = np.abs(np.array(drawn) - exact)
    assert errors.max() < np.sqrt(np.log(2 / 1e-6) / (2 * 2000))
    assert abs(np.mean(drawn) - exact) < 2e-3  # no bias
    assert errors.min() > 0
    assert drawn[3] == generalized_rand_measure(
        p, q, n_pairs=2000, random_state=np.random.RandomState(3)
    )
    assert generalized_rand_measure(p, q, n_pairs=400 * 399 // 2) == exact
    labels = np.arange(400) % 3
    # crisp: always exact
    assert generalized_rand_measure(labels, q, n_pairs=1) == generalized_rand_measure(labels, q)
    monkeypatch.setattr(fuzzy, "EXACT_ROWS", 399)
    monkeypatch.setattr(fuzzy, "DEFAULT_PAIRS", 2000)
    assert generalized_rand_measure(p, q, random_state=3) == drawn[3]


def test_generalized_rand_measure_of_many_rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 100_000)
    u = np.eye(3)[truth] * 0.7 + 0.1
    # within a class 0 apart, between classes 0.7: the pairs between lose 0.3 each
    between = 1 - sum(count * (count - 1) for count in np.bincount(truth).tolist()) / (
        100_000 * 99_999
    )
    assert generalized_rand_measure(truth, u) == pytest.approx(1 - 0.3 * between, abs=1e-9)


@pytest.mark.parametrize("form", DENSE)
def test_memberships_of_any_array_library(form):
    u, v = typicalities(30, 3, 0), typicalities(30, 2, 1)
    assert generalized_rand_measure(
        np.arange(30) % 2, as_form(u, form, "float64")
    ) == generalized_rand_measure(np.arange(30) % 2, u)
    assert generalized_rand_measure(as_form(v, form, "float64"), u) == generalized_rand_measure(
        v, u
    )
    assert generalized_rand_measure(v, as_form(u, form, "float32")) == pytest.approx(
        generalized_rand_measure(v, u), abs=1e-6
    )


def test_memberships_in_data_frames():
    u, v = typicalities(30, 3, 0), typicalities(30, 2, 1)
    for frame in (pd.DataFrame(v), pl.DataFrame(v)):
        assert (
            generalized_rand_measure(frame, u)
            == generalized_rand_measure(u, frame)
            == generalized_rand_measure(v, u)
        )


def test_bad_memberships_are_named():
    name, u = "generalized_rand_measure", np.full((6, 2), 0.5)
    for truth, memberships, words, message in (
        (TRUTH, u[:5], {}, rf"{name}: truth has 6 rows and memberships have 5"),
        (u[:5], u, {}, rf"{name}: truth has 5 rows and memberships have 6"),
        (TRUTH, LABELS, {}, rf"{name}: memberships has shape \(6,\).*rand_measure"),
        (TRUTH, np.empty((6, 0)), {}, rf"{name}: memberships has shape \(6, 0\); at least one"),
        (
            TRUTH,
            u - 1,
            {},
            rf"{name}: memberships\[0, 0\] is -0.5; memberships lie between 0 and 1",
        ),
        (u * np.nan, u, {}, rf"{name}: truth\[0, 0\] is nan"),
        (u * 3, u, {}, rf"{name}: truth\[0, 0\] is 1.5"),
        (TRUTH, [["a", "b"]] * 6, {}, rf"{name}: memberships must be a table of numbers"),
        (3, u, {}, rf"{name}: truth has shape \(\)"),
        ([], u, {}, rf"{name}: truth is empty"),
        ([*TRUTH[:5], None], u, {}, rf"{name}: truth\[5\] is None"),
        (["a"], u[:1], {}, rf"{name}: truth and memberships have one row"),
        (
            TRUTH,
            u,
            {"n_pairs": 0},
            rf"{name}\(n_pairs=0\): n_pairs must be None or a whole number of at least 1",
        ),
        (u, u, {"n_pairs": 2.5}, rf"{name}\(n_pairs=2.5\)"),
    ):
        with pytest.raises(ValueError, match=message):
            generalized_rand_measure(truth, memberships, **words)


# ------------------------------------------------------------------------------ against another run


def test_relative_purity_is_a_difference():
    assert relative_purity(TRUTH, LABELS, [0, 0, 0, 1, 1, 2]) == pytest.approx(-2 / 6)
    assert relative_purity(TRUTH, [0, 0, 0, 1, 1, 2], LABELS) == pytest.approx(2 / 6)
    assert relative_purity(TRUTH, LABELS, [2 - label for label in LABELS]) == 0.0


@given(pair=partitions(), other=st.integers(0, 1000))
def test_relative_purity_against_purity(pair, other):
    truth, labels = pair
    reference = np.random.default_rng(other).integers(0, 4, len(truth))
    assert relative_purity(truth, labels, reference) == pytest.approx(
        purity(truth, labels) - purity(truth, reference), abs=1e-15
    )


def test_error_reduction_by_hand():
    assert error_reduction(80, 20) == 0.75
    assert error_reduction(np.float32(80), np.int64(100)) == -0.25
    assert error_reduction(3.0, 0.0) == 1.0
    assert error_reduction([80.0, 50.0, 20.0]) == 0.75
    assert error_reduction([80.0]) == 0.0


def test_error_reduction_of_a_model():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = KernelKMeans(4, random_state=0).fit(X)
    history = model.objective_history_
    assert (
        error_reduction(history)
        == error_reduction(history[0], history[-1])
        == (history[0] - history[-1]) / history[0]
    )
    assert 0 <= error_reduction(history) < 1


def test_percent_error_by_hand():
    assert percent_error(10.5, 10) == 5.0
    assert percent_error(9, 10) == -10.0
    assert percent_error(0, 10) == -100.0


# ------------------------------------------------------------------------------------------- errors


@over_measures
def test_bad_labels_are_named(measure):
    name = measure.__name__
    for truth, labels, message in (
        (TRUTH, LABELS[:-1], rf"{name}: truth has 6 rows and labels has 5"),
        ([], [], rf"{name}: truth is empty; at least one row"),
        (np.empty(0), [], rf"{name}: truth is empty"),
        (np.empty(0, dtype=int), [], rf"{name}: truth is empty"),
        (TRUTH, np.empty(0), rf"{name}: labels is empty"),
        (TRUTH, np.zeros((6, 2)), rf"{name}: labels has shape \(6, 2\).*argmax\(axis=1\)"),
        (np.zeros((6, 1)), LABELS, rf"{name}: truth has shape \(6, 1\).*ravel"),
        (3, LABELS, rf"{name}: truth has shape \(\); one label a row"),
        ("aaabbc", LABELS, rf"{name}: truth has shape \(\)"),
        (
            [*TRUTH[:-1], None],
            LABELS,
            rf"{name}: truth\[5\] is None; leave rows without a label out",
        ),
        ([1.0, 2.0, np.nan, 1.0, 1.0, 1.0], LABELS, rf"{name}: truth\[2\] is nan"),
        (
            np.array([1, 2, np.nan, np.nan, 1, 1], dtype=np.float32),
            LABELS,
            rf"{name}: truth\[2\] is nan",
        ),
        (pd.Series(["a", np.nan, "b", "b", "b", "b"]), LABELS, rf"{name}: truth\[1\] is nan"),
        (TRUTH, [0, 0, [1], 1, 1, 1], rf"{name}: labels\[2\] is \[1\], which is not hashable"),
    ):
        with pytest.raises(ValueError, match=message):
            measure(truth, labels)


def test_bad_reference_labels_are_named():
    with pytest.raises(
        ValueError, match="relative_purity: truth has 6 rows and reference_labels has 5"
    ):
        relative_purity(TRUTH, LABELS, LABELS[:5])


@with_noise
def test_bad_noise_is_named(measure):
    name, lost = measure.__name__, [0, -1, 0, 1, -1, 1]
    for words, message in (
        (
            {},
            rf'{name}\(noise="nearest", nearest=None\): 2 of 6 labels are '
            r'-1.*nearest=model.transform\(X\).argmin.*noise="cluster"',
        ),
        (
            {"noise": "drop"},
            rf"{name}\(noise='drop'\): unknown noise; known are \['nearest', 'cluster'\]",
        ),
        ({"noise": None}, rf"{name}\(noise=None\): unknown noise"),
        ({"nearest": [0, 1]}, rf"{name}: labels has 6 rows and nearest has 2"),
        ({"nearest": []}, rf"{name}: nearest is empty"),
        ({"nearest": np.zeros((6, 2))}, rf"{name}: nearest has shape \(6, 2\)"),
        (
            {"nearest": [-1, 0, 0, 0, -1, 0]},
            rf"{name}: labels\[4\] is -1 \(noise\), and so is nearest\[4\]",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            measure(TRUTH, lost, **words)
    with pytest.raises(ValueError, match="unknown noise"):  # also where no row is noise
        measure(TRUTH, LABELS, noise="drop")


def test_one_row_makes_no_pair():
    with pytest.raises(ValueError, match="rand_measure: truth and labels have one row"):
        rand_measure(["a"], [0])
    assert purity(["a"], [0]) == success_rate(["a"], [0]) == 1.0


def test_bad_objectives_are_named():
    for call, message in (
        (
            lambda: error_reduction(0.0, 1.0),
            r"error_reduction\(initial=0.0\): initial must be a number greater than 0",
        ),
        (lambda: error_reduction(-2, 1.0), r"error_reduction\(initial=-2\)"),
        (
            lambda: error_reduction(2.0, np.nan),
            r"error_reduction\(final=nan\): final must be a number of at least 0",
        ),
        (lambda: error_reduction(2.0, -1.0), r"error_reduction\(final=-1.0\)"),
        (lambda: error_reduction("2", 1.0), r"error_reduction\(initial='2'\)"),
        (lambda: error_reduction([3.0, 2.0], 1.0), r"error_reduction\(initial=\[3.0, 2.0\]\)"),
        (
            lambda: error_reduction(2.0),
            r"error_reduction\(initial=of shape \(\), final=None\): pass two numbers, or "
            r".*objective_history_",
        ),
        (lambda: error_reduction([]), r"error_reduction\(initial=of shape \(0,\)"),
        (lambda: error_reduction(np.ones((2, 2))), r"error_reduction\(initial=of shape \(2, 2\)"),
        (
            lambda: percent_error(1.0, 0.0),
            r"percent_error\(full=0.0\): full must be a number greater than 0",
        ),
        (lambda: percent_error(1.0, np.inf), r"percent_error\(full=inf\)"),
        (lambda: percent_error(None, 1.0), r"percent_error\(sampled=None\)"),
        (lambda: percent_error(-1.0, 1.0), r"percent_error\(sampled=-1.0\)"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
