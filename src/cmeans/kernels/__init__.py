"""Kernels: the geometry that clusters are sought in."""

from .base import Columns, Kernel
from .given import CallableKernel, Precomputed
from .histograms import HistogramIntersection, SpatialPyramid
from .laplacian import Laplacian
from .names import KERNELS, build_kernel, checked_params, kernel_class
from .products import RBF, Cosine, Linear, NormalizedPolynomial, Polynomial, Sigmoid
from .wavelets import ComplexWaveletSSIM

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
