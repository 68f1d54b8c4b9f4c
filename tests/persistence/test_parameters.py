"""Words in a model file: what a fit refuses whatever its rows are, loading refuses, and nothing more."""

from __future__ import annotations

import inspect
import json
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import cmeans

X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 20, axis=0)
ESTIMATORS = {
    cmeans.KernelKMeans: {},
    cmeans.TwoStepKernelKMeans: {},
    cmeans.FuzzyCMeans: {},
    cmeans.PossibilisticCMeans: {"eta_scale": 0.1},
    cmeans.CMeans: {"rule": "possibilistic", "eta_scale": 0.1},
    cmeans.ProbabilisticKMeans: {},
    cmeans.AdaptivePossibilisticCMeans: {},
    cmeans.SequentialPossibilisticCMeans: {},
    cmeans.StreamingFuzzyCMeans: {"gamma": 0.1},
    cmeans.KernelPatchClustering: {"gamma": 0.1},
}
# As JSON has them, and as they come out of it.
VALUES = {
    "empty list": ({"$list": []}, []),
    "empty mapping": ({"$dict": {}}, {}),
    "text": ("nonsense", "nonsense"),
    "number as text": ("1", "1"),
    "nothing": (None, None),
    "true": (True, True),
    "zero": (0, 0),
    "negative": (-1, -1),
    "fraction": (1.5, 1.5),
    "infinity": (math.inf, math.inf),
    "not a number": (math.nan, math.nan),
    "mixed": ({"$list": [1, "a", None]}, [1, "a", None]),
    "ragged": ({"$list": [{"$list": [1.0]}, {"$list": [1.0, 2.0]}]}, [[1.0], [1.0, 2.0]]),
    "a rule": ({"$object": "Hard", "fields": {}}, cmeans.rules.Hard()),
    "a kernel": ({"$object": "RBF", "fields": {"gamma": 1.0}}, cmeans.kernels.RBF(1.0)),
}
WORDS = [(cls, word) for cls in ESTIMATORS for word in inspect.signature(cls).parameters]
UNSAVED = ("engine", "checkpoint")


def build(cls: type) -> object:
    first = "max_clusters" if "max_clusters" in inspect.signature(cls).parameters else "n_clusters"
    return cls(**{first: 2, "random_state": 0, "n_jobs": 1, "max_iter": 20, **ESTIMATORS[cls]})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[type, Path]:
    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cls in ESTIMATORS:
            cmeans.save(build(cls).fit(X), folder / cls.__name__)
    return {cls: folder / cls.__name__ for cls in ESTIMATORS}


def with_word(source: Path, target: Path, word: str, value: object) -> None:
    with safe_open(source, framework="numpy") as file:
        header = json.loads(file.metadata()["cmeans"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    header["params"][word] = value
    save_file(arrays, target, {"cmeans": json.dumps(header)})


def refuses(model: object) -> bool:
    """Whether a fit does, for the word and not for what these rows take."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X)
        except ValueError as error:
            return re.search(r"need (at least )?\d+ bytes", str(error)) is None
    return False


@pytest.mark.parametrize(("cls", "word"), WORDS, ids=lambda value: getattr(value, "__name__", value))
def test_loading_refuses_what_a_fit_refuses(cls: type, word: str, saved: dict[type, Path], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a text is a file, for some
    for name, (stored, value) in VALUES.items():
        with_word(saved[cls], tmp_path / "model", word, stored)
        model = build(cls).set_params(**{word: value})
        if refuses(model):
            with pytest.raises(ValueError, match=rf"(?s)model is damaged, or no model of this version: .*{word}"):
                cmeans.load(tmp_path / "model")
        elif (word not in UNSAVED or value is None) and word != "rule":  # the fitted rule must be of the same kind
            assert cmeans.load(tmp_path / "model").get_params(deep=False).keys() == model.get_params(deep=False).keys(), name


@pytest.mark.parametrize("word", UNSAVED)
def test_no_file_says_what_a_fit_runs_on_or_writes(word: str, saved: dict[type, Path], tmp_path: Path) -> None:
    with_word(saved[cmeans.FuzzyCMeans], tmp_path / "model", word, str(tmp_path / "anything"))
    with pytest.raises(ValueError, match=rf"model is damaged.*{word}="):
        cmeans.load(tmp_path / "model")


def test_words_set_after_a_fit_are_looked_at_before_a_file_is_written(tmp_path: Path) -> None:
    model = build(cmeans.FuzzyCMeans).fit(X).set_params(n_init=0)
    with pytest.raises(ValueError, match=r"FuzzyCMeans\(n_init=0\): n_init must be a whole number of at least 1"):
        cmeans.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    cmeans.save(model.set_params(n_init=2), tmp_path / "model")
    assert cmeans.load(tmp_path / "model").n_init == 2
