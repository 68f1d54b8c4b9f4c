"""Features made near to normal before all else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...data.arrays import host_float64, is_sparse, row_bytes
from ...data.blocks import Blocks, mapped
from ...data.powers import PowerUnits
from ...rules import Rule
from ...sampling.population import population_of
from ...tuning.power import power_units
from ..geometry import Geometry
from ..procedure import FitContext, Stage

JUDGED_ROWS = 10_000  # of which a fair sample says to what powers


@dataclass(frozen=True)
class PoweredFeatures(Stage):
    """Every feature is brought to the power that makes it nearest to normal; points go in and come
    out in the user's units."""

    units: PowerUnits | None = None  # known once the rows are

    name = "powers"

    def bytes_beside(self, blocks: Blocks, rule: Rule, n_clusters: int) -> int:
        return blocks.bytes_by_row(row_bytes(blocks.x))

    def settle(self, context: FitContext) -> FitContext:
        blocks = context.blocks
        if is_sparse(blocks.x):
            raise ValueError(
                f'{context.estimator_name}(powers="auto"): X is sparse, and its powers would '
                "not be; reduce it to a few dense columns first (scikit-learn's TruncatedSVD)."
            )
        population = population_of(blocks)
        positions, weights = population.fixed_sample_of(JUDGED_ROWS)
        units = power_units(host_float64(blocks.take(population.at(positions)).x), weights)
        rows = replace(blocks, x=mapped(blocks.x, units))
        return replace(context, blocks=rows, units=units).with_stage(PoweredFeatures(units))

    @property
    def attributes(self) -> Mapping[str, Any]:
        assert self.units is not None, "it is settled before there is a model"
        return {"_powers": self.units}

    def place(self, geometry: Geometry) -> Geometry:
        return replace(geometry, units=self.units)
