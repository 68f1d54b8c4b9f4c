"""A score for searches over parameters that compares across numbers of clusters."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..fitting.fit import BaseCMeans
from ..fitting.kernel_evidence import given_kernel
from ..metrics.validity import simplified_silhouette
from .evidence import chance_of, corrected, for_trials, given_rows, trial_rows
from .steps import SelectionSteps


def silhouette_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """Simplified silhouette of rows, corrected for what rows without clusters would give: the
    evidence of `select`, for one fit.

    Use it as `scoring` of scikit-learn's searches, where an estimator's own `score`, minus the
    objective, always wants more clusters: it compares across numbers of clusters, m and gamma. Rows
    without clusters have the mean and covariance of the rows scored.

    Parameters
    ----------
    estimator : a fitted estimator of this library, or a pipeline that ends in one.
    X : (n, d) rows to judge it by, such as those left out of its fit.
    y : not used.

    Returns
    -------
    float
        1 for clusters that are points, about 0 where there are none to see and for one cluster,
        less for clusters that are cut.

    Raises
    ------
    ValueError
        For an estimator of another library or one that is not fitted (`NotFittedError`), for
        precomputed kernels and graphs, of which a part of the rows says nothing, and for no more
        rows than clusters.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.model_selection import GridSearchCV
    >>> from cmeans import KernelKMeans, silhouette_scorer
    >>> X, _ = make_blobs(120, centers=4, random_state=3)
    >>> numbers = {"n_clusters": [3, 4, 5]}
    >>> model = KernelKMeans(kernel="linear", random_state=0)
    >>> search = GridSearchCV(model, numbers, scoring=silhouette_scorer, cv=2)
    >>> search.fit(X).best_params_
    {'n_clusters': 4}
    """
    if isinstance(estimator, Pipeline):
        rows = estimator[:-1].transform(X) if len(estimator) > 1 else X
        return silhouette_scorer(estimator[-1], rows)
    if not isinstance(estimator, BaseCMeans):
        raise ValueError(
            f"silhouette_scorer(estimator={estimator!r}): pass a fitted estimator of this library."
        )
    kernel = given_kernel(estimator, "silhouette_scorer")
    if kernel.takes_kernel_values or kernel.takes_affinities:
        raise ValueError(
            f"silhouette_scorer(estimator={estimator!r}): rows are needed, not kernel values or a "
            "graph; see cmeans.select."
        )
    check_is_fitted(estimator)
    n_clusters = int(estimator.n_clusters_)
    if n_clusters < 2:
        return 0.0
    silhouette = simplified_silhouette(estimator, X)
    rng = check_random_state(estimator.random_state)
    drawn = trial_rows(estimator, given_rows(estimator, X, None), n_clusters, rng)
    if len(drawn.weights) <= n_clusters:
        raise ValueError(
            f"silhouette_scorer: there are {len(drawn.weights)} distinct rows for {n_clusters} "
            "clusters; score more rows."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to rows without clusters
        chance, _ = chance_of(for_trials(estimator), [n_clusters], drawn, SelectionSteps(rng))
    return float(corrected(silhouette, chance[0]))
