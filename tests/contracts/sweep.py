"""What every sweep promises, generic or native: the sums that the formulas give, row by row. See
test_sweeps.py.

Tolerances are worked out, not chosen: `Given.rounding` follows what the arithmetic of the rows'
dtype may lose in a squared distance through the formulas of memberships and sums. A row that
differs from the loops by more has been computed wrongly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
import pytest

import naive
import naive_polynomial
import naive_sparse
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.data.outputs import RowOutputs
from cmeans.data.precision import resolution
from cmeans.kernels import RBF
from cmeans.papers import LocallySparse, PrintedFuzzy
from cmeans.rules import (
    Fuzzy,
    Hard,
    NoiseFuzzy,
    PolynomialFuzzy,
    Possibilistic,
    Rule,
    SparsePossibilistic,
)
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.spaces.centres import Centres
from cmeans.sweeps.choice import AssignFunction, DeviationsFunction, MeasureFunction, SweepFunction
from cmeans.sweeps.generic import FinalSums
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from cmeans.sweeps.statistics import Statistics
from contracts.arrays import DTYPES
from sweep_choices import pairs

RULES: dict[str, Any] = {
    "hard": Hard(),
    "fuzzy": Fuzzy(2.0),
    "fuzzy-1.05": Fuzzy(1.05),
    "fuzzy-1.3": Fuzzy(1.3),
    "fuzzy-3": Fuzzy(3.0),
    "fuzzy-12": Fuzzy(12.0),
    "fuzzy-printed": PrintedFuzzy(2.0),
    "noise": NoiseFuzzy(2.0, delta=4.3),
    "noise-1.3": NoiseFuzzy(1.3, delta=2.6),
    "noise-3": NoiseFuzzy(3.0, delta=9.4),
    "polynomial": PolynomialFuzzy(0.5),
    "polynomial-0.1": PolynomialFuzzy(0.1),
    "polynomial-0.6": PolynomialFuzzy(0.6),
    "possibilistic": Possibilistic(2.0),
    "possibilistic-1.7": Possibilistic(1.7),
    "sparse": SparsePossibilistic(),
    "sparse-local": LocallySparse(1.0, p=0.4),
    "pcm-96": SparsePossibilistic(0.0),
}
# rows, columns, clusters; with blocks of 150 rows, which are no whole number of tiles of 64
SIZES = {
    "plain": (333, 3, 5),
    "many-clusters": (200, 7, 10),
    "many-columns": (160, 50, 3),
    "two-chunks": (100, 45, 6),
    "wide": (70, 133, 9),
    "one-column": (333, 1, 4),
    "one-cluster": (151, 2, 1),
    "one-row": (1, 3, 2),
    "ties": (333, 2, 6),
    "far": (333, 3, 5),
}
BLOCK = 150
RAGGED = Limits(block_rows=BLOCK, tasks=2, task_values=1)


@dataclass(frozen=True)
class Problem:
    """Rows and centres that float32 holds exactly."""

    X: np.ndarray  # (n, d)
    V: np.ndarray  # (c, d)
    weight: np.ndarray  # (n,) some of them zero

    @property
    def eta(self) -> np.ndarray:
        """(c,) scales for rules that need some."""
        return self.V.shape[1] * (1 + np.arange(len(self.V)) / 4)


@cache
def problem(name: str) -> Problem:
    """Every twentieth row lies exactly at a centre; no other is so near to one, or so nearly
    between two, that rounding decides.

    "ties" is a coarse grid with one centre twice, where arithmetic is exact and distances tie;
    "far" is "plain", moved away by 1000.
    """
    n, d, c = SIZES[name]
    rng = np.random.default_rng(n + d + c)
    if name == "ties":
        V = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [2, 0], [-3, 1]], dtype=float)
        return Problem(
            rng.integers(-3, 4, size=(n, d)).astype(float),
            V,
            rng.integers(0, 3, size=n).astype(float),
        )
    V = rng.normal(scale=2, size=(c, d)).astype(np.float32).astype(float)
    rows = rng.normal(scale=2, size=(40 * n, d)).astype(np.float32).astype(float)
    d2 = np.sort(np.pad(naive_distances(rows, V), ((0, 0), (0, 1)), constant_values=np.inf), axis=1)
    size = (rows**2).sum(axis=1) + (V**2).sum(axis=1).max()
    X = rows[(d2[:, 0] > 0.05 * size) & (d2[:, 1] - d2[:, 0] > 0.001 * size)][:n]
    assert len(X) == n
    X[19::20] = V[np.arange(len(X[19::20])) % c]
    weight = rng.uniform(0.2, 3, size=n)
    weight[3::7] = 0
    away = 1000.0 if name == "far" else 0.0
    return Problem(X + away, V + away, weight)


def naive_distances(X: np.ndarray, V: np.ndarray) -> np.ndarray:
    """By differences, all at once: only to choose rows with."""
    return ((X[:, None] - V) ** 2).sum(axis=2)


@dataclass(frozen=True)
class Rounding:
    """What rounding may change, number by number."""

    d2: np.ndarray  # (n, c)
    u: np.ndarray  # (n, c)
    mass: np.ndarray  # (c,)
    moment: np.ndarray  # (c, d)
    spread: np.ndarray  # (c,)
    penalty: float
    sum: float  # relative, of terms of one sign


@dataclass(frozen=True)
class Truth:
    """One problem by loops, under one rule."""

    d2: np.ndarray
    u: np.ndarray
    sums: naive.Sums


@cache
def truth(name: str, rule: str) -> Truth:
    given = Given(name, rule, "float64")
    return given.truth_at(given.problem.V)


@dataclass(frozen=True)
class Given:
    """A problem under a rule, for rows of some dtype."""

    name: str
    rule_name: str
    dtype: str

    @property
    def problem(self) -> Problem:
        return problem(self.name)

    @property
    def rule(self) -> Rule:
        return RULES[self.rule_name]

    @property
    def m(self) -> float:
        return getattr(self.rule, "m", 1.0)

    @property
    def power(self) -> float:
        """Of ratios of squared distances."""
        return self.rule.power if isinstance(self.rule, PrintedFuzzy) else 1 / (self.m - 1)

    @property
    def eta(self) -> np.ndarray | None:
        return self.problem.eta if self.rule.needs_pilot else None

    @property
    def state(self) -> State:
        return State(Centres.orthonormal(self.problem.V), self.eta)

    @property
    def truth(self) -> Truth:
        return truth(self.name, self.rule_name)

    def truth_at(self, V: np.ndarray) -> Truth:
        """By loops, for any centres."""
        X, weight = self.problem.X, self.problem.weight
        d2 = naive.point_distances(X, V)
        if self.rule == Hard():
            u = naive.hard_memberships(d2)
        elif isinstance(self.rule, NoiseFuzzy):
            u = naive.noise_memberships(d2, self.m, self.rule.delta)
            penalty = naive.noise_penalty(u, self.m, self.rule.delta, weight)
            return Truth(d2, u, naive.sums(X, d2, u, self.m, weight)._replace(penalty=penalty))
        elif isinstance(self.rule, PolynomialFuzzy):
            u = naive_polynomial.memberships(d2, self.rule.beta)
            return Truth(
                d2, u, naive.sums(X, d2, naive_polynomial.fuzzified(u, self.rule.beta), 1.0, weight)
            )
        elif self.eta is None:
            u = naive.fuzzy_memberships(d2, self.m, self.power)
        elif isinstance(self.rule, SparsePossibilistic):
            return self._sparse_truth(d2)
        else:
            u = naive.possibilistic_memberships(d2, self.eta, self.m)
        return Truth(d2, u, naive.sums(X, d2, u, self.m, weight, self.eta))

    def _sparse_truth(self, d2: np.ndarray) -> Truth:
        X, weight, eta, rule = self.problem.X, self.problem.weight, self.problem.eta, self.rule
        assert isinstance(rule, SparsePossibilistic)
        lam = rule.strength(eta)
        test = "local" if isinstance(rule, LocallySparse) else "global"
        u = naive_sparse.memberships(d2, eta, lam, rule.p, test)
        sums = naive.sums(X, d2, u, 1.0, weight)
        total = 0.0
        for i, j in np.ndindex(*u.shape):
            total += weight[i] * (
                naive_sparse.cost(u[i, j], d2[i, j], eta[j], lam, rule.p)
                - u[i, j] * d2[i, j]
                + eta[j]
            )
        return Truth(d2, u, sums._replace(penalty=total))

    def blocks(self) -> Blocks:
        return Blocks(self.problem.X.astype(self.dtype), self.problem.weight, limits=RAGGED)

    @cached_property
    def rounding(self) -> Rounding:
        """d2 loses (columns + 4) eps (|x|^2 + |v|^2); memberships, which are its powers, lose so
        many times as much of themselves.

        The hard sum of distances may be taken from sums of its parts, where a row at a centre, at
        no distance, loses as much as others.
        """
        X, V, weight = self.problem.X, self.problem.V, self.problem.weight[:, None]
        eps, m, (d2, u, sums) = (
            resolution(self.dtype),
            self.m,
            (self.truth.d2, self.truth.u, self.truth.sums),
        )
        columns = 0 if self.name == "ties" else X.shape[1] + 4
        parts = columns * eps * ((X**2).sum(axis=1)[:, None] + (V**2).sum(axis=1))
        lost = np.where(d2 == 0, 0, parts)
        share = lost / np.where(d2 > 0, d2, 1)
        if isinstance(self.rule, SparsePossibilistic):
            du = self._sparse_rounding(self.rule, lost, eps)
        elif isinstance(self.rule, PolynomialFuzzy):
            du = self._polynomial_rounding(self.rule.beta, share, eps)
        elif m == 1:
            du = np.zeros_like(u)
        elif self.eta is None:
            du = u * self.power * (share + (u * share).sum(axis=1, keepdims=True)) + 8 * eps
        else:
            du = u * (1 - u) * self.power * share + 8 * eps
        w = u**m
        dw = m * u ** (m - 1) * du + 8 * m * eps * w  # of powers, from their logarithms
        if isinstance(self.rule, PolynomialFuzzy):
            w = self.rule.weights(u)
            dw = (
                2 * ((1 - self.rule.beta) * u + self.rule.beta) / (1 + self.rule.beta) * du
                + 8 * eps * w
            )
        each = 16 * eps  # of a sum over the rows of a block
        dpenalty = 0.0
        # d penalty / d u = -d2 at a stationary point
        if isinstance(self.rule, SparsePossibilistic):
            dpenalty = float((weight * (d2 * du + 4 * eps * self.eta)).sum()) + each * sums.penalty
        elif isinstance(self.rule, NoiseFuzzy):
            noise, lack = np.maximum(1 - u.sum(axis=1), 0), du.sum(axis=1) + 4 * eps
            # of u_i0^m, also where u_i0 itself is rounding
            each_row = m * np.maximum(noise, lack) ** (m - 1) * lack
            dpenalty = float(self.rule.delta * (weight[:, 0] @ each_row)) + each * sums.penalty
        elif self.eta is not None:
            dpenalty = (
                float((weight * self.eta * m * (1 - u) ** (m - 1) * du).sum()) + each * sums.penalty
            )
        return Rounding(
            d2=lost,
            u=du,
            mass=(weight * dw).sum(axis=0) + each * sums.mass,
            moment=(weight * (dw + each * w)).T @ np.abs(X),
            spread=(weight * (dw * d2 + w * (4 * parts if self.rule == Hard() else lost))).sum(
                axis=0
            )
            + each * sums.spread,
            penalty=dpenalty,
            sum=each,
        )

    def _polynomial_rounding(self, beta: float, share: np.ndarray, eps: float) -> np.ndarray:
        """u = (r - beta) / (1 - beta), where r = level / d2 loses what d2 does and the mean of what
        those of the row's clusters do; where r is less than beta by more than that, u is surely
        zero."""
        d2, u = self.truth.d2, self.truth.u
        level = np.where(u > 0, (beta + (1 - beta) * u) * d2, 0).max(axis=1, keepdims=True)
        r = level / np.where(d2 > 0, d2, 1)
        of_row = np.where(u > 0, r, 0)
        lost = (
            share
            + (of_row * share).sum(axis=1, keepdims=True)
            / np.maximum(of_row.sum(axis=1, keepdims=True), 1e-300)
            + 8 * eps
        )
        return np.where(r * (1 + lost) >= beta, r * lost / (1 - beta), 0)

    def _sparse_rounding(
        self, rule: SparsePossibilistic, lost: np.ndarray, eps: float
    ) -> np.ndarray:
        """u = exp(-d2 / eta + W / (1 - p)) loses what d2 / eta loses, and more the nearer the
        stationary point is to being none; at the radius rounding decides."""
        d2, u, eta = self.truth.d2, self.truth.u, self.problem.eta
        inside = u > 0
        bend = np.where(
            inside,
            rule.strength(eta)
            * rule.p
            * (1 - rule.p)
            * np.where(inside, u, 1) ** (rule.p - 1)
            / eta,
            0,
        )
        du = u * (lost / eta + 16 * eps * (1 + d2 / eta)) / np.maximum(1 - bend, 1e-3) + 8 * eps
        radius = np.where(np.isinf(rule.radii(eta)), 1e300, rule.radii(eta))
        return np.where(np.abs(d2 - radius) <= lost + 8 * eps * radius, 1.0, du)


def within(actual: Any, expected: Any, tolerance: Any) -> None:
    """Every number as near as its own tolerance."""
    excess = np.abs(np.asarray(actual, dtype=float) - expected) - tolerance
    assert (excess <= 0).all(), f"off by {excess.max():.3g} more than rounding explains"


class SweepContract(ABC):
    """A sweep, the last pass and the distances that go with it."""

    rules: ClassVar[tuple[str, ...]] = tuple(RULES)

    @abstractmethod
    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        """The sweep of one run."""

    @abstractmethod
    def deviations(self, dtype: str) -> DeviationsFunction:
        """How far rows are from the means of their clusters."""

    @abstractmethod
    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        """The last pass."""

    @abstractmethod
    def measure(self, dtype: str) -> MeasureFunction:
        """The distances to the centres."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "given" not in metafunc.fixturenames:
            return
        test, rules = metafunc.function.__name__, self.rules
        if test == "test_deviations":
            rules = self.rules[:1]  # rules have no part in it
        elif test == "test_labels":
            # whose clusters have no rows but their own
            rules = tuple(name for name in self.rules if name != "hard")

        def allowed(name: str, rule: str, dtype: str, power: int = 0) -> bool:
            return (name, dtype) != ("far", "float32")  # which holds too few digits

        powers = [(1, 2)] if "power" in metafunc.fixturenames else []
        every = pairs(SIZES, rules, DTYPES, *powers, allowed=allowed)
        ids = ["-".join(map(str, words)) for words in every]
        if powers:
            metafunc.parametrize(
                ("given", "power"), [(Given(*words), power) for *words, power in every], ids=ids
            )
        else:
            metafunc.parametrize("given", [Given(*words) for words in every], ids=ids)

    def represented(self, given: Given, blocks: Blocks | None = None) -> RepresentedRows:
        space = EuclideanSpace(np.zeros(given.problem.X.shape[1]))
        return RepresentedRows(space, given.blocks() if blocks is None else blocks, 0)

    # ---- the promises

    def test_sums(self, given: Given) -> None:
        rows = self.represented(given)
        assert rows.n_tasks == (1 if given.problem.X.shape[0] <= BLOCK else 2)
        self._check(
            given, total(self.sweep(given.rule, given.dtype), rows, given.rule, given.state)
        )

    def test_the_last_pass(self, given: Given) -> None:
        rows = self.represented(given)
        out, tally = last_pass(self.assign(given.rule, given.dtype), rows, given.rule, given.state)
        d2, u, sums = given.truth.d2, given.truth.u, given.truth.sums
        rounding, weight = given.rounding, given.problem.weight[:, None]
        every = np.arange(len(u))
        within(out.memberships, u, rounding.u)
        assert out.memberships.dtype == given.dtype
        np.testing.assert_array_equal(out.labels, largest(out.memberships, given.rule))
        measured = np.where(out.labels < 0, d2.argmin(axis=1), out.labels)
        within(out.nearest, d2[every, measured], rounding.d2[every, measured])
        if given.rule == Hard():
            np.testing.assert_array_equal(out.labels, u.argmax(axis=1))
        within(
            tally.mass,
            (weight * u).sum(axis=0),
            (weight * rounding.u).sum(axis=0) + rounding.sum * (weight * u).sum(axis=0),
        )
        within(
            tally.total_distance,
            (weight * d2).sum(),
            (weight * rounding.d2).sum() + rounding.sum * (weight * d2).sum(),
        )
        within(
            tally.objective,
            sums.spread.sum() + sums.penalty,
            rounding.spread.sum() + rounding.penalty,
        )

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", [name for name in SIZES if name != "far"])
    def test_distances(self, name: str, dtype: str) -> None:
        given = Given(name, self.rules[0], dtype)
        rows, measure = self.represented(given), self.measure(dtype)
        distances = np.concatenate(
            [measure(rows, rows.space, given.state, task) for task in range(rows.n_tasks)]
        )
        assert distances.dtype == dtype
        d2 = given.truth.d2
        within(distances.astype(float) ** 2, d2, given.rounding.d2 + 4 * resolution(dtype) * d2)
        np.testing.assert_array_equal(distances[d2 == 0], 0)

    def test_rows_at_centres_are_shared_equally_among_them(self) -> None:
        """Whatever the dtype and rule: exactly, but for the rule whose u at no distance is no
        simple number."""
        for rule in self.rules:
            for dtype in DTYPES:
                given = Given("ties", rule, dtype)
                out, _ = last_pass(
                    self.assign(given.rule, dtype), self.represented(given), given.rule, given.state
                )
                there = given.truth.d2 == 0
                there |= there.any(axis=1, keepdims=True) & given.rule.rows_sum_to_one
                assert there.sum() > 10
                exact = not isinstance(given.rule, SparsePossibilistic)
                np.testing.assert_allclose(
                    out.memberships[there],
                    given.truth.u[there],
                    rtol=0 if exact else 16 * resolution(dtype),
                    atol=0,
                )

    def test_labels(self, given: Given) -> None:
        """Each row's label is written, and the sums over each cluster's own rows are taken, beside
        all others."""
        rows, X, weight = self.represented(given), given.problem.X, given.problem.weight
        labels = np.full(len(X), 99, dtype=np.intp)
        sums = total(self.sweep(given.rule, given.dtype), rows, given.rule, given.state, labels)
        self._check(given, sums)
        u, c = given.truth.u, len(given.problem.V)
        ahead = np.sort(u.max(axis=1, keepdims=True) - u, axis=1)[:, 1] if c > 1 else u[:, 0]
        surely = ahead > 4 * given.rounding.u.max(axis=1)
        surely |= (u == 0).all(axis=1) & (given.rounding.u < 0.5).all(axis=1)
        if given.rule.noise_distance is not None:
            surely |= noise_of(u, given.rule) > u.max(axis=1)
            surely &= np.abs(noise_of(u, given.rule) - u.max(axis=1)) > 4 * given.rounding.u.max(
                axis=1
            )
        np.testing.assert_array_equal(labels[surely], largest(u, given.rule)[surely])
        assert surely.mean() > 0.8 or given.name == "ties"
        assert sums.hard is not None
        for j in range(c):
            own, each = labels == j, given.rounding.sum
            within(sums.hard.mass[j], weight[own].sum(), each * weight[own].sum())
            within(sums.hard.moment[j], weight[own] @ X[own], each * weight[own] @ np.abs(X[own]))

    def test_deviations(self, given: Given, power: int) -> None:
        """Rows of no cluster count for none; each of the others for its own cluster alone."""
        rows, weight, c = self.represented(given), given.problem.weight, len(given.problem.V)
        labels = np.arange(len(weight)) % (c + 1) - 1
        deviations = self.deviations(given.dtype)
        found = sum(
            deviations(rows, State(given.state.centres), labels, power, task)
            for task in range(rows.n_tasks)
        )
        d2, lost, eps = given.truth.d2, given.rounding.d2, resolution(given.dtype)
        for j in range(c):
            own = labels == j
            distance = d2[own, j] ** (power / 2)
            off = (
                lost[own, j]
                if power == 2
                else lost[own, j] / np.sqrt(np.where(d2[own, j] > 0, d2[own, j], 1))
            )
            within(found[j], weight[own] @ distance, weight[own] @ (off + 8 * eps * distance))

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_rows_in_any_order_in_memory(self, dtype: str) -> None:
        """Column by column, every other row of more, or for reading only."""
        for rule in self.rules:
            given = Given("many-clusters", rule, dtype)
            x = given.problem.X.astype(dtype)
            read_only = x.copy()
            read_only.setflags(write=False)
            for array in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], read_only):
                rows = self.represented(given, Blocks(array, given.problem.weight, limits=RAGGED))
                self._check(
                    given, total(self.sweep(given.rule, dtype), rows, given.rule, given.state)
                )

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_rows_kept_or_made_again_give_the_same_bits(self, dtype: str) -> None:
        """All of them, none, or one task of two; and whoever sweeps again sees the same."""
        X = problem("plain").X.astype(dtype)
        space = landmark_space(RBF(0.1), X[:7], None, X.dtype)
        blocks = Blocks(X, problem("plain").weight, limits=RAGGED)
        one_task = 2 * BLOCK * (space.size + 2) * X.itemsize
        for name in self.rules:
            rule = RULES[name]
            state = State(space.embed(blocks.cut(0, 3)), np.ones(3) if rule.needs_pilot else None)
            first: Statistics | None = None
            for keep in (10**9, one_task, 0):
                rows, sweep = RepresentedRows(space, blocks, keep), self.sweep(rule, dtype)
                for _ in range(2):
                    sums = total(sweep, rows, rule, state)
                    first = sums if first is None else first
                    assert same_bits(sums, first)
                    assert len(rows._kept) == (keep >= one_task) + (keep == 10**9)

    @pytest.mark.parametrize(
        ("dtype", "row", "bad"), pairs(DTYPES, [0, 149, 332], [np.nan, np.inf, -np.inf])
    )
    def test_a_row_that_is_no_number_shows(self, dtype: str, row: int, bad: float) -> None:
        """Whatever its weight: even 0, and in every rule."""
        for name in self.rules:
            given = Given("plain", name, dtype)
            x = given.problem.X.astype(dtype)
            x[row, 1] = bad
            for weight in (given.problem.weight, np.where(np.arange(len(x)) == row, 0.0, 1.0)):
                rows = self.represented(given, Blocks(x, weight, limits=RAGGED))
                with np.errstate(all="ignore"):
                    assert not total(
                        self.sweep(given.rule, dtype), rows, given.rule, given.state
                    ).is_finite()
                    assert not np.isfinite(
                        last_pass(self.assign(given.rule, dtype), rows, given.rule, given.state)[
                            1
                        ].objective
                    )
                    with pytest.raises(ValueError, match="not finite"):
                        self.measure(dtype)(rows, rows.space, given.state, row // (2 * BLOCK))

    def test_it_leaves_what_it_is_given_as_it_was(self) -> None:
        given = Given("plain", self.rules[0], "float64")
        blocks, state = given.blocks(), given.state
        before = blocks.x.copy(), blocks.weight.copy(), state.centres.coordinates.copy()
        total(
            self.sweep(given.rule, given.dtype), self.represented(given, blocks), given.rule, state
        )
        for now, then in zip(
            (blocks.x, blocks.weight, state.centres.coordinates), before, strict=True
        ):
            np.testing.assert_array_equal(now, then)

    def _check(self, given: Given, sums: Statistics) -> None:
        expected, rounding = given.truth.sums, given.rounding
        assert sums.mass.dtype == sums.moment.dtype == sums.spread.dtype == np.float64
        assert sums.weight == pytest.approx(given.problem.weight.sum(), rel=1e-14)
        within(sums.mass, expected.mass, rounding.mass)
        within(sums.moment, expected.moment, rounding.moment)
        within(sums.spread, expected.spread, rounding.spread)
        within(sums.penalty, expected.penalty, rounding.penalty)
        within(
            sums.objective,
            expected.spread.sum() + expected.penalty,
            rounding.spread.sum() + rounding.penalty,
        )
        assert sums.is_finite()


def largest(u: np.ndarray, rule: Rule) -> np.ndarray:
    """The label of each row."""
    return (
        np.where(u.max(axis=1) > noise_of(u, rule), u.argmax(axis=1), -1)
        if rule.leaves_rows_out
        else u.argmax(axis=1)
    )


def noise_of(u: np.ndarray, rule: Rule) -> np.ndarray:
    """The membership of each row in the noise cluster, 0 where there is none."""
    return np.zeros(len(u)) if rule.noise_distance is None else 1 - u.sum(axis=1)


def total(
    sweep: SweepFunction,
    rows: RepresentedRows,
    rule: Rule,
    state: State,
    labels: np.ndarray | None = None,
) -> Statistics:
    """All tasks together."""
    parts = [sweep(rows, rule, state, task, labels) for task in range(rows.n_tasks)]
    return sum(parts[1:], parts[0]).settled


def last_pass(
    assign: AssignFunction, rows: RepresentedRows, rule: Rule, state: State
) -> tuple[RowOutputs, FinalSums]:
    out = RowOutputs.empty(rows.n_rows, len(state.centres), rows.blocks.x[:0, 0])
    parts = [assign(rows, rows.space, rule, state, task, out) for task in range(rows.n_tasks)]
    return out, sum(parts[1:], parts[0])


def same_bits(a: Statistics, b: Statistics) -> bool:
    names = ("weight", "mass", "moment", "spread", "penalty")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
