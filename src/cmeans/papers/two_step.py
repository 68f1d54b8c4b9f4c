"""Two-step kernel k-means, the baseline that approximate kernel k-means is measured against, and
the exact geometry of its sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..data.arrays import Float64, IntArray, is_sparse
from ..data.blocks import Blocks
from ..data.partitions import one_hot
from ..engines import Engine
from ..estimators.kernel_kmeans import KernelKMeans
from ..estimators.plotting import Plotting
from ..fitting.arguments import (
    Auto,
    GammaName,
    InitName,
    check_landmarks,
    refuse_stored,
    row_numbers,
    whole_diagonal,
)
from ..fitting.expected_space import ExpectedSpace
from ..fitting.fit import BaseCMeans
from ..fitting.fit_plan import usual_visits
from ..fitting.geometry import Geometry
from ..fitting.init import InitContext, checked_labels, starts
from ..fitting.kernel_evidence import settled_kernel
from ..fitting.landmark_choice import AUTOMATIC, Landmarks, landmarks_from, method_or, number_among
from ..fitting.memory import MemoryPlan
from ..fitting.prediction import Predicting
from ..fitting.procedure import FitContext, FitSettings, Method, Outcome, Procedure
from ..fitting.space import SpaceRequest, estimator_graph, euclidean_space
from ..fitting.validation import host_array
from ..kernels import FeatureKernel, Kernel, Linear, Precomputed
from ..kernels.names import KernelName
from ..landmarks.count import automatic_number
from ..landmarks.select import choose
from ..rules import Hard
from ..runtime.docstrings import shares_parameters
from ..sampling.pairwise import affinity
from ..sampling.population import population_of, sample
from ..solvers.multistart import best_of, concluded
from ..spaces import ExactSpace, FeatureSpace, solver_tolerance
from ..spaces.centres import Centres
from ..sweeps.final_pass import assign_all
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows

# in the sample, where their number is not given: its graph has half as many landmarks
ROWS_OF_GRAPH = 2000


@shares_parameters(KernelKMeans)
class TwoStepKernelKMeans(Plotting, BaseCMeans):
    """Two-step kernel k-means: exact kernel k-means on a sample of rows, then every row joins its
    nearest centre.

    Use it as a baseline, or for a quick rough result: rows outside the sample never move a centre,
    so it needs a far larger sample than `KernelKMeans` needs landmarks (Chitta 2011, Alg. 1 against
    Alg. 2).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel object or callable k(X, Y), default="rbf"
        As in `KernelKMeans`, whose baseline this is; not "linear" as elsewhere.
    landmarks : "auto", int, None, row numbers or Landmarks, default="auto"
        The rows of the sample, drawn by weight unless `Landmarks(method="k-means++")` says
        otherwise: as in `KernelKMeans`, and for kernel="landmark_graph" 2,000 where it is "auto".

    All other attributes and methods are those of `KernelKMeans`. Memberships, labels and row
    numbers in `init` refer to X; those of rows outside the sample are not used.
    `objective_history_` is the sample's, `objective_` that of all rows. With
    kernel="landmark_graph" the sample's graph over half as many landmarks, centres of k-means, says
    where all rows belong.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, Alg. 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from cmeans import TwoStepKernelKMeans
    >>> X = load_digits().data
    >>> TwoStepKernelKMeans(n_clusters=10, landmarks=200, random_state=0).fit(X).labels_.shape
    (1797,)
    """

    _taken_fields = {"landmarks": ("number", "method", "points")}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelName | Kernel | Callable[..., Any] = "rbf",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        landmarks = landmarks_from(self.landmarks, name)
        if landmarks.method == "k-means":
            raise ValueError(
                f'{name}(landmarks={landmarks!r}): a sample is of rows; take "uniform" or '
                '"k-means++".'
            )
        if landmarks.points is not None:
            check_landmarks(landmarks.points, name, rows_only=True)
        return Procedure(lambda _: Method(Hard()), self._by_sample)

    _takes = frozenset[str]()

    def _expected_space(
        self, settings: FitSettings, blocks: Blocks, *, most: bool
    ) -> ExpectedSpace:
        space = super()._expected_space(settings, blocks, most=most)
        if not settings.kernel.over_landmarks and not space.is_plain:  # all of the sample span it
            space = replace(space, basis=_sample_size(settings, blocks))
        return replace(space, side=0, is_exact=not space.is_plain)

    def _expected_memory(self, context: FitContext, *, most: bool) -> MemoryPlan:
        """Return the planned memory of the sample, with the results of all rows."""
        size = _sample_size(context.settings, context.blocks)
        sample = _among(context.blocks, np.ones(size))
        return super()._expected_memory(_over_sample(context, sample), most=most)

    def _usual_visits(
        self, procedure: Procedure, settings: FitSettings, blocks: Blocks
    ) -> tuple[int, int]:
        size = _sample_size(settings, blocks)
        _, visits = usual_visits(size, settings, [], searched=False)
        return 1, visits + blocks.n_rows

    def _by_sample(self, context: FitContext) -> Outcome:
        estimator_name, settings, engine = type(self).__name__, context.settings, context.engine
        whole, sample, numbers = build_sample_geometry(self._space_request(context, context.blocks))
        method = context.procedure.method(whole)
        planned = _among(context.blocks, sample.blocks.weight)
        memory = self._memory_plan(
            _over_sample(context, planned), sample.space, planned, method.rule
        )
        problem = Problem(
            RepresentedRows(sample.space, sample.blocks, memory.for_rows),
            method.rule,
            engine,
            settings.stopping,
        )
        about = InitContext(estimator_name, settings.n_clusters, sample, problem)
        first = _starts_on_sample(self.init, whole, numbers, about, settings)
        observer = self._observer(context, whole, method)
        with self._interruptible(context, whole, method):
            best = best_of(first, settings.n_init, problem, observer)
        along = sample.population if isinstance(self.init, str) else None
        # of the sample
        result = concluded(best, problem, replace(observer, taker=None), numbered_along=along)
        space, _ = whole.portable(best.solution.state.centres)
        rows = RepresentedRows(space, whole.blocks, 0, training=False)
        assignment = assign_all(
            rows,
            space,
            result.rule,
            result.state,
            engine,
            observer.reporter,
            observer.taker,
            here=False,
        )
        visits = result.row_visits + whole.blocks.n_rows
        result = replace(
            result, assignment=assignment, space=space, alive=assignment.mass > 0, row_visits=visits
        )
        return Outcome(whole, method, result)


def _sample_size(settings: FitSettings, blocks: Blocks) -> int:
    """Return the number of rows of the sample, at most."""
    landmarks, number = settings.landmarks, settings.landmarks.number
    if landmarks.points is not None:
        return len(landmarks.points)
    if number == "auto" and settings.kernel.over_landmarks:
        number = ROWS_OF_GRAPH
    elif number == "auto":
        limit = blocks.limits.exact_rows
        number = automatic_number(blocks.n_rows, settings.n_clusters, limit)
    return blocks.n_rows if number is None else min(int(number), blocks.n_rows)


def _among(blocks: Blocks, weight: Float64) -> Blocks:
    """Return so many rows where all rows are, since there the results of all will be."""
    return replace(blocks.between(0, len(weight)), weight=weight)


def _over_sample(context: FitContext, sample: Blocks) -> FitContext:
    """Return the fit of a sample alone, after which all rows have results."""
    return replace(context.over(sample, context.engine), n_labelled=context.blocks.n_rows)


def _starts_on_sample(
    init: Any, whole: Geometry, rows: IntArray, about: InitContext, settings: FitSettings
) -> Iterator[Centres]:
    """Yield starts by `init`, which speaks of the rows of X, in the space of the sample, of which
    `rows` are the numbers."""
    if not isinstance(init, (str, Predicting)) and not is_sparse(init):
        values = host_array(init, "init", about.estimator_name)
        n, c, sample = whole.blocks.n_rows, about.n_clusters, about.geometry
        if values.ndim == 1 and np.issubdtype(values.dtype, np.integer):
            if len(values) == c:
                named = whole.blocks.take(row_numbers(values, about.estimator_name, n, "init"))
                if sample.is_precomputed:
                    named = replace(named, x=whole.kernel.prepare(rows)(named.x))
                yield sample.space.feasible(sample.space.embed(named))
                return
            if len(values) == n:
                labels = checked_labels(values, c, about.estimator_name)[rows]
                init = one_hot(labels, c, np.zeros(0))
        elif values.shape == (n, c) and values.shape != (c, whole.blocks.x.shape[1]):
            init = values[rows]
    yield from starts(init, settings.n_init, about, settings.rng)


def build_sample_geometry(request: SpaceRequest) -> tuple[Geometry, Geometry, IntArray]:
    """Return the geometry of a sample of rows, exact or of the sample's graph: of all rows, of the
    sample alone, and its row numbers."""
    parameters = request.parameters
    estimator_name = request.estimator_name
    blocks = request.blocks
    n_clusters = request.n_clusters
    given = request.kernel
    number = number_among(request.landmarks, blocks.n_rows, estimator_name)
    refuse_stored(given, estimator_name, blocks, exact=number is None)
    precomputed, graph, gamma = given.takes_kernel_values, given.over_landmarks, None
    if precomputed:
        diagonal = whole_diagonal(cast(Precomputed, given), estimator_name, blocks.x)
        blocks = blocks.with_columns(kxx=diagonal)
    # the latter draws the sample of a graph
    kernel: Kernel = Precomputed() if precomputed else Linear()
    if not precomputed and not graph:
        kernel, gamma = settled_kernel(given, parameters, estimator_name, blocks, request.engine)
    rows, weights = _sample_rows(replace(request, blocks=blocks), number, kernel)
    chosen = blocks.take(rows)
    x = kernel.prepare(rows)(chosen.x) if precomputed else chosen.x
    part = Blocks(x, weights, unit=blocks.unit, limits=blocks.limits)
    part = part if chosen.kxx is None else part.with_columns(kxx=chosen.kxx)
    if graph:
        alone = estimator_graph(replace(request, blocks=part, landmarks=AUTOMATIC))
        kernel = cast(FeatureKernel, alone.kernel)
        return Geometry(blocks, kernel, FeatureSpace(kernel), n_clusters), alone, rows
    alone = Geometry(
        part,
        kernel,
        ExactSpace(kernel, part, solver_tolerance=solver_tolerance(part.x.dtype)),
        n_clusters,
        gamma,
    )
    if kernel.coordinates != "rows":
        alone.complain(estimator_name)
    else:
        alone = replace(alone, space=euclidean_space(part))
        alone.refuse_range(estimator_name)
    return Geometry(blocks, kernel, alone.space, n_clusters, gamma, rows), alone, rows


def _sample_rows(
    request: SpaceRequest, number: int | str | None, kernel: Kernel
) -> tuple[IntArray, Float64]:
    """Return the numbers and weights of the rows of the sample, as they are given or drawn."""
    estimator_name = request.estimator_name
    blocks = request.blocks
    landmarks = request.landmarks
    rng = request.rng
    method = method_or(landmarks, "uniform")
    if landmarks.points is not None:
        rows = row_numbers(landmarks.points, estimator_name, blocks.n_rows)
        weights = blocks.weight[rows]
        if not weights.any():
            raise ValueError(
                f"{estimator_name}(landmarks=...): every row of the sample has a weight of zero; "
                "name rows of positive weight."
            )
        return rows, weights
    population = population_of(blocks, comparable=kernel.takes_features)
    if number == "auto" and request.kernel.over_landmarks:
        number = min(ROWS_OF_GRAPH, len(population))
    elif number == "auto":
        number = automatic_number(blocks.n_rows, request.n_clusters, blocks.limits.exact_rows)
    size = len(population) if number is None else int(number)
    if method == "uniform":
        positions, weights = sample(population, size, rng)
        return population.at(positions), weights
    rows = choose(
        method,
        size,
        lambda positions: affinity(kernel, blocks, population.at(positions)),
        population,
        rng,
    )
    return rows, population.weights_of(rows)
