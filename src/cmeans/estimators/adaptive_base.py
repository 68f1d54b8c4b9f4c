"""What the estimators share that find their own number of clusters: their words, checked, and scales that adapt."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..adaptation import Adaptation
from ..arrays import Array, Float64
from ..blocks import Blocks
from ..callbacks import SweepHook
from ..chance import sample
from ..engines import Engine
from ..kernels import Linear
from ..rules import SparsePossibilistic
from ..runs import Best, Result, concluded
from ..solver import AfterSweep, NoRowsLeftError, Solution, solve
from ..sweep import State
from ..table import Table
from .base import BaseCMeans, Run
from .feature_ranges import factors_to_ten
from .geometry import Geometry, build_geometry, takes_kernel_values
from .inputs import Input, integer, one_of, real
from .results import certified

PART_ROWS = 20_000  # clusters of larger inputs are looked for on a fair sample, and settled on all rows
SQUARED_SHARE = 0.2  # K of the automatic sparsity where scales are mean squares: more, and rows within the radius make it smaller yet
REACH = 3.0  # squared radius of every cluster over its squared deviation, at least, in the conference form
TENTH = 0.1  # of the longest distance: what stands for a unit where the features of [0, 10] do not


@dataclass(frozen=True)
class Scene:
    """Where clusters are looked for, and by what rule."""

    run: Run
    geometry: Geometry
    table: Table
    part: Table  # a fair sample of its rows, or all of them
    rule: SparsePossibilistic
    engine: Engine
    after_sweep: AfterSweep | None

    def solve(self, state: State, step: Adaptation, table: Table) -> Solution:
        """The fixed point of sparse adaptive clusters on some table."""
        return solve(table, self.rule, state, self.engine, self.run.stopping, after_sweep=self.after_sweep, step=step)

    def settled(self, found: Best, step: Adaptation) -> Best:
        """Clusters that were found on the part, settled on all rows."""
        if self.part is self.table or found.solution.ended:
            return found
        solution = self.solve(found.solution.state, step, self.table)
        return Best(solution, None, found.row_visits + solution.row_visits)

    def in_conference_form(self, diameter: float) -> tuple[Scene, Adaptation]:
        """The scene and the step where scales are mean deviations that stand for squared lengths.

        An automatic sparsity must then be weaker the longer distances are, which they are the more the more features there are.
        """
        length = self.unit_length(diameter)
        reach = 0.0 if self.rule.sparsity is not None else REACH / length**2
        return replace(self, rule=replace(self.rule, reach=reach)), Adaptation(1, length)

    def unit_length(self, diameter: float) -> float:
        """What makes a mean deviation a squared length in the conference form: 1 for plain features, which the papers scale to
        [0, 10]; a tenth of the rows' diameter in the space of any other kernel."""
        return 1.0 if isinstance(self.geometry.kernel, Linear) or diameter == 0 else TENTH * diameter


class BaseAdaptive(BaseCMeans):
    """Sparse adaptive possibilistic c-means, but for the way to start."""

    max_clusters: int
    sparsity: str | float
    p: float
    sparsity_test: str
    adaptation: str | None
    scaling: str | None

    @abstractmethod
    def _search(self, scene: Scene) -> tuple[Best, SparsePossibilistic]:
        """The clusters, from words that are checked here, and the rule that found them."""

    @property
    @abstractmethod
    def _automatic_share(self) -> float:
        """K of sparsity="auto"."""

    def typicality(self, X: Any, *, diag: Any = None) -> Array:
        """Typicalities (rows, clusters found) of new rows in [0, 1]; 0 beyond a cluster's radius."""
        return self.memberships(X, diag=diag)

    def _rule_class_sums_to_one(self) -> bool:
        return False

    def _make_rule(self, geometry: Geometry) -> SparsePossibilistic:
        owner = type(self).__name__
        automatic = isinstance(self.sparsity, str) and self.sparsity == "auto"
        sparsity = None if automatic else real(self.sparsity, "sparsity", owner, words='"auto" or ')
        p = real(self.p, "p", owner)
        if not 0 < p < 1:
            raise ValueError(f"{owner}(p={self.p!r}): p must lie between 0 and 1, both left out.")
        test = one_of(self.sparsity_test, "sparsity_test", owner, ("global", "local"))
        rule = SparsePossibilistic(sparsity, 0.0, p, test)
        share = SQUARED_SHARE if self.adaptation == "squared" else self._automatic_share
        return replace(rule, share=share * min(1.0, rule.largest_share)) if sparsity is None else rule

    def _cluster(self, run: Run, given: Input, blocks: Blocks, engine: Engine, hook: SweepHook) -> tuple[Geometry, Result]:
        geometry = build_geometry(self, type(self).__name__, blocks, run.n_clusters, run.rng)
        rule = self._make_rule(geometry)
        table = self._table_for(run, given, geometry, rule, engine, remembered=blocks.n_rows * np.dtype(np.intp).itemsize)
        try:
            part = _part_of(geometry, table, run.rng)
            with self._kept_if_interrupted(geometry, rule):
                best, rule = self._search(Scene(run, geometry, table, part, rule, engine, self._after_sweep(hook, geometry, rule)))
        except NoRowsLeftError as error:
            raise ValueError(self._too_sparse(rule, error)) from None
        return geometry, certified(concluded(best, table, rule, engine, run.stopping), best, geometry, table, engine)

    def _too_sparse(self, rule: SparsePossibilistic, error: NoRowsLeftError) -> str:
        owner, scales = type(self).__name__, error.state.scales
        assert scales is not None
        strength, limit = rule.strength(scales), rule.largest_strength(scales)
        advice = "." if self.sparsity == "auto" else ', or "auto".'
        return (
            f"{owner}(sparsity={self.sparsity!r}, p={rule.p:g}): no cluster wants any row. lambda is {strength:.4g}, and the widest "
            f"cluster (eta {scales.max():.4g}) bears 0 <= lambda < {limit:.4g}. Take a smaller sparsity{advice}"
        )

    def _clusters_asked(self, owner: str) -> int:
        return integer(self.max_clusters, "max_clusters", owner, 1)

    def _fitting_number(self, n_clusters: int, n_rows: int) -> int:
        return min(n_clusters, n_rows)

    def _most_sweeps(self, run: Run) -> int | None:
        return None

    def _feature_factors(self, x: Array, weight: Float64) -> Float64 | None:
        owner = type(self).__name__
        if self.scaling is None:
            return None
        one_of(self.scaling, "scaling", owner, ("range",))
        return None if takes_kernel_values(self.kernel) else factors_to_ten(x, weight, owner)


def _part_of(geometry: Geometry, table: Table, rng: np.random.RandomState) -> Table:
    """A fair sample of a table's rows as a table of its own; all rows where there are few, or where a row is known by what it is to
    all others."""
    people = geometry.population
    if len(people) <= PART_ROWS or geometry.is_precomputed or not table.space.sweeps_products:
        return table
    positions, weights = sample(people, PART_ROWS, rng)
    return table.part(people.at(positions), weights)
