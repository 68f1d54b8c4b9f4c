"""The JSON that a command prints: plain values only, for any other program."""

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

from ..data.files.spelling import one_line
from .standard_streams import standard_output

_OTHERS_BUSINESS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


def as_json(summary: Mapping[str, Any]) -> str:
    text = json.dumps(plain(summary), indent=2, allow_nan=False, ensure_ascii=False)
    return text.encode(errors="backslashreplace").decode()  # names of files that are not UTF-8; JSON has the same escapes


def show(summary: Mapping[str, Any], needed: bool = False) -> None:
    """Write the summary to stdout; where stdout is closed, an error if the command has no other output."""
    if sys.stdout is None and not needed:
        return
    with standard_output() as stream:
        print(as_json(summary), file=stream, flush=True)


def plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays to Python's; values that JSON lacks (NaN, infinity) become None."""
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
    """Number of rows of each label, and of noise."""
    return {"sizes": np.bincount(labels[labels >= 0], minlength=n_clusters), "noise": int((labels < 0).sum())}


class Stopwatch:
    """Seconds that the parts of a command take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)


@contextmanager
def caught_warnings(tell: Callable[[str], None]) -> Iterator[list[str]]:
    """Collect warnings for the user, each once; when the block ends, even by an error, they are reported and in the list."""
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
