"""Model files of this version that later ones must load, one of each kind: python -m
tools.model_files [FOLDER].

Each holds, as its metadata, rows and what the model answered. They are written once for a release
and kept as they are.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

import cmeans
from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    ConnectivityClustering,
    ConsensusClustering,
    Covariance,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    KernelPatchClustering,
    LandmarkGraph,
    Landmarks,
    LogTransformer,
    ModularityClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    Search,
    SequentialPossibilisticCMeans,
    Sizes,
    StreamingFuzzyCMeans,
    StreamingGaussianMixture,
    TwoStepKernelKMeans,
)
from cmeans.kernels import Gower, HistogramIntersection, Polynomial
from cmeans.papers import (
    ComplexWaveletSSIM,
    GradientLandmarks,
    PrintedAdaptivePossibilisticCMeans,
    PrintedCMeans,
    PrintedFuzzy,
    PrintedPossibilistic,
    SpatialPyramid,
    StreamingKernelFCM,
)
from cmeans.rules import Entropy, PolynomialFuzzy

FOLDER = Path(__file__).parent.parent / "tests" / "persistence" / "older" / cmeans.__version__
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [5, 0, 0], [0, 5, 5]], 30, axis=0)
COUNTS = np.abs(X).round(3)
IMAGES = (rng.normal(size=(20, 256)) + np.repeat([[0], [3]], 10, axis=0)).round(1)
HOLES = np.where(np.arange(270).reshape(90, 3) % 11 == 0, np.nan, X)
TABLE = pd.DataFrame(X, columns=["width", "height", "depth"])
D2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
GRAPH = sparse.csr_array(np.where(D2 < 6, np.exp(-D2), 0))
WORDS: dict[str, Any] = {"random_state": 0}
NUMBERS = ["width", "height", "depth"]

MODELS: dict[str, tuple[BaseEstimator, Any]] = {
    "adaptive": (AdaptivePossibilisticCMeans((1, 6), **WORDS), X),
    "adaptive-length": (
        PrintedAdaptivePossibilisticCMeans((1, 6), adaptation="length", **WORDS),
        X,
    ),
    "adaptive-local": (
        PrintedAdaptivePossibilisticCMeans((1, 6), sparsity_test="local", **WORDS),
        X,
    ),
    "communities": (ModularityClustering(3), X),
    "communities-equal": (ModularityClustering(3, edges="equal"), X),
    "communities-shared": (ModularityClustering(3, edges="shared"), X),
    "communities-given": (ModularityClustering(metric="precomputed", resolution=1.0), GRAPH),
    "connected": (ConnectivityClustering(3, noise="auto", **WORDS), X),
    "connected-given": (ConnectivityClustering(3, metric="precomputed", **WORDS), np.sqrt(D2)),
    "consensus": (ConsensusClustering(3, **WORDS), X),
    "cosine": (FuzzyCMeans(3, kernel="cosine", **WORDS), X),
    "covariances": (
        KernelKMeans(3, kernel="linear", covariance=Covariance("full", prior=5.0), **WORDS),
        X,
    ),
    "entropy": (CMeans(3, rule="entropy", **WORDS), X),
    "float32": (
        FuzzyCMeans(3, kernel="laplacian", gamma=0.1, landmarks=9, **WORDS),
        X.astype(np.float32),
    ),
    "frame": (FuzzyCMeans(3, search=Search(acceleration=None), **WORDS), TABLE[NUMBERS]),
    "fuzzy": (FuzzyCMeans(3, **WORDS), X),
    "fuzzy-csr": (
        FuzzyCMeans(3, kernel="rbf", landmarks=Landmarks(9), **WORDS),
        sparse.csr_array(X),
    ),
    "fuzzy-exact": (FuzzyCMeans(3, kernel="rbf", landmarks=None, **WORDS), X),
    "fuzzy-gradient": (
        FuzzyCMeans(3, kernel="rbf", landmarks=GradientLandmarks(9), **WORDS),
        X,
    ),
    "gower": (KernelKMeans(3, kernel=Gower.of(X, []), landmarks=9, **WORDS), X),
    "graph-given": (KernelKMeans(3, kernel="precomputed_graph", **WORDS), GRAPH),
    "graph-of-landmarks": (FuzzyCMeans(3, kernel="landmark_graph", **WORDS), X),
    "graph-features": (LandmarkGraph(3, landmarks=12, **WORDS), X),
    "hard": (KernelKMeans(3, kernel="linear", **WORDS), X),
    "histograms": (KernelKMeans(3, kernel=HistogramIntersection(), landmarks=9, **WORDS), COUNTS),
    "images": (KernelKMeans(2, kernel=ComplexWaveletSSIM((16, 16)), landmarks=4, **WORDS), IMAGES),
    "mixture": (GaussianMixture(3, **WORDS), X),
    "mixture-tails": (
        GaussianMixture(3, covariance=Covariance(df=5.0, rounding="auto"), powers="auto", **WORDS),
        X.round(),
    ),
    "mixture-noise": (GaussianMixture(3, noise=0.1, **WORDS), X),
    "mixture-partial": (GaussianMixture(3, missing="partial", **WORDS), HOLES),
    "noise": (FuzzyCMeans(3, noise=0.1, **WORDS), X),
    "normalized-polynomial": (
        KernelKMeans(3, kernel="normalized_polynomial", landmarks=9, **WORDS),
        X,
    ),
    "partial": (FuzzyCMeans(3, missing="partial", **WORDS), HOLES),
    "patches": (KernelPatchClustering(3, patch_size=30, **WORDS), X),
    "polynomial": (KernelKMeans(3, kernel=Polynomial(degree=2), landmarks=9, **WORDS), X),
    "polynomial-fuzzy": (CMeans(3, rule=PolynomialFuzzy(beta=0.5), **WORDS), X),
    "possibilistic": (PossibilisticCMeans(3, kernel="rbf", landmarks=9, **WORDS), X),
    "precomputed": (FuzzyCMeans(3, kernel="precomputed", landmarks=6, **WORDS), np.exp(-0.1 * D2)),
    "printed-fuzzy": (PrintedCMeans(3, rule=PrintedFuzzy(2.0, exponent=3.0), **WORDS), X),
    "printed-possibilistic": (PrintedCMeans(3, rule=PrintedPossibilistic(2.0), **WORDS), X),
    "probabilistic": (ProbabilisticKMeans(3, **WORDS), X),
    "pyramid": (
        KernelKMeans(2, kernel=SpatialPyramid(levels=2), landmarks=4, **WORDS),
        np.abs(IMAGES[:, :80]),
    ),
    "sequential": (SequentialPossibilisticCMeans((1, 5), **WORDS), X),
    "sigmoid": (KernelKMeans(3, kernel="sigmoid", gamma=0.01, landmarks=9, **WORDS), X),
    "sized-entropy": (CMeans(3, rule=Entropy(T=0.5), sizes=Sizes(least=20, most=35), **WORDS), X),
    "sized-fuzzy": (FuzzyCMeans(3, sizes=Sizes(least=20, most=35), **WORDS), X),
    "sized-hard": (KernelKMeans(3, kernel="linear", sizes=Sizes(least=25), **WORDS), X),
    "spherical": (FuzzyCMeans(3, metric="cosine", **WORDS), X),
    "stream": (StreamingFuzzyCMeans(3, kernel="rbf", chunk_size=30, **WORDS), X),
    "stream-linear": (StreamingFuzzyCMeans(3, chunk_size=30, **WORDS), X),
    "stream-projected": (StreamingKernelFCM(3, kernel="rbf", chunk_size=30, **WORDS), X),
    "stream-stretched": (
        StreamingFuzzyCMeans(3, covariance="full", warm_up=30, chunk_size=30, **WORDS),
        X,
    ),
    "stream-free": (
        StreamingFuzzyCMeans(
            3,
            rule="hard",
            covariance=Covariance("diag", volume="free"),
            warm_up=30,
            chunk_size=30,
            **WORDS,
        ),
        X,
    ),
    "stream-gaussian": (
        StreamingFuzzyCMeans(
            3, rule="gaussian", covariance="full", warm_up=30, chunk_size=30, **WORDS
        ),
        X,
    ),
    "stream-living": (StreamingGaussianMixture(chunk_size=30), X),
    "stream-warming-up": (StreamingFuzzyCMeans(3, warm_up=200, **WORDS), X),
    "top-k": (FuzzyCMeans(3, top_k=2, **WORDS), X),
    "two-step": (TwoStepKernelKMeans(3, **WORDS), X),
    "logarithms": (
        make_pipeline(
            FunctionTransformer(np.log, inverse_func=np.exp),
            StandardScaler(),
            FuzzyCMeans(3, **WORDS),
        ),
        np.exp(X),
    ),
    "long-tails": (
        make_pipeline(LogTransformer(), StandardScaler(), FuzzyCMeans(3, **WORDS)),
        np.exp(X * [2.0, *[0.1] * (X.shape[1] - 1)]),
    ),
    "steps": (
        make_pipeline(
            StandardScaler(),
            MinMaxScaler(),
            MaxAbsScaler(),
            RobustScaler(),
            FuzzyCMeans(3, **WORDS),
        ),
        TABLE[NUMBERS],
    ),
}


def answers(model: Any, rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return memberships and labels of rows; features of a transformer, and none."""
    if isinstance(model, LandmarkGraph):
        return model.transform(rows), np.empty(0, dtype=int)
    if hasattr(model, "named_steps"):
        return answers(model[-1], model[:-1].transform(rows))
    return model.memberships(rows), model.predict(rows)


def write(name: str, model: Any, rows: Any, folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
    asked = rows[::13]
    memberships, labels = answers(model, asked)
    plain = asked.toarray() if sparse.issparse(asked) else asked
    listed = (
        [list(row) for row in plain.to_numpy(object)]
        if isinstance(plain, pd.DataFrame)
        else plain.tolist()
    )
    known = {"rows": listed, "memberships": memberships.tolist(), "labels": labels.tolist()}
    cmeans.save(model, folder / f"{name}.safetensors", metadata=known)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (model, rows) in MODELS.items():
        write(name, model, rows, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    main(parser.parse_args().folder)
