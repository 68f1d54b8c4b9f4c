"""One piece of work as it lies on disk: `job.json` with numbers and words, one .npy file an
array."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Answer = dict[str, np.ndarray]  # labels (n,), centres (c, d)
# what is timed, and what makes an answer of its result
Played = tuple[Callable[[], Any], Callable[[Any], Answer]]


class Job:
    """The words as attributes, and arrays that are read when asked for."""

    def __init__(self, folder: Path, words: dict[str, Any] | None = None) -> None:
        self._folder = folder
        self._arrays: dict[str, np.ndarray] = {}
        self.words: dict[str, Any] = {
            **json.loads((folder / "job.json").read_text()),
            **(words or {}),
        }

    def __getattr__(self, name: str) -> Any:
        if name in self.words:
            return self.words[name]
        if name not in self._arrays:
            path = self._folder / f"{name}.npy"
            if not path.exists():
                raise AttributeError(f"this job has no {name}")
            self._arrays[name] = np.load(path)
        return self._arrays[name]

    @property
    def rows(self) -> np.ndarray:
        """(n, d) the rows in the dtype that the contestant was asked to take."""
        return np.ascontiguousarray(self.x, dtype=self.dtype)

    def has(self, name: str) -> bool:
        """Whether there is such a word or array."""
        return name in self.words or (self._folder / f"{name}.npy").exists()


def write(folder: Path, words: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """A job on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps(words))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
