"""What is said of columns and clusters, in words."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.inspection.contrast import Contrast
from cmeans.inspection.wording import said_of, said_of_column, unit_of

SPEND = unit_of(np.array([0.0, 1204.5, 80.25, np.nan]))
PREMIUM = unit_of(np.array([0.0, 1.0, 1.0]))
YEAR = unit_of(np.array([1987.0, 2006.0]))
SIGNED = unit_of(np.array([-3.5, 2.0]))
JOINED = unit_of(np.array([19_000.0, 19_789.0]), is_date=True)


@pytest.mark.parametrize(
    ("name", "unit", "means", "said"),
    [
        (
            "spend",
            SPEND,
            (1204.5, 166.0, 200.7),
            "spend 6 times the average (1,204, elsewhere 166)",
        ),
        ("spend", SPEND, (34.0, 240.0, 200.0), "spend 17% of the average (34, elsewhere 240)"),
        ("spend", SPEND, (210.0, 190.0, 200.0), "spend 210 (elsewhere 190)"),
        ("premium", PREMIUM, (0.73, 0.12, 0.3), "73% premium (elsewhere 12%)"),
        ("built", YEAR, (2006.3, 1990.0, 1995.0), "built 2006 (elsewhere 1990)"),
        ("change", SIGNED, (4.0, -1.0, 0.5), "change 4 (elsewhere -1)"),
        ("joined", JOINED, (19_789.3, 19_000, 19_300), "joined 2024-03-07 (elsewhere 2022-01-08)"),
    ],
)
def test_columns_in_their_units(name, unit, means, said):
    assert said_of_column(name, unit, *means) == said


def test_columns_come_in_the_order_of_what_they_tell():
    means, rest = np.array([[10.0, 0.9], [1.0, 0.1]]), np.array([[1.0, 0.1], [10.0, 0.9]])
    contrast = Contrast(means, rest, np.array([5.5, 0.5]), np.array([9.0, 0.5]), ("a", "b"))
    units = [SPEND, PREMIUM]
    assert said_of(contrast, 1, units.__getitem__) == [
        "10% b (elsewhere 90%)",
        "a 18% of the average (1, elsewhere 10)",
    ]


def test_units():
    assert SPEND.write([106_123.0, 106_456.0]) == ["106,120", "106,460"]
    assert SPEND.exactly(1200.5) == "1,200.5"
    assert unit_of(np.array([np.nan])).write([2.0]) == ["2"]
    assert unit_of(np.array([0.0, 0.0])).is_share is False
