"""Adaptive possibilistic c-means, sparse or not: it starts from too many clusters and keeps those
that rows support."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..data.arrays import Float64
from ..engines import Engine
from ..fitting.arguments import Auto, GammaName, InitName, InnerScaling
from ..fitting.init import InitContext, starts
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, PlannedEvidence, Procedure
from ..fitting.ways.adaptive import AdaptiveProblem, BaseAdaptive, best_separated
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Fuzzy, Rule, SparsePossibilistic
from ..runtime.checks import is_auto, parameters_of, real
from ..runtime.docstrings import shares_parameters
from ..runtime.user_warnings import warn
from ..solvers.adaptive import MERGED, Adaptation, PilotWidths, merged, pilot_widths
from ..solvers.multistart import BestRun, ScalesPilot, best_of
from ..solvers.observer import nothing_yet
from ..spaces.centres import Centres
from ..sweeps.problem import Problem, Stopping
from ..sweeps.state import State
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting

PILOT_SWEEPS = 30  # need not converge: it gives a start and scales, no result
SHARE = 0.9  # K of the automatic sparsity
LEAST_START = 10  # clusters of a start that are not too many for any number of rows
ROWS_A_CLUSTER = 10  # distinct rows for each cluster of a start with more of them
# concentration of distances from which on one cluster may be an effect of the columns
MANY_COLUMNS = 2.0


@shares_parameters(KernelKMeans)
class AdaptivePossibilisticCMeans(Plotting, BaseAdaptive):
    """Adaptive possibilistic c-means (APCM), sparse (SAPCM): the number of clusters is a result.
    Minimises, with scales that follow the clusters,

        sum_ij w_i [ u_ij |phi(x_i) - v_j|^2 + eta_j (u_ij ln u_ij - u_ij + 1) + lambda u_ij^p ].

    Use it when you do not know how many clusters there are, when they differ in spread, or when
    there is noise. It starts from more clusters than there are; each cluster adapts its scale eta_j
    to its own rows (those whose largest typicality is to it), clusters without rows are removed,
    and coinciding ones merged. Sparsity lets all typicalities of a row be zero: rows beyond every
    cluster's radius are labelled -1. Beyond 20,000 rows clusters are sought on a fair sample of so
    many, and then refined on all rows.

    Parameters
    ----------
    n_clusters : "auto" or (1, most), default="auto"
        How many clusters there may be: those to start from, more than there are. "auto": 20 at
        most. A start by name has ten at most, or a tenth of the distinct rows if that is more. Not
        a number as elsewhere: that is a result.
    sparsity : "auto" or float >= 0, default="auto"
        lambda: 0 leaves no row out, larger values more of them. "auto" takes K min_j eta_j / (p
        (1-p) e^(2-p)) anew in every sweep, so that nothing depends on units; K = 0.9. With
        alpha="auto" lambda is smaller where it takes that for every cluster to reach 2.5 standard
        deviations of its distances beyond their mean. 0 is APCM: every row belongs somewhere.
    p : float in (0, 1), default=0.5
        Power of the sparsity term.
    alpha : "auto" or float > 0, default="auto"
        How narrow clusters are: of the mean deviation s_j of a cluster's own rows from their mean
        eta_j becomes s_j min_k s_k(start) / alpha, whatever the units (Xenaki et al. 2016). Larger
        means narrower clusters, and fewer that become one. "auto" begins narrow, widens clusters by
        sqrt(2) at a time, in nine stages at most, and keeps those of the largest mean silhouette,
        (b - a) / max(a, b) of a row's squared distances to its own centre and to the nearest other
        one; the widest, mostly one cluster, if that is below 0.2. It begins at the mean of
        distances within the clusters of the fuzzy run over their standard deviation, at least 2:
        sqrt(2 d) for d columns alike, where distances are long and differ little. What is found
        depends little on `n_clusters`; clusters that touch may become one. Rows that lie apart from
        all others, and clusters of less than a tenth of an average one's weight, have no part in
        that. 1 is the papers' own value, for few columns and about twice as many initial clusters
        as there are; it leaves more rows out.
    pilot_m : "auto" or float > 1, default="auto"
        The fuzzifier of the fuzzy run that goes first. That gives start and scales, and makes 30
        sweeps at most. "auto" is midway between 1 and the value from which on all centres coincide,
        2 at most. Superfluous centres may meet in it, and should: with the smaller m="auto" of
        `FuzzyCMeans`, which keeps every pair apart, more clusters remain than there are.
    scaling : "range" or None, default="range"
        Whether each feature is brought to a range of 10 inside the fit, which rows that lie apart
        from all others do not decide. (Not for precomputed kernels.) `predict` takes, and
        `cluster_centers_` has, the units of X; eta_, the objective and the distances of `transform`
        are in those of the scaled rows.

    init="max-min" (farthest rows first) is the papers' own. n_init counts fuzzy runs, the best of
    which is built on.

    Attributes
    ----------
    n_clusters_ : clusters found.
    memberships_ : (n, n_clusters_) typicalities in [0, 1]; rows need not sum to one and may be zero
        throughout.
    labels_ : (n,) the largest typicality; -1 where all are zero.
    eta_ : (n_clusters_,) scales, in squared units of the space.
    pilot_m_ : the pilot's fuzzifier.
    objective_history_ : does not fall monotonically, since the scales change.
    All others are those of `KernelKMeans`.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, and for a sparsity so large that all clusters are
        empty, naming the largest possible.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN
    2014, eq. 1-9 (conference form). Xenaki, Koutroumbas, Rontogiannis: A novel adaptive
    possibilistic clustering algorithm. IEEE Trans. Fuzzy Systems 24(4), 2016, and Sparsity-aware
    possibilistic clustering algorithms, ibid. 24(6), 2016 (the scale-free form).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import AdaptivePossibilisticCMeans
    >>> from cmeans.datasets import make_s_set
    >>> X, y = make_s_set(n_clusters=7, n_samples=2000, noise=0.05, random_state=3)
    >>> model = AdaptivePossibilisticCMeans(n_clusters=(1, 14), alpha=1, random_state=0).fit(X)
    >>> model.n_clusters_
    7
    >>> bool((model.labels_[y == -1] == -1).mean() > 0.5)
    True
    >>> X, y = make_blobs(500, n_features=30, centers=6, random_state=0)
    >>> AdaptivePossibilisticCMeans(random_state=0).fit(X).n_clusters_
    6
    """

    _usual_most = 20

    alpha: str | float
    pilot_m: Auto | float

    def __init__(
        self,
        n_clusters: Auto | tuple[int, int] = "auto",
        *,
        sparsity: Auto | float = "auto",
        p: float = 0.5,
        alpha: Auto | float = "auto",
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
        """True of what no paper has printed: its algorithms see all rows."""
        return self._checked_alpha(type(self).__name__) is None and isinstance(self.init, str)

    def _procedure(self) -> Procedure:
        rule, name = self._sparse_rule(SHARE), type(self).__name__
        self._checked_alpha(name)
        with parameters_of(name, m="pilot_m"):
            Fuzzy(self.pilot_m)

        def method(geometry: PlannedEvidence) -> Method:
            fuzzy = Fuzzy(
                geometry.merging_fuzzifier if is_auto(self.pilot_m) else float(self.pilot_m)
            )
            return Method(rule, ScalesPilot(fuzzy), {"pilot_m_": fuzzy.m})

        return self._adaptive_procedure(method, self._search)

    def _checked_alpha(self, estimator_name: str) -> float | None:
        """Return alpha, None for "auto"."""
        if is_auto(self.alpha):
            return None
        return real(self.alpha, "alpha", estimator_name, above=True, others='"auto" or ')

    def _search(
        self, given: AdaptiveProblem, method: Method
    ) -> tuple[BestRun, SparsePossibilistic]:
        assert method.pilot is not None, "a fuzzy run comes first"
        alpha = self._checked_alpha(type(self).__name__)
        state, widths, visits = self._after_pilot(given, method.pilot.rule)
        if alpha is None:
            return self._at_the_best_scale(given, state, widths, visits)
        state = State(state.centres, state.known_scales() / alpha)
        return given.found_from(state, Adaptation(widths.narrowest / alpha), visits)

    def _at_the_best_scale(
        self, given: AdaptiveProblem, state: State, widths: PilotWidths, visits: int
    ) -> tuple[BestRun, SparsePossibilistic]:
        stage, nothing = best_separated(given, state, widths)
        found = replace(stage.found, row_visits=visits + stage.found.row_visits)
        if nothing and len(state.centres) > 1 and widths.concentration > MANY_COLUMNS:
            warn(
                f"{type(self).__name__}: no clusters stand apart. In so many columns distances "
                "within clusters are nearly as long as those between them: take fewer columns "
                "(principal components), or FuzzyCMeans with the number that cmeans.select gives.",
                ConvergenceWarning,
            )
        return stage.given.settled(found, stage.step), stage.given.rule

    def _after_pilot(self, given: AdaptiveProblem, rule: Rule) -> tuple[State, PilotWidths, int]:
        """Return the start from a fuzzy run: its distinct centres, with scales for alpha = 1, and
        how wide its clusters are."""
        settings = given.settings
        stopping = Stopping(min(PILOT_SWEEPS, settings.stopping.max_iter), settings.stopping.tol)
        problem = replace(given.part, rule=rule, stopping=stopping)
        observer = given.observer.of_pilot(nothing_yet)
        pilot = best_of(
            self._starts(given, rule), settings.n_init, problem, observer, stage="pilot"
        )
        fuzzy = pilot.solution.state
        widths = pilot_widths(problem, fuzzy)
        state = State(fuzzy.centres, self._first_scales(problem, fuzzy, widths))
        state = merged(state, MERGED * widths.narrowest**2)
        if len(state.centres) == 1 < len(fuzzy.centres):
            warn(
                f"{type(self).__name__}: the {len(fuzzy.centres)} centres of the fuzzy run that "
                f"goes first have fallen together: with pilot_m={getattr(rule, 'm', 1.0):g} it is "
                'too fuzzy for these rows. Take pilot_m="auto".',
                ConvergenceWarning,
            )
        return state, widths, pilot.row_visits + problem.n_rows

    def _first_scales(self, problem: Problem, fuzzy: State, widths: PilotWidths) -> Float64:
        """Return the scales of the clusters of the fuzzy run, for alpha = 1."""
        return widths.deviation * widths.narrowest

    def _starts(self, given: AdaptiveProblem, rule: Rule) -> Iterator[Centres]:
        settings, problem = given.settings, replace(given.whole, rule=rule)
        rows = len(given.geometry.population)
        if isinstance(self.init, str):
            most = max(LEAST_START, rows // ROWS_A_CLUSTER)
        else:
            most = settings.n_clusters
        context = InitContext(
            type(self).__name__,
            min(settings.n_clusters, most),
            given.geometry,
            problem,
            at_most=True,
        )
        return starts(self.init, settings.n_init, context, settings.rng)
