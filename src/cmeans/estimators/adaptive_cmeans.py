"""Adaptive possibilistic c-means, sparse or not: it starts from too many clusters and keeps those that rows support."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..adaptation import MERGED, Adaptation, halfway_scales, merged, pilot_deviations
from ..centres import Centres
from ..checkpoints import Checkpoint
from ..complaints import warn
from ..growth import diametral_rows
from ..kernels import Kernel, Linear
from ..rules import Fuzzy, Hard, Rule, SparsePossibilistic
from ..runs import Best, best_of, possibilistic_scales
from ..solver import Stopping, fold
from ..sweep import State
from .adaptive_base import BaseAdaptive, Scene
from .fuzzy_cmeans import settled_m
from .inputs import one_of, real
from .starts import Ground, starts

WIDER = math.sqrt(2.0)  # clusters that are not there by accident stay when their scales widen by that
PILOT_SWEEPS = 30  # it need not end: it gives a start and scales, no result
SHARE = 0.9  # K of the automatic sparsity


class AdaptivePossibilisticCMeans(BaseAdaptive):
    """Adaptive possibilistic c-means (APCM), sparse (SAPCM): the number of clusters is a result. Minimises, with scales that follow
    the clusters,

        sum_ij w_i [ u_ij |phi(x_i) - v_j|^2 + eta_j (u_ij ln u_ij - u_ij + 1) + lambda u_ij^p ].

    Use it when you do not know how many clusters there are, when they differ in spread, or when there is noise. It starts from
    `max_clusters`, more than there are; each cluster adapts its scale eta_j to the rows it owns (those whose typicality it has
    most of), clusters that own nothing go, and those that meet become one. Sparsity lets a row belong nowhere at all: rows
    beyond every cluster's radius are labelled -1. Beyond 20,000 rows clusters are looked for on a fair sample of so many, and then
    settled on all rows.

    Parameters
    ----------
    max_clusters : int, default=20
        Clusters to start from, more than there are. With alpha=1 about twice as many is best. Small inputs start with their rows.
    sparsity : "auto" or float >= 0, default="auto"
        lambda. "auto" takes K min_j eta_j / (p (1-p) e^(2-p)) anew in every sweep, so that nothing depends on units; K = 0.9, and 0.2
        for adaptation="squared". 0 is APCM: every row belongs somewhere.
    p : float in (0, 1), default=0.5
        Power of the sparsity term.
    sparsity_test : "global" or "local", default="global"
        Whether a typicality must beat 0 (it minimises the objective), or be a local minimum only, as printed in 2014.
    adaptation : "journal", "conference", "squared" or None, default="journal"
        What eta_j becomes, in terms of the mean deviation s_j of a cluster's own rows from their mean. "journal" (Xenaki et al.
        2016): s_j min_k s_k(start) / alpha, free of units. "conference" (2013/14): s_j itself, which stands for a squared length
        and so needs features in [0, 10] (kernels other than linear: a tenth of the rows' diameter times s_j). "squared": the
        mean squared deviation. None: eta_j stays (with sparsity=0 this is the possibilistic c-means of Krishnapuram & Keller
        1996, PCM-96).
    alpha : "auto" or float > 0, default=1.0
        Of the journal form: larger means narrower clusters, and fewer that become one. "auto" begins with 1 and lowers it by sqrt(2)
        until that changes the number of clusters no more, which then depends little on `max_clusters` (at some times the cost).
    beta : float in (0, 1), default=0.1
        Of the other adaptive forms, which start with eta_j such that u = beta halfway to the nearest other centre.
    pilot_m : "auto" or float > 1, default=2.0
        Fuzzifier of the fuzzy run that gives start and scales for "journal" and None. It makes 30 sweeps at most.
    scaling : "range" or None, default="range"
        Whether each feature is brought to a range of 10 inside the fit (not for precomputed kernels). `predict` takes, and
        `cluster_centers_` has, the units of X; eta_, the objective and the distances of `transform` are in those of the scaled rows.
    kernel, gamma, ..., init, n_init, max_iter, tol, ..., verbose
        As for `KernelKMeans`, except that the default is kernel="linear": plain features. gamma="auto" is settled for
        `max_clusters` clusters. init may be "max-min" (farthest rows first), the papers' own. n_init counts fuzzy runs, the best of
        which is built on.

    Attributes
    ----------
    n_clusters_ : clusters found.
    memberships_ : (n, n_clusters_) typicalities in [0, 1]; rows need not sum to one and may be zero throughout.
    labels_ : (n,) the largest typicality; -1 where all are zero.
    eta_ : (n_clusters_,) scales, in squared units of the space.
    pilot_m_ : the pilot's fuzzifier.
    objective_history_ : does not fall monotonically, since the scales change.
    All others are those of `KernelKMeans`.

    Raises
    ------
    ValueError
        For bad words, rows or weights, and for a sparsity so large that no cluster wants any row, naming the largest possible.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN 2014, eq. 1-9 (conference form).
    Xenaki, Koutroumbas, Rontogiannis: A novel adaptive possibilistic clustering algorithm. IEEE Trans. Fuzzy Systems 24(4), 2016,
    and Sparsity-aware possibilistic clustering algorithms, ibid. 24(6), 2016 (journal form).
    Krishnapuram, Keller: The possibilistic c-means algorithm: insights and recommendations. IEEE Trans. Fuzzy Systems 4(3), 1996.

    Examples
    --------
    >>> from cmeans import AdaptivePossibilisticCMeans
    >>> from cmeans.datasets import make_s_set
    >>> X, y = make_s_set(n_clusters=7, n_samples=2000, noise=0.05, random_state=3)
    >>> model = AdaptivePossibilisticCMeans(max_clusters=14, random_state=0).fit(X)
    >>> model.n_clusters_
    7
    >>> bool((model.labels_[y == -1] == -1).mean() > 0.5)
    True
    """

    def __init__(
        self,
        max_clusters: int = 20,
        *,
        sparsity: str | float = "auto",
        p: float = 0.5,
        sparsity_test: str = "global",
        adaptation: str | None = "journal",
        alpha: str | float = 1.0,
        beta: float = 0.1,
        pilot_m: str | float = 2.0,
        scaling: str | None = "range",
        kernel: str | Kernel | Callable[..., Any] = "linear",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        landmarks: Any = "rpcholesky",
        landmark_tol: float = 0.02,
        landmark_solver: str = "eigh",
        init: Any = "k-means++",
        n_init: int = 1,
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
        self.alpha = alpha
        self.beta = beta
        self.pilot_m = pilot_m
        self.scaling = scaling
        self.init = init
        self.n_init = n_init

    @property
    def _automatic_share(self) -> float:
        return SHARE

    def _search(self, scene: Scene) -> tuple[Best, SparsePossibilistic]:
        owner = type(self).__name__
        alpha = 1.0 if self.alpha == "auto" else real(self.alpha, "alpha", owner, above=True, words='"auto" or ')
        beta = real(self.beta, "beta", owner)
        if not 0 < beta < 1:
            raise ValueError(f"{owner}(beta={self.beta!r}): beta must lie between 0 and 1, both left out.")
        piloted = self.adaptation is None or one_of(self.adaptation, "adaptation", owner, ("journal", "conference", "squared")) == "journal"
        if piloted:
            state, step, visits = self._after_pilot(scene, alpha)
        else:
            scene, state, step, visits = self._from_halfway(scene, beta)
        solution = scene.solve(state, step, scene.part)
        found = Best(solution, None, visits + solution.row_visits)
        if self.alpha == "auto" and self.adaptation == "journal":
            found, step = self._widened(scene, found, step)
        return scene.settled(found, step), scene.rule

    def _widened(self, scene: Scene, found: Best, step: Adaptation) -> tuple[Best, Adaptation]:
        """Scales widened as long as that makes clusters become one: what is left is no matter of how many there were at first."""
        while len(found.solution.state.centres) > 1 and not found.solution.ended:
            state, wider = found.solution.state, replace(step, length=WIDER * step.length)
            assert state.scales is not None
            solution = scene.solve(State(state.centres, WIDER * state.scales), wider, scene.part)
            visits = found.row_visits + solution.row_visits
            if len(solution.state.centres) == len(state.centres):
                return replace(found, row_visits=visits), step
            found, step = Best(solution, None, visits), wider
        return found, step

    def _after_pilot(self, scene: Scene, alpha: float) -> tuple[State, Adaptation, int]:
        """The start that a fuzzy run gives: its centres, those that coincide counted once, and its clusters' mean deviations."""
        owner, run, engine = type(self).__name__, scene.run, scene.engine
        self.pilot_m_ = settled_m(self.pilot_m, "pilot_m", owner, scene.geometry)
        rule, part = Fuzzy(self.pilot_m_), scene.part
        stopping = Stopping(min(PILOT_SWEEPS, run.stopping.max_iter), run.stopping.tol)
        pilot = best_of(self._starts(scene, rule), run.n_init, part, rule, engine, stopping, stage="pilot")
        fuzzy = pilot.solution.state
        deviation, narrowest = pilot_deviations(part, rule, fuzzy, engine)
        if self.adaptation is None:
            sums = fold(part, rule, fuzzy, engine)
            state, step = State(fuzzy.centres, possibilistic_scales(sums.spread, sums.mass, 1.0)), Adaptation(None)
        else:
            state, step = State(fuzzy.centres, deviation * narrowest / alpha), Adaptation(1, narrowest / alpha)
        state = merged(state, MERGED * narrowest**2)
        if len(state.centres) == 1 < len(fuzzy.centres):
            warn(
                f"{owner}: the {len(fuzzy.centres)} centres of the fuzzy run that goes first have fallen together: with pilot_m="
                f'{self.pilot_m_:g} it is too fuzzy for these rows. Take pilot_m="auto".'
            )
        return state, step, pilot.row_visits + part.n_rows

    def _from_halfway(self, scene: Scene, beta: float) -> tuple[Scene, State, Adaptation, int]:
        """The papers' start: scales by the distances of the first centres from each other."""
        table, engine, visits = scene.part, scene.engine, 0
        start = merged(State(next(iter(self._starts(scene, scene.rule)))), 0.0)
        scales = halfway_scales(start.centres, beta)
        if len(scales) == 1:  # no other centre: the rows' own distances take its place
            sums = fold(table, Hard(), start, engine)
            visits += table.n_rows
            scales = possibilistic_scales(sums.spread, sums.mass, 1.0)
        state = State(start.centres, scales)
        if self.adaptation == "squared":
            return scene, state, Adaptation(2), visits
        diameter = 0.0
        if not isinstance(scene.geometry.kernel, Linear):
            far, squared = diametral_rows(table, Hard(), engine)
            diameter, visits = math.sqrt(squared), visits + far.passes * table.n_rows
        scene, step = scene.in_conference_form(diameter)
        return scene, state, step, visits

    def _starts(self, scene: Scene, rule: Rule) -> Iterator[Centres]:
        owner, run = type(self).__name__, scene.run
        return starts(
            self.init, run.n_init, Ground(owner, run.n_clusters, scene.geometry, scene.table, rule, scene.engine, at_most=True), run.rng
        )
