"""Parameter objects: frozen, with scikit-learn's manners."""

from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cmeans.runtime.parameter_object import ParameterObject


@dataclass(frozen=True, repr=False)
class Inner(ParameterObject):
    width: float | str = "auto"
    points: Any = None


@dataclass(frozen=True, repr=False)
class Outer(ParameterObject):
    count: int
    inner: Inner = Inner()
    name: str = "plain"


def test_parameters_are_the_fields_and_those_of_fields():
    assert Outer(3).get_params(deep=False) == {"count": 3, "inner": Inner(), "name": "plain"}
    assert Outer(3).get_params() == {
        "count": 3,
        "inner": Inner(),
        "inner__width": "auto",
        "inner__points": None,
        "name": "plain",
    }


def test_changed_parameters_are_those_of_a_copy():
    inner = Inner(2.0)
    first = Outer(3, inner)
    second = first.set_params(inner__width=5.0, count=4)
    assert (second.count, second.inner.width, inner.width, first.count) == (4, 5.0, 2.0, 3)
    assert first.set_params(inner=Inner(7.0), inner__points=1).inner == Inner(7.0, 1)
    with pytest.raises(FrozenInstanceError):
        first.count = 5


def test_clone_copies():
    points = np.eye(2)
    copy = clone(Outer(3, Inner(1.0, points)), safe=False)
    assert copy.inner.width == 1.0
    assert copy.inner.points is not points
    assert np.array_equal(copy.inner.points, points)


def test_what_is_printed_is_what_differs():
    assert repr(Outer(3)) == "Outer(count=3)"
    assert repr(Outer(3, Inner(1.0), "plain")) == "Outer(count=3, inner=Inner(width=1.0))"
    assert repr(Inner("auto", np.eye(1))) == "Inner(points=array([[1.]]))"
    assert repr(Inner(True)) == "Inner(width=True)"


@pytest.mark.parametrize(
    ("words", "said"),
    [({"size": 1}, "no parameter 'size'"), ({"name__x": 1}, "name='plain' has no parameters")],
)
def test_a_parameter_that_is_not_there_is_named(words, said):
    with pytest.raises(ValueError, match=said):
        Outer(3).set_params(**words)
