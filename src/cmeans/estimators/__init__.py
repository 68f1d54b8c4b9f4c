"""Estimators: they check parameters, call the solver and store the result. One file each, loaded
when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adaptive_cmeans import AdaptivePossibilisticCMeans as AdaptivePossibilisticCMeans
    from .cmeans import CMeans as CMeans
    from .connectivity_clustering import ConnectivityClustering as ConnectivityClustering
    from .consensus_clustering import ConsensusClustering as ConsensusClustering
    from .fuzzy_cmeans import FuzzyCMeans as FuzzyCMeans
    from .gaussian_mixture import GaussianMixture as GaussianMixture
    from .kernel_kmeans import KernelKMeans as KernelKMeans
    from .modularity_clustering import ModularityClustering as ModularityClustering
    from .possibilistic_cmeans import PossibilisticCMeans as PossibilisticCMeans
    from .streaming_cmeans import StreamingFuzzyCMeans as StreamingFuzzyCMeans
    from .streaming_mixture import StreamingGaussianMixture as StreamingGaussianMixture

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
__all__ = list(PLACES)


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{PLACES[name]}", __name__), name)
    return value
