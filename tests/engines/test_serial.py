"""The engine that the documentation shows: what a user writes in a few lines gives the same bits as
threads do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docs.extending.engine import SerialEngine
from sklearn.base import clone
from sklearn.datasets import make_blobs

import cmeans
from cmeans.engines import Engine
from limited import limited

X = make_blobs(400, centers=4, n_features=3, random_state=0)[0]
FITS: dict[str, Any] = {
    "hard": cmeans.KernelKMeans(4, kernel="linear"),
    "landmarks": cmeans.FuzzyCMeans(4, m=1.4, kernel="rbf", landmarks=30),
    "exact": cmeans.KernelKMeans(4, kernel="rbf", landmarks=None),
    "noise": cmeans.FuzzyCMeans(4, noise="auto"),
    "possibilistic": cmeans.PossibilisticCMeans(4),
    "adaptive": cmeans.AdaptivePossibilisticCMeans(kernel="linear"),
    "distributions": cmeans.ProbabilisticKMeans(4, kernel="linear"),
    "graph": cmeans.KernelKMeans(4, kernel="landmark_graph", landmarks=50),
    "stream": cmeans.StreamingFuzzyCMeans(4, chunk_size=150),
    "patches": cmeans.KernelPatchClustering(4, patch_size=100, merge="tree"),
}


def assert_same_bits(one: Any, other: Any) -> None:
    assert one.objective_ == other.objective_
    np.testing.assert_array_equal(one.objective_history_, other.objective_history_)
    np.testing.assert_array_equal(one._state.centres.coordinates, other._state.centres.coordinates)
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_and_questions(name: str) -> None:
    threads = clone(FITS[name]).set_params(random_state=0, n_jobs=3).fit(X)
    serial = clone(FITS[name]).set_params(random_state=0, engine=SerialEngine()).fit(X)
    assert_same_bits(serial, threads)
    np.testing.assert_array_equal(
        serial.memberships(X[:50] + 0.1), threads.memberships(X[:50] + 0.1)
    )


@pytest.mark.parametrize("name", ["hard", "landmarks", "stream"])
def test_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0, canonical_rows=100)
    np.save(tmp_path / "rows.npy", X)
    rows = cmeans.open_blocks(tmp_path / "rows.npy")
    serial, threads = (
        clone(FITS[name]).set_params(random_state=0, engine=engine).fit(rows)
        for engine in (SerialEngine(), None)
    )
    assert_same_bits(serial, threads)
    put = [model.predict_to(rows, tmp_path / "labels.npy") for model in (serial, threads)]
    np.testing.assert_array_equal(*put)


def test_select() -> None:
    found = [
        cmeans.select(
            cmeans.KernelKMeans(kernel="linear", random_state=0, engine=engine),
            X,
            (2, 3),
            n_bootstrap=2,
            random_state=0,
        )
        for engine in (SerialEngine(), None)
    ]
    assert found[0].n_clusters == found[1].n_clusters
    for name in found[0].table.keys() - {"seconds"}:
        values = found[0].table[name]
        np.testing.assert_array_equal(values, found[1].table[name])


def test_chunks_of_a_stream() -> None:
    streams = [
        clone(FITS["stream"]).set_params(random_state=0, engine=engine)
        for engine in (SerialEngine(), None)
    ]
    for start in range(0, 400, 100):
        for stream in streams:
            stream.partial_fit(X[start : start + 100])
    assert_same_bits(*streams)


def test_the_landmark_graph() -> None:
    both = [
        cmeans.LandmarkGraph(2, landmarks=40, random_state=0, engine=engine).fit_transform(X)
        for engine in (SerialEngine(), None)
    ]
    np.testing.assert_array_equal(*both)


def test_an_engine_with_nothing_to_run_is_none() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Engine()  # type: ignore[abstract]


def test_parameters_of_an_engine_are_reached_by_their_names() -> None:
    model = cmeans.FuzzyCMeans(3, engine=cmeans.ThreadEngine(2, memory_budget="1GB"))
    assert model.get_params()["engine__memory_budget"] == "1GB"
    assert clone(model).engine == model.engine
    assert (
        model.engine.set_params(checkpoint=cmeans.Checkpoint("f"))
        .set_params(checkpoint__resume=True)
        .checkpoint.resume
    )
    assert repr(cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint("f", sweeps=3))) == (
        "ThreadEngine(checkpoint=Checkpoint(path='f', sweeps=3))"
    )
