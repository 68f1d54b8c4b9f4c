"""A rule with a parameter and a kernel with a width are one file each: those that the documentation
shows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import cmeans
from cmeans.cli.methods import METHODS, MethodSpec
from cmeans.cli.option_values import parameter_options
from cmeans.kernels import KERNELS
from cmeans.rules import RULES
from cmeans.runtime.stored_classes import STORED
from contracts.rule import RuleContract
from extending import imported

X = load_iris().data


@pytest.fixture(name="quadratic")
def _quadratic() -> Iterator[Any]:
    with imported("quadratic_rule") as module:
        yield module.QuadraticFuzzy


@pytest.fixture(name="matern")
def _matern() -> Iterator[Any]:
    with imported("matern_kernel") as module:
        yield module.Matern


with imported("quadratic_rule") as shown:

    class TestQuadraticFuzzy(RuleContract):
        rule = shown.QuadraticFuzzy(1.5)
        sure_at_centres = False

        @pytest.fixture(autouse=True)
        def importable(self, monkeypatch: pytest.MonkeyPatch) -> None:
            monkeypatch.setitem(sys.modules, "quadratic_rule", shown)

        def in_units(self, factor: float) -> Any:
            return self.rule.set_params(strength=1.5 * factor)


def saved_and_loaded(model: Any, tmp_path: Path) -> Any:
    cmeans.save(model, tmp_path / "model.safetensors")
    return cmeans.load(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    "words",
    [{}, {"kernel": "rbf"}, {"kernel": "rbf", "landmarks": 30}, {"kernel": "landmark_graph"}],
    ids=str,
)
def test_a_rule_is_one_file(quadratic: Any, words: dict[str, Any], tmp_path: Path) -> None:
    model = cmeans.CMeans(3, rule="quadratic_fuzzy", random_state=0, **words).fit(X)
    strength = model.rule_.strength
    assert 0 < strength < np.inf
    same = cmeans.CMeans(3, rule=quadratic(strength), random_state=0, **words).fit(X)
    np.testing.assert_array_equal(model.memberships_, same.memberships_)
    assert (np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_history_[0])).all()
    again = saved_and_loaded(same, tmp_path)
    assert again.rule == again.rule_ == quadratic(strength)
    np.testing.assert_array_equal(again.predict_proba(X), model.memberships_)
    assert clone(same).rule == quadratic(strength)


def test_a_rule_of_a_stream(quadratic: Any, tmp_path: Path) -> None:
    model = cmeans.StreamingFuzzyCMeans(3, rule=quadratic(), chunk_size=50, random_state=0).fit(X)
    assert isinstance(model.rule_, quadratic)
    again = saved_and_loaded(model, tmp_path).partial_fit(X[:20])
    assert again.rule_ == model.rule_


def test_a_rule_is_a_method_of_the_command(quadratic: Any) -> None:
    method = MethodSpec.of_rule("quadratic_fuzzy")
    options = {
        option.name: option for option in parameter_options({**METHODS, "quadratic_fuzzy": method})
    }
    assert options["strength"].help.startswith(
        "quadratic_fuzzy: The softness, in units of squared distances"
    )
    assert (options["strength"].names, options["strength"].default) == (("auto",), "auto")
    assert method.made(
        {"n_clusters": 3, "strength": options["strength"].value("0.5")}
    ).rule == quadratic(0.5)


@pytest.mark.parametrize("n_landmarks", [None, 40])
@pytest.mark.parametrize("gamma", ["scale", "median", 0.3])
def test_a_kernel_is_one_file(
    matern: Any, gamma: Any, n_landmarks: int | None, tmp_path: Path
) -> None:
    words = {"landmarks": n_landmarks, "random_state": 0}
    model = cmeans.KernelKMeans(3, kernel="matern", gamma=gamma, **words).fit(X)
    assert model.gamma_ == cmeans.KernelKMeans(3, kernel="rbf", gamma=gamma, **words).fit(X).gamma_
    assert model.kernel_ == matern(model.gamma_)
    given = cmeans.KernelKMeans(3, kernel=matern(gamma), **words).fit(X)
    np.testing.assert_array_equal(given.labels_, model.labels_)
    again = saved_and_loaded(given, tmp_path)
    assert (again.kernel, again.kernel_) == (matern(gamma), matern(model.gamma_))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_a_file_imports_nothing(tmp_path: Path) -> None:
    with imported("quadratic_rule") as module:
        model = cmeans.CMeans(3, rule=module.QuadraticFuzzy(), random_state=0).fit(X)
        cmeans.save(model, tmp_path / "model.safetensors")
    message = (
        r"model.safetensors: it holds an object of the class quadratic_rule.QuadraticFuzzy, "
        r"which is not known here: "
    )
    with pytest.raises(
        ValueError, match=message + r"import its module \(quadratic_rule\) first\.$"
    ):
        cmeans.load(tmp_path / "model.safetensors")


def test_the_tables_are_what_they_were() -> None:
    assert not {"quadratic_fuzzy", "matern"} & {*RULES, *KERNELS}
    assert not any("Quadratic" in name for name in STORED)
