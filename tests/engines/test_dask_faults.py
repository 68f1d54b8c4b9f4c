"""Clusters that lose their scheduler, workers that die of a partition, and partitions of odd
kinds."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans import Search
from cmeans.data.row_source import RowsError
from cmeans.engines.parts.orders import Made
from cmeans.runtime.progress import listening
from limited import limited

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install cmeans[dask]")
distributed = pytest.importorskip(
    "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
)
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
pd = pytest.importorskip("pandas")

from cmeans.engines.dask import holder  # noqa: E402

pytestmark = pytest.mark.slow

rng = np.random.default_rng(3)
MIDDLES = np.array([[0.0, 0, 0], [9, 0, 3], [0, 9, -3]])
X = MIDDLES[rng.integers(0, 3, 3000)] + rng.normal(size=(3000, 3))
START = MIDDLES + 1.0
HERE = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with distributed.LocalCluster(**HERE) as cluster, distributed.Client(cluster) as client:
        yield client


def model(**words: Any) -> cmeans.FuzzyCMeans:
    return cmeans.FuzzyCMeans(
        **{"n_clusters": 3, "kernel": "linear", "init": START, "random_state": 0, **words}
    )


def table(x: np.ndarray = X) -> Any:
    return pd.DataFrame(x, columns=["a", "b", "c"])


# -------------------------------------------------------------------------- partitions of odd kinds


def test_shuffled_partitions_keep_each_row_s_label(client: Any) -> None:
    """Of sizes that are not known: labels are in the order in which the frame has its rows."""
    frame = dd.from_pandas(table().assign(at=np.arange(len(X)) % 7), npartitions=5)
    mixed = frame.shuffle("at", npartitions=4).drop(columns="at").persist()
    fitted, whole = model().fit(mixed), mixed.compute().to_numpy()
    labels = np.asarray(fitted.labels_)
    here = model().fit(whole)
    np.testing.assert_array_equal(labels, here.labels_)
    assert fitted.objective_ == pytest.approx(here.objective_, rel=1e-9)
    np.testing.assert_array_equal(fitted.predict(mixed).compute(), labels)


def test_nullable_columns_are_numbers_where_nothing_is_missing(client: Any) -> None:
    nullable = (
        table()
        .assign(b=(10 * table().b).round())
        .astype({"a": "Float64", "b": "Int64", "c": "Float32"})
    )
    frame = dd.from_pandas(nullable, npartitions=3)
    np.testing.assert_array_equal(
        np.asarray(model().fit(frame).labels_),
        model().fit(nullable.astype(float).to_numpy()).labels_,
    )
    nullable.loc[1700, "b"] = pd.NA
    with pytest.raises(
        ValueError,
        match=r"contains NaN, first in partition 1 at its row 700 \(row 1700 of all\), column 'b'",
    ):
        model().fit(dd.from_pandas(nullable, npartitions=3))


def test_labels_stay_on_the_workers(client: Any) -> None:
    rows = da.from_array(X, chunks=(700, 3))
    fitted = model().fit(rows)
    assert isinstance(fitted.labels_, da.Array)
    assert fitted.labels_.chunks == ((700, 700, 700, 700, 200),)
    np.testing.assert_array_equal(fitted.labels_.compute(), model().fit(X).labels_)
    assert isinstance(model().fit_predict(rows), da.Array)
    few = cmeans.SequentialPossibilisticCMeans(
        (1, 4), kernel="linear", sparsity=1.3, tol=1e-2, random_state=0
    )
    with pytest.warns(match="belong nowhere"):
        few.fit(rows)


def test_rows_that_change_are_one_line(client: Any) -> None:
    """As where a partition is made again of a source that is not the same twice."""
    rows = cmeans.DaskEngine(client).held(da.from_array(X, chunks=(700, 3)), "Owner")
    marks = rows.parts.arguments[1].values
    marks[2] = marks[2][0], marks[2][1] + 1
    said = r"partition 2 of a Dask array has other rows than .*persist it first \(x.persist"
    with pytest.raises(RowsError, match=said):
        model().fit(rows)


# ------------------------------------------------------------------- workers and schedulers that go


def test_a_partition_that_kills_its_workers_ends_the_fit_in_words() -> None:
    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if len(a) == 50:
            os._exit(1)
        return np.exp(-0.05 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    rows = da.from_array(X[:2050], chunks=((1000, 50, 1000), (3,)))
    words = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",
        "silence_logs": 50,
    }
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):  # noqa: SIM117
        with (
            distributed.LocalCluster(**words) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            fit = model(kernel=kernel, landmarks=X[:40], engine=cmeans.DaskEngine(client)).fit
            with pytest.raises(
                ValueError, match=r"workers .*give them more memory, or smaller partitions"
            ):
                fit(rows)


def test_a_moment_without_workers_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler never comes back to tasks for a worker that is gone while there is no other.
    Those of a fit are sent anew; those of its labels, for which anybody may ask, have no place."""
    monkeypatch.setattr(holder, "PATIENCE", 0.5)
    workers: list[Any] = []
    with (
        distributed.LocalCluster(**{**HERE, "n_workers": 0}) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        async def begin() -> None:
            workers.append(await distributed.Worker(cluster.scheduler_address, nthreads=1))

        cluster.sync(begin)
        rows = cmeans.DaskEngine(client).held(da.from_array(X, chunks=(700, 3)), "Owner")
        asked = Made(np.sum, (rows.parts,))
        before = rows.partitions.total(asked)
        cluster.sync(workers[0].close)
        another = threading.Timer(0.5, cluster.sync, [begin])
        another.start()
        after = rows.partitions.total(asked)
        another.join()
        free = holder.free

        def late(*words: Any) -> None:  # the worker is gone before what it keeps is free
            monkeypatch.setattr(holder, "free", free)
            cluster.sync(workers[1].close)
            cluster.sync(begin)
            free(*words)

        monkeypatch.setattr(holder, "free", late)
        labels = model(engine=cmeans.DaskEngine(client), max_iter=2, tol=1.0).fit(rows).labels_
        expected = client.compute(labels).result(timeout=60)
        cluster.sync(workers[2].close)
        another = threading.Timer(0.5, cluster.sync, [begin])
        another.start()
        again = client.compute(labels).result(timeout=60)
        another.join()
        cluster.sync(workers[3].close)
    assert after == before
    np.testing.assert_array_equal(again, expected)


def test_a_cluster_that_stays_without_workers_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holder, "PATIENCE", 0.1)
    monkeypatch.setattr(holder, "ALONE_FOR", 0.3)
    with (
        distributed.LocalCluster(**{**HERE, "n_workers": 0}) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(RowsError, match="no Dask worker is left; start some"),
    ):
        model(engine=cmeans.DaskEngine(client)).fit(da.from_array(X, chunks=(700, 3)))


SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker

async def run():
    async with Scheduler(port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()

asyncio.run(run())
"""


def test_a_scheduler_that_goes_leaves_a_checkpoint_and_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fit goes on from it, here in threads, to where it would have ended."""
    monkeypatch.setattr(holder, "LOST_AFTER", 1.0)
    command = [sys.executable, "-W", "ignore", "-c", SCHEDULER]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    words = {"search": Search(acceleration=None), "tol": 0.0, "max_iter": 30, "m": 1.7}
    whole = model(**words)
    with pytest.warns(match="max_iter"):
        whole.fit(X)

    def kill(progress: Any) -> None:
        if progress.sweep == 3 and progress.objective is not None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait(60)

    file = tmp_path / "fit.checkpoint"
    try:
        address = process.stdout.readline().strip()
        assert re.match("tcp://", address)
        client = distributed.Client(address, set_as_default=False, timeout="20s")
        rows = model(
            **words,
            engine=cmeans.DaskEngine(client, checkpoint=cmeans.Checkpoint(file, minutes=None)),
        )
        with (
            listening(kill),
            pytest.raises(ValueError, match=r"the Dask scheduler is gone.*resume=True"),
        ):
            rows.fit(da.from_array(X, chunks=(800, 3)))
        client.close(timeout=1)
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()
    with pytest.warns(match="max_iter"):
        resumed = model(
            **words, engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
        ).fit(X)
    np.testing.assert_allclose(resumed.objective_history_, whole.objective_history_, rtol=1e-9)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
