"""What a case is, and what is recorded of a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from .rows import some

Case = Callable[[], Mapping[str, Any]]  # gives values that `arrays.leaves` takes apart
Words = dict[str, Any]

CASES: dict[str, Case] = {}
QUESTIONS = (
    "predict",
    "memberships",
    "transform",
    "score",
    "outlier_score",
    "predict_proba",
    "typicality",
)


def case(name: str, *needs: str) -> Callable[[Case], Case]:
    """Add a function to the cases, where the packages that it needs are installed."""

    def added(function: Case) -> Case:
        if name in CASES:
            raise ValueError(f"two cases of the panel are named {name!r}")
        if all(find_spec(package) for package in needs):
            CASES[name] = function
        return function

    return added


def add(
    name: str,
    estimator: Any,
    rows: Callable[[], Any],
    *,
    weight: np.ndarray | None = None,
    **words: Any,
) -> None:
    """Add one fit, and its answers about other rows, to the cases."""
    case(name)(partial(fit, estimator, rows, weight, **words))


def fit(
    estimator: Any, rows: Callable[[], Any], weight: np.ndarray | None = None, **words: Any
) -> Words:
    """One fit, and its answers about other rows."""
    x = rows()
    space = {"kernel": "rbf"} if {"gamma", "landmarks"} & set(words) else {}
    model = estimator(**{"random_state": 7, **space, **words}).fit(x, sample_weight=weight)
    return fitted(model) | answers(model, some(x))


def fitted(model: Any) -> Words:
    """All public attributes of a fit."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def answers(model: Any, rows: Any, **diag: Any) -> Words:
    """All that a model says of rows."""
    said = {
        question: getattr(model, question)(rows, **diag)
        for question in QUESTIONS
        if hasattr(model, question)
    }
    if hasattr(model, "memberships_"):
        said["representatives"] = model.representatives(3)
    return said
