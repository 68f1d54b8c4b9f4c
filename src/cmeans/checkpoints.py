"""How far a fit has come, kept in a file from which it can go on.

A fit is a fixed order of solves (samples, starts, the pilot, clusters that grow), each a loop of sweeps, and everything between them
hangs on the rows and the random state alone. So a checkpoint is the random state at the beginning and, solve by solve, where its loop
stands: a fit that resumes does the same again, but for the sweeps that it finds done.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import host_float64
from .blocks import Blocks
from .centres import Centres
from .complaints import warn
from .packing import UNREADABLE, Packer, read_packed, unpacked, write_packed
from .signals import held_back
from .statistics import Own, Statistics
from .sweep import State

KEY = "cmeans checkpoint"  # of the metadata that holds the header
FORMAT = 1
OBJECTS: dict[str, type[Any]] = {cls.__name__: cls for cls in (Centres, Own, State, Statistics)}
LOOKED_AT = 1000  # rows by which an input is known again

Standing = dict[str, Any]  # where the loop of one solve stands, in values that can be packed


@dataclass(frozen=True)
class Checkpoint:
    """A file that keeps how far a fit has come.

    It is written whole, under another name first, so that it is there after whatever happens; also when the fit is interrupted or ends
    with an error. A fit that resumes needs the same rows and words (but for n_jobs, engine, memory_budget and verbose) and ends, on one
    machine, in the same bits.

    Parameters
    ----------
    path : str or path
        The file. One that is there is written over, unless it is resumed from.
    sweeps : int or None, default=None
        Write it every so many sweeps.
    minutes : float or None, default=5.0
        Write it when so much time has gone by since the last time; looked at after each sweep.
    resume : bool, default=False
        Go on from what the file holds, which must then be there.

    Raises
    ------
    ValueError
        By the fit: for numbers out of range, and where there is nothing to resume from, or what was begun with other rows or words.

    Examples
    --------
    >>> import cmeans, os, tempfile
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "fit.checkpoint")
    ...     first = cmeans.FuzzyCMeans(2, kernel="linear", random_state=0, checkpoint=cmeans.Checkpoint(file, sweeps=1)).fit(X)
    ...     again = cmeans.FuzzyCMeans(2, kernel="linear", random_state=0, checkpoint=cmeans.Checkpoint(file, resume=True)).fit(X)
    >>> first.objective_ == again.objective_
    True
    """

    path: str | os.PathLike[str]
    sweeps: int | None = None
    minutes: float | None = 5.0
    resume: bool = False


class Page:
    """One solve of a fit."""

    def __init__(self, journal: Journal | None, standing: Standing | None) -> None:
        self._journal = journal
        self.standing = standing  # where it stood when the checkpoint was written; None: not begun

    def note(self, standing: Standing) -> None:
        """A sweep is over, and the loop stands there."""
        self.standing = standing
        if self._journal is not None:
            self._journal.sweep_ended()

    def breaks_off(self, standing: Standing) -> None:
        """Nothing more will come."""
        self.standing = standing
        if self._journal is not None:
            self._journal.write()

    def ends(self, standing: Standing) -> None:
        """The solve is over."""
        self.standing = standing


class Journal:
    """All solves of a fit, in their order, and the file that they are kept in."""

    def __init__(self, checkpoint: Checkpoint, identity: Mapping[str, Any], rng: np.random.RandomState) -> None:
        self._checkpoint, self._identity = checkpoint, dict(identity)
        self._path = Path(checkpoint.path)
        self._pages: list[Page] = []
        self._found: list[Standing] = []
        self._sweeps, self._written = 0, time.monotonic()
        self.rng = rng
        if checkpoint.resume:
            self._resume()
        self._began = self.rng.get_state(legacy=False)

    def turn(self) -> Page:
        """The next solve."""
        number = len(self._pages)
        self._pages.append(Page(self, self._found[number] if number < len(self._found) else None))
        return self._pages[-1]

    def sweep_ended(self) -> None:
        """Write it, if it is time."""
        self._sweeps += 1
        every, minutes = self._checkpoint.sweeps, self._checkpoint.minutes
        late = minutes is not None and time.monotonic() - self._written >= 60.0 * minutes
        if late or (every is not None and self._sweeps % every == 0):
            self.write()

    def write(self) -> None:
        """What is known now. A fit does not end because this cannot be written."""
        packer = Packer(OBJECTS)
        keys = self._began["state"]
        header = {
            "format": FORMAT,
            "identity": self._identity,
            "random": {"key": packer.encode(keys["key"], "random"), "pos": int(keys["pos"])},
            "gauss": [int(self._began["has_gauss"]), float(self._began["gauss"])],
            "pages": [
                packer.encode(page.standing, f"page{number}") for number, page in enumerate(self._pages) if page.standing is not None
            ],
        }
        try:
            with held_back():
                write_packed(self._path, KEY, header, packer.arrays)
        except ValueError as error:
            warn(f"checkpoint: {error} The fit goes on without.")
        self._written = time.monotonic()

    def _resume(self) -> None:
        if not self._path.is_file():
            raise ValueError(f"checkpoint: there is no {self._path} to resume from; take resume=False to begin anew.")
        try:
            header, arrays = read_packed(self._path, KEY)
            if header is None or header["format"] != FORMAT:
                raise ValueError("it was not written by this version")
            known = header["identity"]
            self.rng = np.random.RandomState()
            state = {"key": unpacked(header["random"]["key"], arrays, OBJECTS), "pos": int(header["random"]["pos"])}
            has_gauss, gauss = header["gauss"]
            self.rng.set_state({"bit_generator": "MT19937", "state": state, "has_gauss": int(has_gauss), "gauss": float(gauss)})
            self._found = [unpacked(page, arrays, OBJECTS) for page in header["pages"]]
        except UNREADABLE as error:
            raise ValueError(f"checkpoint: {self._path} is damaged, or no checkpoint of this version: {error}.") from None
        for word in dict.fromkeys([*self._identity, *known]):
            if known.get(word) != self._identity.get(word):
                raise ValueError(
                    f"checkpoint: {self._path} was begun with {word}={known.get(word)!r}, this fit has {self._identity.get(word)!r}; "
                    "resume with the same rows and words, or take resume=False."
                )


_kept: ContextVar[Journal | None] = ContextVar("cmeans_journal", default=None)


@contextmanager
def kept_in(journal: Journal | None) -> Iterator[None]:
    """Solves inside the block (of this thread) are pages of a journal."""
    token = _kept.set(journal)
    try:
        yield
    finally:
        _kept.reset(token)


def next_page() -> Page:
    """Of the journal that is kept, if one is."""
    journal = _kept.get()
    return Page(None, None) if journal is None else journal.turn()


def checked_checkpoint(value: Any, owner: str) -> Checkpoint | None:
    """The word `checkpoint`."""
    if value is None:
        return None
    kept = Checkpoint(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(kept, Checkpoint):
        raise ValueError(f"{owner}(checkpoint={value!r}): give a path or a Checkpoint.")
    if kept.sweeps is not None and (isinstance(kept.sweeps, bool) or not isinstance(kept.sweeps, int) or kept.sweeps < 1):
        raise ValueError(f"{owner}(checkpoint=Checkpoint(sweeps={kept.sweeps!r})): give a whole number of at least 1, or None.")
    if kept.minutes is not None and not 0 <= kept.minutes < float("inf"):
        raise ValueError(f"{owner}(checkpoint=Checkpoint(minutes={kept.minutes!r})): give minutes of at least 0, or None.")
    return kept


def fingerprint(blocks: Blocks) -> dict[str, Any]:
    """What an input is known again by: its size, type and first rows, and the sum of its weights."""
    n, d = blocks.x.shape
    first = blocks.cut(0, min(int(n), LOOKED_AT)).x
    digest = hashlib.sha256(np.ascontiguousarray(host_float64(first)).tobytes()).hexdigest()
    return {
        "rows": int(n),
        "columns": int(d),
        "dtype": str(blocks.x.dtype).rpartition(".")[2],
        "first rows": digest,
        "weight": float(blocks.weight.sum()),
    }


def spelt(words: Mapping[str, Any]) -> dict[str, str]:
    """Words of an estimator, in text that tells different ones apart."""
    return {word: _spelt(value) for word, value in words.items()}


def _spelt(value: Any) -> str:
    if hasattr(value, "shape") or isinstance(value, (list, tuple)):
        digest = hashlib.sha256(np.ascontiguousarray(host_float64(np.asarray(value) if not hasattr(value, "shape") else value)).tobytes())
        return f"array {getattr(value, 'shape', len(value))} {digest.hexdigest()[:16]}"
    return f"function {value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)
