"""State that a sweep starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..data.arrays import Array, Float64, IntArray
from ..runtime.stored_classes import stored
from ..spaces import Rows, Space
from ..spaces.centres import Centres
from ..spaces.completed import CompletedRows
from ..spaces.metrics import Metrics


@stored
@dataclass(frozen=True)
class State:
    """The centres, their metrics where they have any, and the clusters' scales where the rule has
    any."""

    centres: Centres
    scales: Float64 | None = None  # (c,)
    metrics: Metrics | None = None  # None: the space's own

    def __post_init__(self) -> None:
        if self.metrics is not None and len(self.metrics) != len(self.centres):
            raise ValueError(
                f"State: {len(self.metrics)} metrics do not fit {len(self.centres)} centres"
            )
        if self.scales is not None and self.scales.shape != (len(self.centres),):
            raise ValueError(
                f"State: scales {self.scales.shape} do not fit {len(self.centres)} centres"
            )

    def __getitem__(self, which: IntArray) -> State:
        scales, metrics = self.scales, self.metrics
        return State(
            self.centres[which],
            None if scales is None else scales[which],
            None if metrics is None else metrics[which],
        )

    def at(self, centres: Centres) -> State:
        """Return the same clusters with other centres, as of another space."""
        return replace(self, centres=centres)

    def centres_apart(self, mass: Float64) -> Centres:
        """Return the centres, over axes in which their squared distances are those of the mean
        metric of the clusters, by mass (c,), where they have metrics of their own."""
        if self.metrics is None:
            return self.centres
        return Centres.orthonormal(self.metrics.coordinates(self.centres.coordinates, mass))

    def distances_in(self, space: Space, like: Array) -> Callable[[Rows], Array]:
        """Return the function by which rows (b) of a space, of the library and dtype of `like`,
        have squared distances (b, c) to the centres."""
        metrics = self.metrics
        if metrics is None:
            view = space.view(self.centres, like)
            return lambda rows: rows.squared_distances(view)
        centres = self.centres.coordinates
        return lambda rows: rows.distances_in(metrics, centres)

    def completed(self, rows: Rows) -> Rows:
        """Return rows with what each cluster expects in place of missing values, where clusters
        have metrics."""
        if self.metrics is None or rows.holes is None:
            return rows
        return CompletedRows.of(rows.plain(), self.metrics, self.centres.coordinates)

    @property
    def expected_errors(self) -> Float64 | None:
        """(c,) what squared distances are expected to be larger by for what rounding has taken from
        rows; None: nothing."""
        if self.metrics is None or self.metrics.errors is None:
            return None
        return self.metrics.expected_errors

    def known_scales(self) -> Float64:
        """The scales, of a rule that has them."""
        assert self.scales is not None, "the clusters of this rule have scales"
        return self.scales
