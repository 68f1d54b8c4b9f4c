"""The library of native code: chosen for the machine, forced, stale, missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans import native
from cmeans.native.sources import BUILT, FOLDER, LIBRARY, digest

pytestmark = pytest.mark.slow

CPUINFO = Path("/proc/cpuinfo")
V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
ASK = "from cmeans import native; print(native.is_available(), native.variant())"
FIT = (
    "import numpy as np, cmeans; print(cmeans.KernelKMeans(2, kernel='linear', init=[0, "
    "9]).fit(np.arange(10.0)[:, None]).objective_)"
)


def answer() -> str:
    """What a process prints for FIT."""
    model = cmeans.KernelKMeans(2, kernel="linear", init=[0, 9]).fit(np.arange(10.0)[:, None])
    return f"{model.objective_}\n"


def run(
    program: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A process with the package of a folder, the one that is tested unless given."""
    variables = {name: value for name, value in os.environ.items() if name != "CMEANS_NATIVE"}
    variables |= {"PYTHONPATH": str(folder or Path(cmeans.__file__).parents[1]), **environment}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """The package, in a folder of its own."""
    shutil.copytree(
        Path(cmeans.__file__).parent,
        tmp_path / "cmeans",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return tmp_path


def flags() -> set[str]:
    """What the system says of the processor."""
    if platform.machine() != "x86_64" or not CPUINFO.is_file():
        pytest.skip("needs an x86-64 processor that /proc/cpuinfo tells of")
    return set(
        next(line for line in CPUINFO.read_text().splitlines() if line.startswith("flags")).split()
    )


def test_these_tests_run_native_code():
    """Or they would hold nothing but generic sweeps to the formulas."""
    assert native.is_available() or os.environ.get("CMEANS_NATIVE") == "off"


def test_the_variant_is_one_that_the_processor_runs():
    known = flags()
    expected = "v4" if known >= V4 else "v3" if known >= V3 else None
    assert run(ASK).stdout.split() == [str(expected is not None), str(expected)]


def test_a_variant_may_be_forced():
    known = flags()
    for variant, needed in (("v3", V3), ("v4", V4)):
        done = run(ASK, CMEANS_NATIVE=variant)
        if known >= needed:
            assert done.stdout.split() == ["True", variant]
        else:
            assert f"ValueError: CMEANS_NATIVE={variant}: this machine runs v3" in done.stderr


@pytest.mark.parametrize("value", ["v5", "on", "arm64"])
def test_a_variant_that_is_none_is_refused(value):
    flags()
    done = run(ASK, CMEANS_NATIVE=value)
    assert done.returncode == 1
    assert f"CMEANS_NATIVE={value}: " in done.stderr


def test_without_native_code_on_purpose_nothing_is_said():
    done = run(f"{ASK}\n{FIT}", CMEANS_NATIVE="off")
    assert (done.stdout, done.stderr) == (f"False None\n{answer()}", "")


def test_a_library_that_is_missing_is_said_once(elsewhere):
    (elsewhere / "cmeans" / "native" / BUILT / LIBRARY).unlink()
    done = run(f"{ASK}\n{ASK}", elsewhere)
    assert done.stdout == 2 * "False None\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "it was installed without any" in done.stderr
    assert "pip install" in done.stderr


@pytest.mark.parametrize("name", ["tile.h", "rules/hard.h", "machine.c"])
def test_a_library_older_than_the_c_files_is_not_used(name, elsewhere):
    with (elsewhere / "cmeans" / "native" / name).open("a", encoding="utf-8") as file:
        file.write("/* changed */\n")
    done = run(ASK, elsewhere)
    assert done.stdout.split() == ["False", "None"]
    assert "the C files have changed since it was built" in done.stderr


def test_a_file_that_is_no_library_is_not_used(elsewhere):
    (elsewhere / "cmeans" / "native" / BUILT / LIBRARY).write_bytes(b"nothing")
    done = run(ASK, elsewhere)
    assert (done.returncode, done.stdout) == (0, "False None\n")
    assert "without its native code" in done.stderr


def test_the_digest_knows_names_and_texts_and_not_ends_of_lines(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "c", ignore=shutil.ignore_patterns("__pycache__", BUILT))
    assert digest(tmp_path / "c") == digest()
    header = tmp_path / "c" / "tile.h"
    header.write_bytes(header.read_bytes().replace(b"\n", b"\r\n"))
    assert digest(tmp_path / "c") == digest()
    header.rename(header.with_name("other.h"))
    assert digest(tmp_path / "c") != digest()


def test_threads_that_ask_first_get_the_same():
    program = (
        "from concurrent.futures import ThreadPoolExecutor as Pool; from cmeans import native\n"
        "print(len({id(native.calls._loaded()) for _ in range(1)} | set(Pool(8).map(lambda _: "
        "id(native.calls._loaded()), range(64)))))"
    )
    assert run(program).stdout.split() == ["1"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on():
    program = (
        f"{FIT}\nimport os, sys\nsys.stdout.flush()\npid = os.fork()\nif pid: "
        f"print(os.waitpid(pid, 0)[1])\n{FIT}"
    )
    said = answer().strip()
    assert run(program).stdout.split() == [said, said, "0", said]
