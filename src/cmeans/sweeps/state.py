"""State that a sweep starts from."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored
from ..spaces.centres import Centres


@stored
@dataclass(frozen=True)
class State:
    """The centres, and the clusters' scales where the rule has any."""

    centres: Centres
    scales: Float64 | None = None  # (c,)

    def __post_init__(self) -> None:
        if self.scales is not None and self.scales.shape != (len(self.centres),):
            raise ValueError(
                f"State: scales {self.scales.shape} do not fit {len(self.centres)} centres"
            )

    def __getitem__(self, which: IntArray) -> State:
        return State(self.centres[which], None if self.scales is None else self.scales[which])

    def known_scales(self) -> Float64:
        """The scales, of a rule that has them."""
        assert self.scales is not None, "the clusters of this rule have scales"
        return self.scales
