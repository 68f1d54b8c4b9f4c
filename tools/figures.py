"""Figures of the pages that explain: the front page's, rules as curves, spaces, parameters, the
comparison grid.

`python -m tools.figures [NAME ...]`, all of them where none is named; the grid needs scikit-fuzzy.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn import cluster, datasets, mixture
from threadpoolctl import threadpool_limits

from cmeans import AdaptivePossibilisticCMeans, FuzzyCMeans, GaussianMixture, KernelKMeans, rules
from cmeans.inspection import ScatterDisplay
from cmeans.inspection import figure as look
from cmeans.metrics import match_labels

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


COLOURS = np.array([*look.COLOURS[:8], look.NOISE])  # the last: noise


def front() -> None:
    """What the library is for: overlap, a ring around a disc, spirals, noise; the plane coloured by
    memberships."""
    rng = np.random.default_rng(0)
    overlap = datasets.make_blobs(
        [200, 200, 200], centers=[[0, 0], [3.2, 0], [1.6, 2.7]], random_state=0
    )[0]
    rings = datasets.make_circles(600, factor=0.25, noise=0.07, random_state=0)[0]
    turn = np.sqrt(rng.uniform(0.02, 1, 900)) * 1.8 * np.pi
    arm = np.arange(900) % 3 * 2 * np.pi / 3
    spirals = (turn * [np.cos(turn + arm), np.sin(turn + arm)]).T + rng.normal(0, 0.13, (900, 2))
    blobs = datasets.make_blobs(
        [150, 90, 200, 60],
        centers=[[1, 1], [5, 1.5], [2, 5], [6, 5.5]],
        cluster_std=[0.45, 0.25, 0.6, 0.3],
        random_state=1,
    )[0]
    noisy = np.vstack([blobs, rng.uniform(-0.8, 7.5, (150, 2))])
    shown = {
        "FuzzyCMeans: memberships": (FuzzyCMeans(3, m=1.7, random_state=0), overlap),
        "KernelKMeans: Gaussian kernel": (
            KernelKMeans(2, gamma=2.0, landmarks=100, random_state=0),
            rings,
        ),
        "KernelKMeans: landmark graph": (
            KernelKMeans(3, kernel="landmark_graph", random_state=0),
            spirals,
        ),
        "AdaptivePossibilisticCMeans: 4 found": (
            AdaptivePossibilisticCMeans((1, 10), random_state=0),
            noisy,
        ),
    }
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.5))
    for ax, (title, (model, X)) in zip(axes, shown.items(), strict=True):
        over_memberships(ax, model, X)
        ax.set_title(title, fontsize=10)
    save(figure, "front")


def rule_curves() -> None:
    """Memberships in the right one of two clusters, of points on the line through their centres."""
    x = np.linspace(-3, 4, 701)
    d2 = (x[:, None] - np.array([0.0, 1.0])) ** 2
    scales = np.array([0.3, 0.3])
    shown = {
        "hard": rules.Hard(),
        "fuzzy, m = 1.3": rules.Fuzzy(1.3),
        "fuzzy, m = 2": rules.Fuzzy(2.0),
        "fuzzy with noise": rules.NoiseFuzzy(1.3, delta=1.0),
        "maximum entropy": rules.Entropy(0.3),
        "possibilistic": rules.Possibilistic(1.5),
        "sparse possibilistic": rules.SparsePossibilistic(),
    }
    figure, axes = plt.subplots(2, 4, figsize=(11, 4.6), sharex=True, sharey=True)
    for ax, (name, rule) in zip(axes.flat, shown.items(), strict=False):
        u = rule.memberships(d2, None if rule.rows_sum_to_one else scales)
        ax.plot(x, u[:, 0], color="C0", label="left cluster")
        ax.plot(x, u[:, 1], color="C1", label="right cluster")
        ax.plot([0, 1], [1.06, 1.06], "kx", markersize=5, clip_on=False)
        ax.set_title(name, fontsize=10)
    axes[0, 0].set_ylabel("membership")
    axes[1, 0].set_ylabel("membership")
    axes[1, 3].axis("off")
    axes[1, 3].legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="center",
        frameon=False,
        title="crosses: the centres",
    )
    save(figure, "rules")


def spaces() -> None:
    """The same two moons among a ball, in three spaces."""
    moons, _ = datasets.make_moons(1500, noise=0.06, random_state=0)
    ball = np.random.default_rng(0).normal([2.8, 1.2], 0.18, size=(500, 2))
    X = np.vstack([moons, ball])
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), sharey=True)
    shown = {
        'kernel="linear": Euclidean': {"kernel": "linear"},
        'kernel="rbf": span of landmarks': {"kernel": "rbf", "gamma": 2.0, "landmarks": 200},
        'kernel="landmark_graph"': {"kernel": "landmark_graph"},
    }
    for ax, (name, words) in zip(axes, shown.items(), strict=True):
        model = KernelKMeans(3, random_state=0, **words).fit(X)
        xx, yy = np.meshgrid(np.linspace(-1.6, 3.6, 260), np.linspace(-1, 2.1, 160))
        ground = model.predict(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
        ax.pcolormesh(
            xx,
            yy,
            ground,
            cmap=mpl.colors.ListedColormap(["#cfe3f3", "#fbe3c8", "#d5ecd8"]),
            rasterized=True,
        )
        ax.scatter(
            *X.T,
            c=model.labels_,
            s=2,
            cmap=mpl.colors.ListedColormap(COLOURS[:3]),
        )
        ax.set(title=name, xticks=[], yticks=[])
    save(figure, "spaces")


def fuzzifiers() -> None:
    """Memberships in three clusters that overlap, at several m."""
    X, _ = datasets.make_blobs(
        [150, 150, 150], centers=[[0, 0], [3.2, 0], [1.6, 2.6]], random_state=0
    )
    parameter(
        "m", X, {f"m = {m}": FuzzyCMeans(3, m=m, random_state=0) for m in (1.1, 1.5, 2.0, 4.0)}
    )


def widths() -> None:
    """Two moons, at several widths of the Gaussian kernel."""
    X, _ = datasets.make_moons(600, noise=0.08, random_state=0)
    models = {
        f"gamma = {gamma:g}": KernelKMeans(2, gamma=gamma, landmarks=200, random_state=0)
        for gamma in (0.01, 4.0, 60.0)
    }
    parameter(
        "gamma", X, models | {'gamma="scale"': KernelKMeans(2, landmarks=200, random_state=0)}
    )


def landmark_numbers() -> None:
    """Two moons, by few and by many landmarks."""
    X, _ = datasets.make_moons(600, noise=0.08, random_state=0)
    numbers = (3, 10, 30, 100)
    parameter(
        "landmarks",
        X,
        {
            f"{s} landmarks": KernelKMeans(2, gamma=4.0, landmarks=s, random_state=0)
            for s in numbers
        },
    )


def numbers_of_clusters() -> None:
    """Four clusters, by fits that are told another number."""
    X, _ = datasets.make_blobs(
        600, centers=[[0, 0], [4, 0], [0, 4], [4.5, 4.5]], cluster_std=0.8, random_state=0
    )
    parameter("c", X, {f"n_clusters = {c}": FuzzyCMeans(c, random_state=0) for c in (2, 3, 4, 6)})


def noise_distances() -> None:
    """Three clusters among stray rows; grey: label -1."""
    X, _ = shapes(700)["blobs in noise"]
    X = X / X.std(axis=0)
    models = {
        f"noise = {noise}": FuzzyCMeans(3, noise=noise, random_state=0)
        for noise in (None, 0.05, 0.3)
    }
    parameter("noise", X, models | {'noise="auto"': FuzzyCMeans(3, noise="auto", random_state=0)})


def parameter(name: str, X: np.ndarray, models: dict[str, Any]) -> None:
    """The same rows by each model; landmarks as crosses where their number is what differs."""
    figure, axes = plt.subplots(1, len(models), figsize=(11, 2.9), sharex=True, sharey=True)
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        over_memberships(ax, model, X)
        if name == "landmarks":
            ax.plot(*model.landmarks_.T, "kx", markersize=4)
        ax.set_title(title, fontsize=10)
    save(figure, f"parameter-{name}")


def over_memberships(ax: Any, model: Any, X: np.ndarray) -> None:
    """Rows by their labels, noise grey, in the plane coloured by memberships."""
    model.fit(X)
    palette = np.array([mpl.colors.to_rgb(one) for one in COLOURS])
    (left, low), (right, high) = (
        X.min(axis=0) - 0.05 * np.ptp(X, axis=0),
        X.max(axis=0) + 0.05 * np.ptp(X, axis=0),
    )
    xx, yy = np.meshgrid(np.linspace(left, right, 200), np.linspace(low, high, 200))
    u = model.memberships(np.column_stack([xx.ravel(), yy.ravel()]))
    ground = (
        u @ palette[: u.shape[1]] + np.clip(1 - u.sum(axis=1, keepdims=True), 0, 1) * palette[-1]
    )
    ground = np.clip(0.4 * ground + 0.6, 0, 1).reshape(*xx.shape, 3)
    ax.imshow(ground, extent=(left, right, low, high), origin="lower", aspect="auto")
    ax.scatter(*X.T, c=palette[model.labels_], s=3)
    ax.set(xticks=[], yticks=[], xlim=(left, right), ylim=(low, high))


def shapes(n: int = 1000) -> dict[str, tuple[np.ndarray, int]]:
    """Toy sets of about n rows, and their numbers of clusters."""
    rng = np.random.default_rng(0)
    blobs, _ = datasets.make_blobs(n, random_state=8)
    stretched = datasets.make_blobs(n, random_state=170)[0] @ np.array([[0.6, -0.6], [-0.4, 0.8]])
    varied, _ = datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170)
    noisy = np.vstack(
        [
            datasets.make_blobs(int(0.7 * n), random_state=8)[0],
            rng.uniform(-15, 15, (int(0.3 * n), 2)),
        ]
    )
    return {
        "blobs": (blobs, 3),
        "varied spread": (varied, 3),
        "stretched": (stretched, 3),
        "moons": (datasets.make_moons(n, noise=0.05, random_state=0)[0], 2),
        "rings": (datasets.make_circles(n, factor=0.5, noise=0.05, random_state=0)[0], 2),
        "blobs in noise": (noisy, 3),
        "no clusters": (rng.uniform(size=(n, 2)), 3),
    }


def stretched() -> None:
    """Clusters that are stretched and unequal: what round ones make of them, and what those with
    covariances do."""
    rng, tilt = np.random.default_rng(0), np.array([[0.83, -0.56], [0.56, 0.83]])
    X = np.concatenate(
        [
            rng.normal(size=(300, 2)) * [3.0, 0.3] @ tilt.T,
            rng.normal(size=(250, 2)) * [0.4, 1.8] + [3.0, -3.0],
            rng.normal(size=(150, 2)) * 0.5 + [-3.0, 2.5],
        ]
    )
    words = {"random_state": 0, "n_jobs": 1}
    mixture_of_three = GaussianMixture(3, **words).fit(X)
    pictures: list[tuple[str, Any, Any]] = [
        ("k-means", KernelKMeans(3, kernel="linear", **words).fit(X), "ellipses"),
        (
            'FuzzyCMeans(3, covariance="full")',
            FuzzyCMeans(3, covariance="full", **words).fit(X),
            "ellipses",
        ),
        ("GaussianMixture(3)", mixture_of_three, "ellipses"),
        ("its density", mixture_of_three, "density"),
    ]
    figure, axes = plt.subplots(1, 4, figsize=(16, 4.2))
    for ax, (title, model, outline) in zip(axes, pictures, strict=True):
        drawn = {"columns": (0, 1), "outline": outline, "ax": ax}
        ScatterDisplay.from_estimator(model, X, **drawn)
        ax.set(title=title, xlabel="", ylabel="", xticks=[], yticks=[])
    save(figure, "covariances", dpi=80)


def fuzzy_peer(X: np.ndarray, c: int) -> np.ndarray:
    from skfuzzy import cmeans  # in an environment that has it: pip install scikit-fuzzy

    return np.asarray(cmeans(X.T, c, 2.0, error=1e-5, maxiter=300, seed=0)[1]).argmax(axis=0)


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "cmeans\nFuzzyCMeans": lambda X, c: FuzzyCMeans(c, random_state=0, n_jobs=1).fit_predict(X),
    "cmeans\nnoise": lambda X, c: FuzzyCMeans(
        c, noise="auto", random_state=0, n_jobs=1
    ).fit_predict(X),
    "cmeans\nlandmark graph": lambda X, c: KernelKMeans(
        c, kernel="landmark_graph", random_state=0, n_jobs=1
    ).fit_predict(X),
    "scikit-learn\nKMeans": lambda X, c: cluster.KMeans(c, random_state=0).fit_predict(X),
    "scikit-learn\nSpectralClustering": lambda X, c: cluster.SpectralClustering(
        c, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "scikit-learn\nHDBSCAN": lambda X, _: cluster.HDBSCAN(
        min_cluster_size=15, copy=True
    ).fit_predict(X),
    "scikit-learn\nGaussianMixture": lambda X, c: mixture.GaussianMixture(
        c, random_state=0
    ).fit_predict(X),
    "scikit-fuzzy\ncmeans": fuzzy_peer,
}


def comparison() -> None:
    """Rows: toy shapes. Columns: methods, told the number of clusters (but HDBSCAN). Processor
    seconds in the corner."""
    sets = shapes()
    figure, axes = plt.subplots(len(sets), len(METHODS), figsize=(14, 12.2))
    for number, (row, (name, (X, c))) in enumerate(zip(axes, sets.items(), strict=True)):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        first = None
        for ax, (method, find) in zip(row, METHODS.items(), strict=True):
            labels, seconds = timed(find, X, c)
            first = labels if first is None else first
            labels = match_labels(labels, first)  # the same colours along a row
            ax.scatter(*X.T, s=2, c=COLOURS[np.where(labels < 0, 8, labels % 8)])
            corner = ax.text(
                0.97,
                0.03,
                f"{seconds * 1e3:.0f} ms",
                transform=ax.transAxes,
                ha="right",
                fontsize=8.5,
            )
            corner.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1})
            ax.set(xticks=[], yticks=[])
            if number == 0:
                ax.set_title(method, fontsize=10)
        row[0].set_ylabel(name)
    save(figure, "comparison", dpi=80)


def timed(
    find: Callable[[np.ndarray, int], np.ndarray], X: np.ndarray, c: int
) -> tuple[np.ndarray, float]:
    """Labels, and processor seconds on one thread: the least of five runs after a first."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        labels, seconds = find(X, c), []
        for _ in range(5):
            before = time.process_time()
            find(X, c)
            seconds.append(time.process_time() - before)
    return labels, min(seconds)


def save(figure: Any, name: str, dpi: int = 100) -> None:
    figure.tight_layout()
    figure.savefig(PICTURES / f"{name}.png", dpi=dpi, metadata={"Software": None})
    plt.close(figure)


FIGURES: dict[str, Callable[[], None]] = {
    "front": front,
    "rules": rule_curves,
    "spaces": spaces,
    "m": fuzzifiers,
    "gamma": widths,
    "landmarks": landmark_numbers,
    "c": numbers_of_clusters,
    "noise": noise_distances,
    "covariances": stretched,
    "comparison": comparison,
}


def in_our_look() -> None:
    """Draw what follows in the look of displays, with their colours."""
    mpl.use("Agg")
    mpl.rcParams.update(look.QUIET | {"axes.prop_cycle": mpl.cycler(color=look.COLOURS)})


def main(*names: str) -> None:
    in_our_look()
    for name in names or FIGURES:
        FIGURES[name]()


if __name__ == "__main__":
    main(*sys.argv[1:])
