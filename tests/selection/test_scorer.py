"""The score for searches over parameters: largest at the number of clusters that is there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cmeans import FuzzyCMeans, KernelKMeans, select, silhouette_scorer
from cmeans.selection import evidence

pytestmark = pytest.mark.slow

BLOBS, _ = make_blobs(200, centers=4, n_features=3, cluster_std=0.8, random_state=3)
PLAIN = KernelKMeans(kernel="linear", random_state=0)


@pytest.fixture
def few_draws(monkeypatch):
    """Three draws without clusters of each shape, in place of ten, which is enough where clusters
    stand apart."""
    monkeypatch.setattr(evidence, "MOST", evidence.FEWEST)


def fit(c, X=BLOBS):
    return KernelKMeans(c, kernel="linear", random_state=0).fit(X)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(
    "estimator",
    [
        PLAIN,
        pytest.param(FuzzyCMeans(random_state=0), marks=pytest.mark.minutes),
        pytest.param(
            KernelKMeans(kernel="rbf", gamma=0.02, landmarks=50, random_state=0),
            marks=pytest.mark.minutes,
        ),
    ],
    ids=["hard", "fuzzy", "rbf"],
)
def test_a_search_finds_the_number(estimator):
    search = GridSearchCV(
        estimator, {"n_clusters": [1, 3, 4, 5]}, scoring=silhouette_scorer, cv=2
    ).fit(BLOBS)
    assert search.best_params_ == {"n_clusters": 4}


@pytest.mark.usefixtures("few_draws")
def test_pipelines():
    model = make_pipeline(StandardScaler(), PLAIN)
    search = GridSearchCV(
        model, {"kernelkmeans__n_clusters": [3, 4, 5]}, scoring=silhouette_scorer, cv=2
    ).fit(BLOBS)
    assert search.best_params_ == {"kernelkmeans__n_clusters": 4}
    scaled = StandardScaler().fit_transform(BLOBS)
    assert silhouette_scorer(
        make_pipeline(StandardScaler(), fit(4)).fit(BLOBS), BLOBS
    ) == silhouette_scorer(fit(4, scaled), scaled)


def test_it_is_the_evidence_of_select():
    table = select(PLAIN, BLOBS, (4,), n_bootstrap=0, random_state=0).table
    np.testing.assert_allclose(silhouette_scorer(fit(4), BLOBS), table["corrected"], atol=0.02)


def test_nothing_to_see_scores_about_nothing():
    noise = np.random.default_rng(0).standard_normal((600, 3))
    assert abs(silhouette_scorer(fit(3, noise), noise)) < 0.05
    assert silhouette_scorer(fit(1, noise), noise) == 0.0


@pytest.mark.usefixtures("few_draws")
def test_the_same_again():
    assert silhouette_scorer(fit(4), BLOBS) == silhouette_scorer(fit(4), BLOBS)


def test_bad_words():
    with pytest.raises(ValueError, match=r"silhouette_scorer\(estimator=KMeans"):
        silhouette_scorer(KMeans(3), BLOBS)
    with pytest.raises(NotFittedError):
        silhouette_scorer(PLAIN, BLOBS)
    with pytest.raises(ValueError, match="distinct rows for 4 clusters"):
        silhouette_scorer(fit(4), BLOBS[:3])
    known = KernelKMeans(3, kernel="precomputed", landmarks=None, random_state=0).fit(
        BLOBS[:90] @ BLOBS[:90].T
    )
    with pytest.raises(ValueError, match="rows are needed"):
        silhouette_scorer(known, BLOBS[:90] @ BLOBS[:90].T)
