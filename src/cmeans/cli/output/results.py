"""Results of a command: folders and files prepared before any work is done, and the summary in
JSON."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.addresses import below, near, place
from ...data.arrow_library import pa
from ...data.files.arrow import file_bytes
from ...data.files.row_table import OWN
from ...persistence.model_file import KEY
from ...runtime.user_warnings import DataWarning, one_line
from ...storage import atomic as staging
from ...storage.atomic import flush_names, new_staging, remove_leftovers, writing_to
from ...storage.codec import text_in
from ...storage.lock import locked
from ..errors import InputError
from .messages import in_options
from .run_file import HEAD
from .standard_streams import standard_output
from .terminal import Screen


def write_columns(file: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write a small table as Parquet; WriteError where that fails."""
    with writing_to(file), file.open("wb") as opened:
        pa.parquet.write_table(pa.table(dict(columns)), opened)


def read_labels(file: Path) -> NDArray[np.int32]:
    """Return the labels that a command wrote as Parquet."""
    # by this thread alone: threads of pyarrow that hold a file of Python's when the process ends
    # end it by a signal in Python 3.13
    with file_bytes(file) as data, pa.parquet.ParquetFile(data, pre_buffer=False) as opened:
        table = opened.read(columns=["label"], use_threads=False)
        return np.asarray(table["label"].to_numpy())


@contextmanager
def results_folder(folder: Path) -> Iterator[None]:
    """Prepare `folder` before any work is done, so that a folder that cannot be written fails
    first.

    Files left by a killed run are removed; on any exception the folder is removed if this call made
    it. Until the end no other command writes to it.
    """
    if folder.is_file():
        raise InputError(f"--out {folder}: cannot be written (it is a file, no folder).")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]  # deepest first
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for made in missing:
                flush_names(made.parent)
            remove_leftovers(folder)
            new_staging(folder).rmdir()
        except OSError as error:
            raise InputError(
                f"--out {folder}: cannot be written ({error.strerror or error})."
            ) from error
        with locked(folder, f"--out {folder}"):
            yield
    except BaseException:
        _remove_empty(missing)
        raise


def refuse_foreign(folder: Path, names: Iterable[str], seal: str, overwrite: bool) -> None:
    """Refuse to replace files of these names that no former run of the command has written: those
    that its summary, the file `seal`, does not name. Where there is none, as the run was broken
    off, files tell themselves whose they are."""
    known = _files_of_run(folder / seal)
    there = [
        name
        for name in names
        if name not in known and ((folder / name).exists() or (folder / name).is_symlink())
    ]
    foreign = [name for name in there if known or not _is_own(folder / name)]
    if foreign and not overwrite:
        raise InputError(
            f"--out {folder}: {', '.join(foreign)} in it {'is' if len(foreign) == 1 else 'are'} "
            "not of a former run of this command; name another folder, or take --overwrite."
        )


def left_over(folder: Path, names: Iterable[str], seal: str) -> set[str]:
    """Return those of some files that a former run has written: beside the results of another one
    they would be wrong."""
    return _files_of_run(folder / seal).intersection(names)


def _files_of_run(summary: Path) -> set[str]:
    """Return the names of the files that a summary says were written; none where it is none."""
    try:
        stored = json.loads(summary.read_text(encoding="utf-8"))
        written = stored["outputs"] if {"command", "version"} <= stored.keys() else {}
        return {os.path.basename(str(file)) for file in written.values()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()


def _is_own(file: Path) -> bool:
    """True of a model, of results by row, and of options, that the library has written."""
    if file.is_dir():
        return all(map(_is_own, below(file)))
    if file.suffix == ".toml":
        with suppress(OSError), file_bytes(file) as opened:
            return bool(opened.read(len(HEAD)) == HEAD.encode())
    if file.suffix == ".parquet":
        try:
            with file_bytes(file) as opened:
                return OWN in (pa.parquet.read_schema(opened).metadata or {})
        except (OSError, pa.ArrowException):
            return False
    return text_in(file, KEY) is not None


@contextmanager
def files_kept(files: Mapping[str, str | os.PathLike[str] | None]) -> Iterator[None]:
    """Keep the files that options name, where they do, from other commands that would write
    them."""
    with ExitStack() as held:
        for option, file in files.items():
            if file is not None:
                held.enter_context(locked(place(file), f"{option} {file}"))
        yield


@contextmanager
def staged_file(file: Path, option: str = "--out") -> Iterator[Path]:
    """Provide a path to write to, renamed to `file` on success only. `option` is the one that gave
    the file."""
    try:
        new_staging(file.parent).rmdir()
    except OSError as error:
        raise InputError(
            f"{option} {file}: cannot be written ({error.strerror or error})."
        ) from error
    with staging.staged_file(file) as place:
        yield place


def refuse_unwritable(
    option: str, file: Path, *, in_place: bool = False, grows: bool = False
) -> None:
    """Refuse a file that cannot be written: into its folder, or in place where it is there
    already. What grows row by row cannot be in a store."""
    if near(file) is not file:
        if grows:
            raise InputError(
                f"{option} {file}: is written row by row, and files in a store as a whole; give a "
                "file of this machine."
            )
        return
    if not file.parent.is_dir():
        raise InputError(f"{option} {file}: cannot be written (no such folder).")
    if not os.access(file if in_place else file.parent, os.W_OK):
        raise InputError(f"{option} {file}: cannot be written (permission denied).")


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # not empty, or never made
            folder.rmdir()


_OTHERS_BUSINESS = (
    DeprecationWarning,
    PendingDeprecationWarning,
    FutureWarning,
    ImportWarning,
    ResourceWarning,
)


def as_json(summary: Mapping[str, Any]) -> str:
    """Return a summary in JSON, all but printable characters as its escapes: a terminal would obey
    some, and names of files need not be UTF-8."""
    text = json.dumps(plain(summary), indent=2, allow_nan=False, ensure_ascii=False)
    return "\n".join(
        line if line.isprintable() else "".join(map(_shown, line)) for line in text.split("\n")
    )


def _shown(letter: str) -> str:
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def show(summary: Mapping[str, Any], needed: bool = False) -> None:
    """Write the summary to stdout; where stdout is closed, an error if the command has no other
    output."""
    if sys.stdout is None and not needed:
        return
    with standard_output() as stream:
        print(as_json(summary), file=stream, flush=True)


def plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays to Python's; values that JSON lacks (NaN, infinity) become
    None."""
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
    return {
        "sizes": np.bincount(labels[labels >= 0], minlength=n_clusters),
        "noise": int((labels < 0).sum()),
    }


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
def caught_warnings(tell: Callable[[str], None], strict: bool = False) -> Iterator[list[str]]:
    """Collect warnings for the user, each once; when the block ends, even by an error, they are
    reported and in the list. `strict`: the first one of the rows is an error."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in _OTHERS_BUSINESS:  # for programmers, not for users of a command
            warnings.simplefilter("ignore", category)
        if strict:
            warnings.simplefilter("error", DataWarning)
        try:
            yield texts
        except DataWarning as warning:
            raise InputError(f"--strict: {in_options(one_line(warning))}") from warning
        finally:
            texts.extend(dict.fromkeys(in_options(one_line(warning.message)) for warning in caught))
            for text in texts:
                tell(text)


def told_warnings(screen: Screen) -> AbstractContextManager[list[str]]:
    """Collect the warnings of a command, which are reported where no summary has them."""
    return caught_warnings(_untold if screen.for_people else screen.warn, screen.strict)


def _untold(_text: str) -> None:
    """Leave a warning to the summary."""
