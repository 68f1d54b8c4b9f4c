"""Model files that are damaged, or changed by somebody who knows the format.

A file that is damaged is refused, or predicts what it did before. One that was changed with care is
refused, or holds some model, which predicts numbers or says in a ValueError why it cannot.
"""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import cmeans
from cmeans import Sizes
from cmeans.cli import main
from cmeans.persistence.model_file import read_metadata
from cmeans.rules import Entropy
from every_estimator import EVERY_NAME, build
from forged import digest_in
from fuzz.mutations import by_hand, changed_bytes
from fuzz.runner import Case, FoundError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 20, axis=0)
NEW = rng.normal(size=(7, 3)) * 4
MODELS: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: build(name, kernel="linear") for name in EVERY_NAME},
    "landmarks": lambda: cmeans.FuzzyCMeans(3, kernel="rbf", landmarks=9, random_state=0),
    "exact": lambda: cmeans.KernelKMeans(3, landmarks=None, kernel="laplacian", random_state=0),
    "graph": lambda: cmeans.KernelKMeans(3, kernel="landmark_graph", landmarks=12, random_state=0),
    "noise": lambda: cmeans.FuzzyCMeans(3, noise=0.1, random_state=0),
    "entropy": lambda: cmeans.CMeans(3, rule=Entropy(T=0.2), random_state=0),
    "sizes": lambda: cmeans.KernelKMeans(3, kernel="linear", sizes=Sizes(least=15), random_state=0),
    "stream of landmarks": lambda: cmeans.StreamingFuzzyCMeans(
        3, kernel="rbf", gamma=0.1, chunk_size=30, random_state=0
    ),
}
QUESTIONS = ("predict", "memberships", "transform", "outlier_score")


def saved(folder: Path) -> dict[str, tuple[bytes, Any]]:
    """Files of all kinds of models, and rows for each."""
    files = {}
    for name, make in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cmeans.save(make().fit(X), folder / "model")
        files[name] = (folder / "model").read_bytes(), NEW
    cmeans.save(
        cmeans.FuzzyCMeans(3, kernel="rbf", landmarks=9, random_state=0).fit(sparse.csr_array(X)),
        folder / "model",
    )
    files["csr"] = (folder / "model").read_bytes(), sparse.csr_array(NEW)
    return files


def answers(model: Any, rows: Any) -> list[np.ndarray]:
    """What a model says of rows; all of it numbers."""
    said = [np.asarray(getattr(model, question)(rows)) for question in QUESTIONS]
    for question, answer in zip(QUESTIONS, said, strict=True):
        if len(answer) != rows.shape[0] or not np.isfinite(answer).all():
            raise FoundError(f"{question} gives {answer!r}")
    return said


def prepared(folder: Path) -> Case:
    files, place = saved(folder), folder / "changed"
    for data, rows in files.values():
        place.write_bytes(data)
        answers(cmeans.load(place), rows)  # before anything is measured
    others = [other for other, _ in files.values()]
    # the beginning of one file and the end of another may be all of the other
    digests = set(map(digest_in, others))

    def case(dice: random.Random) -> str:
        data, rows = files[dice.choice(sorted(files))]
        careful = dice.random() < 0.5
        changed = (
            by_hand(data, dice, folder / "scratch")
            if careful
            else changed_bytes(data, dice, others)
        )
        place.write_bytes(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            outcome = _loaded(place, data, rows, careful, dice)
        if outcome == "another" and digest_in(changed) not in digests:
            raise FoundError("a damaged file predicts something else, and says nothing")
        return outcome

    return case


def _loaded(place: Path, data: bytes, rows: Any, careful: bool, dice: random.Random) -> str:
    if dice.random() < 0.1:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            code = main(["info", str(place)])
        if code not in (0, 2) or "Traceback" in said.getvalue():
            raise FoundError(f"info ends with {code}: {said.getvalue()}")
    try:
        read_metadata(place)
    except ValueError as error:
        _one_line(error)
    try:
        model = cmeans.load(place)
    except ValueError as error:
        _one_line(error)
        return "refused"
    if not careful:
        return _the_same(model, place, data, rows)
    try:
        answers(model, rows)
        if hasattr(model, "partial_fit") and not sparse.issparse(rows):
            model.partial_fit(X[:9] + 1.0)
    except ValueError:
        return "loaded, and refuses rows"
    return "loaded"


def _the_same(model: Any, place: Path, data: bytes, rows: Any) -> str:
    said = answers(model, rows)
    place.write_bytes(data)
    before = answers(cmeans.load(place), rows)
    return "the same" if all(map(np.array_equal, before, said)) else "another"


def _one_line(error: ValueError) -> None:
    if not str(error) or len(str(error)) > 1000 or "\n" in str(error):
        raise FoundError(f"says {len(str(error))} characters: {str(error)[:200]!r}") from error
