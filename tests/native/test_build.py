"""The build hook: which compiler it takes, and what packages hold."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "hatch_build.py").is_file(), reason="needs the repository"
)


@pytest.fixture
def hook() -> ModuleType:
    """The module as hatchling loads it: not among those that are imported."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_digest_is_that_of_the_loader(hook):
    from cmeans.native.sources import digest

    assert hook.digest() == digest()


@pytest.mark.skipif(sys.platform == "win32", reason="ziglang compiles there")
def test_the_machines_compiler_is_taken_before_one_that_is_fetched(hook, monkeypatch):
    there = {"cc", "own"}
    monkeypatch.setattr(hook.shutil, "which", lambda name: name if name in there else None)
    monkeypatch.delenv("CC", raising=False)
    assert hook.machine_compiler() == ["cc"]
    monkeypatch.setenv("CC", "own --flag")
    assert hook.machine_compiler() == ["own", "--flag"]
    monkeypatch.setenv("CC", "missing")
    assert hook.machine_compiler() == ["cc"]
    there.clear()
    assert hook.machine_compiler() is None


def test_ziglang_is_asked_for_only_where_nothing_else_compiles(hook, monkeypatch):
    built = object.__new__(hook.NativeCodeHook)
    monkeypatch.setattr(hook.NativeCodeHook, "target_name", "wheel", raising=False)
    monkeypatch.setattr(hook, "machine_compiler", lambda: ["cc"])
    assert built.dependencies() == []
    monkeypatch.setattr(hook, "machine_compiler", lambda: None)
    [asked] = built.dependencies()
    assert re.fullmatch(r"ziglang==\d+\.\d+\.\d+", asked)  # no other than was tried
    monkeypatch.setattr(hook.NativeCodeHook, "target_name", "sdist", raising=False)
    assert built.dependencies() == []


@pytest.mark.parametrize(
    ("command", "flag"),
    [(["cc"], "-march=x86-64-v3"), (["python", "-m", "ziglang", "cc"], "-mcpu=x86_64_v3")],
)
def test_compilers_know_processors_by_names_of_their_own(
    hook, monkeypatch, tmp_path, command, flag
):
    commands = []
    monkeypatch.setattr(hook, "run", commands.append)
    library = hook.compile_library(command, hook.Target("", "linux", arm=False), tmp_path)
    assert library == tmp_path / "libcmeans.so"
    compiled = [words for words in commands if "-DVARIANT=v3" in words]
    assert compiled
    assert all(words[: len(command)] == command and flag in words for words in compiled)


def test_a_compiler_that_fails_is_told_of(hook, monkeypatch, tmp_path):
    monkeypatch.setattr(hook, "machine_compiler", lambda: ["false"])
    monkeypatch.setattr(hook, "zig_compiler", lambda: None)
    library, reason = hook.build_for_this_machine(tmp_path)
    assert library is None
    assert "false failed" in reason
    monkeypatch.setattr(hook, "machine_compiler", lambda: None)
    assert hook.build_for_this_machine(tmp_path) == (None, "there is no C compiler")


@pytest.mark.minutes
def test_a_wheel_holds_the_library_and_serves_every_python(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(tmp_path), str(ROOT)],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert sum(name.startswith("cmeans/native/lib/libcmeans.") for name in names) == 1
    assert "cmeans/native/tile.h" in names


def test_an_editable_installation_keeps_a_library_of_these_c_files(hook, tmp_path, monkeypatch):
    library = tmp_path / "libcmeans.so"
    assert not hook.is_current(library)
    library.write_bytes(b"\x7fELF..." + hook.digest().encode() + b"\0")
    assert hook.is_current(library)
    monkeypatch.setattr(hook, "digest", lambda: "0" * 64)
    assert not hook.is_current(library)
    library.write_bytes(b"0" * 64)
    os.utime(library, (0, 0))  # older than the flags that it should have been built with
    assert not hook.is_current(library)
