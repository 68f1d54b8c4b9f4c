"""Streams: fits in chunks, chunk after chunk, weights, streams that merge, patches."""

from __future__ import annotations

from functools import partial

import numpy as np

from cmeans import KernelPatchClustering, Search, StreamingFuzzyCMeans, papers

from .cases import Words, add, answers, case, fitted
from .rows import SOME, documents, groups, some, weights

STREAMS: dict[str, Words] = {
    "landmarks": {},
    "landmarks, hard": {"rule": "hard"},
    "landmarks, few": {"landmarks": 30, "warm_up": 0, "m": 1.3},
    "landmarks, points": {
        "landmarks": groups(20, 4, seed=6),
        "method": "landmarks",
        "m": 1.3,
        "meta_membership": "update",
    },
    "projection": {"method": "projection"},
    "projection, hard": {"method": "projection", "rule": "hard", "init": "max-min"},
    "projection, gradient": {"method": "projection", "projection": "gradient", "m": 1.3},
    "projection, l1": {"method": "projection", "projection": "l1", "m": 1.3},
    "projection, frozen": {
        "method": "projection",
        "meta_membership": "frozen",
        "past_weight": "u",
        "m": 1.3,
    },
    "forgetting": {"decay": 0.7, "m": 1.3, "search": Search(acceleration=None)},
    "euclidean": {"kernel": "linear"},
    "euclidean, hard": {"kernel": "linear", "rule": "hard", "warm_up": 0},
}


def chunks(
    x: np.ndarray, sizes: tuple[int, ...] = (500, 30, 470, 1000, 700, 300)
) -> list[np.ndarray]:
    return np.split(x, np.cumsum(sizes)[:-1])


def class_for(words: Words) -> type[StreamingFuzzyCMeans]:
    return papers.StreamingKernelFCM if "method" in words else StreamingFuzzyCMeans


def chunk_after_chunk(**words: object) -> Words:
    x = SOME()
    stream, said = class_for(words)(4, random_state=0, **{"kernel": "rbf", **words}), {}
    for number, chunk in enumerate(chunks(x)):
        stream.partial_fit(chunk)
        said[f"chunk {number}"] = fitted(stream)
    return said | {"at last": answers(stream, some(x))}


for name, words in STREAMS.items():
    if words.get("projection") is None:  # those take their time
        add(
            f"stream, {name}",
            class_for(words),
            SOME,
            n_clusters=4,
            chunk_size=700,
            **{"kernel": "rbf", **words},
        )
    case(f"stream, chunk after chunk, {name}")(partial(chunk_after_chunk, **words))
add(
    "stream, weights",
    StreamingFuzzyCMeans,
    SOME,
    n_clusters=4,
    chunk_size=700,
    weight=weights(3000),
)
add(
    "stream, float32",
    StreamingFuzzyCMeans,
    partial(SOME, dtype="float32"),
    n_clusters=4,
    chunk_size=700,
)
add("stream, CSR", StreamingFuzzyCMeans, documents, n_clusters=4, chunk_size=200, m=1.2)
add(
    "stream, large chunks",
    StreamingFuzzyCMeans,
    partial(groups, 84_000, 6),
    n_clusters=4,
    chunk_size=42_000,
    m=1.2,
    max_iter=10,
)


@case("streams that merge")
def _merge() -> Words:
    x, said = SOME(), {}
    for name, words in {
        "own landmarks": {},
        "the same": {"landmarks": groups(30, 4, seed=6)},
        "euclidean": {"kernel": "linear"},
    }.items():
        parts = [
            StreamingFuzzyCMeans(
                4, m=1.3, **{"kernel": "rbf", "gamma": 0.05, **words}, random_state=seed
            ).partial_fit(part)
            for seed, part in enumerate(np.split(x, 2))
        ]
        said[name] = fitted(parts[0].merge(parts[1])) | answers(parts[0], some(x))
    return said


PATCHES: dict[str, Words] = {
    "chain": {},
    "tree": {"merge": "tree"},
    "hard, medoids": {"rule": "hard", "n_points": 1, "kernel": "laplacian"},
    "tree, hard": {"merge": "tree", "rule": "hard", "n_points": 4},
    "weights": {"weight": weights(3000), "m": 1.3},
}
for name, words in PATCHES.items():
    add(f"patches, {name}", KernelPatchClustering, SOME, n_clusters=4, patch_size=600, **words)


@case("patches, one after the other")
def _patches() -> Words:
    x = SOME()
    model, said = KernelPatchClustering(4, m=1.3, random_state=0), {}
    for number, patch in enumerate(chunks(x)):
        said[f"patch {number}"] = fitted(model.partial_fit(patch))
    return said | {"at last": answers(model, some(x))}
