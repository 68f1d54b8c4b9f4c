"""Hard c-means in kernel space: k-means, kernel k-means, approximate kernel k-means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engines import Engine
from ..fitting.arguments import Auto, GammaName, InitName, MetricName, MissingName
from ..fitting.fit import BaseCMeans
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.sizes import Sizes, given_sizes
from ..fitting.stages.sized import SizedClusters
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Hard
from .plotting import Plotting


class KernelKMeans(Plotting, BaseCMeans):
    """Kernel k-means: minimise  sum_i w_i min_j |phi(x_i) - v_j|^2.

    Use it when clusters are clear-cut but not balls in the space of the features. With `landmarks` the centres are
    sought in the span of that many rows (approximate kernel k-means, Chitta 2011 Alg. 2), which costs O(n s) a sweep
    instead of O(n^2); with `kernel="linear"` it is plain k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel object or callable k(X, Y), default="rbf"
        Kernel in whose space clusters are sought; "linear" is plain c-means. Not "linear" as elsewhere: this is the kernel form of
        k-means. Known are "rbf", "linear", "laplacian", "polynomial",
        "normalized_polynomial", "sigmoid", "cosine", "histogram_intersection", "landmark_graph"
        (normalised cuts, for clusters of any shape: the leading eigenvectors of the graph of rows that share near landmarks, for new rows
        too; it has no `gamma` and no certificate) or "precomputed" (X is the square kernel matrix, or only the columns of
        `landmarks`, with kernel=Precomputed(diagonal=k(x, x))), or "precomputed_graph" (X is the square, symmetric matrix of affinities
        between rows, most of them 0 and not stored, as of a graph of nearest neighbours: its normalised cut. Rows weigh as much as their
        degree times their sample weight; new rows are their affinities to those of the fit). A name stands for the kernel with the
        defaults of its parameters, an object of `cmeans.kernels` has them: `Polynomial(degree=2, coef0=0)`,
        `LandmarkGraphKernel(n_neighbors=10)`, `functools.partial` or `CallableKernel(k, params)` of a function.
    gamma : "scale", "median" or float, default="scale"
        Width of the kernel. It is for kernels by name; an object has its own. "scale": 1 / the sum of the columns' variances for RBF,
        1 / (d root mean variance) for Laplacian; "median":
        1 / median squared distance (of L1 distances for Laplacian), on at most 1,000 rows whatever random_state is; 1 for the rest.
        Features must be in like units: scale them first.
    landmarks : "auto", int, None, points, row numbers or Landmarks, default="auto"
        The rows whose span holds the centres: how many, or which; None: all, exactly. "auto": exact up to 2,000 rows,
        else as many as comparing two partitions to 2% takes, at most 2,048. `Landmarks` says how they are chosen, and
        how well they must do.
    metric : "euclidean" or "cosine", default="euclidean"
        What rows are compared by. "cosine": centres have length one in the kernel's space, v_j = t_j / |t_j| of the
        means t_j; with kernel="linear" rows are made of length one too, as they are read: spherical k-means, for text
        and embeddings (see Notes).
    init : "k-means++", "k-means||", "max-min", "random", "random-partition", array or fitted estimator, default="k-means++"
        How the first centres are drawn. "k-means++" reads a fair sample of 20,000 rows (20 a cluster, if that is more),
        "k-means||" all rows, in six passes; of no more rows than that both are the same. "max-min": always the
        farthest row of the sample.
        Arrays: (c,) row numbers, (n,) labels, (c, d) points or (n, c) memberships; one start then, whatever n_init. Centres that are
        equal there, such as those of rows that all have the same memberships, stay together in soft clusters, which a warning tells; a
        hard cluster that is left without rows by it takes the row farthest from all centres.
    n_init : int, default=1
        Starts; the lowest objective is kept.
    search : "auto", "breathing", None or Search, default="auto"
        How to leave poor optima: clusters come where errors are large and as many go where they are of least use, as
        long as that lowers the objective (breathing k-means). "auto": for no more row visits than nine further starts
        take; "breathing": for as long as it gains; None: sweeps from the starts alone. `Search` also says whether
        sweeps are accelerated, begin on samples, and join equal rows.
    sizes : Sizes or None, default=None
        Bounds of the clusters' sizes, as `Sizes(least=10, most=0.5)`: numbers, or shares of all rows.
    max_iter : int, default=300
        Sweeps over the rows at most.
    tol : float, default=1e-4
        Move of a centre, as a fraction of the typical distance, below which it stands still.
    missing : "error" or "partial", default="error"
        What to do where X has no value (NaN, empty cells of files, nulls). "partial", with kernel="linear" only: distances are over the
        columns that a row has values in, and a centre is in every column the mean of the values there (Hathaway & Bezdek 2001; of hard
        clusters the objective of k-POD). Where memberships depend on more than ratios of a row's distances (possibilistic, noise,
        entropy, sizes) they are scaled by d / (number of values), and so are those of `transform` and `outlier_score`.
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the sweeps: `ThreadEngine`, `DaskEngine`, or one of your own; it also says how much memory a fit may take and where its
        progress is recorded. None: threads of this process; for rows in a Dask collection, the workers of its client.
    random_state : int, RandomState or None
        Seed of all that is drawn: landmarks, starts, samples.
    verbose : int, default=0
        1: a line at the end, 2: a line a sweep (logger "cmeans"). In notebooks, where rich is installed, a bar shows fits of more than
        two seconds.

    Attributes
    ----------
    labels_ : (n,) cluster of each row; -1 for those that say nothing (see Notes).
    memberships_ : (n, c) one-hot.
    objective_, objective_history_ : the objective at the end, and after 0, 1, ... sweeps.
    n_iter_, row_visits_, converged_, stop_reason_ : sweeps of the best run over all rows, rows looked at in all (those of samples
        and of the search too), and why it ended. Where search has found a better optimum, the run is the one from there; it is what
        `objective_history_` holds.
    n_clusters_ : clusters that hold rows.
    cluster_centers_ : (c, d), with kernel="linear" only.
    n_landmarks_ : landmarks used; None when the fit was exact on all rows, or Euclidean.
    approximation_ : what the landmarks leave out, and bounds of the true cost of the partition: `n_landmarks`, `rank`, `residual`,
        `residual_interval`, `cost_bounds`, `comparison_error`. None where nothing is approximated, and for kernels that are not positive
        semidefinite.
    landmarks_, landmark_indices_, dual_coef_ : points, their row numbers, and coefficients (c, s) of the centres over them
        (after an exact fit all rows).
    kernel_, gamma_ : the kernel object and the width used.
    eigenvalues_, n_clusters_suggested_ : of a graph ("landmark_graph", "precomputed_graph") only: its leading ones, and the number of
        clusters before their largest gap (of the roots of 1 - eigenvalue).
    prices_, size_gap_ : with bounds of sizes only. A row belongs where its squared distance less the cluster's price is least; prices are
        above zero where clusters must be filled up, and below where they are full. The gap is the share by which the objective may lie
        above the least for these centres.
    n_missing_ : (d,) missing values of each column, with missing="partial" only.
    separation_ : spread of the centres over the typical squared distance between rows and centres, to which rows that belong nowhere do not
        count; near 0 when all have fallen together.

    Notes
    -----
    Rows that say nothing of where they belong, those without any value, those of zeros with metric="cosine", and those that no edge of a
    given graph joins to others, weigh nothing and are in no cluster: their label is -1, their memberships are 0, their distances NaN. A
    `cmeans.DataWarning` says how many they are; `warnings.filterwarnings("error", category=cmeans.DataWarning)` makes an error of it.
    Answers about Dask collections, which are made when they are asked for, come without it.

    With metric="cosine" and rows of length one, |phi(x) - v|^2 = 2 - 2 cos(x, v): the objective is
    2 sum_i w_i (1 - max_j cos(x_i, v_j)), for soft rules
    2 sum_ij w_i u_ij^m (1 - cos(x_i, v_j)). Of given memberships no centres of length one do better than t_j / |t_j|, so it
    falls from sweep to sweep as ever. So do objectives of rows of other lengths (of "polynomial", say), of which longer ones count more. A
    row without length (k(x, x) = 0, such as one of zeros) has no direction, and is in no cluster. `kernel_` is the `Cosine`
    kernel where `kernel` is "linear".

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, eq. 1-7, Alg. 2.
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, Alg. 1.
    Fritzke: The breathing k-means algorithm. arXiv:2006.15666, 2020.
    Hathaway, Bezdek: Fuzzy c-means clustering of incomplete data. IEEE Trans. SMC-B 31(5), 2001.
    Chi, Chi, Baraniuk: k-POD: a method for k-means clustering of missing data. The American Statistician 70(1), 2016.
    Dhillon, Modha: Concept decompositions for large sparse text data using clustering. Machine Learning 42, 2001 (spherical).

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from cmeans import KernelKMeans
    >>> X, rings = make_circles(300, noise=0.05, factor=0.2, random_state=0)
    >>> labels = KernelKMeans(n_clusters=2, gamma=2.0, n_init=5, random_state=0).fit_predict(X)
    >>> bool((labels == rings).mean() in (0.0, 1.0))
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelName | Kernel | Callable[..., Any] = "rbf",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        metric: MetricName = "euclidean",
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
        sizes = given_sizes(self.sizes, self.n_clusters, type(self).__name__)
        return Procedure(lambda _: Method(Hard()), stages=() if sizes is None else (SizedClusters(sizes),))
