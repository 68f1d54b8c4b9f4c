"""Spaces: how far a row is from a centre."""

from .base import ProductRows, Quick, Rows, Space, View
from .euclidean import EuclideanSpace
from .exact import ExactSpace
from .landmark import LandmarkSpace, checked_gram, gram_matrix, landmark_space
from .linear_solvers import solver_tolerance
from .spanning import spanning_space

__all__ = [
    "EuclideanSpace",
    "ExactSpace",
    "LandmarkSpace",
    "ProductRows",
    "Quick",
    "Rows",
    "Space",
    "View",
    "checked_gram",
    "gram_matrix",
    "landmark_space",
    "solver_tolerance",
    "spanning_space",
]
