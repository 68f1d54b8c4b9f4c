"""Columns of few values, which are spread before rows are judged."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cmeans import AutoClustering
from cmeans.evidence.steps import spread_copies, stepped_columns

N = 600
ONES = np.ones(N)
rng = np.random.default_rng(0)


def rates(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of three kinds of rows."""
    dice = np.random.default_rng(3)
    y = dice.integers(3, size=n)
    return dice.poisson(np.array([[1, 5, 9, 2], [6, 1, 2, 8], [3, 9, 1, 1]])[y]).astype(float), y


@pytest.mark.parametrize(
    ("column", "is_stepped"),
    [
        (rng.poisson(3.0, N), True),
        (np.log1p(rng.poisson(3.0, N)), True),
        (rng.integers(1, 6, N), True),
        (rng.integers(0, 2, N), False),  # a category
        (np.where(np.arange(N) < N - 20, 0, np.arange(N) % 3), False),  # nearly a constant
        (rng.normal(size=N), False),
        (rng.normal(size=N).round(2), False),
        (np.zeros(N), False),
    ],
)
def test_which_columns_have_few_values(column: np.ndarray, is_stepped: bool) -> None:
    x = np.column_stack([rng.normal(size=N), column])
    assert stepped_columns(x, ONES, N).tolist() == ([1] if is_stepped else [])
    assert stepped_columns(np.tile(x, 40), ONES, N).tolist() == []  # of many columns


def test_few_rows_have_few_values_all_the_same() -> None:
    assert stepped_columns(rng.normal(size=(15, 3)), np.ones(15), 15).tolist() == []


def test_a_value_is_spread_to_the_middle_of_the_next() -> None:
    x = np.column_stack([rng.normal(size=N), rng.choice([0.0, 1.0, 4.0], N)])
    spread, weights, numbers = spread_copies(x, ONES, np.array([1]), N, 0)
    np.testing.assert_array_equal(spread[:, 0], x[numbers, 0])
    np.testing.assert_array_equal(weights, ONES)
    for value, low, high in ((0.0, -0.5, 0.5), (1.0, 0.5, 2.5), (4.0, 2.5, 5.5)):
        drawn = spread[x[numbers, 1] == value, 1]
        assert low <= drawn.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < drawn.max() <= high


def test_a_weight_of_k_is_k_copies_in_any_order() -> None:
    x = np.column_stack([np.arange(9.0), np.arange(9) % 3])
    weights = np.arange(1.0, 10.0)
    spread, each, numbers = spread_copies(x, weights, np.array([1]), 100, 0)
    np.testing.assert_array_equal(np.bincount(numbers), np.arange(1, 10))
    np.testing.assert_array_equal(each, np.ones(45))
    again, _, _ = spread_copies(x[::-1], weights[::-1], np.array([1]), 100, 0)
    np.testing.assert_array_equal(again[np.lexsort(again.T)], spread[np.lexsort(spread.T)])
    few, each, _ = spread_copies(x, weights, np.array([1]), 9, 0)
    assert len(few) < 15
    assert each.sum() == pytest.approx(45)


@pytest.mark.parametrize("scale", [lambda x: x, np.log1p])
def test_kinds_of_counts_are_found(scale: type[np.ufunc]) -> None:
    """Each value of a column was a cluster: ten in logarithms, and their pieces won."""
    x, y = rates(N)
    model = AutoClustering(random_state=0).fit(scale(x))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.evidence_.stepped_columns == (0, 1, 2, 3)
    assert "; 4 columns of few values spread over the steps" in str(model.evidence_)
    assert {found.space for found in model.evidence_.candidates}.isdisjoint({"pieces", "graph"})
    np.testing.assert_array_equal(model.predict(scale(x)), model.labels_)
