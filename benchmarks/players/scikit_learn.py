"""scikit-learn: Nystroem followed by KMeans, and KMeans alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from .job import Job, Played


def features(job: Job, seed: int) -> Nystroem:
    """Nystroem for the job's kernel."""
    words = {
        word: job.words[word]
        for word in ("kernel", "gamma", "degree", "coef0")
        if word in job.words
    }
    return Nystroem(n_components=job.n_landmarks, random_state=seed, **words)


def nystroem_kmeans(job: Job) -> Played:
    """Both, on the landmarks and from the rows given; Nystroem draws these landmarks itself from
    random_state 0."""
    rows, start, landmarks = job.rows, job.start, job.landmarks

    def run() -> tuple[np.ndarray, np.ndarray]:
        nystroem = features(job, 0)
        z = nystroem.fit_transform(rows)
        labels = (
            KMeans(job.clusters, init=z[start], n_init=1, max_iter=job.sweeps, tol=0).fit(z).labels_
        )
        return labels, nystroem.component_indices_

    def answer(result: Any) -> dict[str, np.ndarray]:
        labels, drawn = result
        if not (drawn == landmarks).all():
            raise ValueError("Nystroem drew other landmarks than those given to all")
        return {"labels": labels}

    return run, answer


def defaults(job: Job) -> Played:
    """The pipeline as it comes, for a kernel and a number of landmarks."""
    rows = job.rows
    pipeline = make_pipeline(features(job, job.seed), KMeans(job.clusters, random_state=job.seed))
    return lambda: pipeline.fit(rows)[-1].labels_, lambda labels: {"labels": labels}


def kmeans(job: Job) -> Played:
    """KMeans from given rows."""
    rows = job.rows
    model = KMeans(job.clusters, init=rows[job.start], n_init=1, max_iter=job.sweeps, tol=0)
    return lambda: model.fit(rows), lambda fitted: {
        "labels": fitted.labels_,
        "centres": fitted.cluster_centers_,
    }


def mini_batches(job: Job) -> Played:
    """MiniBatchKMeans from given rows, as many epochs as the others make sweeps."""
    rows = job.rows
    model = MiniBatchKMeans(
        job.clusters, init=rows[job.start], n_init=1, max_iter=job.sweeps, tol=0, random_state=0
    )
    return lambda: model.fit(rows), lambda fitted: {
        "labels": fitted.labels_,
        "centres": fitted.cluster_centers_,
    }


def kmeans_defaults(job: Job) -> Played:
    """KMeans as it comes."""
    rows = job.rows
    model = KMeans(job.clusters, random_state=job.seed)
    return lambda: model.fit(rows), lambda fitted: {"labels": fitted.labels_}
