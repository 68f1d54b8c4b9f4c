"""The part of a fit that is an estimator's own, and records of one fit that are handed on together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..engines import Engine, ThreadEngine
from ..rules import Fuzzy, Rule
from ..runtime.callbacks import SweepHook
from ..runtime.progress import Listener
from ..solvers.checkpoints import CheckpointLog, CheckpointSection
from ..solvers.multistart import FitResult, Pilot
from ..solvers.observer import FitRecord
from ..sweeps.final_pass import RowTaker
from ..sweeps.problem import Stopping
from ..tuning.noise import NoisePilot
from .arguments import check_noise, settled_m, truncated
from .geometry import Geometry
from .init import METHODS
from .landmark_choice import Landmarks
from .search import Search
from .sizes import GivenSizes
from .validation import CheckedRows


@dataclass(frozen=True)
class FitSettings:
    """Checked parameters of a fit."""

    n_clusters: int  # to start from
    n_init: int
    stopping: Stopping
    budget: int | None
    landmarks: Landmarks
    search: Search
    rng: np.random.RandomState


@dataclass(frozen=True)
class Method:
    """The rule whose objective is minimised, perhaps after a pilot run that gives its scales or its noise cluster."""

    rule: Rule
    pilot: Pilot | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)  # fitted attributes of this estimator only


def fuzzy_method(m: Any, noise: Any, estimator_name: str, geometry: Geometry, top_k: int | None = None) -> Method:
    """Return fuzzy c-means, with a noise cluster where one is asked for."""
    rule = Fuzzy(settled_m(m, "m", estimator_name, geometry))
    pilot = None if noise is None else NoisePilot(rule, check_noise(noise, estimator_name), lambda made: truncated(made, top_k))
    return Method(truncated(rule, top_k), pilot)


@dataclass(frozen=True)
class Procedure:
    """All that one estimator adds to the fit that estimators share, from its checked parameters."""

    method: Callable[[Geometry], Method]  # the objective; the geometry serves parameters that the data determine
    cluster: Callable[[FitContext], tuple[Geometry, Method, FitResult]] | None = None  # None: sweeps from every start
    most_clusters: int | None = None  # upper bound of a number that is found; None: `n_clusters` are made
    most_sweeps: int | None = None  # None: `max_iter`
    bounded: bool = True  # True: a start takes at most `max_iter` sweeps in all
    criterion: str = "centres"  # of `Stopping`
    can_be_annealed: bool = False  # as its rule can
    starts: tuple[str, ...] = METHODS  # names that `init` may take
    factors: Callable[[Blocks, Engine], Float64] | None = None  # (d,) of rows: features are multiplied by them first of all
    sizes: GivenSizes | None = None  # bounds of the clusters' sizes
    top_k: int | None = None  # clusters in which a row has memberships; None: all
    too_few: str = "there are fewer rows than clusters, n_samples={n}; take fewer clusters."

    def in_its_space(self, geometry: Geometry) -> tuple[Geometry, Method]:
        """Return the method for some rows, and these in the space that it needs: in scale where it compares distances with more than
        each other."""
        method = self.method(geometry)
        ratios_alone = method.rule.is_scale_free and method.pilot is None and self.sizes is None
        return (geometry if ratios_alone else geometry.in_scale()), method

    def clusters_for(self, n_clusters: int, n_rows: int, estimator_name: str) -> int:
        """Return the number of clusters to start from on these rows."""
        if self.most_clusters is not None:
            return min(n_clusters, n_rows)
        if n_clusters > n_rows:
            raise ValueError(f"{estimator_name}(n_clusters={n_clusters}): {self.too_few.format(n=n_rows)}")
        return n_clusters


@dataclass(frozen=True)
class FitContext:
    """One fit: its settings, rows, engine and listeners."""

    procedure: Procedure
    settings: FitSettings
    given: CheckedRows
    blocks: Blocks
    engine: Engine
    hook: SweepHook | None
    listeners: tuple[Listener, ...]
    log: CheckpointLog | None
    record: FitRecord
    taker: RowTaker | None = None  # of the rows' results in the last pass

    def over(self, blocks: Blocks, engine: Engine) -> FitContext:
        """Return the same of other rows, with an engine of their place."""
        return replace(self, given=replace(self.given, x=blocks.x), blocks=blocks, engine=engine)

    def sent(self, procedure: Procedure) -> FitContext:
        """Return what of it can go to other machines: without rows, and without what writes and listens here."""
        nothing = CheckedRows(np.empty((0, 1)), 0)
        blocks = Blocks(nothing.x, np.empty(0))
        return FitContext(procedure, self.settings, nothing, blocks, ThreadEngine(1), None, (), None, FitRecord())

    def section(self, key: str) -> CheckpointSection:
        """Return a part of the fit's checkpoint, which no other part has the key of."""
        return CheckpointSection() if self.log is None else self.log.section(key)

    @contextmanager
    def kept_in_checkpoint(self) -> Iterator[None]:
        """Write the checkpoint where the block is broken off."""
        try:
            yield
        except BaseException:
            if self.log is not None:
                self.log.write()
            raise
