"""Every sweep keeps the contract: the generic one, the compiled shapes, and the hard one that leaves rows out."""

from __future__ import annotations

from typing import ClassVar

import pytest

from cmeans.rules import Rule
from cmeans.sweeps import compiled, generic
from cmeans.sweeps.choice import AssignFunction, DeviationsFunction, MeasureFunction, SweepFunction
from contracts.sweep import PASSES, RULES, SIZES, Given, SweepContract


class TestGeneric(SweepContract):
    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return generic.sweep

    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        return generic.assign

    def measure(self, dtype: str) -> MeasureFunction:
        return generic.distances

    def deviations(self, dtype: str, power: int) -> DeviationsFunction:
        return generic.deviations


class TestNarrow(SweepContract):
    layout = compiled.layout("narrow")
    in_turns = PASSES
    only_under: ClassVar = {
        "labelling": ("fuzzy, m = 2", "possibilistic", "sparse"),
        "change": ("fuzzy", "hard", "possibilistic, m = 2"),
    }

    def labelling_sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return compiled.CompiledSweep("narrow", rule, dtype, labelling=True)

    def deviations(self, dtype: str, power: int) -> DeviationsFunction:
        return compiled.CompiledDeviations("narrow", power, dtype)

    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return compiled.CompiledSweep("narrow", rule, dtype)

    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        return compiled.CompiledAssign(self.layout, rule, dtype)

    def measure(self, dtype: str) -> MeasureFunction:
        return compiled.CompiledMeasure(self.layout, dtype)


class TestWide(SweepContract):
    layout = compiled.layout("wide")
    rules = tuple(name for name in RULES if name != "hard")
    in_turns = PASSES
    turn = 1
    only_under: ClassVar = {
        "labelling": ("fuzzy", "fuzzy, any exponent", "possibilistic, m = 2"),
        "change": ("fuzzy, any exponent", "fuzzy, m = 2", "possibilistic", "sparse"),
        "assign": ("fuzzy, any exponent", "possibilistic, m = 2"),
    }

    def labelling_sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return compiled.CompiledSweep("wide", rule, dtype, labelling=True)

    def deviations(self, dtype: str, power: int) -> DeviationsFunction:
        return compiled.CompiledDeviations("wide", power, dtype)

    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return compiled.CompiledSweep("wide", rule, dtype)

    def assign(self, rule: Rule, dtype: str) -> AssignFunction:
        return compiled.CompiledAssign(self.layout, rule, dtype)

    def measure(self, dtype: str) -> MeasureFunction:
        return compiled.CompiledMeasure(self.layout, dtype)


class TestBounded(TestWide):
    rules = ("hard",)
    in_turns = ("labelling", "change", "assign", "deviations")
    only_under: ClassVar = {}

    def sweep(self, rule: Rule, dtype: str) -> SweepFunction:
        return compiled.BoundedSweep(rule, dtype)


@pytest.mark.parametrize(("dtype", "of_memberships", "of_masses"), [("float64", 2e-12, 1e-12), ("float32", 1e-3, 5e-4)])
def test_what_rounding_may_change_is_little(dtype, of_memberships, of_masses):
    """The contract works its tolerances out; here they are seen to be no licence. They are largest for m = 1.05, the 20th power."""
    for name in [name for name in SIZES if name != "far"]:
        for rule in RULES:
            given = Given(name, rule, dtype)
            mass = given.truth.sums.mass.sum() or given.problem.weight.sum()  # a row that no cluster wants has no mass
            assert given.rounding.u.max() <= of_memberships
            assert given.rounding.mass.sum() <= of_masses * mass
            if rule != "fuzzy-1.05":
                assert given.rounding.u.max() <= of_memberships / 5
                assert given.rounding.mass.sum() <= of_masses / 5 * mass
