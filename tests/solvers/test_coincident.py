"""Centres that coincide: the first of them stays, however many are compared together."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.solvers import adaptive
from cmeans.spaces.centres import Centres


@pytest.mark.parametrize("together", [7, 1024])
def test_the_first_of_coincident_centres_stays(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(adaptive, "TOGETHER", together)
    x = np.random.default_rng(0).integers(0, 9, (100, 2)) * 1.0
    kept: list[int] = []
    for j, centre in enumerate(x):
        if all(((centre - x[k]) ** 2).sum() > 1.5 for k in kept):
            kept.append(j)
    assert len(kept) < 60
    np.testing.assert_array_equal(adaptive.apart(Centres.orthonormal(x), 1.5), kept)
