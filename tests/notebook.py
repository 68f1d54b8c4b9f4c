"""A callback of scikit-learn for tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

with_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="scikit-learn 1.9 brought callbacks"
)


class Notebook:
    """A callback: counts tasks, keeps what it is shown of them, ends the fit after `last`
    sweeps."""

    def __init__(self, last=None):
        self.last = last
        self.begun = self.ended = 0
        self.sweeps = []
        self.shown = []

    def setup(self, estimator, context):
        self.begun = self.ended = 0
        self.sweeps = []

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, X, metadata, fitted_estimator):
        self.ended += 1
        self.shown.append((X, metadata))
        if context.parent is None:
            return False
        self.sweeps.append(fitted_estimator)
        return len(self.sweeps) == self.last
