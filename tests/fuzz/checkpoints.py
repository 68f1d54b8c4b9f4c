"""Checkpoints that are damaged, or changed by somebody who knows the format.

A fit goes on from a damaged one to the same bits, or says in a line that it is damaged. One that
was changed with care may hold other numbers of the right shapes, from which the fit goes on to a
model, or it is refused too.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cmeans
from cmeans import Checkpoint
from fuzz.mutations import by_hand, changed_bytes
from fuzz.runner import Case, FoundError

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [4, 0, 0], [0, 4, 0]], 30, axis=0)
FITS: dict[str, Callable[..., Any]] = {
    "hard": lambda **words: cmeans.KernelKMeans(3, landmarks=12, n_init=2, **words),
    "fuzzy": lambda **words: cmeans.FuzzyCMeans(3, m=1.5, kernel="rbf", landmarks=12, **words),
    "plain": lambda **words: cmeans.FuzzyCMeans(3, **words),
    "possibilistic": lambda **words: cmeans.PossibilisticCMeans(
        3, kernel="rbf", landmarks=12, **words
    ),
    "adaptive": lambda **words: cmeans.AdaptivePossibilisticCMeans((1, 4), **words),
    "sequential": lambda **words: cmeans.SequentialPossibilisticCMeans((1, 4), **words),
    "two steps": lambda **words: cmeans.TwoStepKernelKMeans(3, landmarks=40, n_init=2, **words),
    "batched": lambda **words: cmeans.ProbabilisticKMeans(3, solver="batched", n_init=2, **words),
    "fagp": lambda **words: cmeans.ProbabilisticKMeans(3, solver="fagp", max_iter=40, **words),
}


def fitted(name: str, checkpoint: Any) -> Any:
    return FITS[name](
        random_state=3, engine=cmeans.ThreadEngine(n_jobs=1, checkpoint=checkpoint)
    ).fit(X)


def prepared(folder: Path) -> Case:
    place, seeds = folder / "fit", dict[str, tuple[bytes, Any]]()
    beside: dict[str, bytes] = {}
    warnings.simplefilter("ignore", UserWarning)
    for name in FITS:
        model = fitted(name, Checkpoint(place, sweeps=3))
        seeds[name] = place.read_bytes(), model
        beside |= {file.name: file.read_bytes() for file in folder.glob("fit.rows-*")}
        place.rename(folder / "another")  # so that the arrays beside the next have other names

    def case(dice: random.Random) -> str:
        name = dice.choice(sorted(seeds))
        data, whole = seeds[name]
        careful = dice.random() < 0.4
        others = [other for other, _ in seeds.values()]
        for file, content in beside.items():
            (folder / file).write_bytes(
                changed_bytes(content, dice) if dice.random() < 0.05 else content
            )
        place.write_bytes(
            by_hand(data, dice, folder / "scratch")
            if careful
            else changed_bytes(data, dice, others)
        )
        try:
            again = fitted(name, Checkpoint(place, resume=True))
        except ValueError as error:
            if not careful and (not str(error).startswith("checkpoint: ") or "\n" in str(error)):
                raise FoundError("a refusal that names no checkpoint, or not in a line") from error
            return "refused"
        if careful:
            if len(again.labels_) != len(X) or not np.isfinite(again.objective_):
                raise FoundError(f"objective {again.objective_}")
            return "went on"
        if not np.array_equal(again.labels_, whole.labels_) or again.objective_ != whole.objective_:
            raise FoundError("a damaged file leads to another fit, and nothing is said")
        return "the same"

    return case
