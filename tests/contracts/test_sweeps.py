"""Every sweep keeps the contract: the generic one, the native one, and the hard one that leaves
rows out."""

from __future__ import annotations

import pytest

from cmeans.rules import Rule
from cmeans.sweeps import generic, generic_measures
from cmeans.sweeps.bounded import BoundedSweep
from cmeans.sweeps.choice import AssignFunction, DeviationsFunction, MeasureFunction, SweepFunction
from cmeans.sweeps.native import NativeAssign, NativeDeviations, NativeMeasure, NativeSweep
from cmeans.sweeps.nearest_of_many import NearestAssign
from contracts.sweep import RULES, SIZES, Given, SweepContract


class TestGeneric(SweepContract):
    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return generic.sweep

    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        return generic.assign

    def measure(self, dtype: str) -> MeasureFunction:
        return generic_measures.distances

    def deviations(self, dtype: str) -> DeviationsFunction:
        return generic_measures.deviations


class TestNative(SweepContract):
    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return NativeSweep(rule, dtype)

    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        return NativeAssign(rule, dtype)

    def measure(self, dtype: str) -> MeasureFunction:
        return NativeMeasure(dtype)

    def deviations(self, dtype: str) -> DeviationsFunction:
        return NativeDeviations(dtype)


class TestBounded(TestNative):
    rules = ("hard",)

    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return BoundedSweep(rule, dtype)

    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        return NearestAssign(dtype)


@pytest.mark.parametrize(
    ("dtype", "of_memberships", "of_masses"), [("float64", 2e-12, 1e-12), ("float32", 1e-3, 5e-4)]
)
def test_what_rounding_may_change_is_little(dtype, of_memberships, of_masses):
    """The contract works its tolerances out; here they are seen to be no licence. They are largest
    for m = 1.05, the 20th power."""
    # where sparse clusters have hardly a row
    for name in [name for name in SIZES if name not in ("far", "two-chunks", "wide")]:
        for rule in RULES:
            given = Given(name, rule, dtype)
            # a row that no cluster wants has no mass
            mass = given.truth.sums.mass.sum() or given.problem.weight.sum()
            assert given.rounding.u.max() <= of_memberships
            assert given.rounding.mass.sum() <= of_masses * mass
            if rule != "fuzzy-1.05":
                assert given.rounding.u.max() <= of_memberships / 5
                assert given.rounding.mass.sum() <= of_masses / 5 * mass
