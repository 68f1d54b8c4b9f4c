"""Memory that this process could still take: what the system has, and what limits leave of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

UNKNOWN = 4 * 10**9  # bytes where no system tells
# files of a control group of each version: its limits, what it has taken, and, in its statistics,
# the name of what it has of files, which it gives back before it takes memory from processes
GROUPS = {
    "cgroup2": (("memory.max", "memory.high"), "memory.current", "inactive_file"),
    "cgroup": (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
}
# limits of a process, by `resource`'s names, and what it has taken of each, in its status
PROCESS = {"RLIMIT_AS": "VmSize", "RLIMIT_DATA": "VmData"}


def free_memory(root: str | os.PathLike[str] = "/") -> int:
    """Bytes that this process could still take without swapping: the least of what the system has
    left, of what each control group leaves, from the process's own up to the root, and of what
    limits of the process (`ulimit -v`) do. `root`: where the system's files are."""
    place = Path(root)
    bounds = [*_of_system(place), *_of_groups(place), *_of_process(place)]
    if not bounds and hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        bounds.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(min(bounds, default=UNKNOWN), 0)


def _of_system(root: Path) -> Iterator[int]:
    available = _kilobytes(root / "proc/meminfo").get("MemAvailable")
    if available is not None:
        yield available


def _of_process(root: Path) -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    taken = _kilobytes(root / "proc/self/status")
    for limit, name in PROCESS.items():
        most = resource.getrlimit(getattr(resource, limit))[0]
        if most != resource.RLIM_INFINITY and name in taken:
            yield most - taken[name]


def _of_groups(root: Path) -> Iterator[int]:
    """Yield what each control group that the process is in leaves, the outer ones too: a limit
    holds for all groups within."""
    paths = dict(_group_paths(root))
    for line in _lines(root / "proc/self/mountinfo"):
        mount, _, kind = line.partition(" - ")
        kind, _, options = kind.partition(" ")
        controllers = options.rpartition(" ")[2].split(",")
        if kind not in paths or (kind == "cgroup" and "memory" not in controllers):
            continue
        _, _, _, origin, place, *_ = mount.split(" ")
        folder = root / place.lstrip("/")
        for inner in (_within(paths[kind], origin), *_within(paths[kind], origin).parents):
            left = _left(folder / inner, *GROUPS[kind])
            if left is not None:
                yield left


def _group_paths(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the control group of the process by the type of its file system."""
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            yield "cgroup2", path
        elif "memory" in controllers.split(","):
            yield "cgroup", path


def _within(path: str, origin: str) -> PurePosixPath:
    """Return the path of a group from the place on that is mounted; that place itself where the
    group is not seen from here."""
    try:
        return PurePosixPath(path).relative_to(origin)
    except ValueError:
        return PurePosixPath()


def _left(folder: Path, limits: tuple[str, ...], taken: str, spare: str) -> int | None:
    """Return the bytes that one group leaves; None where it has no limit."""
    most = [int(text) for name in limits for text in _lines(folder / name) if text.isdigit()]
    used = _lines(folder / taken)
    if not most or not used:
        return None
    files = dict(line.split(" ", 1) for line in _lines(folder / "memory.stat"))
    return min(most) - int(used[0]) + int(files.get(spare, 0))


def _kilobytes(file: Path) -> dict[str, int]:
    """Return the bytes that a file tells as "name: number kB"."""
    told = (line.split() for line in _lines(file))
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in told if words[-1:] == ["kB"]}


def _lines(file: Path) -> list[str]:
    """Return the lines of a file of the system; none where it cannot be read."""
    try:
        return file.read_text().splitlines()
    except (OSError, ValueError):
        return []
