"""Keys by which equal rows are found again."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cmeans.graphs.row_keys import KeyPlaces, row_keys


def test_equal_rows_have_equal_keys_and_others_do_not() -> None:
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(-3, 4, (3000, 5)) * 1.0, axis=0)
    keys = row_keys(rows)
    assert len(np.unique(keys)) == len(rows)
    np.testing.assert_array_equal(row_keys(np.negative(-rows)), keys)  # -0 is 0
    np.testing.assert_array_equal(row_keys(sparse.csr_array(rows)), keys)
    np.testing.assert_array_equal(row_keys(np.asfortranarray(rows)), keys)
    order = rng.permutation(len(rows))
    np.testing.assert_array_equal(KeyPlaces(keys)(keys[order]), order)
    assert (KeyPlaces(keys)(row_keys(rows + 0.5)) == -1).all()


def test_a_stored_zero_is_another_row_than_none() -> None:
    stored = sparse.csr_array((np.zeros(1), ([0], [1])), shape=(2, 3))
    one, none = row_keys(stored)
    assert one != none
