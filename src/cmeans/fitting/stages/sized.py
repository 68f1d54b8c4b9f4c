"""Sizes of clusters between bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...data.blocks import Blocks
from ...rules import Rule
from ...solvers.sizes import Sized, bytes_of_placing
from ..geometry import Geometry
from ..procedure import Stage, Swept
from ..sizes import GivenSizes


@dataclass(frozen=True)
class SizedClusters(Stage):
    """Memberships are those of the cheapest assignment that keeps the bounds."""

    given: GivenSizes

    name = "sizes"
    solves = True

    def bytes_beside(self, blocks: Blocks, rule: Rule, n_clusters: int) -> int:
        return 0 if rule.is_soft else bytes_of_placing(blocks, n_clusters)

    def place(self, geometry: Geometry) -> Geometry:
        """Prices compare with distances, not these with each other alone."""
        return geometry.in_scale()

    def prepare(self, swept: Swept) -> Swept:
        blocks, rule, context = swept.geometry.blocks, swept.problem.rule, swept.context
        limits = self.given.limits(blocks, context.settings.n_clusters, soft=rule.is_soft)
        named = isinstance(context.estimator.init, str)
        return replace(swept, solving=Sized(limits, rule, blocks.n_rows, matched=named))
