"""The best of several starts."""

from __future__ import annotations

import numpy as np

from cmeans.engines import ThreadEngine
from cmeans.rules import Hard
from cmeans.solvers.fixed_point import solve
from cmeans.solvers.multistart import best_of
from cmeans.solvers.observer import UNOBSERVED
from cmeans.spaces.centres import Centres
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.state import State
from euclidean_rows import euclidean_rows


def test_of_starts_that_end_equally_low_the_first_is_kept():
    """Mirror images cost the same, in which rounding, another one on every machine, must see no
    better and worse."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        half = rng.normal(size=(40, 3))
        starts = [Centres.orthonormal(sign * half[:3]) for sign in (1.0, -1.0)]
        with ThreadEngine(1).opened() as engine:
            problem = Problem(
                euclidean_rows(np.concatenate([half, -rng.permutation(half)])), Hard(), engine
            )
            best, first = best_of(starts, 2, problem, UNOBSERVED), solve(problem, State(starts[0]))
        np.testing.assert_array_equal(
            best.solution.state.centres.coordinates, first.state.centres.coordinates
        )
