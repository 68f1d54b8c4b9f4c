"""fuzzy-c-means (fcmeans): fuzzy c-means. It takes no start, so its own is replaced."""

from __future__ import annotations

import numpy as np
from fcmeans import FCM

from .job import Job, Played


class Started(FCM):  # type: ignore[misc]
    """FCM from given memberships."""

    def _init_u(self, X: np.ndarray) -> None:
        self.u = self.given


def fuzzy(job: Job) -> Played:
    """From given memberships; its tolerance cannot be zero, but 1e-9 on the norm of all memberships
    is never met."""
    rows = job.rows
    model = Started(n_clusters=job.clusters, m=job.m, max_iter=job.sweeps, error=1e-9)
    model.given = job.memberships
    return lambda: model.fit(rows), lambda _: {
        "centres": model.centers,
        "labels": model.u.argmax(axis=1),
    }
