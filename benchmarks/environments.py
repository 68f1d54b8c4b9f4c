"""The virtual environments of the peers: made once, each peer installed by itself, so that one that
fails stops no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path.home() / ".cache" / "cmeans-benchmarks"

# What is there first, and holds whatever a peer asks for; then the peers.
BASE = {
    # scikit-fuzzy imports the last without asking for it
    "numpy 2": ("numpy>=2", "scikit-learn==1.9.1", "threadpoolctl", "packaging"),
    "numpy 1": ("numpy<2", "threadpoolctl"),
}
PEERS = {
    "numpy 2": (
        "scikit-fuzzy==0.5.0",
        "soft-clustering==0.2.0",
        "scikit-fuzzy-c-means==0.1.3",
        "faiss-cpu==1.15.1",
        "superkmeans==0.2.0",
        "tslearn==0.10.0",
        "prosemble[jax]==2.4.0",
    ),
    "numpy 1": ("fuzzy-c-means==2.3.1", "kkmeans==0.1.0"),
}
OWN = "own"  # the environment that runs the driver, where cmeans is
UNWANTED = {"torch": "PyTorch, which is not downloaded here"}  # what a peer may not bring along
LONGEST = 900  # seconds an installation may take


class UnavailableError(RuntimeError):
    """A peer that cannot run here, with the reason in one line."""


def python_of(environment: str, requirement: str | None, folder: Path = FOLDER) -> str:
    """The interpreter of an environment that has `requirement`, which is installed at the first
    visit."""
    if environment == OWN:
        return sys.executable
    home = folder / environment.replace(" ", "-")
    python = str(home / "bin" / "python")
    record = home / "installed.json"
    if not record.exists():
        _create(environment, home)
    installed = json.loads(record.read_text())
    if requirement is not None and requirement not in installed:
        print(f"installing {requirement} ...", flush=True)
        installed[requirement] = _install(python, home, (requirement,))
        record.write_text(json.dumps(installed, indent=1))
    if requirement is not None and installed[requirement]:
        raise UnavailableError(installed[requirement])
    return python


def _create(environment: str, home: Path) -> None:
    print(f"making the environment {home} ...", flush=True)
    subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(home)],
        check=True,
        capture_output=True,
        text=True,
    )
    (home / "constraints.txt").write_text("\n".join(BASE[environment]) + "\n")
    complaint = _install(str(home / "bin" / "python"), home, BASE[environment])
    if complaint:
        raise UnavailableError(complaint)
    (home / "installed.json").write_text("{}")


def _install(python: str, home: Path, requirements: tuple[str, ...]) -> str:
    """Empty, or why it failed in one line."""
    pip = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        str(home / "constraints.txt"),
    ]
    try:
        plan = subprocess.run(
            [*pip, "--dry-run", "--report", "-", *requirements],
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
        if plan.returncode:
            return "not installed: " + _last_line(plan.stderr)
        names = {item["metadata"]["name"].lower() for item in json.loads(plan.stdout)["install"]}
        if bad := sorted(names & UNWANTED.keys()):
            return f"not installed: it needs {UNWANTED[bad[0]]}"
        done = subprocess.run(
            [*pip, *requirements], capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return f"not installed: no end after {LONGEST} s"
    return "not installed: " + _last_line(done.stderr) if done.returncode else ""


def _last_line(text: str) -> str:
    """The last error that pip prints, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line and not line.endswith(":")] or lines
    return (errors[-1] if errors else "no reason given")[:200]
