"""Differences between clusters: their means in the columns of the input, beside those of all other
rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray, host_float64, is_sparse, ratios
from .rows import InspectedRows

DISTINCT = 0.5  # deviations between means from which on a column is said to set a cluster apart
FULL = 3.0  # deviations from which on pictures of means have the full colour
Words = tuple[str, str, str, str]
AMOUNTS: Words = ("high", "low", "higher", "lower")
SHARES: Words = ("often", "rarely", "more often", "less often")
DATES: Words = ("late", "early", "later", "earlier")
WORDS = 3  # columns at most that a cluster is named by


@dataclass(frozen=True)
class Contrast:
    """Weighted means of the columns by cluster, a row counting by its membership; over n rows in c
    clusters and d columns. Rows in which a column has no value have no part in it, nor do cells
    that lie far from all others of their column; but a cluster (or the rest) most of whose cells in
    a column are such has the mean of these.

    Attributes
    ----------
    means : (c, d) of each cluster;  mean_j = sum_i w_i u_ij x_i / sum_i w_i u_ij.
    rest : (c, d) of all that is not in it, with weights w_i (1 - u_ij).
    mean, deviation : (d,) of all rows.
    feature_names : d names.
    words : of columns that are not merely high and low: what is said of larger and smaller means,
        by themselves and beside others.
    """

    means: Float64
    rest: Float64
    mean: Float64
    deviation: Float64
    feature_names: tuple[str, ...]
    words: Mapping[int, Words] = field(default_factory=dict)

    @cached_property
    def differences(self) -> Float64:
        """(c, d) mean of the cluster less that of the rest, in deviations of the column; 0 for
        constant columns."""
        return ratios(self.means - self.rest, self.deviation)

    @cached_property
    def standardized(self) -> Float64:
        """(c, d) mean of the cluster less that of all rows, in deviations of the column."""
        return ratios(self.means - self.mean, self.deviation)

    @cached_property
    def lift(self) -> Float64:
        """(c, d) mean of the cluster over that of all rows, for columns of counts; 1 where that is
        0."""
        return ratios(self.means, self.mean, 1.0)

    def leading(self, cluster: int, most: int) -> IntArray:
        """Return the columns that set a cluster apart, the most different first."""
        return np.argsort(-np.abs(self.differences[cluster]), kind="stable")[:most]

    @cached_property
    def names(self) -> list[str]:
        """A few words on each cluster: "high alcohol, low hue"; "average" where no column sets it
        apart. Clusters of which the same would be said end in the column in which they differ most
        from one another: "high alcohol, lower hue"."""
        words = [self._words(cluster) for cluster in range(len(self.means))]
        alike = dict[frozenset[tuple[int, str]], list[int]]()
        for cluster, said in enumerate(words):
            alike.setdefault(frozenset(said.items()), []).append(cluster)
        for group in alike.values():
            for cluster in group if len(group) > 1 else ():
                column, word = self._apart(cluster, [other for other in group if other != cluster])
                own = words[cluster]
                if word and column not in own:
                    words[cluster] = dict([*list(own.items())[: WORDS - 1], (column, word)])
                elif word and self._said(column).index(word) == 2 + self._said(column).index(
                    own[column]
                ):
                    # of those that are high in it, this one is higher
                    own[column] = word
        return [
            ", ".join(f"{word} {self.feature_names[k]}" for k, word in said.items()) or "average"
            for said in words
        ]

    def _words(self, cluster: int) -> dict[int, str]:
        """Return the columns that set a cluster apart from all others, and whether it is high or
        low there."""
        own = self.differences[cluster]
        return {
            int(k): self._said(int(k))[int(own[k] <= 0)]
            for k in self.leading(cluster, WORDS)
            if abs(own[k]) >= DISTINCT
        }

    def _apart(self, cluster: int, others: list[int]) -> tuple[int, str]:
        """Return the column that sets a cluster apart from some others, and a word, which is empty
        where none does."""
        difference = self.standardized[cluster] - self.standardized[others].mean(axis=0)
        column = int(np.argmax(np.abs(difference)))
        if abs(difference[column]) < DISTINCT:
            return column, ""
        return column, self._said(column)[2 + int(difference[column] <= 0)]

    def _said(self, column: int) -> Words:
        return self.words.get(column, AMOUNTS)


def contrast_of(seen: InspectedRows, feature_names: tuple[str, ...]) -> Contrast | None:
    """Return the contrast of some rows; None where they have no columns."""
    if seen.x is None:
        return None
    x, weight = seen.x, seen.weight
    for k, far in seen.far.items():
        x = x.copy() if x is seen.x else x
        x[far, k] = np.nan
    share = seen.memberships * weight[:, None]
    total, mass = weight.sum(), share.sum(axis=0)[:, None]  # of all columns, or of each
    if not is_sparse(x) and np.isnan(x).any():
        observed = ~np.isnan(x)
        total, mass = weight @ observed, share.T @ observed
    total = np.maximum(total, np.finfo(float).tiny)
    sums = _product(share.T, x)
    whole = _product(weight[None, :], x)[0]
    mean = whole / total
    if is_sparse(x):
        scatter = np.asarray(x.multiply(x).T @ weight).ravel() - total * mean**2
    else:
        scatter = weight @ _filled((x - mean) ** 2)
    deviation = np.sqrt(np.maximum(scatter / total, 0.0))
    deviation[deviation <= 1e-12 * np.abs(mean)] = 0.0  # rounding of a constant column
    means = ratios(sums, mass, mean)
    left = total - mass
    # Typicalities may add up to more than the rows: there is no rest then, and all rows stand for
    # it.
    rest = np.divide(
        whole - sums, left, out=np.tile(mean, (len(mass), 1)), where=left > 1e-9 * total
    )
    for k in seen.far:
        _take_far(means[:, k], share, seen, k)
        _take_far(rest[:, k], weight[:, None] - share, seen, k, inside=False)
    words = {int(k): SHARES for k in np.flatnonzero(_are_indicators(x))}
    words |= dict.fromkeys(seen.dates, DATES)
    return Contrast(means, rest, mean, deviation, feature_names, words)


def _take_far(
    means: Float64, share: Float64, seen: InspectedRows, k: int, inside: bool = True
) -> None:
    """Put the mean of the far cells of a column in the place of the mean (c,) of each cluster in
    whose rows (`inside`; else in all other rows) most cells are far."""
    far, cells = seen.far[k], seen.column(k)
    own = (seen.labels[:, None] == np.arange(seen.n_clusters)) == inside
    mostly = (
        seen.weight @ (far[:, None] & own) > seen.weight @ (~np.isnan(cells)[:, None] & own) / 2
    )
    mass = share[far].sum(axis=0)
    mostly &= mass > 0
    means[mostly] = (cells[far] @ share[far])[mostly] / mass[mostly]


def _are_indicators(x: Any) -> npt.NDArray[np.bool_]:
    """Return which columns hold zeros and ones alone, and both; of counts in a sparse matrix
    none."""
    if is_sparse(x):
        return np.zeros(x.shape[1], dtype=bool)
    one, nothing = x == 1, x == 0
    alone: npt.NDArray[np.bool_] = (one | nothing | np.isnan(x)).all(axis=0)
    both: npt.NDArray[np.bool_] = one.any(axis=0) & nothing.any(axis=0)
    return alone & both


def _product(a: Float64, x: Any) -> Float64:
    return host_float64((x.T @ a.T).T if is_sparse(x) else a @ _filled(x))


def _filled(values: Float64) -> Float64:
    """Return values with 0 in place of missing ones."""
    missing = np.isnan(values)
    return np.where(missing, 0.0, values) if missing.any() else values
