"""Parameters of estimators by name: objects among them are reached by nested names, and gone words
say where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from sklearn.base import BaseEstimator

from ..engines import ThreadEngine
from ..kernels import KERNELS
from ..rules import RULES
from ..runtime.parameter_object import ParameterObject, changed, split_nested
from .covariance import COVARIANCES
from .gone_words import refuse_gone_word, telling_of_gone_words
from .landmark_choice import landmarks_from
from .notebook_page import NotebookPage
from .search import search_from
from .sizes import sizes_from

# How plain values become the objects that they stand for.
OBJECTS: dict[str, Callable[[Any, str], Any]] = {
    "landmarks": landmarks_from,
    "search": search_from,
    "sizes": sizes_from,
}
# what makes the objects that names stand for, by these
_TABLES: dict[str, Mapping[str, Callable[..., Any]]] = {
    "kernel": KERNELS,
    "rule": RULES,
    "covariance": COVARIANCES,
}


class NamedParameters(NotebookPage, BaseEstimator):
    """Base of estimators whose parameters may be objects with parameters of their own."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Have the constructor say of words that are gone where they are."""
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = telling_of_gone_words(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator.

        A name such as `landmarks__tol` sets a parameter of one that is an object: of the object
        there is, or of the one that a plain value stands for, as `kernel="rbf", kernel__gamma=0.1`
        does. The object is replaced, never changed: others may share it.

        Parameters
        ----------
        **params : values by name.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            For a word that is gone; it names the new place.
        ValueError
            If there is no parameter of a name.
        """
        own, nested = split_nested(params)
        known, estimator_name = self.get_params(deep=False), type(self).__name__
        for name in own:
            if name not in known:
                refuse_gone_word(name, known, estimator_name)
        for name, inner in nested.items():
            value = own.get(name, known.get(name))
            made = _object_for(value, name, inner, estimator_name) if name in known else None
            if isinstance(made, ParameterObject):
                own[name] = made
            else:  # of an estimator that is given as a start, say
                own |= {f"{name}__{word}": value for word, value in inner.items()}
        super().set_params(**own)
        return self


def _object_for(value: Any, name: str, params: Mapping[str, Any], estimator_name: str) -> Any:
    """Return the object that a value of a parameter is, or stands for, with some of its parameters
    changed; None where it is none."""
    if name in OBJECTS:
        return OBJECTS[name](value, estimator_name).set_params(**params)
    if name in _TABLES and isinstance(value, str) and value in _TABLES[name]:
        return _TABLES[name][value](**params)
    if name == "engine" and value is None:
        return ThreadEngine().set_params(**params)
    if name in _TABLES or isinstance(value, ParameterObject):
        return changed(value, name, params)
    return None
