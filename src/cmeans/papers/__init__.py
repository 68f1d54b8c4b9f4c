"""The wing for the papers: what only the five papers need, written on the public interfaces of the
library alone.

Systems of the papers that the rest of the library can do without, and forms as the papers print
them where these differ. Each file is loaded when a name of it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .gradient_landmarks import GradientLandmarks as GradientLandmarks
    from .patch_clustering import KernelPatchClustering as KernelPatchClustering
    from .printed_adaptive import (
        PrintedAdaptivePossibilisticCMeans as PrintedAdaptivePossibilisticCMeans,
    )
    from .printed_cmeans import PrintedCMeans as PrintedCMeans
    from .printed_rules import LocallySparse as LocallySparse
    from .printed_rules import PrintedFuzzy as PrintedFuzzy
    from .printed_rules import PrintedPossibilistic as PrintedPossibilistic
    from .probabilistic_kmeans import ProbabilisticKMeans as ProbabilisticKMeans
    from .sequential_cmeans import SequentialPossibilisticCMeans as SequentialPossibilisticCMeans
    from .spatial_pyramid import SpatialPyramid as SpatialPyramid
    from .stream_by_projection import StreamingKernelFCM as StreamingKernelFCM
    from .two_step import TwoStepKernelKMeans as TwoStepKernelKMeans
    from .wavelets import ComplexWaveletSSIM as ComplexWaveletSSIM

PLACES = {
    "ComplexWaveletSSIM": "wavelets",
    "GradientLandmarks": "gradient_landmarks",
    "KernelPatchClustering": "patch_clustering",
    "LocallySparse": "printed_rules",
    "PrintedAdaptivePossibilisticCMeans": "printed_adaptive",
    "PrintedCMeans": "printed_cmeans",
    "PrintedFuzzy": "printed_rules",
    "PrintedPossibilistic": "printed_rules",
    "ProbabilisticKMeans": "probabilistic_kmeans",
    "SequentialPossibilisticCMeans": "sequential_cmeans",
    "SpatialPyramid": "spatial_pyramid",
    "StreamingKernelFCM": "stream_by_projection",
    "TwoStepKernelKMeans": "two_step",
}
__all__ = list(PLACES)


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{PLACES[name]}", __name__), name)
    return value
