"""A refit that fails, for whatever reason and however late, leaves the model as the fit before left
it; a first one leaves nothing."""

from __future__ import annotations

import copy
import errno
import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import cmeans
from cmeans.fitting.attribute_names import is_fitted_name
from cmeans.metrics import match_labels
from cmeans.runtime.progress import listening
from every_estimator import FINDING, NAMES, STREAMS, SWEPT, build
from limited import limited, within
from stored_rows import Kept
from sweep_choices import once

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.permutation(
    rng.normal(size=(120, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 40, axis=0)
)
OTHER = rng.normal(size=(90, 5)) * 3
# landmarks, a sample, typicalities of a rule; the others have all rows
WORDS: dict[str, dict[str, Any]] = {
    "FuzzyCMeans": {"kernel": "rbf", "landmarks": 12},
    "CMeans": {"rule": "possibilistic", "kernel": "linear"},
    "TwoStepKernelKMeans": {"kernel": "rbf", "landmarks": 40},
}
LATE = {"GaussianMixture": 200}  # sweeps after which there are centres: partitions come first
over_models = pytest.mark.parametrize("name", SWEPT)


def made(name: str) -> Any:
    # those have the linear kernel here
    width = {} if name in (*FINDING, "CMeans") or name not in NAMES else {"gamma": 0.05}
    return build(name, n_clusters=5 if name in FINDING else 3, **{**width, **WORDS.get(name, {})})


FRAME = pd.DataFrame(X, columns=["one", "two", "three"])


@cache
@within()
def fitted(name: str) -> Any:
    return made(name).fit(FRAME)


class BrokenError(Exception):
    """What ends a fit in these tests."""


class Failing:
    """A kernel that fails from some call on: by an error, or by values that are none."""

    def __init__(self, calls: int, value: float | None) -> None:
        self.left, self.value = calls, value

    def __call__(self, x: Any, y: Any) -> Any:
        self.left -= 1
        values = np.exp(-0.05 * ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))
        if self.left >= 0:
            return values
        if self.value is None:
            raise BrokenError
        return np.full_like(values, self.value)


def unreadable() -> Kept:
    """Rows that can be read once."""
    left = [1]

    def before(start: int, stop: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO), "the-file")

    return Kept(OTHER, before)


def spoilt(value: float) -> np.ndarray:
    rows = OTHER.copy()
    rows[80, 2] = value
    return rows


# Words that are set, rows and weights; what comes of it is a ValueError or BrokenError.
CAUSES: dict[str, tuple[dict[str, Any], Callable[[], Any], Any]] = {
    "a bad word": ({"tol": -1.0}, lambda: OTHER, None),
    "a bad word of the kernel": ({"kernel": "nonsense"}, lambda: OTHER, None),
    "rows that are NaN": ({}, lambda: spoilt(np.nan), None),
    "a frame that is infinite": (
        {},
        lambda: pd.DataFrame(spoilt(np.inf), columns=list("abcde")),
        None,
    ),
    "rows too large to square": ({"kernel": "linear"}, lambda: OTHER * 1e300, None),
    "text": ({}, lambda: np.array([["a", "b"]]), None),
    "no rows": ({}, lambda: OTHER[:0], None),
    "damaged CSR": ({}, lambda: _damaged(), None),
    "weights of another length": ({}, lambda: OTHER, np.ones(7)),
    "negative weights": ({}, lambda: OTHER, -np.ones(90)),
    "a start of another width": ({"init": np.zeros((3, 99))}, lambda: OTHER, None),
    "no memory": (
        {"engine": cmeans.ThreadEngine(memory_budget=1000), "kernel": "rbf"},
        lambda: OTHER,
        None,
    ),
    "a kernel that fails at once": ({"kernel": lambda: Failing(0, None)}, lambda: OTHER, None),
    "a kernel that fails soon": ({"kernel": lambda: Failing(9, None)}, lambda: OTHER, None),
    "a kernel that fails late": ({"kernel": lambda: Failing(22, None)}, lambda: OTHER, None),
    "a kernel that is no number": ({"kernel": lambda: Failing(0, np.nan)}, lambda: OTHER, None),
    "a kernel that is no number any more": (
        {"kernel": lambda: Failing(20, np.nan)},
        lambda: OTHER,
        None,
    ),
    "a file that goes away": ({"kernel": "linear"}, unreadable, None),
}
NO_MATTER = {
    ("SequentialPossibilisticCMeans", "a start of another width"),
    *((name, "rows too large to square") for name in FINDING),
    *(
        (name, cause)
        for name in set(SWEPT) - set(NAMES)
        for cause, (words, _, _) in CAUSES.items()
        if callable(words.get("kernel")) or words.get("kernel") == "nonsense"
    ),
}


def _damaged() -> sparse.csr_array:
    x = sparse.csr_array(OTHER)
    x.indices[3] = 10**6
    return x


def fitted_part(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if is_fitted_name(name)}


def unchanged(model: Any, before: dict[str, Any]) -> None:
    """The very objects, and what they held."""
    now = fitted_part(model)
    assert now.keys() == before.keys()
    assert all(now[name] is value for name, (value, _) in before.items())
    for value, copied in before.values():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, copied)


def remembered(model: Any) -> dict[str, Any]:
    return {name: (value, copy.deepcopy(value)) for name, value in fitted_part(model).items()}


def broken_by(cause: str, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0)
    monkeypatch.setattr(
        "cmeans.sweeps.represented_rows.RepresentedRows._reserve", lambda *_: False
    )  # rows are read, and kernels asked, in every sweep
    words, rows, weight = CAUSES[cause]
    former = model.get_params(deep=False)
    model.set_params(
        **{
            word: value() if callable(value) else value
            for word, value in words.items()
            if word in former
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, BrokenError)):
            model.fit(rows(), sample_weight=weight)
    model.set_params(**former)


@pytest.mark.parametrize(
    ("name", "cause"),
    [(name, cause) for name in SWEPT for cause in CAUSES if (name, cause) not in NO_MATTER],
)
def test_a_refit_that_fails_changes_nothing(
    name: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, frame = copy.deepcopy(fitted(name)), FRAME
    before, answers = remembered(model), model.predict(frame)
    with monkeypatch.context() as patch:
        broken_by(cause, model, patch)
    unchanged(model, before)
    np.testing.assert_array_equal(model.predict(frame), answers)
    np.testing.assert_array_equal(
        model.representatives(2)[:, 0] >= 0, np.bincount(model.labels_[model.labels_ >= 0]) > 0
    )
    assert model.get_feature_names_out().shape == (model._n_features_out,)


@pytest.mark.parametrize(
    ("name", "cause"), [some for some in once(SWEPT, CAUSES) if some not in NO_MATTER]
)
def test_a_first_fit_that_fails_leaves_nothing(
    name: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(name)
    with monkeypatch.context() as patch:
        broken_by(cause, model, patch)
    assert not fitted_part(model)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit(X).labels_.shape == (120,)


@over_models
def test_a_warning_that_is_an_error_is_a_failure(name: str) -> None:
    model = made(name).fit(X)
    before = remembered(model)
    model.set_params(max_iter=1, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            model.fit(OTHER)
    unchanged(model, before)


@over_models
def test_an_interrupt_leaves_centres_or_the_model_as_it_was(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before there are centres, and in streams, nothing changes; else the model is that of the
    interrupted fit, without rows."""
    model = made(name).fit(X)
    before, heard = remembered(model), [0]

    def too_early(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cmeans.fitting.fit.BaseCMeans._engine", too_early)
        with pytest.raises(KeyboardInterrupt):
            model.fit(OTHER)
    unchanged(model, before)

    def later(progress: Any) -> None:
        heard[0] += progress.objective is not None and progress.stage != "pilot"
        if heard[0] == LATE.get(name, 2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(later):
        model.fit(OTHER)
    if name in STREAMS:
        unchanged(model, before)
        return
    assert model.n_features_in_ == 5
    assert model.predict(OTHER).shape == (90,)
    assert "interrupted" in model.stop_reason_
    assert not {
        "labels_",
        "memberships_",
        "_nearest",
        "objective_",
        "objective_history_",
        "row_visits_",
    } & set(vars(model))


def test_an_interrupted_sample_of_kernel_values_answers_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its columns are known by their numbers among all rows."""
    gram = np.exp(-0.05 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    words = {"kernel": "precomputed", "landmarks": 40, "random_state": 0, "tol": 0.0}
    whole = cmeans.TwoStepKernelKMeans(3, **words).fit(gram)
    heard = [0]

    def listener(progress: Any) -> None:
        heard[0] += progress.objective is not None
        if heard[0] == whole.n_iter_:
            raise KeyboardInterrupt

    model = cmeans.TwoStepKernelKMeans(3, **words)
    with pytest.raises(KeyboardInterrupt), listening(listener):
        model.fit(gram)
    np.testing.assert_array_equal(match_labels(model.predict(gram), whole.labels_), whole.labels_)


def test_a_merge_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (
        cmeans.StreamingFuzzyCMeans(
            3, kernel="rbf", gamma=0.05, m=1.5, random_state=0, landmarks=X[::8]
        ).fit(rows)
        for rows in (X[::2], X[1::2])
    )
    before = remembered(one)
    monkeypatch.setattr("cmeans.fitting.streams.stream_fit.centre_attributes", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        one.merge(two)
    unchanged(one, before)
