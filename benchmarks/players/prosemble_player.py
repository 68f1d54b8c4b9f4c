"""prosemble: fuzzy c-means by JAX. The first fit compiles; a model object keeps what it compiled,
so one serves all runs."""

from __future__ import annotations

from functools import cache

import jax
import numpy as np
from prosemble.models import FCM

from .job import Job, Played

COMPILES = True


@cache
def model_of(clusters: int, m: float, sweeps: int) -> FCM:
    """One model object for all runs; `epsilon` cannot be zero."""
    return FCM(n_clusters=clusters, fuzzifier=m, max_iter=sweeps, epsilon=1e-30)


def fuzzy(job: Job) -> Played:
    """From given centres."""
    jax.config.update("jax_enable_x64", job.dtype == "float64")
    rows, start = jax.numpy.asarray(job.rows), jax.numpy.asarray(job.centres, dtype=job.dtype)
    model = model_of(job.clusters, job.m, job.sweeps)

    def run() -> FCM:
        model.fit(rows, initial_centroids=start)
        jax.block_until_ready(model.centroids_)
        return model

    return run, lambda fitted: {
        "centres": np.asarray(fitted.centroids_),
        "labels": np.asarray(fitted.U_).argmax(axis=1),
    }
