"""Passes from which prices follow, generic and native: against loops."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import naive_sizes
from cmeans.rules import SizedEntropy, SizedFuzzy, SizedHard
from cmeans.spaces import EuclideanSpace
from cmeans.spaces.centres import Centres
from cmeans.sweeps import generic, generic_measures
from cmeans.sweeps.native import NativeAssign, NativeMargins, NativePrices, NativeSweep
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from contracts.arrays import DTYPES
from contracts.sweep import SIZES, Given, last_pass, total

pytestmark = pytest.mark.slow

SOFT = [SizedFuzzy(2.0), SizedFuzzy(1.3), SizedFuzzy(3.0), SizedEntropy(2.0), SizedEntropy(20.0)]
# of the masses of a rule that magnifies rounding by its power
NEAR = {"float64": 1e-9, "float32": 3e-4}
PLACES = [name for name in SIZES if name != "far"]


class Case:
    """Rows, centres and prices that are no multiples of each other, so that no row ties but those
    of coarse grids."""

    def __init__(self, name, dtype):
        given = Given(name, "hard", dtype)
        self.name, self.X, self.V, self.weight = (
            name,
            given.problem.X,
            given.problem.V,
            given.problem.weight,
        )
        self.d2 = given.truth.d2
        self.prices = np.random.default_rng(5).normal(size=len(self.V)) * np.sqrt(self.X.shape[1])
        self.prices = self.prices.astype(np.float32).astype(float)
        self.state = State(Centres.orthonormal(self.V), self.prices)
        self.rows = RepresentedRows(EuclideanSpace(np.zeros(self.X.shape[1])), given.blocks(), 0)

    def summed(self, function, *more):
        parts = [function(self.rows, *more, self.state, task) for task in range(self.rows.n_tasks)]
        return sum(parts[1:], parts[0])


@cache
def loops(name, rule):
    """Memberships by loops, which are the same for both dtypes."""
    case = Case(name, "float64")
    return naive_sizes.memberships(rule, case.d2, case.prices)


@pytest.fixture(params=[(name, dtype) for name in PLACES for dtype in DTYPES], ids="-".join)
def case(request):
    return Case(*request.param), request.param[1]


@pytest.mark.parametrize("rule", SOFT, ids=repr)
def test_masses_and_couplings(case, rule):
    case, dtype = case
    u = loops(case.name, rule)
    near = NEAR[dtype] * case.weight.sum()
    w = u**rule.m if isinstance(rule, SizedFuzzy) else u
    cost = (case.weight[:, None] * w * case.d2).sum()
    if isinstance(rule, SizedEntropy):
        cost += rule.T * (case.weight[:, None] * u * np.log(np.where(u > 0, u, 1))).sum()
    away = (case.d2 > 0).all(axis=1) & (case.weight > 0)
    both = [
        case.summed(function, rule)
        for function in (NativePrices(rule, dtype), generic_measures.price_sums)
    ]
    for sums in both:
        np.testing.assert_allclose(sums.mass, case.weight @ u, rtol=0, atol=near)
        assert sums.cost == pytest.approx(cost, rel=1e-9 if dtype == "float64" else 1e-3, abs=near)
        np.testing.assert_array_equal(sums.coupling, sums.coupling.T)
        np.testing.assert_array_equal(sums.coupling.diagonal(), 0)
    if dtype == "float64" and away.all() and len(case.V) > 1:
        check_derivatives(case, rule, both)


def check_derivatives(case, rule, both):
    """Couplings are the derivatives of masses in prices: of the first cluster's and the last's."""
    step = 1e-6
    for j in (0, len(case.V) - 1):
        prices = [case.prices + sign * step * np.eye(len(case.V))[j] for sign in (1, -1)]
        up, down = (case.weight @ naive_sizes.memberships(rule, case.d2, moved) for moved in prices)
        others = np.arange(len(case.V)) != j
        slope = -(up - down)[others] / (2 * step)
        for sums in both:
            np.testing.assert_allclose(
                slope, sums.coupling[j, others], rtol=1e-4, atol=1e-5 * case.weight.sum()
            )


@pytest.mark.parametrize("native", [True, False])
def test_margins(case, native):
    case, dtype = case
    net, width = case.d2 - case.prices, 0.5 * case.X.shape[1]
    function = NativeMargins(SizedHard(), dtype) if native else generic_measures.margins
    parts = [
        function(case.rows, case.rows.space, SizedHard(), case.state, width, task)
        for task in range(case.rows.n_tasks)
    ]
    found = sum(parts[1:], parts[0])
    ordered = np.sort(np.pad(net, ((0, 0), (0, 1)), constant_values=np.inf), axis=1)
    margin, close = (
        ordered[:, 1] - ordered[:, 0],
        1e-4 * (1 + (case.X**2).sum(axis=1) + (case.V**2).sum(axis=1).max()),
    )
    wanted = (case.weight > 0) & (margin < width)
    sure = np.abs(margin - width) > close
    listed = np.isin(np.arange(len(net)), found.rows)
    np.testing.assert_array_equal(listed[sure], wanted[sure])
    assert (np.diff(found.rows) > 0).all()
    clear = margin[found.rows] > close[found.rows]
    np.testing.assert_array_equal(found.labels[clear], net[found.rows].argmin(axis=1)[clear])
    np.testing.assert_allclose(found.d2, case.d2[found.rows], rtol=0, atol=close.max())
    assert found.mass.sum() == pytest.approx(case.weight.sum())


@pytest.mark.parametrize("rule", [SizedHard(), *SOFT], ids=repr)
def test_sweeps_and_last_passes_agree(case, rule):
    """Native ones with generic ones, which the rules' contract holds to the formulas."""
    case, dtype = case
    one, other = (
        total(sweep, case.rows, rule, case.state)
        for sweep in (NativeSweep(rule, dtype), generic.sweep)
    )
    near = NEAR[dtype] * case.weight.sum()
    np.testing.assert_allclose(one.mass, other.mass, rtol=0, atol=near)
    np.testing.assert_allclose(one.moment, other.moment, rtol=0, atol=near * np.abs(case.X).max())
    np.testing.assert_allclose(one.spread, other.spread, rtol=0, atol=near * case.d2.max())
    assert one.penalty == pytest.approx(other.penalty, abs=near * 20)
    (out, sums), (expected, expected_sums) = (
        last_pass(a, case.rows, rule, case.state)
        for a in (NativeAssign(rule, dtype), generic.assign)
    )
    np.testing.assert_allclose(
        out.memberships, expected.memberships, rtol=0, atol=1e-10 if dtype == "float64" else 5e-3
    )
    np.testing.assert_allclose(sums.mass, expected_sums.mass, rtol=0, atol=near)
    np.testing.assert_array_equal(out.labels, out.memberships.argmax(axis=1))
