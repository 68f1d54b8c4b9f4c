"""Explanations: the columns that set clusters apart, and a small tree of rules that tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray, host_float64, is_sparse
from ..fitting.validation import integer
from ..runtime.numerals import between, in_digits, in_full, percent
from .contrast import contrast_of
from .rows import InspectedRows, inspected, named_features
from .tables import Table

BETWEEN = 0.5  # largest membership below which a soft row lies between clusters
NEARLY_EQUAL = 0.1  # simplified silhouette below which a hard row does
QUANTILES = (0.1, 0.5, 0.9)
WIDE = 1_000  # columns at most from which the tree chooses: those of the largest differences


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
    rules : str
        A tree of few questions that tells the clusters, as text. A threshold is the number of the
        fewest digits that parts the same rows.
    fidelity : float
        Share of the weight whose cluster the rules tell rightly.
    between : numbers of the rows that lie between clusters: of soft clusters those with no
        membership of a half, of hard ones those whose simplified silhouette is below 0.1.
    noise : numbers of the rows of no cluster.
    tree : the tree, of scikit-learn, over the columns.
    """

    columns: Table
    rules: str
    fidelity: float
    between: IntArray
    noise: IntArray
    tree: Any = field(repr=False)

    def __str__(self) -> str:
        parts = []
        for cluster in np.unique(self.columns["cluster"]):
            here = np.flatnonzero(self.columns["cluster"] == cluster)
            told = [
                f"  {self.columns['column'][at]}: {in_digits(self.columns['inside'][at])} inside, "
                f"{in_digits(self.columns['outside'][at])} outside "
                f"({self.columns['difference'][at]:+.2f} deviations)"
                for at in here
            ]
            parts.append("\n".join([f"cluster {cluster}", *told]))
        head = f"rules that tell {percent(self.fidelity)} of the rows rightly:"
        tail = (
            f"{len(self.between):,} rows lie between clusters, {len(self.noise):,} belong to none"
        )
        return "\n".join([*parts, head, self.rules.rstrip(), tail])


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

    Means are weighted by memberships. Of a text's term counts (a sparse X, say) "lift" names the
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
    columns, chosen = _columns(seen, names, n_columns)
    depth = max(max_depth, int(np.ceil(np.log2(max(2, seen.n_clusters)))))
    tree, rules, fidelity = _tree(seen, names, chosen, depth)
    between = seen.numbers[unclear(seen)]
    return Explanation(columns, rules, fidelity, between, seen.numbers[seen.labels < 0], tree)


def unclear(seen: InspectedRows) -> npt.NDArray[np.bool_]:
    """Return which rows lie between clusters."""
    largest = seen.memberships.max(axis=1)
    low = largest < BETWEEN if seen.is_soft else seen.silhouettes < NEARLY_EQUAL
    return low & (seen.labels >= 0)


def _columns(seen: InspectedRows, names: tuple[str, ...], count: int) -> tuple[Table, IntArray]:
    """Return the table of columns, and all columns in the order of their largest difference."""
    contrast = contrast_of(seen, names)
    assert contrast is not None
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
            values = _column(seen.x, int(k))[rows]
            quantiles = _quantiles(values, seen.weight[rows])
            row = (
                cluster,
                names[k],
                contrast.differences[cluster, k],
                contrast.means[cluster, k],
                contrast.rest[cluster, k],
                *quantiles,
            )
            for name, value in zip(found, (*row, contrast.lift[cluster, k]), strict=True):
                found[name].append(value)
    order = np.argsort(-np.abs(contrast.differences).max(axis=0), kind="stable")
    return Table(found), order


def _column(x: Any, number: int) -> Float64:
    return host_float64(x[:, [number]])[:, 0] if is_sparse(x) else x[:, number]


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


def _tree(
    seen: InspectedRows, names: tuple[str, ...], chosen: IntArray, depth: int
) -> tuple[Any, str, float]:
    """Return a tree that tells labels, its rules as text, and the share of the weight that it tells
    rightly."""
    from sklearn.tree import DecisionTreeClassifier  # which takes a while to load

    used = np.sort(chosen[:WIDE])
    assert seen.x is not None
    x = host_float64(seen.x[:, used]) if len(used) < len(names) or is_sparse(seen.x) else seen.x
    weight = seen.weight * seen.memberships.max(axis=1)
    weight = np.where(seen.labels < 0, seen.weight, weight)
    tree = DecisionTreeClassifier(
        max_depth=depth,
        max_leaf_nodes=2**depth,
        min_samples_leaf=max(1, len(x) // 200),
        random_state=0,
    )
    tree.fit(x, seen.labels, sample_weight=weight)
    right = tree.predict(x) == seen.labels
    total = float(seen.weight.sum())
    shown = [" ".join(names[number].split()) for number in used]
    return (
        tree,
        "\n".join(_rules(tree, x, shown, 0, "")) + "\n",
        1.0 if right.all() else float(seen.weight @ right / total),
    )


def _rules(tree: Any, x: Float64, names: list[str], node: int, indent: str) -> Iterator[str]:
    """Yield the lines of a tree below a node, for the rows (b, d) that it is asked about. Questions
    of which all answers end in the same cluster are left out."""
    inside, clusters = tree.tree_, _ends(tree, node)
    if len(clusters) == 1:
        [cluster] = clusters
        yield f"{indent}|--- {'no cluster' if cluster < 0 else f'cluster {cluster}'}"
        return
    name, values = names[inside.feature[node]], x[:, inside.feature[node]]
    below, above = (
        values[mask(values.astype(np.float32), inside.threshold[node])]
        for mask in (np.less_equal, np.greater)
    )
    threshold = in_full(between(float(below.max()), float(above.min())))
    missing, to_left = bool(np.isnan(values).any()), bool(inside.missing_go_to_left[node])
    for sign, child, left in (
        ("<=", inside.children_left[node], True),
        ("> ", inside.children_right[node], False),
    ):
        yield (
            f"{indent}|--- {name} {sign} "
            f"{threshold}{' or missing' if missing and left == to_left else ''}"
        )
        yield from _rules(tree, x, names, int(child), f"{indent}|   ")


def _ends(tree: Any, node: int) -> set[int]:
    """Return the clusters in which the answers below a node end."""
    inside = tree.tree_
    if inside.children_left[node] < 0:
        return {int(tree.classes_[inside.value[node][0].argmax()])}
    return _ends(tree, int(inside.children_left[node])) | _ends(
        tree, int(inside.children_right[node])
    )
