"""Numbers of components, by what a likelihood says of them."""

from __future__ import annotations

from functools import cache

import matplotlib as mpl
import numpy as np
import pytest

from cmeans import (
    Covariance,
    FuzzyCMeans,
    GaussianMixture,
    load,
    save,
    select,
    silhouette_scorer,
)
from cmeans.inspection import SelectionDisplay

mpl.use("Agg")
pytestmark = pytest.mark.slow  # several fits each


def cigars(n=100):
    """Three long parallel clusters."""
    rng, kinds = np.random.default_rng(0), np.repeat(np.arange(3), n)
    return np.c_[rng.normal(scale=10.0, size=3 * n), 2.0 * kinds + rng.normal(0, 0.2, 3 * n)], kinds


X, KINDS = cigars()
MIXTURE = GaussianMixture(random_state=0)


@cache
def mixture(c):
    """The fit of so many components that the tests share."""
    return GaussianMixture(c, random_state=0).fit(X)


def test_bic_and_icl_are_those_of_the_fits():
    found = select(MIXTURE, X, (2, 3, 4), n_bootstrap=2)
    assert found.n_clusters == 3
    assert found.table["n_clusters"].tolist() == [1, 2, 3, 4]
    models = [mixture(c) for c in (1, 2, 3, 4)]
    for name in ("bic", "icl"):
        known = [getattr(model, name)(X) for model in models]
        np.testing.assert_allclose(found.table[name], known, rtol=1e-9)
    assert {"stability", "stability_error", "seconds", "objective"} < set(found.table)
    assert found.reason == "3 clusters: BIC is the least, 2,993; that of 4 comes next, 3,027."
    [chosen] = [row for row in found._repr_html_().split("<tr") if row.startswith(" class=chosen")]
    assert chosen.startswith(" class=chosen><td>3</td>")
    np.testing.assert_array_equal(found.estimator.labels_, models[2].labels_)
    display = SelectionDisplay.from_selection(found)
    assert sorted(display.lines_) == ["bic", "icl"]
    np.testing.assert_array_equal(display.lines_["bic"].get_ydata(), found.table["bic"])


def test_one_cluster_is_an_answer():
    cloud = np.random.default_rng(0).normal(size=(300, 3))
    found = select(MIXTURE, cloud, (2, 3), n_bootstrap=0)
    assert found.n_clusters == 1
    assert found.estimator.n_clusters_ == 1


def test_a_grid_of_shapes():
    words = {"by": "icl", "n_bootstrap": 0, "refit": False}
    found = select(MIXTURE, X, (2, 3), param_grid={"covariance": ["full", "tied"]}, **words)
    assert (found.n_clusters, found.params) == (3, {"covariance": "tied"})
    assert "ICL" in found.reason


def test_agreement_of_refits_may_choose():
    found = select(MIXTURE, X, (2, 3), by="stability", n_bootstrap=3, refit=False)
    assert found.n_clusters == 3
    assert "refits agree" in found.reason
    assert found.table["n_clusters"].tolist() == [2, 3]


def test_weights_are_copies():
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    words = {"n_bootstrap": 0, "refit": False}
    weighted = select(MIXTURE, X, (3,), sample_weight=weights, **words)
    copied = select(MIXTURE, np.repeat(X, weights, axis=0), (3,), **words)
    np.testing.assert_allclose(weighted.table["bic"], copied.table["bic"], rtol=1e-9)


@pytest.mark.parametrize(
    ("estimator", "by"),
    [
        (MIXTURE, "silhouette"),
        (MIXTURE, "xie_beni"),
        (FuzzyCMeans(), "bic"),
        (FuzzyCMeans(), "icl"),
    ],
)
def test_evidence_of_others_is_refused(estimator, by):
    with pytest.raises(ValueError, match="likelihoods are of mixtures alone"):
        select(estimator, X, by=by)


def test_chance_has_the_metrics_of_the_clusters():
    """Without clusters, stretched ones show none either."""
    cloud = np.random.default_rng(0).normal(size=(150, 2)) * [10.0, 1.0]
    model = FuzzyCMeans(covariance="full", random_state=0)
    assert select(model, cloud, (2, 3), n_bootstrap=0).n_clusters == 1
    assert select(model, X[::2], (2, 3), n_bootstrap=0).n_clusters == 3


def test_silhouettes_of_mixtures_are_scores():
    """Beside those of stretched hard clusters of rows without any, in the plain space."""
    three, two = mixture(3), mixture(2)
    assert silhouette_scorer(three, X[::2]) > max(0.2, silhouette_scorer(two, X[::2]))


def test_a_range_in_one_call(tmp_path):
    model = GaussianMixture((1, 4), random_state=0).fit(X)
    alone = [mixture(c) for c in (1, 2, 3, 4)]
    assert model.n_clusters_ == 3
    np.testing.assert_allclose(model.bics_, [one.bic(X) for one in alone], rtol=1e-9)
    np.testing.assert_array_equal(model.memberships_, alone[2].memberships_)
    assert model.objective_ == alone[2].objective_
    assert model.row_visits_ == alone[2].row_visits_  # the same draws
    assert model.stop_reason_.endswith("; of 1 to 4 clusters, 3 have the least BIC")
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.n_clusters == (1, 4)
    np.testing.assert_array_equal(again.bics_, model.bics_)
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    model.fit_predict_to(X, tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    model.set_params(n_clusters=3).fit(X)
    assert "bics_" not in vars(model)


def test_a_range_of_more_than_there_are_rows():
    model = GaussianMixture((1, 9), covariance=Covariance("spherical"), random_state=0)
    with pytest.warns(UserWarning, match="the rows weigh 3 together, of which 3 clusters"):
        model.fit([[0.0], [1.0], [5.0]])
    assert len(model.bics_) == 3
    with pytest.raises(ValueError, match="fewer rows than clusters, n_samples=3"):
        GaussianMixture((5, 9)).fit([[0.0], [1.0], [5.0]])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"n_clusters": (3,)}, "n_clusters must be a number, or the range"),
        ({"n_clusters": (3, 2)}, "the second number must be the larger one"),
        ({"n_clusters": (0, 2)}, "whole number of at least 1"),
        ({"n_clusters": (1, 2), "init": [0, 1]}, "init must be a name"),
    ],
)
def test_bad_ranges(words, said):
    with pytest.raises(ValueError, match=said):
        GaussianMixture(**words).fit(X)


def test_a_range_is_not_selected_from():
    with pytest.raises(ValueError, match="it finds the number of clusters itself"):
        select(GaussianMixture((1, 2)), X)
