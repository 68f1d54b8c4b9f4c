"""Kernels: the geometry in which rows are clustered."""

from .base import KERNELS, Columns, FeatureKernel, Kernel, KernelEvidence
from .histogram_intersection import HistogramIntersection
from .landmark_graph import LandmarkGraphKernel
from .linear import Cosine, Linear
from .manhattan import Gower, Laplacian
from .names import kernel_of
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
    "KernelEvidence",
    "LandmarkGraphKernel",
    "Laplacian",
    "Linear",
    "NormalizedPolynomial",
    "Polynomial",
    "Precomputed",
    "PrecomputedGraphKernel",
    "Sigmoid",
    "kernel_of",
]
