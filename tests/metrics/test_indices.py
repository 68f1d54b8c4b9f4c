"""The validity indices of models: against loops from the formulas, scikit-learn, copies of rows,
and files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score
from sklearn.metrics.pairwise import rbf_kernel

import cmeans
from cmeans import (
    AdaptivePossibilisticCMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    validity,
)
from limited import limited

CENTRES = np.array([[0.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 4.0]])
X = CENTRES[np.arange(61) % 3] + np.random.default_rng(0).normal(scale=0.9, size=(61, 3))
WEIGHT = np.random.default_rng(1).integers(0, 4, size=61)
OF_MODELS = {
    "simplified_silhouette": validity.simplified_silhouette,
    "fuzzy_silhouette": validity.fuzzy_silhouette,
    "xie_beni": validity.xie_beni,
    "fukuyama_sugeno": validity.fukuyama_sugeno,
    "davies_bouldin": validity.davies_bouldin,
    "calinski_harabasz": validity.calinski_harabasz,
    "partition_coefficient": validity.partition_coefficient,
    "partition_entropy": validity.partition_entropy,
}
over_indices = pytest.mark.parametrize("index", OF_MODELS.values(), ids=OF_MODELS)
HARD = KernelKMeans(3, kernel="linear", tol=0.0, random_state=0)
MODELS = {
    "hard": (HARD, 1.0),
    "fuzzy": (FuzzyCMeans(3, m=1.7, random_state=0), 1.7),
    "possibilistic": (PossibilisticCMeans(3, m=2.0, eta_scale=0.3, random_state=0), 2.0),
    "landmarks": (
        FuzzyCMeans(3, m=1.5, kernel="rbf", gamma=0.05, landmarks=None, random_state=0),
        1.5,
    ),
}


def naive_indices(d, u, m, inner, w):
    """All indices, from distances (n, c), memberships, inner products of the centres and weights,
    row by row."""
    n, c = d.shape
    total = sum(w)
    power = [[w[i] * u[i, j] ** m for j in range(c)] for i in range(n)]
    mass = [sum(power[i][j] for i in range(n)) for j in range(c)]
    apart = [[inner[j, j] + inner[k, k] - 2 * inner[j, k] for k in range(c)] for j in range(c)]
    share = [mass[j] / sum(mass) for j in range(c)]
    mean_norm = sum(share[j] * share[k] * inner[j, k] for j in range(c) for k in range(c))
    from_mean = [
        inner[j, j] - 2 * sum(share[k] * inner[j, k] for k in range(c)) + mean_norm
        for j in range(c)
    ]
    scatter = sum(power[i][j] * d[i, j] ** 2 for i in range(n) for j in range(c))
    silhouettes, clear = [], []
    for i in range(n):
        nearest, second = sorted(d[i])[:2]
        silhouettes.append((second - nearest) / second)
        highest = sorted(u[i])
        clear.append(highest[-1] - highest[-2])
    width = [sum(power[i][j] * d[i, j] for i in range(n)) / mass[j] for j in range(c)]
    worst = [
        max((width[j] + width[k]) / np.sqrt(apart[j][k]) for k in range(c) if k != j)
        for j in range(c)
    ]
    return {
        "simplified_silhouette": sum(w[i] * silhouettes[i] for i in range(n)) / total,
        "fuzzy_silhouette": sum(w[i] * clear[i] * silhouettes[i] for i in range(n))
        / sum(w[i] * clear[i] for i in range(n)),
        "xie_beni": scatter
        / total
        / min(apart[j][k] for j in range(c) for k in range(c) if j != k),
        "fukuyama_sugeno": scatter - sum(mass[j] * from_mean[j] for j in range(c)),
        "davies_bouldin": sum(worst) / c,
        "calinski_harabasz": sum(mass[j] * from_mean[j] for j in range(c))
        / (c - 1)
        / (scatter / (total - c)),
        "partition_coefficient": sum(w[i] * u[i, j] ** 2 for i in range(n) for j in range(c))
        / total,
        "partition_entropy": -sum(
            w[i] * u[i, j] * np.log(u[i, j]) for i in range(n) for j in range(c) if u[i, j] > 0
        )
        / total,
    }


@pytest.mark.parametrize("weight", [np.ones(61), WEIGHT.astype(float)], ids=["even", "weighted"])
@pytest.mark.parametrize(("model", "m"), MODELS.values(), ids=MODELS)
def test_against_loops(model, m, weight):
    model = clone(model).fit(X, sample_weight=weight)
    if model.kernel == "rbf":
        inner = model.dual_coef_ @ rbf_kernel(model.landmarks_, gamma=0.05) @ model.dual_coef_.T
    else:
        inner = model.cluster_centers_ @ model.cluster_centers_.T
    expected = naive_indices(model.transform(X), model.memberships(X), m, inner, weight)
    found = validity.indices(model, X, sample_weight=weight)
    assert set(found) == set(expected) == set(OF_MODELS)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-7), name
        assert OF_MODELS[name](model, X, sample_weight=weight) == found[name]


@pytest.mark.parametrize("c", [2, 3, 6])
def test_as_scikit_learn_has_them(c):
    model = clone(HARD).set_params(n_clusters=c).fit(X)
    assert validity.davies_bouldin(model, X) == pytest.approx(
        davies_bouldin_score(X, model.labels_), rel=1e-9
    )
    assert validity.calinski_harabasz(model, X) == pytest.approx(
        calinski_harabasz_score(X, model.labels_), rel=1e-9
    )


@over_indices
@pytest.mark.parametrize(("model", "m"), MODELS.values(), ids=MODELS)
def test_a_weight_is_a_number_of_copies(index, model, m):
    model = clone(model).fit(X)
    assert index(model, X, sample_weight=WEIGHT) == pytest.approx(
        index(model, np.repeat(X, WEIGHT, axis=0)), rel=1e-9
    )


@over_indices
def test_from_files(index, tmp_path, monkeypatch):
    model = clone(MODELS["fuzzy"][0]).fit(X)
    here = index(model, X, sample_weight=WEIGHT)
    np.save(tmp_path / "rows.npy", X)
    limited(monkeypatch, loaded_bytes=0)
    assert index(model, tmp_path / "rows.npy", sample_weight=WEIGHT) == pytest.approx(
        here, rel=1e-12
    )


def test_weights_that_files_bring(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "w": WEIGHT.astype(float)})
    pq.write_table(table, tmp_path / "rows.parquet")
    limited(monkeypatch, loaded_bytes=0)
    rows = cmeans.open_blocks(tmp_path / "rows.parquet", columns=["a", "b", "c"], weight="w")
    model = clone(MODELS["fuzzy"][0]).fit(X)
    assert validity.indices(model, rows) == pytest.approx(
        validity.indices(model, X, sample_weight=WEIGHT), rel=1e-12
    )


@pytest.mark.parametrize("block_rows", [7, 1000])
@pytest.mark.parametrize("cells", [5, 2**18])
def test_however_rows_are_cut(block_rows, cells, monkeypatch):
    model = clone(MODELS["fuzzy"][0]).fit(X)
    whole = validity.indices(model, X)
    monkeypatch.setattr("cmeans.metrics.validity_sums.CELLS", cells)
    limited(
        monkeypatch,
        block_rows=block_rows,
        narrow_block_rows=block_rows,
        task_values=20,
        least_task_rows=7,
    )
    assert validity.indices(model, X) == pytest.approx(whole, rel=1e-12)
    one, more = (validity.indices(model.set_params(n_jobs=n_jobs), X) for n_jobs in (1, 5))
    assert one == more


def test_rows_of_float32():
    model = clone(MODELS["fuzzy"][0]).fit(X.astype(np.float32))
    assert validity.indices(model, X.astype(np.float32)) == pytest.approx(
        validity.indices(clone(model).fit(X), X), rel=1e-3
    )


def test_hard_clusters_have_one_silhouette():
    model = clone(HARD).fit(X)
    assert validity.fuzzy_silhouette(model, X) == validity.simplified_silhouette(model, X)


def test_clusters_without_rows_are_left_out():
    model = clone(HARD).fit(X)
    own = X[model.labels_ < 2]
    two = (
        clone(HARD)
        .set_params(n_clusters=2, init=model.cluster_centers_[:2], max_iter=1, tol=10.0)
        .fit(own)
    )
    for index in (validity.davies_bouldin, validity.calinski_harabasz):
        assert index(model, own) == pytest.approx(index(two, own), rel=1e-9)
        with pytest.raises(ValueError, match=rf"{index.__name__}: 1 of 3 clusters hold rows"):
            index(model, X[model.labels_ == 0])


def test_noise_belongs_nowhere():
    model = AdaptivePossibilisticCMeans((1, 6), random_state=0).fit(
        np.vstack([X, [[40.0, 40.0, 40.0]]])
    )
    found = validity.indices(model, np.vstack([X, [[40.0, 40.0, 40.0]]]))
    assert all(np.isfinite(value) for value in found.values())


def test_bad_words():
    model = clone(HARD).fit(X)
    with pytest.raises(ValueError, match="count copies of rows"):
        validity.calinski_harabasz(model, X, sample_weight=np.full(61, 0.01))
    with pytest.raises(ValueError, match=r"partition_entropy\(X=None\)"):
        validity.partition_entropy(model)
    with pytest.raises(ValueError, match="memberships are given alone"):
        validity.partition_coefficient(model.memberships_, X)
    for index in (validity.fuzzy_silhouette, validity.indices, validity.davies_bouldin):
        with pytest.raises(ValueError, match=rf"{index.__name__}\(model=.*one cluster"):
            index(clone(HARD).set_params(n_clusters=1).fit(X), X)


def test_the_definitions_of_r():
    """What the page for those who come from R says of its indices: by e1071's and fclust's
    loops."""
    model = FuzzyCMeans(3, m=1.7, random_state=0).fit(X)
    u, v, n, c = model.memberships_, model.cluster_centers_, len(X), 3
    d2 = ((X[:, None] - v) ** 2).sum(axis=2)
    nearest = min(((v[j] - v[k]) ** 2).sum() for j in range(c) for k in range(j))
    # e1071's withinerror
    within = sum(u[i, j] ** 1.7 * d2[i, j] for i in range(n) for j in range(c)) / n
    assert within / (n * nearest) == pytest.approx(validity.xie_beni(model, X) / n)
    assert within * n / (n * nearest) == pytest.approx(validity.xie_beni(model, X))  # fclust's XB
    coefficient = (u**2).sum() / n
    # its MPC
    assert 1 - c / (c - 1) * (1 - coefficient) == pytest.approx(
        validity.partition_coefficient(u, normalized=True)
    )
    assert coefficient == pytest.approx(validity.indices(model, X)["partition_coefficient"])
    separation = sum((u[:, j] ** 2).sum() * ((v[j] - v.mean(axis=0)) ** 2).sum() for j in range(c))
    assert within - separation != pytest.approx(validity.fukuyama_sugeno(model, X), rel=0.1)
    assert -(u * np.log(u)).sum() / n == pytest.approx(validity.partition_entropy(u))
