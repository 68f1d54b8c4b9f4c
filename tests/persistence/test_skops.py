"""Every estimator goes through a file of skops, whose types are this library's own: no pickle."""

from __future__ import annotations

import numpy as np
import pytest

import every_estimator

X = np.random.default_rng(0).normal(size=(45, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 15, axis=0)


@pytest.mark.filterwarnings("ignore::cmeans.ParameterWarning", "ignore::cmeans.DataWarning")
@pytest.mark.parametrize("name", every_estimator.EVERY_NAME)
def test_a_file_of_skops_gives_the_same_labels(name):
    skops_io = pytest.importorskip("skops.io")  # which takes seconds, not for every process
    model = every_estimator.build(name).fit(X)
    data = skops_io.dumps(model)
    types = skops_io.get_untrusted_types(data=data)
    assert all(one.startswith("cmeans.") for one in types)
    again = skops_io.loads(data, trusted=types)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
