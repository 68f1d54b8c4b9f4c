"""The spaces in which clusters are sought by evidence: for each its estimator, its partitions of a
sample into any number of clusters, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray
from ..evidence.kind import MANY, TABLE
from ..runtime.checks import is_auto, one_of
from .connectivity_clustering import ConnectivityClustering
from .consensus_clustering import ConsensusClustering
from .gaussian_mixture import GaussianMixture
from .kernel_kmeans import KernelKMeans
from .landmark_graph import LandmarkGraph
from .modularity_clustering import ModularityClustering

CRUMB = 0.01  # of all rows, and at least so many rows, are a piece among stray rows
FEWEST = 5
# Row visits a row of the sample, measured as times of sweeps of k-means over a row (.1 us) and kept
# here as numbers, so that no clock decides what is done: once for a space, for each partition, and
# for each of its clusters.
COSTS = {
    "pieces": (130.0, 1.0, 0.0),
    "dense pieces": (130.0, 1.0, 0.0),
    "plain": (0.0, 50.0, 5.0),
    "graph": (600.0, 50.0, 10.0),
    "covariances": (0.0, 100.0, 350.0),
    "communities": (200.0, 800.0, 0.0),
    "consensus": (0.0, 800.0, 2800.0),
}
SPACES = tuple(name for name in COSTS if name != "dense pieces")  # that users may name
# by what rows are, the spaces that are candidates
CANDIDATES = {
    TABLE: ("pieces", "plain", "graph", "covariances", "consensus"),
    MANY: ("pieces", "plain", "graph", "communities"),
}
ON_A_PLANE = ("pieces", "plain", "graph", "covariances")
# which would find the values themselves in columns of few
BY_NEAREST_ROWS = ("pieces", "graph")
TAKE_HOLES = ("plain", "covariances", "consensus")


class OutOfTimeError(Exception):
    """No time is left for a partition."""


# of partitions that only vote: few sweeps and no search, as those that differ tell more
OF_VOTES = {
    **COSTS,
    "plain": (0.0, 15.0, 2.0),
    "graph": (600.0, 30.0, 4.0),
    "covariances": (0.0, 100.0, 20.0),
}
MAKES: dict[str, Callable[..., Any]] = {
    "plain": partial(KernelKMeans, kernel="linear"),
    "graph": partial(KernelKMeans, kernel="landmark_graph"),
    "covariances": GaussianMixture,
    "pieces": ConnectivityClustering,
    "dense pieces": partial(ConnectivityClustering, min_samples=FEWEST),
    "communities": ModularityClustering,
    "consensus": ConsensusClustering,
}
QUICK: dict[str, dict[str, Any]] = {
    "plain": {"search": None, "n_init": 2},
    "covariances": {"search": None, "tol": 1e-2},
}


def check_candidates(candidates: Any, name: str) -> None:
    """Refuse candidates that are no spaces."""
    if is_auto(candidates):
        return
    if isinstance(candidates, str):
        raise ValueError(f"{name}(candidates={candidates!r}): give a list: [{candidates!r}].")
    if not isinstance(candidates, Iterable):
        raise ValueError(f'{name}(candidates={candidates!r}): "auto", or a list of names.')
    for space in candidates:
        one_of(str(space).removeprefix("not "), "candidates", name, SPACES)


def spaces_that_may_win(
    candidates: Any, kind: str, stepped: bool, holes: bool, name: str
) -> tuple[str, ...]:
    """Return the spaces that `candidates` leave for rows of a kind; `stepped`: columns have few
    values; `holes`: some are missing."""
    left = CANDIDATES.get(kind, ON_A_PLANE)
    if not is_auto(candidates):
        given = [str(space) for space in candidates]
        out = {space.removeprefix("not ") for space in given if space.startswith("not ")}
        taken = tuple(space for space in given if not space.startswith("not "))
        left = tuple(space for space in taken or left if space not in out)
        if not left:
            raise ValueError(f"{name}(candidates={candidates!r}): none is left; name one.")
    if stepped:
        left = tuple(space for space in left if space not in BY_NEAREST_ROWS) or left
    return _those_that_take_holes(left, name) if holes else left


def _those_that_take_holes(spaces: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the spaces whose estimators take missing values."""
    found = tuple(space for space in spaces if space in TAKE_HOLES)
    if not found:
        raise ValueError(
            f'{name}(missing="partial", candidates={list(spaces)}): of spaces {list(TAKE_HOLES)} '
            "alone take missing values; name one of these, or impute X first."
        )
    return found


@dataclass(frozen=True)
class SpaceWords:
    """Words that estimators of all spaces take."""

    n_jobs: int | None
    random_state: int
    least_piece: Any = "auto"  # weight of connected pieces, at least
    quick: bool = False  # whether partitions only vote

    def estimator(self, space: str, number: Any, rows: int) -> Any:
        """Return the estimator, not fitted, of so many clusters of so many rows in a space."""
        words: dict[str, Any] = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        if space == "communities":  # in which nothing is drawn
            del words["random_state"]
        elif space == "pieces":
            words["min_cluster_size"] = self.least_piece
        elif space == "dense pieces":
            words["min_cluster_size"] = max(float(FEWEST), CRUMB * rows)
        return MAKES[space](number, **words, **(QUICK.get(space, {}) if self.quick else {}))


@dataclass
class SamplePartitions:
    """Partitions of a sample, in each space and for each number made when asked for."""

    x: Float64  # (n, d)
    weights: Float64
    words: SpaceWords
    most: int  # clusters
    deadline: float = np.inf  # of the clock, after which none is made
    ended: Callable[[], None] = lambda: None  # called after each that is made
    whole: Callable[[str, int], IntArray] | None = None  # the same of a fit that is kept
    known: dict[tuple[str, int], IntArray | None] = field(default_factory=dict)
    _trees: dict[str, Any] = field(default_factory=dict)
    _features: list[Float64] = field(default_factory=list)  # of the graph, once it is made

    def __call__(self, space: str, number: int) -> IntArray | None:
        """Return labels (n,), or None where the space has no such partition."""
        key = space, number
        if key not in self.known:
            if time.monotonic() > self.deadline:
                raise OutOfTimeError
            try:
                self.known[key] = self._made(space, number)
            except ValueError:  # of too few rows for so many clusters, which another space may have
                self.known[key] = None
            self.ended()
        return self.known[key]

    def tree(self, space: str) -> Any:
        """Return the pieces of the sample, which know the partitions into all numbers."""
        if space not in self._trees:
            self._trees[space] = self._fitted(space, 1)
        return self._trees[space]

    def communities(self) -> Any:
        """Return the communities of the sample, whose number comes out."""
        return self._fitted("communities", "auto")

    def that_vote(self) -> SamplePartitions:
        """Return partitions of the same rows, trees and graph that are made with less care."""
        words = replace(self.words, quick=True)
        return replace(self, words=words, known={}, whole=None, _trees=dict(self._trees))

    def without_crumbs(self, least: float) -> None:
        """Make the tree anew, of pieces that weigh so much."""
        self.words = replace(self.words, least_piece=least)
        self._trees.pop("pieces", None)

    def _made(self, space: str, number: int) -> IntArray | None:
        if space in ("pieces", "dense pieces"):
            found = self.tree(space).partition(number)
            return np.asarray(found)
        if space == "graph":
            return self._cut(number)
        if self.whole is not None:
            return self.whole(space, number)
        return np.asarray(self._fitted(space, number).labels_)

    def _fitted(self, space: str, number: Any) -> Any:
        weight = float(self.weights.sum())
        estimator = self.words.estimator(space, number, int(weight))
        return estimator.fit(self.x, sample_weight=self.weights)

    def _cut(self, number: int) -> IntArray | None:
        """Return the cut of the landmark graph, whose eigenvectors serve all numbers."""
        if not self._features:
            graph = LandmarkGraph(
                min(self.most, len(self.x) // 4),
                n_jobs=self.words.n_jobs,
                random_state=self.words.random_state,
            )
            made = graph.fit_transform(self.x, sample_weight=self.weights)
            self._features.append(np.asarray(made))
        (features,) = self._features
        if number > features.shape[1]:
            return None
        leading = np.ascontiguousarray(features[:, :number])
        found = self.words.estimator("plain", number, 0).fit(leading, sample_weight=self.weights)
        return np.asarray(found.labels_)


def cost(space: str, numbers: Collection[int], rows: int, *, quick: bool = False) -> float:
    """Return the row visits of partitions of so many rows into some numbers of clusters."""
    once, fixed, each = (OF_VOTES if quick else COSTS)[space]
    return (once + fixed * len(numbers) + each * sum(numbers)) * rows
