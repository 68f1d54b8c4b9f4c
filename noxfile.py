"""Each stage of `.ci/run`, by the name that a person types: `nox -s lint`, `nox -s core`; `nox
--list` has them all.

A session installs what it needs into an environment of its own below `.nox`. With `--no-venv` it
installs nothing and runs in the environment that is active, which is quicker where one has been
made by the first command of CONTRIBUTING.md; `.ci/run` does so. What follows `--` goes to pytest:
`nox -s core -- tests/rules`.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
nox.options.sessions = ["core", "lint"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "uv|virtualenv"  # the quicker of those that are there


def install(session: nox.Session, *extras: str) -> None:
    """Install the checkout with extras, unless the session runs in the environment that is
    active."""
    if session.venv_backend != "none":
        session.install("-e", f".[{','.join(extras)}]")


def run_pytest(session: nox.Session, *words: str, **environment: str) -> None:
    """Run tests of the checkout, with variables of the environment beside those that are set."""
    session.run("python", "-m", "pytest", *words, *session.posargs, env=environment, external=True)


# -------------------------------------------------------------------------------------------- tests


@nox.session
def tests(session: nox.Session) -> None:
    """Run the README's test command: the suites core and ring."""
    install(session, "all", "test")
    run_pytest(session)


@nox.session
def products(session: nox.Session) -> None:
    """Run large products of choices, the suite matrix."""
    install(session, "all", "test")
    run_pytest(session, "-m", "matrix")


@nox.session
def core(session: nox.Session) -> None:
    """Run what a change needs: mathematics, contracts, estimators, fits."""
    install(session, "all", "test")
    run_pytest(session, "-m", "core")


@nox.session
def spark(session: nox.Session) -> None:
    """Run the tests on Spark, in two threads of this machine; it needs Java."""
    install(session, "spark", "test")
    run_pytest(session, "-n0", "tests/engines/test_spark.py")


@nox.session
def ray(session: nox.Session) -> None:
    """Run the tests on Ray, on this machine."""
    install(session, "ray", "test")
    run_pytest(session, "-n0", "tests/engines/test_ray.py")


def processors() -> list[dict[str, str]]:
    """Return the variables by which this machine computes as older ones would: the kernels of the
    BLAS and the native code of each; as itself it runs the other tests."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return [{"CMEANS_NATIVE": "off"}]
    return [
        {"OPENBLAS_CORETYPE": "Haswell", "CMEANS_NATIVE": "v3"},  # AVX2
        {"OPENBLAS_CORETYPE": "Nehalem", "CMEANS_NATIVE": "off"},  # SSE
    ]


@nox.session
def bits(session: nox.Session) -> None:
    """Run the tests of paths that rounding must not decide, as other processors and other native
    code round."""
    install(session, "all", "test")
    for variables in processors():
        run_pytest(session, "-q", "-m", "bits", "tests", **variables)


@nox.session
def matrix(session: nox.Session) -> None:
    """Run all tests as other processors and other native code round: half an hour or so, before a
    release."""
    install(session, "all", "test")
    for variables in processors():
        run_pytest(session, "-q", "tests", "src", **variables)


@nox.session
def sanitizers(session: nox.Session) -> None:
    """Run the native code under sanitizers, and as compilers for other machines make it."""
    install(session, "all", "test")
    run_pytest(session, "-n0", "-q", "-m", "minutes", "tests/native/test_machines.py")


@nox.session
def papers(session: nox.Session) -> None:
    """Run all papers on reduced sizes, and whatever else takes minutes."""
    install(session, "all", "test", "bench")
    run_pytest(session, "-m", "minutes", "--ignore=tests/native/test_machines.py")


# ---------------------------------------------------------------------------------- what is written


@nox.session
def lint(session: nox.Session) -> None:
    """Run the linters and the type checkers, of users' code too, and print the weight of the
    source."""
    install(session, "all", "test", "lint")
    session.run("ruff", "check", ".", external=True)
    session.run("ruff", "format", "--check", ".", external=True)
    session.run("mypy", external=True)
    session.run("python", "-m", "tools.user_types", external=True)
    session.run("python", "-m", "tools.weight", external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation in docs/_build or the folder that is given; a warning, such as of a
    link to nowhere, is an error. Words after the folder go to Sphinx. Examples need AnnData, which
    asks for an older pandas than the other tests have, so its own tests are run here."""
    install(session, "docs", "test")
    target, *words = session.posargs or ["docs/_build"]
    build = ["sphinx-build", "-W", "--keep-going", "-q", *words, "-b", "html", "docs", target]
    session.run(*build, external=True)
    session.run("python", "-m", "pytest", "-q", "-n0", "tests/test_anndata.py", external=True)


# -------------------------------------------------------------------------------- what is installed


def wheels(session: nox.Session) -> Path:
    """Return the folder that `packages` builds into, beside the sessions' environments."""
    return Path(session.virtualenv.location).resolve().parent / "dist"


def wheel(session: nox.Session) -> Path:
    """Return the wheel for this machine that `packages` has built."""
    built = sorted(wheels(session).glob("*-py3-none-[!a]*.whl"))
    if len(built) != 1:
        session.error(
            f"{len(built)} wheels for this machine in {wheels(session)}; `nox -s packages` builds "
            "one."
        )
    return built[0]


@nox.session
def packages(session: nox.Session) -> None:
    """Build both packages, write what they are made of and their digests beside them, and install
    the wheel, away from the sources."""
    session.install("build[uv]")
    shutil.rmtree(wheels(session), ignore_errors=True)
    installer = "uv" if session.venv_backend == "uv" else "pip"
    build = ["python", "-m", "build", "--installer", installer]
    session.run(*build, "--outdir", str(wheels(session)), silent=True)
    session.run("python", "-m", "tools.provenance", str(wheels(session)), silent=True)
    session.install("--force-reinstall", "--no-deps", str(wheel(session)))
    session.install(str(wheel(session)))
    session.chdir(session.create_tmp())
    session.run("python", "-c", WHEEL)


WHEEL = """
import cmeans, cmeans.native, sys
from pathlib import Path
assert cmeans.__file__.startswith(sys.prefix), cmeans.__file__
assert cmeans.native.is_available()
# by which a stale library is known
assert (Path(cmeans.native.__file__).parent / "tile.h").is_file()
print("cmeans", cmeans.__version__, cmeans.native.variant())
"""


def newest_python() -> str | None:
    """Return the newest released Python in PATH or pyenv; None where that is not newer than this
    one."""
    names = [shutil.which(f"python3.{minor}") for minor in range(20, 11, -1)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names += [str(path) for path in pyenv.glob("3.*/bin/python")]
    ask = "import sys; v = sys.version_info; print(v.releaselevel, *v[:3])"
    found = {}
    for name in filter(None, names):
        said = subprocess.run(
            [name, "-c", ask], capture_output=True, text=True, check=False
        ).stdout.split()
        if said[:1] == ["final"]:
            found[tuple(map(int, said[1:]))] = name
    newest = max(found, default=(0,))
    return found[newest] if newest[:2] > sys.version_info[:2] else None


@nox.session(python=newest_python())
def newest(session: nox.Session) -> None:
    """Try the wheel with the newest Python and the newest releases of all that it stands on; `nox
    -s packages newest`."""
    if session.python is None:
        session.skip(
            f"There is no newer Python than {platform.python_version()} here; the newest releases "
            "stay untested."
        )
    session.install(f"{wheel(session)}[cli]", "pytest", "pytest-xdist", "hypothesis", "pandas")
    session.run("python", "-c", VERSIONS)
    tried = [
        "persistence/test_older_files.py",
        "estimators/test_against_naive.py",
        "estimators/test_default_kernels.py",
    ]
    run_pytest(session, "-q", "-n2", *(f"tests/{name}" for name in tried))
    session.chdir(session.create_tmp())
    session.run("cmeans", "demo", silent=True)


VERSIONS = """
import importlib, sys
names = ("numpy", "scipy", "sklearn", "pandas", "pyarrow")
versions = (f"{name} {importlib.import_module(name).__version__}" for name in names)
print(sys.version.split()[0], *versions)
"""


def oldest_python() -> str | None:
    """Return a Python for which the oldest releases have wheels, as NumPy 1.26 and SciPy 1.11 have
    for 3.11 and 3.12 only."""
    if (3, 11) <= sys.version_info < (3, 13):
        return sys.executable
    return shutil.which("python3.11") or shutil.which("python3.12")


def oldest_releases() -> list[str]:
    """Return the lowest releases that pyproject.toml allows, of what the package needs at all, on
    Dask, in tests and for files."""
    project = nox.project.load_toml(ROOT / "pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    # Dask asks for any
    arrow = [requirement for requirement in extras["cli"] if requirement.startswith("pyarrow")]
    needed = [*project["dependencies"], *extras["dask"], *extras["test"], *arrow]
    return [re.sub(r">=(\S+)", r"==\1.*", requirement) for requirement in needed]


@nox.session(python=oldest_python())
def oldest(session: nox.Session) -> None:
    """Run scikit-learn's checks of estimators, model files and Dask with the oldest releases that
    pyproject.toml allows."""
    if session.python is None:
        session.skip("There is no Python 3.11 or 3.12 here; the oldest releases stay untested.")
    session.install(*oldest_releases())
    session.install("-e", ".")
    session.run("python", "-c", VERSIONS)
    tried = [
        "estimators/test_sklearn_checks.py",
        "sweeps/test_bounds.py",
        "persistence/test_pipelines.py",
    ]
    tried += ["persistence/test_older_files.py", "engines/test_dask.py"]
    run_pytest(session, *(f"tests/{name}" for name in tried), "-k", "not configured")
