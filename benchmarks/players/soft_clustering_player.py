"""soft-clustering: fuzzy c-means. It takes no start, so its seeding is replaced. It computes
distances twice a sweep."""

from __future__ import annotations

import sys

from soft_clustering import FCM

from .job import Job, Played


def fuzzy(job: Job) -> Played:
    """From given centres."""
    rows, start = job.rows, job.centres
    sys.modules[FCM.__module__]._init_centers_kpp = lambda *_: start.copy()
    model = FCM(m=job.m, max_iter=job.sweeps, tol=0.0, random_state=0)
    return lambda: model.fit_predict(rows, job.clusters), lambda u: {
        "centres": model.centers_,
        "labels": u.argmax(axis=1),
    }
