"""scikit-fuzzy-c-means (fuzzy_cmeans): fuzzy c-means. It takes no start, so its own is replaced;
what it draws beside that is kept."""

from __future__ import annotations

import numpy as np
from fuzzy_cmeans import FuzzyCMeans

from .job import Job, Played


class Started(FuzzyCMeans):  # type: ignore[misc]
    """FuzzyCMeans from given memberships, without the seeding that it does not use."""

    given: np.ndarray | None

    def _kmeans_plusplus_init(self, X: np.ndarray) -> None:
        return None

    def _compute_centers(self, X: np.ndarray) -> np.ndarray:
        if self.given is not None:
            self.U_, self.given = self.given, None
        return super()._compute_centers(X)


def fuzzy(job: Job) -> Played:
    """From given memberships; its tolerance cannot be zero."""
    rows = job.rows
    model = Started(
        n_clusters=job.clusters, m=job.m, max_iter=job.sweeps, tol=1e-300, random_state=0
    )
    model.given = job.memberships
    return lambda: model.fit(rows), lambda _: {
        "centres": model.cluster_centers_,
        "labels": model.U_.argmax(axis=1),
    }
