"""Spaces: geometries that give the distances of rows to centres."""

from .base import SPACES, Pairing, Space
from .conjugate_gradients import solver_tolerance
from .euclidean import EuclideanSpace, IncompleteSpace, PartialSpace, PointSpace, row_scales
from .exact import ExactSpace
from .feature import FeatureSpace
from .landmark import LandmarkSpace, checked_gram, gram_matrix, landmark_space
from .member_scatter import MemberScatter
from .metrics import Metrics
from .products import ProductSpace
from .rows import ProductRows, Rows, RowValues, View
from .spanning import over_few, spanning_space

__all__ = [
    "SPACES",
    "EuclideanSpace",
    "ExactSpace",
    "FeatureSpace",
    "IncompleteSpace",
    "LandmarkSpace",
    "MemberScatter",
    "Metrics",
    "Pairing",
    "PartialSpace",
    "PointSpace",
    "ProductRows",
    "ProductSpace",
    "RowValues",
    "Rows",
    "Space",
    "View",
    "checked_gram",
    "gram_matrix",
    "landmark_space",
    "over_few",
    "row_scales",
    "solver_tolerance",
    "spanning_space",
]
