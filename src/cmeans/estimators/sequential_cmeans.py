"""Sequential sparse adaptive possibilistic c-means: clusters are added one after the other until no further one is found."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

from ..adaptation import Adaptation
from ..chance import population, sample
from ..checkpoints import Checkpoint
from ..growth import Growth, diametral_rows, grow
from ..kernels import Kernel
from ..rules import Hard, SparsePossibilistic
from ..runs import Best
from ..spacing import SPACED_ROWS, Spacing
from .adaptive_base import BaseAdaptive, Scene
from .inputs import integer, one_of, real

SHARE = 0.4  # K of the automatic sparsity


class SequentialPossibilisticCMeans(BaseAdaptive):
    """Sequential sparse adaptive possibilistic c-means (SeqSAPCM): clusters are added until no further one is found.

    It starts from two rows far apart. The row farthest from all centres seeds the next cluster, and sparse adaptive possibilistic
    c-means (`AdaptivePossibilisticCMeans`, whose objective this is) settles all of them; if there are more clusters than before,
    they are kept, else the seed is given up. There is no number of clusters to give, not even too large a one.

    Parameters
    ----------
    max_clusters : int, default=100
        Growth ends there, whatever is left.
    sparsity : "auto" or float >= 0, default="auto"
        lambda. "auto" takes K min_j eta_j / (p (1-p) e^(2-p)) anew in every sweep; K = 0.4, and 0.2
        for adaptation="squared". In the conference form lambda is smaller where it takes that for every cluster to reach sqrt(3) times its
        deviation, as it does with many features.
    p, sparsity_test : default=0.5, "global"
        As for `AdaptivePossibilisticCMeans`.
    adaptation : "conference" or "squared", default="conference"
        What eta_j becomes: the mean deviation of a cluster's own rows from their mean, which stands for a squared length and so needs
        features in [0, 10] (kernels other than linear: times a tenth of the rows' diameter); or the mean squared deviation.
    scaling : "range" or None, default="range"
        Whether each feature is brought to a range of 10 inside the fit; see `AdaptivePossibilisticCMeans`.
    n_neighbors : int >= 2, default=10
        A cluster that starts at a row has the scale max(d_max, d_slope)^2: d_max is the largest distance between nearest neighbours,
        d_slope, of the row's distances to that many neighbours, the one behind the largest step. Among 5,000 rows at most.
    n_new : int, default=1
        Seeds added at a time. More is faster where there are many clusters.
    seed_quantile : float in (0, 1], default=1.0
        Rows whose distance to the nearest centre is beyond this quantile are no seeds: farthest rows are outliers by nature.
    patience : int, default=5
        Trials in a row without a further cluster before it ends. The paper's algorithm is patience=1.
    kernel, gamma, ..., max_iter, tol, ..., verbose
        As for `KernelKMeans`, except that the default is kernel="linear": plain features. gamma="auto" is settled for
        `max_clusters` clusters, so say how many are expected. max_iter bounds each trial's sweeps. Nothing is drawn but landmarks
        and, beyond 20,000 rows, the sample that clusters are looked for on; they are settled on all rows.

    Attributes
    ----------
    n_clusters_ : clusters found.
    memberships_, labels_, eta_ : as for `AdaptivePossibilisticCMeans`.
    n_iter_, objective_history_ : of the last run that found a cluster; row_visits_ counts all.
    All others are those of `KernelKMeans`.

    Raises
    ------
    ValueError
        For bad words, rows or weights, and for a sparsity so large that no cluster wants any row, naming the largest possible.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN 2014, section 3.

    Examples
    --------
    >>> from cmeans import SequentialPossibilisticCMeans
    >>> from cmeans.datasets import make_s_set
    >>> X, y = make_s_set(n_clusters=7, n_samples=2000, random_state=3)
    >>> SequentialPossibilisticCMeans().fit(X).n_clusters_
    7
    """

    init = "max-min"  # no word: it starts from two far rows
    n_init = 1

    def __init__(
        self,
        max_clusters: int = 100,
        *,
        sparsity: str | float = "auto",
        p: float = 0.5,
        sparsity_test: str = "global",
        adaptation: str = "conference",
        scaling: str | None = "range",
        n_neighbors: int = 10,
        n_new: int = 1,
        seed_quantile: float = 1.0,
        patience: int = 5,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        landmarks: Any = "rpcholesky",
        landmark_tol: float = 0.02,
        landmark_solver: str = "eigh",
        max_iter: int = 300,
        tol: float = 1e-4,
        memory_budget: int | float | str | None = None,
        n_jobs: int | None = None,
        engine: Any = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            landmark_tol=landmark_tol,
            landmark_solver=landmark_solver,
            max_iter=max_iter,
            tol=tol,
            memory_budget=memory_budget,
            n_jobs=n_jobs,
            engine=engine,
            checkpoint=checkpoint,
            random_state=random_state,
            verbose=verbose,
        )
        self.max_clusters = max_clusters
        self.sparsity = sparsity
        self.p = p
        self.sparsity_test = sparsity_test
        self.adaptation = adaptation
        self.scaling = scaling
        self.n_neighbors = n_neighbors
        self.n_new = n_new
        self.seed_quantile = seed_quantile
        self.patience = patience

    @property
    def _automatic_share(self) -> float:
        return SHARE

    def _search(self, scene: Scene) -> tuple[Best, SparsePossibilistic]:
        growth = self._checked_growth()
        n_neighbors = integer(self.n_neighbors, "n_neighbors", type(self).__name__, 2)
        form = one_of(self.adaptation, "adaptation", type(self).__name__, ("conference", "squared"))
        part = scene.part
        start, squared = diametral_rows(part, Hard(), scene.engine)
        if growth.max_clusters == 1:
            start = start.first()
        scene, step = (scene, Adaptation(2)) if form == "squared" else scene.in_conference_form(math.sqrt(squared))
        spacing = self._spacing(scene)
        found = grow(
            part,
            lambda state: scene.solve(state, step, part),
            scene.engine,
            growth,
            start,
            lambda row: spacing.scale(row, n_neighbors),
        )
        return scene.settled(found, step), scene.rule

    def _checked_growth(self) -> Growth:
        owner = type(self).__name__
        quantile = real(self.seed_quantile, "seed_quantile", owner, above=True)
        if quantile > 1:
            raise ValueError(f"{owner}(seed_quantile={self.seed_quantile!r}): it must lie above 0 and be at most 1, which leaves out none.")
        return Growth(
            self._clusters_asked(owner),
            integer(self.n_new, "n_new", owner, 1),
            quantile,
            integer(self.patience, "patience", owner, 1),
        )

    def _spacing(self, scene: Scene) -> Spacing:
        blocks = scene.part.blocks
        people = population(blocks, comparable=not scene.geometry.is_precomputed)
        positions, _ = sample(people, SPACED_ROWS, scene.run.rng)
        return Spacing(scene.geometry.kernel, blocks, people.at(positions), scene.geometry.columns_only)
