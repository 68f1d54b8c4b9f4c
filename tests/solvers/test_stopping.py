"""Cycles of runs whose scales follow their rows."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans import SequentialPossibilisticCMeans
from cmeans.solvers.stopping import cycle_length

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("length", [2, 3, 28, 100])
def test_a_cycle_is_seen_when_it_has_gone_twice(length):
    rng = np.random.default_rng(length)
    start, cycle = (100 + rng.random(30)).tolist(), (50 + rng.random(length)).tolist()
    history = start + 2 * cycle
    assert cycle_length(history) == length
    assert cycle_length(history[:-1]) is None
    assert cycle_length((1e30 * np.array(history)).tolist()) == length


@pytest.mark.parametrize(
    "history",
    [
        [1.0],
        [3.0] * 50,
        (1 + 0.9 ** np.arange(60)).tolist(),
        (1 + 0.01 * np.sin(np.arange(300))).tolist(),
    ],
)
def test_what_stands_falls_or_wanders_is_no_cycle(history):
    assert cycle_length(history) is None


def test_a_run_that_ends_in_a_cycle_says_so(load_data):
    """Of A2, some rows: clusters that touch hand a row to each other."""
    X = load_data("a2")[0]
    X = X[np.random.default_rng(1).choice(len(X), 1000, replace=False)].astype(float)
    model = SequentialPossibilisticCMeans(random_state=0).fit(
        (X - X.min(axis=0)) / np.ptp(X, axis=0)
    )
    assert "ended in a cycle of " in model.stop_reason_
    assert model.n_iter_ < 100
    assert 23 <= model.n_clusters_ <= 25
