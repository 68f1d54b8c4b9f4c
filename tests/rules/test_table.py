"""A rule is one file: the table finds it, and whatever names rules asks the table."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import cmeans.rules
from cmeans import CMeans, FuzzyCMeans
from cmeans.cli.methods import METHODS
from cmeans.native.sources import FOLDER
from cmeans.papers import PrintedFuzzy
from cmeans.rules import (
    RULES,
    Entropy,
    Fuzzy,
    Hard,
    NoiseFuzzy,
    PolynomialFuzzy,
    Possibilistic,
    Rule,
    SparsePossibilistic,
    Truncated,
)
from cmeans.runtime.stored_classes import STORED

X = np.random.default_rng(0).normal(size=(40, 2))
# which are given as objects alone, or by one estimator
OTHERS = {
    "Mixture",
    "NoiseMixture",
    "SizedEntropy",
    "SizedFuzzy",
    "SizedHard",
    "SparsePossibilistic",
    "StudentMixture",
    "Truncated",
}
OWN = {name: cls for name, cls in RULES.items() if cls.__module__.startswith("cmeans.")}


def test_every_class_of_the_folder_is_there_by_its_own_name():
    found = []
    for file in Path(cmeans.rules.__file__).parent.glob("*.py"):
        found += [
            node.name
            for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.ClassDef) and file.stem != "base"
        ]
    assert sorted(found) == sorted(
        {cls.__name__ for cls in OWN.values()} | OTHERS | {"RuleWithScales"}
    )
    assert all(name == cls.name != "" for name, cls in OWN.items())
    assert set(found) <= set(cmeans.rules.__all__)


def test_a_name_belongs_to_one_class():
    with pytest.raises(
        ValueError,
        match=r"Other: the name 'fuzzy' is that of cmeans.rules.fuzzy.Fuzzy; give another",
    ):
        type("Other", (Rule,), {"name": "fuzzy", "__module__": __name__})
    assert RULES["fuzzy"] is Fuzzy


@pytest.mark.parametrize("name", OWN)
@pytest.mark.filterwarnings("ignore:.*have collapsed:UserWarning")  # one cloud is no two clusters
def test_a_name_is_the_rule_with_its_defaults(name):
    model, given = (
        CMeans(2, rule=rule, kernel="linear", random_state=0).fit(X)
        for rule in (name, RULES[name]())
    )
    assert type(model.rule_) is RULES[name]
    assert model.rule_ == given.rule_
    np.testing.assert_array_equal(model.memberships_, given.memberships_)
    assert name in METHODS
    assert hasattr(model, "predict_proba") == RULES[name].rows_sum_to_one
    assert hasattr(model, "typicality") != RULES[name].rows_sum_to_one


def test_other_names_are_refused():
    for name in ("sparse", "Fuzzy", ""):
        with pytest.raises(
            ValueError,
            match=rf"CMeans\(rule='{name}'\): unknown rule; known are \['entropy', 'fuzzy'",
        ):
            CMeans(2, rule=name).fit(X)
    with pytest.raises(
        ValueError, match=r"CMeans\(rule=Fuzzy\): give a rule object, Fuzzy\(...\), not its class"
    ):
        CMeans(2, rule=Fuzzy).fit(X)


class Evidence:
    """What rules may ask, as numbers."""

    automatic_fuzzifier, temperature = 1.25, 0.75


@pytest.mark.parametrize(
    ("rule", "settled"),
    [
        (Fuzzy(), Fuzzy(1.25)),
        (Fuzzy(np.float32(1.5)), Fuzzy(1.5)),
        (NoiseFuzzy(share=0.1), NoiseFuzzy(1.25, share=0.1)),
        (Entropy(), Entropy(0.75)),
        (Entropy(2), Entropy(2.0)),
        (Possibilistic(), Possibilistic(2.0, pilot_m=1.25)),
        (Possibilistic("auto", pilot_m=3), Possibilistic(1.25, pilot_m=3.0)),
        (SparsePossibilistic(share=0.2), SparsePossibilistic(share=0.2, pilot_m=1.25)),
        (Truncated(Entropy(), 2), Truncated(Entropy(0.75), 2)),
        (PolynomialFuzzy(), PolynomialFuzzy(0.5)),
        (Hard(), Hard()),
    ],
)
def test_rules_settle_themselves(rule, settled):
    found = rule.settled(Evidence())
    assert found == settled
    assert found.settled(None) == settled
    for name in ("m", "T", "beta", "pilot_m"):
        if name in found.get_params():
            assert type(getattr(found, name)) is float


def test_a_rule_that_is_not_settled_has_no_memberships():
    for rule in (Fuzzy(), Entropy(), NoiseFuzzy(), NoiseFuzzy(2.0), Possibilistic("auto")):
        with pytest.raises(ValueError, match=r"a fit settles (m|T|delta); give a number"):
            rule.memberships(np.ones((2, 3)), np.ones(3))


def test_pilots():
    assert NoiseFuzzy(1.5).pilot == Fuzzy(1.5)
    assert NoiseFuzzy(1.5, delta=2.0).pilot is None
    assert Truncated(NoiseFuzzy(1.5), 2).pilot == Truncated(Fuzzy(1.5), 2)
    assert Truncated(NoiseFuzzy(1.5), 2).at_noise_distance(3.0) == Truncated(
        NoiseFuzzy(1.5, delta=3.0), 2
    )
    assert Possibilistic(pilot_m=1.5).pilot == Fuzzy(1.5)
    assert Fuzzy(1.5).pilot is None


def test_noise_by_the_general_estimator():
    """The same as by its own, to the bit."""
    rows = np.vstack([X, [[50.0, 50.0]]])
    one = FuzzyCMeans(2, noise=0.05, top_k=2, random_state=0).fit(rows)
    other = CMeans(2, rule=NoiseFuzzy(share=0.05), top_k=2, random_state=0).fit(rows)
    assert one.rule_ == other.rule_
    np.testing.assert_array_equal(one.memberships_.toarray(), other.memberships_.toarray())


def test_estimators_name_their_own_parameters():
    with pytest.raises(ValueError, match=r"FuzzyCMeans\(noise=2.0\): the share of the rows"):
        FuzzyCMeans(2, noise=2.0).fit(X)
    with pytest.raises(
        ValueError, match=r"FuzzyCMeans\(m=1\): m must be greater than 1; .* use KernelKMeans"
    ):
        FuzzyCMeans(2, m=1).fit(X)
    with pytest.raises(ValueError, match=r"NoiseFuzzy\(share=2.0\): the share of the rows"):
        NoiseFuzzy(share=2.0)


def test_all_can_be_saved():
    assert all(STORED[cls.__name__] is cls for cls in OWN.values())


def test_native_functions_are_there():
    named = re.findall(
        r'^    {"(.+?)", ', (FOLDER / "rules.h").read_text(encoding="utf-8"), re.MULTILINE
    )
    rules = [
        cmeans.rules.Fuzzy(2.0),
        cmeans.rules.Fuzzy(1.5),
        PrintedFuzzy(1.5, exponent=3.0),
        cmeans.rules.Hard(),
    ]
    rules += [
        cmeans.rules.Possibilistic(2.0),
        cmeans.rules.Possibilistic(1.5),
        cmeans.rules.SparsePossibilistic(p=0.3),
    ]
    priced = [
        cmeans.rules.SizedHard(),
        cmeans.rules.SizedFuzzy(1.5),
        cmeans.rules.SizedEntropy(0.5),
        cmeans.rules.NoiseMixture(1.0),
        cmeans.rules.StudentMixture(5.0, 3),
    ]
    rules += [cmeans.rules.NoiseFuzzy(1.5, delta=2.0), cmeans.rules.NoiseFuzzy(2.0, delta=3.0)]
    rules.insert(7, cmeans.rules.PolynomialFuzzy(0.4))
    assert {rule.native_functions.name for rule in (*rules, *priced)} == set(named)
    assert [rule.native_functions.noise for rule in rules[-2:]] == [2.0, 3.0]
    assert rules[6].native_functions.p == 0.3
    assert rules[1].native_functions.m == 1.5
    # of prices of zero
    assert (
        cmeans.rules.Entropy(1.0).native_functions
        == cmeans.rules.SizedEntropy(1.0).native_functions
    )
