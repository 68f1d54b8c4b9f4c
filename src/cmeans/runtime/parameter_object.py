"""Parameter objects: parameters of an estimator that belong together are one frozen object of its
own."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np

from .shown_addresses import for_people
from .stored_classes import stored


class ParameterObject:
    """Base of frozen dataclasses that are parameters: rules, kernels, landmarks, sizes, searches,
    engines.

    Their fields are their parameters, by scikit-learn's conventions: `clone` copies them, a grid
    search reaches them by nested names (`kernel__gamma`), and what is printed is what differs from
    the defaults. Subclasses are decorated `@dataclass(frozen=True, repr=False)`. A field that
    `__init__` does not take is no parameter. Model files may hold every subclass (`stored`).
    """

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        stored(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names; with `deep` also those of parameters that have
        some, as `name__inner`."""
        found = {one.name: getattr(self, one.name) for one in _parameters(self)}
        return with_nested(found) if deep else found

    def set_params(self, **params: Any) -> Self:
        """Return a copy with some parameters changed; the object itself stays as it is.

        Parameters
        ----------
        **params : values by their names, or as `name__inner`.

        Raises
        ------
        ValueError
            If there is no parameter of a name.
        """
        own, nested = split_nested(params)
        known = [one.name for one in _parameters(self)]
        for name in (*own, *nested):
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__}: no parameter {name!r}; there are {known}."
                )
        inner = {
            name: changed(own.pop(name, getattr(self, name)), name, more)
            for name, more in nested.items()
        }
        return replace(self, **own, **inner)  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        """Return a copy, for scikit-learn's `clone`."""
        return deepcopy(self)

    def __repr__(self) -> str:
        """Return the call that makes the object, without parameters that have their default."""
        written = (f"{name}={value!r}" for name, value in self.non_defaults().items())
        return for_people(f"{type(self).__name__}({', '.join(written)})")

    def non_defaults(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        return {
            one.name: getattr(self, one.name)
            for one in _parameters(self)
            if not _is_default(self, one)
        }


def with_nested(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters and, behind each that has parameters itself, these as `name__inner`."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        found[name] = value
        if hasattr(value, "get_params") and not isinstance(value, type):
            found |= {f"{name}__{inner}": one for inner, one in value.get_params().items()}
    return found


def split_nested(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Divide parameters into those without a second name, and the others by their first."""
    own: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for name, value in params.items():
        first, divider, inner = name.partition("__")
        if divider:
            nested.setdefault(first, {})[inner] = value
        else:
            own[name] = value
    return own, nested


def changed(value: Any, name: str, params: Mapping[str, Any]) -> Any:
    """Return a parameter with some of its own changed; a new one, as others may share it."""
    if not hasattr(value, "set_params") or isinstance(value, type):
        inner = ", ".join(f"{name}__{one}" for one in params)
        raise ValueError(
            f"{name}={value!r} has no parameters of its own, so there is no {inner}; give an "
            "object that has."
        )
    return value.set_params(**params)


def _parameters(instance: Any) -> list[Field[Any]]:
    return [one for one in fields(instance) if one.init] if is_dataclass(instance) else []


def _is_default(instance: Any, field: Field[Any]) -> bool:
    value, default = getattr(instance, field.name), field.default
    if default is MISSING:
        default = MISSING if field.default_factory is MISSING else field.default_factory()
    if value is default:
        return True
    return (
        type(value) is type(default)
        and not isinstance(value, np.ndarray)
        and bool(value == default)
    )
