"""The three contestants on kernel values at hand, so that seconds of the kernel and of clustering
are told apart as the paper does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from cmeans import KernelKMeans, Search
from cmeans.kernels import Kernel, Precomputed

from ..seconds import timed
from .problem import MOST_SWEEPS, Array, sample, starts

# Published: until no membership changes, on all rows in every sweep.
WORDS: dict[str, Any] = {"kernel": "precomputed", "tol": 0, "search": Search(progressive=False)}


@dataclass(frozen=True)
class Fit:
    labels: Array
    # sum of squared distances of all rows to the centres that the algorithm ends with
    objective: float
    # processor seconds of clustering, the factor of the sample's kernel matrix among them
    seconds: float
    sweeps: int


def approximate(
    columns: Array, sample: Array, diag: Array, start: Array, clusters: int, most: int = MOST_SWEEPS
) -> Fit:
    """Algorithm 2 on K_B = `columns` (n, m)."""
    words = WORDS | {"kernel": Precomputed(diagonal=diag)}
    model = KernelKMeans(clusters, landmarks=sample, init=start, max_iter=most, **words)
    return _fitted(model, columns)


def two_step(
    columns: Array, sample: Array, diag: Array, start: Array, clusters: int, most: int = MOST_SWEEPS
) -> Fit:
    """Algorithm 1: exact kernel k-means on the sample, then every row joins its nearest centre."""
    model = KernelKMeans(clusters, landmarks=None, init=start[sample], max_iter=most, **WORDS)
    labels, seconds = timed(lambda: model.fit(columns[sample]).predict(columns, diag=diag))
    return Fit(labels, -float(model.score(columns, diag=diag)), seconds, int(model.n_iter_))


def full(gram: Array, start: Array, clusters: int) -> Fit:
    """Kernel k-means with all kernel values."""
    words = {"init": start, "max_iter": MOST_SWEEPS, **WORDS}
    return _fitted(KernelKMeans(clusters, landmarks=None, **words), gram)


def _fitted(model: KernelKMeans, values: Array) -> Fit:
    _, seconds = timed(lambda: model.fit(values))
    return Fit(model.labels_, float(model.objective_), seconds, int(model.n_iter_))


def error_of(labels: Array, columns: Array, sample: Array, diag: Array) -> float:
    """L(U, xi) of a hard partition (Lemma 1), negative eigenvalues of the sample's matrix
    clipped."""
    clusters, sizes = np.unique(labels, return_counts=True)
    sums = np.stack(
        [columns[labels == cluster].sum(axis=0, dtype=np.float64) for cluster in clusters]
    )
    values, vectors = scipy.linalg.eigh(columns[sample].astype(np.float64))
    kept = values > 1e-6 * values[-1]
    inner = sums @ vectors[:, kept] / np.sqrt(values[kept])
    return float(diag.sum(dtype=np.float64) - ((inner**2).sum(axis=1) / sizes).sum())


@dataclass(frozen=True)
class Yardstick:
    """The clustering error of any hard partition, tr K - tr U~ K U~^T, the same for all
    contestants.

    Its sums over pairs of a cluster's rows are taken from columns of K: all of them, or those of
    some rows drawn for good, which makes the error an unbiased estimate, and that of two like
    partitions off by much the same.
    """

    columns: Array  # (n, q)
    drawn: Array  # (q,)
    diag: Array  # (n,)

    def error(self, labels: Array) -> float:
        left = float(self.diag.sum(dtype=np.float64))
        for cluster in np.unique(labels):
            inside, own = (
                np.flatnonzero(labels == cluster),
                np.flatnonzero(labels[self.drawn] == cluster),
            )
            n, q, diagonal = len(inside), len(own), float(self.diag[inside].sum(dtype=np.float64))
            left -= diagonal / n
            if q > 0:
                pairs = float(
                    self.columns[np.ix_(inside, own)].sum(dtype=np.float64)
                    - self.diag[self.drawn[own]].sum(dtype=np.float64)
                )
                left -= pairs / q  # n (n - 1) times the mean of q (n - 1) pairs, over n
        return left


def agreement(labels: Array, classes: Array) -> dict[str, float]:
    """NMI as Kvalseth defines it, 2 I / (H1 + H2), and the adjusted Rand index, both against
    classes."""
    return {
        "nmi": float(normalized_mutual_info_score(classes, labels, average_method="arithmetic")),
        "ari_classes": float(adjusted_rand_score(classes, labels)),
    }


def said(
    name: str,
    fit: Fit,
    classes: Array,
    reference: Array | None = None,
    yardstick: Yardstick | None = None,
) -> dict[str, Any]:
    """What is kept of a fit, each number under the contestant's name."""
    found = {
        "objective": fit.objective,
        "seconds": fit.seconds,
        "sweeps": fit.sweeps,
        **agreement(fit.labels, classes),
    }
    if yardstick is not None:
        found["error"] = yardstick.error(fit.labels)
    if reference is not None:
        found["ari"] = float(adjusted_rand_score(reference, fit.labels))
    return {f"{name}_{word}" if name else word: value for word, value in found.items()}


CONTESTANTS = {"approximate": approximate, "two_step": two_step}


@dataclass
class Contest:
    """The three contestants on the same rows: what they share is made when a trial first needs it,
    and goes with the contest.

    rows : gives rows and classes. drawn : rows whose kernel columns the clustering error is taken
        from; None: all of them.
    """

    rows: Callable[[], tuple[Array, Array]]
    kernel: Kernel
    clusters: int
    drawn: Array | None = None
    # all kernel values of rows; None: by the kernel at once
    made: Callable[[Array], Array] | None = None

    @cached_property
    def x(self) -> Array:
        return self.rows()[0]

    @cached_property
    def diag(self) -> Array:
        return self.kernel.diag(self.x)

    @cached_property
    def gram(self) -> tuple[Array, float]:
        """All kernel values, and the seconds that they took."""
        x = self.x
        return timed(lambda: self.kernel(x, x) if self.made is None else self.made(x))

    @cached_property
    def yardstick(self) -> Yardstick:
        if self.drawn is None:
            return Yardstick(self.gram[0], np.arange(len(self.x)), self.diag)
        return Yardstick(self.kernel(self.x, self.x[self.drawn]), self.drawn, self.diag)

    @cached_property
    def _fulls(self) -> dict[int, Fit]:
        return {}

    def full(self, number: int) -> Fit:
        """The full kernel's partition of a trial."""
        if number not in self._fulls:
            self._fulls[number] = full(self.gram[0], self.start(number), self.clusters)
        return self._fulls[number]

    def start(self, number: int) -> Array:
        return starts(number, len(self.x), self.clusters)

    def start_error(self, number: int) -> float:
        """The error of the random memberships themselves: where the error reduction is measured
        from."""
        return self.yardstick.error(self.start(number))

    def full_trial(self, number: int) -> dict[str, Any]:
        return {
            "kernel_seconds": self.gram[1],
            **said("", self.full(number), self.rows()[1], None, self.yardstick),
        }

    def trial(self, m: int, number: int, reference: Array | None) -> dict[str, Any]:
        """One run of approximate and two-step kernel k-means, from the same memberships and on the
        same sample."""
        chosen, start = sample(number, m, len(self.x)), self.start(number)
        columns, seconds = timed(lambda: self.kernel(self.x, self.x[chosen]))
        found: dict[str, Any] = {"kernel_seconds": seconds}
        for name, fit in CONTESTANTS.items():
            found |= said(
                name,
                fit(columns, chosen, self.diag, start, self.clusters),
                self.rows()[1],
                reference,
                self.yardstick,
            )
        return found
