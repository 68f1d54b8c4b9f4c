"""Atomic files: written under a temporary name in the same folder, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".cmeans-tmp-"
_DAY = 86_400.0
_PAGE = 4096  # bytes


class WriteError(OSError, ValueError):
    """A file that cannot be written: an OSError with its name and what the system says, and a
    ValueError, since the user named it."""

    caller = ""  # the argument or method that asked for the file, for the message

    def __str__(self) -> str:
        return f"{self.caller and self.caller + ': '}cannot write {self.filename}: {self.strerror}."


@contextmanager
def writing_to(file: Path) -> Iterator[None]:
    """Make what the system says inside the block, which only writes, a WriteError that names the
    file."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise WriteError(error.errno, reason, str(file)) from error


def write_text(file: Path, text: str) -> None:
    """Write a small text file; WriteError where that cannot be. Names of files in it need not be
    UTF-8."""
    with writing_to(file):
        file.write_text(text, encoding="utf-8", errors="backslashreplace")


def try_writing(file: Path) -> None:
    """Write some bytes beside `file` and remove them: a WriteError before the work is done if
    nothing can be written there."""
    with writing_to(file):
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        staging = new_staging(file.parent)
        try:
            (staging / file.name).write_bytes(bytes(_PAGE))
            _flush_to_disk(staging / file.name)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def staged(folder: Path, seal: str) -> Iterator[Path]:
    """Yield a hidden folder inside `folder`; its files are moved to `folder` at the end of the
    block, on an exception none is.

    Files of the same names from an earlier run are replaced one by one. `seal` is the file that is
    removed first and moved last: where it exists, all files are of the same run.
    """
    with _staging_for(folder, folder) as staging:
        yield staging
        names = sorted(
            (path.name for path in staging.iterdir()), key=lambda name: (name == seal, name)
        )
        for name in names:
            _flush_to_disk(staging / name)
        with _signals_ignored(), writing_to(folder / seal):
            (folder / seal).unlink(missing_ok=True)
            for name in names:
                with writing_to(folder / name):
                    (staging / name).replace(folder / name)


@contextmanager
def staged_file(file: Path) -> Iterator[Path]:
    """Yield a path to write to, which is renamed to `file` at the end of the block; on an exception
    it is removed.

    WriteError where it cannot be written.
    """
    remove_leftovers(file.parent)
    with _staging_for(file.parent, file) as staging:
        yield staging / file.name
        _flush_to_disk(staging / file.name)
        with writing_to(file):
            (staging / file.name).replace(file)


def write_atomically(path: Path, write: Callable[[str], object]) -> None:
    """Call write(temporary path) and rename what it wrote, so that nobody ever sees half a file;
    WriteError where that cannot be."""
    with staged_file(path) as place, writing_to(place):
        write(str(place))


@contextmanager
def _staging_for(folder: Path, wanted: Path) -> Iterator[Path]:
    """A hidden folder inside `folder`, gone at the end; errors of writing into it name the files
    that were to be.

    `wanted`: what is written, for when not even the hidden folder can be.
    """
    with writing_to(wanted):
        staging = new_staging(folder)
    try:
        yield staging
    except WriteError as error:
        if os.path.dirname(error.filename) == str(staging):
            error.filename = str(folder / os.path.basename(error.filename))
        raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary folders of runs that were killed, never those of a running process."""
    for path in folder.glob(f"{PREFIX}*"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def new_staging(folder: Path) -> Path:
    """Create a temporary folder inside `folder`."""
    # Its name has the process and the host, from which a later run finds out whether the process
    # still exists.
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{_host()}-", dir=folder))


def _is_abandoned(path: Path) -> bool:
    pid, _, rest = path.name.removeprefix(PREFIX).partition("-")
    if not pid.isdecimal() or not path.is_dir():
        return False  # not one of these folders
    # processes of another machine cannot be checked
    if os.name == "nt" or not rest.startswith(f"{_host()}-"):
        with suppress(FileNotFoundError):
            return time.time() - path.stat().st_mtime > _DAY
        return False
    try:
        os.kill(int(pid), 0)  # signal 0 only checks that the process exists
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _host() -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in socket.gethostname())


def _flush_to_disk(path: Path) -> None:
    # Without this a power cut after the rename may leave an empty file under the final name.
    with writing_to(path):
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM during a few renames, after which the work is complete."""
    # only the main thread may set handlers
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler or signal.SIG_DFL)
