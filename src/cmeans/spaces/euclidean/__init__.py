"""Euclidean spaces of the rows' own coordinates: of whole rows, and of rows with missing values."""

from .partial import PartialSpace, row_scales
from .plain import NO_DIRECTION, EuclideanSpace, first_without_direction
from .points import PointSpace

__all__ = ["NO_DIRECTION", "EuclideanSpace", "PartialSpace", "PointSpace", "first_without_direction", "row_scales"]
