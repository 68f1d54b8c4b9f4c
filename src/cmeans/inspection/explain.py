"""Explanations: the columns that set clusters apart, and a small tree of rules that tells them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..runtime.checks import integer
from ..runtime.numerals import percent, several
from ..runtime.tables import html_lines, html_table
from .contrast import Contrast, contrast_of
from .rows import InspectedRows, inspected, named_features
from .tables import Table
from .tree_rules import ShortRule, text_of, tree_of
from .wording import said_of

BETWEEN = 0.5  # largest membership below which a soft row lies between clusters
NEARLY_EQUAL = 0.1  # simplified silhouette below which a hard row does
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Explanation:
    """Differences that set the clusters of a model apart.

    Attributes
    ----------
    columns : Table, `n_columns` rows a cluster, the most different first: "cluster", "column",
        "difference" (mean of the cluster less that of the rest, in deviations of the column),
        "inside" and "outside" (these means; of columns of zeros and ones, shares), "low", "middle",
        "high" (10, 50 and 90% of the cluster's rows lie below), "lift" (mean inside over the mean
        of all rows: for counts).
    sentences : of each cluster, how its means in these columns differ from those of the other
        rows, each column in its unit: "spend 6 times the average (1,204, elsewhere 166)".
    short_rules : tuple of ShortRule
        Few conditions that tell the clusters, from a small tree: "spend above 1,200 and age below
        30". A threshold is the number of the fewest digits that parts the same rows.
    rules : str, these as lines, cluster by cluster.
    fidelity : float
        Share of the weight whose cluster the rules tell rightly.
    between : numbers of the rows that lie between clusters: of soft clusters those with no
        membership of a half, of hard ones those whose simplified silhouette is below 0.1.
    noise : numbers of the rows of no cluster.
    tree : the tree, of scikit-learn, over the columns.
    """

    columns: Table
    sentences: tuple[tuple[str, ...], ...]
    short_rules: tuple[ShortRule, ...]
    fidelity: float
    between: IntArray
    noise: IntArray
    tree: Any = field(repr=False)

    @property
    def rules(self) -> str:
        return text_of(self.short_rules, [f"cluster {j}" for j in range(len(self.sentences))])

    def __str__(self) -> str:
        parts = [
            "\n  ".join([f"cluster {cluster}", *said])
            for cluster, said in enumerate(self.sentences)
        ]
        return "\n".join([*parts, self._head, self.rules.rstrip(), self._tail])

    def _repr_html_(self) -> str:
        apart = [(str(cluster), "; ".join(said)) for cluster, said in enumerate(self.sentences)]
        rules = [
            line.removeprefix("cluster ").strip().split(": ", 1) for line in self.rules.splitlines()
        ]
        return (
            html_table(["cluster", "what sets it apart"], apart)
            + html_lines([self._head])
            + html_table(["cluster", "rule"], rules)
            + html_lines([self._tail])
        )

    @property
    def _head(self) -> str:
        return f"rules that tell {percent(self.fidelity)} of the rows rightly:"

    @property
    def _tail(self) -> str:
        between, noise = len(self.between), len(self.noise)
        return f"{several(between, 'row')} between clusters, {several(noise, 'row')} in none"


def explain(
    model: Any,
    X: Any,
    *,
    values: Any = None,
    feature_names: Any = None,
    sample_weight: Any = None,
    inverse_transform: Callable[[Any], Any] | None = None,
    n_columns: int = 5,
    max_depth: int = 3,
) -> Explanation:
    """Explain the clusters of a fitted model by the columns of its input.

    Means are weighted by memberships. Cells that lie far from all others of their column, such as
    slips of typing and codes for nothing, have no part in them, but in clusters most of whose cells
    are such. Of a text's term counts (a sparse X, say) "lift" names the
    terms that are more frequent in a cluster than over all; the tree is scikit-learn's, fitted to
    the labels, a row weighing its weight times its largest membership.

    Parameters
    ----------
    model : a fitted estimator of this library, with any kernel on rows of features, or a pipeline
        that ends in one.
    X : (n, d) rows as its `predict` takes them: those of the fit, or others; files too. Of more
        than 50,000 as many, evenly spaced, are read.
    values : (n, k) other columns of the same rows, default=None: those of X
        What to explain clusters by, where people do not know the columns of the fit: an array, a
        sparse matrix or a data frame, such as counts of genes beside their principal axes.
    feature_names : names of the columns, default=None: those of the fit or of `values`, or numbers.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    inverse_transform : function of rows as the model takes them, default=None
        Brings them to the units to show, such as a scaler's `inverse_transform`.
    n_columns : int, default=5
        Columns to name for each cluster.
    max_depth : int, default=3
        Questions in a row that the tree asks at most; more where clusters are more than so many
        questions can tell.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        For rows of a precomputed kernel, which have no columns, without `values`; for values of
        other rows, and for a model or rows that are none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans
    >>> from cmeans.inspection import explain
    >>> iris = load_iris()
    >>> model = KernelKMeans(3, kernel="linear", random_state=0).fit(iris.data)
    >>> told = explain(model, iris.data, feature_names=iris.feature_names, max_depth=2)
    >>> round(told.fidelity, 2) > 0.9
    True
    """
    caller = "explain"
    n_columns = integer(n_columns, "n_columns", caller, 1)
    max_depth = integer(max_depth, "max_depth", caller, 1)
    seen = inspected(
        model,
        X,
        caller,
        sample_weight=sample_weight,
        inverse_transform=inverse_transform,
        values=values,
    )
    names = named_features(feature_names, seen, caller)
    if seen.x is None:
        raise ValueError(
            f"{caller}: rows of a precomputed kernel have no columns to explain clusters by; give "
            "some as values=..., or a model of features."
        )
    return explanation_of(seen, names, n_columns, max_depth)


def explanation_of(
    seen: InspectedRows, names: tuple[str, ...], n_columns: int, max_depth: int
) -> Explanation:
    """Return the explanation of rows that have columns."""
    contrast = contrast_of(seen, names)
    assert contrast is not None
    order = np.argsort(-np.abs(contrast.differences).max(axis=0), kind="stable")
    depth = max(max_depth, int(np.ceil(np.log2(max(2, seen.n_clusters)))))
    tree, rules, fidelity = tree_of(seen, names, order, depth)
    return Explanation(
        _columns(seen, contrast, n_columns),
        tuple(
            tuple(said_of(contrast, cluster, seen.unit, n_columns))
            for cluster in range(seen.n_clusters)
        ),
        rules,
        fidelity,
        seen.numbers[unclear(seen)],
        seen.numbers[seen.labels < 0],
        tree,
    )


def unclear(seen: InspectedRows) -> npt.NDArray[np.bool_]:
    """Return which rows lie between clusters."""
    largest = seen.memberships.max(axis=1)
    low = largest < BETWEEN if seen.is_soft else seen.silhouettes < NEARLY_EQUAL
    return low & (seen.labels >= 0)


def _columns(seen: InspectedRows, contrast: Contrast, count: int) -> Table:
    """Return the table of the columns that set clusters apart."""
    found: dict[str, list[Any]] = {
        name: []
        for name in (
            "cluster",
            "column",
            "difference",
            "inside",
            "outside",
            "low",
            "middle",
            "high",
            "lift",
        )
    }
    for cluster in range(seen.n_clusters):
        rows = np.flatnonzero(seen.labels == cluster)
        for k in contrast.leading(cluster, count):
            values = seen.column(int(k))[rows]
            quantiles = _quantiles(values, seen.weight[rows])
            row = (
                cluster,
                contrast.feature_names[k],
                contrast.differences[cluster, k],
                contrast.means[cluster, k],
                contrast.rest[cluster, k],
                *quantiles,
            )
            for name, value in zip(found, (*row, contrast.lift[cluster, k]), strict=True):
                found[name].append(value)
    return Table(found)


def _quantiles(values: Float64, weight: Float64) -> tuple[float, ...]:
    """Return weighted quantiles of the values that are there: the smallest value below or at which
    the share lies."""
    values, weight = values[~np.isnan(values)], weight[~np.isnan(values)]
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order])
    if not len(mass) or mass[-1] <= 0:
        return tuple(float("nan") for _ in QUANTILES)
    return tuple(
        float(values[order][min(int(np.searchsorted(mass, q * mass[-1])), len(mass) - 1)])
        for q in QUANTILES
    )
