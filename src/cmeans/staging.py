"""Results appear whole or not at all: written under a temporary name in the same folder, then renamed."""

from __future__ import annotations

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


@contextmanager
def staged(folder: Path, seal: str) -> Iterator[Path]:
    """A hidden place inside `folder`. At the end its files take their names in `folder`; on any exception none does.

    Files of the same names from a former run are replaced one by one. `seal` is the file that is removed first and put in
    place last: where it stands, all of them belong together.
    """
    staging = new_staging(folder)
    try:
        yield staging
        names = sorted((path.name for path in staging.iterdir()), key=lambda name: (name == seal, name))
        for name in names:
            _to_disk(staging / name)
        with _uninterrupted():
            (folder / seal).unlink(missing_ok=True)
            for name in names:
                (staging / name).replace(folder / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def staged_file(file: Path) -> Iterator[Path]:
    """Like `staged`, for one file: write to the path given, which is renamed to `file` at the end."""
    remove_leftovers(file.parent)
    staging = new_staging(file.parent)
    try:
        yield staging / file.name
        _to_disk(staging / file.name)
        (staging / file.name).replace(file)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def write_atomically(path: Path, write: Callable[[str], object]) -> None:
    """Call write(temporary path) and rename what it wrote, so that nobody ever sees half a file; ValueError where that cannot be."""
    try:
        with staged_file(path) as place:
            write(str(place))
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}.") from None


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary folders of runs that were killed, never those of a run that is still alive."""
    for path in folder.glob(f"{PREFIX}*"):
        if _abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def new_staging(folder: Path) -> Path:
    # Who made it stands in the name: that is how a later run knows whether its maker is gone.
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{_host()}-", dir=folder))


def _abandoned(path: Path) -> bool:
    pid, _, rest = path.name.removeprefix(PREFIX).partition("-")
    if not pid.isdecimal() or not path.is_dir():
        return False  # not made here
    if os.name == "nt" or not rest.startswith(f"{_host()}-"):  # another machine's processes cannot be asked
        with suppress(FileNotFoundError):
            return time.time() - path.stat().st_mtime > _DAY
        return False
    try:
        os.kill(int(pid), 0)  # signal 0 only asks
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _host() -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in socket.gethostname())


def _to_disk(path: Path) -> None:
    # Without this a power cut after the rename may leave an empty file under the final name.
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait for a few renames; a signal that comes just then finds the work done anyway."""
    if threading.current_thread() is not threading.main_thread():  # Python lets only that one touch handlers
        yield
        return
    former = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler or signal.SIG_DFL)
