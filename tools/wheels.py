"""Wheels for every system from one machine, by ziglang's cross-compiling: python -m tools.wheels
[--only NAME] [--out DIR].

Needs `build` and `ziglang`. One wheel serves all versions of Python, as the native code uses none
of its interface.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hatch_build import ROOT, Target, compile_library, zig_compiler

WHEELS = {  # the platform tag of a wheel, and what its library is compiled for
    "manylinux_2_17_x86_64.manylinux2014_x86_64": Target(
        "x86_64-linux-gnu.2.17", "linux", arm=False
    ),
    "manylinux_2_17_aarch64.manylinux2014_aarch64": Target(
        "aarch64-linux-gnu.2.17", "linux", arm=True
    ),
    "musllinux_1_1_x86_64": Target("x86_64-linux-musl", "linux", arm=False),
    "musllinux_1_1_aarch64": Target("aarch64-linux-musl", "linux", arm=True),
    "macosx_11_0_x86_64": Target("x86_64-macos.11.0", "darwin", arm=False),
    "macosx_11_0_arm64": Target("aarch64-macos.11.0", "darwin", arm=True),
    "win_amd64": Target("x86_64-windows-gnu", "win32", arm=False),
}


def make(platform: str, target: Target, command: list[str], out: Path) -> Path:
    """Build one wheel."""
    with tempfile.TemporaryDirectory() as folder:
        library = compile_library(command, target, Path(folder))
        given = {"CMEANS_LIBRARY": str(library), "CMEANS_PLATFORM": platform}
        before = set(out.glob("*.whl"))
        subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)],
            env={**os.environ, **given},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (wheel,) = set(out.glob("*.whl")) - before
        return wheel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="", metavar="NAME", help="wheels whose platform tag holds NAME"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR")
    arguments = parser.parse_args()
    command = zig_compiler()
    if command is None:
        sys.exit("ziglang is not installed: python -m pip install ziglang build")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for platform, target in WHEELS.items():
        if arguments.only in platform:
            start = time.perf_counter()
            wheel = make(platform, target, command, arguments.out)
            print(
                f"{wheel.name}  {wheel.stat().st_size / 1e3:.0f} kB  "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
