"""Choosing the number of clusters by silhouettes, corrected for what rows without clusters would
give."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from ..data.blocks import Blocks
from ..fitting.arguments import Auto
from ..fitting.fit import MAY_CHANGE, BaseCMeans
from ..fitting.kernel_evidence import given_kernel
from ..runtime.checks import integer, is_auto
from ..runtime.numerals import in_digits, several, told_apart
from ..runtime.progress import trials as telling_of_trials
from ..runtime.tables import aligned, html_lines, html_table, texts_of
from ..runtime.user_warnings import warn
from ..solvers.checkpoints import Checkpoint, CheckpointLog, checked_checkpoint
from ..solvers.fit_identity import fingerprint, formatted
from .evidence import ENOUGH, evidence, for_trials, given_rows, trial_rows
from .steps import SelectionSteps

Evidence = Literal["auto", "silhouette", "xie_beni", "stability", "bic", "icl"]
OF_LIKELIHOODS = ("auto", "stability", "bic", "icl")
OF_DISTANCES = ("auto", "silhouette", "xie_beni", "stability")
NUMBERS = range(2, 21)  # that are tried where nothing is said
REFITS = 20  # where stability decides
LEAST = ("xie_beni", "bic", "icl")  # of which the least is the best


@dataclass(frozen=True)
class Selection:
    """The result of `select`.

    Attributes
    ----------
    n_clusters : int
        The number of clusters; 1 where the rows show none.
    params : dict
        The other parameters that were chosen, of `param_grid`.
    table : dict of arrays, one entry a candidate
        "n_clusters" and the names of `param_grid`, "objective", "silhouette" (simplified), "chance"
        (the mean silhouette of rows without clusters), "corrected" ((silhouette - chance) / (1 -
        chance)), "xie_beni", "stability" (adjusted Rand index with refits on bootstrap weights) and
        "stability_error" (its standard error) where refits were asked for, and "seconds"; of
        mixtures "bic" and "icl" in place of silhouettes and "xie_beni". `pandas.DataFrame(table)`
        shows it.
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
        head, rows = self._cells()
        return f"{aligned(head, rows)}\n{self.reason}"

    def _repr_html_(self) -> str:
        head, rows = self._cells()
        own = {"n_clusters": self.n_clusters, **self.params}
        chosen = [
            at
            for at in range(len(rows))
            if all(np.array_equal(self.table[name][at], value) for name, value in own.items())
        ]
        return html_table(head, rows, chosen) + html_lines([self.reason])

    def _cells(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return the names of the columns, and the rows as text."""
        return list(self.table), list(zip(*map(texts_of, self.table.values()), strict=True))


def select(
    estimator: Any,
    X: Any,
    n_clusters: Iterable[int] = NUMBERS,
    *,
    by: Evidence = "auto",
    n_bootstrap: int | Auto = "auto",
    sample_size: int | Auto | None = "auto",
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    sample_weight: Any = None,
    random_state: Any = None,
    refit: bool = True,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
) -> Selection:
    """Choose the number of clusters, and fit.

    Every number is fitted and judged on a fair sample of at most 3,000 rows (100 for each of the
    most clusters, if that is more), then the chosen one is fitted to all. The evidence is the
    simplified silhouette corrected for chance:

        s  = sum_i w_i (b_i - a_i) / b_i / sum_i w_i,   a_i and b_i: distances, in the estimator's
        space, to the two nearest centres s' = (s - s0) / (1 - s0),                       s0: the
        mean of s for rows without clusters

    Rows without clusters are drawn from one cloud with the mean and covariance of the sample, once
    normal and once uniform along its principal axes, twice each and more often where the answer
    hangs on chance. k-means in the estimator's space is fitted to each draw, with numbers of
    clusters some 1.3 times apart, between which s0 is interpolated; the larger of the two means
    counts. The number of largest s' is chosen, unless it is no larger than the best of such draws
    reach (their mean and three standard deviations): then there are no clusters to see, and 1 is
    the answer.

    Of columns that are no cloud's the draws keep what they have by themselves: skewed ones, such as
    incomes, come from a cloud of their powers (Yeo & Johnson 2000); values told in steps are
    rounded to these; categories, columns of two values, one-hot ones together, are drawn without
    regard to the others.

    Of a `GaussianMixture` the evidence is its likelihood: the number of the least BIC is chosen,
    and 1 is always among those that are judged.

    Parameters
    ----------
    estimator : an estimator of this library with `n_clusters`; its parameters stay as they are.
    X : rows as its `fit` takes them, files and kernel matrices too.
    n_clusters : numbers to choose from, default 2 to 20. Those that are not below the number of
        distinct rows are left out.
    by : {"auto", "silhouette", "xie_beni", "stability", "bic", "icl"}, default="auto"
        What chooses among the numbers, where there are clusters: the corrected silhouette, the
        silhouette as it is, the Xie-Beni index, or the stability: the largest number whose refits
        agree as well as those of the best, to its standard error. Of mixtures "auto" is "bic";
        "icl" wants clusters that are apart.
    n_bootstrap : int or "auto", default="auto"
        Refits for each number, on at most 1,000 rows (20 for each of the most clusters, if that is
        more), from three starts and without a search. They take longer than all else. "auto": 20
        where stability decides, else none; 0: none, and no such columns. See `stability` for a
        fitted model's, cluster by cluster.
    sample_size : int, "auto" or None, default="auto"
        Rows at most that numbers are judged on, drawn by their weights. "auto": 3,000, or 100 for
        each of the most clusters; None: all, which must fit into memory.
    param_grid : dict of lists, optional
        Further parameters to choose, such as {"m": [1.5, 2], "gamma": [0.1, 1]}: all combinations
        are fitted with every number.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    random_state : int, RandomState or None
        Draws the sample and the rows without clusters. None: `estimator.random_state`.

    refit : bool, default=True
        Whether the choice is fitted to all rows; else `Selection.estimator` has the parameters
        alone.
    checkpoint : path, Checkpoint or None, default=None
        A file that keeps every candidate that was judged, and every draw and refit, so that a
        selection that is killed goes on from there: with the same rows and parameters it ends in
        the same table. The last fit to all rows is not part of it.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        For an estimator that finds the number itself or is not of this library, numbers below 2 or
        none that is below the number of rows, a `by` that is unknown or of other estimators
        (likelihoods are of mixtures, silhouettes of all but these), one refit alone or none for
        by="stability", a `sample_size` below 1, and whatever `fit` refuses.

    Notes
    -----
    What it gets wrong: clusters of which pairs lie much closer than others may be taken as one
    (Iris has 2 by this evidence, and 3 species); strokes and rings are no clusters of a plain
    space, so take kernel="landmark_graph" for them; clusters of less than a hundredth of the rows
    may not be seen. Stability is shown and does not decide: two or three groups of clusters are as
    stable as the clusters, and one cloud cut along its length is stable too.

    References
    ----------
    Simplified silhouette: Hruschka, Campello, de Castro: Evolving clusters in gene-expression data.
    Information Sciences 176, 2006. Comparison with rows without clusters: Tibshirani, Walther,
    Hastie: Estimating the number of clusters in a data set via the gap statistic. J. Royal
    Statistical Society B 63, 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import FuzzyCMeans, select
    >>> X, _ = make_blobs(200, centers=4, random_state=3)
    >>> selection = select(FuzzyCMeans(kernel="linear"), X, range(3, 6), random_state=0)
    >>> selection.n_clusters
    4
    >>> selection.estimator.predict(X).max()
    np.int64(3)
    """
    refits = _check(estimator, by, n_bootstrap)
    if sample_size is not None and not is_auto(sample_size):
        integer(sample_size, "sample_size", "select", 1)
    numbers = _numbers(n_clusters)
    if estimator._has_likelihood and by != "stability":
        numbers, by = sorted({1, *numbers}), "bic" if by == "auto" else by
    rng = check_random_state(estimator.random_state if random_state is None else random_state)
    rows = given_rows(estimator, X, sample_weight)
    log = _log(
        checkpoint,
        estimator,
        rows,
        rng,
        {
            "numbers": numbers,
            "by": by,
            "refits": refits,
            "sample": sample_size,
            "grid": dict(param_grid or {}),
        },
    )
    size = rows.n_rows if sample_size is None else sample_size
    rng = rng if log is None else log.rng
    drawn = trial_rows(estimator, rows, numbers[-1], rng, size)
    if numbers[0] >= len(drawn.weights):
        raise ValueError(
            f"select(n_clusters={n_clusters!r}): there are {len(drawn.weights)} distinct rows; "
            "take fewer clusters than that."
        )
    numbers = [number for number in numbers if number < len(drawn.weights)]
    grid = list(ParameterGrid(dict(param_grid or {})))
    trials = [for_trials(estimator).set_params(**params) for params in grid]
    fits = len(trials) * (len(numbers) * (1 + bool(refits)) + 2 * ENOUGH)
    with warnings.catch_warnings(), telling_of_trials(fits) as ended:
        warnings.simplefilter("ignore")  # of trials; the fit to all rows warns for itself
        steps = SelectionSteps(rng, log, ended=ended)
        scopes = [steps.within(f"setting {number}") for number in range(len(trials))]
        found = [
            evidence(trial, numbers, drawn, refits, own)
            for trial, own in zip(trials, scopes, strict=True)
        ]
    tables, limits = zip(*found, strict=True)
    if log is not None:
        log.write()
    shown = {
        name: np.repeat(np.array([params[name] for params in grid]), len(numbers))
        for name in grid[0]
    }
    table = {
        "n_clusters": np.tile(numbers, len(grid)),
        **shown,
        **{name: np.concatenate([t[name] for t in tables]) for name in tables[0]},
    }
    judged = table[{"auto": "corrected"}.get(by, by)]
    beyond = table.get("corrected", np.zeros(len(judged))) - np.repeat(limits, len(numbers))
    top = int(np.argmax(beyond))
    limit = limits[top // len(numbers)]
    best = _best(table, judged, by) if beyond[top] > 0 else top
    number = int(table["n_clusters"][best]) if beyond[top] > 0 else 1
    ends = number == numbers[-1] and len(numbers) > 1
    if ends and number == NUMBERS[-1] and n_clusters == NUMBERS:
        warn(
            f"select: {number} clusters are the most that were tried, and the best; there may be "
            f"more. Give a wider range, such as n_clusters=range(2, {2 * number + 1})."
        )
    params = grid[best // len(numbers)]
    chosen = clone(estimator).set_params(n_clusters=number, **params)
    chosen = chosen.fit(X, sample_weight=sample_weight) if refit else chosen
    reason = _reason(number, table, best, limit, by)
    reason += f" No more than {number} were tried." if ends else ""
    return Selection(number, params, table, reason, chosen)


def _log(
    checkpoint: Any,
    estimator: Any,
    rows: Blocks,
    rng: np.random.RandomState,
    asked: Mapping[str, Any],
) -> CheckpointLog | None:
    """Return the log of a selection, if a checkpoint is set."""
    kept = checked_checkpoint(checkpoint, "select")
    if kept is None:
        return None
    parameters = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in MAY_CHANGE
    }
    if isinstance(estimator.random_state, (int, np.integer)):  # by which every candidate is fitted
        parameters["random_state"] = int(estimator.random_state)
    with estimator._engine(rows) as engine:
        identity = {
            "selection of": type(estimator).__name__,
            **formatted(parameters),
            **formatted(asked),
            **fingerprint(rows, engine),
        }
    return CheckpointLog(kept, identity, rng)


def _best(table: dict[str, Any], judged: Any, by: str) -> int:
    """Return the index of the number of clusters that an evidence speaks for."""
    if by != "stability":
        return int(np.argmin(judged) if by in LEAST else np.argmax(judged))
    top = int(np.argmax(judged))
    level = np.flatnonzero(judged >= judged[top] - table["stability_error"][top])
    return int(level[np.argmax(table["n_clusters"][level])])


def _check(estimator: Any, by: str, n_bootstrap: Any) -> int:
    """Refuse what is invalid for all rows; return the number of refits."""
    own = getattr(estimator, "_own_evidence", None)
    if own is not None:
        raise ValueError(
            f"select(estimator={type(estimator).__name__}): the evidence is of clusters with "
            f'centres; those of this one are judged by its {own}, and where it takes "auto" for '
            "n_clusters it finds the number in one fit."
        )
    if not isinstance(estimator, BaseCMeans):
        if isinstance(estimator, Pipeline):
            steps = "; of a pipeline, select(pipeline[-1], pipeline[:-1].transform(X))"
        else:
            steps = ""
        raise ValueError(
            f"select(estimator={type(estimator).__name__}): pass an estimator of this library, "
            f"such as FuzzyCMeans(){steps}."
        )
    if estimator._procedure().most_clusters is not None:
        raise ValueError(
            f"select(estimator={type(estimator).__name__}): it finds the number of clusters "
            "itself; fit it."
        )
    if given_kernel(estimator, "select").takes_affinities:
        raise ValueError(
            "select: a part of the rows of a graph has another graph; see the fit's "
            "n_clusters_suggested_."
        )
    if by not in get_args(Evidence):
        raise ValueError(f"select(by={by!r}): known are {list(get_args(Evidence))}.")
    known = OF_LIKELIHOODS if estimator._has_likelihood else OF_DISTANCES
    if by not in known:
        raise ValueError(
            f"select(estimator={type(estimator).__name__}, by={by!r}): likelihoods are of mixtures "
            f"alone, silhouettes of all others; take one of {list(known)}."
        )
    if is_auto(n_bootstrap):
        return REFITS if by == "stability" else 0
    refits = integer(n_bootstrap, "n_bootstrap", "select", 0)
    if refits == 1 or (by == "stability" and refits == 0):
        raise ValueError(
            f"select(by={by!r}, n_bootstrap={n_bootstrap}): agreement of refits needs at least 2 "
            "of them."
        )
    return refits


def _numbers(n_clusters: Iterable[int]) -> list[int]:
    try:
        numbers = sorted({int(number) for number in n_clusters if number == int(number)})
    except TypeError:
        raise ValueError(
            f"select(n_clusters={n_clusters!r}): give the numbers to choose from, such as range(2, "
            "21)."
        ) from None
    if not numbers or numbers[0] < 2:
        raise ValueError(
            f"select(n_clusters={n_clusters!r}): give numbers of at least 2; 1 is the answer where "
            "there are no clusters."
        )
    return numbers


def _reason(number: int, table: dict[str, Any], best: int, limit: float, by: str) -> str:
    """Say in a sentence why."""
    if "bic" in table:
        return _reason_by_likelihood(number, table, best, by)
    numbers, s, after = (table[name] for name in ("n_clusters", "silhouette", "corrected"))
    seen = (
        f"{s[best]:.3f}, against {table['chance'][best]:.3f} for rows without clusters but of "
        "the same covariance"
    )
    if number == 1:
        return (
            f"No clusters: the silhouette of {numbers[best]} is {seen}; corrected for chance that "
            f"is {after[best]:.3f}, and chance alone reaches {limit:.3f}."
        )
    said = f"{number} clusters: their silhouette is {seen}"
    if by == "xie_beni":
        return (
            f"{said}; their Xie-Beni index is the smallest, {in_digits(table['xie_beni'][best])}."
        )
    if by == "stability":
        return (
            f"{said}; refits agree on them to {table['stability'][best]:.3f} +- "
            f"{table['stability_error'][best]:.3f}."
        )
    values, name = (s, "As it is") if by == "silhouette" else (after, "Corrected for chance")
    others = np.flatnonzero(numbers != number)
    if not len(others):
        return f"{said}."
    second = others[np.argmax(values[others])]
    return (
        f"{said}. {name} it is the largest, {values[best]:.3f}; that of {numbers[second]} comes "
        f"next, {values[second]:.3f}."
    )


def _reason_by_likelihood(number: int, table: dict[str, Any], best: int, by: str) -> str:
    """Say in a sentence why, of a mixture."""
    said = several(number, "cluster")
    if by == "stability":
        return (
            f"{said}: refits agree on them to {table['stability'][best]:.3f} +- "
            f"{table['stability_error'][best]:.3f}."
        )
    values, others = table[by], np.flatnonzero(table["n_clusters"] != number)
    said += f": {by.upper()} is the least, "
    if not len(others):
        return f"{said}{in_digits(values[best])}."
    second = others[np.argmin(values[others])]
    least, next_least = told_apart(values[[best, second]])
    return f"{said}{least}; that of {table['n_clusters'][second]} comes next, {next_least}."
