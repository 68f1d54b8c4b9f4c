"""AnnData in, AnnData out: clusters of single cells, written where scanpy looks for them.

AnnData (`pip install "cmeans[anndata]"`) enters the package in this file.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import clone

from .data.arrays import IntArray
from .estimators import ConnectivityClustering, ModularityClustering
from .inspection.figure import COLOURS, rgb
from .inspection.tables import Table

__all__ = ["cluster"]

METHODS = {"communities": ModularityClustering, "connected": ConnectivityClustering}
GIVEN = {"precomputed", "precomputed_graph"}  # metrics and kernels of which X is a graph
LIGHTEST = 0.7  # share of white in the palest colour


def cluster(
    adata: Any, method: Any = "communities", *, use_rep: str = "X_pca", key_added: str = "cmeans"
) -> Any:
    """Cluster the cells of an AnnData, and write what is found into it as scanpy does.

    Parameters
    ----------
    adata : AnnData of n cells; `obs`, `obsm` and `uns` are written to.
    method : "communities", "connected" or an estimator of this library, default="communities"
        "communities": `ModularityClustering()`, "connected": `ConnectivityClustering()`. An
        estimator stays as it is; a copy of it is fitted.
    use_rep : str, default="X_pca"
        What cells are compared by: a key of `obsm`, coordinates (n, d); "X", the values; or a key
        of `obsp`, a graph (n, n), such as the "connectivities" of `scanpy.pp.neighbors` for
        communities, or its "distances" for connected pieces. For a graph an estimator needs
        metric="precomputed", or a kernel that takes graphs.
    key_added : str, default="cmeans"
        The key that is written; what stood there is replaced.

    Returns
    -------
    model : the fitted estimator, whose `predict` takes the same coordinates of other cells.
        `obs[key_added]` : categories "0", "1", ... in that order, by falling number of cells, of
        equally many the first to come; cells in no cluster have none.
        `obsm[key_added + "_memberships"]` : (n, c), columns in the same order, where the estimator
        has memberships.
        `uns[key_added]` : "params", with the method and `use_rep` among them, and the numbers that
        the fit found.
        `uns[key_added + "_colors"]` : c colours, for scanpy's plots.

    Raises
    ------
    ImportError
        Without anndata, which `pip install "cmeans[anndata]"` brings.
    ValueError
        For what is no AnnData, an unknown method or key, and whatever `fit` refuses; nothing is
        written then.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData  # doctest: +SKIP
    >>> adata = AnnData(np.random.default_rng(0).poisson(3.0, (200, 40)))  # doctest: +SKIP
    >>> model = cmeans.anndata.cluster(adata, use_rep="X")  # doctest: +SKIP
    >>> adata.obs["cmeans"].value_counts()  # doctest: +SKIP
    """
    _check(adata, key_added)
    x, is_graph = _compared(adata, use_rep)
    model = _estimator(method, use_rep, is_graph).fit(x)
    rank = _ranks(model.labels_, model.n_clusters_)
    names = [str(number) for number in range(model.n_clusters_)]
    texts = [names[rank[label]] if label >= 0 else None for label in model.labels_]
    frame = Table({key_added: np.array(texts, dtype=object)}).to_frame()
    frame.index = adata.obs.index
    memberships = getattr(model, "memberships_", None)
    adata.obs[key_added] = frame[key_added].astype("category").cat.set_categories(names)
    if memberships is not None:
        adata.obsm[f"{key_added}_memberships"] = np.asarray(memberships)[:, np.argsort(rank)]
    adata.uns[key_added] = {"params": _parameters(model, use_rep), **_found(model)}
    adata.uns[f"{key_added}_colors"] = _colours(len(names))
    return model


def _check(adata: Any, key_added: Any) -> None:
    """Refuse what is no AnnData, and a key that is no text."""
    try:
        from anndata import AnnData
    except ImportError as error:
        raise ImportError(
            'anndata.cluster needs anndata: python -m pip install "cmeans[anndata]".'
        ) from error
    if not isinstance(adata, AnnData):
        raise ValueError(
            f"anndata.cluster: adata is a {type(adata).__name__}; give an AnnData, or fit an "
            "estimator to rows."
        )
    if not isinstance(key_added, str) or not key_added:
        raise ValueError(f"anndata.cluster(key_added={key_added!r}): give a text.")


def _compared(adata: Any, use_rep: str) -> tuple[Any, bool]:
    """Return what cells are compared by, and whether it is a graph."""
    if use_rep == "X":
        return adata.X, False
    for place, is_graph in ((adata.obsm, False), (adata.obsp, True)):
        if use_rep in place:
            return place[use_rep], is_graph
    raise ValueError(
        f"anndata.cluster(use_rep={use_rep!r}): adata has it neither in obsm ({_listed(adata.obsm)}"
        f') nor in obsp ({_listed(adata.obsp)}); give one of these keys, or "X" for its values. '
        "scanpy.pp.pca makes X_pca."
    )


def _listed(place: Any) -> str:
    return ", ".join(map(str, place)) or "empty"


def _estimator(method: Any, use_rep: str, is_graph: bool) -> Any:
    """Return an estimator that is not fitted yet, for rows or for a graph."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"anndata.cluster(method={method!r}): give {', '.join(map(repr, METHODS))}, or an "
                "estimator such as FuzzyCMeans(8)."
            )
        return METHODS[method](metric="precomputed" if is_graph else "euclidean")
    if not (hasattr(method, "fit") and hasattr(method, "get_params")):
        raise ValueError(f"anndata.cluster(method={method!r}): give an estimator, or its name.")
    words = method.get_params(deep=False)
    named = (words.get("metric"), getattr(words.get("kernel"), "name", words.get("kernel")))
    if is_graph != (not GIVEN.isdisjoint(filter(None, named))):
        kind, metric = ("a graph", "precomputed") if is_graph else ("rows", "euclidean")
        raise ValueError(
            f"anndata.cluster(method={method!r}, use_rep={use_rep!r}): these are {kind}, which the "
            f'estimator does not take; give one such as ModularityClustering(metric="{metric}").'
        )
    return clone(method)


def _ranks(labels: Any, n_clusters: int) -> IntArray:
    """Return the places (c,) of clusters by falling size, equally large ones as they come."""
    size, first = np.zeros(n_clusters), np.full(n_clusters, len(labels))
    names, at, counts = np.unique(labels, return_index=True, return_counts=True)
    there = names >= 0
    size[names[there]], first[names[there]] = counts[there], at[there]
    rank = np.empty(n_clusters, dtype=np.int64)
    rank[np.lexsort((first, -size))] = np.arange(n_clusters)
    return rank


def _parameters(model: Any, use_rep: str) -> dict[str, Any]:
    """Return the parameters of a fit as files of AnnData hold them: numbers and texts."""
    given = model.get_params(deep=False).items()
    told = {name: value if _is_plain(value) else repr(value) for name, value in given}
    return {"method": type(model).__name__, "use_rep": use_rep, **told}


def _found(model: Any) -> dict[str, Any]:
    """Return the fitted attributes that are numbers or texts, without the last letter."""
    return {
        name.removesuffix("_"): value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and _is_plain(value)
    }


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, numbers.Real, np.bool_))


def _colours(count: int) -> list[str]:
    """Return different colours, those of displays first, then lighter ones of each."""
    turns = -(-count // len(COLOURS))
    paleness = [LIGHTEST * (number // len(COLOURS)) / turns for number in range(count)]
    return [
        "#" + bytes(round(255 * (part + pale * (1 - part))) for part in rgb(number)).hex()
        for number, pale in enumerate(paleness)
    ]
