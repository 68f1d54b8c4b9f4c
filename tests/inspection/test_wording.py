"""What is said of columns and clusters, in words."""

from __future__ import annotations

import numpy as np
import pytest

import cmeans
from cmeans.inspection import explain, summary
from cmeans.inspection.contrast import Contrast
from cmeans.inspection.tree_rules import Range, Threshold
from cmeans.inspection.units import unit_of
from cmeans.inspection.wording import said_of, said_of_column

SPEND = unit_of(np.array([0.0, 1204.5, 80.25, np.nan]))
CHILDREN = unit_of(np.array([0.0, 7.0]))
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


def test_tables_are_explained_in_their_own_units(tmp_path):
    rows = ["joined,children,premium,spend"]
    rows += [f"2024-03-{day:02},{day % 2},no,{100 + day}.5" for day in range(1, 29)]
    rows += [f"2022-01-{day:02},{3 + day % 2},yes,{40_000 + day}" for day in range(1, 29)]
    (tmp_path / "shop.csv").write_text("\n".join(rows))
    table = cmeans.read_table(
        tmp_path / "shop.csv", dates=["joined"], categorical=["premium"], scale="standard"
    )
    model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(table)
    told = explain(model, table, n_columns=9)
    new = model.labels_[0]
    assert "joined 2024-03-14 (elsewhere 2022-01-14)" in told.sentences[new]
    assert "0% premium_yes (elsewhere 100%)" in told.sentences[new]
    assert summary(model, table)["name"][new] == "often premium_no, rarely premium_yes, low spend"
    assert "spend 0.6% of the average (115, elsewhere 40,000)" in told.sentences[new]
    assert {rule.conditions for rule in told.short_rules} == {
        ("premium_no is 1",),
        ("premium_no is 0",),
    }


@pytest.mark.parametrize(
    ("unit", "known", "said"),
    [
        (SPEND, Range(upper=Threshold(1_187.25, 1_213.5)), "x below 1,200"),
        (SPEND, Range(lower=Threshold(1_187.25, 1_213.5)), "x above 1,200"),
        (
            SPEND,
            Range(Threshold(70.5, 90.5), Threshold(1_187.25, 1_213.5)),
            "x between 80 and 1,200",
        ),
        (CHILDREN, Range(Threshold(1.0, 2.0), Threshold(4.0, 5.0)), "x from 2 to 4"),
        (CHILDREN, Range(Threshold(1.0, 2.0), Threshold(2.0, 3.0)), "x is 2"),
        (CHILDREN, Range(Threshold(1.0, 2.0), Threshold(4.0, 6.0)), "x at least 2 and below 5"),
        (JOINED, Range(lower=Threshold(19_788.0, 19_789.0)), "x from 2024-03-07"),
        (JOINED, Range(upper=Threshold(19_700.0, 19_789.0)), "x before 2024-01-18"),
        (PREMIUM, Range(lower=Threshold(0.0, 1.0)), "x is 1"),
        (SPEND, Range(upper=Threshold(1.0, float(np.nextafter(1.0, 2.0)))), "x at most 1"),
    ],
)
def test_conditions_in_words(unit, known, said):
    assert known.said("x", unit) == said
