"""Estimators: they check parameters, call the solver and store the result."""

from .adaptive_cmeans import AdaptivePossibilisticCMeans
from .cmeans import CMeans
from .fuzzy_cmeans import FuzzyCMeans
from .kernel_kmeans import KernelKMeans
from .patch_clustering import KernelPatchClustering
from .possibilistic_cmeans import PossibilisticCMeans
from .probabilistic_kmeans import ProbabilisticKMeans
from .sequential_cmeans import SequentialPossibilisticCMeans
from .streaming_cmeans import StreamingFuzzyCMeans
from .two_step import TwoStepKernelKMeans

__all__ = [
    "AdaptivePossibilisticCMeans",
    "CMeans",
    "FuzzyCMeans",
    "KernelKMeans",
    "KernelPatchClustering",
    "PossibilisticCMeans",
    "ProbabilisticKMeans",
    "SequentialPossibilisticCMeans",
    "StreamingFuzzyCMeans",
    "TwoStepKernelKMeans",
]
