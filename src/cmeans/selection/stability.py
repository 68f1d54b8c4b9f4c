"""Stability: how far fits to other samples of the same kind agree with a fit."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64
from ..data.row_source import StoredRows
from ..engines import column_beside, without_checkpoint
from ..fitting.fit import BaseCMeans
from ..fitting.kernel_evidence import given_kernel
from ..fitting.validation import read_rows
from ..fitting.weights import weights_of
from ..metrics.matching import adjusted_rand, jaccard
from ..runtime.checks import integer
from ..runtime.tables import aligned, html_lines, html_table
from .compared import ComparedHere, ComparedThere, as_labels, labels_here

Compared = ComparedHere | ComparedThere


@dataclass(frozen=True)
class Stability:
    """The result of `stability`; agreement is 1 where every refit says the same.

    Attributes
    ----------
    overall : float
        Mean adjusted Rand index of the model's labels with those of each refit: 0 by chance.
    error : float
        Standard error of `overall`, from the spread of the refits.
    clusters : (c,) float
        Mean Jaccard index of each cluster with the one of a refit that is matched with it: the
        weight of the rows in both over that of the rows in either. NaN for clusters without rows.
    clusters_error : (c,) float
        Standard errors of `clusters`.
    rows : (n,) float
        Share of the refits in which a row is in the cluster that is matched with its own; a Dask
        array for a Dask collection.
    n_bootstrap : int
        Number of refits.
    """

    overall: float
    error: float
    clusters: Float64
    clusters_error: Float64
    rows: Float64 = field(repr=False)
    n_bootstrap: int

    def __str__(self) -> str:
        return "\n".join([self._said, aligned(*self._cells)])

    def _repr_html_(self) -> str:
        return html_lines([self._said]) + html_table(*self._cells)

    @property
    def _said(self) -> str:
        return (
            f"{self.n_bootstrap} refits agree with the model to {self.overall:.2f} +- "
            f"{self.error:.2f} (1: the same each time, 0: by chance)"
        )

    @property
    def _cells(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return the names of the columns, and a row for each cluster."""
        found = zip(self.clusters.tolist(), self.clusters_error.tolist(), strict=True)
        rows = [
            (str(j), *("-" if np.isnan(one) else f"{one:.2f}" for one in pair))
            for j, pair in enumerate(found)
        ]
        return ["cluster", "agreement", "+-"], rows


def stability(
    model: Any,
    X: Any,
    *,
    n_bootstrap: int = 20,
    sample_weight: Any = None,
    random_state: Any = None,
) -> Stability:
    """Agreement of a model with refits to bootstrap samples of the rows.

    A cluster that is in the data comes again in every sample of it; one that an estimator has made
    by dividing another, or by joining two, comes now here and now there. Values of `clusters` above
    0.85 tell of clusters that are there, below 0.6 of such as may not be (Hennig 2007). Few
    clusters, one above all, come again easily where there are none: see `select` for the number.

    Row i has a weight drawn from the Poisson distribution of mean w_i in each refit, which is the
    bootstrap without copies of rows. The draws depend on the seed, the number of the refit and that
    of the row alone, so that rows in memory, in files and on Dask workers give the same. Refits
    begin anew, each with a seed of its own, and choose their landmarks and gamma anew; a given
    start of the model is not used, since it would have all of them end where the model did. All
    rows are then compared, drawn or not.

    Parameters
    ----------
    model : a fitted estimator of this library.
    X : rows as its `fit` takes them, files and kernel matrices too: those of the fit, or others.
    n_bootstrap : int, default=20
        Number of refits.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row, so they
        must not be shares of a total.
    random_state : int, RandomState or None
        Seed of draws and refits. None: the model's.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        For a model of another library or one that is not fitted (`NotFittedError`), fewer than two
        refits, weights that sum to no more than the number of clusters, and whatever `fit` refuses.

    References
    ----------
    Hennig: Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
    52, 2007 (Jaccard by cluster). Ben-Hur, Elisseeff, Guyon: A stability based method for
    discovering structure in clustered data. Pacific Symposium on Biocomputing, 2002. Hubert,
    Arabie: Comparing partitions. Journal of Classification 2, 1985.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import KernelKMeans, stability
    >>> X, _ = make_blobs(300, centers=3, random_state=3)
    >>> models = (KernelKMeans(c, kernel="linear", random_state=0).fit(X) for c in (3, 4))
    >>> true, split = (stability(model, X) for model in models)
    >>> bool(true.clusters.min() > 0.9), bool(split.clusters.min() < 0.7)
    (True, True)
    """
    own = getattr(model, "_own_evidence", None)
    if own is not None:
        raise ValueError(
            f"stability(model={type(model).__name__}): its clusters are judged by the model "
            f"itself; see its {own}."
        )
    if not isinstance(model, BaseCMeans):
        raise ValueError(f"stability(model={model!r}): pass a fitted estimator of this library.")
    check_is_fitted(model)
    n_bootstrap = integer(n_bootstrap, "n_bootstrap", "stability", 2)
    rng = check_random_state(model.random_state if random_state is None else random_state)
    seed = int(rng.randint(2**31))
    rows, weight = _rows_and_weights(model, X, sample_weight)
    c = len(model._state.centres)
    if weight.sum() <= c:
        raise ValueError(
            f"stability: the rows weigh {weight.sum():g} in all, not more than there are clusters "
            f"({c}); give weights that count copies of rows, of which samples are drawn."
        )
    labels = model.predict(X)
    there = column_beside(rows, labels, as_labels, "labels", "stability")
    compared: Compared = (
        ComparedHere(labels_here(labels), weight) if there is None else ComparedThere(there, weight)
    )
    return agreement(model, rows, compared, c, n_bootstrap, seed)


def agreement(
    estimator: Any, rows: Any, compared: Compared, n_clusters: int, n_bootstrap: int, seed: int
) -> Stability:
    """Return how far refits agree with the labels of a reference."""
    overall, clusters = np.zeros(n_bootstrap), np.zeros((n_bootstrap, n_clusters))
    for replicate in range(n_bootstrap):
        drawn = compared.drawn(seed, replicate)
        if not drawn.any():
            continue  # of very few rows none may be drawn, and nothing agrees with that
        shared = compared.shared(refit(estimator, rows, drawn, seed + replicate), n_clusters)
        overall[replicate], clusters[replicate] = adjusted_rand(shared), jaccard(shared)
    root = np.sqrt(n_bootstrap)
    return Stability(
        float(overall.mean()),
        float(overall.std(ddof=1) / root),
        clusters.mean(axis=0),
        clusters.std(axis=0, ddof=1) / root,
        compared.shares(n_bootstrap),
        n_bootstrap,
    )


def refit(estimator: Any, rows: Any, weight: Float64, seed: int) -> Any:
    """Return a fit of its own of an estimator's parameters: from no given start, saved and
    announced nowhere."""
    given = estimator.get_params(deep=False)
    words: dict[str, Any] = {
        "engine": without_checkpoint(given.get("engine")),
        "verbose": 0,
        "random_state": seed % 2**32,
    }
    if not isinstance(given.get("init", ""), str):
        words["init"] = "k-means++"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model has warned for itself
        return (
            clone(estimator)
            .set_params(**{name: word for name, word in words.items() if name in given})
            .fit(rows, sample_weight=weight)
        )


def _rows_and_weights(model: BaseCMeans, X: Any, sample_weight: Any) -> tuple[Any, Float64]:
    """Return rows that bring no weights of their own, and all weights (n,), in the user's unit."""
    given = read_rows(
        model, X, fitting=True, sparse=not given_kernel(model, "select").takes_kernel_values
    )
    weight, unit = weights_of(given, sample_weight, "stability")
    if given.weight is None:
        return given.x, weight if unit == 1.0 else weight * unit
    rows = copy.copy(given.x)
    if isinstance(rows, StoredRows):
        rows.weight = None
    return rows, weight * unit
