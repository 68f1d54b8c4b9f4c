"""Fuzzy c-means: plain, kernel, weighted, and approximate on landmarks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..engines import Engine
from ..fitting.arguments import (
    Auto,
    GammaName,
    InitName,
    MetricName,
    MissingName,
    check_top_k,
    truncated,
)
from ..fitting.covariance import Covariance, CovarianceName
from ..fitting.fit import BaseCMeans
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Procedure, method_of
from ..fitting.search import Search, SearchName
from ..fitting.sizes import Sizes, given_sizes
from ..fitting.stages.sized import SizedClusters
from ..fitting.stretched import stretched
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Fuzzy, NoiseFuzzy, Rule
from ..runtime.checks import parameters_of
from ..runtime.docstrings import shares_parameters
from .kernel_choice import ChoosesKernel
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting


@shares_parameters(KernelKMeans)
class FuzzyCMeans(ChoosesKernel, Plotting, BaseCMeans):
    """Fuzzy c-means: minimise  sum_ij w_i u_ij^m |phi(x_i) - v_j|^2  subject to  sum_j u_ij = 1.

    Use it when clusters overlap. The default `kernel="linear"` is the classical algorithm (FCM),
    other kernels give kernel FCM; with landmarks it is akFCM (Havens 2011 Alg. 4), with
    `sample_weight` weighted kernel FCM (Zhang 2013 eq. 6-7).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    m : "auto" or float > 1, default="auto"
        The fuzzifier: the larger, the softer memberships are. If it is too large, centres fall
        together: first pairs of them in a large cluster, which leaves none to a small one, and
        beyond a critical m* all of them; m* is often near 1.1 on real data with kernels, far below
        the usual 2. "auto" stays below both (see Notes).
    noise : None, "auto" or float between 0 and 1, default=None
        Whether rows far from all clusters belong to none, with the label -1. A noise cluster takes
        a share in every row, most of it in those. "auto": as many as the data say, up to half of
        them, by how wide most clusters are (see Notes), but never most of a cluster that a fit
        without noise has and that would be most of the noise, nor a quarter of one that is wide
        and has few strays. A number: about this share of the rows, by weight, whether or not so
        many lie far out; where none do, those farthest from their own centres. It serves better
        with narrow kernels. `stop_reason_` tells where noise is a cluster of its own.
    top_k : int >= 1 or None, default=None
        In how many clusters a row has memberships: its `top_k` nearest ones alone, in every sweep.
        None: in all. For hundreds of clusters and more, where it takes less time, and keeps `top_k`
        numbers of a row in place of one for each cluster (see Notes).
    sizes : Sizes or None, default=None
        As in `KernelKMeans`, of the sums of memberships (times weights).
    metric : "euclidean" or "cosine", default="euclidean"
        As in `KernelKMeans`: "cosine" is soft spherical c-means (Hornik 2012). m="auto" is read off
        plain means, which is on the safe side: centres of length one stay apart for larger m.

    All other attributes and methods are those of `KernelKMeans`. A warning names parameters that
    the kernel has no use for.

    Attributes
    ----------
    memberships_ : (n, c) rows sum to one, less `noise_membership_`; `labels_` is their argmax, or
        -1 where noise is larger than any. With `top_k` a CSR array, made when it is asked for.
    memberships_top_k_ : `clusters` and `values`, (n, top_k) each: the memberships of each row, the
        largest first, and of which clusters they are; where `top_k` is not None.
        `memberships_top_k` gives those of new rows.
    noise_membership_ : (n,) what the noise cluster has of each row; where `noise` is not None.
    noise_distance_ : its squared distance from every row, in squared units of the space; where
        `noise` is not None.
    n_iter_, objective_history_ : with `noise`, of the sweeps at that distance, which are few, as
        the sweeps that settled it have brought the centres near; row_visits_ counts those too.
    m_ : the fuzzifier used.

    Notes
    -----
    `Fuzzy` says how m="auto" is found, which depends on `n_clusters`, so objectives for different
    numbers of clusters do not compare.

    With noise the objective (Dave 1991) is  sum_ij w_i u_ij^m |phi(x_i) - v_j|^2 + delta sum_i w_i
    u_i0^m  subject to u_i0 + sum_j u_ij = 1:  noise is one more cluster, at the squared distance
    delta from every row. A fit without noise goes first, which `init`, `n_init`, `search` and
    m="auto" are for; then delta is settled, and stays as it is. `NoiseFuzzy` says how.

    With top_k=k the objective is the least that it can be for memberships of which at most k of a
    row are not zero, those in its k nearest centres, so that it falls from sweep to sweep as the
    plain one does (`cmeans.rules.Truncated` says why). With noise the noise cluster is none of the
    k. Where k is at least the number of clusters it is the plain objective.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 6 (with Bezdek's exponent), Alg. 2 and 4. Zhang, Havens:
    Scalable approximation of kernel fuzzy c-means. IEEE Big Data 2013, eq. 2-7. Hornik, Feinerer,
    Kober, Buchta: Spherical k-means clustering. Journal of Statistical Software 50(10), 2012,
    section 2. Dave: Characterization and detection of noise in clustering. Pattern Recognition
    Letters 12(11), 1991.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import minmax_scale
    >>> from cmeans import FuzzyCMeans
    >>> X, kinds = load_wine(return_X_y=True)
    >>> model = FuzzyCMeans(n_clusters=3, random_state=0).fit(minmax_scale(X))
    >>> model.memberships_.shape, 1 < model.m_ < 2
    ((178, 3), True)
    """

    m: Auto | float
    noise: Auto | float | None
    top_k: int | None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: Auto | float = "auto",
        noise: Auto | float | None = None,
        top_k: int | None = None,
        kernel: KernelName | Auto | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        metric: MetricName = "euclidean",
        covariance: CovarianceName | Covariance | None = None,
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        search: SearchName | Search | None = "auto",
        sizes: Sizes | None = None,
        max_iter: int = 300,
        tol: float = 1e-4,
        missing: MissingName = "error",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        with parameters_of(name, share="noise"):
            rule: Rule = Fuzzy(self.m) if self.noise is None else NoiseFuzzy(self.m, self.noise)
        sizes = given_sizes(self.sizes, self.n_clusters, name)
        top_k = check_top_k(self.top_k, rule, name)
        stages = () if sizes is None else (SizedClusters(sizes),)
        plain = Procedure(partial(method_of, truncated(rule, top_k)), stages=stages, top_k=top_k)
        return stretched(plain, self.covariance, rule, name)
