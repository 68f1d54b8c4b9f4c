"""A row for each cluster: how large, how wide, how clear, and what it is like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import Float64, host_float64, ratios, to_numpy
from ..fitting.prediction import Predicting
from ..runtime.checks import integer
from ..spaces.centres import Centres
from ..sweeps.state import State
from .contrast import Contrast, contrast_of
from .ellipses import mean_variances
from .rows import InspectedRows, inspected, named_features
from .steps import last_step
from .tables import Table


def summary(
    model: Any,
    X: Any = None,
    *,
    feature_names: Any = None,
    sample_weight: Any = None,
    diag: Any = None,
    n_typical: int = 3,
) -> Table:
    """Return a table with a row for each cluster of a fitted model.

    Parameters
    ----------
    model : a fitted estimator of this library, or a pipeline that ends in one.
    X : rows as its `predict` takes them: those of the fit, or others; files too. Of more than
        50,000 as many, evenly spaced, are read. None: what the model itself keeps of the rows of
        its fit, all counting as one: no names, no silhouettes.
    feature_names : d names, default=None: those of the fit, or numbers.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x), for precomputed kernels, as for `predict`.
    n_typical : int, default=3
        Numbers of rows of each cluster to name, nearest to its centre first.

    Returns
    -------
    Table of columns (c,):
        cluster : its number.
        name : the columns that set it apart, "high alcohol, low hue" ("higher", "lower": than
            clusters that would have the same name); absent where rows are no features.
        weight, share : of the rows with this label; where rows were left out, scaled up to all.
        membership : mean over its rows of their membership in it.
        spread : root mean square distance of its rows to its centre, in the space of the model;
            of a cluster with a covariance, as that has it.
        separation : distance from its centre to the nearest other; infinite for one cluster.
        silhouette : mean simplified silhouette of its rows.
        typical : (c, n_typical) numbers of rows; -1 where it has fewer.

    Raises
    ------
    ValueError
        For a model or rows that are none.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.inspection import summary
    >>> wine = load_wine()
    >>> X = scale(wine.data)
    >>> model = FuzzyCMeans(3, random_state=0).fit(X)
    >>> table = summary(model, X, feature_names=wine.feature_names)
    >>> float(table["weight"].sum())
    178.0
    """
    caller = "summary"
    n_typical = integer(n_typical, "n_typical", caller, 1)
    if X is None:
        return table_of_fit(last_step(model, X)[0], n_typical)
    seen = inspected(model, X, caller, sample_weight=sample_weight, diag=diag)
    contrast = contrast_of(seen, named_features(feature_names, seen, caller))
    return table_of(seen, contrast, n_typical)


def table_of_fit(model: Any, n_typical: int = 1) -> Table:
    """Return what a model keeps of the rows of its fit, a row for each cluster."""
    kept = vars(model) if isinstance(model, Predicting) else {}
    if "labels_" not in kept:
        raise ValueError(
            f"summary: {model!r} keeps no labels of rows with their distances (it is not fitted, "
            "was saved without them, or keeps none); pass X."
        )
    labels, c = to_numpy(kept["labels_"]), len(model._state.centres)
    inside = np.flatnonzero(labels >= 0)
    own = labels[inside]
    counts = np.bincount(own, minlength=c)

    def mean(values: Float64) -> Float64:
        sums = np.bincount(own, weights=values, minlength=c)
        return ratios(sums, counts, np.nan)

    columns: dict[str, Any] = {
        "cluster": np.arange(c),
        "weight": counts.astype(np.float64),
        "share": counts / len(labels),
    }
    if "_nearest" in kept:
        top, u = kept.get("memberships_top_k_"), kept.get("memberships_")  # which labels may tell
        largest = np.ones(len(own)) if u is None else host_float64(u)[inside, own]
        columns["membership"] = mean(
            largest if top is None else host_float64(top.values)[inside, 0]
        )
        columns["spread"] = _spread(model._state, mean(host_float64(kept["_nearest"])[inside]))
    columns["separation"] = _apart(model._state.centres)
    if "_nearest" in kept:
        columns["typical"] = model.representatives(n_typical)
    return Table(columns, shares=("share",))


def _spread(state: State, mean_d2: Float64) -> Float64:
    """Return the root mean square distance (c,) of rows to their centres, of mean squared
    distances; in the space itself where clusters measure these by metrics of their own."""
    metrics = state.metrics
    return np.sqrt(mean_d2 if metrics is None else mean_variances(metrics, mean_d2).sum(axis=1))


def _apart(centres: Centres) -> Float64:
    """Return the distance (c,) of each centre to the nearest other."""
    apart = np.sqrt(centres.squared_distances())
    np.fill_diagonal(apart, np.inf)
    nearest: Float64 = apart.min(axis=1)
    return nearest


def table_of(seen: InspectedRows, contrast: Contrast | None, n_typical: int) -> Table:
    """Return the table of `summary`."""
    c, factor = seen.n_clusters, seen.n_rows / len(seen.numbers)
    mass, total = seen.masses, float(seen.weight.sum())
    nearest = seen.nearest_rows(n_typical)
    columns: dict[str, Any] = {"cluster": np.arange(c)}
    if contrast is not None:
        columns["name"] = contrast.names
    return Table(
        {
            **columns,
            "weight": mass * factor,
            "share": mass / total if total else mass,
            "membership": _mean(seen.of_own_cluster(seen.memberships), seen),
            "spread": _spread(seen.state, _mean(seen.own_distances**2, seen)),
            "separation": _apart(seen.state.centres),
            "silhouette": _mean(seen.silhouettes, seen) if c > 1 else np.full(c, np.nan),
            "typical": np.where(nearest >= 0, seen.numbers[nearest], -1),
        },
        shares=("share",),
    )


def _mean(values: Float64, seen: InspectedRows) -> Float64:
    """Return the weighted mean (c,) over the rows of each label; NaN where there are none."""
    inside = seen.labels >= 0
    sums = np.bincount(
        seen.labels[inside], weights=(values * seen.weight)[inside], minlength=seen.n_clusters
    )
    return ratios(sums, seen.masses, np.nan)
