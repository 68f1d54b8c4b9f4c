"""Clusters with covariances on Dask collections: what the same rows in memory would say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import cmeans
from limited import limited

pytest.importorskip("dask", reason="Dask is not installed: pip install cmeans[dask]")
distributed = pytest.importorskip(
    "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
)
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow  # workers

CHUNKS = (500, 300, 50, 350)
N, D, C = sum(CHUNKS), 5, 3
rng = np.random.default_rng(7)
MIDDLES = np.array([[0.0, 0, 0, 0, 0], [9, 0, 3, 0, 0], [0, 9, 0, -3, 0]])
X = MIDDLES[rng.integers(0, C, N)] + rng.normal(size=(N, D))
START = MIDDLES + 1.0
WEIGHT = rng.integers(0, 4, N).astype(float)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    """Collections of a few MB would be read and clustered here."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0)


@pytest.fixture(scope="module")
def client():
    words = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**words) as cluster, distributed.Client(cluster) as client:
        yield client


def rows(x):
    return da.from_array(x, chunks=(CHUNKS, (2, D - 2)))


UNITS = np.array([1.0, 3.0, 0.2, 1.0, 30.0])
STRETCHED = [
    ("GaussianMixture", {"init": START * UNITS}, False),
    ("GaussianMixture", {"init": START * UNITS, "covariance": "diag"}, True),
    ("GaussianMixture", {"n_clusters": (2, 3), "max_iter": 2}, True),  # from starts that are drawn
    ("FuzzyCMeans", {"init": START * UNITS, "covariance": "full", "m": 1.5}, True),
    ("KernelKMeans", {"init": START * UNITS, "covariance": "tied", "kernel": "linear"}, False),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "words", "weighted"), STRETCHED)
def test_second_moments_are_sums_like_others(client, name, words, weighted):
    x, words = X * UNITS, {"n_clusters": C, "random_state": 0, "max_iter": 5, **words}
    weight = WEIGHT if weighted else None
    lazily = None if weight is None else da.from_array(weight, chunks=(CHUNKS,))
    here = getattr(cmeans, name)(**words).fit(x, sample_weight=weight)
    there = getattr(cmeans, name)(**words).fit(rows(x), sample_weight=lazily)
    assert there.labels_.dtype == np.int8  # not clustered here
    assert there.n_iter_ == here.n_iter_
    assert there.n_clusters_ == here.n_clusters_
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)
    np.testing.assert_array_equal(np.asarray(there.labels_), here.labels_)
    factors = there._state.metrics.factors, here._state.metrics.factors
    np.testing.assert_allclose(*factors, rtol=1e-7, atol=1e-12)
    known = np.asarray(there.memberships(rows(x)))
    np.testing.assert_allclose(known, here.memberships_, atol=1e-8)


def far_rows(x):
    """A tenth of the rows anywhere, two of them very far away."""
    x = x.copy()
    x[::10] = rng.uniform(-20.0, 20.0, (len(x[::10]), D))
    x[[7, 800]] *= 1e4
    return x


def holed(x):
    """A fifth of the values missing, and all of one row's."""
    holes = rng.random(x.shape) < 0.2
    holes[620] = True
    return np.where(holes, np.nan, x)


@pytest.mark.filterwarnings("ignore::cmeans.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init", ["drawn", "given"])
@pytest.mark.parametrize(
    ("spoilt", "words"), [(far_rows, {"noise": "auto"}), (holed, {"missing": "partial"})]
)
def test_noise_and_holes_are_those_of_memory(client, spoilt, words, init):
    x = spoilt(X) * UNITS
    own = {"max_iter": 5, "random_state": 0, **words}
    own |= {} if init == "drawn" else {"init": START * UNITS}
    here = cmeans.GaussianMixture(C, **own).fit(x)
    there = cmeans.GaussianMixture(C, **own).fit(rows(x))
    assert there.labels_.dtype == np.int8  # not clustered here
    labels = np.asarray(there.labels_)
    assert 0 < (labels == -1).sum() < 200
    if init == "given":
        np.testing.assert_array_equal(labels, here.labels_)
        assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)
    else:  # other draws
        assert adjusted_rand_score(here.labels_, labels) > 0.95
    np.testing.assert_allclose(there.score_samples(rows(x)), there.score_samples(x), rtol=1e-6)
    if "missing" in words:
        imputed = np.asarray(there.impute(rows(x)))
        np.testing.assert_allclose(imputed, there.impute(x), rtol=1e-9)
