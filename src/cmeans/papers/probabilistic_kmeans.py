"""Probabilistic kernel k-means: the k-means objective over distributions, by projected
gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from ..data.arrays import foreign_like, to_numpy
from ..data.blocks import Blocks
from ..data.precision import itemsize, numpy_dtype
from ..engines import Engine
from ..estimators.kernel_kmeans import KernelKMeans
from ..estimators.plotting import Plotting
from ..fitting.arguments import Auto, GammaName, InitName
from ..fitting.fit import BaseCMeans
from ..fitting.fitted_attributes import certified
from ..fitting.geometry import Geometry
from ..fitting.init import METHODS, InitContext, given_partition, starts
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import FitContext, FitSettings, Method, Outcome, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.space import build_geometry
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Hard, Rule
from ..runtime.checks import integer, one_of, real
from ..runtime.docstrings import shares_parameters
from ..sampling.drawing import new_key
from ..sampling.population import Population
from ..solvers.multistart import BestRun, FitResult, concluded
from ..solvers.observer import Observer, Progressed, known
from ..solvers.solution import Solution
from ..solvers.stopping import rounding_of
from ..sweeps.passes import DistancePass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .kpkm import (
    DrawnStart,
    Found,
    GivenStart,
    NearestStart,
    PartitionProblem,
    PartitionSearch,
    Start,
)

Solver = Literal["auto", "fagp", "agp", "batched", "lloyd"]
Polish = Literal["hartigan"]
FAGP_STEPS = 3000  # n (c - 1), up to which "auto" follows the paper's algorithm step by step
NO_LIMIT = 10**9


@shares_parameters(KernelKMeans)
class ProbabilisticKMeans(Plotting, BaseCMeans):
    """Probabilistic kernel k-means (KPKM): minimise over distributions p_l of each row over the
    clusters

        f(P) = sum_lk w_l p_lk |phi(x_l) - v_k|^2,     v_k = sum_l w_l p_lk phi(x_l) / sum_l w_l
        p_lk.

    Use it for hard clusters where k-means ends in poor minima: rows start undecided, and the most
    decided ones are settled first, which finds well parted clusters from random starts. Where
    clusters run into each other a few starts of `KernelKMeans` do as well. f is concave for
    positive definite kernels, so distributions are soft along the way only: the solution is a
    partition, from which (after polishing) no single move of a row leads down. There are no soft
    memberships to be had; for those take `FuzzyCMeans`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    solver : "auto", "fagp", "agp", "batched" or "lloyd", default="auto"
        How rows settle: one after the other, or "batched", many at a time. "fagp": along the
        projected gradient as far as all distributions allow, one constraint at a time (the paper's
        algorithm, in closed form; about n (c - 1) steps, in memory). "agp": the same with steps of
        at most `step` (the paper's slow baseline). "batched": in each sweep the `quantile` of the
        rows that reach a constraint first fix it (about 100 sweeps, any size). "lloyd": from the
        centres of the start as k-means does. "auto": "fagp" up to n (c - 1) = 3,000, some seconds,
        of rows that are no more than 2,000 or take no more than 16 MiB, "batched" of others.
    step : float > 0, default=1e-2
        Longest step of "agp".
    quantile : float in [0, 1], default=0.1
        Share of the rows that settle in a sweep of "batched". 0 is "fagp", 1 makes every row fix
        one cluster a sweep. Larger is faster and ends in worse minima.
    polish : "hartigan" or None, default="hartigan"
        Whether single rows are moved at the end as long as that lowers the objective.
    init : "dirichlet", or what `KernelKMeans` takes, default="dirichlet"
        How the first memberships are drawn. Not "k-means++" as elsewhere, which is a partition
        already: "dirichlet" makes every row a random distribution. Memberships (n, c) are taken as
        they are, all others as the partition they make. Where they give all clusters the same
        centre, no way leads down at first, and the first rows settle in the order of the rows; a
        random start ends lower as a rule.
    n_init : int, default=1
        Starts; the lowest objective is kept.
    search : "auto", "breathing", None or Search, default="auto"
        As in `KernelKMeans` (of `Search` the method alone), after each start of solver="lloyd" and
        before the polish; other solvers go without.
    max_iter : int or None, default=None
        Steps or sweeps at most; None, not 300 as elsewhere: as many as it takes, since a row that
        is not settled has no cluster. Cut short, `memberships_` are soft and `converged_` is False.

    Attributes
    ----------
    memberships_ : (n, c) the final P: one-hot, unless cut short.
    labels_ : (n,) the largest membership, ties to the lowest number: the nearest centre, as
        `predict` has it, unless cut short.
    objective_history_ : the objective at the start, after each step or sweep, and at the end; falls
        for positive definite kernels.
    solver_ : the solver used.
    All others are those of `KernelKMeans`; `predict_proba` of new rows is one-hot.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Liu, Zhang, Chen, et al.: Kernel probabilistic k-means clustering. Sensors 21, 2021, 1892, eq.
    14-35, Algorithm 1. Telgarsky, Vattani: Hartigan's method: k-means clustering without Voronoi.
    AISTATS 2010 (the polish).

    Examples
    --------
    >>> from cmeans import ProbabilisticKMeans
    >>> from cmeans.datasets import make_ring_and_disc
    >>> from sklearn.metrics import adjusted_rand_score
    >>> X, y = make_ring_and_disc(random_state=0)
    >>> model = ProbabilisticKMeans(2, kernel="rbf", gamma=1.0, landmarks=None, random_state=0)
    >>> model = model.fit(X)
    >>> adjusted_rand_score(y, model.labels_)
    1.0
    """

    solver: str
    step: float
    quantile: float
    polish: str | None
    solver_: str

    _taken_fields = {"search": ("method",)}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: Solver = "auto",
        step: float = 1e-2,
        quantile: float = 0.1,
        polish: Polish | None = "hartigan",
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        init: Literal["dirichlet"] | InitName | Any = "dirichlet",
        n_init: int = 1,
        search: SearchName | Search | None = "auto",
        max_iter: int | None = None,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    _takes = frozenset[str]()
    _init_names = ("dirichlet", *METHODS)
    _is_bounded = False

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        one_of(self.solver, "solver", name, get_args(Solver))
        real(self.step, "step", name, above=True)
        if real(self.quantile, "quantile", name) > 1:
            raise ValueError(
                f"{name}(quantile={self.quantile!r}): quantile must lie between 0 and 1."
            )
        if self.polish is not None:
            one_of(self.polish, "polish", name, get_args(Polish))
        return Procedure(
            lambda _: Method(Hard()),
            self._by_search,
            most_sweeps=NO_LIMIT
            if self.max_iter is None
            else integer(self.max_iter, "max_iter", name, 1, others="None or "),
        )

    def _remembered(self, settings: FitSettings, blocks: Blocks) -> int:
        return blocks.n_rows + blocks.bytes_by_row(
            2 * settings.n_clusters * itemsize(blocks.x) + 23
        )

    def _by_search(self, context: FitContext) -> Outcome:
        settings, blocks = context.settings, context.blocks
        search = self._search_for(settings, blocks)
        geometry = build_geometry(self._space_request(context, blocks))
        if search.solver == "lloyd":
            search = replace(
                search, breathing=self._breathing(geometry, settings.search.method, settings.rng)
            )
        method = replace(context.procedure.method(geometry), attributes={"solver_": search.solver})
        problem = Problem(
            self._rows_for(context, geometry, method.rule),
            method.rule,
            context.engine,
            settings.stopping,
        )
        observer = self._observer(context, geometry, method)
        with self._interruptible(context, geometry, method):
            best, visits = self._best(
                search, settings, PartitionProblem(problem, geometry.population), geometry, observer
            )
        history = [value * blocks.unit for value in best.history[:-1]]
        solution = Solution(
            State(best.centres), history, best.n_iter, visits, best.finished, best.ended
        )
        whole = BestRun(solution, best.sums, visits)
        if best.labels is None:
            along = geometry.population if isinstance(self.init, str) else None
            result = certified(
                concluded(whole, problem, observer, numbered_along=along), whole, geometry, problem
            )
        else:
            # the labels of the last pass are not those of the memberships so far, whose columns
            # stay as they are
            last = concluded(whole, problem, replace(observer, taker=None), numbered_along=None)
            result = _cut_short(certified(last, whole, geometry, problem), best, problem)
        return Outcome(geometry, method, replace(result, reason=_reason(search, best)))

    def _best(
        self,
        search: PartitionSearch,
        settings: FitSettings,
        given: PartitionProblem,
        geometry: Geometry,
        observer: Observer,
    ) -> tuple[Found, int]:
        """Return the best result of all starts, and their row visits in all."""
        best, visits = None, 0
        for number, start in enumerate(self._starts(settings, geometry, given.problem)):
            found = search(
                start, given, observer.within(f"start {number}").at("fit", number, settings.n_init)
            )
            visits += found.row_visits
            if best is None or found.objective < best.objective * (
                1.0 - rounding_of(given.problem.rows)
            ):
                best = found
                end = known(State(found.centres))
                observer.best_start(
                    Progressed(given.problem.rule, end, found.n_iter, found.objective)
                )
            if found.ended:
                break
        assert best is not None, "there is always a start"
        return best, visits

    def _search_for(self, settings: FitSettings, blocks: Blocks) -> PartitionSearch:
        estimator_name, solver = type(self).__name__, self.solver
        if solver == "auto":
            few = blocks.n_rows * (settings.n_clusters - 1) <= FAGP_STEPS
            solver = "fagp" if few and blocks.are_few else "batched"
        if solver in ("fagp", "agp"):

            def refuse(where: str, _: int | None) -> None:
                raise ValueError(
                    f"{estimator_name}(solver={solver!r}): it follows single rows, which must all "
                    f'be in memory; take "batched" or "lloyd", or load {where} and pass the array.'
                )

            blocks.in_memory(refuse)
        return PartitionSearch(
            solver,
            float(self.step),
            float(self.quantile),
            self.polish is not None,
            settings.stopping.max_iter,
        )

    def _starts(
        self, settings: FitSettings, geometry: Geometry, problem: Problem
    ) -> Iterator[Start]:
        init_context = InitContext(type(self).__name__, settings.n_clusters, geometry, problem)
        rule = problem.rule
        c = settings.n_clusters
        if isinstance(self.init, str) and self.init == "dirichlet":
            for _ in range(settings.n_init):
                yield _dirichlet(geometry.population, rule, c, settings.rng)
            return
        partition = given_partition(self.init, init_context)
        if partition is not None:
            p = to_numpy(partition).astype(numpy_dtype(geometry.blocks.x))
            yield GivenStart(rule, c, p / p.sum(axis=1, keepdims=True))
            return
        for centres in starts(self.init, settings.n_init, init_context, settings.rng):
            yield NearestStart(rule, c, State(centres))


def _dirichlet(
    population: Population, rule: Rule, n_clusters: int, rng: np.random.RandomState
) -> Start:
    """Return uniform random distributions; the same for equal rows of few, and equal shares for
    rows of zero weight."""
    if population.member is None:
        return DrawnStart(rule, n_clusters, new_key(rng))
    drawn, members = rng.dirichlet(np.ones(n_clusters), size=len(population)), population.members()
    return GivenStart(
        rule, n_clusters, np.where(members[:, None] >= 0, drawn[members], 1.0 / n_clusters)
    )


def _cut_short(result: FitResult, found: Found, problem: Problem) -> FitResult:
    """Return the result with a search's final memberships, where these are in memory, and labels by
    their largest."""
    labels, rows = found.labels, problem.rows
    assert labels is not None
    assignment = replace(result.assignment, labels=labels)
    if found.memberships is None:
        return replace(result, assignment=assignment)
    parts = problem.map(DistancePass(problem.rule, result.state, result.space))
    nearest = np.empty(rows.n_rows)
    done = 0
    for part in map(to_numpy, parts):
        here = labels[done : done + len(part)]
        nearest[done : done + len(part)] = part[np.arange(len(part)), here].astype(np.float64) ** 2
        done += len(part)
    # `row_visits` does not count this pass: rows that stay in files, of which no distances are
    # kept, do without it.
    return replace(
        result,
        assignment=replace(
            assignment, memberships=foreign_like(found.memberships, rows.blocks.x), nearest=nearest
        ),
    )


def _reason(search: PartitionSearch, found: Found) -> str:
    """Return the reason why the best run ended."""
    what = "sweeps" if search.solver in ("batched", "lloyd") else "steps"
    if found.ended:
        return f"ended by a callback after {found.n_iter} {what}"
    if not found.finished:
        return (
            f"stopped at max_iter={search.max_iter} before every row belonged to one cluster; "
            "raise max_iter (None: no limit)"
        )
    return f"converged: a partition after {found.n_iter} {what}" + (
        ", from which no single move leads down" if search.polish else ""
    )
