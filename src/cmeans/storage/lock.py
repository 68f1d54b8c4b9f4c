"""Outputs that one process at a time may write: two that write the same one would mix their
results."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..data.addresses import near

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = ".cmeans-lock"
_MOST = 200  # bytes of what a lock says of its owner
_FAR = 2**20  # the byte that Windows locks, which nobody can read then
_TAKEN = {errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN, errno.EDEADLK}


@contextmanager
def locked(output: Path, word: str) -> Iterator[None]:
    """Keep an output, a folder or a file that need not exist, for this process; ValueError where
    another process has it. `word` is what the user calls it.

    The system frees the lock of a process that has died, however it did. It may not know of those
    of other machines, so the name of one in a lock is believed. Where nothing can be written beside
    the output, or the file system has no locks, nothing is kept.
    """
    lock = _file_beside(near(output))
    descriptor = None if near(output) is not output else _taken(lock, word)
    try:
        yield
    finally:
        if descriptor is not None:
            _free(lock, descriptor)


def _file_beside(output: Path) -> Path:
    """Return the file of the lock: in a folder, or beside a file, by whatever name it is given."""
    real = Path(os.path.realpath(output))
    if real.is_dir():
        return real / LOCK
    return real.with_name(f"{LOCK}-{hashlib.sha256(os.fsencode(real.name)).hexdigest()[:16]}")


def _taken(lock: Path, word: str) -> int | None:
    """Return the open file of a lock that is ours now; None where there can be none."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        free = _is_free(descriptor)
        os.lseek(descriptor, 0, os.SEEK_SET)
        pid, _, host = os.read(descriptor, _MOST).decode(errors="replace").partition(" ")
        if free and not _is_at(lock, descriptor):  # its owner has just removed it
            os.close(descriptor)
            continue
        if free and host in ("", socket.gethostname()):
            with suppress(OSError):  # a full disk
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                os.write(descriptor, f"{os.getpid()} {socket.gethostname()}".encode())
            return descriptor
        os.close(descriptor)
        ended = f"; if it has ended, remove {lock}" if free else ""
        raise ValueError(
            f"{word}: process {pid or '?'} on {host or '?'} writes there; wait for it, or choose "
            f"another name{ended}."
        )


def _is_free(descriptor: int) -> bool:
    """Lock an open file; False where another process has done so."""
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # others than these: the file system has no locks
        return error.errno not in _TAKEN
    return True


def _is_at(lock: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(lock), os.fstat(descriptor))
    except OSError:
        return False


def _free(lock: Path, descriptor: int) -> None:
    """Remove a lock: first the file and then its lock, but on Windows, which keeps open files."""
    if sys.platform == "win32":
        os.close(descriptor)
    with suppress(OSError):
        lock.unlink()
    if sys.platform != "win32":
        os.close(descriptor)
