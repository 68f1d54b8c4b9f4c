"""Euclidean spaces of the rows' own coordinates: of whole rows, and of rows with missing values."""

from .incomplete import IncompleteSpace
from .partial import PartialSpace, row_scales
from .plain import EuclideanSpace
from .points import PointSpace

__all__ = ["EuclideanSpace", "IncompleteSpace", "PartialSpace", "PointSpace", "row_scales"]
