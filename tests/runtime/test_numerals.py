"""Numbers for people: none of them says what is not so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmeans.runtime.numerals import (
    as_date,
    between,
    in_bytes,
    in_digits,
    in_full,
    in_times,
    percent,
    several,
    told_apart,
    written_out,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (28_000.0, "28,000"),
        (28_123.4, "28,100"),
        (5_432_123.4, "5,430,000"),
        (9_999.6, "10,000"),
        (2006.4, "2,006"),
        (999.96, "1,000"),
        (13.7413, "13.7"),
        (0.071652, "0.0717"),
        (0.0000123456, "0.0000123"),
        (-0.0, "0"),
        (-2.5, "-2.5"),
        (178.0, "178"),
        (np.nan, "-"),
        (np.inf, "inf"),
    ],
)
def test_digits(value, text):
    assert in_digits(value) == text


def test_numbers_side_by_side_do_not_hide_their_difference():
    assert told_apart([106_123.0, 106_456.0]) == ["106,120", "106,460"]
    assert told_apart([28_123.0, 1_204.0, 300.5]) == ["28,100", "1,204", "300"]
    assert told_apart([0.7123, 0.7124]) == ["0.7123", "0.7124"]
    assert told_apart([np.nan, np.inf, 0.0, 7.0]) == ["-", "inf", "0", "7"]
    assert told_apart([]) == []


def test_counts_bytes_and_dates():
    assert [in_times(ratio) for ratio in (3.2, 1234.0)] == ["3 times", "1,234 times"]
    assert {in_times(ratio) for ratio in (1e7, np.inf)} == {"over a million times"}
    assert [several(1, "row"), several(28_123, "row"), several(2, "axis", "axes")] == [
        "1 row",
        "28,123 rows",
        "2 axes",
    ]
    assert [in_bytes(size) for size in (512, 3.2e6, 999.9e6, 28e9, 5e15)] == [
        "512 bytes",
        "3.2 MB",
        "1 GB",
        "28 GB",
        "5,000 TB",
    ]
    assert [as_date(days) for days in (19_789.3, -0.5, np.nan)] == ["2024-03-07", "1969-12-31", "-"]
    assert [written_out(value) for value in (2005.5, -1200.0, 5_432_100.0, 0.05, 1e-9)] == [
        "2,005.5",
        "-1,200",
        "5,432,100",
        "0.05",
        "1e-09",
    ]


@given(FINITE.filter(bool))
def test_numbers_are_rounded_by_less_than_half_a_percent(value):
    read = float(in_digits(value).replace(",", ""))
    assert abs(read - value) <= 0.00501 * abs(value)


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
