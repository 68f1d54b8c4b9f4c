"""The one fit: what an estimator adds to it, the stages that it folds, and the records that are
handed from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..data.scaling import Units
from ..engines import Engine, ThreadEngine
from ..kernels import Kernel
from ..rules import Rule, RuleEvidence, RuleWithScales
from ..runtime.callbacks import SweepHook
from ..runtime.progress import Listener
from ..sampling.population import Population, population_of
from ..solvers.checkpoints import CheckpointLog, CheckpointSection
from ..solvers.multistart import FitResult, Pilot, ScalesPilot, Solving
from ..solvers.noise import NoisePilot
from ..solvers.observer import FitRecord
from ..spaces import PartialSpace, PointSpace
from ..sweeps.final_pass import RowTaker
from ..sweeps.problem import Criterion, Problem, Stopping
from .geometry import Geometry
from .landmark_choice import Landmarks
from .search import Search
from .together import refuse_beside, refused_beside
from .validation import CheckedRows


class PlannedEvidence(RuleEvidence, Protocol):
    """Answers about the rows of a fit that estimators need for their rule and its pilot run."""

    @property
    def merging_fuzzifier(self) -> float:
        """The fuzzifier that keeps all centres from falling together; superfluous ones may
        meet."""


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
    kernel: Kernel  # before it is settled


@dataclass(frozen=True)
class Method:
    """The rule whose objective is minimised, perhaps after a pilot run that gives its scales or its
    noise cluster."""

    rule: Rule
    pilot: Pilot | None = None
    # fitted attributes of this estimator only
    attributes: Mapping[str, Any] = field(default_factory=dict)


def method_of(
    rule: Rule, evidence: RuleEvidence, scales_pilot: Callable[[Rule, float], Pilot] = ScalesPilot
) -> Method:
    """Return the method of a rule, settled, with the pilot run that it needs: `scales_pilot` makes
    one that gives scales."""
    rule = rule.settled(evidence)
    if rule.pilot is None:
        return Method(rule)
    if rule.noise_share is not None:
        return Method(rule.pilot, NoisePilot(rule))
    eta_scale = cast(RuleWithScales, rule).eta_scale  # as the pilot is not for noise
    return Method(
        rule, scales_pilot(rule.pilot, eta_scale), {"pilot_m_": getattr(rule.pilot, "m", 1.0)}
    )


class Stage:
    """Something that a fit does beside sweeping. A stage is made of the user's words; a fit folds
    the list of its stages:

    settle each -> place and prepare each -> solve -> restore each, the last first -> attributes.

    Every step returns what it was given, changed or not, so that a stage defines those alone in
    which it has a part.
    """

    name: ClassVar[str]  # by which the table in `together` knows it
    solves: ClassVar[bool] = False  # whether it chooses the way to solve what others prepare

    @property
    def refuses(self) -> frozenset[str]:
        """Names of the stages and words that it does not go with."""
        return refused_beside(self.name)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The words that a checkpoint of the fit is known by, beside its rows and parameters."""
        return {}

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Fitted attributes of models that have gone through this stage."""
        return {}

    def further_runs(self, blocks: Blocks, n_clusters: int, *, drawn: bool) -> list[int]:
        """Return the rows of each run that the stage makes beside those of the plain fit; `drawn`:
        from starts that are drawn."""
        return []

    def bytes_beside(self, blocks: Blocks, rule: Rule, n_clusters: int) -> int:
        """Bytes of memory that the stage takes beside the rows that it is given, as long as the fit
        lasts."""
        return 0

    def settle(self, context: FitContext) -> FitContext:
        """Look at the rows, and return the fit with those that are to be clustered in their place,
        and among its `stages` this one as it is for these rows; none where there is nothing to
        do."""
        return context.with_stage(self)

    def place(self, geometry: Geometry) -> Geometry:
        """Return the rows in the space that the stage needs."""
        return geometry

    def prepare(self, swept: Swept) -> Swept:
        """Return the problem that is to be solved for the given one."""
        return swept

    def restore(self, outcome: Outcome) -> Outcome:
        """Return the result for the rows as they were before this stage."""
        return outcome


@dataclass(frozen=True)
class Procedure:
    """All that one estimator adds to the fit that estimators share, from its checked parameters."""

    # the objective; the geometry serves parameters that the data determine
    method: Callable[[PlannedEvidence], Method]
    cluster: Callable[[FitContext], Outcome] | None = None  # None: sweeps from every start
    stages: tuple[Stage, ...] = ()  # that its parameters ask for
    # upper bound of a number that is found; None: `n_clusters` are made
    most_clusters: int | None = None
    most_sweeps: int | None = None  # None: `max_iter`
    criterion: Criterion | None = None  # of `Stopping`
    top_k: int | None = None  # clusters in which a row has memberships; None: all
    # the space of rows with missing values, from the means (d,) of their columns
    space_of_holes: Callable[[FitContext, Float64], PointSpace] = lambda _, means: PartialSpace(
        means
    )

    def in_its_space(self, geometry: Geometry) -> tuple[Geometry, Method]:
        """Return the method for some rows, and these in the space that it needs: in scale where it
        compares distances with more than each other."""
        method = self.method(geometry)
        ratios_alone = method.rule.is_scale_free and method.pilot is None
        return (geometry if ratios_alone else geometry.in_scale()), method


@dataclass(frozen=True)
class FitContext:
    """One fit: its settings, rows, stages, engine and listeners."""

    estimator: Any  # whose parameters it follows
    procedure: Procedure
    settings: FitSettings
    given: CheckedRows
    blocks: Blocks
    engine: Engine
    hook: SweepHook | None = None
    listeners: tuple[Listener, ...] = ()
    log: CheckpointLog | None = None
    record: FitRecord = field(default_factory=FitRecord)
    taker: RowTaker | None = None  # of the rows' results in the last pass
    stages: tuple[Stage, ...] = ()  # settled
    space: PointSpace | None = None  # of the rows, where a stage has made it
    units: Units | None = None  # of the features, where they are not the user's
    n_labelled: int | None = None  # rows that have results; None: these
    scope: str = ""  # of several fits in one, which this is, for its checkpoint

    @property
    def estimator_name(self) -> str:
        """For messages."""
        return type(self.estimator).__name__

    @property
    def column_labels(self) -> Any:
        """(d,) names of the columns of the rows, or their numbers."""
        columns = np.arange(int(self.blocks.x.shape[1]))
        return vars(self.estimator).get("feature_names_in_", columns)

    def with_stage(self, stage: Stage) -> FitContext:
        """Return the fit with a settled stage; refused beside what it does not go with."""
        others = [other.name for other in self.stages]
        refuse_beside(stage.name, others, self.estimator)
        return replace(self, stages=(*self.stages, stage))

    def placed(self, geometry: Geometry) -> Geometry:
        """Return the rows in the space that all stages need."""
        for stage in self.stages:
            geometry = stage.place(geometry)
        return geometry

    def prepared(self, swept: Swept) -> Swept:
        """Return the problem that is to be solved after all stages, and the way to solve it."""
        swept = self.prepared_to_solve(swept)
        for stage in self.stages:
            swept = stage.prepare(swept) if stage.solves else swept
        return swept

    def prepared_to_solve(self, swept: Swept) -> Swept:
        """Return the problem after all stages that do not choose the way to solve it."""
        for stage in self.stages:
            swept = swept if stage.solves else stage.prepare(swept)
        return swept

    def described(self, method: Method) -> Method:
        """Return the method with the attributes of all stages."""
        for stage in self.stages:
            method = replace(method, attributes={**method.attributes, **stage.attributes})
        return method

    def over(self, blocks: Blocks, engine: Engine) -> FitContext:
        """Return the same of other rows, with an engine of their place."""
        return replace(self, given=replace(self.given, x=blocks.x), blocks=blocks, engine=engine)

    def sent(self) -> FitContext:
        """Return what of it can go to other machines: without rows, and without what writes and
        listens here."""
        model = type(self.estimator)(**self.estimator.get_params(deep=False))
        nothing = CheckedRows(np.empty((0, 1)), 0)
        blocks, here = Blocks(nothing.x, np.empty(0)), ThreadEngine(1)
        return FitContext(model, model._procedure(), self.settings, nothing, blocks, here)

    def section(self, key: str) -> CheckpointSection:
        """Return a part of the fit's checkpoint, which no other part has the key of."""
        return CheckpointSection() if self.log is None else self.log.section(self.scope + key)

    @contextmanager
    def kept_in_checkpoint(self) -> Iterator[None]:
        """Context in which an error or an interruption writes the checkpoint before it goes on."""
        try:
            yield
        except BaseException:
            if self.log is not None:
                self.log.write()
            raise


@dataclass(frozen=True)
class Swept:
    """A problem that is to be solved by sweeps, and how."""

    context: FitContext
    geometry: Geometry  # of the rows that are to have labels
    problem: Problem  # over rows that may be fewer, or weigh less
    starting: Problem  # turns partitions of all rows into centres
    solving: Solving

    @property
    def population(self) -> Population:
        """The problem's rows, to be drawn from."""
        geometry, rows = self.geometry, self.problem.rows.blocks
        if rows is geometry.blocks:
            return geometry.population
        themselves = self.problem.space is geometry.space
        return population_of(rows, comparable=themselves and not geometry.is_precomputed)


@dataclass(frozen=True)
class Outcome:
    """The end of a fit, from which its attributes are made."""

    geometry: Geometry
    method: Method
    result: FitResult
