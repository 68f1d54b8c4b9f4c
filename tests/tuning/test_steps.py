"""Steps in which values of columns are told."""

import numpy as np

from cmeans.tuning.steps import steps_of

SINGLE, DOUBLE = 2.0**-23, 2.0**-52


def test_steps_are_what_most_rows_have_to_the_next_value():
    rng = np.random.default_rng(0)
    ages = 5.0 * rng.integers(3, 15, 200)
    ages[0] = 20.001  # an odd one decides nothing
    x = np.c_[
        ages,
        rng.normal(size=200),  # every value once
        np.full(200, 7.0),
        0.1 * rng.integers(0, 9, 200),
        np.where(rng.random(200) < 0.3, np.nan, rng.integers(0, 2, 200)),
    ]
    np.testing.assert_allclose(steps_of(x, np.ones(200), DOUBLE), [5, 0, 0, 0.1, 1], rtol=1e-9)
    np.testing.assert_allclose(
        steps_of(x.astype(np.float32).astype(float), np.ones(200), SINGLE),
        [5, 0, 0, 0.1, 1],
        rtol=1e-5,
    )


def test_weights_are_counts_of_rows():
    x = np.arange(0.0, 10.0, 0.5)[:, None]
    assert steps_of(x, np.ones(20), DOUBLE) == [0.0]
    assert steps_of(x, np.full(20, 3.0), DOUBLE) == [0.5]


def test_rounding_makes_no_values():
    x = np.array([0.3, 0.1 + 0.2, 0.6, 0.1 * 6] * 5)[:, None]
    np.testing.assert_allclose(steps_of(x, np.ones(20), DOUBLE), [0.3])
