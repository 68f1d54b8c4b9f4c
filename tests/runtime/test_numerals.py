"""Numbers for people: none of them says what is not so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmeans.runtime.numerals import between, in_digits, in_full, percent

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (28_000.0, "28,000"),
        (5_432_123.4, "5,432,123"),
        (9_999.6, "10,000"),
        (2006.4, "2006"),
        (13.7413, "13.74"),
        (0.071652, "0.07165"),
        (0.0000123456, "0.00001235"),
        (-0.0, "0"),
        (-2.5, "-2.5"),
        (178.0, "178"),
        (np.nan, "-"),
        (np.inf, "inf"),
    ],
)
def test_digits(value, text):
    assert in_digits(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.07, "7%"),
        (0.9996, "99.96%"),
        (0.003, "0.3%"),
        (0.996, "99.6%"),
        (1 - 1e-12, "99.999999%"),
    ],
)
def test_percentages(share, text):
    assert percent(share) == text


@given(st.floats(0, 1))
def test_none_and_all_are_none_and_all(share):
    for decimals in (0, 1, 3):
        value = float(percent(share, decimals).rstrip("%"))
        assert (value == 0) == (share == 0)
        assert (value == 100) == (share == 1)
        assert abs(value - 100 * share) <= max(0.5 * 10.0**-decimals, 1e-6) + 1e-9


@given(FINITE, FINITE)
def test_a_number_between_can_be_read_again(one, other):
    low, high = min(one, other), max(one, other)
    found = float(in_full(between(low, high)))
    assert low <= found
    assert low == high or np.float32(found) < np.float32(high)
    assert np.float32(low) <= np.float32(found)


def test_of_the_fewest_digits():
    assert [
        in_full(between(*ends)) for ends in ((2005, 2006), (9.7, 10.2), (-1, 1), (0.1, 0.2))
    ] == ["2005.5", "10", "0", "0.15"]
