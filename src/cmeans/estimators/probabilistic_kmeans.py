"""Probabilistic kernel k-means: the k-means objective over distributions, by projected gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array, Partition, itemsize, numpy_dtype, to_numpy
from ..assignment import assign_all
from ..blocks import Blocks, spans
from ..callbacks import SweepHook
from ..engines import Engine
from ..kernels import Kernel
from ..probabilistic import Found, Heard, Search, Terrain
from ..progress import Place, Progress, anybody_listens, tell
from ..rules import Hard, Rule
from ..runs import Best, Result, concluded
from ..scratch import room
from ..solver import AfterSweep, Solution, centres_of
from ..sweep import State
from ..table import Table
from .base import BaseCMeans, Run
from .geometry import Geometry, build_geometry
from .inputs import Input, foreign_like, integer, one_of, real
from .results import certified
from .starts import Ground, given_partition, starts

FILLED_TOGETHER = 65_536  # rows of a start that are made together
FAGP_STEPS = 3000  # n (c - 1), up to which "auto" follows the paper's algorithm step by step
NO_LIMIT = 10**9


class ProbabilisticKMeans(BaseCMeans):
    """Probabilistic kernel k-means (KPKM): minimise over distributions p_l of each row over the clusters

        f(P) = sum_lk w_l p_lk |phi(x_l) - v_k|^2,     v_k = sum_l w_l p_lk phi(x_l) / sum_l w_l p_lk.

    Use it for hard clusters where k-means ends in poor minima: rows start undecided, and the most decided ones are settled first,
    which finds well parted clusters from random starts. Where clusters run into each other a few starts of `KernelKMeans` do as well.
    f is concave for positive definite kernels, so distributions are soft along the way only: the solution is a partition, from which
    (after polishing) no single move of a row leads down. There are no soft memberships to be had; for those take `FuzzyCMeans`.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters sought.
    solver : "auto", "fagp", "agp", "batched" or "lloyd", default="auto"
        "fagp": along the projected gradient as far as all distributions allow, one constraint at a time (the paper's algorithm, in
        closed form; about n (c - 1) steps, in memory). "agp": the same with steps of at most `step` (the paper's slow baseline).
        "batched": in each sweep the `quantile` of the rows that reach a constraint first fix it (about 100 sweeps, any size).
        "lloyd": from the centres of the start as k-means does. "auto": "fagp" up to n (c - 1) = 3,000, some seconds, "batched" above.
    step : float > 0, default=1e-2
        Of "agp".
    quantile : float in [0, 1], default=0.1
        Of "batched": 0 is "fagp", 1 makes every row fix one cluster a sweep. Larger is faster and ends in worse minima.
    polish : "hartigan" or None, default="hartigan"
        Whether single rows are moved at the end as long as that lowers the objective.
    init : "dirichlet", default, or what `KernelKMeans` takes
        "dirichlet": every row a random distribution. Memberships (n, c) are taken as they are, all others as the partition they make.
    n_init : int, default=1
        Starts; the lowest objective wins.
    max_iter : int or None, default=None
        Steps or sweeps at most; None: as many as it takes. Cut short, `memberships_` are soft and `converged_` is False.
    kernel, gamma, ..., tol, ..., verbose
        As for `KernelKMeans`. kernel="linear" is probabilistic k-means.

    Attributes
    ----------
    memberships_ : (n, c) the final P: one-hot, unless cut short.
    labels_ : (n,) the nearest centre.
    objective_history_ : the objective at the start, after each step or sweep, and at the end; falls for positive definite kernels.
    solver_ : the solver used.
    All others are those of `KernelKMeans`; `predict_proba` of new rows is one-hot.

    Raises
    ------
    ValueError
        For bad words, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Liu, Zhang, Chen, et al.: Kernel probabilistic k-means clustering. Sensors 21, 2021, 1892, eq. 14-35, Algorithm 1.
    Telgarsky, Vattani: Hartigan's method: k-means clustering without Voronoi. AISTATS 2010 (the polish).

    Examples
    --------
    >>> from cmeans import ProbabilisticKMeans
    >>> from cmeans.datasets import make_ring_and_disc
    >>> from sklearn.metrics import adjusted_rand_score
    >>> X, y = make_ring_and_disc(random_state=0)
    >>> model = ProbabilisticKMeans(2, gamma=1.0, n_landmarks=None, random_state=0).fit(X)
    >>> adjusted_rand_score(y, model.labels_)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "auto",
        step: float = 1e-2,
        quantile: float = 0.1,
        polish: str | None = "hartigan",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        landmarks: Any = "rpcholesky",
        landmark_tol: float = 0.02,
        landmark_solver: str = "eigh",
        init: Any = "dirichlet",
        n_init: int = 1,
        max_iter: int | None = None,
        tol: float = 1e-4,
        memory_budget: int | float | str | None = None,
        n_jobs: int | None = None,
        engine: Any = None,
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
            random_state=random_state,
            verbose=verbose,
        )
        self.n_clusters = n_clusters
        self.solver = solver
        self.step = step
        self.quantile = quantile
        self.polish = polish
        self.init = init
        self.n_init = n_init

    def _make_rule(self, geometry: Geometry) -> Rule:
        return Hard()

    def _sweeps_asked(self, owner: str) -> int:
        return NO_LIMIT if self.max_iter is None else integer(self.max_iter, "max_iter", owner, 1, words="None or ")

    def _most_sweeps(self, run: Run) -> int | None:
        return None

    def _cluster(self, run: Run, given: Input, blocks: Blocks, engine: Engine, hook: SweepHook) -> tuple[Geometry, Result]:
        search = self._checked_search(run, blocks)
        geometry = build_geometry(self, type(self).__name__, blocks, run.n_clusters, run.rng)
        remembered = blocks.n_rows * (1 if blocks.are_stored else 2 * run.n_clusters * itemsize(blocks.x) + 24)
        table = self._table_for(run, given, geometry, Hard(), engine, remembered)
        self.solver_ = search.solver
        best, visits, ground = None, 0, Terrain(table, geometry.population, engine)
        after_sweep = self._after_sweep(hook, geometry, Hard())
        for number, p in enumerate(self._distributions(run, geometry, table, engine)):
            place = Place("fit", number, run.n_init)
            heard = _listener(after_sweep, table, engine, place, search.max_iter)
            found = search(p, ground, run.stopping.tol, place, heard, after_sweep)
            visits += found.row_visits
            if best is None or found.objective < best.objective:
                best = found
            if found.ended:
                break
        assert best is not None, "there is always a start"
        history = [value * blocks.unit for value in best.history[:-1]]
        solution = Solution(State(best.centres), history, best.n_iter, visits, best.finished, best.ended)
        whole = Best(solution, None, visits)
        result = certified(concluded(whole, table, Hard(), engine, run.stopping), whole, geometry, table, engine)
        if best.memberships is not None:
            soft = replace(result.assignment, memberships=foreign_like(best.memberships, blocks.x))
            result = replace(result, assignment=soft)
        return geometry, replace(result, reason=_reason(search, best))

    def _checked_search(self, run: Run, blocks: Blocks) -> Search:
        owner = type(self).__name__
        solver = one_of(self.solver, "solver", owner, ("auto", "fagp", "agp", "batched", "lloyd"))
        if solver == "auto":
            few = blocks.n_rows * (run.n_clusters - 1) <= FAGP_STEPS and not blocks.are_stored
            solver = "fagp" if few else "batched"
        if blocks.are_stored and solver in ("fagp", "agp"):
            raise ValueError(
                f'{owner}(solver={solver!r}): it follows single rows, which must all be in memory; take "batched" or "lloyd", or load '
                f"{blocks.x.where} and pass the array."
            )
        step = real(self.step, "step", owner, above=True)
        quantile = real(self.quantile, "quantile", owner)
        if quantile > 1:
            raise ValueError(f"{owner}(quantile={self.quantile!r}): quantile must lie between 0 and 1.")
        if self.polish is not None:
            one_of(self.polish, "polish", owner, ("hartigan",))
        return Search(solver, step, quantile, self.polish is not None, run.stopping.max_iter)

    def _distributions(self, run: Run, geometry: Geometry, table: Table, engine: Engine) -> Iterator[Array]:
        """The starts: P (n, c) in the rows' dtype, on the host."""
        ground = Ground(type(self).__name__, run.n_clusters, geometry, table, Hard(), engine)
        dtype, c = numpy_dtype(geometry.blocks.x), run.n_clusters
        if isinstance(self.init, str) and self.init == "dirichlet":
            for _ in range(run.n_init):
                yield self._dirichlet(geometry, c, run.rng)
            return
        partition = given_partition(self.init, ground)
        if partition is not None:
            p = to_numpy(partition).astype(dtype)
            yield p / p.sum(axis=1, keepdims=True)
            return
        for centres in starts(self.init, run.n_init, ground, run.rng):
            partition = Partition(assign_all(table, table.space, Hard(), State(centres), engine).labels, c, np.empty(0, dtype))
            yield _filled(geometry.blocks, c, partition.between)

    def _dirichlet(self, geometry: Geometry, n_clusters: int, rng: np.random.RandomState) -> Array:
        """Distributions (n, c), each as likely as any other; the same for rows that are equal, and even for those of no weight."""
        people, weight, dtype = geometry.population, geometry.blocks.weight, numpy_dtype(geometry.blocks.x)

        def drawn(count: int) -> Array:
            return rng.dirichlet(np.ones(n_clusters), size=count).astype(dtype)

        def each_its_own(start: int, stop: int) -> Array:
            counted = weight[start:stop] > 0
            p = np.full((stop - start, n_clusters), 1.0 / n_clusters, dtype)
            p[counted] = drawn(int(np.count_nonzero(counted)))
            return p

        if people.member is None:
            return _filled(geometry.blocks, n_clusters, each_its_own)
        everybody, members = drawn(len(people)), people.members()
        return _filled(
            geometry.blocks,
            n_clusters,
            lambda start, stop: np.where(members[start:stop, None] >= 0, everybody[members[start:stop]], dtype(1.0 / n_clusters)),
        )


def _filled(blocks: Blocks, n_clusters: int, values: Callable[[int, int], Array]) -> Array:
    """(n, c) in the rows' dtype on the host, a few rows at a time; of rows that are not in memory, on the disk."""
    shape = blocks.n_rows, n_clusters
    out = (room if blocks.are_stored else np.empty)(shape, numpy_dtype(blocks.x))
    for start, stop in spans(blocks.n_rows, FILLED_TOGETHER):
        out[start:stop] = values(start, stop)
    return out


def _listener(after_sweep: AfterSweep | None, table: Table, engine: Engine, place: Place, max_iter: int) -> Heard | None:
    """Whoever hears of sweeps, told of steps."""
    if after_sweep is None and not anybody_listens():
        return None

    def heard(p: Array, steps: int, objective: float) -> bool:
        n = table.n_rows
        tell(Progress(place.stage, place.run, place.n_runs, steps, max_iter, n, n, objective * table.blocks.unit))
        return after_sweep is not None and after_sweep(State(centres_of(table, Hard(), p, engine)), steps)

    return heard


def _reason(search: Search, found: Found) -> str:
    """Why the best run ended, in words."""
    what = "sweeps" if search.solver in ("batched", "lloyd") else "steps"
    if found.ended:
        return f"ended by a callback after {found.n_iter} {what}"
    if not found.finished:
        return f"stopped at max_iter={search.max_iter} before every row belonged to one cluster; raise max_iter (None: no limit)"
    return f"converged: a partition after {found.n_iter} {what}" + (", from which no single move leads down" if search.polish else "")
