"""Kernels: the geometry in which rows are clustered."""

from .base import Columns, Kernel
from .given import CallableKernel, Precomputed
from .images.histograms import HistogramIntersection, SpatialPyramid
from .images.wavelets import ComplexWaveletSSIM
from .laplacian import Laplacian
from .names import KERNELS, build_kernel, checked_params, kernel_class
from .products import RBF, Cosine, Linear, NormalizedPolynomial, Polynomial, Sigmoid

__all__ = [
    "KERNELS",
    "RBF",
    "CallableKernel",
    "Columns",
    "ComplexWaveletSSIM",
    "Cosine",
    "HistogramIntersection",
    "Kernel",
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
