"""Tables for people: cells, alignment, folds, and what notebooks are given."""

from __future__ import annotations

import numpy as np

from cmeans.runtime.tables import aligned, html_lines, html_table, texts_of


def test_cells_of_columns():
    assert texts_of([28_123.0, 7.0, np.nan]) == ["28,123", "7", "-"]  # weights, which are counts
    assert texts_of([28_123.4, 1_204.0]) == ["28,100", "1,204"]
    assert texts_of([106_123.4, 106_456.0]) == ["106,120", "106,460"]
    assert texts_of([0.7, 0.6712, np.inf]) == ["0.700", "0.671", "inf"]
    assert texts_of([0.0682, 0.000678, -0.0108]) == ["0.0682", "0.0007", "-0.0108"]
    assert texts_of([512.5, 0.00012]) == ["512", "0.00012"]
    assert texts_of([4711, 12]) == ["4711", "12"]  # numbers of rows, which are names
    assert texts_of(np.array([[4711, 12], [3, -1]])) == ["4711, 12", "3"]
    assert texts_of(["a\nb"]) == ["a b"]
    assert texts_of([]) == []


def test_words_stand_left_and_numbers_right():
    assert aligned(["name", "n"], [["long one", "7"], ["b", "1,204"]]).splitlines() == [
        "name          n",
        "long one      7",
        "b         1,204",
    ]


def test_long_tables_fold():
    rows = [[str(number)] for number in range(100)]
    lines = aligned(["n"], rows).splitlines()
    assert len(lines) == 1 + 30 + 1 + 5
    assert lines[31] == "... 65 more rows ..."
    assert lines[-1] == "99"
    page = html_table(["n"], rows)
    assert page.index("<td>29</td>") < page.index("<summary>70 more rows") < page.index("<td>30<")
    assert "<details>" not in html_table(["n"], rows[:40])


def test_what_notebooks_are_given_is_text():
    page = html_table(["<b>"], [["<script>"], ["x"]], chosen=[1]) + html_lines(["a & b"])
    assert "<b>" not in page
    assert "<script>" not in page
    assert "<tr class=chosen><td" in page
    assert "<p>a &amp; b</p>" in page
