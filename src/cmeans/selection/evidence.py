"""Evidence of numbers of clusters, from a sample of the rows: silhouettes beside those of rows
without clusters, agreement of refits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.arrays import Float64
from ..data.blocks import Block, Blocks
from ..data.precision import numpy_dtype
from ..engines import without_checkpoint
from ..estimators import KernelKMeans
from ..fitting.arguments import Auto
from ..fitting.kernel_evidence import given_kernel
from ..fitting.landmark_choice import landmarks_from
from ..fitting.rows.empty import without_empty_rows
from ..fitting.rows.finite import takes_holes, without_partial
from ..fitting.space import unit_sphere
from ..fitting.validation import read_rows
from ..fitting.weights import weights_of
from ..metrics.validity import silhouette_and_xie_beni
from ..runtime.checks import is_auto
from ..sampling.population import population_of, sample
from ..spaces.landmark import landmark_space
from .compared import ComparedHere
from .null import SHAPES, null_of_products, null_of_rows
from .stability import agreement
from .steps import SelectionSteps

ROWS = 3000  # judged at most, more where there are many clusters
ROWS_A_CLUSTER = 100
PRODUCTS = 2000  # rows judged at most by kernel values
CELLS = 20_000_000  # numbers of the rows judged
LANDMARKS_A_CLUSTER = 10  # for the most clusters, where their number is "auto"
NULL_ROWS = 2000  # of a draw without clusters, at most
DRAWN = 6000  # rows without clusters, of each shape, in all draws together
FEWEST, MOST = 3, 10  # draws of each shape
ENOUGH = 2  # of them where the answer does not hang on chance:
CLEAR = 2.0  # times what chance reaches, or less than it usually does
SPACING = 1.3  # least ratio of numbers of clusters for which rows without any are clustered
SEARCHED_COLUMNS = 64  # of draws without clusters, up to which each number is searched
REFIT_ROWS = 1000  # rows on which refits are compared, more where there are many clusters
REFIT_ROWS_A_CLUSTER = 20
REFIT_TOL = 1e-3
REFIT_STARTS = 3  # of a refit, in place of a search: half the time, and nearly the same answers
OF_KERNEL = ("kernel", "gamma", "landmarks", "metric")
OF_SPACE = (*OF_KERNEL, "covariance", "missing", "n_jobs", "engine", "random_state")
# above the mean of the best that draws without clusters reach, that clusters have to show
DEVIATIONS = 3.0
# names of some, and the function of a model that gives their values
Criteria = tuple[tuple[str, ...], Callable[[Any], tuple[float, ...]]]


def corrected(silhouette: Any, chance: Any) -> Any:
    """The silhouette corrected for chance: 0 for rows without clusters, 1 for clusters that are
    points."""
    return (silhouette - chance) / (1.0 - chance)


@dataclass(frozen=True)
class TrialRows:
    """Rows on which candidates are judged, and what rows without clusters would look like."""

    x: Any
    weights: Float64
    products: bool  # x holds the rows' kernel values

    @property
    def diag(self) -> Any:
        return np.diag(self.x).copy() if self.products else None

    def without_clusters(self, rng: np.random.RandomState) -> Iterator[list[TrialRows]]:
        """Yield draws of each shape that have the mean and covariance of this sample."""
        few = self.part(NULL_ROWS, rng)
        null = (null_of_products if self.products else null_of_rows)(few.x, few.weights)
        times = int(np.clip(DRAWN // len(few.weights), FEWEST, MOST))
        generator = np.random.default_rng(rng.randint(2**31))
        for _ in range(times):
            yield [replace(few, x=null.draw(shape, generator)) for shape in SHAPES]

    def part(self, size: int, rng: np.random.RandomState) -> TrialRows:
        """Return some of the rows."""
        if len(self.weights) <= size:
            return self
        rows = np.sort(rng.choice(len(self.weights), size, replace=False))
        return replace(
            self,
            x=self.x[np.ix_(rows, rows)] if self.products else self.x[rows],
            weights=self.weights[rows],
        )

    def in_coordinates(self, estimator: Any, most_clusters: int) -> tuple[Any, TrialRows]:
        """Return an estimator and rows of the same problem, so that the landmarks of a space are
        found once, not for each candidate."""
        # kernel values and rows with holes have no other space, a graph's landmarks are no basis
        graph = given_kernel(estimator, "select").over_landmarks
        if self.products or graph or takes_holes(estimator):
            return estimator, self
        judge = hard_twin(estimator).set_params(
            n_clusters=most_clusters, max_iter=1, search=None, covariance=None
        )
        landmarks = landmarks_from(judge.landmarks, "select")
        if landmarks.number == "auto" and landmarks.points is None:
            judge.set_params(
                landmarks__number=min(LANDMARKS_A_CLUSTER * most_clusters, len(self.weights))
            )
        space = judge.fit(self.x, sample_weight=self.weights)._space
        if space.basis_points is None:
            return estimator, self
        whole = landmark_space(space.kernel, space.basis_points, None, numpy_dtype(self.x))
        known = clone(estimator).set_params(kernel="linear", landmarks="auto")
        return known, replace(
            self, x=whole.coordinates(Block(self.x, self.weights, 0)), products=False
        )

    def fitted(self, estimator: Any, n_clusters: int, **words: Any) -> Any:
        return (
            clone(estimator)
            .set_params(n_clusters=n_clusters, **words)
            .fit(self.x, sample_weight=self.weights)
        )

    def likelihoods(self, model: Any) -> tuple[float, float]:
        """Return the criteria of Bayes, BIC and ICL."""
        return model.bic(self.x, self.weights), model.icl(self.x, self.weights)

    def indices(self, model: Any) -> tuple[float, float]:
        """Return the simplified silhouette and the Xie-Beni index."""
        return silhouette_and_xie_beni(model, self.x, sample_weight=self.weights, diag=self.diag)


def given_rows(estimator: Any, X: Any, sample_weight: Any) -> Blocks:
    """Return the rows that are given, as they are sampled."""
    with without_partial(takes_holes(estimator)):
        given = read_rows(
            estimator,
            X,
            fitting=True,
            sparse=not given_kernel(estimator, "select").takes_kernel_values,
        )
    weight, unit = weights_of(given, sample_weight, "select")
    blocks = Blocks(given.x, weight, unit=unit)
    sphere = unit_sphere(estimator, int(given.x.shape[1]))
    if sphere is None:
        return blocks
    with estimator._engine(blocks) as engine:
        return without_empty_rows(blocks, sphere, engine, "select")


def trial_size(
    columns: int, most_clusters: int, *, products: bool, sample: int | Auto = "auto"
) -> int:
    """Return the number of rows of the sample, `products`: of kernel values."""
    if not is_auto(sample):
        return int(sample)
    most = PRODUCTS if products else max(CELLS // max(1, columns), 10 * most_clusters)
    return min(max(ROWS, ROWS_A_CLUSTER * most_clusters), most)


def trial_rows(
    estimator: Any,
    blocks: Blocks,
    most_clusters: int,
    rng: np.random.RandomState,
    sample_size: int | Auto = "auto",
) -> TrialRows:
    """Return a fair sample of the rows."""
    products = given_kernel(estimator, "select").takes_kernel_values
    population = population_of(blocks, comparable=not products)
    columns = int(blocks.x.shape[1])
    size = trial_size(columns, most_clusters, products=products, sample=sample_size)
    positions, weights = sample(population, size, rng)
    order = np.argsort(population.at(positions), kind="stable")
    rows = population.at(positions)[order]
    x = blocks.take(rows).x
    return TrialRows(
        np.ascontiguousarray(np.asarray(x)[:, rows]) if products else x, weights[order], products
    )


def _judged(
    known: Any, numbers: list[int], here: TrialRows, steps: SelectionSteps, criteria: Criteria
) -> dict[str, Float64]:
    """Return what a sample says of every number of clusters, by these criteria of a model."""
    names, values = criteria

    def judged(number: int) -> tuple[float, ...]:
        started = time.perf_counter()
        model = here.fitted(known, number)
        return model.objective_, *values(model), time.perf_counter() - started

    parts = [steps.once(f"judged {number}", partial(judged, number)) for number in numbers]
    return dict(zip(("objective", *names, "seconds"), np.array(parts).T, strict=True))


def _stability(
    known: Any, numbers: list[int], here: TrialRows, n_bootstrap: int, steps: SelectionSteps
) -> dict[str, Float64]:
    """Return how far refits to other samples agree, for every number of clusters."""
    few = here.part(max(REFIT_ROWS, REFIT_ROWS_A_CLUSTER * numbers[-1]), steps.rng)
    # Each row of the sample is one that was drawn, whatever the user's unit of weight.
    weights, seed = few.weights * (len(few.weights) / few.weights.sum()), steps.rng.randint(2**31)
    given = known.get_params(deep=False)
    quick = {
        "search": None,
        "n_init": max(REFIT_STARTS, given.get("n_init", 1)),
        "tol": max(REFIT_TOL, known.tol),
    }

    def agreed(number: int) -> tuple[float, float]:
        model = few.fitted(known, number)
        own = {**quick, "n_clusters": number, "m": getattr(model, "m_", None)}  # settled once
        trial = clone(known).set_params(
            **{name: word for name, word in own.items() if name in given}
        )
        found = agreement(
            trial,
            few.x,
            ComparedHere(model.labels_, weights),
            len(model._state.centres),
            n_bootstrap,
            seed,
        )
        return found.overall, found.error

    parts = [steps.once(f"refits {number}", partial(agreed, number)) for number in numbers]
    return dict(zip(("stability", "stability_error"), np.array(parts).T, strict=True))


def evidence(
    estimator: Any, numbers: list[int], drawn: TrialRows, n_bootstrap: int, steps: SelectionSteps
) -> tuple[dict[str, Float64], float]:
    """Return the columns of the table for one setting of the parameters, and the corrected
    silhouette that chance alone reaches, above which there are clusters to see."""
    if estimator._has_likelihood:
        refits = _stability(estimator, numbers, drawn, n_bootstrap, steps) if n_bootstrap else {}
        likelihoods = ("bic", "icl"), drawn.likelihoods
        return _judged(estimator, numbers, drawn, steps, likelihoods) | refits, -np.inf
    known, here = drawn.in_coordinates(estimator, numbers[-1])
    table = _judged(known, numbers, here, steps, (("silhouette", "xie_beni"), here.indices))
    chance, limit = chance_of(estimator, numbers, drawn, steps, table["silhouette"])
    refits = _stability(known, numbers, here, n_bootstrap, steps) if n_bootstrap else {}
    columns = {
        **table,
        **refits,
        "chance": chance,
        "corrected": corrected(table["silhouette"], chance),
    }
    order = ("objective", "silhouette", "chance", "corrected", "xie_beni", *refits, "seconds")
    return {name: columns[name] for name in order}, limit


def chance_of(
    estimator: Any,
    numbers: list[int],
    drawn: TrialRows,
    steps: SelectionSteps,
    seen: Float64 | None = None,  # (k,) silhouettes of the rows themselves
) -> tuple[Float64, float]:
    """Return the mean silhouettes (k,) of hard clusters of rows without any, and the most that such
    rows reach after correction.

    Rows are drawn until the answer does not hang on chance. Silhouettes change little from one
    number of clusters to the next, and are read between those that are made.
    """
    made = spaced(numbers)

    def silhouettes(one: TrialRows) -> list[float]:
        known, here = one.in_coordinates(hard_twin(estimator), numbers[-1])
        return [here.indices(model)[0] for model in _in_a_row(known, made, here, steps.rng)]

    lines: dict[str, list[Float64]] = {shape: [] for shape in SHAPES}
    for count, samples in enumerate(drawn.without_clusters(steps.rng), start=1):
        for shape, one in zip(SHAPES, samples, strict=True):
            values = steps.once(f"{shape} {count}", partial(silhouettes, one))
            lines[shape].append(np.interp(np.log(numbers), np.log(made), values))
        if count < ENOUGH:
            continue
        chance = np.max([np.mean(some, axis=0) for some in lines.values()], axis=0)
        # Each is corrected by the others, as the rows are by all.
        tops = [
            corrected(line, np.delete(some, place, axis=0).mean(axis=0)).max()
            for some in lines.values()
            for place, line in enumerate(some)
        ]
        usual, limit = float(np.mean(tops)), float(np.mean(tops) + DEVIATIONS * np.std(tops))
        if seen is not None:
            best = corrected(seen, chance).max()
            if best < usual or best > CLEAR * limit:
                break
    return chance, limit


def spaced(numbers: list[int]) -> list[int]:
    """Return some of rising numbers, each at least so many times the one before, and the last."""
    kept = numbers[:1]
    for number in numbers[1:]:
        if number >= SPACING * kept[-1] or number == numbers[-1]:
            kept.append(number)
    return kept


def _in_a_row(
    known: Any, numbers: list[int], here: TrialRows, rng: np.random.RandomState
) -> Iterator[Any]:
    """Yield hard fits of rows without clusters: in few columns each begins anew and searches, in
    many each goes on from the clusters of the one before and rows drawn as k-means++ draws them.

    That takes a sixth of the time, and has silhouettes that are 0.002 lower in the mean. For all it
    would not do: of 30 clouds in four columns three would be taken for clusters.
    """
    former: Any = None
    for number in numbers:
        init: Any = known.init
        if former is not None and here.x.shape[1] > SEARCHED_COLUMNS:
            costs, new = former._nearest * here.weights, number - former.n_clusters
            if np.count_nonzero(costs) > new:
                labels = former.labels_.copy()
                labels[rng.choice(len(costs), new, replace=False, p=costs / costs.sum())] = (
                    np.arange(former.n_clusters, number)
                )
                init = labels if len(np.unique(labels)) == number else init
        former = here.fitted(known, number, init=init)
        yield former


def for_trials(estimator: Any) -> Any:
    """Return an estimator for a sample in memory, of which nothing is kept or said."""
    given = estimator.get_params(deep=False)
    words: dict[str, Any] = {"engine": without_checkpoint(given.get("engine")), "verbose": 0}
    # Starts and landmarks that are arrays belong to all rows, or to one number of clusters.
    if not isinstance(given.get("init"), str):
        words["init"] = "k-means++"
    if "landmarks" in given and landmarks_from(given["landmarks"], "select").points is not None:
        words["landmarks"] = "auto"
    return clone(estimator).set_params(
        **{name: value for name, value in words.items() if name in given}
    )


def hard_twin(estimator: Any) -> KernelKMeans:
    """Return k-means in the space of an estimator."""
    own = estimator.get_params(deep=False)
    words = {name: own[name] for name in OF_SPACE if name in own}
    hard = KernelKMeans(**{"kernel": estimator.kernel, **words})
    landmarks = landmarks_from(hard.landmarks, "select")
    factored = landmarks.factored()
    return hard if factored is landmarks else hard.set_params(landmarks=factored)
