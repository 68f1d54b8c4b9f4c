"""The c-means family - hard, fuzzy, possibilistic, probabilistic - in kernel space, at any scale.

Clustering here is a fold: one pass over blocks of rows returns a few small sums, and the sums give the next centres.
"""

__version__ = "0.1.0.dev0"

from . import datasets, kernels, metrics, rules, validity
from .checkpoints import Checkpoint
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
from .model_file import load, save
from .sources import open_blocks

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
