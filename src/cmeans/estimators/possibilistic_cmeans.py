"""Possibilistic c-means: plain, kernel, and approximate on landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..data.outputs import FloatArray
from ..engines import Engine
from ..fitting.arguments import Auto, GammaName, InitName, MetricName, MissingName
from ..fitting.covariance import Covariance, CovarianceName
from ..fitting.fit import BaseCMeans
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Procedure, method_of
from ..fitting.search import Search, SearchName
from ..fitting.stretched import stretched
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Possibilistic
from ..runtime.checks import parameters_of
from ..runtime.docstrings import describes_arguments, shares_parameters
from ..tuning.scales_beside_noise import ScalesBesideNoise
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting


@shares_parameters(KernelKMeans)
class PossibilisticCMeans(Plotting, BaseCMeans):
    """Possibilistic c-means: minimise  sum_ij w_i u_ij^m |phi(x_i) - v_j|^2 + sum_j eta_j sum_i w_i
    (1 - u_ij)^m.

    Use it when there are outliers: a row far from everything belongs nowhere, while fuzzy
    memberships must sum to one. Each cluster seeks a dense region independently of the others, so
    clusters may coincide; start from no more of them than there are. A fuzzy run goes first; it
    gives the start and the scales eta_j, the mean squared distance within fuzzy cluster j. Where
    rows lie far out, or a cluster has few rows, one with a noise cluster follows it, and is taken
    where it serves the rows better: so no far row has a cluster of its own.
    `CMeans(rule="possibilistic")` does without, as the literature does. With landmarks it is akPCM
    (Havens 2011 Alg. 5).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    m : "auto" or float > 1, default=1.2
        How softly typicality falls with distance; it is 1/2 at the distance sqrt(eta_j) whatever m.
        Not "auto" as elsewhere, since it makes no memberships compete. With the literature's 2 far
        rows keep so much of it that clusters unite on most data of more than a few columns.
    pilot_m : "auto" or float > 1, default="auto"
        The fuzzifier of the fuzzy run that goes first. As in `FuzzyCMeans`; the value used is
        `pilot_m_`.
    eta_scale : float > 0, default=0.5
        Width of the clusters relative to those of the fuzzy run: it multiplies all eta_j (Theta in
        the papers). Wider clusters unite sooner, narrower ones give fewer rows a large typicality.
        `m=2, eta_scale=1` are those of the literature.

    All other attributes and methods are those of `KernelKMeans`. n_init counts fuzzy runs, the best
    of which is built on, and `search` is for a better fuzzy run.

    Attributes
    ----------
    memberships_ : (n, c) typicalities in [0, 1]; rows need not sum to one. `labels_` is their
        argmax, of far rows too.
    eta_ : (c,) the scales, in squared units of the space.
    m_, pilot_m_ : the fuzzifiers used.
    n_iter_, objective_history_ : of the possibilistic sweeps; row_visits_ counts those of the fuzzy
        run before them too.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Krishnapuram, Keller: A possibilistic approach to clustering. IEEE Trans. Fuzzy Systems 1(2),
    1993. Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for
    large-scale clustering. FUZZ-IEEE 2011, eq. 7 (with the exponent of squared distances) and 11,
    Alg. 3 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans import PossibilisticCMeans
    >>> X = np.r_[np.random.default_rng(0).normal(size=(50, 2)), [[40.0, 40.0]]]
    >>> model = PossibilisticCMeans(n_clusters=1).fit(X)
    >>> int(model.outlier_score(X).argmax())
    50
    """

    _sums_to_one = False

    m: Auto | float
    pilot_m: Auto | float
    eta_scale: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: Auto | float = 1.2,
        pilot_m: Auto | float = "auto",
        eta_scale: float = 0.5,
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        metric: MetricName = "euclidean",
        covariance: CovarianceName | Covariance | None = None,
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        search: SearchName | Search | None = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        missing: MissingName = "error",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @describes_arguments
    def typicality(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Typicalities (rows, c) of new rows in [0, 1]: 1 at a centre, 1/2 at the distance
        sqrt(eta_j), 0 far away."""
        return self.memberships(X, diag=diag)

    def _procedure(self) -> Procedure:
        with parameters_of(type(self).__name__):
            rule = Possibilistic(self.m, pilot_m=self.pilot_m, eta_scale=self.eta_scale)
        plain = Procedure(lambda geometry: method_of(rule, geometry, ScalesBesideNoise))
        return stretched(plain, self.covariance, rule, type(self).__name__)
