"""Waiting for a pipe, also in the way of Windows, whose calls are played here by a pipe of this
system."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import select
import sys
import time
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cmeans.cli.stream import waiting

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="plays Windows")


class Windows:
    """What Windows answers of a handle that is a pipe, a console or a file."""

    def __init__(self, kind: str) -> None:
        self.kind, self.keys, self.looks = kind, 0, 0

    def GetConsoleMode(self, handle: ctypes.c_void_p, mode: Any) -> int:
        mode._obj.value = 7 if self.kind == "console" else 0
        return int(self.kind == "console")

    def PeekNamedPipe(
        self,
        handle: ctypes.c_void_p,
        buffer: None,
        size: int,
        read: None,
        available: Any,
        left: None,
    ) -> int:
        self.looks += 1
        pipe = handle.value
        assert pipe is not None
        if self.kind == "file":
            return 0
        ready = bool(select.select([pipe], [], [], 0)[0])
        # the end is ready, too, and has nothing
        held = min(1, len(os.read(pipe, 1))) if ready else 0
        available._obj.value = held
        return int(not ready or held)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for end in (read, write):
        try:
            os.close(end)
        except OSError:
            continue


def as_on_windows(monkeypatch: pytest.MonkeyPatch, windows: Windows) -> ModuleType:
    """The module as that system imports it."""
    calls = SimpleNamespace(get_osfhandle=lambda number: number, kbhit=lambda: windows.keys > 0)
    monkeypatch.setitem(sys.modules, "msvcrt", calls)  # type: ignore[arg-type]
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=windows), raising=False)
    found = importlib.util.spec_from_file_location("waiting_on_windows", waiting.__file__)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    with monkeypatch.context() as other:
        other.setattr(sys, "platform", "win32")
        other.delitem(sys.modules, "cmeans.native.windows_pipes", raising=False)
        found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("system", ["this", "windows"])
def test_bytes_and_the_end_arrive_and_silence_does_not(
    monkeypatch: pytest.MonkeyPatch, pipe: tuple[int, int], system: str
) -> None:
    read, write = pipe
    module = waiting if system == "this" else as_on_windows(monkeypatch, Windows("pipe"))
    begun = time.monotonic()
    assert not module.arrives(read, 0.1)
    assert time.monotonic() - begun >= 0.1
    assert not module.arrives(read, 0.0)
    os.write(write, b"1")
    assert module.arrives(read, 60.0)
    os.close(write)
    assert module.arrives(read, 60.0)


def test_a_file_is_read_at_once_and_a_console_when_someone_types(
    monkeypatch: pytest.MonkeyPatch, pipe: tuple[int, int]
) -> None:
    windows = Windows("file")
    assert as_on_windows(monkeypatch, windows).arrives(pipe[0], 60.0)
    assert windows.looks == 1
    windows = Windows("console")
    module = as_on_windows(monkeypatch, windows)
    assert not module.arrives(pipe[0], 0.05)
    windows.keys = 1
    assert module.arrives(pipe[0], 60.0)
    assert windows.looks == 0
