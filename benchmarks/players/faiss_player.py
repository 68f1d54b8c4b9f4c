"""faiss: its k-means, on scikit-learn's Nystroem features or on the rows themselves. float32
only."""

from __future__ import annotations

import faiss
import numpy as np

from .job import Job, Played
from .scikit_learn import features


def kmeans(job: Job) -> Played:
    """k-means from given rows; labels come from one more search."""
    rows, start = np.asarray(job.rows, dtype=np.float32), job.start
    return lambda: trained(rows, start, job.sweeps), lambda result: {
        "labels": result[0],
        "centres": result[1],
    }


def nystroem_kmeans(job: Job) -> Played:
    """The same on Nystroem's features."""
    rows, start = np.asarray(job.rows, dtype=np.float32), job.start

    def run() -> tuple[np.ndarray, np.ndarray]:
        z = np.ascontiguousarray(features(job, 0).fit_transform(rows), dtype=np.float32)
        return trained(z, start, job.sweeps)

    return run, lambda result: {"labels": result[0]}


def trained(z: np.ndarray, start: np.ndarray, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and centres; without the last two words faiss would train on 256 rows a cluster."""
    words = {
        "niter": sweeps,
        "nredo": 1,
        "seed": 0,
        "min_points_per_centroid": 1,
        "max_points_per_centroid": len(z),
    }
    model = faiss.Kmeans(z.shape[1], len(start), **words)
    model.train(z, init_centroids=z[start])
    return model.index.search(z, 1)[1][:, 0], model.centroids
