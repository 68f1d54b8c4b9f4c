"""Plain k-means with very many clusters of rows of very many columns, as embeddings have them, and
with few clusters of very many rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from .environments import OWN
from .jobs import Check, Contest, Contestant, faiss, ours, sklearn, start_rows

OURS, PRODUCTS, SUPER = "KernelKMeans", "products alone", "superkmeans"
LATENT = 40  # dimensions in which the mixture lies
COMPONENTS = 1000


def mixture(columns: int, noise: float, limit: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a mixture in 40 dimensions rotated into more, plus noise in all of them; and their
    components."""
    rng, n = np.random.default_rng(0), 1_000_000 if limit is None else limit
    means = rng.standard_normal((COMPONENTS, LATENT), dtype=np.float32)
    turned = np.linalg.qr(rng.standard_normal((columns, LATENT)))[0].astype(np.float32)
    y = rng.integers(COMPONENTS, size=n)
    x = (means[y] + 0.5 * rng.standard_normal((n, LATENT), dtype=np.float32)) @ turned.T
    for start in range(0, n, 10_000):
        part = x[start : start + 10_000]
        part += noise * rng.standard_normal(part.shape, dtype=np.float32)
    return x, y


PEERS = (
    Contestant(SUPER, "superkmeans_player", "kmeans", "superkmeans==0.2.0", "numpy 2"),
    faiss("faiss", "kmeans"),
    sklearn("KMeans", "kmeans"),
    sklearn("MiniBatchKMeans", "mini_batches"),
)


def many(name: str, data: str, rows: int, clusters: int, columns: int | None = None) -> Contest:
    """Five sweeps of all contestants; superkmeans draws its own start."""
    title, words = (
        f"Many clusters: {data}, c = {clusters:,}",
        {"clusters": clusters, "sweeps": 5, "dtype": "float32"},
    )
    checks = (
        Check(f"superkmeans over KernelKMeans, {data}, c = {clusters:,}", SUPER, OURS, least=1.2),
        Check(f"faiss over KernelKMeans, {data}, c = {clusters:,}", "faiss", OURS, least=3),
        Check(f"KMeans over KernelKMeans, {data}, c = {clusters:,}", "KMeans", OURS, least=3),
        Check(
            f"objective of KernelKMeans over that of KMeans, {data}, c = {clusters:,}",
            OURS,
            "KMeans",
            most=1.001,
            of="objective",
        ),
    )
    made = None if columns is None else partial(mixture, columns, 0.1)
    return Contest(
        name,
        11,
        title,
        data,
        words,
        start_rows,
        "hard",
        (ours(OURS, "linear_hard"), *PEERS),
        checks,
        rows=rows,
        made=made,
    )


RATE = Contest(
    "many-rate",
    11,
    "Many clusters: 25 sweeps beside 25 products of all rows and centres",
    "mixture of 768 columns",
    {"clusters": 1000, "sweeps": 25, "dtype": "float32"},
    start_rows,
    "hard",
    (ours(OURS, "linear_hard"), Contestant(PRODUCTS, "numpy_player", "products", None, OWN)),
    (Check("25 products of the machine's BLAS over 25 sweeps", PRODUCTS, OURS, least=2),),
    rows=200_000,
    made=partial(mixture, 768, 0.1),
)

FEW = Contest(
    "few-clusters",
    11,
    "Few clusters of very many rows",
    "mixture of 128 columns",
    {"clusters": 10, "sweeps": 25, "dtype": "float32"},
    start_rows,
    "hard",
    (ours(OURS, "linear_hard"), *PEERS),
    tuple(
        Check(f"{peer} over KernelKMeans, 1,000,000 x 128, c = 10", peer, OURS, least=1)
        for peer in (SUPER, "faiss", "KMeans")
    ),
    made=partial(mixture, 128, 0.1),
)

CONTESTS = (
    many("many-mixture", "mixture of 768 columns", 200_000, 1000, 768),
    many("many-mnist", "mnist", 70_000, 1000),
    many("many-mixture-10000", "mixture of 768 columns", 100_000, 10_000, 768),
    RATE,
    FEW,
)
