"""Connected pieces and communities of Dask collections: the tree and the graph are made here, and
labels come back as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans import ConnectivityClustering, ModularityClustering
from limited import limited

pytest.importorskip("dask", reason="Dask is not installed: pip install cmeans[dask]")
distributed = pytest.importorskip(
    "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
)
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow  # workers

CHUNKS = (250, 150, 25, 175)
N = sum(CHUNKS)
rng = np.random.default_rng(0)
Y = np.arange(N) % 3
X = rng.normal(0, 0.3, (N, 2)) + 6.0 * np.c_[Y, Y % 2]
WEIGHT = rng.integers(0, 3, N).astype(float)


@pytest.fixture(scope="module")
def client():
    words = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**words) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize(
    "words",
    [
        {"noise": "auto", "min_samples": 3},
        {"landmarks": 60, "random_state": 0},
        {"metric": "cosine", "landmarks": 60, "random_state": 0},
    ],
)
def test_pieces_are_those_of_the_rows_in_memory(client, monkeypatch, words) -> None:
    limited(monkeypatch, loaded_bytes=0)
    rows, weight = da.from_array(X, chunks=(CHUNKS, 2)), da.from_array(WEIGHT, chunks=(CHUNKS,))
    here = ConnectivityClustering(3, **words).fit(X, sample_weight=WEIGHT)
    there = ConnectivityClustering(3, **words).fit(rows, sample_weight=weight)
    for asked in (there.labels_, there.memberships_, there.predict(rows), there.transform(rows)):
        assert type(asked) is np.ndarray
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.cost_curve_, here.cost_curve_, rtol=1e-9)
    for k in (3, 7):
        np.testing.assert_array_equal(there.predict(rows, k=k), there.partition(k))
    assert there.score(rows, sample_weight=weight) == pytest.approx(-there.objective_)


@pytest.mark.parametrize("d", [2, 60])  # as they are, and along principal axes
def test_communities_are_those_of_the_rows_in_memory(client, monkeypatch, d) -> None:
    limited(monkeypatch, loaded_bytes=0)
    x = np.random.default_rng(1).normal(0, 0.3, (N, d)) + 6.0 * np.eye(d)[Y % 2 + Y // 2]
    rows, weight = da.from_array(x, chunks=(CHUNKS, d)), da.from_array(WEIGHT, chunks=(CHUNKS,))
    here = ModularityClustering(resolution=0.1).fit(x, sample_weight=WEIGHT)
    there = ModularityClustering(resolution=0.1).fit(rows, sample_weight=weight)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(rows), here.labels_)
    np.testing.assert_allclose(there.modularity_, here.modularity_, rtol=1e-9)
