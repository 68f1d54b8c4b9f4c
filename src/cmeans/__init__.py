"""The c-means family - hard, fuzzy, possibilistic, probabilistic - in kernel space, at any scale.

Clustering here is a fold: one pass over blocks of rows returns a few small sums, and the sums give
the next centres.
"""

import gc as _gc
import typing as _typing
from importlib import import_module as _import_module

from .runtime.version import __version__

if _typing.TYPE_CHECKING:
    from . import anndata, datasets, inspection, kernels, metrics, onnx, papers, rules, validity
    from .data.addresses import Address
    from .data.files import open_blocks
    from .data.log_transformer import LogTransformer
    from .data.packed_bits import packed_bits
    from .data.recipe.read_table import read_table
    from .engines import DaskEngine, RayEngine, SparkEngine
    from .estimators import (
        AdaptivePossibilisticCMeans,
        CMeans,
        ConnectivityClustering,
        ConsensusClustering,
        FuzzyCMeans,
        GaussianMixture,
        KernelKMeans,
        ModularityClustering,
        PossibilisticCMeans,
        StreamingFuzzyCMeans,
        StreamingGaussianMixture,
    )
    from .estimators.auto_clustering import AutoClustering, cluster
    from .estimators.explore import explore
    from .estimators.landmark_graph import LandmarkGraph
    from .fitting.covariance import Covariance
    from .fitting.landmark_choice import Landmarks
    from .fitting.rows.batch_answers import BatchPredictor
    from .fitting.search import Search
    from .fitting.sizes import Sizes
    from .papers import (
        KernelPatchClustering,
        ProbabilisticKMeans,
        SequentialPossibilisticCMeans,
        TwoStepKernelKMeans,
    )
    from .persistence.model_file import load, read_metadata, save
    from .runtime.user_warnings import DataWarning, ParameterWarning
    from .selection.scorer import silhouette_scorer
    from .selection.select import Selection, select
    from .selection.stability import Stability, stability
    from .solvers.checkpoints import Checkpoint
    from .versions import show_versions

__all__ = [
    "AdaptivePossibilisticCMeans",
    "Address",
    "AutoClustering",
    "BatchPredictor",
    "CMeans",
    "Checkpoint",
    "ConnectivityClustering",
    "ConsensusClustering",
    "Covariance",
    "DaskEngine",
    "DataWarning",
    "FuzzyCMeans",
    "GaussianMixture",
    "KernelKMeans",
    "KernelPatchClustering",
    "LandmarkGraph",
    "Landmarks",
    "LogTransformer",
    "ModularityClustering",
    "ParameterWarning",
    "PossibilisticCMeans",
    "ProbabilisticKMeans",
    "RayEngine",
    "Search",
    "Selection",
    "SequentialPossibilisticCMeans",
    "Sizes",
    "SparkEngine",
    "Stability",
    "StreamingFuzzyCMeans",
    "StreamingGaussianMixture",
    "ThreadEngine",
    "TwoStepKernelKMeans",
    "__version__",
    "anndata",
    "cluster",
    "datasets",
    "explore",
    "inspection",
    "kernels",
    "load",
    "metrics",
    "onnx",
    "open_blocks",
    "packed_bits",
    "papers",
    "read_metadata",
    "read_table",
    "rules",
    "save",
    "select",
    "show_versions",
    "silhouette_scorer",
    "stability",
    "validity",
]

_MODULES = {
    "anndata",
    "datasets",
    "inspection",
    "kernels",
    "metrics",
    "onnx",
    "papers",
    "rules",
    "validity",
}
_PLACES = {  # of names that are neither modules nor estimators
    "Address": "data.addresses",
    "AutoClustering": "estimators.auto_clustering",
    "Checkpoint": "solvers.checkpoints",
    "Covariance": "fitting.covariance",
    "DaskEngine": "engines",
    "RayEngine": "engines",
    "SparkEngine": "engines",
    "BatchPredictor": "fitting.rows.batch_answers",
    "DataWarning": "runtime.user_warnings",
    "Search": "fitting.search",
    "Selection": "selection.select",
    "Sizes": "fitting.sizes",
    "Stability": "selection.stability",
    "KernelPatchClustering": "papers",
    "LandmarkGraph": "estimators.landmark_graph",
    "Landmarks": "fitting.landmark_choice",
    "LogTransformer": "data.log_transformer",
    "ParameterWarning": "runtime.user_warnings",
    "ProbabilisticKMeans": "papers",
    "SequentialPossibilisticCMeans": "papers",
    "TwoStepKernelKMeans": "papers",
    "cluster": "estimators.auto_clustering",
    "explore": "estimators.explore",
    "load": "persistence.model_file",
    "open_blocks": "data.files",
    "packed_bits": "data.packed_bits",
    "read_metadata": "persistence.model_file",
    "read_table": "data.recipe.read_table",
    "save": "persistence.model_file",
    "select": "selection.select",
    "show_versions": "versions",
    "silhouette_scorer": "selection.scorer",
    "stability": "selection.stability",
    "ThreadEngine": "engines",
}


def __getattr__(name: str) -> _typing.Any:
    """Load what is asked for: the command's help and version need none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    collecting = _gc.isenabled()
    # what modules make is no garbage, and looking through it takes a third of the time of loading
    # them
    _gc.disable()
    try:
        if name in _MODULES:
            return _import_module(f".{name}", __name__)
        globals()[name] = value = getattr(
            _import_module(f".{_PLACES.get(name, 'estimators')}", __name__), name
        )
        return value
    finally:
        if collecting:
            _gc.enable()


def __dir__() -> list[str]:
    return __all__
