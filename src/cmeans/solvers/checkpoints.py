"""Progress of a fit, kept in a file from which it can go on.

A fit is a fixed order of solves (samples, starts, the pilot, clusters that grow), each a loop of
sweeps, and everything between them hangs on the rows and the random state alone. So a checkpoint is
the random state at the beginning and, for each solve by its key, where its loop stands: a fit that
resumes does the same again, but for the sweeps that it finds done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.addresses import place
from ..data.arrays import Array
from ..runtime.parameter_object import ParameterObject
from ..runtime.signals import held_back
from ..runtime.user_warnings import one_line, warn
from ..runtime.version import __version__
from ..storage.array_file import StoredArray, remove_arrays, write_array
from ..storage.atomic import WriteError, try_writing
from ..storage.codec import UNREADABLE, Packer, read_packed, text_in, unpacked, write_packed

KEY = "cmeans checkpoint"  # of the metadata that holds the header
FORMAT = 3

Packed = dict[str, Any]  # where the loop of one solve stands, in values that a file can hold


class DamagedError(ValueError):
    """A checkpoint that is damaged; the message names it."""


@dataclass(frozen=True)
class Beside:
    """A large array of a solve, which is kept in a file of its own beside the checkpoint."""

    array: npt.NDArray[Any]


@dataclass(frozen=True)
class FoundBeside:
    """An array that a checkpoint has kept beside it."""

    checkpoint: Path
    stored: StoredArray

    def read_into(self, out: npt.NDArray[Any]) -> None:
        """Fill an array of the same shape and type."""
        try:
            self.stored.read_into(self.checkpoint.parent, out)
        except (OSError, ValueError) as error:
            raise _damaged(self.checkpoint, error) from None


@dataclass(frozen=True, repr=False)
class Checkpoint(ParameterObject):
    """A file that keeps how far a fit has come.

    It is written whole, under another name first, so that it is there after whatever happens; also
    when the fit is interrupted or ends with an error. A fit that resumes needs the same rows and
    parameters (but for n_jobs, engine and verbose); on one machine it ends in the same bits.

    Parameters
    ----------
    path : str or path
        The file. A checkpoint that is there is written over, unless it is resumed from; any other
        file is refused.
    sweeps : int or None, default=None
        Write it every so many sweeps; of a stream, chunks.
    minutes : float or None, default=5.0
        Write it when so much time has gone by since the last time; looked at after each sweep.
    resume : bool, default=False
        Go on from what the file holds, which must then be there.

    Raises
    ------
    ValueError
        By the fit: for numbers out of range, where the file is something else than a checkpoint,
        and where there is nothing to resume from, what there is was begun with other rows or
        parameters, or is damaged.
    OSError
        By the fit, before it begins: where the file cannot be written. Later that is a warning, and
        the fit goes on without.

    Examples
    --------
    >>> import cmeans, os, tempfile
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = cmeans.Checkpoint(os.path.join(folder, "fit.checkpoint"), sweeps=1)
    ...     engine = cmeans.ThreadEngine(checkpoint=kept)
    ...     model = cmeans.FuzzyCMeans(2, random_state=0, engine=engine)
    ...     first = model.fit(X).objective_
    ...     model = model.set_params(engine__checkpoint__resume=True).fit(X)
    >>> model.objective_ == first
    True
    """

    path: str | os.PathLike[str]
    sweeps: int | None = None
    minutes: float | None = 5.0
    resume: bool = False


class CheckpointSection:
    """One solve of a fit."""

    def __init__(self, log: CheckpointLog | None = None, found: Packed | None = None) -> None:
        self._log = log
        self.found = found  # where it stood when the checkpoint was written; None: not begun
        self._latest: Callable[[], Packed | None] = lambda: found

    @property
    def latest(self) -> Packed | None:
        """The packed state of the solve; None before it has begun."""
        return self._latest()

    def note(self, packed: Callable[[], Packed], sweeps: int = 1) -> None:
        """A sweep is over, or several; the function says where the solve stands, whenever it is
        asked."""
        self._latest = packed
        if self._log is not None:
            self._log.sweeps_ended(sweeps)

    def break_off(self, packed: Callable[[], Packed]) -> None:
        """The solve ends early."""
        self._latest = packed
        if self._log is not None:
            self._log.write()

    def end(self, packed: Callable[[], Packed]) -> None:
        """The solve is over."""
        self._latest = packed


class CheckpointLog:
    """All solves of a fit, by their keys, and the file that they are kept in."""

    def __init__(
        self, checkpoint: Checkpoint, identity: Mapping[str, Any], rng: np.random.RandomState
    ) -> None:
        self._checkpoint, self._identity = checkpoint, {"version": __version__, **identity}
        self._path = place(checkpoint.path)
        self._sections: dict[str, CheckpointSection] = {}
        self._found: dict[str, Packed] = {}
        self._sweeps, self._written = 0, time.monotonic()
        # names of arrays that were written for a checkpoint that is not there yet
        self._fresh: list[str] = []
        self.rng = rng
        check_place(checkpoint)
        if checkpoint.resume:
            self._resume()
        self._began = self.rng.get_state(legacy=False)

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Blame the checkpoint for what a fit inside the block stumbles over where no fit should:
        it may have been changed by hand."""
        try:
            yield
        except (LookupError, TypeError, AttributeError, ArithmeticError, AssertionError) as error:
            if not self._checkpoint.resume:
                raise
            raise _damaged(self._path, error) from error

    def section(self, key: str) -> CheckpointSection:
        """The solve of that key, which no other solve of the fit has."""
        assert key not in self._sections, f"two solves have the key {key!r}"
        self._sections[key] = CheckpointSection(self, self._found.get(key))
        return self._sections[key]

    def sweeps_ended(self, count: int) -> None:
        """Write it, if it is time."""
        before, self._sweeps = self._sweeps, self._sweeps + count
        every, minutes = self._checkpoint.sweeps, self._checkpoint.minutes
        late = minutes is not None and time.monotonic() - self._written >= 60.0 * minutes
        if late or (every is not None and self._sweeps // every > before // every):
            self.write()

    def write(self) -> None:
        """Write all sections as they stand. A fit does not end because this cannot be written."""
        try:
            with held_back():
                self._write(
                    {
                        key: section.latest
                        for key, section in self._sections.items()
                        if section.latest is not None
                    }
                )
        except WriteError as error:
            warn(f"checkpoint: {error} The fit goes on without.", RuntimeWarning)
            for name in self._fresh:
                self._path.with_name(name).unlink(missing_ok=True)
        self._fresh = []
        self._written = time.monotonic()

    def _write(self, latest: Mapping[str, Packed]) -> None:
        packer = Packer()
        keys = self._began["state"]
        sections, beside = dict[str, Any](), dict[str, dict[str, StoredArray]]()
        for key, packed in latest.items():
            beside[key] = {
                name: self._stored(value)
                for name, value in packed.items()
                if isinstance(value, (Beside, FoundBeside))
            }
            sections[key] = packer.encode(
                {name: value for name, value in packed.items() if name not in beside[key]}, key
            )
        header = {
            "format": FORMAT,
            "identity": self._identity,
            "random": {"key": packer.encode(keys["key"], "random"), "pos": int(keys["pos"])},
            "gauss": [int(self._began["has_gauss"]), float(self._began["gauss"])],
            "sections": sections,
            "beside": {
                key: {name: array.packed() for name, array in some.items()}
                for key, some in beside.items()
                if some
            },
        }
        write_packed(self._path, KEY, header, packer.arrays)
        remove_arrays(
            self._path, {array.file for some in beside.values() for array in some.values()}
        )

    def _stored(self, value: Beside | FoundBeside) -> StoredArray:
        """Return the file that holds an array beside the checkpoint, and write it unless a run
        before has."""
        if isinstance(value, FoundBeside):
            return value.stored
        stored = write_array(self._path, value.array)
        self._fresh.append(stored.file)
        return stored

    def _resume(self) -> None:
        self._path.open("rb").close()  # where that is not allowed the file is no damaged one
        try:
            header, arrays = read_packed(self._path, KEY)
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ValueError("it was not written by this version")
            known = dict(header["identity"])
            self.rng = np.random.RandomState()
            set_drawn(
                self.rng,
                unpacked(header["random"]["key"], arrays),
                header["random"]["pos"],
                *header["gauss"],
            )
            self._found = {
                key: unpacked(packed, arrays) for key, packed in header["sections"].items()
            }
            for key, some in header["beside"].items():
                self._found[key] |= {
                    name: FoundBeside(self._path, StoredArray.read(array))
                    for name, array in some.items()
                }
        except UNREADABLE as error:
            raise _damaged(self._path, error) from None
        for word in dict.fromkeys([*self._identity, *known]):
            if known.get(word) != self._identity.get(word):
                raise ValueError(
                    f"checkpoint: {self._path} was begun with {word}={known.get(word)!r}, this fit "
                    f"has {self._identity.get(word)!r}; "
                    "resume with the same rows and parameters, or take resume=False."
                )


def _damaged(path: Path, error: BaseException) -> ValueError:
    return DamagedError(
        f"checkpoint: {path} is damaged, or no checkpoint of this version: "
        f"{one_line(error, most=500)}."
    )


def set_drawn(
    rng: np.random.RandomState, keys: Any, drawn: Any, has_gauss: Any, gauss: Any
) -> None:
    """Bring a generator to where another had drawn to; IndexError beyond its numbers, where NumPy
    would read other memory."""
    if not 0 <= int(drawn) <= len(keys):
        raise IndexError(f"{int(drawn)} of {len(keys)} random numbers are drawn")
    rng.set_state(("MT19937", keys, int(drawn), int(has_gauss), float(gauss)))


def as_list(found: Array) -> list[float]:
    """Return numbers that were kept as an array; TypeError where they are none."""
    numbers: list[float] = found.astype(np.float64, casting="same_kind").tolist()
    return numbers


def check_place(checkpoint: Checkpoint, word: str = "checkpoint") -> None:
    """Find out before the work whether the file can be resumed from or written: ValueError where it
    is none of ours, else OSError.

    `word`: what the user calls it.
    """
    path = place(checkpoint.path)
    if checkpoint.resume and not path.is_file():
        raise ValueError(
            f"{word}: there is no {path} to resume from; take resume=False to begin anew."
        )
    if not checkpoint.resume and path.is_file() and text_in(path, KEY) is None:
        raise ValueError(
            f"{word}: {path} is no checkpoint of a fit, and is not written over; give another "
            "name, or remove it first."
        )
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError(f"{word}: {path} is no plain file; give another name.")
    try_writing(path)


def checked_checkpoint(value: Any, estimator_name: str) -> Checkpoint | None:
    """Return the parameter `checkpoint`, checked."""
    if value is None:
        return None
    kept = Checkpoint(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(kept, Checkpoint):
        raise ValueError(f"{estimator_name}(checkpoint={value!r}): give a path or a Checkpoint.")
    if kept.sweeps is not None and (
        isinstance(kept.sweeps, bool) or not isinstance(kept.sweeps, int) or kept.sweeps < 1
    ):
        raise ValueError(
            f"{estimator_name}(checkpoint=Checkpoint(sweeps={kept.sweeps!r})): give a whole number "
            "of at least 1, or None."
        )
    if kept.minutes is not None and not 0 <= kept.minutes < float("inf"):
        raise ValueError(
            f"{estimator_name}(checkpoint=Checkpoint(minutes={kept.minutes!r})): give minutes of "
            "at least 0, or None."
        )
    return kept
