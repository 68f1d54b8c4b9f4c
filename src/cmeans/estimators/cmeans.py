"""General c-means: any rule with any kernel and space."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..data.outputs import FloatArray
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
from ..rules import RULES, Rule
from ..rules.base import rule_of
from ..runtime.docstrings import describes_arguments, shares_parameters
from ..runtime.offered import offered_if
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting


@shares_parameters(KernelKMeans)
class CMeans(Plotting, BaseCMeans):
    """c-means with a rule of your choice: minimise  sum_ij w_i weight(u_ij) |phi(x_i) - v_j|^2 +
    penalty(u)  by alternating.

    Use it for rules of your own: a `cmeans.rules.Rule` needs one or two short methods.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    rule : name of `cmeans.rules.RULES` or a Rule, default="fuzzy"
        The memberships of a row, given its squared distances. A name stands for the rule with the
        defaults of its parameters, `Entropy()`; an object of `cmeans.rules` has them, as
        `Entropy(T=2.0)`, and "auto" of one is read off the rows.
    top_k : int >= 1 or None, default=None
        As in `FuzzyCMeans`, for soft rules whose rows sum to one: "fuzzy", "polynomial_fuzzy",
        "entropy", and your own.
    sizes : Sizes or None, default=None
        As in `KernelKMeans`, for the rules "hard", "fuzzy" and "entropy".
    search : "auto", "breathing", "annealing", "hierarchical", None or Search, default="auto"
        As in `KernelKMeans`. "annealing", for rule="entropy": the temperature falls from where all
        centres coincide to T, so that clusters divide one after the other, whatever the start.
    metric : "euclidean" or "cosine", default="euclidean"
        As in `KernelKMeans`. m="auto" and T="auto" are read off plain means, which is on the safe
        side: centres of length one stay apart for larger ones.

    All other attributes and methods are those of `KernelKMeans`.

    Notes
    -----
    T="auto" is read off the best hard partition, into `n_clusters`, of a fixed sample, as m="auto"
    of `FuzzyCMeans` is. With W_j the weight of its cluster j and U_j what the rows of cluster j
    would cost more at the next mean, T is the least of

    - lambda_max of the covariance of all rows: half of T*, above which all centres coincide (Rose,
      Gurewitz, Fox 1990);
    - the median over the clusters of lambda_max of their own covariances;
    - min_j U_j / (2 ln 2 max_j W_j), as sharing the rows of one cluster by halves between two
      centres lowers the objective by T W_j ln 2.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 4, Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import CMeans
    >>> from cmeans.rules import Entropy
    >>> X = load_iris().data
    >>> CMeans(3, rule=Entropy(0.5), random_state=0).fit(X).converged_
    True
    """

    rule: str | Rule
    top_k: int | None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rule: str | Rule = "fuzzy",
        top_k: int | None = None,
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
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

    @offered_if(lambda estimator: not estimator._sums_to_one)
    @describes_arguments
    def typicality(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Typicalities (rows, c) of new rows, for rules whose rows need not sum to one."""
        return self.memberships(X, diag=diag)

    def _procedure(self) -> Procedure:
        name, rule = type(self).__name__, rule_of(self.rule, type(self).__name__)
        sizes = given_sizes(self.sizes, self.n_clusters, name)
        if sizes is not None and not rule.bounds_sizes:
            able = " or ".join(
                f'"{known}"'
                for known, cls in RULES.items()
                if cls.with_prices is not Rule.with_prices
            )
            raise ValueError(
                f"{name}({sizes.given}): rule={self.rule!r} does not bound the sizes of clusters; "
                f"rule={able} does."
            )
        rule = truncated(rule, check_top_k(self.top_k, rule, name))
        stages = () if sizes is None else (SizedClusters(sizes),)
        plain = Procedure(partial(method_of, rule), stages=stages, top_k=rule.most_clusters)
        return stretched(plain, self.covariance, rule, name)

    @property
    def _can_be_annealed(self) -> bool:  # type: ignore[override]
        return rule_of(self.rule, type(self).__name__).can_be_annealed

    @property
    def _sums_to_one(self) -> bool:  # type: ignore[override]
        return rule_of(self.rule, type(self).__name__).rows_sum_to_one
