"""Draws keyed by row number do not depend on how rows are divided."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from cmeans.sampling.drawing import balanced_labels, exponentials, uniforms

CUTS = [0, 1, 64, 65, 1000, 3001]


@pytest.mark.parametrize(
    "draw", [uniforms, exponentials, lambda *rows: balanced_labels(rows[0], 500, 7, *rows[1:])]
)
def test_parts_are_those_of_the_whole(draw):
    whole = draw(5, 0, CUTS[-1])
    np.testing.assert_array_equal(
        np.concatenate([draw(5, a, b) for a, b in itertools.pairwise(CUTS)]), whole
    )
    np.testing.assert_array_equal(draw(5, 700, 1700), whole[700:1700])
    assert (draw(6, 0, CUTS[-1]) != whole).mean() > 0.5


def test_they_are_what_they_say():
    assert stats.kstest(uniforms(1, 0, 20_000), "uniform").pvalue > 1e-3
    assert stats.kstest(exponentials(1, 0, 20_000), "expon").pvalue > 1e-3
    labels = balanced_labels(3, 700, 7, 0, 1400)
    for half in (labels[:700], labels[700:]):
        assert np.bincount(half).tolist() == [100] * 7
    assert (labels[:700] != labels[700:]).mean() > 0.5
