"""Builds the native code of the package: when a wheel or an editable installation is made, or by
`python hatch_build.py` in place.

The machine's C compiler does it ($CC, cc, gcc, clang), or where there is none the one that pip
brings (ziglang). Without any the package is installed all the same, and runs slower.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand, to compile in place
    BuildHookInterface = object

ROOT = Path(__file__).parent
SOURCES = ROOT / "src" / "cmeans" / "native"
BUILT = SOURCES / "lib"
FLAGS = [
    "-std=gnu11",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fvisibility=hidden",
    "-Werror=implicit-function-declaration",  # of every compiler, as of some
]
# of the environment, by which a library is another than the one that is there
WORDS = {"CC", "CFLAGS", "CMEANS_LIBRARY"}
# Another release brings another compiler, whose code nobody has tried: the same sources are to make
# the same library, and a build must not fail on the day that a new one comes out.
ZIGLANG = "ziglang==0.15.2"
ONCE = "machine.c"  # compiled once, all others for each variant and float type


class Target(NamedTuple):
    """A kind of machine, and how a compiler is told."""

    name: str  # of zig, "" for the machine that builds
    system: str  # "linux", "darwin", "win32"
    arm: bool

    def variants(self, *, by_zig: bool) -> dict[str, list[str]]:
        """Compiler flags of each variant, by its name."""
        if self.arm:
            return {"arm64": []}
        if by_zig:
            return {
                "v3": ["-mcpu=x86_64_v3"],
                "v4": ["-mcpu=x86_64_v4", "-mprefer-vector-width=512"],
            }
        return {"v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"]}

    @property
    def library(self) -> str:
        """File name of the library."""
        return "libcmeans" + {"win32": ".dll", "darwin": ".dylib"}.get(self.system, ".so")


def here() -> Target:
    """Return the machine that this runs on."""
    system = (
        "win32" if sys.platform == "win32" else "darwin" if sys.platform == "darwin" else "linux"
    )
    return Target("", system, platform.machine().lower() in ("aarch64", "arm64"))


def machine_compiler() -> list[str] | None:
    """Return the command of the machine's C compiler; None where there is none, or it is not one
    for this code."""
    if sys.platform == "win32":
        return None  # its compilers have no vector extensions, or misalign them
    named = shlex.split(os.environ.get("CC", ""))
    for command in ([named] if named else []) + [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    return None


def zig_compiler() -> list[str] | None:
    """Return the command of the C compiler that pip brings; None where it is not installed."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    return [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all"]


def digest() -> str:
    """Return the digest of the C files, as the loader computes it."""
    spec = importlib.util.spec_from_file_location("sources", SOURCES / "sources.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.digest())


def compile_library(command: list[str], target: Target, folder: Path) -> Path:
    """Compile and link the library in a folder; CalledProcessError, with what the compiler said,
    where that fails."""
    command = [*command, *(["-target", target.name] if target.name else [])]
    position = [] if target.system == "win32" else ["-fPIC"]
    more = shlex.split(os.environ.get("CFLAGS", ""))
    variants = target.variants(by_zig="ziglang" in command)
    wanted = os.environ.get("CMEANS_VARIANTS", " ".join(variants)).split()
    jobs: dict[Path, list[str]] = {}
    for source in sorted(SOURCES.glob("*.c")):
        if source.name == ONCE:
            jobs[folder / "machine.o"] = [f'-DSOURCES="{digest()}"', str(source)]
            continue
        for variant in wanted:
            for bits in (64, 32):
                jobs[folder / f"{source.stem}-{variant}-{bits}.o"] = [
                    *variants[variant],
                    f"-DVARIANT={variant}",
                    f"-DBITS={bits}",
                    str(source),
                ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(
            pool.map(
                lambda job: run(
                    [*command, *FLAGS, *position, *more, *job[1], "-c", "-o", str(job[0])]
                ),
                jobs.items(),
            )
        )
    library = folder / target.library
    strip = [] if target.system == "darwin" or "-g" in more else ["-s"]
    run([*command, "-shared", *strip, *more, *map(str, jobs), "-o", str(library)])
    return library


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)


def build_for_this_machine(folder: Path) -> tuple[Path | None, str]:
    """Return the library, and the reason where there is none."""
    reason = "there is no C compiler"
    for command in (machine_compiler(), zig_compiler()):
        if command is None:
            continue
        try:
            return compile_library(command, here(), folder), ""
        except (OSError, subprocess.CalledProcessError) as error:
            reason = f"{shlex.join(command)} failed: {getattr(error, 'stderr', None) or error}"
    return None, reason


def replace(library: Path, place: Path) -> None:
    """Move a library into place at once: one that a process has loaded must not change under it."""
    place.parent.mkdir(exist_ok=True)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    shutil.copy2(library, beside)
    beside.replace(place)


def is_current(library: Path) -> bool:
    """True of a library of these C files, built since this file was last changed."""
    built = library.is_file() and library.stat().st_mtime > Path(__file__).stat().st_mtime
    return built and digest().encode() in library.read_bytes()


class NativeCodeHook(BuildHookInterface):  # type: ignore[misc,valid-type]
    """Puts the library into wheels, and beside the C files for editable installations."""

    def dependencies(self) -> list[str]:
        return [ZIGLANG] if self.target_name == "wheel" and machine_compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        self._folder = tempfile.TemporaryDirectory()
        if (
            version == "editable"
            and not WORDS & os.environ.keys()
            and is_current(BUILT / here().library)
        ):
            return
        # built for another machine, whose tag is given too
        given = os.environ.get("CMEANS_LIBRARY")
        library, reason = (
            (Path(given), "") if given else build_for_this_machine(Path(self._folder.name))
        )
        if library is None:
            self.app.display_warning(
                f"cmeans: no native code was built, as {reason.strip()}. It will run many times "
                "slower."
            )
            return
        if version == "editable":
            replace(library, BUILT / library.name)
            return
        build_data["force_include"][str(library)] = f"cmeans/native/lib/{library.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ.get('CMEANS_PLATFORM') or platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            self._folder.cleanup()


def platform_tag() -> str:
    """Return the platform part of the tag of wheels that run on this machine."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def main() -> None:
    """Compile in place."""
    with tempfile.TemporaryDirectory() as folder:
        library, reason = build_for_this_machine(Path(folder))
        if library is None:
            sys.exit(f"no native code was built: {reason}")
        replace(library, BUILT / library.name)
        print(f"{BUILT / library.name}: {library.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
