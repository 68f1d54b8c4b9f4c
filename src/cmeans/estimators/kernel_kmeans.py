"""Hard c-means in kernel space: k-means, kernel k-means, approximate kernel k-means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engines import Engine
from ..fitting.arguments import (
    Auto,
    GammaName,
    InitName,
    LandmarkName,
    LandmarkSolver,
    MissingName,
    OnEmpty,
    SearchName,
    SizesArgument,
    given_sizes,
)
from ..fitting.fit import BaseCMeans
from ..fitting.procedure import Method, Procedure
from ..fitting.stages.sized import SizedClusters
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Hard
from .plotting import Plotting


class KernelKMeans(Plotting, BaseCMeans):
    """Kernel k-means: minimise  sum_i w_i min_j |phi(x_i) - v_j|^2.

    Use it when clusters are clear-cut but not balls in the space of the features. With `n_landmarks` the centres are
    sought in the span of that many rows (approximate kernel k-means, Chitta 2011 Alg. 2), which costs O(n s) a sweep
    instead of O(n^2); with `kernel="linear"` it is plain k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel object or callable k(X, Y), default="rbf"
        Kernel in whose space clusters are sought; "linear" is plain c-means. Known are "rbf", "linear", "laplacian", "polynomial",
        "normalized_polynomial", "sigmoid", "cosine", "histogram_intersection", "landmark_graph"
        (normalised cuts, for clusters of any shape: the leading eigenvectors of the graph of rows that share near landmarks, for new rows
        too; it has no `gamma`, `landmark_tol` and certificate) or "precomputed" (X is the square kernel matrix, or only the columns of
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
    n_landmarks : int, "auto" or None, default="auto"
        Number of rows whose span holds the centres; None: all of them, exactly. (Where a quarter of them or fewer span all to 1e-9 of the
        variance, an exact fit works with those.) "auto": exact up to 2,000 rows, else as many as `landmark_tol` asks for, at most 2,048.
        "rpcholesky" takes fewer than asked for where these span all rows. "auto" for "landmark_graph": 1,000 centres of k-means over a
        sample, at most half as many as there are rows.
    landmarks : "rpcholesky", "k-means++", "uniform", row numbers or points, default="rpcholesky"
        How landmarks are chosen among the rows. "rpcholesky": drawn in proportion to what those before leave out of them (randomly
        pivoted Cholesky), "k-means++": to the squared distance from the nearest of them, "uniform": to weight; the first two among at most
        20,000 rows. An array sets their number too.
    landmark_tol : float, default=0.02
        Share by which costs of two partitions may compare wrongly with n_landmarks="auto". Landmarks are added, 64 at a time, until the
        error of comparing two partitions is at most this share of what one costs (see `approximation_`), or they leave out less than 1% of
        the variance.
    landmark_solver : "eigh" or "gradient", default="eigh"
        How to solve with the landmarks' kernel matrix: by a factor of it, or by conjugate gradients.
    spherical : bool, default=False
        Whether centres have length one in the kernel's space, v_j = t_j / |t_j| of the means t_j. With kernel="linear" rows are made of
        length one too, as they are read: spherical k-means, for text and embeddings (see Notes).
    init : "k-means++", "k-means||", "max-min", "random", "random-partition", array or fitted estimator, default="k-means++"
        How the first centres are drawn. "k-means++" reads a fair sample of 20,000 rows (20 a cluster, if that is more),
        "k-means||" all rows, in six passes; of no more rows than that both are the same. "max-min": always the
        farthest row of the sample.
        Arrays: (c,) row numbers, (n,) labels, (c, d) points or (n, c) memberships; one start then, whatever n_init. Centres that are
        equal there, such as those of rows that all have the same memberships, stay together in soft clusters, which a warning tells; a
        hard cluster that is left without rows by it takes the row farthest from all centres.
    n_init : int, default=1
        Starts; the lowest objective is kept.
    search : "auto", "breathing" or None, default="auto"
        How to leave poor optima: clusters come where errors are large and as many go where they are of least use, as long as that
        lowers the objective (breathing k-means, Fritzke 2020). It begins where the best start has converged. Up to 1,000 rows then change
        clusters one by one, and clusters begin anew at rows, for a few milliseconds. "auto": under the hard
        rule; where the partition that it finds is better, the estimator's own sweeps go on from there. It visits no more rows than nine
        further starts would (from 256 clusters on: two), and leaves a start that `init` gives as it is. "breathing": from any start, under
        the estimator's own rule where that is hard or fuzzy, and for as long as it gains. With `progressive`, on a sample first, which
        is enough where it has 1,000 rows a cluster. None: sweeps from the starts alone.
    size_min, size_max : number, one for each cluster, or None, default=None
        Least and greatest size of each cluster: below 1 a share of all rows, else a number of them (with weights, the sum of these). With
        equal weights they are kept exactly, shares to the next whole row outwards; with unequal weights as far as whole rows allow, and a
        warning says what is missed.
        Every drawn start is followed within them, and so is the best plain partition that a search finds. `predict`
        goes by the clusters' prices (`prices_`) alone, whatever sizes come of it: equal rows, which the bounds may part in `labels_`, have
        one label there.
    max_iter : int, default=300
        Sweeps over the rows at most.
    tol : float, default=1e-4
        Move of a centre, as a fraction of the typical distance, below which it stands still.
    progressive : bool, default=True
        Whether to sweep over growing samples first, above 25,000 rows. These are fair samples of 1/256, 1/64, 1/16 and 1/4 of the rows,
        each swept from where the one before it ended, and all rows in the end, until the centres stand still there too. With n_init > 1
        starts are compared on the samples, and the best is continued. A start given by `init` uses all rows at once.
    missing : "error" or "partial", default="error"
        What to do where X has no value (NaN, empty cells of files, nulls). "partial", with kernel="linear" only: distances are over the
        columns that a row has values in, and a centre is in every column the mean of the values there (Hathaway & Bezdek 2001; of hard
        clusters the objective of k-POD). Where memberships depend on more than ratios of a row's distances (possibilistic, noise,
        entropy, sizes) they are scaled by d / (number of values), and so are those of `transform` and `outlier_score`.
    on_empty : "warn" or "error", default="warn"
        What to do with rows that say nothing of where they belong, those without any value, those of zeros with `spherical`, and those
        that no edge of a given graph joins to others. "warn": they weigh nothing, and are in no cluster; their label is -1, their
        memberships are 0, their distances NaN, and a warning says how many they are. "error": a message names the first of them. In
        `fit` and of new rows alike; answers about Dask collections, which are made when they are asked for, come without the warning.
    join_equal_rows : "auto", True or False, default="auto"
        Whether equal rows are joined to one with the sum of their weights before anything else, which changes no objective and leaves
        fewer rows to sweep over. An image of a million pixels has some 60,000 colours. Labels and memberships are those of all rows.
        "auto": above 2,000 rows, where a sample of 1,000 shows many equal ones, and half of all at most prove to be distinct; not for
        arrays of other libraries, nor on Dask's workers. True: always, bringing the distinct rows of a Dask collection here. Parameters
        that name single rows, and kernel values, go without.
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
    labels_ : (n,) cluster of each row; -1 for those that say nothing (`on_empty`).
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
    With `spherical` and rows of length one, |phi(x) - v|^2 = 2 - 2 cos(x, v): the objective is 2 sum_i w_i (1 - max_j cos(x_i, v_j)), for
    soft rules 2 sum_ij w_i u_ij^m (1 - cos(x_i, v_j)). Of given memberships no centres of length one do better than t_j / |t_j|, so it
    falls from sweep to sweep as ever. So do objectives of rows of other lengths (of "polynomial", say), of which longer ones count more. A
    row without length (k(x, x) = 0, such as one of zeros) has no direction, and is in no cluster (`on_empty`). `kernel_` is the `Cosine`
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
    Bradley, Bennett, Demiriz: Constrained k-means clustering. Microsoft Research MSR-TR-2000-65, 2000 (sizes).
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
        n_landmarks: int | Auto | None = "auto",
        landmarks: LandmarkName | Any = "rpcholesky",
        landmark_tol: float = 0.02,
        landmark_solver: LandmarkSolver = "eigh",
        spherical: bool = False,
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        search: SearchName | None = "auto",
        size_min: SizesArgument = None,
        size_max: SizesArgument = None,
        max_iter: int = 300,
        tol: float = 1e-4,
        progressive: bool = True,
        missing: MissingName = "error",
        on_empty: OnEmpty = "warn",
        join_equal_rows: Auto | bool = "auto",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _procedure(self) -> Procedure:
        sizes = given_sizes(self.size_min, self.size_max, self.n_clusters, type(self).__name__)
        return Procedure(lambda _: Method(Hard()), stages=() if sizes is None else (SizedClusters(sizes),))
