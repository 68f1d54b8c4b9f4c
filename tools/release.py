"""All that a release is made of, checked: python -m tools.release [--out DIR] [--tests].

The tree is clean and the version the same everywhere; the sdist and the wheels of every system are
built, read by twine, and have their bills of materials and digests beside them; this machine's
wheel is installed in a fresh environment of every Python that is here, where the demonstration
runs. With --tests the suite runs from the unpacked sdist. Nothing is uploaded: the commands for
that are printed at the end. Needs `build`, `twine` and `ziglang`.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from datetime import date
from pathlib import Path

from hatch_build import ROOT

from tools import provenance

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
# of Linux; elsewhere pip takes the sdist
HERE = {"x86_64": "manylinux_2_17_x86_64", "aarch64": "manylinux_2_17_aarch64"}


def run(*command: str | Path, at: Path = ROOT) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=at, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def version() -> str:
    """Return the version, where everything that names one agrees and says that it is a release."""
    found = re.search(
        r'__version__ = "(.*)"', (ROOT / "src" / "cmeans" / "runtime" / "version.py").read_text()
    )
    assert found
    wanted = found[1]
    complaints = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", wanted):
        complaints.append(f"src/cmeans/runtime/version.py says {wanted}, which is no release")
    if not re.search(
        rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d$",
        (ROOT / "CHANGELOG.md").read_text(),
        flags=re.M,
    ):
        complaints.append(f"CHANGELOG.md has no section: ## [{wanted}] - {date.today()}")
    if f"version: {wanted}\n" not in (ROOT / "CITATION.cff").read_text():
        complaints.append("CITATION.cff names another version")
    if f'set version = "{wanted}"' not in (ROOT / "conda" / "meta.yaml").read_text():
        complaints.append("conda/meta.yaml names another version")
    if run("git", "status", "--porcelain"):
        complaints.append("the tree has changes that are not committed")
    if complaints:
        sys.exit("no release: " + "; ".join(complaints))
    return wanted


def install(wheel: Path, python: str, folder: Path) -> None:
    """Install the wheel in a fresh environment and run the demonstration there, away from the
    sources."""
    environment = folder / python
    run(python, "-m", "venv", environment)
    run(environment / "bin" / "pip", "install", "-q", f"{wheel}[all]")
    run(
        environment / "bin" / "python",
        "-c",
        "import cmeans.native; assert cmeans.native.is_available()",
        at=folder,
    )
    run(environment / "bin" / "cmeans", "demo", at=folder)
    print(
        f"{python}: {run(environment / 'bin' / 'python', '--version').strip()}, installed, "
        "demonstration done",
        flush=True,
    )


def tests_from_sdist(sdist: Path, folder: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    sources = folder / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "venv", folder / "tests")
    run(folder / "tests" / "bin" / "pip", "install", "-q", "-e", f"{sources}[all,test]")
    print(
        run(folder / "tests" / "bin" / "python", "-m", "pytest", "-q", at=sources).splitlines()[-1]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR")
    parser.add_argument(
        "--tests", action="store_true", help="run the suite from the unpacked sdist"
    )
    arguments = parser.parse_args()
    name, out = version(), arguments.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    print(run(sys.executable, "-m", "build", "--sdist", "--outdir", out).splitlines()[-1])
    print(run(sys.executable, "-m", "tools.wheels", "--out", out), end="")
    print(run(sys.executable, "-m", "twine", "check", "--strict", *sorted(out.iterdir())), end="")
    provenance.write(out, out)
    with tempfile.TemporaryDirectory() as folder:
        wheels = [
            wheel for wheel in out.glob("*.whl") if HERE.get(platform.machine(), "-") in wheel.name
        ]
        for python in PYTHONS:
            if (
                wheels
                and shutil.which(python)
                and not subprocess.run(
                    [python, "--version"], capture_output=True, check=False
                ).returncode
            ):
                install(wheels[0], python, Path(folder))
            else:
                print(
                    f"{python}: not tried, as "
                    f"{'it is not in PATH' if wheels else 'no wheel is for this machine'}",
                    flush=True,
                )
        if arguments.tests:
            tests_from_sdist(out / f"cmeans-{name}.tar.gz", Path(folder))
    upload = f"python -m twine upload {out}/*.whl {out}/*.gz"
    print(f"Ready. git tag v{name} && git push --tags && {upload}")


if __name__ == "__main__":
    main()
