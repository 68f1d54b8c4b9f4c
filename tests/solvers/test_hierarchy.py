"""Clusters within cells: near what sweeps from k-means++ reach, the same for any number of threads
and for files, and right on rows that are hard for trainers of vector indexes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from cmeans import CMeans, FuzzyCMeans, KernelKMeans
from cmeans.solvers import hierarchy, probes
from cmeans.solvers.cells import shares

TRAINERS: dict[str, dict[str, Any]] = {
    "flat": {"search": None},
    "hierarchical": {"search": "hierarchical"},
}
of_all_trainers = pytest.mark.parametrize("name", TRAINERS)


def trained(name: str, x: np.ndarray, c: int, **more: Any) -> KernelKMeans:
    model = KernelKMeans(c, kernel="linear", random_state=0, n_jobs=1, **TRAINERS[name], **more)
    return model.fit(x)


def heavy_tailed(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    centres, mass = rng.standard_normal((60, d)), rng.pareto(1.5, 60) + 0.05
    y = rng.choice(60, n, p=mass / mass.sum())
    return (centres[y] + 0.4 * rng.standard_normal((n, d))).astype(np.float32)


@pytest.mark.parametrize("c", [64, 256], ids=["cells", "merged draws"])
def test_objective_is_near_that_of_sweeps_without_an_end(c: int) -> None:
    x = heavy_tailed(6000, 16)
    flat, cells = trained("flat", x, c), trained("hierarchical", x, c)
    assert cells.n_iter_ == 2
    assert cells.converged_
    assert cells.stop_reason_ == "ended as planned after 2 sweeps over all rows"
    assert cells.objective_ <= 1.02 * flat.objective_


@pytest.mark.parametrize("c", [100, 300], ids=["cells", "merged draws"])
def test_bits_are_those_of_one_thread_and_of_a_file(c: int, tmp_path: Path) -> None:
    x = heavy_tailed(5000, 8)
    np.save(tmp_path / "x.npy", x)
    one = trained("hierarchical", x, c)
    words = {"kernel": "linear", "search": "hierarchical", "random_state": 0}
    two = KernelKMeans(c, n_jobs=2, **words).fit(x)
    stored = KernelKMeans(c, n_jobs=2, **words).fit(tmp_path / "x.npy")
    for other in (two, stored):
        np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_)
        np.testing.assert_array_equal(other.labels_[:], one.labels_)


@pytest.mark.parametrize(
    ("sampled", "more"), [(16, 1.06), (32, 1.03)], ids=["cells", "merged draws"]
)
def test_sweeps_probe_few_groups_of_many_clusters(
    sampled: int, more: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, c = np.random.default_rng(2), 300
    x = (rng.normal(size=(5000, 8)) @ rng.normal(size=(8, 140))).astype(np.float32)
    full = trained("hierarchical", x, c, tol=0.0)
    monkeypatch.setattr(hierarchy, "MOST_MERGED", 0)
    monkeypatch.setattr(hierarchy, "PROBED_SAMPLED", sampled)
    monkeypatch.setattr(probes, "PROBES", (2,))
    probed = trained("hierarchical", x, c, tol=0.0)
    assert (full.n_iter_, probed.n_iter_) == (2, 1)
    assert probed.objective_ <= more * full.objective_
    assert np.bincount(probed.labels_, minlength=c).min() > 0
    assert np.array_equal(probed.labels_, probed.predict(x))
    np.save(tmp_path / "x.npy", x)
    words = {"kernel": "linear", "search": "hierarchical", "random_state": 0, "tol": 0.0}
    for given in (x, tmp_path / "x.npy"):
        other = KernelKMeans(c, n_jobs=2, **words).fit(given)
        np.testing.assert_array_equal(other.cluster_centers_, probed.cluster_centers_)
        np.testing.assert_array_equal(other.labels_[:], probed.labels_)


def test_soft_rules_begin_there() -> None:
    x = heavy_tailed(3000, 4)
    soft = FuzzyCMeans(16, m=1.1, search="hierarchical", random_state=0).fit(x)
    assert soft.stop_reason_.startswith("converged")
    plain = FuzzyCMeans(16, m=1.1, search=None, random_state=0).fit(x)
    assert soft.objective_ == pytest.approx(plain.objective_, rel=0.02)


def test_cells_get_clusters_by_their_spread_and_no_more_than_rows() -> None:
    assert shares(np.array([6.0, 3.0, 1.0]), np.array([99, 99, 99]), 10).tolist() == [6, 3, 1]
    assert shares(np.array([9.0, 0.5, 0.5]), np.array([2, 9, 9]), 8).tolist() == [2, 3, 3]
    assert shares(np.array([1.0, 0.0, 1.0]), np.array([5, 0, 5]), 20).tolist() == [5, 0, 5]


@of_all_trainers
def test_corners_of_a_cube_are_found(name: str) -> None:
    """Quantised embeddings have such corners; ends of other trainers are a hundred times worse."""
    rng, y = np.random.default_rng(23), np.arange(256 * 40) % 256
    corners = ((y[:, None] >> np.arange(8)) % 2) * 234.0 - 117.0
    x = (corners + rng.normal(0, 2, corners.shape)).astype(np.float32)
    assert trained(name, x, 256).objective_ <= 1.05 * len(x) * 32


@of_all_trainers
@pytest.mark.parametrize("copies", [6, 12], ids=["few", "many"])  # sorted first, or as they come
def test_fewer_different_rows_make_as_many_clusters_and_say_so(name: str, copies: int) -> None:
    x = np.random.default_rng(24).normal(size=(239, 32)).astype(np.float32)
    with pytest.warns(ConvergenceWarning, match="only 239 distinct rows") as said:
        model = trained(name, np.tile(x, (copies, 1)), 472)
    assert len(said) == 1
    assert model.n_clusters_ == len(np.unique(model.cluster_centers_, axis=0)) == 239
    assert np.bincount(model.labels_).min() > 0


@of_all_trainers
def test_sorted_rows_are_sampled_throughout(name: str) -> None:
    rng, y = np.random.default_rng(1), np.repeat(np.arange(20), 500)
    x = rng.normal(0, 0.2, (len(y), 2)) + np.array([[i % 5, i // 5] for i in range(20)])[y] * 3
    model = trained(name, x, 20, n_init=3)
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize("name", ["flat", "hierarchical"])
def test_opposite_rows_have_no_direction_together(name: str) -> None:
    v, y = np.random.default_rng(22).normal(size=(1, 16)), np.repeat([0, 1], 50)
    x = np.repeat(v, 100, axis=0) * np.where(y, 1.0, -1.0)[:, None]
    one = trained(name, x, 1, metric="cosine")
    assert np.isfinite(one.cluster_centers_).all()
    assert np.isfinite(one.objective_)
    two = trained(name, x, 2, metric="cosine")
    assert adjusted_rand_score(y, two.labels_) == 1.0


@pytest.mark.parametrize("name", ["flat", "hierarchical"])
def test_sums_of_bytes_do_not_overflow(name: str) -> None:
    """127^2 times 128 columns times 2,100 rows are above 2^32, and int8 has no 128; bytes are swept
    in single precision, in which the squares of such rows have steps of a quarter."""
    rng, y = np.random.default_rng(21), np.arange(2100) % 2
    x = np.where(y[:, None], 127, -128 + (rng.random((2100, 128)) < 0.5)).astype(np.int8)
    model = trained(name, x, 2)
    exact = trained(name, x.astype(np.float64), 2)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    np.testing.assert_allclose(model.cluster_centers_, exact.cluster_centers_, rtol=1e-5)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-2)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelKMeans(3, search="hierarchical"), "cells are made of samples"),
        (KernelKMeans(3, init="random", search="hierarchical"), "leave init out"),
        (
            CMeans(3, covariance="full", search="hierarchical"),
            "begin at hard partitions of their own",
        ),
    ],
)
def test_other_starts_are_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(heavy_tailed(200, 2))


def test_known_labels_are_refused() -> None:
    x = heavy_tailed(200, 2)
    with pytest.raises(ValueError, match="cells know no labels"):
        KernelKMeans(3, kernel="linear", search="hierarchical").fit(
            x, known_labels=np.r_[0, np.full(199, -1)]
        )
