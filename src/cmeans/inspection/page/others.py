"""Other partitions of the rows of a page, beside the one of its model: other numbers of clusters,
other means, other models."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...data.arrays import Array, Float64, IntArray, is_sparse
from ...fitting.seen_rows import KnowsOthers, OtherPartition
from ..contrast import contrast_of
from ..rows import InspectedRows, inspected
from .partition import ShownPartition

# A model with another number of clusters is fitted to so many rows at most, with less care: pages
# show what such clusters are like, and nobody goes on with them.
REFITTED = 2_000
LESS_CARE = {"tol": 1e-3, "max_iter": 50}
MOST = 10  # clusters up to which numbers are shown by themselves, from 2 on
AROUND = 3  # numbers before and after that of a model with more clusters

OF_SILHOUETTES = "The mean silhouette, by centres: clusters that are far apart have much."
OF_LIKELIHOODS = "The Bayesian information criterion: the least is the best."
OF_NOTHING = ""


@dataclass(frozen=True)
class Others:
    """Partitions of a page beside its own, and what their evidence is."""

    partitions: list[ShownPartition]
    evidence: str
    own: float = float("nan")  # the evidence of the page's own partition


def numbers_around(n_clusters: int) -> list[int]:
    """Return the numbers of clusters that are shown beside one."""
    most = max(n_clusters + 2, 6)
    if most <= MOST:
        return list(range(2, most + 1))
    return list(range(n_clusters - AROUND, n_clusters + AROUND + 1))


def others_of(model: Any, seen: InspectedRows, numbers: Sequence[int], caller: str) -> Others:
    """Return the partitions that a model knows, or has where it is fitted again."""
    if seen.taken is None:
        return Others([], OF_NOTHING)
    if isinstance(model, KnowsOthers):
        found = list(model._other_partitions(seen.taken, numbers))
        same = (one.evidence for one in found if np.array_equal(one.labels, seen.labels))
        partitions = list(_known(found, seen))
        return Others(partitions, model._other_evidence, next(same, float("nan")))
    return _refitted(model, seen, numbers, caller)


def candidates_of(choice: KnowsOthers, seen: InspectedRows) -> list[ShownPartition]:
    """Return the partitions of the candidates of a choice by evidence."""
    return [
        ShownPartition(
            one.name.replace(", ", "-").replace(" ", "-"),
            one.name,
            seen_with(seen, one.labels, one.n_clusters),
            one.evidence,
            False,
            one.verdict,
        )
        for one in choice._other_partitions(seen.taken, ())
    ]


def _known(found: Sequence[OtherPartition], seen: InspectedRows) -> Iterator[ShownPartition]:
    """Yield what a model knows, but for its own partition."""
    for at, one in enumerate(found):
        if not np.array_equal(one.labels, seen.labels):
            earlier = [other.n_clusters for other in found[:at]].count(one.n_clusters)
            key = f"{one.n_clusters}" + (f"-{earlier + 1}" if earlier else "")
            rows = seen_with(seen, one.labels, one.n_clusters)
            yield ShownPartition(key, f"{one.n_clusters:,} clusters", rows, one.evidence)


def seen_with(seen: InspectedRows, labels: IntArray, n_clusters: int) -> InspectedRows:
    """Return rows with other labels: hard ones, whose distances are those to the means of their
    columns, in deviations."""
    memberships = (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    rows = replace(seen, labels=labels, memberships=memberships, is_soft=False)
    return replace(rows, distances=_to_means(rows))


def _to_means(seen: InspectedRows) -> Float64:
    """Return distances (s, c) to the means of clusters, each column in its deviations."""
    contrast = contrast_of(seen, seen.feature_names)
    distances = np.zeros(seen.memberships.shape)
    if contrast is None:
        return distances
    unit = np.where(contrast.deviation > 0, contrast.deviation, 1.0)
    means = contrast.means / unit
    x: Any = seen.x
    if is_sparse(x):
        x = x.multiply(1 / unit).tocsr()
        squares = np.asarray(x.multiply(x).sum(axis=1)).ravel()[:, None] - 2 * (x @ means.T)
        far: Float64 = np.sqrt(np.maximum(squares + (means**2).sum(axis=1), 0.0))
        return far
    for j, mean in enumerate(means):
        away = np.nan_to_num(x / unit - mean)
        distances[:, j] = np.sqrt(np.einsum("ik,ik->i", away, away))
    return distances


def _refitted(model: Any, seen: InspectedRows, numbers: Sequence[int], caller: str) -> Others:
    """Return the partitions of a model that is fitted again with other numbers of clusters. The
    evidence of its own number is that of such a fit too, so that numbers compare."""
    if "n_clusters" not in model.get_params(deep=False) or seen.n_clusters < 1:
        return Others([], OF_NOTHING)
    x: Any = seen.taken
    has_likelihood = hasattr(model, "bic")
    partitions, own = [], float("nan")
    for number in dict.fromkeys([*numbers, seen.n_clusters]):
        again = _fitted(model, x, seen.weight, number)
        if again is None:
            continue
        rows = inspected(again, x, caller, sample_weight=seen.weight, most=len(seen.numbers))
        value = float(again.bic(x, seen.weight)) if has_likelihood else _silhouette(rows)
        if number == seen.n_clusters:
            own = value
            continue
        shown = rows_of_page(rows, seen)
        partitions.append(ShownPartition(str(number), f"{number:,} clusters", shown, value))
    return Others(partitions, OF_LIKELIHOODS if has_likelihood else OF_SILHOUETTES, own)


def rows_of_page(rows: InspectedRows, seen: InspectedRows) -> InspectedRows:
    """Return what another model says of the rows of a page, with their columns as the page has
    them."""
    names = ("x", "feature_names", "numbers", "n_rows", "dates")
    return replace(rows, **{name: getattr(seen, name) for name in names})


def _fitted(model: Any, x: Array, weight: Float64, number: int) -> Any:
    """Return the model with another number of clusters, fitted to some rows; None where its other
    parameters or the rows do not allow it."""
    if not 0 < number < len(weight):
        return None
    given, step = model.get_params(deep=False), -(-len(weight) // REFITTED)
    words = {name: value for name, value in LESS_CARE.items() if name in given}
    again = clone(model).set_params(n_clusters=number, **words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a number that nobody has chosen
        try:
            return again.fit(x[::step], sample_weight=weight[::step])
        except ValueError:
            return None


def _silhouette(seen: InspectedRows) -> float:
    inside = seen.labels >= 0
    if not inside.any():
        return float("nan")
    return float(np.average(seen.silhouettes[inside], weights=seen.weight[inside] + 1e-300))
