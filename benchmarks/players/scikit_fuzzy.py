"""scikit-fuzzy: fuzzy c-means. It wants columns of rows."""

from __future__ import annotations

import numpy as np
import skfuzzy

from .job import Job, Played


def fuzzy(job: Job) -> Played:
    """From given memberships; error=0 never stops."""
    columns, start = np.ascontiguousarray(job.rows.T), np.ascontiguousarray(job.memberships.T)

    def run() -> tuple[np.ndarray, np.ndarray]:
        centres, memberships, *_ = skfuzzy.cmeans(
            columns, job.clusters, job.m, error=0.0, maxiter=job.sweeps, init=start
        )
        return centres, memberships

    return run, lambda result: {"centres": result[0], "labels": result[1].argmax(axis=0)}
