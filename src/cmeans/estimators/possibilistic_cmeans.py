"""Possibilistic c-means: plain, kernel, and approximate on landmarks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..data.outputs import FloatArray
from ..fitting.arguments import Auto, GammaName, InitName, MetricName, MissingName, check_m, settled_m
from ..fitting.fit import BaseCMeans
from ..fitting.geometry import Geometry
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.validation import real
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Fuzzy, Possibilistic
from ..runtime.docstrings import describes_arguments, shares_parameters
from ..solvers.checkpoints import Checkpoint
from ..tuning.scales_beside_noise import ScalesBesideNoise
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting


@shares_parameters(KernelKMeans)
class PossibilisticCMeans(Plotting, BaseCMeans):
    """Possibilistic c-means: minimise  sum_ij w_i u_ij^m |phi(x_i) - v_j|^2 + sum_j eta_j sum_i w_i (1 - u_ij)^m.

    Use it when there are outliers: a row far from everything belongs nowhere, while fuzzy memberships must sum to one.
    Each cluster seeks a dense region independently of the others, so clusters may coincide; start from no more of them than there are.
    A fuzzy run goes first; it gives the start and the scales eta_j, the mean squared distance within fuzzy cluster j. Where rows lie far
    out, or a cluster has few rows, one with a noise cluster follows it, and is taken where it serves the rows better: so no far row has a
    cluster of its own. `CMeans(rule="possibilistic")` does without, as the literature does.
    With landmarks it is akPCM (Havens 2011 Alg. 5).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    m : float > 1, default=1.2
        How softly typicality falls with distance; it is 1/2 at the distance sqrt(eta_j) whatever m. Not "auto" as elsewhere, since it makes
        no memberships compete. With the literature's 2 far rows
        keep so much of it that clusters unite on most data of more than a few columns.
    pilot_m : "auto" or float > 1, default="auto"
        The fuzzifier of the fuzzy run that goes first. As in `FuzzyCMeans`; the value used is `pilot_m_`.
    eta_scale : float > 0, default=0.5
        Width of the clusters relative to those of the fuzzy run: it multiplies all eta_j (Theta in the papers). Wider clusters unite
        sooner, narrower ones give fewer rows a large typicality. `m=2, eta_scale=1` are those of the literature.

    All other attributes and methods are those of `KernelKMeans`. n_init counts fuzzy runs, the best of which is
    built on, and `search` is for a better fuzzy run.

    Attributes
    ----------
    memberships_ : (n, c) typicalities in [0, 1]; rows need not sum to one. `labels_` is their argmax, of far rows too.
    eta_ : (c,) the scales, in squared units of the space.
    m_, pilot_m_ : the fuzzifiers used.
    n_iter_, objective_history_ : of the possibilistic sweeps; row_visits_ counts those of the fuzzy run before them too.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Krishnapuram, Keller: A possibilistic approach to clustering. IEEE Trans. Fuzzy Systems 1(2), 1993.
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011,
    eq. 7 (with the exponent of squared distances) and 11, Alg. 3 and 5.

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

    m: float
    pilot_m: str | float
    eta_scale: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float = 1.2,
        pilot_m: Auto | float = "auto",
        eta_scale: float = 0.5,
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        metric: MetricName = "euclidean",
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        search: SearchName | Search | None = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        missing: MissingName = "error",
        memory_budget: int | float | str | None = None,
        n_jobs: int | None = None,
        engine: Any = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @describes_arguments
    def typicality(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Typicalities (rows, c) of new rows in [0, 1]: 1 at a centre, 1/2 at the distance sqrt(eta_j), 0 far away."""
        return self.memberships(X, diag=diag)

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        check_m(self.m, "m", name)
        check_m(self.pilot_m, "pilot_m", name)
        scale = real(self.eta_scale, "eta_scale", name, above=True)

        def method(geometry: Geometry) -> Method:
            rule, pilot = Possibilistic(settled_m(self.m, "m", name, geometry)), Fuzzy(settled_m(self.pilot_m, "pilot_m", name, geometry))
            return Method(rule, ScalesBesideNoise(pilot, scale))

        return Procedure(method)
