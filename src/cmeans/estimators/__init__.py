"""Estimators: they translate words, call the solver and store the result."""

from .cmeans import CMeans
from .fuzzy_cmeans import FuzzyCMeans
from .kernel_kmeans import KernelKMeans
from .possibilistic_cmeans import PossibilisticCMeans
from .two_step import TwoStepKernelKMeans

__all__ = ["CMeans", "FuzzyCMeans", "KernelKMeans", "PossibilisticCMeans", "TwoStepKernelKMeans"]
