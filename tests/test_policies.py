"""What `docs/policies.md` says can be relied on is so: each row of its table, on small data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import every_estimator
from cmeans import (
    Checkpoint,
    FuzzyCMeans,
    KernelKMeans,
    ProbabilisticKMeans,
    ThreadEngine,
    native,
    open_blocks,
)
from cmeans.runtime.progress import listening
from every_estimator import build, with_parameter
from limited import limited

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"
ROWS: dict[str, Callable[..., None]] = {}  # the test of each row, by what differs
N = 900
X = np.random.default_rng(0).normal(size=(N, 4)) + 3 * np.eye(4)[np.arange(N) % 4]
IN_MEMORY_OR_NOT = every_estimator.without(every_estimator.EVERY_NAME, *every_estimator.STREAMS)


def row(what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Note a test as that of the row that begins so."""

    def noted(test: Callable[..., None]) -> Callable[..., None]:
        ROWS[what] = test
        return test

    return noted


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def found(model: Any) -> dict[str, np.ndarray]:
    names = (
        "labels_",
        "memberships_",
        "cluster_centers_",
        "objective_",
        "n_iter_",
        "eta_",
        "landmarks_",
    )
    return {name: np.asarray(getattr(model, name)) for name in names if hasattr(model, name)}


def same_bits(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """Of rows that stay in files no memberships are kept."""
    assert one.keys() - {"memberships_"} == other.keys() - {"memberships_"}
    for name in one.keys() & other.keys():
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_every_row_has_a_test() -> None:
    table = re.search(
        r"\| what differs \| same bits\? \|\n\|---\|---\|\n((?:\|.*\n)+)",
        PAGE.read_text(encoding="utf-8"),
    )
    assert table is not None
    named = [line.split("|")[1].strip() for line in table[1].splitlines()]
    # `persistence/test_older_files.py` has files of earlier releases
    assert named == [*ROWS, "another release"]


@row("the engine; number of threads (`n_jobs`), of workers, of BLAS threads")
@pytest.mark.parametrize("name", with_parameter("n_jobs"))
def test_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, block_rows=64, narrow_block_rows=64, least_task_rows=64, task_values=256)
    short, fits = {"max_iter": 20} if name in with_parameter("max_iter") else {}, []
    for jobs, blas in ((1, 1), (3, 1), (2, 2)):
        with threadpool_limits(blas):
            fits.append(found(build(name, n_jobs=jobs, **short).fit(X)))
    for other in fits[1:]:
        same_bits(fits[0], other)


@row("rows in memory, in files, on Dask; blocks of another size")
@pytest.mark.parametrize("name", IN_MEMORY_OR_NOT)
def test_places(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of files are others than those of arrays; Dask has a folder of tests of its own, of
    which this is the promise."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=N - 1, exact_rows=N - 1, fixed_rows=300)
    np.save(tmp_path / "rows.npy", X)
    same_bits(found(build(name).fit(open_blocks(tmp_path / "rows.npy"))), found(build(name).fit(X)))


def test_the_solver_does_not_depend_on_the_place_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, loaded_bytes=0, canonical_rows=N - 1)
    np.save(tmp_path / "rows.npy", X)
    here, there = (
        ProbabilisticKMeans(2, random_state=0).fit(rows) for rows in (X, tmp_path / "rows.npy")
    )
    assert here.solver_ == there.solver_ == "batched"
    limited(monkeypatch, canonical_rows=N)
    assert ProbabilisticKMeans(2, random_state=0).fit(X).solver_ == "fagp"


@row("`memory_budget` of the engine")
def test_budgets() -> None:
    for make in (FuzzyCMeans, KernelKMeans):
        fits = [
            make(
                4,
                kernel="rbf",
                landmarks=30,
                random_state=0,
                engine=ThreadEngine(memory_budget=budget),
            ).fit(X)
            for budget in (None, "80MB", "2GB")
        ]
        for other in fits[1:]:
            same_bits(found(fits[0]), found(other))


@row("interrupted and resumed from a checkpoint")
def test_checkpoints(tmp_path: Path) -> None:
    words = {"n_clusters": 4, "m": 1.5, "n_init": 3, "random_state": 0}

    def interrupt(progress: Any) -> None:
        if progress.sweep == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        FuzzyCMeans(**words, engine=ThreadEngine(checkpoint=Checkpoint(tmp_path / "kept", 1))).fit(
            X
        )
    resumed = FuzzyCMeans(
        **words, engine=ThreadEngine(checkpoint=Checkpoint(tmp_path / "kept", 1, resume=True))
    ).fit(X)
    same_bits(found(FuzzyCMeans(**words).fit(X)), found(resumed))


@row("order of rows, copies instead of weights")
@pytest.mark.parametrize(
    "name", ["KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans", "TwoStepKernelKMeans"]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_orders(name: str, dtype: Any) -> None:
    x, order = X.astype(dtype), np.random.default_rng(1).permutation(N)
    one, other = (
        build(name, n_clusters=4, kernel="rbf", gamma="median", landmarks=30).fit(rows)
        for rows in (x, x[order])
    )
    # the same rows
    np.testing.assert_array_equal(
        np.sort(one.landmarks_, axis=0), np.sort(other.landmarks_, axis=0)
    )
    assert one.gamma_ == other.gamma_
    gap = np.sort(one.memberships_, axis=1)
    clear = gap[order, -1] - gap[order, -2] > 0.05
    np.testing.assert_array_equal(one.labels_[order][clear], other.labels_[clear])
    np.testing.assert_allclose(
        one.memberships_[order][clear],
        other.memberships_[clear],
        atol=1e-8 if dtype is np.float64 else 0.02,
    )
    copied = build(name, n_clusters=4).fit(np.repeat(x, 2, axis=0))
    weighed = build(name, n_clusters=4).fit(x, sample_weight=np.full(N, 2.0))
    assert adjusted_rand_score(copied.labels_[::2], weighed.labels_) > 0.99


@row("how an array lies in memory: its order, views, records, bytes turned round")
@pytest.mark.parametrize("name", every_estimator.EVERY_NAME)
def test_memory(name: str) -> None:
    """`fitting/test_views.py` has all views and all methods."""
    records = np.zeros(N, [("id", "i4"), ("x", ">f8", 4)])
    records["x"] = X
    same_bits(found(build(name).fit(records["x"][::-1][::-1])), found(build(name).fit(X)))


SHORT = """
import numpy as np
from cmeans import FuzzyCMeans
X = np.random.default_rng(0).normal(size=(300, 4)) + 3 * np.eye(4)[np.arange(300) % 4]
u = FuzzyCMeans(4, init=X[:4], max_iter=5, tol=0).fit(X).memberships_
"""


def memberships() -> np.ndarray:
    """Those of a short fit, as this process makes them."""
    said: dict[str, Any] = {}
    exec(SHORT, said)
    return said["u"]


@row("native code on AVX2, AVX-512, arm64")
@pytest.mark.skipif(
    native.variant() != "v4", reason="a machine with AVX-512 runs the code for AVX2 too"
)
def test_variants() -> None:
    """`native/test_machines.py` has all native functions, and arm64."""
    words = {**os.environ, "CMEANS_NATIVE": "v3", "PYTHONWARNINGS": "ignore"}
    printed = [sys.executable, "-c", SHORT + "print(u.tobytes().hex())"]
    done = subprocess.run(printed, env=words, capture_output=True, text=True, check=True)
    np.testing.assert_array_equal(
        np.frombuffer(bytes.fromhex(done.stdout.strip())).reshape(-1, 4), memberships()
    )


@row("another processor or BLAS, with and without native code (`CMEANS_NATIVE=off`)")
def test_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = memberships()
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    np.testing.assert_allclose(memberships(), with_it, atol=1e-9)
