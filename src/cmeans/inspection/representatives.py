"""The most typical rows of each cluster, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.arrays import is_sparse
from ..runtime.checks import integer
from .rows import InspectedRows, inspected, named_features
from .tables import Table

MOST_ROWS = 1_000_000  # that are looked at of more, evenly spaced


def representatives(
    model: Any,
    X: Any,
    k: int = 3,
    *,
    row_names: Sequence[Any] | None = None,
    feature_names: Any = None,
    diag: Any = None,
) -> Table:
    """Return the k rows of each cluster that are nearest to its centre, as a table with what is in
    them.

    The model's own method `representatives` gives the numbers of the training rows alone.

    Parameters
    ----------
    model : a fitted estimator of this library, or a pipeline that ends in one.
    X : rows as its `predict` takes them: those of the fit, or others; files too. Of more than a
        million as many, evenly spaced, are looked at.
    k : int, default=3
        Rows of each cluster; it may have fewer.
    row_names : (n,) names of the rows, default=None: there are none.
    feature_names : d names, default=None: those of a data frame; other rows are shown without.
    diag : (n,) k(x, x), for precomputed kernels, as for `predict`.

    Returns
    -------
    Table, k rows for each cluster, nearest first, and fewer of one that has fewer:
        cluster : its number.
        rank : from 1.
        row : number of the row in X.
        name : of the row, where `row_names` are given.
        membership : of the row in the cluster.
        distance : to its centre, in the space of the model.
        one column for each of X, as it is in X; one of a name above is called "X.name".

    Raises
    ------
    ValueError
        For a model or rows that are none, and for names that do not fit them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.inspection import representatives
    >>> X = load_iris(as_frame=True).data.round()
    >>> model = FuzzyCMeans(3, random_state=0).fit(X)
    >>> representatives(model, X, k=2).to_frame().columns.tolist()[:6]
    ['cluster', 'rank', 'row', 'membership', 'distance', 'sepal length (cm)']
    """
    caller = "representatives"
    k = integer(k, "k", caller, 1)
    seen = inspected(model, X, caller, diag=diag, most=MOST_ROWS)
    if row_names is not None and len(row_names) != seen.n_rows:
        raise ValueError(f"{caller}(row_names=...): {len(row_names)} names for {seen.n_rows} rows.")
    nearest = seen.nearest_rows(k)
    cluster, rank = np.nonzero(nearest >= 0)
    at = nearest[cluster, rank]
    rows = seen.numbers[at]
    columns: dict[str, Any] = {"cluster": cluster, "rank": rank + 1, "row": rows}
    if row_names is not None:
        names = list(row_names)
        columns["name"] = np.array([names[row] for row in rows.tolist()], dtype=object)
    columns |= {
        "membership": seen.memberships[at, cluster],
        "distance": seen.distances[at, cluster],
    }
    values = _values(X, seen, at, feature_names, caller)
    return Table(
        {
            **columns,
            **{f"X.{name}" if name in columns else name: column for name, column in values.items()},
        }
    )


def _values(
    X: Any, seen: InspectedRows, at: Any, feature_names: Any, caller: str
) -> dict[str, Any]:
    """Return the columns of some rows by name: of a data frame as they are, of other rows where
    names are given."""
    labels = getattr(X, "columns", None)
    if feature_names is None and labels is not None:
        return {str(label): np.asarray(X[label])[seen.numbers[at]] for label in labels}
    if feature_names is None or seen.x is None:
        return {}
    names, some = named_features(feature_names, seen, caller), seen.x[at]
    values = some.toarray() if is_sparse(some) else some
    return {name: values[:, place] for place, name in enumerate(names)}
