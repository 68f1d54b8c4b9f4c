"""Choosing the number of clusters by silhouettes, corrected for what rows without clusters would give."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from ..data.arrays import Float64, numpy_dtype
from ..data.blocks import Block, Blocks
from ..estimators import KernelKMeans
from ..fitting.arguments import takes_kernel_values
from ..fitting.fit import BaseCMeans
from ..fitting.validation import integer, read_rows, weights_of
from ..kernels import PrecomputedGraphKernel
from ..metrics.validity import silhouette_and_xie_beni
from ..sampling.population import population_of, sample
from ..spaces import LandmarkSpace
from ..spaces.landmark import landmark_space
from .null import SHAPES, null_of_products, null_of_rows
from .stability import agreement

Evidence = Literal["auto", "silhouette", "xie_beni", "stability"]

ROWS = 5000  # judged at most, more where there are many clusters
ROWS_A_CLUSTER = 100
PRODUCTS = 2000  # rows judged at most by kernel values
CELLS = 20_000_000  # numbers of the rows judged
LANDMARKS_A_CLUSTER = 10  # for the most clusters, where their number is "auto"
NULL_ROWS = 2000  # of a draw without clusters, at most
DRAWN = 6000  # rows without clusters, of each shape, in all draws together
FEWEST, MOST = 3, 10  # draws of each shape
REFIT_ROWS = 1000  # rows on which refits are compared, more where there are many clusters
REFIT_ROWS_A_CLUSTER = 20
REFIT_TOL = 1e-3
REFIT_STARTS = 3  # of a refit, in place of a search: half the time, and nearly the same answers
OF_SPACE = (*("kernel", "gamma", "degree", "coef0", "kernel_params", "n_landmarks", "landmarks", "landmark_tol"), "n_jobs", "random_state")
OF_NAMES = {"init": "k-means++", "landmarks": "rpcholesky"}
DEVIATIONS = 3.0  # above the mean of the best that draws without clusters reach, that clusters have to show


@dataclass(frozen=True)
class Selection:
    """What `select` found.

    Attributes
    ----------
    n_clusters : int
        The number of clusters; 1 where the rows show none.
    params : dict
        The other parameters that were chosen, of `param_grid`.
    table : dict of arrays, one entry a candidate
        "n_clusters" and the names of `param_grid`, "objective", "silhouette" (simplified), "chance" (the mean silhouette of rows without
        clusters), "corrected" ((silhouette - chance) / (1 - chance)), "xie_beni", "stability" (adjusted Rand index with refits on
        bootstrap weights) and "stability_error" (its standard error) where refits were asked for, and "seconds".
        `pandas.DataFrame(table)` shows it.
    reason : str
        Why, in a sentence.
    estimator : the estimator with what was chosen, fitted to all rows unless `refit` is False.
    """

    n_clusters: int
    params: dict[str, Any]
    table: dict[str, Any]
    reason: str
    estimator: Any = field(repr=False)

    def __str__(self) -> str:
        columns = [[name, *(_cell(value) for value in values)] for name, values in self.table.items()]
        widths = [max(map(len, column)) for column in columns]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in zip(*columns, strict=True)]
        return "\n".join([*lines, self.reason])


def select(
    estimator: Any,
    X: Any,
    n_clusters: Iterable[int] = range(2, 21),
    *,
    by: Evidence = "auto",
    n_bootstrap: int = 20,
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    sample_weight: Any = None,
    random_state: Any = None,
    refit: bool = True,
) -> Selection:
    """Choose the number of clusters, and fit.

    Every number is fitted and judged on a fair sample of at most 5,000 rows (100 for each of the most clusters, if that is more), then the
    chosen one is fitted to all. The evidence is the simplified silhouette corrected for chance:

        s  = sum_i w_i (b_i - a_i) / b_i / sum_i w_i,   a_i and b_i: distances, in the estimator's space, to the two nearest centres
        s' = (s - s0) / (1 - s0),                       s0: the mean of s for rows without clusters

    Rows without clusters are drawn from one cloud with the mean and covariance of the sample, once normal and once uniform along its
    principal axes, and k-means in the estimator's space is fitted to each draw; the larger of the two means counts. The number of
    largest s' is chosen, unless it is no larger than the best of such draws reach (their mean and three standard deviations): then there
    are no clusters to see, and 1 is the answer.

    Parameters
    ----------
    estimator : an estimator of this library with `n_clusters`; its parameters stay as they are.
    X : rows as its `fit` takes them, files and kernel matrices too.
    n_clusters : numbers to choose from, default 2 to 20. Those that are not below the number of distinct rows are left out.
    by : {"auto", "silhouette", "xie_beni", "stability"}, default="auto"
        What chooses among the numbers, where there are clusters: the corrected silhouette, the silhouette as it is, the Xie-Beni index, or
        the stability: the largest number whose refits agree as well as those of the best, to its standard error.
    n_bootstrap : int, default=20
        Refits for each number, on at most 1,000 rows (20 for each of the most clusters, if that is more), from three starts and without a
        search. 0: none, and no such columns. See `stability` for a fitted model's, cluster by cluster.
    param_grid : dict of lists, optional
        Further parameters to choose, such as {"m": [1.5, 2], "gamma": [0.1, 1]}: all combinations are fitted with every number.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    random_state : int, RandomState or None
        Draws the sample and the rows without clusters. None: `estimator.random_state`.

    refit : bool, default=True
        Whether the choice is fitted to all rows; else `Selection.estimator` has the parameters alone.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        For an estimator that finds the number itself or is not of this library, numbers below 2 or none that is below the number of rows,
        an unknown `by`, one refit alone or none for by="stability", and whatever `fit` refuses.

    Notes
    -----
    What it gets wrong: clusters of which pairs lie much closer than others may be taken as one (Iris has 2 by this evidence, and 3
    species); values that are few and discrete look like clusters; strokes and rings are no clusters of a plain space, so take
    kernel="landmark_graph" for them; clusters of less than a hundredth of the rows may not be seen. Stability is shown and does not
    decide: two or three groups of clusters are as stable as the clusters, and one cloud cut along its length is stable too.

    References
    ----------
    Simplified silhouette: Hruschka, Campello, de Castro: Evolving clusters in gene-expression data. Information Sciences 176, 2006.
    Comparison with rows without clusters: Tibshirani, Walther, Hastie: Estimating the number of clusters in a data set via the gap
    statistic. J. Royal Statistical Society B 63, 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import FuzzyCMeans, select
    >>> X, _ = make_blobs(500, centers=4, random_state=3)
    >>> selection = select(FuzzyCMeans(kernel="linear"), X, range(2, 9), random_state=0)
    >>> selection.n_clusters
    4
    >>> selection.estimator.predict(X).max()
    np.int64(3)
    """
    _check(estimator, by, n_bootstrap)
    numbers = _numbers(n_clusters)
    rng = check_random_state(estimator.random_state if random_state is None else random_state)
    drawn = _drawn(estimator, X, sample_weight, numbers[-1], rng)
    if numbers[0] >= len(drawn.weights):
        raise ValueError(f"select(n_clusters={n_clusters!r}): there are {len(drawn.weights)} distinct rows; take fewer clusters than that.")
    numbers = [number for number in numbers if number < len(drawn.weights)]
    grid = list(ParameterGrid(dict(param_grid or {})))
    trials = [_plain(estimator).set_params(**params) for params in grid]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of trials; the fit to all rows warns for itself
        tables, limits = zip(*[_evidence(trial, numbers, drawn, n_bootstrap, rng) for trial in trials], strict=True)
    shown = {name: np.repeat(np.array([params[name] for params in grid]), len(numbers)) for name in grid[0]}
    table = {"n_clusters": np.tile(numbers, len(grid)), **shown, **{name: np.concatenate([t[name] for t in tables]) for name in tables[0]}}
    judged = table[{"auto": "corrected"}.get(by, by)]
    top = int(np.argmax(table["corrected"] - np.repeat(limits, len(numbers))))
    limit = limits[top // len(numbers)]
    best = top if table["corrected"][top] <= limit else _best(table, judged, by)
    number = 1 if table["corrected"][top] <= limit else int(table["n_clusters"][best])
    params = grid[best // len(numbers)]
    chosen = clone(estimator).set_params(n_clusters=number, **params)
    chosen = chosen.fit(X, sample_weight=sample_weight) if refit else chosen
    return Selection(number, params, table, _reason(number, table, best, limit, by), chosen)


def corrected(silhouette: Any, chance: Any) -> Any:
    """The silhouette corrected for chance: 0 for rows without clusters, 1 for clusters that are points."""
    return (silhouette - chance) / (1.0 - chance)


@dataclass(frozen=True)
class _Sample:
    """Rows on which candidates are judged, and what rows without clusters would look like."""

    x: Any
    weights: Float64
    products: bool  # x holds the rows' kernel values

    @property
    def diag(self) -> Any:
        return np.diag(self.x).copy() if self.products else None

    def without_clusters(self, rng: np.random.RandomState) -> Iterator[list[_Sample]]:
        """For each shape, draw some samples that have the mean and covariance of this one."""
        few = self.part(NULL_ROWS, rng)
        null = (null_of_products if self.products else null_of_rows)(few.x, few.weights)
        times = int(np.clip(DRAWN // len(few.weights), FEWEST, MOST))
        generator = np.random.default_rng(rng.randint(2**31))
        for shape in SHAPES:
            yield [replace(few, x=null.draw(shape, generator)) for _ in range(times)]

    def part(self, size: int, rng: np.random.RandomState) -> _Sample:
        """Return some of the rows."""
        if len(self.weights) <= size:
            return self
        rows = np.sort(rng.choice(len(self.weights), size, replace=False))
        return replace(self, x=self.x[np.ix_(rows, rows)] if self.products else self.x[rows], weights=self.weights[rows])

    def in_coordinates(self, estimator: Any, most_clusters: int) -> tuple[Any, _Sample]:
        """Return an estimator and rows of the same problem, so that the landmarks of a space are found once, not for each candidate."""
        if self.products:
            return estimator, self
        judge = _hard(estimator).set_params(n_clusters=most_clusters, max_iter=1, search=None)
        if judge.n_landmarks == "auto":
            judge.n_landmarks = min(LANDMARKS_A_CLUSTER * most_clusters, len(self.weights))
        space = judge.fit(self.x, sample_weight=self.weights)._space
        if not isinstance(space, LandmarkSpace):
            return estimator, self
        whole = landmark_space(space.kernel, space.points, space.gram, numpy_dtype(self.x))
        known = clone(estimator).set_params(kernel="linear", n_landmarks="auto")
        return known, replace(self, x=whole.coordinates(Block(self.x, self.weights, 0)), products=False)

    def fitted(self, estimator: Any, n_clusters: int, **words: Any) -> Any:
        return clone(estimator).set_params(n_clusters=n_clusters, **words).fit(self.x, sample_weight=self.weights)

    def indices(self, model: Any) -> tuple[float, float]:
        """Return the simplified silhouette and the Xie-Beni index."""
        return silhouette_and_xie_beni(model, self.x, sample_weight=self.weights, diag=self.diag)


def _drawn(estimator: Any, X: Any, sample_weight: Any, most_clusters: int, rng: np.random.RandomState) -> _Sample:
    """Return a fair sample of the rows."""
    products = takes_kernel_values(estimator.kernel)
    given = read_rows(clone(estimator), X, fitting=True, sparse=not products)
    weight, unit = weights_of(given, sample_weight, "select")
    blocks = Blocks(given.x, weight, unit=unit)
    population = population_of(blocks, comparable=not products)
    size = max(ROWS, ROWS_A_CLUSTER * most_clusters)
    size = min(size, PRODUCTS if products else max(CELLS // max(1, blocks.x.shape[1]), 10 * most_clusters))
    positions, weights = sample(population, size, rng)
    order = np.argsort(population.at(positions), kind="stable")
    rows = population.at(positions)[order]
    x = blocks.take(rows).x
    return _Sample(np.ascontiguousarray(np.asarray(x)[:, rows]) if products else x, weights[order], products)


def _judged(known: Any, numbers: list[int], here: _Sample) -> dict[str, Float64]:
    """What a sample says of every number of clusters."""
    parts = []
    for number in numbers:
        started = time.perf_counter()
        model = here.fitted(known, number)
        silhouette, index = here.indices(model)
        parts.append((model.objective_, silhouette, index, time.perf_counter() - started))
    return dict(zip(("objective", "silhouette", "xie_beni", "seconds"), np.array(parts).T, strict=True))


def _stability(known: Any, numbers: list[int], here: _Sample, n_bootstrap: int, rng: np.random.RandomState) -> dict[str, Float64]:
    """How far refits to other samples agree, for every number of clusters."""
    few = here.part(max(REFIT_ROWS, REFIT_ROWS_A_CLUSTER * numbers[-1]), rng)
    # Each row of the sample is one that was drawn, whatever the user's unit of weight.
    weights, seed = few.weights * (len(few.weights) / few.weights.sum()), rng.randint(2**31)
    given = known.get_params(deep=False)
    quick = {"search": None, "n_init": max(REFIT_STARTS, given.get("n_init", 1)), "tol": max(REFIT_TOL, known.tol)}
    parts = []
    for number in numbers:
        model = few.fitted(known, number)
        own = {**quick, "n_clusters": number, "m": getattr(model, "m_", None)}  # settled once
        trial = clone(known).set_params(**{name: word for name, word in own.items() if name in given})
        found = agreement(trial, few.x, weights, model.labels_, len(model._state.centres), n_bootstrap, seed)
        parts.append((found.overall, found.error))
    return dict(zip(("stability", "stability_error"), np.array(parts).T, strict=True))


def _evidence(
    estimator: Any, numbers: list[int], drawn: _Sample, n_bootstrap: int, rng: np.random.RandomState
) -> tuple[dict[str, Float64], float]:
    """Return the columns of the table for one setting of the parameters, and the corrected silhouette that chance alone reaches."""
    known, here = drawn.in_coordinates(estimator, numbers[-1])
    table = _judged(known, numbers, here)
    chance, limit = _chance(estimator, numbers, drawn, rng)
    refits = _stability(known, numbers, here, n_bootstrap, rng) if n_bootstrap else {}
    columns = {**table, **refits, "chance": chance, "corrected": corrected(table["silhouette"], chance)}
    order = ("objective", "silhouette", "chance", "corrected", "xie_beni", *refits, "seconds")
    return {name: columns[name] for name in order}, limit


def _chance(estimator: Any, numbers: list[int], drawn: _Sample, rng: np.random.RandomState) -> tuple[Float64, float]:
    """Return the mean silhouettes (k,) of hard clusters of rows without any, and the most that such rows reach after correction."""
    means, tops = [], []
    for samples in drawn.without_clusters(rng):
        lines = []
        for one in samples:
            known, here = one.in_coordinates(_hard(estimator), numbers[-1])
            lines.append([here.indices(model)[0] for model in _in_a_row(known, numbers, here, rng)])
        values = np.array(lines)
        means.append(values.mean(axis=0))
        # Each is corrected by the others, as the rows are by all.
        tops += [corrected(line, np.delete(values, place, axis=0).mean(axis=0)).max() for place, line in enumerate(values)]
    return np.max(means, axis=0), float(np.mean(tops) + DEVIATIONS * np.std(tops))


def _in_a_row(known: Any, numbers: list[int], here: _Sample, rng: np.random.RandomState) -> Iterator[Any]:
    """Yield hard fits, each from the clusters of the one before and rows drawn as k-means++ draws them.

    That takes a sixth of the time of fits that begin anew and search, whose silhouettes for rows without clusters it has to 0.002. Where
    there are clusters it finds worse optima.
    """
    former: Any = None
    for number in numbers:
        init: Any = known.init
        if former is not None:
            costs, new = former._nearest * here.weights, number - former.n_clusters
            if np.count_nonzero(costs) > new:
                labels = former.labels_.copy()
                labels[rng.choice(len(costs), new, replace=False, p=costs / costs.sum())] = np.arange(former.n_clusters, number)
                init = labels if len(np.unique(labels)) == number else init
        former = here.fitted(known, number, init=init)
        yield former


def _best(table: dict[str, Any], judged: Any, by: str) -> int:
    """Return the place of the best candidate."""
    if by != "stability":
        return int(np.argmin(judged) if by == "xie_beni" else np.argmax(judged))
    top = int(np.argmax(judged))
    level = np.flatnonzero(judged >= judged[top] - table["stability_error"][top])
    return int(level[np.argmax(table["n_clusters"][level])])


def _plain(estimator: Any) -> Any:
    """Return an estimator for a sample in memory, of which nothing is kept or said."""
    given = estimator.get_params(deep=False)
    words: dict[str, Any] = {"engine": None, "checkpoint": None, "verbose": 0}
    # Starts and landmarks that are arrays belong to all rows, or to one number of clusters.
    words |= {name: word for name, word in OF_NAMES.items() if not isinstance(given.get(name), str)}
    return clone(estimator).set_params(**{name: value for name, value in words.items() if name in given})


def _hard(estimator: Any) -> KernelKMeans:
    """Return k-means in the space of an estimator."""
    own = estimator.get_params(deep=False)
    return KernelKMeans(**{name: own[name] for name in OF_SPACE if name in own})


def _check(estimator: Any, by: str, n_bootstrap: Any) -> None:
    if not isinstance(estimator, BaseCMeans):
        raise ValueError(f"select(estimator={estimator!r}): pass an estimator of this library.")
    if estimator._procedure().max_clusters is not None:
        raise ValueError(f"select(estimator={type(estimator).__name__}): it finds the number of clusters itself; fit it.")
    if estimator.kernel == "precomputed_graph" or isinstance(estimator.kernel, PrecomputedGraphKernel):
        raise ValueError("select: a part of the rows of a graph has another graph; see the fit's n_clusters_suggested_.")
    if by not in get_args(Evidence):
        raise ValueError(f"select(by={by!r}): known are {list(get_args(Evidence))}.")
    if integer(n_bootstrap, "n_bootstrap", "select", 0) == 1 or (by == "stability" and n_bootstrap == 0):
        raise ValueError(f"select(by={by!r}, n_bootstrap={n_bootstrap}): agreement of refits needs at least 2 of them.")


def _numbers(n_clusters: Iterable[int]) -> list[int]:
    try:
        numbers = sorted({int(number) for number in n_clusters if number == int(number)})
    except TypeError:
        raise ValueError(f"select(n_clusters={n_clusters!r}): give the numbers to choose from, such as range(2, 21).") from None
    if not numbers or numbers[0] < 2:
        raise ValueError(f"select(n_clusters={n_clusters!r}): give numbers of at least 2; 1 is the answer where there are no clusters.")
    return numbers


def _reason(number: int, table: dict[str, Any], best: int, limit: float, by: str) -> str:
    """Say in a sentence why."""
    numbers, s, after = (table[name] for name in ("n_clusters", "silhouette", "corrected"))
    seen = f"{s[best]:.3f}, against {table['chance'][best]:.3f} for rows without clusters but of the same covariance"
    if number == 1:
        return (
            f"No clusters: the silhouette of {numbers[best]} is {seen}; corrected for chance that is {after[best]:.3f}, "
            f"and chance alone reaches {limit:.3f}."
        )
    said = f"{number} clusters: their silhouette is {seen}"
    if by == "xie_beni":
        return f"{said}; their Xie-Beni index is the smallest, {table['xie_beni'][best]:.3g}."
    if by == "stability":
        return f"{said}; refits agree on them to {table['stability'][best]:.3f} +- {table['stability_error'][best]:.3f}."
    values, name = (s, "As it is") if by == "silhouette" else (after, "Corrected for chance")
    others = np.flatnonzero(numbers != number)
    if not len(others):
        return f"{said}."
    second = others[np.argmax(values[others])]
    return f"{said}. {name} it is the largest, {values[best]:.3f}; that of {numbers[second]} comes next, {values[second]:.3f}."


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
