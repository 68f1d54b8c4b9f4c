"""Features brought to one range before all else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...data.arrays import row_bytes
from ...data.blocks import Blocks, mapped
from ...data.scaling import FeatureUnits
from ...rules import Rule
from ...tuning.feature_ranges import factors_to_ten
from ..geometry import Geometry
from ..procedure import FitContext, Stage


@dataclass(frozen=True)
class ScaledFeatures(Stage):
    """Every feature has the range 10 among the rows that are swept; points go in and come out in
    the user's units."""

    scaling: FeatureUnits | None = None  # known once the rows are

    name = "scaling"

    def bytes_beside(self, blocks: Blocks, rule: Rule, n_clusters: int) -> int:
        return blocks.bytes_by_row(row_bytes(blocks.x))

    def settle(self, context: FitContext) -> FitContext:
        scaling = FeatureUnits(
            factors_to_ten(context.blocks, context.engine, context.estimator_name)
        )
        rows = replace(context.blocks, x=mapped(context.blocks.x, scaling))
        return replace(context, blocks=rows, units=scaling).with_stage(ScaledFeatures(scaling))

    @property
    def attributes(self) -> Mapping[str, Any]:
        assert self.scaling is not None, "it is settled before there is a model"
        return {"_factors": self.scaling.factors}

    def place(self, geometry: Geometry) -> Geometry:
        return replace(geometry, units=self.scaling)
