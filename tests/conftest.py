"""What every test may use: real data sets, and Hypothesis without a stopwatch."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

# One thread for matrices of a few rows: more take longer to wake than to work, and are in the way of other tests' processes. Libraries
# read these when they are imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# Tests send interrupts, which processes that a shell has started in the background ignore, with all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No stopwatch, as a shared machine is slow now and then. The same tests get the same examples, and so the same verdict everywhere;
# HYPOTHESIS_PROFILE=search looks at others.
settings.register_profile("cmeans", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "cmeans"))


# The suite of each folder or file of tests that is not of the core. A mark on a test says another of this one test.
SUITES = {
    "ring": (
        *("cli", "engines", "fuzz", "inspection", "selection", "native/test_build.py", "native/test_library.py"),
        *("test_benchmarks.py", "test_docs.py", "test_examples.py", "test_extending.py", "test_migration.py", "test_papers.py"),
        *("test_policies.py", "test_tools.py"),
    ),
    "matrix": (
        *("data/files/test_same_rows.py", "estimators/test_embedding.py", "estimators/test_properties.py"),
        *("estimators/test_sklearn_checks.py", "fitting/test_stored_fits.py", "persistence/test_model_file.py"),
        *("persistence/test_parameters.py", "solvers/test_checkpoints.py", "streaming/test_checkpoints.py"),
        *("streaming/test_input.py", "streaming/test_states.py"),
    ),
}
# What these compare must depend on neither the kernels of the BLAS nor the native code that runs.
BITS = (
    *("estimators/test_against_naive.py", "estimators/test_equivalences.py", "solvers/test_stopping.py"),
    *("solvers/test_sweeps_in_a_row.py", "sweeps/test_exchange.py", "test_panel.py"),
)
TESTS = Path(__file__).parent


@cache
def suite_of(path: Path) -> str:
    """The suite of a file, by the table."""
    return next((suite for suite, places in SUITES.items() if _is_in(path, places)), "core")


@cache
def is_of_bits(path: Path) -> bool:
    return _is_in(path, BITS)


def _is_in(path: Path, places: Iterable[str]) -> bool:
    return any(path.is_relative_to(TESTS / place) for place in places)


@pytest.hookimpl(tryfirst=True)  # before pytest looks for the marks that are asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each test is of one suite, core, ring or matrix, but for those that take minutes, which are slow too."""
    for item in items:
        if item.get_closest_marker("minutes"):
            item.add_marker("slow")
        elif not any(item.get_closest_marker(suite) for suite in ("core", *SUITES)):
            item.add_marker(suite_of(item.path))
        if is_of_bits(item.path):
            item.add_marker("bits")


def pytest_collection_finish() -> None:
    """Eighteen thousand tests stay till the end: no search for garbage need look at them each time."""
    gc.freeze()


@pytest.fixture(autouse=True)
def threads_share_small_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of tests are so small that no thread would be woken for them."""
    monkeypatch.setattr("cmeans.engines.threads.WORTH_SHARING", 0.0)


@pytest.fixture(params=["generic", "native"])
def sweeps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of sweeps: without native code, and with it."""
    if request.param == "generic":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    return request.param


@pytest.fixture
def plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweep after sweep as the papers have it, where a loop of the tests is followed step by step; what mixing makes of it has tests of
    its own."""
    monkeypatch.setattr("cmeans.solvers.fixed_point._may_mix", lambda *_: False)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Matrices of a few rows, thousands of times: threads would take longer to wake than to work."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the real data sets, one NAME.npz each with X and y: $CMEANS_DATA, else ../shared/data beside the repository."""
    folder = Path(os.environ.get("CMEANS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}; set CMEANS_DATA to a folder of NAME.npz files with X and y")
    return folder


@pytest.fixture(scope="session")
def load_data(data_folder: Path) -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    """`X, y = load_data("wine")`: X in float64, labels as stored."""

    def load(name: str) -> tuple[np.ndarray, np.ndarray]:
        path = data_folder / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"no data set {path}")
        with np.load(path) as stored:
            return stored["X"].astype(np.float64), stored["y"]

    return load
