"""Sequential sparse adaptive possibilistic c-means: clusters are added one after the other until no
further one is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

from ..engines import Engine
from ..estimators.kernel_kmeans import KernelKMeans
from ..estimators.plotting import Plotting
from ..fitting.arguments import Auto, GammaName, InnerScaling
from ..fitting.landmark_choice import Landmarks
from ..fitting.procedure import Method, Procedure
from ..fitting.ways.adaptive import AdaptiveProblem, BaseAdaptive
from ..kernels import Kernel
from ..kernels.names import KernelName
from ..rules import Hard, SparsePossibilistic
from ..runtime.checks import integer, one_of, real
from ..runtime.docstrings import shares_parameters
from ..sampling.population import population_of, sample
from ..solvers.multistart import BestRun
from ..tuning.initial_scale import Spacing
from .printed_rules import SparsityTest, as_tested
from .printed_scales import SQUARED_SHARE, SquaredAdaptation, in_conference_form
from .sequential import Growth, diametral_rows, grow

FormName = Literal["length", "squared"]
SHARE = 0.4  # K of the automatic sparsity


@shares_parameters(KernelKMeans)
class SequentialPossibilisticCMeans(Plotting, BaseAdaptive):
    """Sequential sparse adaptive possibilistic c-means (SeqSAPCM): clusters are added until no
    further one is found.

    It starts from two rows far apart. The row farthest from all centres seeds the next cluster, and
    sparse adaptive possibilistic c-means (`AdaptivePossibilisticCMeans`, whose objective this is)
    settles all of them; if there are more clusters than before, they are kept, else the seed is
    given up. There is no number of clusters to give, not even too large a one.

    Parameters
    ----------
    n_clusters : "auto" or (1, most), default="auto"
        How many clusters there may be: growth ends there, whatever is left. "auto": 100 at most.
        Not a number as elsewhere: that is a result.
    sparsity : "auto" or float >= 0, default="auto"
        lambda: 0 leaves no row out, larger values more of them. "auto" takes K min_j eta_j / (p
        (1-p) e^(2-p)) anew in every sweep; K = 0.4, and 0.2 for adaptation="squared". In the form
        "length" lambda is smaller where it takes that for every cluster to reach sqrt(3) times its
        deviation, as it does with many features.
    p : float in (0, 1), default=0.5
        Power of the sparsity term.
    sparsity_test : "global" or "local", default="global"
        Whether a typicality must beat 0 (it minimises the objective), or be a local minimum only,
        as printed in 2014.
    adaptation : "length" or "squared", default="length"
        How clusters' widths follow their rows. There eta_j becomes the mean deviation of a
        cluster's own rows from their mean, which stands for a squared length and so needs features
        in [0, 10] (kernels other than linear: times a tenth of the rows' diameter); or the mean
        squared deviation.
    scaling : "range" or None, default="range"
        Whether each feature is brought to a range of 10 inside the fit. See
        `AdaptivePossibilisticCMeans`.
    n_neighbors : int >= 2, default=10
        Neighbours of a row that tell how wide a cluster starts there. Its scale is max(d_max,
        d_slope)^2: d_max is the largest distance between nearest neighbours, d_slope, of the row's
        distances to that many neighbours, the one behind the largest step. They are sought among
        5,000 rows at most.
    n_new : int, default=1
        Seeds added at a time. More is faster where there are many clusters.
    seed_quantile : float in (0, 1], default=1.0
        Quantile of the distances to the nearest centre beyond which rows are no seeds: farthest
        rows are outliers by nature.
    patience : int, default=5
        Trials in a row without a further cluster before it ends. The paper's algorithm is
        patience=1; it sees all rows, as one with a given sparsity does, where else those that lie
        apart from all others have no part in the search.

    `max_iter` bounds each trial's sweeps. Nothing is drawn but landmarks and, beyond 20,000 rows,
    the sample on which clusters are sought; they are refined on all rows.

    Attributes
    ----------
    n_clusters_ : clusters found.
    memberships_, labels_, eta_ : as for `AdaptivePossibilisticCMeans`.
    n_iter_, objective_history_ : of the last run that found a cluster; row_visits_ counts all.
    All others are those of `KernelKMeans`.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, and for a sparsity so large that all clusters are
        empty, naming the largest possible.

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN
    2014, section 3.

    Examples
    --------
    >>> from cmeans import SequentialPossibilisticCMeans
    >>> from cmeans.datasets import make_s_set
    >>> X, y = make_s_set(n_clusters=7, n_samples=2000, random_state=3)
    >>> SequentialPossibilisticCMeans().fit(X).n_clusters_
    7
    """

    init = "max-min"  # not a parameter: it starts from two far rows
    n_init = 1

    sparsity_test: str
    adaptation: str
    _usual_most = 100

    n_neighbors: int
    n_new: int
    seed_quantile: float
    patience: int

    def __init__(
        self,
        n_clusters: Auto | tuple[int, int] = "auto",
        *,
        sparsity: Auto | float = "auto",
        p: float = 0.5,
        sparsity_test: SparsityTest = "global",
        adaptation: FormName = "length",
        scaling: InnerScaling | None = "range",
        n_neighbors: int = 10,
        n_new: int = 1,
        seed_quantile: float = 1.0,
        patience: int = 5,
        kernel: KernelName | Kernel | Callable[..., Any] = "linear",
        gamma: GammaName | float = "scale",
        landmarks: int | Auto | Landmarks | Any | None = "auto",
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
        """True but of the printed algorithm, which ends at the first seed that fails and sees all
        rows."""
        return isinstance(self.sparsity, str) and self.patience != 1

    def _procedure(self) -> Procedure:
        (_, _, form), name = self._checked_growth(), type(self).__name__
        rule = as_tested(
            self._sparse_rule(SQUARED_SHARE if form == "squared" else SHARE),
            self.sparsity_test,
            name,
        )
        return self._adaptive_procedure(lambda _: Method(rule), self._search)

    def _search(
        self, given: AdaptiveProblem, method: Method
    ) -> tuple[BestRun, SparsePossibilistic]:
        growth, n_neighbors, form = self._checked_growth()
        start, squared = diametral_rows(replace(given.part, rule=Hard()))
        if growth.max_clusters == 1:
            start = start.first()
        given, step = (
            (given, SquaredAdaptation())
            if form == "squared"
            else in_conference_form(given, math.sqrt(squared))
        )
        spacing = self._spacing(given)
        found = grow(
            replace(given.part, rule=given.rule),
            lambda state, trial: given.solve(state, step, f"trial {trial}"),
            growth,
            start,
            lambda row: spacing.scale(row, n_neighbors),
        )
        return given.settled(found, step), given.rule

    def _checked_growth(self) -> tuple[Growth, int, str]:
        """Return the growth schedule, the number of neighbours for a scale, and the form of the
        scales."""
        estimator_name = type(self).__name__
        quantile = real(self.seed_quantile, "seed_quantile", estimator_name, above=True)
        if quantile > 1:
            raise ValueError(
                f"{estimator_name}(seed_quantile={self.seed_quantile!r}): it must lie above 0 and "
                "be at most 1, which leaves out none."
            )
        growth = Growth(
            self._most_clusters(estimator_name),
            integer(self.n_new, "n_new", estimator_name, 1),
            quantile,
            integer(self.patience, "patience", estimator_name, 1),
        )
        n_neighbors = integer(self.n_neighbors, "n_neighbors", estimator_name, 2)
        return (
            growth,
            n_neighbors,
            one_of(self.adaptation, "adaptation", estimator_name, get_args(FormName)),
        )

    def _spacing(self, given: AdaptiveProblem) -> Spacing:
        blocks, geometry = given.part.rows.blocks, given.geometry
        population = population_of(blocks, comparable=not geometry.is_precomputed)
        positions, _ = sample(population, blocks.limits.spaced_rows, given.settings.rng)
        return Spacing(geometry.kernel, blocks, population.at(positions), geometry.columns_only)
