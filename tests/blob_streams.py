"""Three blobs in chunks, and streams of every kind over them, for the tests of streams."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import naive
from cmeans import KernelPatchClustering, StreamingFuzzyCMeans
from cmeans.kernels import Polynomial
from cmeans.papers import StreamingKernelFCM

C, D, CHUNK = 3, 4, 40
OF_PAPERS = {"method", "projection", "meta_membership", "past_weight"}


def stream(n_clusters: int = C, **words: Any) -> Any:
    """A stream, or the one as published where words are that one's alone."""
    if OF_PAPERS & set(words):
        return StreamingKernelFCM(n_clusters, **{"method": "landmarks", **words})
    return StreamingFuzzyCMeans(n_clusters, **words)


BLOBS = np.array([[0.0, 0, 0, 1], [3, 1, 0, 0], [0.5, 3, 1, 0]])
STREAMS: dict[str, tuple[type, dict[str, Any]]] = {
    "landmarks": (StreamingFuzzyCMeans, {"kernel": "rbf", "landmarks": 16}),
    "points": (
        StreamingFuzzyCMeans,
        {"kernel": "rbf", "landmarks": np.vstack([BLOBS + 0.3, BLOBS - 0.3, BLOBS[::-1] * 0.8])},
    ),
    "linear": (StreamingFuzzyCMeans, {"kernel": "linear", "gamma": "scale"}),
    "projection": (StreamingKernelFCM, {"method": "projection"}),
    "gradient": (
        StreamingKernelFCM,
        {"method": "projection", "projection": "gradient", "search": "auto"},
    ),
    "l1": (StreamingKernelFCM, {"method": "projection", "projection": "l1"}),
    "hard": (
        StreamingFuzzyCMeans,
        {"rule": "hard", "kernel": "rbf", "landmarks": 16, "search": "auto"},
    ),
    "patches": (KernelPatchClustering, {"n_points": 4}),
}
MORE_STREAMS: dict[str, tuple[type, dict[str, Any]]] = {
    **STREAMS,
    "update": (
        StreamingKernelFCM,
        {
            "kernel": "rbf",
            "landmarks": 16,
            "method": "landmarks",
            "meta_membership": "update",
            "past_weight": "u",
        },
    ),
    "polynomial": (
        StreamingKernelFCM,
        {"kernel": Polynomial(degree=2, gamma=0.3), "method": "projection"},
    ),
}


def blobs(n: int, seed: int = 0, scale: float = 0.5) -> np.ndarray:
    """(n, D) rows of one blob after the other."""
    return BLOBS[np.arange(n) % C] + np.random.default_rng(seed).normal(scale=scale, size=(n, D))


X = (
    np.where(np.abs(blobs(4 * CHUNK)) < 0.2, 0.0, blobs(4 * CHUNK))
    .astype(np.float32)
    .astype(np.float64)
)
CHUNKS = np.split(X, 4)
PROBE = blobs(30, seed=1)


def build(name: str, **words: Any) -> Any:
    """A stream by its name here, which searches if it says so; under any other name, one of words
    alone."""
    others = {"published": (StreamingKernelFCM, {"method": "landmarks"})}
    estimator, own = {**others, **MORE_STREAMS}.get(name, (stream, {}))
    plain = {} if estimator is KernelPatchClustering else {"search": None}
    given = {"kernel": "rbf", "m": 1.3, "random_state": 0, "n_init": 1, **plain, **own, **words}
    return estimator(C, **with_gamma(0.2, given))


def with_gamma(gamma: float, words: dict[str, Any]) -> dict[str, Any]:
    """Words with a gamma where none is given, and the kernel has none of its own as an object
    has."""
    return {"gamma": gamma, **words} if isinstance(words["kernel"], str) else words


def feed(model: Any, chunks: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
    for number, chunk in enumerate(chunks):
        model.partial_fit(chunk, sample_weight=None if weights is None else weights[number])
    return model


def in_order(model: Any) -> np.ndarray:
    """Numbers of the clusters in the order of the blobs they lie in."""
    return model.predict(BLOBS)


# ------------------------------------------------------------------------------- for the naive twin


def cut(values: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    return np.split(values, np.cumsum(sizes)[:-1])


def first_rows(n: int) -> np.ndarray:
    """(C, n) memberships of a start from the first rows."""
    return np.eye(C, n)


def kernels(gamma: float, **linear: Any) -> dict[str, tuple[dict[str, Any], Any, int]]:
    """By names: words, the same kernel for the twin, columns of the rows; `linear` are further
    words of that one."""
    matrix = partial(partial, naive.kernel_matrix)
    return {
        "rbf": (
            {"kernel": "rbf", "gamma": gamma},
            matrix(function=partial(naive.rbf, gamma=gamma)),
            4,
        ),
        "linear": ({"kernel": "linear", **linear}, matrix(function=naive.linear), 4),
        "polynomial": (
            {"kernel": Polynomial(degree=2, gamma=1.0, coef0=1.0)},
            matrix(function=partial(naive.polynomial, gamma=1, coef0=1, degree=2)),
            2,
        ),
    }
