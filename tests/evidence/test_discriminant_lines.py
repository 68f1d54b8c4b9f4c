"""Clusters that are two along a line: what parts, what does not, and counts beside plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cmeans.evidence.discriminant_lines import (
    FEWEST,
    _clearest,
    half_along_a_line,
    parted_along_lines,
)

RNG = np.random.default_rng


def two(seed: int, each: int = 150, columns: int = 8, apart: float = 4.0) -> np.ndarray:
    """Two normal heaps, so many deviations apart along a diagonal, and no column by itself."""
    heap = RNG(seed).normal(size=(2 * each, columns))
    heap[each:] += apart / np.sqrt(columns)
    return heap


def one_peak() -> dict[str, np.ndarray]:
    rng, n, d = RNG(0), 500, 6
    normal = rng.normal(size=(n, d))
    bent = rng.normal(size=(n, d))
    bent[:, 1] += bent[:, 0] ** 2
    return {
        "normal": normal,
        "stretched": normal @ rng.normal(size=(d, d)),
        "long tails": rng.standard_t(2, size=(n, d)),
        "even": rng.uniform(size=(n, d)),
        "skewed": np.exp(1.2 * rng.normal(size=(n, d))),
        "one factor": rng.normal(size=(n, 1)) @ rng.normal(size=(1, d)) + 0.5 * normal,
        "of many spreads": normal * np.exp(0.8 * rng.normal(size=(n, 1))),
        "bent": bent,
        "few rows of many columns": rng.normal(size=(60, 40)),
    }


@pytest.mark.parametrize("name", one_peak())
def test_rows_with_one_peak_are_one(name: str) -> None:
    x = one_peak()[name]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    for seed in range(4):
        assert half_along_a_line(x, np.ones(len(x)), seed) is None


@pytest.mark.parametrize(("each", "columns"), [(60, 4), (150, 8), (150, 30), (1200, 50)])
def test_two_heaps_are_two(each: int, columns: int) -> None:
    apart = 4.0 if each > 20 * columns or columns == 8 else 5.0
    half = half_along_a_line(two(1, each, columns, apart), np.ones(2 * each), 0)
    assert half is not None
    assert adjusted_rand_score(np.repeat([0, 1], each), half) > 0.85


def test_units_of_columns_and_of_weights_and_the_place_of_zero_do_not_matter() -> None:
    x, units = two(2), np.exp(RNG(3).normal(size=8))
    half = half_along_a_line(x, np.ones(300), 0)
    again = half_along_a_line((x + 7.0) * units, np.full(300, 5.0), 0)
    assert half is not None
    np.testing.assert_array_equal(half, again)


def test_light_rows_of_a_valley_count_by_their_weight() -> None:
    x = np.concatenate([two(4, apart=6.0), RNG(5).normal(size=(300, 8)) + 3.0 / np.sqrt(8)])
    assert half_along_a_line(x, np.ones(600), 0) is None
    weights = np.repeat([1.0, 0.01], 300)
    half = half_along_a_line(x, weights, 0)
    assert half is not None
    assert adjusted_rand_score(np.repeat([0, 1], 150), half[:300]) > 0.85


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_values_that_many_rows_share_part_nothing(share: float) -> None:
    rng = RNG(6)
    x = rng.normal(size=(400, 5))
    x[:, 0] = rng.random(400) < share
    x[:, 1] = np.where(rng.random(400) < share, 0.0, np.exp(rng.normal(3, 0.5, 400)))
    assert half_along_a_line(x, np.ones(400), 0) is None


def test_few_rows_and_equal_rows_are_one() -> None:
    x = two(7, FEWEST, 3, 9.0)
    assert half_along_a_line(x, np.ones(2 * FEWEST), 0) is not None
    assert half_along_a_line(x[::2], np.ones(FEWEST), 0) is None  # nothing is certain of so few
    assert half_along_a_line(x[:9], np.ones(9), 0) is None
    assert half_along_a_line(np.ones((90, 3)), np.ones(90), 0) is None


def test_parts_are_parted_again_up_to_a_number() -> None:
    centres = RNG(8).normal(0, 4, (5, 6))
    truth = np.repeat(np.arange(5), 120)
    x, one = centres[truth] + RNG(9).normal(size=(600, 6)), np.ones(600)
    none = np.zeros(600, np.intp)
    assert adjusted_rand_score(truth, parted_along_lines(none, x, one, 0)) > 0.95
    assert parted_along_lines(none, x, one, 0, most=3).max() == 2
    coarse = np.minimum(truth, 3)  # two of them as one
    found = parted_along_lines(coarse, x, one, 0)
    assert adjusted_rand_score(truth, found) > 0.95
    np.testing.assert_array_equal(found[truth < 3], coarse[truth < 3])
    np.testing.assert_array_equal(coarse, np.minimum(truth, 3))


def test_the_clearest_three_intervals_are_those_of_loops() -> None:
    places = np.linspace(-1.0, 2.0, 61)
    for seed in range(20):
        counts, width = RNG(seed).poisson(6, 61).astype(float), 0.3
        best = -np.inf
        for i, j, k in itertools.combinations(range(61), 3):
            apart = min(places[j] - places[i], places[k] - places[j])
            if apart < width - 1e-9 or not 0.0 <= places[j] <= 1.0:
                continue
            beside = min(counts[i], counts[k])
            best = max(best, (beside - counts[j]) / np.sqrt(max(beside + counts[j], 1e-300)))
        three, contrast = _clearest(counts, places, (0.0, 1.0), width)
        assert contrast == pytest.approx(best)
        i, j, k = (int(np.argmin(np.abs(places - place))) for place in three)
        beside = min(counts[i], counts[k])
        assert (beside - counts[j]) / np.sqrt(beside + counts[j]) == pytest.approx(best)
        assert min(places[j] - places[i], places[k] - places[j]) >= width - 1e-9
