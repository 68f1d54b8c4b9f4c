"""Atomic files: written under a temporary name in the same folder, then renamed.

A file system may keep a rename before the data that it names, and a later rename before an
earlier one, unless it is told to finish (`fsync`). So a file's data are on the disk before it gets
its name, and a folder's names are there before anything is done that relies on them.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..data.addresses import moved, near, removed, try_moving
from ..runtime.numerals import in_bytes

PREFIX = ".cmeans-tmp-"
_MONTH = 30 * 86_400.0  # seconds
_PAGE = 4096  # bytes
# of systems that cannot flush a folder, and of folders that may be written and not read
_UNABLE = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)


class WriteError(OSError, ValueError):
    """A file that cannot be written: an OSError with its name and what the system says, and a
    ValueError, since the user named it."""

    caller = ""  # the argument or method that asked for the file, for the message
    more = ""  # what else the message says

    def __str__(self) -> str:
        first = (
            f"{self.caller and self.caller + ': '}cannot write {self.filename}: {self.strerror}."
        )
        return f"{first} {self.more}".rstrip()


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
    with _staging_for(file.parent, file) as staging, writing_to(staging / file.name):
        (staging / file.name).write_bytes(bytes(_PAGE))
        _flush_to_disk(staging / file.name)
        try_moving(staging / file.name, file)


def check_room(file: Path, least: int) -> None:
    """Refuse, before the work is done, a file of at least so many bytes that its disk has no room
    for: a WriteError."""
    try:
        free = shutil.disk_usage(file.parent).free
    except OSError:  # which writing will meet, too
        return
    if free < least:
        reason = f"it takes at least {in_bytes(least)}, and {in_bytes(free)} are free there"
        raise WriteError(errno.ENOSPC, reason, str(file))


@contextmanager
def staged(folder: Path, seal: str, gone: Iterable[str] = ()) -> Iterator[Path]:
    """Yield a hidden folder inside `folder`; its files are moved to `folder` at the end of the
    block, on an exception none is.

    Where it is a WriteError, the files beside the one that it names are moved all the same, but for
    the seal: what has been computed is not lost because something else finds no room.

    Files of the same names from an earlier run are replaced one by one. `seal` is the file that is
    removed first and moved last: where it exists, all files are of the same run. Files that are
    `gone` are removed too.
    """
    with _staging_for(folder, folder) as staging:
        try:
            yield staging
        except WriteError as error:
            lost = folder / os.path.basename(error.filename)
            kept = {path.name for path in staging.iterdir() if path.is_file()} - {seal, lost.name}
            with suppress(WriteError):  # the first one is the reason
                words = [_moved(folder, staging, sorted(kept), seal), error.more]
                if kept and lost.exists():
                    words.append(f"{lost} is of a former run.")
                error.more = " ".join(filter(None, words))
            raise
        _moved(folder, staging, sorted(path.name for path in staging.iterdir()), seal, gone)


def _moved(
    folder: Path, staging: Path, names: list[str], seal: str, gone: Iterable[str] = ()
) -> str:
    """Move files to where they belong, the seal last, and say which are there."""
    for name in names:
        _flush_to_disk(staging / name)
    if not names:
        return ""
    with _signals_ignored():
        with writing_to(folder / seal):
            if (folder / seal).exists():
                (folder / seal).unlink()
                flush_names(folder)
            replaced = [name for name in names if (staging / name).is_dir()]
            for name in (*gone, *replaced):  # a folder takes the place of none that has files
                removed(folder / name)
        for some in ([name for name in names if name != seal], [seal] if seal in names else []):
            for name in some:
                with writing_to(folder / name):
                    moved(staging / name, folder / name)
            with writing_to(folder / seal):
                flush_names(folder)
    return f"Written: {', '.join(str(folder / name) for name in names)}."


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
            moved(staging / file.name, file)
            flush_names(file.parent)


@contextmanager
def staged_tree(folder: Path) -> Iterator[Path]:
    """Yield a hidden folder, whose files and folders are those of `folder`, which is new or empty,
    at the end of the block; on an exception there are none. What lies beside it is removed.

    WriteError where it cannot be written.
    """
    remove_leftovers(folder.parent)
    with _staging_for(folder.parent, folder) as staging:
        tree = staging / "tree"
        tree.mkdir()
        yield tree
        _flush_to_disk(tree)
        with writing_to(folder):
            if folder.is_dir():
                folder.rmdir()
            moved(tree, folder)
            flush_names(folder.parent)


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
    for path in near(folder).glob(f"{PREFIX}*"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def new_staging(folder: Path) -> Path:
    """Create a temporary folder inside `folder`, or near it."""
    # Its name has the process, when that began, and where its number is that of one process, from
    # which a later run finds out whether it still exists.
    pid = os.getpid()
    return Path(
        tempfile.mkdtemp(prefix=f"{PREFIX}{pid}-{_beginning(pid)}-{_realm()}-", dir=near(folder))
    )


def _is_abandoned(path: Path) -> bool:
    pid, *words = path.name.removeprefix(PREFIX).split("-")
    if not pid.isdecimal() or not path.is_dir():
        return False  # not one of these folders
    # Processes of another machine cannot be checked, nor can those of another container, which may
    # have the name of this one: a fit may last for days, and leaves its folder alone meanwhile.
    if os.name == "nt" or words[1:2] != [_realm()]:
        with suppress(OSError):  # it may be gone by now
            newest = max(part.stat().st_mtime for part in (path, *path.rglob("*")))
            return time.time() - newest > _MONTH
        return False
    began = _beginning(int(pid))
    if began and words[0]:
        return began != words[0]  # else a later process has the number
    try:
        os.kill(int(pid), 0)  # signal 0 only checks that the process exists
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


@cache
def _realm() -> str:
    """Return a word for where a process's number is its own: a host, from one start to the next,
    and in it a namespace."""
    words = [socket.gethostname()]
    with suppress(OSError):  # Linux alone has these
        words += [
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"),
            os.readlink("/proc/self/ns/pid"),
        ]
    return sha256("\n".join(words).encode()).hexdigest()[:16]


def _beginning(pid: int) -> str:
    """Return when a process began, in ticks of the system's clock; nothing where that cannot be
    known."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()[19]  # field 22; the name, in brackets, is the second
    return ""


def _flush_to_disk(path: Path) -> None:
    # Without this a power cut after the rename may leave an empty file under the final name.
    with writing_to(path):
        for part in path.rglob("*") if path.is_dir() else [path]:
            if part.is_file():
                _flush(part, os.O_RDWR)


def flush_names(folder: Path) -> None:
    """Return when the names in a folder are on the disk: until then a power cut may undo what else
    relies on them, such as a new file by the name of one whose arrays have been removed."""
    if os.name != "nt":  # which opens no folders
        try:
            _flush(near(folder), os.O_RDONLY)
        except OSError as error:
            if error.errno not in _UNABLE:
                raise


def _flush(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
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
