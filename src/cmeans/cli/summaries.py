"""The JSON that a command prints: plain values only, so that any other program can read it."""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.spelling import one_line

_OTHERS_BUSINESS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


def as_json(summary: Mapping[str, Any]) -> str:
    return json.dumps(plain(summary), indent=2, allow_nan=False, ensure_ascii=False)


def show(summary: Mapping[str, Any]) -> None:
    """The one thing that goes to stdout."""
    print(as_json(summary), file=sys.stdout, flush=True)


def plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's; what JSON has no word for (NaN, infinity) as null."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def sizes(labels: NDArray[Any], n_clusters: int) -> dict[str, Any]:
    """How many rows carry each label, and how many are noise."""
    return {"sizes": np.bincount(labels[labels >= 0], minlength=n_clusters), "noise": int((labels < 0).sum())}


class Stopwatch:
    """Seconds of the parts of a job."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)


@contextmanager
def caught_warnings(tell: Callable[[str], None]) -> Iterator[list[str]]:
    """Collect warnings meant for the user, each once; when the block ends, well or not, they are told and in the list."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in _OTHERS_BUSINESS:  # for programmers, not for users of a command
            warnings.simplefilter("ignore", category)
        try:
            yield texts
        finally:
            texts.extend(dict.fromkeys(one_line(warning.message) for warning in caught))
            for text in texts:
                tell(text)
