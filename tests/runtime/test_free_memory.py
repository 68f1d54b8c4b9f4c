"""What is read of the machine's memory: the least of what the system, control groups and limits of
the process leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cmeans.runtime.free_memory import free_memory

GB = 10**9
V2 = "31 23 0:28 {origin} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1 = (
    "35 31 0:32 {origin} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu"
)
GROUP_V2, GROUP_V1 = "0::{path}", "5:cpu:/elsewhere\n4:hugetlb,memory:{path}\n0::/"
TELLS = "from cmeans.runtime.free_memory import free_memory; print(free_memory())"


def machine(folder: Path, mounts: str = "", groups: str = "", **files: str) -> Path:
    """A system with 16 GB available, and files of control groups."""
    self = folder / "proc" / "self"
    self.mkdir(parents=True)
    (folder / "proc/meminfo").write_text(
        "MemTotal:       20000000 kB\nMemAvailable:   15625000 kB\nHugePages_Total:       0\n"
    )
    (self / "mountinfo").write_text(f"22 1 8:1 / / rw - ext4 /dev/root rw\n{mounts}\n")
    (self / "cgroup").write_text(groups)
    for name, text in files.items():
        file = folder / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return folder


def group_v2(path: str, limit: int | str, taken: int, files: int = 0) -> dict[str, str]:
    return {
        f"{path}memory.max": str(limit),
        f"{path}memory.current": str(taken),
        f"{path}memory.stat": f"anon 5\ninactive_file {files}",
    }


def group_v1(path: str, limit: int, taken: int, files: int = 0) -> dict[str, str]:
    return {
        f"memory/{path}memory.limit_in_bytes": str(limit),
        f"memory/{path}memory.usage_in_bytes": str(taken),
        f"memory/{path}memory.stat": f"inactive_file 7\ntotal_inactive_file {files}",
    }


def test_the_system_alone(tmp_path: Path) -> None:
    assert free_memory(machine(tmp_path)) == 16 * GB


def test_the_own_group(tmp_path: Path) -> None:
    files = group_v2("a/", 3 * GB, GB)
    root = machine(tmp_path, V2.format(origin="/"), GROUP_V2.format(path="/a"), **files)
    assert free_memory(root) == 2 * GB


def test_files_in_memory_are_given_back(tmp_path: Path) -> None:
    files = group_v2("a/", 3 * GB, 2 * GB, GB // 2)
    root = machine(tmp_path, V2.format(origin="/"), GROUP_V2.format(path="/a"), **files)
    assert free_memory(root) == 3 * GB // 2


@pytest.mark.parametrize("tightest", ["", "a/", "a/b/", "a/b/c/"])
def test_the_tightest_of_nested_groups(tmp_path: Path, tightest: str) -> None:
    """Of version 2, in which the own group has no limit of its own."""
    files: dict[str, str] = {}
    for path in ("", "a/", "a/b/", "a/b/c/"):
        files |= group_v2(path, 4 * GB if path == tightest else "max", GB)
    root = machine(tmp_path, V2.format(origin="/"), GROUP_V2.format(path="/a/b/c"), **files)
    assert free_memory(root) == 3 * GB


def test_a_group_that_is_slowed_down_from_some_size_on(tmp_path: Path) -> None:
    files = group_v2("a/", "max", GB) | {"a/memory.high": str(2 * GB)}
    root = machine(tmp_path, V2.format(origin="/"), GROUP_V2.format(path="/a"), **files)
    assert free_memory(root) == GB


@pytest.mark.parametrize("tightest", ["", "a/", "a/b/"])
def test_version_1(tmp_path: Path, tightest: str) -> None:
    files: dict[str, str] = {}
    for path in ("", "a/", "a/b/"):
        files |= group_v1(path, 4 * GB if path == tightest else 2**63 - 4096, 2 * GB, GB)
    root = machine(tmp_path, V1.format(origin="/"), GROUP_V1.format(path="/a/b"), **files)
    assert free_memory(root) == 3 * GB


@pytest.mark.parametrize("path", ["/docker/1", "/docker/1/inner", "/not/seen/from/here"])
def test_a_container_sees_its_own_part_of_the_tree(tmp_path: Path, path: str) -> None:
    files = group_v1("", 2 * GB, GB) | group_v1("inner/", 3 * GB, GB)
    root = machine(tmp_path, V1.format(origin="/docker/1"), GROUP_V1.format(path=path), **files)
    assert free_memory(root) == GB


def test_more_is_taken_than_is_allowed(tmp_path: Path) -> None:
    root = machine(
        tmp_path, V2.format(origin="/"), GROUP_V2.format(path="/"), **group_v2("", GB, 2 * GB)
    )
    assert free_memory(root) == 0


def test_damaged_files_say_nothing(tmp_path: Path) -> None:
    """The rest still counts."""
    root = machine(tmp_path, V2.format(origin="/"), GROUP_V2.format(path="/a"))
    (root / "proc/self/status").write_bytes(b"VmSize: \xff")
    assert free_memory(root) == 16 * GB


def told_by(command: list[str]) -> int:
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells what is taken")
def test_a_limit_of_the_process() -> None:
    """Set by the shell, as `ulimit -v` does: what the interpreter itself has taken is gone."""
    command = ["sh", "-c", f'ulimit -v 1000000; exec "{sys.executable}" -c "{TELLS}"']
    assert 0 < told_by(command) < 1000 * 2**20


@pytest.mark.skipif(
    not os.access("/sys/fs/cgroup/memory/cgroup.procs", os.W_OK),
    reason="no control groups of version 1 can be made here",
)
def test_a_nested_group_of_version_1_of_this_machine() -> None:
    outer = Path(f"/sys/fs/cgroup/memory/cmeans-test-{os.getpid()}")
    inner = outer / "inner"
    inner.mkdir(parents=True)
    try:
        (outer / "memory.limit_in_bytes").write_text(str(2**29))
        join = f"echo $$ > {inner}/cgroup.procs"
        assert 0 < told_by(["sh", "-c", f'{join}; exec "{sys.executable}" -c "{TELLS}"']) < 2**29
    finally:
        inner.rmdir()
        outer.rmdir()
