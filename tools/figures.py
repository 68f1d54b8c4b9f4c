"""Figures of the pages that explain: rules as curves, spaces side by side, parameters, the comparison grid. `python -m tools.figures`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn import cluster, datasets, mixture

from cmeans import FuzzyCMeans, KernelKMeans, rules

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


def rule_curves() -> None:
    """Memberships in the right one of two clusters, of points on the line through their centres."""
    x = np.linspace(-3, 4, 701)
    d2 = (x[:, None] - np.array([0.0, 1.0])) ** 2
    scales = np.array([0.3, 0.3])
    shown = {
        "hard": rules.Hard(),
        "fuzzy, m = 1.3": rules.Fuzzy(1.3),
        "fuzzy, m = 2": rules.Fuzzy(2.0),
        "fuzzy with noise": rules.NoiseFuzzy(1.3, 1.0),
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
    axes[1, 3].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False, title="crosses: the centres")
    save(figure, "rules")


def spaces() -> None:
    """The same two moons among a ball, in three spaces."""
    moons, _ = datasets.make_moons(1500, noise=0.06, random_state=0)
    ball = np.random.default_rng(0).normal([2.8, 1.2], 0.18, size=(500, 2))
    X = np.vstack([moons, ball])
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), sharey=True)
    shown = {
        'kernel="linear": Euclidean': {"kernel": "linear"},
        'kernel="rbf": span of landmarks': {"kernel": "rbf", "gamma": 2.0, "n_landmarks": 200},
        'kernel="landmark_graph"': {"kernel": "landmark_graph"},
    }
    for ax, (name, words) in zip(axes, shown.items(), strict=True):
        model = KernelKMeans(3, random_state=0, **words).fit(X)
        xx, yy = np.meshgrid(np.linspace(-1.6, 3.6, 260), np.linspace(-1, 2.1, 160))
        ground = model.predict(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
        ax.pcolormesh(xx, yy, ground, cmap=mpl.colors.ListedColormap(["#cfe3f3", "#fbe3c8", "#d5ecd8"]), rasterized=True)
        ax.scatter(*X.T, c=model.labels_, s=2, cmap=mpl.colors.ListedColormap(["#0072b2", "#e69f00", "#009e73"]))
        ax.set(title=name, xticks=[], yticks=[])
    save(figure, "spaces")


def fuzzifiers() -> None:
    """Memberships in three clusters that overlap, at several m."""
    X, _ = datasets.make_blobs([150, 150, 150], centers=[[0, 0], [3.2, 0], [1.6, 2.6]], random_state=0)
    parameter("m", X, {f"m = {m}": FuzzyCMeans(3, m=m, random_state=0) for m in (1.1, 1.5, 2.0, 4.0)})


def widths() -> None:
    """Two moons, at several widths of the Gaussian kernel."""
    X, _ = datasets.make_moons(600, noise=0.08, random_state=0)
    models = {f"gamma = {gamma:g}": KernelKMeans(2, gamma=gamma, n_landmarks=200, random_state=0) for gamma in (0.01, 4.0, 60.0)}
    parameter("gamma", X, models | {'gamma="scale"': KernelKMeans(2, n_landmarks=200, random_state=0)})


def landmark_numbers() -> None:
    """Two moons, by few and by many landmarks."""
    X, _ = datasets.make_moons(600, noise=0.08, random_state=0)
    numbers = (3, 10, 30, 100)
    parameter("landmarks", X, {f"{s} landmarks": KernelKMeans(2, gamma=4.0, n_landmarks=s, random_state=0) for s in numbers})


def numbers_of_clusters() -> None:
    """Four clusters, by fits that are told another number."""
    X, _ = datasets.make_blobs(600, centers=[[0, 0], [4, 0], [0, 4], [4.5, 4.5]], cluster_std=0.8, random_state=0)
    parameter("c", X, {f"n_clusters = {c}": FuzzyCMeans(c, random_state=0) for c in (2, 3, 4, 6)})


def noise_distances() -> None:
    """Three clusters among stray rows; grey: label -1."""
    X, _ = shapes(700)["blobs in noise"]
    X = X / X.std(axis=0)
    models = {f"noise = {noise}": FuzzyCMeans(3, noise=noise, random_state=0) for noise in (None, 0.05, 0.3)}
    parameter("noise", X, models | {'noise="auto"': FuzzyCMeans(3, noise="auto", random_state=0)})


def parameter(name: str, X: np.ndarray, models: dict[str, Any]) -> None:
    """Rows, and the plane coloured by memberships in the clusters of each model; their landmarks or centres as crosses."""
    figure, axes = plt.subplots(1, len(models), figsize=(11, 2.9), sharex=True, sharey=True)
    palette = np.array([mpl.colors.to_rgb(one) for one in ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#bbbbbb")])
    (left, low), (right, high) = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    xx, yy = np.meshgrid(np.linspace(left, right, 180), np.linspace(low, high, 160))
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        model.fit(X)
        u = model.memberships(np.column_stack([xx.ravel(), yy.ravel()]))
        colours = u @ palette[: u.shape[1]] + (1 - u.sum(axis=1, keepdims=True)) * palette[-1]
        ax.imshow(0.45 * colours.reshape(*xx.shape, 3) + 0.55, extent=(left, right, low, high), origin="lower", aspect="auto")
        ax.scatter(*X.T, c=palette[model.labels_], s=3)
        if name == "landmarks":
            ax.plot(*model.landmarks_.T, "kx", markersize=4)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize=10)
    save(figure, f"parameter-{name}")


def shapes(n: int = 1000) -> dict[str, tuple[np.ndarray, int]]:
    """Toy sets of about n rows, and their numbers of clusters."""
    rng = np.random.default_rng(0)
    blobs, _ = datasets.make_blobs(n, random_state=8)
    stretched = datasets.make_blobs(n, random_state=170)[0] @ np.array([[0.6, -0.6], [-0.4, 0.8]])
    varied, _ = datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170)
    noisy = np.vstack([datasets.make_blobs(int(0.7 * n), random_state=8)[0], rng.uniform(-15, 15, (int(0.3 * n), 2))])
    return {
        "blobs": (blobs, 3),
        "varied spread": (varied, 3),
        "stretched": (stretched, 3),
        "moons": (datasets.make_moons(n, noise=0.05, random_state=0)[0], 2),
        "rings": (datasets.make_circles(n, factor=0.5, noise=0.05, random_state=0)[0], 2),
        "blobs in noise": (noisy, 3),
        "no clusters": (rng.uniform(size=(n, 2)), 3),
    }


def fuzzy_peer(X: np.ndarray, c: int) -> np.ndarray:
    from skfuzzy import cmeans  # in an environment that has it: pip install scikit-fuzzy

    return np.asarray(cmeans(X.T, c, 2.0, error=1e-5, maxiter=300, seed=0)[1]).argmax(axis=0)


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "cmeans\nFuzzyCMeans": lambda X, c: FuzzyCMeans(c, random_state=0).fit_predict(X),
    "cmeans\nnoise": lambda X, c: FuzzyCMeans(c, noise="auto", random_state=0).fit_predict(X),
    "cmeans\nlandmark graph": lambda X, c: KernelKMeans(c, kernel="landmark_graph", random_state=0).fit_predict(X),
    "scikit-learn\nKMeans": lambda X, c: cluster.KMeans(c, random_state=0).fit_predict(X),
    "scikit-learn\nSpectralClustering": lambda X, c: cluster.SpectralClustering(
        c, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "scikit-learn\nHDBSCAN": lambda X, _: cluster.HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X),
    "scikit-learn\nGaussianMixture": lambda X, c: mixture.GaussianMixture(c, random_state=0).fit_predict(X),
    "scikit-fuzzy\ncmeans": fuzzy_peer,
}


def comparison() -> None:
    """Rows: toy shapes. Columns: methods, told the number of clusters (but HDBSCAN). Seconds of the second run in the corner."""
    sets = shapes()
    figure, axes = plt.subplots(len(sets), len(METHODS), figsize=(15, 13))
    colours = np.array(["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000", "#bbbbbb"])
    for number, (row, (name, (X, c))) in enumerate(zip(axes, sets.items(), strict=True)):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        for ax, (method, find) in zip(row, METHODS.items(), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                find(X, c)
                before = time.perf_counter()
                labels = find(X, c)
                seconds = time.perf_counter() - before
            ax.scatter(*X.T, s=3, c=colours[np.where(labels < 0, 8, labels % 8)])
            ax.text(0.98, 0.02, f"{seconds:.3f}", transform=ax.transAxes, ha="right", fontsize=9)
            ax.set(xticks=[], yticks=[])
            if number == 0:
                ax.set_title(method, fontsize=10)
        row[0].set_ylabel(name)
    save(figure, "comparison", dpi=75)


def save(figure: Any, name: str, dpi: int = 100) -> None:
    figure.tight_layout()
    figure.savefig(PICTURES / f"{name}.png", dpi=dpi, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    mpl.use("Agg")
    rule_curves()
    spaces()
    for draw in (fuzzifiers, widths, landmark_numbers, numbers_of_clusters, noise_distances):
        draw()
    comparison()


if __name__ == "__main__":
    main()
