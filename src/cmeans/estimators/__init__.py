"""Estimators: they check parameters, call the solver and store the result. One file each, loaded
when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adaptive_cmeans import AdaptivePossibilisticCMeans
    from .cmeans import CMeans
    from .connectivity_clustering import ConnectivityClustering
    from .consensus_clustering import ConsensusClustering
    from .fuzzy_cmeans import FuzzyCMeans
    from .gaussian_mixture import GaussianMixture
    from .kernel_kmeans import KernelKMeans
    from .modularity_clustering import ModularityClustering
    from .possibilistic_cmeans import PossibilisticCMeans
    from .streaming_cmeans import StreamingFuzzyCMeans
    from .streaming_mixture import StreamingGaussianMixture

__all__ = [
    "AdaptivePossibilisticCMeans",
    "CMeans",
    "ConnectivityClustering",
    "ConsensusClustering",
    "FuzzyCMeans",
    "GaussianMixture",
    "KernelKMeans",
    "ModularityClustering",
    "PossibilisticCMeans",
    "StreamingFuzzyCMeans",
    "StreamingGaussianMixture",
]

PLACES = {
    "AdaptivePossibilisticCMeans": "adaptive_cmeans",
    "CMeans": "cmeans",
    "ConnectivityClustering": "connectivity_clustering",
    "ConsensusClustering": "consensus_clustering",
    "FuzzyCMeans": "fuzzy_cmeans",
    "GaussianMixture": "gaussian_mixture",
    "KernelKMeans": "kernel_kmeans",
    "ModularityClustering": "modularity_clustering",
    "PossibilisticCMeans": "possibilistic_cmeans",
    "StreamingFuzzyCMeans": "streaming_cmeans",
    "StreamingGaussianMixture": "streaming_mixture",
}


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{PLACES[name]}", __name__), name)
    return value
