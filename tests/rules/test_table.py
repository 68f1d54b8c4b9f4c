"""A rule is one file: the table finds it, and whatever names rules asks the table."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import cmeans.rules
from cmeans import CMeans
from cmeans.cli.option_values import METHODS
from cmeans.native.sources import FOLDER
from cmeans.papers import PrintedFuzzy
from cmeans.persistence.model_file import OBJECTS
from cmeans.rules import RULES, Rule

X = np.random.default_rng(0).normal(size=(40, 2))
ON_RULES = "from cmeans.rules.base import Rule\n\n\nclass Halved(Rule):\n    name = 'halved'\n    made_from = ()\n"


def test_every_class_of_the_folder_is_there_by_its_own_name():
    found = []
    for file in Path(cmeans.rules.__file__).parent.glob("*.py"):
        found += [node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef) and file.stem != "base"]
    assert sorted(found) == sorted(cls.__name__ for cls in RULES.values())
    assert all(name == cls.name != "" for name, cls in RULES.items())
    assert {cls.__name__ for cls in RULES.values()} <= set(cmeans.rules.__all__)


def test_a_further_file_is_a_further_rule(tmp_path, monkeypatch):
    (tmp_path / "halved.py").write_text(ON_RULES)
    monkeypatch.setattr(cmeans.rules, "__path__", [*cmeans.rules.__path__, str(tmp_path)])
    found = cmeans.rules._by_name()
    assert {name: cls.__name__ for name, cls in found.items() if name not in RULES} == {"halved": "Halved"}
    assert all(found[name] is cls for name, cls in RULES.items())


@pytest.mark.parametrize("name", [name for name, cls in RULES.items() if cls.made_from is not None])
@pytest.mark.filterwarnings("ignore:.*have collapsed:UserWarning")  # one cloud is no two clusters
def test_rules_that_are_made_by_name(name):
    model = CMeans(2, rule=name, kernel="linear", random_state=0).fit(X)
    assert type(model._rule) is RULES[name]
    assert name in METHODS
    assert hasattr(model, "predict_proba") == RULES[name].rows_sum_to_one
    assert hasattr(model, "typicality") != RULES[name].rows_sum_to_one


def test_rules_that_are_not_are_refused_by_name():
    assert "sparse" in RULES
    with pytest.raises(ValueError, match=r"rule='sparse'.*known are") as told:
        CMeans(2, rule="sparse").fit(X)
    assert all((f"'{name}'" in str(told.value).partition("known are")[2]) == (cls.made_from is not None) for name, cls in RULES.items())


def test_all_can_be_saved():
    assert all(OBJECTS[cls.__name__] is cls for cls in RULES.values())


def test_native_functions_are_there():
    named = re.findall(r'^    {"(.+?)", ', (FOLDER / "rules.h").read_text(encoding="utf-8"), re.MULTILINE)
    rules = [cmeans.rules.Fuzzy(2.0), cmeans.rules.Fuzzy(1.5), PrintedFuzzy(1.5, exponent=3.0), cmeans.rules.Hard()]
    rules += [cmeans.rules.Possibilistic(2.0), cmeans.rules.Possibilistic(1.5), cmeans.rules.SparsePossibilistic(p=0.3)]
    priced = [cmeans.rules.SizedHard(), cmeans.rules.SizedFuzzy(1.5), cmeans.rules.SizedEntropy(0.5)]
    rules += [cmeans.rules.NoiseFuzzy(1.5, delta=2.0), cmeans.rules.NoiseFuzzy(2.0, delta=3.0)]
    rules.insert(7, cmeans.rules.PolynomialFuzzy(0.4))
    assert {rule.native_functions.name for rule in (*rules, *priced)} == set(named)
    assert [rule.native_functions.noise for rule in rules[-2:]] == [2.0, 3.0]
    assert rules[6].native_functions.p == 0.3
    assert rules[1].native_functions.m == 1.5
    assert cmeans.rules.Entropy(1.0).native_functions == cmeans.rules.SizedEntropy(1.0).native_functions  # of prices of zero


def test_a_rule_of_ones_own_has_no_name():
    assert Rule.name == ""
    assert Rule.made_from is None
