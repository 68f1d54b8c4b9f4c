"""Kernels: the geometry in which rows are clustered."""

from .base import Columns, Kernel
from .images.histograms import HistogramIntersection, SpatialPyramid
from .images.wavelets import ComplexWaveletSSIM
from .landmark_graph import LandmarkGraphKernel
from .laplacian import Laplacian
from .linear import Cosine, Linear
from .names import KERNELS, build_kernel, checked_params, kernel_class
from .polynomial import NormalizedPolynomial, Polynomial, Sigmoid
from .precomputed import CallableKernel, Precomputed
from .rbf import RBF

__all__ = [
    "KERNELS",
    "RBF",
    "CallableKernel",
    "Columns",
    "ComplexWaveletSSIM",
    "Cosine",
    "HistogramIntersection",
    "Kernel",
    "LandmarkGraphKernel",
    "Laplacian",
    "Linear",
    "NormalizedPolynomial",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "SpatialPyramid",
    "build_kernel",
    "checked_params",
    "kernel_class",
]
