"""General c-means: any rule with any kernel and space."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from ..data.outputs import FloatArray
from ..fitting.arguments import (
    Auto,
    GammaName,
    InitName,
    MetricName,
    MissingName,
    check_m,
    check_parameter,
    check_top_k,
    settled,
    settled_m,
    truncated,
)
from ..fitting.fit import BaseCMeans
from ..fitting.geometry import Geometry
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, Procedure
from ..fitting.search import Search, SearchName
from ..fitting.sizes import Sizes, given_sizes
from ..fitting.validation import one_of, real
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import RULES, Fuzzy, Rule
from ..runtime.docstrings import describes_arguments, shares_parameters
from ..runtime.offered import offered_if
from ..solvers.checkpoints import Checkpoint
from ..solvers.multistart import ScalesPilot
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting

StopName = Literal["centres", "memberships"]
MADE_BY_NAME = tuple(name for name, rule in RULES.items() if rule.made_from is not None)
SIZED_BY_NAME = tuple(name for name in MADE_BY_NAME if RULES[name].with_prices is not Rule.with_prices)
OF_SOME_RULES = sorted({word for rule in RULES.values() for word in rule.made_from or ()} - {"m"})  # None unless given; m never is


def _has_typicalities(estimator: Any) -> bool:
    return not estimator._sums_to_one


@shares_parameters(KernelKMeans)
class CMeans(Plotting, BaseCMeans):
    """c-means with a rule of your choice: minimise  sum_ij w_i weight(u_ij) |phi(x_i) - v_j|^2 + penalty(u)  by alternating.

    Use it for rules of your own (a `cmeans.rules.Rule` needs two short methods), for `Fuzzy(m, exponent=...)`, the exponent
    that Havens 2011 prints, and for the papers' own stopping criterion.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    rule : "fuzzy", "hard", "possibilistic", "entropy", "polynomial_fuzzy" or a Rule, default="fuzzy"
        The memberships of a row, given its squared distances.
    m : "auto" or float > 1, default="auto"
        Of the rules given by name ("auto" means 2 for "possibilistic"); a Rule object has its own.
    T : "auto", float > 0 or None, default=None
        The temperature, in units of squared distances: the larger, the softer memberships are. For rule="entropy", where None is "auto"
        (see Notes); other rules have none.
    beta : float in [0, 1) or None, default=None
        The hardness: memberships are 1 where the nearest squared distance is at most beta times the second; None: 0.5. For
        rule="polynomial_fuzzy"; other rules have none.
    top_k : int >= 1 or None, default=None
        As in `FuzzyCMeans`, for soft rules whose rows sum to one: "fuzzy", "polynomial_fuzzy", "entropy", and your own.
    pilot_m, eta_scale : default="auto", 1.0
        For rules that need scales: see `PossibilisticCMeans`.
    sizes : Sizes or None, default=None
        As in `KernelKMeans`, for the rules "hard", "fuzzy" and "entropy".
    stop : "centres" or "memberships", default="centres"
        What must stand still to `tol`: the centres, or max |u - u'| as the papers print it (at twice the distances a sweep).
    search : "auto", "breathing", "annealing", None or Search, default="auto"
        As in `KernelKMeans`; stop="memberships" goes without acceleration. "annealing", for rule="entropy": the temperature falls from
        where all centres coincide to T, so that clusters divide one after the other, whatever the start.
    metric : "euclidean" or "cosine", default="euclidean"
        As in `KernelKMeans`. m="auto" and T="auto" are read off plain means, which is on the safe side: centres of length one stay apart
        for larger ones.

    All other attributes and methods are those of `KernelKMeans`.

    Notes
    -----
    T="auto" is read off the best hard partition, into `n_clusters`, of a fixed sample, as m="auto" of `FuzzyCMeans` is. With W_j the
    weight of its cluster j and U_j what the rows of cluster j would cost more at the next mean, T is the least of

    - lambda_max of the covariance of all rows: half of T*, above which all centres coincide (Rose, Gurewitz, Fox 1990);
    - the median over the clusters of lambda_max of their own covariances;
    - min_j U_j / (2 ln 2 max_j W_j), as sharing the rows of one cluster by halves between two centres lowers the objective by T W_j ln 2.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, eq. 4, Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import CMeans
    >>> from cmeans.rules import Fuzzy
    >>> X = load_iris().data
    >>> printed = CMeans(3, rule=Fuzzy(2.0, exponent=2.0), stop="memberships", tol=1e-3, random_state=0).fit(X)
    >>> printed.converged_
    True
    """

    rule: str | Rule
    m: str | float
    T: str | float | None
    beta: float | None
    pilot_m: str | float
    eta_scale: float
    top_k: int | None
    stop: str

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rule: str | Rule = "fuzzy",
        m: Auto | float = "auto",
        T: Auto | float | None = None,
        beta: float | None = None,
        pilot_m: Auto | float = "auto",
        eta_scale: float = 1.0,
        top_k: int | None = None,
        stop: StopName = "centres",
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
        sizes: Sizes | None = None,
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

    @offered_if(_has_typicalities)
    @describes_arguments
    def typicality(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Typicalities (rows, c) of new rows, for rules whose rows need not sum to one."""
        return self.memberships(X, diag=diag)

    def _procedure(self) -> Procedure:
        name, cls = type(self).__name__, self._rule_class()
        self._check_parameters_of_rules()
        pilot_scale = 1.0
        if cls.needs_pilot:
            check_m(self.pilot_m, "pilot_m", name)
            pilot_scale = real(self.eta_scale, "eta_scale", name, above=True)

        def method(geometry: Geometry) -> Method:
            rule = truncated(self._settled_rule(geometry), top_k)
            if not rule.needs_pilot:
                return Method(rule)
            return Method(rule, ScalesPilot(Fuzzy(settled_m(self.pilot_m, "pilot_m", name, geometry)), pilot_scale))

        sizes = given_sizes(self.sizes, self.n_clusters, name)
        if sizes is not None:
            self._check_sizes(sizes.given)
        bounds, search = None if sizes is None else sizes.given, self._checked_search(name)
        top_k = check_top_k(self.top_k, self.rule if isinstance(self.rule, Rule) else cls, bounds, search.method, name)
        most = self.rule.most_clusters if isinstance(self.rule, Rule) and top_k is None else top_k
        criterion = one_of(self.stop, "stop", name, get_args(StopName))
        return Procedure(method, criterion=criterion, sizes=sizes, can_be_annealed=cls.can_be_annealed, top_k=most)

    def _settled_rule(self, geometry: Geometry) -> Rule:
        if isinstance(self.rule, Rule):
            return self.rule
        cls, estimator_name = self._rule_class(), type(self).__name__
        parameters = {name: getattr(self, name) for name in cls.made_from or ()}
        return cls.from_parameters(parameters, lambda name, value: settled(name, value, estimator_name, geometry))

    def _check_parameters_of_rules(self) -> None:
        """Refuse parameters of other rules, and bad ones of its own."""
        estimator_name = type(self).__name__
        wanted = () if isinstance(self.rule, Rule) else self._rule_class().made_from or ()
        for name in wanted:
            check_parameter(name, getattr(self, name), estimator_name)
        for name in OF_SOME_RULES:
            given = getattr(self, name) is not None
            if given and name not in wanted:
                able = " or ".join(f'"{rule}"' for rule in MADE_BY_NAME if name in (RULES[rule].made_from or ()))
                value = getattr(self, name)
                raise ValueError(f"{estimator_name}({name}={value!r}): rule={self.rule!r} takes no {name}; it is for rule={able}.")

    def _check_sizes(self, given: str) -> None:
        """Refuse bounds of sizes for rules that cannot keep them."""
        known = self.rule.with_prices() is not None if isinstance(self.rule, Rule) else self.rule in SIZED_BY_NAME
        if not known:
            able = " or ".join(f'"{rule}"' for rule in SIZED_BY_NAME)
            raise ValueError(f"{type(self).__name__}({given}): rule={self.rule!r} does not bound the sizes of clusters; rule={able} does.")

    def _rule_class(self) -> type[Rule]:
        if isinstance(self.rule, Rule):
            return type(self.rule)
        return RULES[one_of(self.rule, "rule", type(self).__name__, MADE_BY_NAME)]

    @property
    def _sums_to_one(self) -> bool:  # type: ignore[override]
        return self._rule_class().rows_sum_to_one
