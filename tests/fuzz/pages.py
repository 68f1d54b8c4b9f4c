"""Pages to explore clusters with, of every estimator, with hostile names and texts on them.

A page is refused in a line, or is one file: its data is JSON, nothing in it comes from a network,
and no name or text in it is markup.
"""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from cmeans.inspection import explore
from every_estimator import CLASSES, EVERY_NAME, FINDING, known
from fuzz.runner import Case, FoundError

HOSTILE = "</script><img src=x onerror=alert(1)>"
TEXTS = (
    HOSTILE,
    "",
    "a",
    "\x1b[31m",
    "\u2028",
    "é",
    '"',
    "'",
    "\\",
    "<!--",
    "]]>",
    "\ud800",
    "NaN",
)


def rows_of(dice: random.Random) -> np.ndarray:
    rng = np.random.default_rng(dice.getrandbits(32))
    n, d = dice.choice((1, 3, 20, 60)), dice.choice((1, 2, 3, 6))
    x = rng.normal(size=(n, d)) + 6.0 * rng.integers(0, 3, (n, 1))
    ways = (x, x * 10.0 ** rng.integers(-30, 30), np.round(x), np.zeros_like(x), x + 1e9)
    return ways[dice.choice((0, 0, 0, 0, 1, 2, 3, 4))]


def words_of(dice: random.Random, x: np.ndarray) -> dict[str, Any]:
    n, d = x.shape

    def texts(count: int) -> list[str]:
        return [f"{dice.choice(TEXTS)}{dice.randrange(9)}" for _ in range(count)]

    said: dict[str, Any] = {
        "feature_names": texts(d),
        "ids": texts(dice.choice((n, n, n + 1))),
        "texts": texts(n),
        "coordinates": dice.choice((x[:, :1].repeat(2, axis=1), {HOSTILE: np.zeros((n, 2))}, x)),
        "against": x[: dice.choice((0, 1, n))],
        "n_clusters": dice.choice(((), (2,), (2, 3), (0,), (10**9,))),
        "sample_weight": np.ones(n),
        "title": dice.choice(TEXTS),
        "theme": dice.choice(("auto", "dark", "no")),
        "max_rows": dice.choice((1, 7, 10**9, 0, -1)),
    }
    words = dice.sample(sorted(said), dice.choice((0, 1, 2, 4)))
    return {"n_clusters": (), **{word: said[word] for word in words}}


def prepared(folder: Path) -> Case:
    def case(dice: random.Random) -> str:
        name, x = dice.choice(EVERY_NAME), rows_of(dice)
        number = (1, 3) if name in FINDING else 3
        given = known(name, {"n_clusters": number, "random_state": 0, "max_iter": 20})
        words, file = words_of(dice, x), folder / "page.html"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            try:
                model = CLASSES[name]().set_params(**given).fit(x)
            except ValueError:
                return "no fit"
            try:
                explore(model, x, file, **words)
            except ValueError as error:
                if not 10 < len(str(error)) < 2000:
                    raise FoundError(f"{name}, {words}: no more than {error!r}") from error
                return "refused"
            except Exception as error:
                raise FoundError(f"{name}, {words}, {x!r}: {type(error).__name__}") from error
        return looked_at(file.read_text(encoding="utf-8"), f"{name}, {words}")

    return case


def looked_at(page: str, which: str) -> str:
    if HOSTILE in page or re.search(r"<img[^>]+onerror", page):
        raise FoundError(f"{which}: markup that came from data")
    if re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page):
        raise FoundError(f"{which}: loads something")
    return "page"
