"""Adaptive possibilistic c-means as the papers print it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

from ..data.arrays import Float64
from ..engines import Engine
from ..estimators.adaptive_cmeans import SHARE, AdaptivePossibilisticCMeans
from ..fitting.arguments import Auto, GammaName, InitName, InnerScaling
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, PlannedEvidence, Procedure
from ..fitting.ways.adaptive import AdaptiveProblem
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Hard, SparsePossibilistic
from ..runtime.checks import one_of, real
from ..runtime.docstrings import shares_parameters
from ..solvers.adaptive import PilotWidths, merged
from ..solvers.multistart import BestRun, possibilistic_scales
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .printed_rules import SparsityTest, as_tested
from .printed_scales import (
    SQUARED_SHARE,
    FixedScales,
    SquaredAdaptation,
    halfway_scales,
    in_conference_form,
)
from .sequential import diametral_rows

AdaptationName = Literal["scale-free", "length", "squared"]


@shares_parameters(AdaptivePossibilisticCMeans)
class PrintedAdaptivePossibilisticCMeans(AdaptivePossibilisticCMeans):
    """Adaptive possibilistic c-means in the forms that papers print: PCM of 1996, APCM and SAPCM of
    2014 and of 2016.

    Use it to reproduce published numbers; `cmeans.AdaptivePossibilisticCMeans`, whose objective
    this is, has one form, that of 2016 with an alpha that is found.

    Parameters
    ----------
    sparsity : "auto" or float >= 0, default="auto"
        lambda, as there; K = 0.2 for adaptation="squared". 0 is PCM or APCM.
    sparsity_test : "global" or "local", default="global"
        Whether a typicality must beat 0 (it minimises the objective), or be a local minimum only,
        as printed in 2014.
    adaptation : "scale-free", "length", "squared" or None, default="scale-free"
        How clusters' widths follow their rows. Of the mean deviation s_j of a cluster's own rows
        from their mean eta_j becomes, in the form "scale-free" (2016): s_j min_k s_k(start) /
        alpha, whatever the units. "length" (2013/14): s_j itself, which stands for a squared length
        and so needs features in [0, 10] (kernels other than linear: a tenth of the rows' diameter
        times s_j). "squared": the mean squared deviation. None: eta_j stays (with sparsity=0 this
        is the possibilistic c-means of Krishnapuram & Keller 1996, PCM-96).
    beta : float in (0, 1), default=0.1
        Typicality halfway to the nearest other centre with which the forms "length" and "squared"
        start. The others start from a fuzzy run.

    All other attributes and methods are those of `cmeans.AdaptivePossibilisticCMeans`.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, and for a sparsity so large that all clusters are
        empty, naming the largest possible.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN
    2014, eq. 1-9 (conference form). Xenaki, Koutroumbas, Rontogiannis: A novel adaptive
    possibilistic clustering algorithm. IEEE Trans. Fuzzy Systems 24(4), 2016. Krishnapuram, Keller:
    The possibilistic c-means algorithm: insights and recommendations. IEEE Trans. Fuzzy Systems
    4(3), 1996.

    Examples
    --------
    >>> from cmeans.datasets import make_s_set
    >>> from cmeans.papers import PrintedAdaptivePossibilisticCMeans
    >>> X, y = make_s_set(n_clusters=7, n_samples=2000, random_state=3)
    >>> words = {"adaptation": "length", "init": "max-min", "random_state": 0}
    >>> PrintedAdaptivePossibilisticCMeans((1, 14), **words).fit(X).n_clusters_
    7
    """

    sparsity_test: str
    adaptation: str | None
    beta: float

    def __init__(
        self,
        n_clusters: Auto | tuple[int, int] = "auto",
        *,
        sparsity: Auto | float = "auto",
        p: float = 0.5,
        sparsity_test: SparsityTest = "global",
        adaptation: AdaptationName | None = "scale-free",
        alpha: Auto | float = "auto",
        beta: float = 0.1,
        pilot_m: Auto | float = "auto",
        scaling: InnerScaling | None = "range",
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def _spares_isolated_rows(self) -> bool:  # type: ignore[override]
        return self.adaptation == "scale-free" and super()._spares_isolated_rows

    def _procedure(self) -> Procedure:
        name = type(self).__name__
        if not 0 < real(self.beta, "beta", name) < 1:
            raise ValueError(
                f"{name}(beta={self.beta!r}): beta must lie between 0 and 1, both left out."
            )
        if self.adaptation is not None:
            one_of(self.adaptation, "adaptation", name, get_args(AdaptationName))
        procedure, piloted = super()._procedure(), self.adaptation in ("scale-free", None)
        rule = as_tested(
            self._sparse_rule(SQUARED_SHARE if self.adaptation == "squared" else SHARE),
            self.sparsity_test,
            name,
        )

        def method(geometry: PlannedEvidence) -> Method:
            return replace(procedure.method(geometry), rule=rule) if piloted else Method(rule)

        return replace(procedure, method=method)

    def _search(
        self, given: AdaptiveProblem, method: Method
    ) -> tuple[BestRun, SparsePossibilistic]:
        if method.pilot is None:
            return self._from_halfway(given)
        if self.adaptation == "scale-free":
            return super()._search(given, method)
        state, _, visits = self._after_pilot(given, method.pilot.rule)
        return given.found_from(state, FixedScales(), visits)

    def _first_scales(self, problem: Problem, fuzzy: State, widths: PilotWidths) -> Float64:
        if self.adaptation == "scale-free":
            return super()._first_scales(problem, fuzzy, widths)
        sums = problem.sweep(fuzzy)
        return possibilistic_scales(sums.spread, sums.mass, 1.0)

    def _from_halfway(self, given: AdaptiveProblem) -> tuple[BestRun, SparsePossibilistic]:
        """Return the clusters from the papers' start: scales from the distances between the first
        centres."""
        hard, visits = replace(given.part, rule=Hard()), 0
        start = merged(State(next(iter(self._starts(given, given.rule)))), 0.0)
        scales = halfway_scales(start.centres, self.beta)
        if len(scales) == 1:  # no other centre: the rows' own distances take its place
            sums = hard.sweep(start)
            visits += hard.n_rows
            scales = possibilistic_scales(sums.spread, sums.mass, 1.0)
        state = State(start.centres, scales)
        if self.adaptation == "squared":
            return given.found_from(state, SquaredAdaptation(), visits)
        diameter = 0.0
        if given.geometry.kernel.coordinates != "rows":
            far, squared = diametral_rows(hard)
            diameter, visits = math.sqrt(squared), visits + far.passes * hard.n_rows
        given, step = in_conference_form(given, diameter)
        return given.found_from(state, step, visits)
