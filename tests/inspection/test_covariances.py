"""Pictures and tables of clusters with covariances."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cmeans import Covariance, FuzzyCMeans, GaussianMixture, KernelKMeans
from cmeans.inspection import ScatterDisplay, report, summary
from cmeans.inspection.directions import plane_of
from cmeans.inspection.rows import inspected
from inspection.page_record import Record

mpl.use("Agg")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    parts = [
        rng.normal(size=(60, 3)) @ np.diag([5.0, 0.3, 1.0]),
        rng.normal(size=(50, 3)) @ np.diag([0.3, 3.0, 1.0]) + [4, -9, 0],
        rng.normal(size=(40, 3)) @ np.diag([0.5, 0.5, 0.2]) + [-4, 9, 5],
    ]
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def mixture(X):
    return GaussianMixture(3, random_state=0).fit(X)


@pytest.fixture(scope="module")
def stretched(X):
    return FuzzyCMeans(3, m=1.1, covariance="full", random_state=0).fit(X)


@pytest.mark.parametrize("columns", [(0, 1), (2, 0)])
def test_ellipses_are_marginals_of_the_components(X, mixture, columns):
    display = ScatterDisplay.from_estimator(mixture, X, columns=columns)
    here = np.ix_(columns, columns)
    for line, (cluster, deviations) in zip(
        display.ellipses_, [(j, k) for j in range(3) for k in (1, 2)], strict=True
    ):
        away = line.get_xydata() - mixture.means_[cluster, list(columns)]
        inverse = np.linalg.inv(mixture.covariances_[cluster][here])
        np.testing.assert_allclose(
            np.einsum("ia,ab,ib->i", away, inverse, away), deviations**2, rtol=1e-8
        )


def test_metrics_without_volume_take_it_from_their_rows(X):
    """Hard clusters without a prior have the covariances of their rows."""
    words = {"kernel": "linear", "covariance": Covariance(prior=0), "tol": 0, "random_state": 0}
    model = KernelKMeans(3, **words).fit(X)
    display = ScatterDisplay.from_estimator(model, X, columns=(0, 1))
    for j in range(3):
        known = np.cov(X[model.labels_ == j].T, bias=True)[:2, :2]
        np.testing.assert_allclose(display.covariances[j], known, rtol=1e-8)


def test_the_plane_is_a_projection(X, mixture):
    """Distances between rows of two columns stay what they are; to clusters they have many
    metrics, which are no distances of one plane."""
    model = GaussianMixture(3, random_state=0).fit(X[:, :2])
    plane = plane_of(inspected(model, X[:, :2], "test"))
    apart = [np.linalg.norm(a[:, None] - a, axis=2) for a in (plane.positions, X[:, :2])]
    np.testing.assert_allclose(*apart, atol=1e-9)
    dets = np.linalg.det(plane.covariances), np.linalg.det(model.covariances_)
    np.testing.assert_allclose(*dets, rtol=1e-8)
    flat = plane_of(inspected(mixture, X, "test"))
    np.testing.assert_allclose(  # three centres lie in it
        np.linalg.norm(flat.centres[:, None] - flat.centres, axis=2),
        np.linalg.norm(mixture.means_[:, None] - mixture.means_, axis=2),
    )


@pytest.mark.parametrize("c", [1, 2])
def test_centres_of_less_than_a_plane(X, c):
    model = GaussianMixture(c, random_state=0).fit(X)
    display = ScatterDisplay.from_estimator(model, X)
    assert display.axis_names[1] == "direction in which rows lie apart most"
    assert len(display.ellipses_) == 2 * c
    line = GaussianMixture(c, random_state=0).fit(X[:, :1])
    for outline in ("ellipses", "density"):
        assert (
            not ScatterDisplay.from_estimator(line, X[:, :1], outline=outline).positions[:, 1].any()
        )


def test_contours_hold_shares_of_the_rows(X, mixture):
    display = ScatterDisplay.from_estimator(mixture, X, columns=(0, 1), outline="density")
    assert len(display.contours_.levels) == 4
    here = np.ix_(range(3), (0, 1), (0, 1))
    values = sum(
        p * np.exp(-np.einsum("ia,ab,ib->i", away, np.linalg.inv(S), away) / 2)
        / (2 * np.pi * np.sqrt(np.linalg.det(S)))
        for p, away, S in zip(
            mixture.weights_,
            X[:, :2] - mixture.means_[:, None, :2],
            mixture.covariances_[here],
            strict=True,
        )
    )  # fmt: skip
    shares = [np.mean(values >= level) for level in display.contours_.levels]
    np.testing.assert_allclose(shares, [0.95, 0.75, 0.5, 0.25], atol=0.01)


def test_what_has_no_outline(X, mixture, stretched):
    plain = FuzzyCMeans(3, random_state=0).fit(X)
    scaled = make_pipeline(StandardScaler(), GaussianMixture(3, random_state=0)).fit(X)
    for model, words in ((mixture, {"outline": None}), (plain, {}), (scaled, {"columns": (0, 1)})):
        assert "ellipses_" not in vars(ScatterDisplay.from_estimator(model, X, **words))
    with pytest.raises(ValueError, match="a GaussianMixture has a density"):
        ScatterDisplay.from_estimator(stretched, X, outline="density")
    with pytest.raises(ValueError, match="outline"):
        ScatterDisplay.from_estimator(mixture, X, outline="circles")


@pytest.mark.parametrize("shape", ["full", "diag", "spherical"])
def test_spreads_are_of_the_space(X, shape):
    """In the unit of the separation, not in that of each cluster's own metric."""
    model = GaussianMixture(3, covariance=shape, random_state=0).fit(X)
    table, kept = summary(model, X), summary(model)
    np.testing.assert_allclose(table["spread"], kept["spread"])
    away = np.linalg.norm(X - model.means_[model.labels_], axis=1)
    known = [np.sqrt(np.mean(away[model.labels_ == j] ** 2)) for j in range(3)]
    np.testing.assert_allclose(table["spread"], known, rtol=0.35)


def test_the_page_draws_ellipses(X, mixture, tmp_path):
    pytest.importorskip("jinja2")
    page = report(mixture, X, tmp_path / "page.html").read_text()
    [plane] = Record(page).facts["planes"]
    assert [one["cluster"] for one in plane["ellipses"]] == [0, 0, 1, 1, 2, 2]
    assert "one and two deviations" in page
    assert "log-likelihood of a row" in page
    plain = report(FuzzyCMeans(3, random_state=0).fit(X), X, tmp_path / "page.html").read_text()
    assert "one and two deviations" not in plain
