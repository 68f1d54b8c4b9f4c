"""Words in a model file: what a fit refuses whatever its rows are, loading refuses, and nothing
more."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from every_estimator import PARAMETERS, STREAMS, SWEPT, build
from forged import forge, parts_of

X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 20, axis=0)
QUICK = {"n_jobs": 1, "max_iter": 2}
OWN = {"CMeans": {"rule": "possibilistic"}}  # which has words of its own
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
WORDS = [(name, word) for name in SWEPT for word in PARAMETERS[name]]
Saved = tuple[dict[str, Any], dict[str, np.ndarray]]  # the header of a model file, and its arrays
UNSAVED = ("engine",)


def made(name: str) -> Any:
    return build(
        name,
        n_clusters=2,
        **QUICK,
        **OWN.get(name, {}),
        **({"kernel": "rbf", "gamma": 0.1} if name in STREAMS else {}),
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Saved]:
    file, contents = tmp_path_factory.mktemp("models") / "model", {}
    for name in SWEPT:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cmeans.save(made(name).fit(X), file)
        contents[name] = parts_of(file.read_bytes())
    return contents


def with_word(source: Saved, target: Path, word: str, value: object) -> None:
    header, arrays = source
    changed = {**header, "params": {**header["params"], word: value}}
    forge(target, changed, arrays)


def refuses(model: object) -> bool:
    """Whether a fit does, for the word and not for what these rows take."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X)
        except ValueError as error:
            return re.search(r"need (at least )?\d+ bytes|there are \d+ rows", str(error)) is None
    return False


@pytest.mark.parametrize(("name", "word"), WORDS)
def test_loading_refuses_what_a_fit_refuses(
    name: str, word: str, saved: dict[str, Saved], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a text is a file, for some
    for said, (stored, value) in VALUES.items():
        with_word(saved[name], tmp_path / "model", word, stored)
        model = made(name).set_params(**{word: value})
        if refuses(model):
            with pytest.raises(
                ValueError, match=rf"(?s)model is damaged, or no model of this version: .*{word}"
            ):
                cmeans.load(tmp_path / "model")
        elif (word not in UNSAVED or value is None) and word != "rule":
            # the fitted rule must be of the same kind
            assert (
                cmeans.load(tmp_path / "model").get_params(deep=False).keys()
                == model.get_params(deep=False).keys()
            ), said


@pytest.mark.parametrize("word", UNSAVED)
def test_no_file_says_what_a_fit_runs_on_or_writes(
    word: str, saved: dict[str, Saved], tmp_path: Path
) -> None:
    with_word(saved["FuzzyCMeans"], tmp_path / "model", word, str(tmp_path / "anything"))
    with pytest.raises(ValueError, match=rf"model is damaged.*{word}="):
        cmeans.load(tmp_path / "model")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_words_set_after_a_fit_are_looked_at_before_a_file_is_written(tmp_path: Path) -> None:
    model = made("FuzzyCMeans").fit(X).set_params(n_init=0)
    with pytest.raises(
        ValueError, match=r"FuzzyCMeans\(n_init=0\): n_init must be a whole number of at least 1"
    ):
        cmeans.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    cmeans.save(model.set_params(n_init=2), tmp_path / "model")
    assert cmeans.load(tmp_path / "model").n_init == 2
