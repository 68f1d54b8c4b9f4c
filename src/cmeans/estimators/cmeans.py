"""Your own combination: any rule with any kernel and space."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from sklearn.utils.metaestimators import available_if

from ..arrays import Array
from ..checkpoints import Checkpoint
from ..kernels import Kernel
from ..rules import Fuzzy, Hard, Possibilistic, Rule
from ..runs import Pilot
from .base import BaseCMeans
from .fuzzy_cmeans import settled_m
from .geometry import Geometry
from .inputs import one_of, real

RULES: dict[str, type[Rule]] = {"hard": Hard, "fuzzy": Fuzzy, "possibilistic": Possibilistic}


def _has_typicalities(estimator: Any) -> bool:
    return not estimator._rule_class_sums_to_one()


class CMeans(BaseCMeans):
    """c-means with a rule of your choice: minimise  sum_ij w_i weight(u_ij) |phi(x_i) - v_j|^2 + penalty(u)  by alternating.

    Use it for rules of your own (a `cmeans.rules.Rule` needs two short methods), for `Fuzzy(m, exponent=...)`, the exponent
    that Havens 2011 prints, and for the papers' own stopping criterion.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters sought.
    rule : "fuzzy", "hard", "possibilistic" or a Rule, default="fuzzy"
        How much a row belongs, given its squared distances.
    m : "auto" or float > 1, default="auto"
        Of the rules given by name ("auto" means 2 for "possibilistic"); a Rule object has its own.
    pilot_m, eta_scale : default="auto", 1.0
        For rules that need scales: see `PossibilisticCMeans`.
    stop : "centres" or "memberships", default="centres"
        What must stand still to `tol`: the centres, or max |u - u'| as the papers print it (at twice the distances a sweep).
    acceleration : "anderson" or None, default="anderson"
        As in `FuzzyCMeans`; hard rules and stop="memberships" go without.

    All other words, attributes and methods are those of `KernelKMeans`.

    Raises
    ------
    ValueError
        For bad words, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, eq. 4, Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import CMeans
    >>> from cmeans.rules import Fuzzy
    >>> X = load_iris().data
    >>> printed = CMeans(3, rule=Fuzzy(2.0, exponent=2.0), kernel="linear", stop="memberships", tol=1e-3, random_state=0).fit(X)
    >>> printed.converged_
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rule: str | Rule = "fuzzy",
        m: str | float = "auto",
        pilot_m: str | float = "auto",
        eta_scale: float = 1.0,
        stop: str = "centres",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        landmarks: Any = "rpcholesky",
        landmark_tol: float = 0.02,
        landmark_solver: str = "eigh",
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        acceleration: str | None = "anderson",
        progressive: bool = True,
        memory_budget: int | float | str | None = None,
        n_jobs: int | None = None,
        engine: Any = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            landmark_tol=landmark_tol,
            landmark_solver=landmark_solver,
            max_iter=max_iter,
            tol=tol,
            acceleration=acceleration,
            progressive=progressive,
            memory_budget=memory_budget,
            n_jobs=n_jobs,
            engine=engine,
            checkpoint=checkpoint,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.rule = rule
        self.m = m
        self.pilot_m = pilot_m
        self.eta_scale = eta_scale
        self.stop = stop

    @available_if(_has_typicalities)
    def typicality(self, X: Any, *, diag: Any = None) -> Array:
        """Typicalities (rows, c) of new rows, for rules whose rows need not sum to one."""
        return self.memberships(X, diag=diag)

    def _make_rule(self, geometry: Geometry) -> Rule:
        cls = self._rule_class()
        if isinstance(self.rule, Rule):
            self.m_ = getattr(self.rule, "m", 1.0)
            return self.rule
        if cls is Hard:
            self.m_ = 1.0
            return Hard()
        m = 2.0 if cls is Possibilistic and self.m == "auto" else self.m
        self.m_ = settled_m(m, "m", type(self).__name__, geometry)
        return Fuzzy(self.m_) if cls is Fuzzy else Possibilistic(self.m_)

    def _make_pilot(self, geometry: Geometry) -> Pilot | None:
        if not self._rule_class().needs_pilot:
            return None
        owner = type(self).__name__
        self.pilot_m_ = settled_m(self.pilot_m, "pilot_m", owner, geometry)
        return Pilot(Fuzzy(self.pilot_m_), real(self.eta_scale, "eta_scale", owner, above=True))

    def _rule_class(self) -> type[Rule]:
        if isinstance(self.rule, Rule):
            return type(self.rule)
        return RULES[one_of(self.rule, "rule", type(self).__name__, tuple(RULES))]

    def _rule_class_sums_to_one(self) -> bool:
        return self._rule_class().rows_sum_to_one

    def _criterion(self) -> str:
        return one_of(self.stop, "stop", type(self).__name__, ("centres", "memberships"))
