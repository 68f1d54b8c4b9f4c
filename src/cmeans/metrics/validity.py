"""Quality of a clustering without a known truth: compactness of the clusters, and how far they are
apart, in a model's own space.

Every index is made of the sums of one pass over the rows, and of the inner products of the centres.
With a truth, see `cmeans.metrics`.
"""

from __future__ import annotations

from typing import Any

from ..spaces.centres import Centres
from .index_formulas import INDICES
from .validity_sums import ValiditySums, sums_of_model


def indices(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> dict[str, float]:
    """All indices of a fitted model, by name, from one pass over the rows.

    Parameters
    ----------
    model, X, sample_weight, diag : as for each of them, such as `xie_beni`.

    Returns
    -------
    dict
        The values of `simplified_silhouette`, `fuzzy_silhouette`, `xie_beni`, `fukuyama_sugeno`,
        `davies_bouldin`, `calinski_harabasz`, `partition_coefficient` and `partition_entropy`.

    Raises
    ------
    ValueError
        Where any of them raises it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.validity import indices
    >>> X = load_iris().data
    >>> found = indices(FuzzyCMeans(3, m=2, random_state=0).fit(X), X)
    >>> round(found["xie_beni"], 3), round(found["partition_coefficient"], 3)
    (0.137, 0.783)
    """
    sums, centres = _sums(model, X, sample_weight, diag, "indices")
    return {
        **{name: index(sums, centres, "indices") for name, index in INDICES.items()},
        "partition_coefficient": sums.squares / sums.weight,
        "partition_entropy": sums.entropy / sums.weight + 0.0,
    }


def xie_beni(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Xie-Beni index:  XB = sum_ij w_i u_ij^m |phi(x_i) - v_j|^2 / (sum_i w_i min_{j != k} |v_j -
    v_k|^2), in the model's own space.

    Use it to choose the number of clusters: the smallest XB means compact and well separated
    clusters. Compare models of one kernel and m, and c far below n: XB falls by itself as c
    approaches n. (R: fclust has the same; e1071 divides by n once more; clusterCrit has the nearest
    rows of two clusters in place of the nearest centres.)

    Parameters
    ----------
    model : a fitted estimator of this library, whose kernel, space and m are used (hard clusters: m
        = 1).
    X : (n, d) rows as for `model.transform`: those of the fit, or others; files are read block by
        block.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float of at least 0; infinite where two centres coincide (to rounding)

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or
        rows or weights are invalid.

    References
    ----------
    Xie, Beni: A validity measure for fuzzy clustering. IEEE Trans. Pattern Analysis and Machine
    Intelligence 13(8), 1991 (there m = 2). From inner products alone: Sledge, Havens, Bezdek,
    Keller: Relational duals of cluster validity functions for the c-means family. IEEE Trans. Fuzzy
    Systems 18(6), 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.validity import xie_beni
    >>> X = load_iris().data
    >>> models = {c: FuzzyCMeans(c, m=2, random_state=0).fit(X) for c in (2, 3, 4)}
    >>> indices = {c: xie_beni(model, X) for c, model in models.items()}
    >>> min(indices, key=indices.get)
    2
    """
    return _index("xie_beni", model, X, sample_weight, diag)


def simplified_silhouette(
    model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None
) -> float:
    """Simplified silhouette:  sum_i w_i (b_i - a_i) / b_i / sum_i w_i,  a_i and b_i the distances
    of row i to the two nearest centres.

    Use it to compare numbers of clusters, larger being better; `cmeans.select` does, after
    correcting it for chance.

    Parameters
    ----------
    model : a fitted estimator of this library, in whose space distances are taken.
    X : (n, d) rows as for `model.transform`: those of the fit, or others; files are read block by
        block.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float
        From 0 (each row is as near to a second centre) to 1 (rows are at centres). Rows at two
        centres at once count as 0.

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or
        rows or weights are invalid.

    References
    ----------
    Hruschka, Campello, de Castro: Evolving clusters in gene-expression data. Information Sciences
    176, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans
    >>> from cmeans.validity import simplified_silhouette
    >>> X = load_iris().data
    >>> models = {c: KernelKMeans(c, kernel="linear", random_state=0).fit(X) for c in (2, 3, 4)}
    >>> max(models, key=lambda c: simplified_silhouette(models[c], X))
    2
    """
    return _index("simplified_silhouette", model, X, sample_weight, diag)


def fuzzy_silhouette(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Fuzzy silhouette:  sum_i w_i (u_ip - u_iq) s_i / sum_i w_i (u_ip - u_iq),  p and q the two
    clusters to which row i belongs most.

    s_i is the row's simplified silhouette, by the two nearest centres (R: fclust's SIL.F has mean
    squared distances to the rows of each cluster). Use it as `simplified_silhouette` where clusters
    overlap: rows between clusters, which belong to both, hardly count. For hard clusters the two
    are the same.

    Parameters
    ----------
    model : a fitted estimator of this library, whose kernel, space and m are used (hard clusters: m
        = 1).
    X : (n, d) rows as for `model.transform`: those of the fit, or others; files are read block by
        block.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float
        From 0 to 1, larger being better; 0 where no row belongs to any cluster more than to
        another.

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or
        rows or weights are invalid.

    References
    ----------
    Campello, Hruschka: A fuzzy extension of the silhouette width criterion for cluster analysis.
    Fuzzy Sets and Systems 157(21), 2006, with silhouettes by centres in place of those by all pairs
    of rows, and alpha = 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.validity import fuzzy_silhouette
    >>> X = load_iris().data
    >>> round(fuzzy_silhouette(FuzzyCMeans(3, m=2, random_state=0).fit(X), X), 3)
    0.739
    """
    return _index("fuzzy_silhouette", model, X, sample_weight, diag)


def fukuyama_sugeno(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Fukuyama-Sugeno index:  FS = sum_ij w_i u_ij^m (|phi(x_i) - v_j|^2 - |v_j - v|^2),  v =
    sum_ij w_i u_ij^m v_j / sum_ij w_i u_ij^m.

    Use it to choose the number of clusters, smaller being better: compactness minus separation. It
    is a sum over rows, in squared units of the space, and keeps falling with c on many data. v, the
    mean of the centres by mass, is the mean of the rows for hard clusters at rest; the literature
    has that mean, or the centres' plain one, for all. (R: e1071 has the plain one, u^2 for the
    separation whatever m is, and a mean over rows for the compactness.)

    Parameters
    ----------
    model : a fitted estimator of this library, whose kernel, space and m are used (hard clusters: m
        = 1).
    X : (n, d) rows as for `model.transform`: those of the fit, or others; files are read block by
        block.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float, negative where clusters are apart

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or
        rows or weights are invalid.

    References
    ----------
    Fukuyama, Sugeno: A new method of choosing the number of clusters for the fuzzy c-means method.
    5th Fuzzy Systems Symposium, 1989. Pal, Bezdek: On cluster validity for the fuzzy c-means model.
    IEEE Trans. Fuzzy Systems 3(3), 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.validity import fukuyama_sugeno
    >>> X = load_iris().data
    >>> round(fukuyama_sugeno(FuzzyCMeans(3, m=2, random_state=0).fit(X), X), 1)
    -437.9
    """
    return _index("fukuyama_sugeno", model, X, sample_weight, diag)


def davies_bouldin(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Davies-Bouldin index:  DB = mean_j max_{k != j} (s_j + s_k) / |v_j - v_k|,  s_j = sum_i w_ij
    |phi(x_i) - v_j| / sum_i w_ij.

    w_ij = w_i u_ij^m: a row counts in each cluster as much as it belongs there. Use it to choose
    the number of clusters, smaller being better: each cluster is compared with the one that it is
    worst told from. For hard clusters at rest in the plain space it is
    `sklearn.metrics.davies_bouldin_score`. Clusters without rows are left out.

    Parameters
    ----------
    model : a fitted estimator of this library, whose kernel, space and m are used (hard clusters: m
        = 1).
    X : (n, d) rows as for `model.transform`: those of the fit, or others; files are read block by
        block.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float of at least 0; infinite where two centres coincide (to rounding)

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or
        rows or weights are invalid. Also if all rows are in one cluster.

    References
    ----------
    Davies, Bouldin: A cluster separation measure. IEEE Trans. Pattern Analysis and Machine
    Intelligence 1(2), 1979.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans
    >>> from cmeans.validity import davies_bouldin
    >>> X = load_iris().data
    >>> round(davies_bouldin(KernelKMeans(3, kernel="linear", random_state=0).fit(X), X), 3)
    0.662
    """
    return _index("davies_bouldin", model, X, sample_weight, diag)


def calinski_harabasz(model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None) -> float:
    """Calinski-Harabasz index:  CH = (sum_j M_j |v_j - v|^2 / (c - 1)) / (sum_ij w_ij |phi(x_i) -
    v_j|^2 / (n - c)),  M_j = sum_i w_ij.

    w_ij = w_i u_ij^m, v = sum_j M_j v_j / sum_j M_j, n = sum_i w_i. Use it to choose the number of
    clusters, larger being better: variance between clusters against variance within. For hard
    clusters at rest in the plain space it is `sklearn.metrics.calinski_harabasz_score`. Clusters
    without rows are not counted.

    Parameters
    ----------
    model : a fitted estimator of this library, whose kernel, space and m are used (hard clusters: m
        = 1).
    X : (n, d) rows as for `model.transform`: those of the fit, or others; files are read block by
        block.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x) of each row, for precomputed kernels whose diagonal is not constant.

    Returns
    -------
    float of at least 0; infinite where all rows are at their centres

    Raises
    ------
    ValueError
        If the model is not of this library, has one cluster or is not fitted (`NotFittedError`), or
        rows or weights are invalid. Also if all rows are in one cluster, or weights sum to no more
        than the number of clusters: they count copies of rows.

    References
    ----------
    Calinski, Harabasz: A dendrite method for cluster analysis. Communications in Statistics 3(1),
    1974.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans
    >>> from cmeans.validity import calinski_harabasz
    >>> X = load_iris().data
    >>> round(calinski_harabasz(KernelKMeans(3, kernel="linear", random_state=0).fit(X), X), 1)
    561.6
    """
    return _index("calinski_harabasz", model, X, sample_weight, diag)


def silhouette_and_xie_beni(
    model: Any, X: Any, *, sample_weight: Any = None, diag: Any = None
) -> tuple[float, float]:
    """`simplified_silhouette` and `xie_beni` from one pass."""
    sums, centres = _sums(model, X, sample_weight, diag, "indices")
    silhouette, xie_beni = INDICES["simplified_silhouette"], INDICES["xie_beni"]
    return silhouette(sums, centres, "indices"), xie_beni(sums, centres, "indices")


def _index(name: str, model: Any, X: Any, sample_weight: Any, diag: Any) -> float:
    """Return the index of a name."""
    return INDICES[name](*_sums(model, X, sample_weight, diag, name), name)


def _sums(
    model: Any, X: Any, sample_weight: Any, diag: Any, function_name: str
) -> tuple[ValiditySums, Centres]:
    """Return the sums of the rows, and the centres, of a fitted model of at least two clusters."""
    if getattr(model, "_state", None) is not None and len(model._state.centres) < 2:
        raise ValueError(
            f"{function_name}(model={model!r}): the model has one cluster, and the index needs "
            "two; fit at least two."
        )
    return sums_of_model(model, X, sample_weight, diag, function_name)
