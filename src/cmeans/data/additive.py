"""Sums of several quantities over rows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self


@dataclass(frozen=True)
class Additive:
    """Base of records that add, and scale, field by field."""

    def __add__(self, other: Self) -> Self:
        return self._each(lambda name: getattr(self, name) + getattr(other, name))

    def __mul__(self, factor: float) -> Self:
        return self._each(lambda name: getattr(self, name) * factor)

    def _each(self, value: Any) -> Self:
        return replace(self, **{field.name: value(field.name) for field in fields(self)})
