"""Methods that an estimator has only where its parameters make them meaningful."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils.metaestimators import available_if

Method = TypeVar("Method", bound=Callable[..., Any])


def offered_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Offer a method where `check(estimator)` is True: scikit-learn's `available_if`, a decorator
    that keeps the method's type."""
    decorate: Callable[[Method], Method] = available_if(check)
    return decorate
