"""Folders and files for a command's results, prepared before any work is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..storage import atomic as staging
from ..storage.atomic import new_staging, remove_leftovers, staged, write_text
from .errors import InputError

__all__ = ["results_folder", "staged", "staged_file", "write_text"]


@contextmanager
def results_folder(folder: Path) -> Iterator[None]:
    """Prepare `folder` before any work is done, so that a folder that cannot be written fails first.

    Files left by a killed run are removed; on any exception the folder is removed if this call made it.
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
    """Provide a path to write to, renamed to `file` on success only. `option` is the one that gave the file."""
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
