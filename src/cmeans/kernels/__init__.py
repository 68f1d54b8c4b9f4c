"""Kernels: the geometry in which rows are clustered."""

from .base import Columns, FeatureKernel, Kernel
from .histogram_intersection import HistogramIntersection
from .landmark_graph import LandmarkGraphKernel
from .linear import Cosine, Linear
from .manhattan import Gower, Laplacian
from .names import KERNELS, build_kernel, checked_params, kernel_class
from .polynomial import NormalizedPolynomial, Polynomial, Sigmoid
from .precomputed import CallableKernel, Precomputed
from .precomputed_graph import PrecomputedGraphKernel
from .rbf import RBF

__all__ = [
    "KERNELS",
    "RBF",
    "CallableKernel",
    "Columns",
    "Cosine",
    "FeatureKernel",
    "Gower",
    "HistogramIntersection",
    "Kernel",
    "LandmarkGraphKernel",
    "Laplacian",
    "Linear",
    "NormalizedPolynomial",
    "Polynomial",
    "Precomputed",
    "PrecomputedGraphKernel",
    "Sigmoid",
    "build_kernel",
    "checked_params",
    "kernel_class",
]
