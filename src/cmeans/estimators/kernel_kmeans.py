"""Hard c-means in kernel space: k-means, kernel k-means, approximate kernel k-means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engines import Engine
from ..fitting.arguments import Auto, GammaName, InitName, MetricName, MissingName
from ..fitting.covariance import Covariance, CovarianceName
from ..fitting.fit import BaseCMeans
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.sizes import Sizes, given_sizes
from ..fitting.stages.sized import SizedClusters
from ..fitting.stretched import stretched
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Hard
from .kernel_choice import ChoosesKernel
from .plotting import Plotting


class KernelKMeans(ChoosesKernel, Plotting, BaseCMeans):
    """Kernel k-means: minimise  sum_i w_i min_j |phi(x_i) - v_j|^2.

    Use it when clusters are clear-cut but not balls in the space of the features. With `landmarks`
    the centres are sought in the span of that many rows (approximate kernel k-means, Chitta 2011
    Alg. 2): O(n s) a sweep instead of O(n^2). With `kernel="linear"` it is plain k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel object or callable k(X, Y), default="rbf"
        Kernel in whose space clusters are sought. Not "linear" as elsewhere: this is the kernel
        form of k-means. Known are "rbf", "linear", "laplacian", "polynomial",
        "normalized_polynomial", "sigmoid", "cosine", "histogram_intersection", "landmark_graph"
        (normalised cuts: clusters of any shape), "precomputed" (X holds kernel values) and
        "precomputed_graph" (X holds affinities), each with the defaults of its parameters; an
        object of `cmeans.kernels` has its own, as `Polynomial(degree=2)`. "auto": "linear" or
        "rbf", of which the rows speak for the one whose clusters of a sample keep near rows
        together; `kernel_` is what was chosen.
    gamma : "scale", "median" or float, default="scale"
        Width of a kernel given by name, from the columns' variances or the median distance (`RBF`
        says how); 1 for others. Features must be in like units: scale them first.
    landmarks : "auto", int, None, points, row numbers or Landmarks, default="auto"
        The rows whose span holds the centres: how many, or which; None: all, exactly. "auto": exact
        up to 2,000 rows, else as many as comparing two partitions to 2% takes, at most 2,048.
        `Landmarks` says how they are chosen.
    metric : "euclidean" or "cosine", default="euclidean"
        What rows are compared by. "cosine": centres have length one in the kernel's space; with
        kernel="linear" rows are made of length one too: spherical k-means, for text and embeddings.
    covariance : None, "full", "diag", "tied", "spherical" or Covariance, default=None
        Clusters have metrics of their own, from the covariances of their rows, so that they may be
        stretched. `Covariance` and Notes say how; for kernel="linear" and "landmark_graph". None:
        they are round.
    init : name, array or fitted estimator, default="k-means++"
        How the first centres are drawn. "k-means++" reads a fair sample of 20,000 rows (of 8 a
        cluster from 256 clusters on, where twice as many draws are merged two by two), "k-means||"
        all rows, in six passes; of no more rows than that both are the same. "max-min": always the
        farthest row of the sample. Arrays: (c,) row numbers, (n,) labels, (c, d) points or (n, c)
        memberships; one start then. Equal centres stay together in soft clusters, which a warning
        tells; a hard cluster without rows takes the row farthest from all.
    n_init : int, default=1
        Starts; the lowest objective is kept.
    search : "auto", "breathing", "hierarchical", None or Search, default="auto"
        How to leave poor optima: clusters come and go while that lowers the objective
        ("breathing"). "auto": for no more row visits than nine further starts take; "hierarchical",
        for hundreds or thousands of clusters: sweeps over a sample, of thousands within cells, and
        two over all rows; None: sweeps from the starts alone. `Search` also says whether sweeps are
        accelerated, begin on samples, and join equal rows.
    sizes : Sizes or None, default=None
        Bounds of the clusters' sizes, as `Sizes(least=10, most=0.5)`: numbers, or shares of all
        rows.
    max_iter : int, default=300
        Sweeps over the rows at most.
    tol : float, default=1e-4
        Move of a centre, as a fraction of the typical distance, below which it stands still.
    missing : "error" or "partial", default="error"
        What to do where X has no value (NaN, empty cells of files, nulls). "partial", with
        kernel="linear" only: distances are over the columns that a row has values in, and a centre
        is in every column the mean of those there.
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the sweeps: `ThreadEngine` (also how much memory a fit may take, and where its
        progress is recorded), `DaskEngine`, or your own. None: threads of this process; for rows in
        a Dask collection, the workers of its client.
    random_state : int, RandomState or None
        Seed of all that is drawn: landmarks, starts, samples.
    verbose : int, default=0
        1: a line at the end, 2: a line a sweep (logger "cmeans"). In notebooks with rich a bar
        shows fits of more than two seconds.

    Attributes
    ----------
    labels_ : (n,) cluster of each row; -1 for those that say nothing.
    memberships_ : (n, c) one-hot.
    objective_, objective_history_ : the objective at the end, and after 0, 1, ... sweeps.
    n_iter_, row_visits_, converged_, stop_reason_ : sweeps of the best run (after the search, where
        that has gained) over all rows, rows looked at in all (samples and search too), and why it
        ended.
    n_clusters_ : clusters with rows.
    cluster_centers_ : (c, d), with kernel="linear" only.
    n_landmarks_ : landmarks used; None when the fit was exact, or Euclidean.
    approximation_ : what the landmarks leave out, and bounds of the true cost of the partition:
        `n_landmarks`, `rank`, `residual`, `residual_interval`, `cost_bounds`, `comparison_error`;
        None where nothing is approximated, or the kernel is indefinite.
    landmarks_, landmark_indices_, dual_coef_ : points, their row numbers, coefficients (c, s) of
        the centres over them (after an exact fit all rows).
    kernel_, gamma_ : the kernel object and the width used.
    eigenvalues_, n_clusters_suggested_ : of a graph only: the leading ones, and the number before
        the largest gap of sqrt(1 - eigenvalue).
    metrics_ : with `covariance` only, (c, d, d) A_j, or (c, d) diagonals: the squared distance of x
        to v_j is (x - v_j)^T A_j (x - v_j).
    n_starts_, start_ : with `covariance` only, the runs that were followed, and where the best of
        them started.
    prices_, size_gap_ : with `sizes` only, which says what they are.
    n_missing_ : (d,) missing values of each column, with missing="partial" only.
    separation_ : spread of the centres over the typical squared distance of rows to them; near 0
        when all have fallen together.

    Notes
    -----
    Rows that say nothing weigh nothing and are in no cluster: those without any value, without
    length (k(x, x) = 0) with metric="cosine", without an edge in a given graph. Their label is -1,
    their memberships are 0, their distances NaN, and a `cmeans.DataWarning` counts them, except in
    answers about Dask collections; `warnings.filterwarnings("error", category=cmeans.DataWarning)`
    makes it an error.

    With metric="cosine" and rows of length one the objective is  2 sum_i w_i (1 - max_j cos(x_i,
    v_j)).  It falls from sweep to sweep; of rows of other lengths too, of which longer ones count
    more. With kernel="linear" `kernel_` is the `Cosine` kernel.

    With `covariance` squared distances are those of Gustafson and Kessel 1979, (x - v_j)^T A_j (x -
    v_j), A_j = |S_j|^(1/d) S_j^-1, for S_j = (W_j + nu T) / (N_j + nu): the covariance of the
    cluster's rows with nu rows of covariance T, which is pooled within the clusters of the best
    hard partition. The objective then has nu sum_j tr(A_j T) besides. m="auto" and T="auto" are
    read off the rows in the metric of that T. Where a run starts, `GaussianMixture` says, which has
    components of their own volumes and weights too.

    With missing="partial" distances that count by more than their ratios in a row (possibilistic,
    noise, entropy, sizes; `transform`, `outlier_score`) are scaled by d / (number of values). Of
    hard clusters the objective is that of k-POD.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, eq. 1-7, Alg. 2. Hathaway,
    Bezdek: Fuzzy c-means clustering of incomplete data. IEEE Trans. SMC-B 31(5), 2001. Chi, Chi,
    Baraniuk: k-POD: a method for k-means clustering of missing data. The American Statistician
    70(1), 2016. Gustafson, Kessel: Fuzzy clustering with a fuzzy covariance matrix. IEEE CDC 1979.
    Dhillon, Modha: Concept decompositions for large sparse text data using clustering.
    Machine Learning 42, 2001 (spherical).

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from cmeans import KernelKMeans
    >>> X, rings = make_circles(300, noise=0.05, factor=0.2, random_state=0)
    >>> labels = KernelKMeans(n_clusters=2, gamma=2.0, n_init=5, random_state=0).fit_predict(X)
    >>> bool((labels == rings).mean() in (0.0, 1.0))
    True
    """

    # hard sweeps go without acceleration
    _taken_fields = {"search": ("method", "progressive", "join_equal_rows")}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelName | Auto | Kernel | Callable[..., Any] = "rbf",
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
        sizes = given_sizes(self.sizes, self.n_clusters, name)
        plain = Procedure(
            lambda _: Method(Hard()), stages=() if sizes is None else (SizedClusters(sizes),)
        )
        return stretched(plain, self.covariance, Hard(), name)
