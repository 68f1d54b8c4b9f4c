"""The squared distance of a noise cluster: settled from the rows in rounds of sweeps, then frozen,
so that the objective falls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..data.arrays import Float64, IntArray
from ..rules import Rule
from ..runtime.numerals import percent
from ..sampling.population import FIXED_SEED, population_of, sample
from ..spaces.centres import Centres
from ..sweeps.passes import NearestRowsPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .fixed_point import solve
from .multistart import BestRun, Runs
from .observer import AsFinal, Observer, as_it_is

# the largest share of noise that is found from the data: more than half of the rows make the
# clusters
HALF = 0.5
# of a cluster, in steps from the lower quartile to the median of its rows' squared distances
WIDTH = 7.0
# the same in their cube roots, which are nearly normal (Wilson & Hilferty 1931): 3% of the rows lie
# beyond
ROOT_WIDTH = 2.79
# share of the rows' weight whose clusters are no wider than the one that noise goes by; the widest
# may be of noise
COVERED = 0.7
# of that one's width: where noise begins, so that clusters without any keep nearly all of their
# rows
BEYOND = 1.5
# share of a cluster that noise may take where the rest of it lies as its own width says, and the
# share that lies so in one without noise
QUARTER, COMPACT = 0.25, 0.9
# share of an equal part of the rows from which on rows that lie apart are a cluster, not a few
# strays
OWN = 0.2
LEAST = 1e-6  # of the mean squared distance: no noise cluster is nearer
OUTLYING = 0.05  # share of the weight that has no part in that mean
ROUNDS, SWEEPS = 10, 10  # in which the distance is settled, and in each of them
SETTLED = 1e-2  # relative change at which it is
# so many times the distance a search goes by at most, and rows of a mean cluster for each of them
FARTHER, ROWS = 16.0, 10
# rounds until a given share of the rows' weight is kept, to so much of the weight
SHARE_ROUNDS, SHARE_SETTLED = 15, 1e-3


def distance_of_share(
    d2: Float64,  # (n,) squared distance of each row to its nearest centre
    weight: Float64,  # (n,)
    share: float,
) -> float:
    """Return the least squared distance that at most a `share` of the weight lies beyond: noise is
    the largest membership of those rows."""
    return _Sorted.of(d2, weight).quantile(1.0 - share)


def automatic_distance(
    d2: Float64, weight: Float64, labels: IntArray, covered: float = COVERED
) -> float:
    """Return `BEYOND` times the least width of a cluster such that those no wider have a share of
    the weight.

    `labels` (n,) are the nearest centres.
    """
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    widths = np.array([cluster_width(d2[own], weight[own]) for own in clusters])
    return BEYOND * _Sorted.of(widths, np.array([weight[own].sum() for own in clusters])).quantile(
        covered
    )


def cluster_width(d2: Float64, weight: Float64) -> float:
    """Return the squared distance within which nearly all rows of a cluster lie: the larger of  q50
    + 7 (q50 - q25)  and the cube of r50 + 2.79 (r50 - r25),  lower quartiles and medians of d2, and
    of its cube root r, being those of the rows no farther than that.

    It is found from the nearer half of the rows outwards. Of round Gaussian clusters it leaves 6%
    of the rows out in one dimension, 4% in two, 1% in five, and nearly none in more.
    """
    rows = _Sorted.of(d2, weight)
    width = rows.quantile(HALF)
    for _ in range(len(d2)):
        near = rows.up_to(width)
        middle, low = near.quantile(0.5), near.quantile(0.25)
        root = float(np.cbrt(middle))
        wider = max(
            middle + WIDTH * (middle - low), (root + ROOT_WIDTH * (root - float(np.cbrt(low)))) ** 3
        )
        if wider <= width:
            break
        width = wider
    return width


@dataclass(frozen=True)
class _Sorted:
    """Squared distances in rising order, with the weight up to each."""

    d2: Float64
    reached: Float64

    @classmethod
    def of(cls, d2: Float64, weight: Float64) -> _Sorted:
        order = np.argsort(d2, kind="stable")
        return cls(d2[order], np.cumsum(weight[order]))

    def quantile(self, share: float) -> float:
        """Return the least distance that at least a share of the weight does not exceed."""
        place = int(np.searchsorted(self.reached, share * self.reached[-1]))
        return float(self.d2[min(place, len(self.d2) - 1)])

    def up_to(self, delta: float) -> _Sorted:
        """Return the distances of at most delta."""
        count = max(int(np.searchsorted(self.d2, delta, side="right")), 1)
        return _Sorted(self.d2[:count], self.reached[:count])


class NearestCentres(NamedTuple):
    """The nearest centre of each row (n,), the squared distance to it, and the row's weight."""

    labels: IntArray
    d2: Float64
    weight: Float64

    def share_between(self, one: float, other: float) -> float:
        """Return the share of the weight whose distance lies between two."""
        within = (self.d2 > min(one, other)) & (self.d2 <= max(one, other))
        return float(self.weight[within].sum() / self.weight.sum())


class LostCluster(NamedTuple):
    """A cluster that noise has taken."""

    width: float  # squared, as of `cluster_width`
    share: float  # of the rows' weight

    def said(self, *, spared: bool) -> str:
        """Return what a fit tells of it."""
        if spared:
            return (
                f"; noise begins beyond a cluster of {percent(self.share)} of the rows, wider than "
                "the others, which it would have taken"
            )
        return (
            f"; most rows that are noise form a cluster of their own, of {percent(self.share)} of "
            "all rows: take one cluster more, a smaller share, or GaussianMixture"
        )


@dataclass(frozen=True)
class _Settled:
    """The end of the rounds."""

    centres: Centres
    delta: float  # at these centres
    row_visits: int


@dataclass(frozen=True)
class NoisePilot:
    """A fuzzy run without noise, from whose centres the distance of the noise cluster is
    settled."""

    final: Rule  # with noise, from a distance that is to be found

    @property
    def rule(self) -> Rule:
        """As of `Pilot`."""
        assert self.final.pilot is not None
        return self.final.pilot

    @property
    def share(self) -> float | None:
        """The share of the rows' weight that is to be noise; None: as the data say."""
        share = self.final.noise_share
        return None if isinstance(share, str) or share is None else float(share)

    def as_final(self, final: Rule) -> AsFinal:
        """As of `Pilot`: interrupted, it is a fuzzy run that knows no noise yet."""
        return as_it_is

    def follow(self, first: BestRun, runs: Runs) -> tuple[Problem, BestRun]:
        """As of `Pilot`: settle the distance, on a sample where rows are many, then sweep with it
        as it is."""
        problem, observer = runs.problem, runs.observer
        schedule, search = runs.schedule, runs.search
        centres, visits = first.solution.state.centres, first.row_visits
        part = _judged(problem) if schedule is None else schedule.largest(problem)
        here = observer.without_callbacks()
        settled = self._settled(
            part, centres, HALF if self.share is None else self.share, here.within("noise")
        )
        visits += settled.row_visits
        if search is not None and len(centres) > 1:
            trial = replace(
                part,
                rule=self.final.at_noise_distance(
                    _times_farther(part, len(centres)) * settled.delta
                ),
            )
            solution = solve(trial, State(settled.centres), here.within("noise").at("noise"))
            found = search(trial, replace(solution, sweep=None), here.within("noise").at("noise"))
            visits += solution.row_visits + found.row_visits
            if found.solution.state is not solution.state:
                settled = self._settled(
                    part, found.solution.state.centres, self.share, here.within("found")
                )
                visits += settled.row_visits
        # distances crowd in many columns: until centres rest, a little of them is many rows
        if self.share is not None:
            settled = self._settled(
                _judged(problem, part),
                settled.centres,
                self.share,
                here.within("share"),
                at_rest=True,
            )
            visits += settled.row_visits
        lost = self._lost_cluster(part, centres, settled)
        visits += 2 * part.n_rows
        if lost is not None and self.share is None:
            settled = self._sparing(part, centres, lost, here.within("spared"))
            visits += settled.row_visits
        centres, delta = settled.centres, settled.delta
        # else the sample's will do
        whole = schedule is not None and _judged(problem, part) is problem
        if self.share is None and whole and lost is None:
            delta = self._distance(self.nearest(problem, centres), self.share)
            visits = visits + problem.n_rows
        final = replace(problem, rule=self.final.at_noise_distance(delta))
        solution = solve(final, State(centres), observer.at("fit"))
        remark = "" if lost is None else lost.said(spared=self.share is None)
        return final, BestRun(solution, None, visits + solution.row_visits, remark=remark)

    def _lost_cluster(
        self, part: Problem, centres: Centres, settled: _Settled
    ) -> LostCluster | None:
        """Return the cluster about a centre of the run without noise that noise has taken: more
        than half of its rows are noise, or a quarter of one that has few strays by its own width,
        and more than half of all noise is of it. Noise that is spread is of several clusters, and
        strays are few."""
        before, after = self.nearest(part, centres), self.nearest(part, settled.centres)
        c, weight = len(centres), before.weight
        noise = np.where(after.d2 > settled.delta, weight, 0.0)
        mass = np.bincount(before.labels, weight, c)
        taken = np.bincount(before.labels, noise, c)
        enough = mass >= OWN * mass.sum() / c
        lost = np.flatnonzero((taken > QUARTER * mass) & (taken > HALF * noise.sum()) & enough)
        if not len(lost):
            return None
        own = before.labels == lost[0]
        width = cluster_width(before.d2[own], weight[own])
        near = float(weight[own & (before.d2 <= BEYOND * width)].sum())
        if taken[lost[0]] <= HALF * mass[lost[0]] and near < COMPACT * mass[lost[0]]:
            return None
        return LostCluster(width, float(mass[lost[0]] / mass.sum()))

    def _sparing(
        self, part: Problem, centres: Centres, lost: LostCluster, observer: Observer
    ) -> _Settled:
        """Return the centres beside noise that begins beyond a cluster which it had taken."""
        delta = BEYOND * lost.width
        stopping = replace(part.stopping, max_iter=min(SWEEPS, part.stopping.max_iter))
        trial = replace(part, rule=self.final.at_noise_distance(delta), stopping=stopping)
        solution = solve(trial, State(centres), observer.at("noise"))
        return _Settled(solution.state.centres, delta, solution.row_visits)

    def _settled(
        self,
        part: Problem,
        centres: Centres,
        share: float | None,
        observer: Observer,
        *,
        at_rest: bool = False,
    ) -> _Settled:
        """Settle the distance; the first is that of this share. `at_rest`: until the centres rest,
        and no more than a few rows lie between the distance and the one before."""
        stopping = replace(part.stopping, max_iter=min(SWEEPS, part.stopping.max_iter))
        delta, visits = self._distance(self.nearest(part, centres), share), part.n_rows
        before = delta
        for number in range(SHARE_ROUNDS if at_rest else ROUNDS):
            trial = replace(part, rule=self.final.at_noise_distance(delta), stopping=stopping)
            solution = solve(trial, State(centres), observer.within(str(number)).at("noise"))
            centres, visits = solution.state.centres, visits + solution.row_visits + part.n_rows
            nearest = self.nearest(part, centres)
            before, delta, change = delta, self._distance(nearest, self.share), delta - before
            if self.share is not None and change * (delta - before) < 0:
                # More noise makes clusters narrower, whose noise is nearer again: a distance and
                # its answer would take turns for ever.
                delta = 0.5 * (before + delta)
            if not at_rest and abs(delta - before) <= SETTLED * before:
                break
            if (
                at_rest
                and solution.converged
                and nearest.share_between(before, delta) <= SHARE_SETTLED
            ):
                delta = before  # at which the centres rest
                break
        return _Settled(centres, delta, visits)

    @staticmethod
    def _distance(nearest: NearestCentres, share: float | None) -> float:
        """Return the squared distance of the noise cluster, of a share of the rows or else as they
        say."""
        labels, d2, weight = nearest
        if share is None:
            delta = automatic_distance(d2, weight, labels)
        else:
            delta = distance_of_share(d2, weight, share)
        # a row at 10^6 widths of a cluster is no measure
        near = np.where(d2 <= distance_of_share(d2, weight, OUTLYING), d2, 0.0)
        mean = float(weight @ (near if near.any() else d2)) / float(weight.sum())
        return max(delta, LEAST * mean) if mean > 0 else 1.0

    def nearest(self, problem: Problem, centres: Centres) -> NearestCentres:
        """Return the rows' nearest centres."""
        labels, d2 = zip(*problem.map(NearestRowsPass(self.rule, State(centres))), strict=True)
        return NearestCentres(
            np.concatenate(labels), np.concatenate(d2), problem.rows.blocks.weight
        )


def _times_farther(problem: Problem, n_clusters: int) -> float:
    """Return how many times the squared distance of noise a search for better centres goes by.

    At the distance itself all rows of a small cluster that lies alone lose less as noise than a
    large one gains by a second centre: the search would give the small one up. So noise is farther
    there, and costs more. But a few stray rows must not cost so much that they keep a centre which
    two clusters share without it: noise is nearer where clusters have few rows, of which the
    lightest counts as one.
    """
    weight = problem.rows.blocks.weight
    n_rows = float(weight.sum()) / float(weight[weight > 0].min())
    return min(max(n_rows / (ROWS * n_clusters), 1.0), FARTHER)


def _judged(problem: Problem, part: Problem | None = None) -> Problem:
    """Return the problem over the rows that the distance is tuned on: all, or a fixed sample;
    `part`: that sample, where it is known."""
    blocks = problem.rows.blocks
    most = blocks.tuned_on(blocks.limits.last_sample_rows)
    if most is None:
        return problem
    if part is not None:
        return part
    population = population_of(blocks)
    positions, weights = sample(population, most, np.random.RandomState(FIXED_SEED))
    return problem.on_sample(population.at(positions), weights, problem.stopping)
