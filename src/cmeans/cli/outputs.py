"""Where a command's results go, made ready before any work is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .. import staging
from ..staging import new_staging, remove_leftovers, staged
from .errors import InputError

__all__ = ["results_folder", "staged", "staged_file"]


@contextmanager
def results_folder(folder: Path) -> Iterator[None]:
    """Make `folder` ready before any work is done, so that a folder that cannot be written fails first.

    What a killed run left behind is removed; on any exception the folder goes again if this call made it.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]  # deepest first
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(folder)
            new_staging(folder).rmdir()
        except OSError as error:
            raise InputError(f"--out {folder}: cannot be written ({error.strerror or error}).") from error
        yield
    except BaseException:
        _remove_empty(missing)
        raise


@contextmanager
def staged_file(file: Path, option: str = "--out") -> Iterator[Path]:
    """A path to write to, which is renamed to `file` at the end, or not at all. `option` named the file."""
    try:
        new_staging(file.parent).rmdir()
    except OSError as error:
        raise InputError(f"{option} {file}: cannot be written ({error.strerror or error}).") from error
    with staging.staged_file(file) as place:
        yield place


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # not empty, or never made
            folder.rmdir()
