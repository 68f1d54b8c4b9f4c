"""Logarithms of columns with a long tail, as a step of a pipeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import cmeans
from cmeans import AutoClustering, KernelKMeans, LogTransformer
from cmeans.data.recipe.scaling import learn_scaling

rng = np.random.default_rng(0)
TAIL = np.exp(1.5 * rng.normal(size=300))
X = np.stack([TAIL, rng.normal(size=300), TAIL * (rng.random(300) < 0.8)], axis=1)


def test_it_is_an_estimator() -> None:
    check_estimator(LogTransformer(), on_skip=None)


def test_columns_with_long_tails_alone() -> None:
    tool = LogTransformer().fit(X)
    least = X[X[:, 2] > 0, 2].min()
    assert tool.offset_.tolist() == [0.0, -1.0, least]
    expected = np.stack([np.log(X[:, 0]), X[:, 1], np.log(X[:, 2] + least)], axis=1)
    np.testing.assert_array_equal(tool.transform(X), expected)
    np.testing.assert_allclose(tool.inverse_transform(expected), X, atol=1e-12)
    assert np.isfinite(tool.transform([[-3.0, 0.0, -1.0]])).all()
    assert tool.get_feature_names_out().tolist() == ["x0", "x1", "x2"]


def test_what_is_missing_stays_so() -> None:
    holes = X.copy()
    holes[::9, 0] = holes[3, 2] = np.nan
    tool = LogTransformer().fit(holes)
    assert tool.offset_[0] == 0.0
    assert np.array_equal(np.isnan(tool.transform(holes)), np.isnan(holes))


@pytest.mark.filterwarnings("error")
def test_a_column_without_values() -> None:
    holes = X.copy()
    holes[:, 1] = np.nan
    assert LogTransformer().fit(holes).offset_.tolist()[:2] == [0.0, -1.0]


def test_the_command_scales_by_the_same_formula() -> None:
    ours = make_pipeline(LogTransformer(), StandardScaler()).fit_transform(X)
    np.testing.assert_allclose(ours, learn_scaling("log", X).apply(X.copy()), atol=1e-12)


def test_pipelines_in_files(tmp_path: Path) -> None:
    model = make_pipeline(LogTransformer(), StandardScaler(), KernelKMeans(3, random_state=0))
    cmeans.save(model.fit(X), tmp_path / "model")
    assert np.array_equal(cmeans.load(tmp_path / "model").predict(X), model.predict(X))


def test_one_call_takes_it_where_half_of_the_columns_have_long_tails() -> None:
    """Few customers who spend much, by the spread of a logarithm; a column of another kind
    beside."""
    kinds = np.repeat([0, 1], [230, 70])
    money = np.exp(0.5 * rng.normal(size=300) + np.array([5.7, 8.5])[kinds])
    orders = np.exp(0.6 * rng.normal(size=300) + np.array([0.5, 3.5])[kinds])
    table = np.stack([money, orders, rng.normal(30, 10, size=300)], axis=1)
    model = AutoClustering().fit(table)
    assert model.evidence_.scaling.startswith("logarithms of the columns with long tails")
    assert model.n_clusters_ == 2
    assert (model.labels_ == kinds).mean() in (0.0, 1.0)
    assert isinstance(model.best_estimator_.steps[0][1], LogTransformer)


def test_sparse_rows_keep_their_zeros() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    some = sparse.csr_array(np.where(rng.random((90, 4)) < 0.6, 0.0, [900.0, 1.0, 1.0, 1.0]))
    assert "sparse rows keep their zeros" in AutoClustering().fit(some).evidence_.scaling
    with pytest.raises(ValueError, match=r"scaling='unit'.*sparse rows would lose their zeros"):
        AutoClustering(scaling="unit").fit(some)
