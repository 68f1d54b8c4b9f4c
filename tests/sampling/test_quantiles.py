"""Quantiles of numbers in parts against sorting them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmeans.sampling.quantiles import weighted_quantile

pytestmark = pytest.mark.slow

SMALLEST, LARGEST = 5e-324, 1.7976931348623157e308
values = st.one_of(
    st.sampled_from(
        [
            0.0,
            -0.0,
            SMALLEST,
            1e-310,
            np.nextafter(1.0, 2.0),
            1.0,
            np.nextafter(1.0, 0.0),
            2.0,
            1e300,
            LARGEST,
        ]
    ),
    st.floats(0, LARGEST),
    st.floats(0, 1e-307),
)
weighted = st.lists(st.tuples(values, st.integers(1, 1_000)), min_size=1, max_size=40)
shares = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))


def by_sorting(pairs: list[tuple[float, float]], share: float) -> float:
    """The smallest value that at least that share of the weight does not exceed, in exact
    arithmetic."""
    wanted, reached = Fraction(share) * sum(Fraction(weight) for _, weight in pairs), Fraction(0)
    for value, weight in sorted(pairs):
        reached += Fraction(weight)
        if reached >= wanted:
            return value
    raise AssertionError("all of the weight is reached")


def in_parts(
    pairs: list[tuple[float, float]], cuts: list[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x = np.array([value for value, _ in pairs], dtype=np.float64)
    w = np.array([weight for _, weight in pairs], dtype=np.float64)
    bounds = [0, *sorted(cut % (len(pairs) + 1) for cut in cuts), len(pairs)]
    for start, stop in itertools.pairwise(bounds):
        yield x[start:stop], w[start:stop]


@given(
    weighted,
    st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.625, 1.0]),
    st.lists(st.integers(0, 40), max_size=5),
)
def test_sorting_finds_the_same(
    pairs: list[tuple[float, int]], share: float, cuts: list[int]
) -> None:
    """Shares of few bits, whose products with whole weights round nothing; in any parts, empty ones
    among them."""
    assert weighted_quantile(lambda: in_parts(pairs, cuts), share) == by_sorting(pairs, share)


@given(weighted, shares)
def test_any_share(pairs: list[tuple[float, int]], share: float) -> None:
    """Up to the rounding of share times weight."""
    total = sum(weight for _, weight in pairs)
    found = weighted_quantile(lambda: in_parts(pairs, []), share)
    assert found in {value for value, _ in pairs}
    below, upto = (
        sum(weight for value, weight in pairs if which(value))
        for which in (lambda v: v < found, lambda v: v <= found)
    )
    assert below <= share * total * (1 + 1e-12)
    assert upto >= share * total * (1 - 1e-12)


@given(
    st.lists(st.tuples(values, st.floats(1e-6, 1e6)), min_size=1, max_size=30),
    shares,
    st.lists(st.integers(0, 30), max_size=4),
)
def test_weights_that_round(
    pairs: list[tuple[float, float]], share: float, cuts: list[int]
) -> None:
    total = sum(weight for _, weight in pairs)
    found = weighted_quantile(lambda: in_parts(pairs, cuts), share)
    assert found in {value for value, _ in pairs}
    assert sum(weight for value, weight in pairs if value < found) <= share * total + 1e-9 * total
    assert sum(weight for value, weight in pairs if value <= found) >= share * total - 1e-9 * total


@given(weighted)
def test_the_ends(pairs: list[tuple[float, int]]) -> None:
    assert weighted_quantile(lambda: in_parts(pairs, [1]), 0.0) == min(value for value, _ in pairs)
    assert weighted_quantile(lambda: in_parts(pairs, [1]), 1.0) == max(value for value, _ in pairs)


@given(weighted, st.sampled_from([0.25, 0.5, 0.75]), st.randoms())
def test_order_and_repetition_do_not_matter(
    pairs: list[tuple[float, int]], share: float, random: object
) -> None:
    found = weighted_quantile(lambda: in_parts(pairs, []), share)
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    copies = [(value, 1) for value, weight in shuffled for _ in range(min(weight, 5))]
    fewer = [(value, min(weight, 5)) for value, weight in pairs]
    assert weighted_quantile(lambda: in_parts(shuffled, [3]), share) == found
    assert weighted_quantile(lambda: in_parts(copies, [7]), share) == weighted_quantile(
        lambda: in_parts(fewer, []), share
    )


def test_every_kind_of_magnitude() -> None:
    """One number in each binade, from the subnormal to the largest; the middle one is found
    exactly."""
    x = np.ldexp(1.0, np.arange(-1074, 1024))
    for share in (0.0, 0.25, 0.5, 1.0):
        assert (
            weighted_quantile(lambda: iter([(x[::-1], np.ones(len(x)))]), share)
            == x[max(0, int(np.ceil(share * len(x))) - 1)]
        )


def test_numpys_own_quantile() -> None:
    x = np.random.default_rng(0).exponential(size=10_001)
    for share in (0.0, 0.1, 0.333, 0.5, 0.9, 1.0):
        found = weighted_quantile(
            lambda: ((part, np.ones(len(part))) for part in np.array_split(x, 7)), share
        )
        assert found == np.quantile(x, share, method="inverted_cdf")


def test_nothing_is_written_to_and_every_pass_asks_anew() -> None:
    x, w = np.array([3.0, 1.0, 2.0]), np.ones(3)
    x.flags.writeable = w.flags.writeable = False
    asked = []

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        asked.append(1)
        yield x, w

    assert weighted_quantile(parts, 0.5) == 2.0
    assert len(asked) == 3


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_one_value(share: float) -> None:
    assert weighted_quantile(lambda: iter([(np.array([7.5]), np.array([1e-300]))]), share) == 7.5
