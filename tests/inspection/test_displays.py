"""Displays: what was drawn is read back from matplotlib's artists."""

import sys
from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import cmeans
from cmeans.inspection import (
    CentresDisplay,
    CertificateDisplay,
    ConvergenceDisplay,
    EvidenceDisplay,
    ImageDisplay,
    MembershipDisplay,
    ScatterDisplay,
    SelectionDisplay,
    SilhouetteDisplay,
    SizesDisplay,
    StabilityDisplay,
    TendencyDisplay,
)
from cmeans.inspection.figure import shared_axes

pytestmark = pytest.mark.slow

mpl.use("Agg")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.concatenate(
        [
            rng.normal(size=(60, 4)),
            rng.normal(size=(30, 4)) + 8,
            rng.normal(size=(10, 4)) - [0, 0, 9, 9],
        ]
    )


@pytest.fixture(scope="module")
def fuzzy(X):
    return cmeans.FuzzyCMeans(3, random_state=0).fit(X)


@pytest.fixture(scope="module")
def hard(X):
    return cmeans.KernelKMeans(3, gamma="median", random_state=0).fit(X)


# ------------------------------------------------------------------------------------------ scatter


def offsets(display):
    return np.concatenate([np.asarray(points.get_offsets()) for points in display.points_])


def test_scatter_over_columns(X, fuzzy):
    display = ScatterDisplay.from_estimator(fuzzy, X, columns=(1, 3))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("column 1", "column 3")
    drawn = offsets(display)
    order = np.argsort(fuzzy.labels_, kind="stable")
    np.testing.assert_array_equal(drawn, X[order][:, [1, 3]])
    opacity = np.concatenate([points.get_facecolors()[:, 3] for points in display.points_])
    np.testing.assert_allclose(
        opacity, 0.15 + 0.85 * fuzzy.memberships_.max(axis=1)[order], rtol=1e-6
    )


def test_columns_by_name(X):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "$c$", "d" * 10_000])
    model = cmeans.FuzzyCMeans(3, random_state=0).fit(frame)
    display = ScatterDisplay.from_estimator(model, frame, columns=("$c$", "d" * 10_000))
    display.figure_.canvas.draw()  # a dollar sign is no mathematics
    assert display.ax_.get_xlabel() == r"\$c\$"
    assert len(display.ax_.get_ylabel()) <= 80


def test_plane_of_the_centres_keeps_distances(X, fuzzy):
    """In the plain space positions are an orthogonal projection of the rows, and that of three
    centres keeps their distances."""
    display = ScatterDisplay.from_estimator(fuzzy, X)
    drawn, order = offsets(display), np.argsort(fuzzy.labels_, kind="stable")
    centres = fuzzy.cluster_centers_ - fuzzy.cluster_centers_.mean(axis=0)
    plane = np.linalg.svd(centres)[2][:2]
    expected = X[order] @ plane.T
    ours = drawn - drawn.mean(axis=0)
    theirs = expected - expected.mean(axis=0)
    # equal up to a rotation
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)


@pytest.mark.parametrize("c", [1, 2])
def test_plane_of_few_centres(X, c):
    model = cmeans.KernelKMeans(c, kernel="linear", random_state=0).fit(X)
    display = ScatterDisplay.from_estimator(model, X)
    drawn, labels = offsets(display), np.sort(model.labels_)
    order = np.argsort(model.labels_, kind="stable")
    own = np.linalg.norm(X[order] - model.cluster_centers_[labels], axis=1)
    if c == 1:
        np.testing.assert_allclose(drawn[:, 0], own, rtol=1e-9)
    else:
        middle = np.array([drawn[labels == j].mean(axis=0)[0] for j in range(2)])
        np.testing.assert_allclose(
            (drawn[:, 0] - middle[labels]) ** 2 + drawn[:, 1] ** 2, own**2, rtol=1e-6
        )


def test_noise_is_grey_and_representatives_are_named(X):
    display = ScatterDisplay.from_predictions(X, np.where(np.arange(100) < 5, -1, 0))
    assert [points.get_label() for points in display.points_] == ["noise", "0"]
    grey = display.points_[0].get_facecolors()[0, :3]
    assert np.ptp(grey) == 0
    assert display.points_[0].get_facecolors()[0, 3] > 0.5  # noise has no membership, and is seen
    assert display.ax_.get_title("left") == "1 cluster in 100 rows; 5% are noise, grey"
    model = cmeans.FuzzyCMeans(2, random_state=0).fit(X)
    names = [f"row {number}" for number in range(100)]
    texts = [
        text.get_text()
        for text in ScatterDisplay.from_estimator(model, X, row_names=names).ax_.texts
    ]
    assert texts == [f"{j}: row {row}" for j, row in enumerate(model.representatives()[:, 0])]


def test_many_rows_are_cells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 2)) + 9 * (np.arange(60_000)[:, None] % 2)
    display = ScatterDisplay.from_predictions(X, np.arange(60_000) % 2)
    (image,) = display.points_
    picture = image.get_array()
    assert picture.shape == (160, 160, 4)
    left, right, bottom, top = image.get_extent()
    np.testing.assert_allclose([left, bottom], X.min(axis=0))
    np.testing.assert_allclose([right, top], X.max(axis=0))
    filled = picture[..., 3] > 0
    assert 0 < filled.sum() < filled.size
    # one cluster there
    np.testing.assert_allclose(
        picture[0:40, 0:40][filled[0:40, 0:40]][:, :3].std(axis=0), 0, atol=1e-9
    )


# ----------------------------------------------------------------------------------- other displays


def test_memberships(X, fuzzy):
    profile = MembershipDisplay.from_estimator(fuzzy, X)
    for j, line in enumerate(profile.lines_):
        np.testing.assert_allclose(line.get_ydata(), -np.sort(-fuzzy.memberships_[:, j]))
    heat = MembershipDisplay.from_estimator(fuzzy, X, kind="heatmap").image_.get_array()
    np.testing.assert_allclose(np.sort(heat, axis=0), np.sort(fuzzy.memberships_, axis=0))
    assert (np.diff(np.argmax(heat, axis=1)) >= 0).all()


def test_sizes(X, fuzzy):
    display = SizesDisplay.from_estimator(fuzzy, X, sample_weight=np.full(100, 2.0))
    assert [bar.get_width() for bar in display.bars_] == (2 * np.bincount(fuzzy.labels_)).tolist()
    display = SizesDisplay.from_predictions([0, 0, 1, -1], names=["red", "blue"])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["red", "blue", "noise"]
    assert display.ax_.texts[0].get_text() == "50%"
    title = display.ax_.get_title("left")
    assert title == "2 clusters, the smallest holds 25%; 25% is noise"
    display = SizesDisplay.from_predictions(np.repeat(np.arange(40), 30_000))
    assert len(display.ax_.get_yticklabels()) == 40  # the figure grows
    display.figure_.canvas.draw()
    assert [label.get_text() for label in display.ax_.get_xticklabels()][:2] == ["0", "5,000"]


def test_silhouettes(X, hard):
    display = SilhouetteDisplay.from_estimator(hard, X)
    distances = np.sort(hard.transform(X), axis=1)
    values = 1 - distances[:, 0] / distances[:, 1]
    assert display.mean_ == pytest.approx(values.mean())
    for j, area in enumerate(display.areas_):
        drawn = area.get_paths()[0].vertices[:, 0]
        assert drawn.max() == pytest.approx(values[hard.labels_ == j].max())
    with pytest.raises(ValueError, match="one cluster"):
        SilhouetteDisplay.from_estimator(cmeans.KernelKMeans(1, kernel="linear").fit(X), X)


@pytest.mark.parametrize("kind", ["lines", "heatmap"])
def test_centres(X, hard, kind):
    display = CentresDisplay.from_estimator(hard, X, kind=kind, feature_names=list("abcd"))
    means = np.array([X[hard.labels_ == j].mean(axis=0) for j in range(3)])
    expected = (means - X.mean(axis=0)) / X.std(axis=0)
    if kind == "lines":
        drawn, labels = [line.get_ydata() for line in display.lines_], display.ax_.get_xticklabels()
        assert display.shown_.tolist() == [0, 1, 2, 3]
    else:
        drawn, labels = display.image_.get_array().T, display.ax_.get_yticklabels()
        assert (np.diff(np.ptp(drawn, axis=0)) <= 0).all()  # the most telling first
    np.testing.assert_allclose(drawn, expected[:, display.shown_], rtol=1e-9)
    assert [label.get_text() for label in labels] == ["abcd"[k] for k in display.shown_]
    leading = labels[0].get_text() if kind == "heatmap" else ""
    assert f"differ most in {leading}" in display.ax_.get_title("left")


def test_of_many_columns_those_that_differ_are_shown():
    values = np.zeros((2, 100))
    values[1, 30:70] = 1.0
    assert CentresDisplay.from_predictions(values).shown_.tolist() == list(range(30, 70))


def test_convergence(fuzzy):
    display = ConvergenceDisplay.from_estimator(fuzzy)
    history = fuzzy.objective_history_
    np.testing.assert_allclose(display.line_.get_ydata(), (history - history[-1]) / history[-1])
    assert fuzzy.stop_reason_ == " ".join(display.ax_.get_title("left").split())


def test_selection(X):
    selection = cmeans.select(
        cmeans.KernelKMeans(kernel="linear"),
        X,
        (2, 3),
        param_grid={"tol": [1e-3, 1e-4]},
        n_bootstrap=2,
        random_state=0,
    )
    display = SelectionDisplay.from_selection(selection)
    assert display.lines_["corrected"].get_xdata().tolist() == [2, 3]
    assert display.choice_.get_xdata()[0] == selection.n_clusters
    with pytest.raises(ValueError, match=r"cmeans\.select"):
        SelectionDisplay.from_selection(3)


def test_evidence(X):
    model = cmeans.AutoClustering(3, candidates=["plain", "covariances"]).fit(X)
    display = EvidenceDisplay.from_estimator(model)
    candidates = model.evidence_.candidates
    assert [bar.get_width() for bar in display.bars_] == [one.score for one in candidates]
    assert display.marks_["agreement"].get_xdata().tolist() == [one.agreement for one in candidates]
    assert display.ax_.get_yticklabels()[0].get_text() == f"{model.evidence_.space}, 3"
    assert "3 clusters" in display.ax_.get_title("left")
    with pytest.raises(ValueError, match="fitted AutoClustering"):
        EvidenceDisplay.from_estimator(cmeans.KernelKMeans())


def test_stability(X, hard):
    found = cmeans.stability(hard, X, n_bootstrap=4)
    display = StabilityDisplay.from_stability(found)
    assert [bar.get_width() for bar in display.bars_] == found.clusters.tolist()
    assert f"{found.overall:.2f}" in display.ax_.get_title("left")
    with pytest.raises(ValueError, match=r"cmeans\.stability"):
        StabilityDisplay.from_stability(0.5)


def test_certificate(X):
    rng = np.random.default_rng(1)
    rows = np.concatenate([X + rng.normal(size=X.shape) for _ in range(10)])
    model = cmeans.KernelKMeans(3, gamma="median", landmarks=20, random_state=0).fit(rows)
    display = CertificateDisplay.from_estimator(model, rows, n_landmarks=(50,))
    assert display.n_landmarks.tolist() == [20, 50]
    segments = display.bounds_.get_segments()
    np.testing.assert_allclose(segments[0][:, 1], model.approximation_.cost_bounds)
    assert np.diff(display.residual_.get_ydata())[0] < 0
    with pytest.raises(ValueError, match="no certificate"):
        CertificateDisplay.from_estimator(cmeans.FuzzyCMeans(2, random_state=0).fit(rows))
    with pytest.raises(ValueError, match="need X"):
        CertificateDisplay.from_estimator(model, n_landmarks=(50,))


def test_tendency(X, hard):
    display = TendencyDisplay.from_estimator(hard, X)
    assert sorted(display.order_.tolist()) == list(range(100))
    kernel = np.exp(-hard.gamma_ * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(display.distances, np.sqrt(2 - 2 * kernel), atol=1e-6)
    # clusters come one after the other
    assert len(np.flatnonzero(np.diff(hard.labels_[display.order_]))) == 2
    graph = cmeans.KernelKMeans(3, kernel="landmark_graph", random_state=0).fit(X)
    assert TendencyDisplay.from_estimator(graph, X).distances.shape == (100, 100)


def test_image():
    image = np.zeros((6, 8, 3), dtype=np.uint8)
    image[:, 4:] = [200, 100, 0]
    model = cmeans.FuzzyCMeans(2, random_state=0).fit(image.reshape(-1, 3) / 255.0)
    display = ImageDisplay.from_estimator(
        model, image, features=lambda given: given.reshape(-1, 3) / 255.0, own_colours=True
    )
    np.testing.assert_allclose(display.images_[0].get_array(), image / 255.0)
    assert len(display.images_) == 3
    np.testing.assert_allclose(sum(picture.get_array() for picture in display.images_[1:]), 1.0)
    with pytest.raises(ValueError, match="rows for"):
        ImageDisplay.from_estimator(model, image, features=lambda given: given.reshape(-1, 3)[:5])
    with pytest.raises(ValueError, match="no image"):
        ImageDisplay.from_predictions(np.zeros(5, dtype=int), (2, 3))


# -------------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize(
    "model",
    [
        cmeans.FuzzyCMeans(3, random_state=0),
        cmeans.KernelKMeans(3, kernel="landmark_graph", random_state=0),
        cmeans.KernelKMeans(3, gamma="median", landmarks=20, random_state=0),
        cmeans.StreamingFuzzyCMeans(3, random_state=0),
        cmeans.AdaptivePossibilisticCMeans((1, 6), random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_overview(X, model):
    figure = model.fit(X).plot(X)
    figure.canvas.draw()
    assert len([axis for axis in figure.axes if axis.get_label() != "<colorbar>"]) == 4


def test_overview_of_a_precomputed_kernel(X):
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20)
    figure = cmeans.KernelKMeans(3, kernel="precomputed", random_state=0).fit(kernel).plot(kernel)
    assert figure.axes[3].get_xlabel() == "sweep"


def test_groups_beyond_a_legend_are_named_where_they_are(X):
    labels = np.arange(100) % 25
    many = ScatterDisplay.from_predictions(X, labels).ax_
    assert many.get_legend() is None
    assert [text.get_text() for text in many.texts] == [str(j) for j in range(25)]
    few = ScatterDisplay.from_predictions(X, labels % 24).ax_
    assert len(few.get_legend().get_texts()) == 24
    profiles = MembershipDisplay.from_predictions(np.eye(25)).ax_
    lines = CentresDisplay.from_predictions(np.eye(25), kind="lines").ax_
    for ax, step in ((profiles, 2), (lines, 1)):
        named = [text.get_text() for text in ax.get_yticklabels()]
        assert named == list(map(str, range(0, 25, step)))


def test_thirty_columns_are_legible():
    names = [f"turnover of week {week}" for week in range(30)]
    display = CentresDisplay.from_predictions(
        np.random.default_rng(0).normal(size=(5, 30)), feature_names=names
    )
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert len(boxes) == 30
    assert all(low.y1 <= high.y0 for high, low in pairwise(boxes))


def test_the_look_is_nobody_elses(X, fuzzy):
    before = dict(mpl.rcParams)
    ax = SizesDisplay.from_estimator(fuzzy, X).ax_
    assert dict(mpl.rcParams) == before
    assert not ax.spines["top"].get_visible()
    assert plt.subplots()[1].spines["top"].get_visible()


def test_notebooks_show_an_overview_once(monkeypatch):
    shown = []
    module = SimpleNamespace(display=lambda data, raw: shown.append((data, raw)))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=module))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    figure, _ = shared_axes(1, 1, "plot")
    figure._ipython_display_()
    assert not plt.fignum_exists(figure.number)  # else it were shown again where the cell ends
    [(data, raw)] = shown
    assert raw
    assert data["image/png"].startswith(b"\x89PNG")


def test_labels_of_many_clusters_cover_none_another():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(30), 4)
    X = np.repeat(rng.normal(size=(30, 2)), 4, axis=0)
    display = ScatterDisplay.from_predictions(X, labels)
    display.figure_.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in display.ax_.texts]
    assert len(boxes) == 30
    assert not [
        (a, b) for a in range(30) for b in range(a) if boxes[a].padded(-1.5).overlaps(boxes[b])
    ]


def test_curves_of_many_clusters_stand_in_lanes_of_their_own():
    values = np.random.default_rng(0).normal(size=(30, 4))
    lines = CentresDisplay.from_predictions(values, kind="lines").lines_
    most = np.abs(values).max()
    for j, line in enumerate(lines):
        np.testing.assert_allclose(line.get_ydata(), j - 0.8 * values[j] / most)
    u = np.eye(30)
    display = MembershipDisplay.from_predictions(u)
    assert [text.get_text() for text in display.ax_.get_yticklabels()][:2] == ["0", "2"]
    assert display.ax_.get_xlim() == (0, 1 / 30)  # where memberships are


def test_axes_are_taken(X, fuzzy):
    _, ax = plt.subplots()
    assert SizesDisplay.from_estimator(fuzzy, X, ax=ax).ax_ is ax
    with pytest.raises(ValueError, match="ax=3"):
        SizesDisplay.from_estimator(fuzzy, X, ax=3)


ROWS, MODEL = "the rows", "the model"


@pytest.mark.parametrize(
    ("call", "given", "words"),
    [
        (ScatterDisplay.from_estimator, {"model": "model", "X": ROWS}, "pass a fitted estimator"),
        (ScatterDisplay.from_estimator, {"model": MODEL, "X": None}, "pass the rows"),
        (
            ScatterDisplay.from_estimator,
            {"model": MODEL, "X": ROWS, "columns": ("a", "b")},
            "no column 'a'",
        ),
        (
            ScatterDisplay.from_estimator,
            {"model": MODEL, "X": ROWS, "columns": "ab"},
            "two names or numbers",
        ),
        (
            ScatterDisplay.from_estimator,
            {"model": MODEL, "X": ROWS, "row_names": ["one"]},
            "1 names for 100 rows",
        ),
        (ScatterDisplay.from_estimator, {"model": MODEL, "X": ROWS, "max_rows": 0}, "max_rows"),
        (ScatterDisplay.from_predictions, {"X": ROWS, "labels": [0, 1]}, "one row for each label"),
        (
            ScatterDisplay.from_predictions,
            {"X": np.ones((2, 2)), "labels": [0, 1], "columns": (0, 9)},
            "two column numbers",
        ),
        (MembershipDisplay.from_estimator, {"model": MODEL, "X": ROWS, "kind": "pie"}, "kind"),
        (MembershipDisplay.from_predictions, {"memberships": [0.1, 0.9]}, r"\(n, c\)"),
        (MembershipDisplay.from_predictions, {"memberships": [[2.0]]}, "between 0 and 1"),
        (SizesDisplay.from_predictions, {"labels": [0.5]}, "whole numbers"),
        (SizesDisplay.from_predictions, {"labels": [0, -2]}, "from -1 on"),
        (
            SizesDisplay.from_predictions,
            {"labels": [0, 1], "names": ["one"]},
            "1 names for 2 clusters",
        ),
        (SilhouetteDisplay.from_predictions, {"silhouettes": [2.0], "labels": [0]}, "from -1 to 1"),
        (
            CentresDisplay.from_estimator,
            {"model": MODEL, "X": ROWS, "feature_names": ["a"]},
            "1 names for 4 columns",
        ),
        (CentresDisplay.from_predictions, {"centres": [[np.nan]]}, "finite"),
        (ConvergenceDisplay.from_predictions, {"history": []}, "finite numbers"),
        (TendencyDisplay.from_predictions, {"distances": [[0, 1], [2, 0]]}, "symmetric"),
    ],
)
def test_bad_input_is_named(X, fuzzy, call, given, words):
    meant = {
        name: X if value is ROWS else fuzzy if value is MODEL else value
        for name, value in given.items()
    }
    with pytest.raises(ValueError, match=words):
        call(**meant)
