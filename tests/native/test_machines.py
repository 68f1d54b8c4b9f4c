"""Native code gives the same bits on every machine and by every compiler, and reads and writes no
memory but its own."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cmeans
from cmeans.native.sources import BUILT, FOLDER, LIBRARY

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("driver.c")
FLAGS = [
    "-std=gnu11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-w",
    f"-I{FOLDER}",
]
# Addresses, shifts, overflows, bounds, alignment. What is left out doubles the work of the
# compiler: the first finds null pointers too, and the sizes of objects are known to optimised code
# alone.
SANITIZERS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize=null,object-size,pointer-overflow",
    "-fno-sanitize-recover=undefined",
]
CC = shutil.which("gcc") or shutil.which("cc")
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
HERE = {"v3": ["-march=x86-64-v3"]} if platform.machine() in ("x86_64", "AMD64") else {"arm64": []}

pytestmark = [
    pytest.mark.minutes,
    pytest.mark.skipif(CC is None or sys.platform == "win32", reason="needs a C compiler"),
]


def answers(
    command: list[str],
    variant: str,
    folder: Path,
    *runner: str,
    types: tuple[str, ...] = ("64", "32"),
) -> str:
    """What the driver prints for both float types, or one."""
    printed = ""
    for bits in types:
        program = folder / f"driver-{bits}"
        subprocess.run(
            [
                *command,
                *FLAGS,
                f"-DVARIANT={variant}",
                f"-DBITS={bits}",
                str(DRIVER),
                "-lm",
                "-o",
                str(program),
            ],
            check=True,
        )
        done = subprocess.run([*runner, str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    return printed


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    variant, flags = next(iter(HERE.items()))
    assert CC is not None
    return answers([CC, "-O2", *flags], variant, tmp_path_factory.mktemp("driver"))


def test_it_computes(expected):
    """Different digests for different work, and no two runs alike by chance."""
    lines = expected.splitlines()
    assert len(lines) == 1356
    assert len({line.split()[-1] for line in lines}) > 100


def test_sanitizers_find_nothing_and_change_nothing(expected, tmp_path):
    """By code that is not optimised, of one float type, as it takes long to compile."""
    variant, flags = next(iter(HERE.items()))
    assert CC is not None
    command = [CC, "-O0", *flags, *SANITIZERS]
    probe = subprocess.run(
        [*command, "-xc", "-", "-o", str(tmp_path / "probe")],
        input="int main(void) { return 0; }",
        text=True,
        check=False,
    )
    if probe.returncode:
        pytest.skip("the compiler has no sanitizers")
    found = answers(command, variant, tmp_path, "env", "ASAN_OPTIONS=detect_leaks=0", types=("64",))
    assert found
    assert expected.startswith(found)


@pytest.mark.skipif(sys.platform != "linux", reason="loads the sanitizers' library before Python")
def test_sanitizers_find_nothing_in_rows_that_python_hands_over(tmp_path):
    """However these lie in memory, and in searches of all rows for near ones, which the driver does
    not run: their tests, with a library that checks each address."""
    assert CC is not None
    # the second for exceptions of other libraries
    named = [[CC, f"-print-file-name={name}"] for name in ("libasan.so", "libstdc++.so.6")]
    loaded = [
        subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        for words in named
    ]
    if not all(Path(library).is_file() for library in loaded):
        pytest.skip("the compiler has no sanitizers")
    shutil.copytree(
        Path(cmeans.__file__).parent,
        tmp_path / "cmeans",
        ignore=shutil.ignore_patterns("__pycache__", BUILT),
    )
    (tmp_path / "cmeans" / "native" / BUILT).mkdir()
    words = {**os.environ, "CC": CC, "CFLAGS": " ".join(["-O0", "-g", *SANITIZERS])}
    variant, flags = next(iter(HERE.items()))
    build = (
        "import hatch_build as h, pathlib\nh.Target.variants = lambda self, by_zig: "
        f"{{{variant!r}: {flags}}}\n"
    )
    build += f"assert h.build_for_this_machine(pathlib.Path({str(tmp_path)!r}))[0]"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, env=words, check=True)
    shutil.move(tmp_path / LIBRARY, tmp_path / "cmeans" / "native" / BUILT / LIBRARY)
    words = {**os.environ, "PYTHONPATH": str(tmp_path), "CMEANS_NATIVE": variant}
    words |= {
        "LD_PRELOAD": " ".join(loaded),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-n0",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/fitting/test_views.py",
        "tests/graphs/test_communities.py::test_python_makes_what_native_code_makes",
        "tests/graphs/test_nearest_neighbours.py",
        "tests/graphs/test_spanning_tree.py",
    ]
    done = subprocess.run(
        [*tests, "-k", "not generic"],
        cwd=ROOT,
        env=words,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.skipif(
    QEMU is None or importlib.util.find_spec("ziglang") is None,
    reason="needs qemu-user and ziglang",
)
def test_arm64_gives_the_same_bits(expected, tmp_path):
    zig = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        "aarch64-linux-musl",
        "-static",
        "-O2",
        "-fno-sanitize=all",
    ]
    assert QEMU is not None
    assert answers(zig, "arm64", tmp_path, QEMU) == expected
