"""cmeans itself. Equal work means plain sweeps over all rows: no acceleration, no progressive
start, tol=0."""

from __future__ import annotations

from typing import Any

from cmeans import FuzzyCMeans, KernelKMeans, Search
from cmeans.kernels import KERNELS

from .job import Job, Played

# words of an estimator that has them
PLAIN = {"search": Search(acceleration=None, progressive=False)}


def plain(estimator: type, clusters: int, **words: Any) -> Any:
    """An estimator that makes plain sweeps."""
    known = estimator().get_params()
    return estimator(
        clusters, tol=0, **words, **{word: value for word, value in PLAIN.items() if word in known}
    )


def kernel_parameters(job: Job) -> dict[str, Any]:
    """The job's kernel as an object."""
    words = {word: job.words[word] for word in ("gamma", "degree", "coef0") if word in job.words}
    return (
        {"kernel": KERNELS[job.words["kernel"]](**words)}
        if words
        else {"kernel": job.words["kernel"]}
        if "kernel" in job.words
        else {}
    )


def labels_of(model: Any) -> dict[str, Any]:
    return {"labels": model.labels_}


def hard(job: Job) -> Played:
    """Kernel k-means on given landmarks (approximate kernel k-means), from given rows."""
    return _fitted(
        plain(
            KernelKMeans,
            job.clusters,
            landmarks=job.landmarks,
            init=job.start,
            max_iter=job.sweeps,
            **kernel_parameters(job),
        ),
        job,
    )


def fuzzy(job: Job) -> Played:
    """Fuzzy c-means on given landmarks (akFCM), from given rows."""
    model = plain(
        FuzzyCMeans,
        job.clusters,
        m=job.m,
        landmarks=job.landmarks,
        init=job.start,
        max_iter=job.sweeps,
        **kernel_parameters(job),
    )
    return _fitted(model, job)


def defaults(job: Job) -> Played:
    """KernelKMeans as it comes, for a kernel and a number of landmarks."""
    return _fitted(
        KernelKMeans(
            job.clusters, landmarks=job.n_landmarks, random_state=job.seed, **kernel_parameters(job)
        ),
        job,
    )


def linear_defaults(job: Job) -> Played:
    """Plain k-means as it comes."""
    return _fitted(KernelKMeans(job.clusters, kernel="linear", random_state=job.seed), job)


def exact(job: Job) -> Played:
    """Exact kernel k-means from given labels."""
    return _fitted(
        plain(
            KernelKMeans,
            job.clusters,
            landmarks=None,
            init=job.labels,
            max_iter=job.sweeps,
            **kernel_parameters(job),
        ),
        job,
    )


def linear_fuzzy(job: Job) -> Played:
    """Plain fuzzy c-means from given memberships: the first centres are made of these, the last
    pass measures once more."""
    model = plain(
        FuzzyCMeans,
        job.clusters,
        m=job.m,
        kernel="linear",
        init=job.memberships,
        max_iter=job.sweeps - 1,
    )
    return _fitted(model, job, centres=True)


def linear_hard(job: Job) -> Played:
    """Plain k-means from given rows."""
    return _fitted(
        plain(KernelKMeans, job.clusters, kernel="linear", init=job.start, max_iter=job.sweeps),
        job,
        centres=True,
    )


def _fitted(model: Any, job: Job, *, centres: bool = False) -> Played:
    rows = job.rows
    if centres:
        return lambda: model.fit(rows), lambda fitted: {
            "labels": fitted.labels_,
            "centres": fitted.cluster_centers_,
        }
    return lambda: model.fit(rows), labels_of
