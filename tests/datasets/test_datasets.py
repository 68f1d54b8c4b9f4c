"""The generators against the facts of the papers, and the loaders without a network."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from scipy.spatial.distance import cdist

from cmeans.datasets import (
    QUADRUPED_CLASSES,
    load_covtype,
    load_mnist,
    make_close_gaussians,
    make_quadrupeds,
    make_ring_and_disc,
    make_s_set,
    quadruped_feature_names,
)

GENERATORS = {
    "ring_and_disc": make_ring_and_disc,
    "close_gaussians": make_close_gaussians,
    "quadrupeds": lambda random_state: make_quadrupeds(300, random_state=random_state),
    "s_set": lambda random_state: make_s_set(5, 300, noise=0.1, random_state=random_state),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_same_seed_same_bits(name):
    make = GENERATORS[name]
    first, again, stateful = (
        make(random_state=7),
        make(random_state=7),
        make(random_state=np.random.RandomState(7)),
    )
    for other in (again, stateful):
        np.testing.assert_array_equal(first[0], other[0])
        np.testing.assert_array_equal(first[1], other[1])
    assert not np.array_equal(first[0], make(random_state=8)[0])
    assert not np.array_equal(make(random_state=None)[0], make(random_state=None)[0])


@pytest.mark.parametrize("name", GENERATORS)
def test_types_and_order(name):
    X, y = GENERATORS[name](random_state=0)
    assert X.dtype == np.float64
    assert np.issubdtype(y.dtype, np.integer)
    assert X.shape[0] == len(y)
    assert np.isfinite(X).all()
    assert (np.diff(y) < 0).any(), (
        "rows come class by class, which a stream or a block would not survive"
    )


# ---------------------------------------------------------------------------------------- the plane


def test_ring_and_disc():
    X, y = make_ring_and_disc(random_state=0)
    assert X.shape == (300, 2)
    assert np.bincount(y).tolist() == [100, 200]
    radius = np.hypot(*X.T)
    assert radius[y == 0].max() <= 1
    assert radius[y == 1].min() >= 2
    assert radius[y == 1].max() <= 3


def test_ring_and_disc_are_uniform_over_their_areas():
    X, y = make_ring_and_disc(40_000, 40_000, radii=(2.0, 3.0, 5.0), random_state=1)
    squares = (X**2).sum(axis=1)
    for label, (low, high) in enumerate([(0, 4), (9, 25)]):
        counts = np.histogram(squares[y == label], bins=10, range=(low, high))[0]
        assert counts.sum() == 40_000
        assert np.abs(counts - 4000).max() < 5 * np.sqrt(4000)
    turns = np.histogram(np.arctan2(X[:, 1], X[:, 0]), bins=8, range=(-np.pi, np.pi))[0]
    assert np.abs(turns - 10_000).max() < 5 * 100


def test_close_gaussians():
    X, y = make_close_gaussians(random_state=0)
    assert X.shape == (1100, 2)
    assert np.bincount(y).tolist() == [500, 300, 300]
    X, y = make_close_gaussians((40_000, 40_000, 40_000), random_state=0)
    for label, mean in enumerate([(4.1, 3.7), (2.8, 0.8), (3.5, 5.7)]):
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=5 * np.sqrt(0.4 / 40_000))
        np.testing.assert_allclose(np.cov(X[y == label].T), 0.4 * np.eye(2), atol=0.015)


@pytest.mark.parametrize("overlap", [0.006, 0.03, 0.2])
@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_s_set(overlap, noise):
    c, n = 15, 5000
    X, y = make_s_set(c, n, overlap=overlap, noise=noise, random_state=3)
    assert X.shape == (n, 2)
    assert (y == -1).sum() == round(noise * n)
    sizes = np.bincount(y[y >= 0], minlength=c)
    assert len(sizes) == c
    assert np.ptp(sizes) <= 1
    clustered, labels = X[y >= 0], y[y >= 0]
    # close to the centres drawn
    means = np.array([clustered[labels == j].mean(axis=0) for j in range(c)])
    foreign = (cdist(clustered, means).argmin(axis=1) != labels).mean()
    assert foreign == pytest.approx(overlap, abs=0.004 + 0.1 * overlap)
    strangers = X[y == -1]
    assert (strangers >= clustered.min(axis=0)).all()
    assert (strangers <= clustered.max(axis=0)).all()


def test_noise_is_uniform_over_the_box_of_the_clusters():
    X, y = make_s_set(4, 40_000, noise=0.5, random_state=0)
    low, high = X[y >= 0].min(axis=0), X[y >= 0].max(axis=0)
    counts = np.histogram2d(*((X[y == -1] - low) / (high - low)).T, bins=4, range=((0, 1), (0, 1)))[
        0
    ]
    assert np.abs(counts - 1250).max() < 5 * np.sqrt(1250)


def test_overlap_is_a_share_of_points_beyond_the_border_with_the_true_centres(monkeypatch):
    from cmeans.datasets import plane

    seen = []
    original = plane._spread_centres
    monkeypatch.setattr(
        plane, "_spread_centres", lambda random, c: seen.append(original(random, c)) or seen[-1]
    )
    for seed in range(5):
        X, y = make_s_set(8, 2000, overlap=0.1, random_state=seed)
        assert (cdist(X, seen[-1]).argmin(axis=1) != y).sum() == pytest.approx(200, abs=1)


def test_two_clusters_cannot_lose_half_of_their_points():
    outcomes = set()
    for seed in range(20):
        try:
            outcomes.add(
                bool(np.isfinite(make_s_set(2, 10, overlap=0.5, random_state=seed)[0]).all())
            )
        except ValueError as error:
            outcomes.add(str(error))
    assert outcomes == {
        True,
        "make_s_set(overlap=0.5): 2 clusters of these shapes never overlap so much; lower it.",
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: make_ring_and_disc(0),
            r"make_ring_and_disc\(n_disc=0\): n_disc must be a whole number of at least 1",
        ),
        (lambda: make_ring_and_disc(n_ring=2.5), r"make_ring_and_disc\(n_ring=2.5\)"),
        (
            lambda: make_ring_and_disc(radii=(2.0, 1.0, 3.0)),
            r"make_ring_and_disc\(radii=.*0 < the first",
        ),
        (lambda: make_ring_and_disc(radii=(1.0, 2.0)), r"radii must be three numbers"),
        (lambda: make_ring_and_disc(radii=3), r"radii must be three numbers"),
        (lambda: make_ring_and_disc(radii=(1.0, 2.0, np.inf)), r"radii must be three numbers"),
        (
            lambda: make_close_gaussians((1, 2)),
            r"make_close_gaussians\(n_samples=\(1, 2\)\): give three whole numbers",
        ),
        (lambda: make_close_gaussians(9), r"give three whole numbers"),
        (lambda: make_close_gaussians((3, 0, 3)), r"make_close_gaussians\(n_samples=0\)"),
        (lambda: make_quadrupeds(0), r"make_quadrupeds\(n_samples=0\)"),
        (lambda: make_quadrupeds(True), r"make_quadrupeds\(n_samples=True\)"),
        (lambda: make_s_set(1), r"make_s_set\(n_clusters=1\)"),
        (lambda: make_s_set(15, 14), r"14 points without the noise are too few for 15 clusters"),
        (lambda: make_s_set(15, 20, noise=0.5), r"10 points without the noise are too few"),
        (lambda: make_s_set(overlap=0), r"overlap must be above 0 and below 1"),
        (lambda: make_s_set(overlap=0.6), r"overlap=0.6\): beyond 0.5"),
        (lambda: make_s_set(noise=1.0), r"noise must be at least 0 and below 1"),
        (lambda: make_s_set(noise=np.nan), r"noise must be at least 0 and below 1"),
        (lambda: make_s_set(noise="much"), r"noise must be at least 0 and below 1"),
        (lambda: make_s_set(random_state="seed"), r"seed"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# --------------------------------------------------------------------------------------- quadrupeds

N = 80_000
FACTS = {  # low and high end of each draw: dog, cat, horse, giraffe
    "torso_height": [(22, 28), (15, 22), (50, 60), (60, 72)],
    "torso_radius": [(5.5, 7.5), (2.5, 4.5), (10, 14.5), (12.5, 17)],
    "leg1_height": [(10, 15), (4, 9), (36, 44), (58, 70)],
    "leg1_radius": [(0.8, 1.2), (0.4, 0.8), (2.0, 3.5), (2.0, 4.0)],
    "leg2_radius": [(0.8, 1.2), (0.4, 0.8), (2.0, 3.5), (2.0, 4.0)],
    "leg3_radius": [(0.8, 1.2), (0.4, 0.8), (2.0, 3.5), (2.0, 4.0)],
    "leg4_radius": [(0.8, 1.2), (0.4, 0.8), (2.0, 3.5), (2.0, 4.0)],
    "leg1_axis_x": [(0, 1), (0, 1), (0, 0.5), (0, 0.5)],
    "leg4_axis_x": [(0, 1), (0, 1), (0, 0.5), (0, 0.5)],
    "neck_height": [(5, 6), (2, 4), (12, 16), (45, 55)],
    "neck_radius": [(2, 3), (1.5, 2.5), (5, 7), (5, 9)],
    "head_height": [(10, 13), (3, 5), (18, 22), (18, 22)],
    "head_radius": [(2.5, 3.5), (1.5, 2.5), (4, 6), (3.5, 5.5)],
    "head_axis_y": [(-1, 1)] * 4,
    "tail_height": [(6, 8), (10, 18), (26, 33), (20, 25)],
    "tail_radius": [(0.2, 0.4), (0.3, 0.7), (1.0, 2.0), (0.5, 1.0)],
    "tail_axis_y": [(-1, 1)] * 4,
    "tail_axis_z": [(-1, 1), (-1, 1), (-1, 0), (-1, 0)],
    **{
        f"{part}_texture": [(170, 180)] * 4
        for part in ("torso", "leg1", "leg2", "leg3", "leg4", "neck", "head", "tail")
    },
}


@pytest.fixture(scope="module")
def animals():
    X, y = make_quadrupeds(N, random_state=0)
    return dict(zip(quadruped_feature_names(), X.T, strict=True)), y


def test_shape_names_and_classes(animals):
    columns, y = animals
    names = quadruped_feature_names()
    assert len(columns) == len(set(names)) == 72
    places = [f"{what}_{axis}" for what in ("location", "axis") for axis in "xyz"]
    assert names[:9] == [
        f"torso_{attribute}" for attribute in (*places, "height", "radius", "texture")
    ]
    assert [name.split("_")[0] for name in names[::9]] == [
        "torso",
        "leg1",
        "leg2",
        "leg3",
        "leg4",
        "neck",
        "head",
        "tail",
    ]
    assert QUADRUPED_CLASSES == ("dog", "cat", "horse", "giraffe")
    assert np.abs(np.bincount(y, minlength=4) - N / 4).max() < 5 * np.sqrt(N * 3 / 16)


@pytest.mark.parametrize("name", FACTS)
def test_what_is_drawn(name, animals):
    columns, y = animals
    for label, (low, high) in enumerate(FACTS[name]):
        values, width = columns[name][y == label], high - low
        assert values.min() >= low
        assert values.max() <= high
        np.testing.assert_allclose(
            values.mean(), (low + high) / 2, atol=5 * 0.1972 * width / np.sqrt(len(values))
        )
        np.testing.assert_allclose(values.std(), 0.197203 * width, rtol=0.025)
        # the density of a mixture of three ranges, by fifths: 1 : 1 + 5/3 : 1 + 5/3 + 5, each over
        # three
        shares = np.histogram(values, bins=5, range=(low, high))[0] / len(values)
        outer, next_, middle = 1 / 15, 1 / 15 + 1 / 9, 1 / 15 + 1 / 9 + 1 / 3
        np.testing.assert_allclose(shares, [outer, next_, middle, next_, outer], atol=0.018)


def test_draws_are_independent_within_a_class(animals):
    columns, y = animals
    drawn = np.array([columns[name][y == 0] for name in FACTS])
    assert np.abs(np.corrcoef(drawn) - np.eye(len(FACTS))).max() < 0.04


def test_constants(animals):
    columns, _ = animals
    fixed = {
        **dict.fromkeys(
            (
                "torso_location_x",
                "torso_location_y",
                "torso_location_z",
                "torso_axis_y",
                "torso_axis_z",
            ),
            0,
        ),
        **dict.fromkeys(("torso_axis_x", "neck_axis_x", "neck_axis_z", "head_axis_x"), 1),
        **dict.fromkeys(
            (
                "neck_location_y",
                "neck_axis_y",
                "head_location_y",
                "head_axis_z",
                "tail_location_y",
                "tail_location_z",
            ),
            0,
        ),
        "tail_axis_x": -1,
        **{f"leg{i}_axis_y": 0 for i in (1, 2, 3, 4)},
        **{f"leg{i}_axis_z": -1 for i in (1, 2, 3, 4)},
        **{f"leg{i}_axis_x": 0 for i in (2, 3)},
    }
    for name, value in fixed.items():
        assert (columns[name] == value).all(), name
    derived = {f"leg{i}_location_{a}" for i in (1, 2, 3, 4) for a in "xyz"} | {
        f"leg{i}_height" for i in (2, 3, 4)
    }
    derived |= {
        "neck_location_x",
        "neck_location_z",
        "head_location_x",
        "head_location_z",
        "tail_location_x",
    }
    # every column is drawn, constant or tested below
    assert set(fixed) | derived | set(FACTS) == set(columns)


def test_linear_relations(animals):
    columns, y = animals
    torso, radius, leg, neck = (
        columns[name] for name in ("torso_height", "torso_radius", "leg1_height", "neck_height")
    )
    tall = y >= 2
    for i, (fore, side) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)], start=1):
        np.testing.assert_array_equal(columns[f"leg{i}_height"], leg)
        np.testing.assert_allclose(columns[f"leg{i}_location_x"], fore * torso / 2)
        np.testing.assert_allclose(columns[f"leg{i}_location_y"], side * radius)
        np.testing.assert_allclose(columns[f"leg{i}_location_z"], -radius - leg / 2)
    np.testing.assert_allclose(
        columns["neck_location_x"], np.where(tall, torso / 2 + neck / 2.828, torso / 2 + neck / 2)
    )
    np.testing.assert_allclose(
        columns["neck_location_z"], np.where(tall, radius + neck / 2.828, radius)
    )
    np.testing.assert_allclose(
        columns["head_location_x"], np.where(tall, torso / 2 + neck / 1.414, torso / 2 + neck)
    )
    np.testing.assert_allclose(
        columns["head_location_z"], np.where(tall, radius + neck / 1.414, radius)
    )
    np.testing.assert_allclose(columns["tail_location_x"], -torso + columns["tail_height"])


def test_as_printed():
    plain, y = make_quadrupeds(2000, random_state=5)
    printed, same = make_quadrupeds(2000, as_printed=True, random_state=5)
    np.testing.assert_array_equal(y, same)
    texture = [name.endswith("texture") for name in quadruped_feature_names()]
    assert (printed[:, texture] == np.floor(plain[:, texture])).all()
    other = ~np.array(texture)
    assert np.abs(printed[:, other] - plain[:, other]).max() <= 0.005 + 1e-12
    np.testing.assert_allclose(printed * 100, np.round(printed * 100), atol=1e-8)


# ---------------------------------------------------------------------------------------- real data

LOADERS = {"fetch_covtype": load_covtype, "fetch_openml": load_mnist}


@pytest.mark.parametrize("fetcher", LOADERS)
def test_loaders(fetcher, monkeypatch):
    asked = {}

    def fetch(*names, **words):
        asked.update(words, names=names)
        return SimpleNamespace(
            data=np.arange(6, dtype=np.uint8).reshape(3, 2), target=np.array(["1", "2", "7"])
        )

    monkeypatch.setattr(sklearn.datasets, fetcher, fetch)
    X, y = LOADERS[fetcher](data_home="somewhere")
    assert asked["data_home"] == "somewhere"
    assert asked["names"] == {"fetch_covtype": (), "fetch_openml": ("mnist_784",)}[fetcher]
    assert X.dtype == np.float64
    assert X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert y.tolist() == [1, 2, 7]


@pytest.mark.parametrize("fetcher", LOADERS)
def test_loaders_without_a_network(fetcher, monkeypatch):
    def fetch(*_, **__):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, fetcher, fetch)
    with pytest.raises(
        OSError,
        match=rf"{LOADERS[fetcher].__name__}: the data could not be had: .*no route to host.*needs "
        r"the network",
    ):
        LOADERS[fetcher]()
