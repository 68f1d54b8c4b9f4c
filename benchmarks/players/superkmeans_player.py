"""SuperKMeans: k-means on a rotation of the rows, whose first columns leave most products out by a
test. float32 only."""

from __future__ import annotations

import os

import numpy as np
from superkmeans import SuperKMeans

from .job import Job, Played


def kmeans(job: Job) -> Played:
    """k-means on all rows, by one level and without an early end, from rows that it draws itself;
    labels come from one more pass."""
    rows = np.asarray(job.rows, dtype=np.float32)
    words = {
        "hierarchical": False,
        "iters": job.sweeps,
        "sampling_fraction": 1.0,
        "max_points_per_cluster": len(rows),
        "seed": 0,
    }

    def run() -> tuple[np.ndarray, np.ndarray]:
        model = SuperKMeans(
            job.clusters,
            rows.shape[1],
            n_threads=int(os.environ["OMP_NUM_THREADS"]),
            early_termination=False,
            tol=0.0,
            **words,
        )
        centres = model.train(rows)
        return model.assign_training_points(rows, centres).astype(np.int64), centres

    return run, lambda result: {"labels": result[0], "centres": result[1]}
