"""Streams over Dask partitions: the same bits as over the same rows in memory, though no chunk
passes the client."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans import Search
from cmeans.papers import StreamingKernelFCM
from cmeans.runtime.progress import listening
from limited import limited
from notebook import Notebook, with_callbacks
from sweep_choices import once

pytest.importorskip("dask", reason="Dask is not installed: pip install cmeans[dask]")
distributed = pytest.importorskip(
    "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
)
da = pytest.importorskip("dask.array")


from cmeans.engines.dask import session as sessions  # noqa: E402
from cmeans.engines.dask.holder import DaskHolder  # noqa: E402
from cmeans.engines.parts.partitions import HeldPartitions  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning"),
]

CHUNKS = (550, 450, 650, 225, 25, 600)
N, D, C = sum(CHUNKS), 4, 4
rng = np.random.default_rng(0)
X = rng.normal(size=(N, D)) + 5.0 * rng.normal(size=(C, D))[rng.integers(C, size=N)]
# some chunks have none
WEIGHT = np.where((np.arange(N) >= 750) & (np.arange(N) < 1050), 0, rng.integers(0, 4, N)).astype(
    float
)
KNOWN = np.where(np.arange(N) % 25 == 0, np.arange(N) // 25 % C, -1)
SAME = (
    "n_iter_",
    "row_visits_",
    "converged_",
    "stop_reason_",
    "n_clusters_",
    "n_chunks_",
    "n_samples_seen_",
    "gamma_",
    "n_landmarks_",
)
RBF = {"kernel": "rbf", "gamma": 0.1}

FITS: dict[str, tuple[type, dict[str, Any]]] = {
    "linear": (cmeans.StreamingFuzzyCMeans, {"chunk_size": 250}),
    "landmarks": (
        cmeans.StreamingFuzzyCMeans,
        {"chunk_size": 250, "kernel": "rbf", "landmarks": 60, "warm_up": 350},
    ),
    "hard": (
        cmeans.StreamingFuzzyCMeans,
        {"chunk_size": 250, **RBF, "rule": "hard", "landmarks": 25},
    ),
    "projection": (
        StreamingKernelFCM,
        {"chunk_size": 166, **RBF, "method": "projection", "decay": 0.9},
    ),
    "noise": (
        StreamingKernelFCM,
        {"chunk_size": 250, "noise": "auto", "m": 1.5, "method": "landmarks", "past_weight": "u"},
    ),
    "graph": (
        cmeans.StreamingFuzzyCMeans,
        {"chunk_size": 500, "kernel": "landmark_graph", "landmarks": 40},
    ),
    "one chunk": (cmeans.StreamingFuzzyCMeans, {}),
    "chain": (cmeans.KernelPatchClustering, {"patch_size": 250, "n_points": 3}),
    "tree": (cmeans.KernelPatchClustering, {"patch_size": 166, "n_points": 3, "merge": "tree"}),
}
TOLD = ("nothing", "weights here", "weights there", "labels there")


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0)


def local(workers: int, **words: Any) -> Any:
    given = {
        "n_workers": workers,
        "threads_per_worker": 2,
        "processes": False,
        "dashboard_address": ":0",
        **words,
    }
    return distributed.LocalCluster(**given)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local(2) as cluster, distributed.Client(cluster) as client:
        yield client


def rows(x: np.ndarray = X) -> Any:
    return da.from_array(x, chunks=(CHUNKS, (2, D - 2)))


def model(name: str, **words: Any) -> Any:
    estimator, parameters = FITS[name]
    return estimator(**{"n_clusters": C, "random_state": 3, **parameters, **words})


def assert_same_bits(there: Any, here: Any) -> None:
    for attribute in SAME:
        assert getattr(there, attribute) == getattr(here, attribute), attribute
    for attribute in ("objective_history_", "projection_loss_", "mass_"):
        np.testing.assert_array_equal(getattr(there, attribute), getattr(here, attribute))
    np.testing.assert_array_equal(there._state.centres.coordinates, here._state.centres.coordinates)
    np.testing.assert_array_equal(np.asarray(there.labels_), here.labels_)
    # of all rows, added in another order
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)


@pytest.mark.parametrize(("name", "told"), once(FITS, TOLD))
def test_the_same_bits_as_in_memory(client: Any, name: str, told: str) -> None:
    here, there = dict[str, Any](), dict[str, Any]()
    if told != "nothing":
        here["sample_weight"] = WEIGHT
        there["sample_weight"] = (
            WEIGHT if told == "weights here" else da.from_array(WEIGHT, chunks=350)
        )
    if told == "labels there" and FITS[name][0] is cmeans.StreamingFuzzyCMeans:
        here["known_labels"], there["known_labels"] = KNOWN, da.from_array(KNOWN, chunks=450)
    assert_same_bits(model(name).fit(rows(), **there), model(name).fit(X, **here))


@pytest.mark.parametrize("name", FITS)
def test_nothing_of_the_size_of_the_rows_comes_here(
    client: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Of 10,000 or 20,000 rows no chunk, and states of up to 60 kB; that of a projection holds the
    points of one chunk."""
    brought, answers, bring, results = [], [], HeldPartitions._brought, DaskHolder.gathered

    def watched(self: Any, wanted: Any, parts: Any) -> Any:
        pieces = bring(self, wanted, parts)
        brought.append(sum(map(len, pieces)))
        return pieces

    def came(self: Any, tasks: Any, wanted: Any) -> Any:
        found = results(self, tasks, wanted)
        answers.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(HeldPartitions, "_brought", watched)
    monkeypatch.setattr(DaskHolder, "gathered", came)
    many = np.concatenate([X + 0.01 * number for number in range(8 if name == "one chunk" else 4)])
    fitted = model(name).fit(da.from_array(many, chunks=(len(many) // 4, D)))
    assert fitted.n_chunks_ >= 4
    assert not sum(brought)
    assert max(answers) < 60_000
    assert isinstance(fitted.labels_, da.Array)


def stopping_after(messages: int) -> Any:
    left = [messages]

    def stop(_: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize("name", ["landmarks", "projection", "chain"])
def test_a_checkpoint_is_gone_on_from_there_and_here(
    client: Any, tmp_path: Path, name: str
) -> None:
    file, whole = tmp_path / "fit.checkpoint", model(name).fit(X)
    for again in (rows(), X):
        with listening(stopping_after(3)), pytest.raises(KeyboardInterrupt):
            model(name, engine=cmeans.DaskEngine(checkpoint=file)).fit(rows())
        assert_same_bits(
            model(
                name, engine=cmeans.DaskEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
            ).fit(again),
            whole,
        )


def test_a_checkpoint_of_a_tree_keeps_its_patches(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, whole, told = tmp_path / "fit.checkpoint", model("tree").fit(X), []
    monkeypatch.setattr(DaskHolder, "at_once", 3)
    results = DaskHolder.gathered

    def sent(self: Any, tasks: Any, wanted: Any) -> Any:
        chunks = sum(key.startswith("cmeans-chunks") for key in tasks)
        told.extend([chunks] if chunks else [])
        if len(told) == 4 and chunks:
            raise KeyboardInterrupt
        return results(self, tasks, wanted)

    monkeypatch.setattr(DaskHolder, "gathered", sent)
    with pytest.raises(KeyboardInterrupt):
        model("tree", engine=cmeans.DaskEngine(checkpoint=file)).fit(rows())
    again = model("tree", engine=cmeans.DaskEngine(checkpoint=cmeans.Checkpoint(file, resume=True)))
    assert_same_bits(again.fit(rows()), whole)
    assert told == [1, 3, 3, 3, 1, 3, 3, 3]  # the first patch, and of 15 others nine are left


@pytest.mark.minutes  # processes; a worker dies in test_dask.py too
def test_a_worker_that_dies_takes_nothing_along() -> None:
    """One of two processes is killed after the fourth state, and a nanny starts another; what
    workers warn of is heard here."""
    words = {"processes": True, "threads_per_worker": 1, "memory_limit": "1GiB", "silence_logs": 50}
    with local(2, **words) as cluster, distributed.Client(cluster) as client:
        killed, heard = [], []

        def kill(progress: Any) -> None:
            heard.append(progress.run)
            if len(heard) == 4:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        with pytest.warns(match='kernel="linear" needs no gamma') as warned, listening(kill):
            there = model("linear", gamma=2).fit(rows())
        assert killed
        assert heard[-1] == there.n_chunks_ - 1
        assert len(warned) == 1
        assert warned[0].filename == __file__
        assert_same_bits(there, model("linear").fit(X))


def test_errors_of_workers_come_in_their_own_words(client: Any) -> None:
    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if (a[:, 0] > 90).any() or (b[:, 0] > 90).any():
            raise ArithmeticError("this chunk is odd")
        return np.exp(-0.05 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    odd = X.copy()
    odd[550, 0] = 99.0
    for name in ("landmarks", "chain", "tree"):
        with pytest.raises(ArithmeticError, match="this chunk is odd"):
            model(name, kernel=kernel).fit(rows(odd))
    odd[550, 0], odd[1500, 0] = X[550, 0], np.nan
    with pytest.raises(
        ValueError,
        match=r"contains NaN, first in partition 2 at its row 500 \(row 1500 of all\), column 0",
    ):
        model("landmarks").fit(rows(odd))
    assert_same_bits(model("linear").fit(rows()), model("linear").fit(X))


def test_an_interrupt_leaves_the_cluster_usable(client: Any) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    bell = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))

    def third(progress: Any) -> None:
        if progress.run >= 2 and bell.ident is None:
            bell.start()

    with listening(third), pytest.raises(KeyboardInterrupt):
        model("landmarks", chunk_size=20, tol=0.0, warm_up=0, search=Search(acceleration=None)).fit(
            rows()
        )
    assert_same_bits(model("linear").fit(rows()), model("linear").fit(X))


@with_callbacks
def test_callbacks_hear_of_chunks_and_may_end_the_fit(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_CHUNKS", 1)
    notebook = Notebook()
    fitted = model("landmarks").set_callbacks(notebook).fit(rows())
    assert len(notebook.sweeps) == fitted.n_chunks_
    ended = model("landmarks").set_callbacks(Notebook(5)).fit(rows())
    assert ended.n_chunks_ == 5
    assert not ended.converged_
    assert "callback" in ended.stop_reason_
