"""The c-means family - hard, fuzzy, possibilistic, probabilistic - in kernel space, at any scale.

Clustering here is a fold: one pass over blocks of rows returns a few small sums, and the sums give the next centres.
"""

from . import datasets, kernels, metrics, rules, validity
from .data.files import open_blocks
from .engines import DaskEngine
from .estimators import (
    AdaptivePossibilisticCMeans,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
)
from .persistence.model_file import load, save
from .runtime.version import __version__
from .solvers.checkpoints import Checkpoint

__all__ = [
    "AdaptivePossibilisticCMeans",
    "CMeans",
    "Checkpoint",
    "DaskEngine",
    "FuzzyCMeans",
    "KernelKMeans",
    "KernelPatchClustering",
    "PossibilisticCMeans",
    "ProbabilisticKMeans",
    "SequentialPossibilisticCMeans",
    "StreamingFuzzyCMeans",
    "TwoStepKernelKMeans",
    "__version__",
    "datasets",
    "kernels",
    "load",
    "metrics",
    "open_blocks",
    "rules",
    "save",
    "validity",
]
