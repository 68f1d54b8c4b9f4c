"""Which defaults the landmark graph has: neighbours, falloff and landmarks, on labelled sets, the
half of a public suite that is in the data folder, shapes that blur, and many topics.

    python -m benchmarks.graph_defaults           some ten minutes; prints a table of means
    python -m benchmarks.graph_defaults --sets    every set, too
    python -m benchmarks.graph_defaults --doubts  of which cuts by the defaults a warning says that
                                                  they are doubtful: the right ones, and the others

The score of a set is the adjusted Rand index of KernelKMeans with its number of clusters, the best
of its labellings, over two random states. What is found is on docs/algorithms/landmark_graph.md.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_circles, make_moons

from cmeans import KernelKMeans
from cmeans.kernels import LandmarkGraphKernel

from .connected_pieces import score, sets
from .defaults import MADE, REAL
from .harness import quiet
from .shapes import rows_of, spirals

SEEDS = 2
LEAST = 1_000  # landmarks
FEW = 5_000  # rows of a set whose cuts are doubted, at most
RIGHT = 0.8  # score of a cut, from which on it is right
# neighbours, falloff, landmarks for each cluster
WAYS = [(k, power, per) for k in (5, 10) for power in (4, 6, 8) for per in (0, 30)]

Set = tuple[str, np.ndarray, list[np.ndarray]]


def topics(clusters: int, rows: int, apart: float, columns: int = 50) -> tuple[np.ndarray, ...]:
    """Rows of length one about directions, the spectrum of their noise falling as 1 / rank."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(clusters, columns))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    y = rng.choice(clusters, rows, p=rng.dirichlet(np.full(clusters, 3.0)))
    widths = np.arange(1, columns + 1) ** -0.5
    noise = rng.normal(size=(rows, columns)) * widths / np.linalg.norm(widths)
    x = centres[y] + apart * noise @ np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    return x / np.linalg.norm(x, axis=1)[:, None], y


def waves(rows: int, seed: int) -> tuple[np.ndarray, ...]:
    """Three thin waves, one above the other."""
    rng = np.random.default_rng(seed)
    y, along = rng.integers(3, size=rows), rng.uniform(0, 1, rows)
    return np.column_stack([10 * along, y + 0.6 * np.sin(4 * along)]) + rng.normal(
        0, 0.12, (rows, 2)
    ), y


def groups() -> dict[str, Iterator[Set]]:
    return {
        "suite": sets(10_000),
        "labelled sets": (
            (name, x, [y + 1]) for name in [*REAL, *MADE] for x, y in [rows_of(name)]
        ),
        "shapes": _shapes(),
        "topics": (
            (f"{c} topics", x, [y + 1])
            for c, apart in ((60, 1.0), (120, 0.9))
            for x, y in [topics(c, 6_000, apart)]
        ),
    }


def _shapes() -> Iterator[Set]:
    for rows in (1_000, 3_000):
        for begin in (0.01, 0.0):
            x, y = spirals(rows, begin)
            yield f"spirals from {begin}, {rows}", x, [y + 1]
        for seed in (0, 1):
            for noise in (0.06, 0.1, 0.14):
                x, y = make_moons(rows, noise=noise, random_state=seed)
                yield f"moons {noise}, {rows}, {seed}", x, [y + 1]
            for factor, noise in ((0.4, 0.05), (0.6, 0.06), (0.7, 0.05), (0.8, 0.03)):
                x, y = make_circles(rows, factor=factor, noise=noise, random_state=seed)
                yield f"circles {factor}, {rows}, {seed}", x, [y + 1]
            x, y = waves(rows, seed)
            yield f"waves, {rows}, {seed}", x, [y + 1]


def found(x: np.ndarray, labellings: list[np.ndarray], way: tuple[int, int, int]) -> float:
    """The mean over the seeds of the best score."""
    neighbours, power, per = way
    most = max(len(np.unique(x, axis=0)) // 2, neighbours)
    values = []
    for seed in range(SEEDS):
        scores = []
        for y in labellings:
            clusters = int(y.max())
            model = KernelKMeans(
                clusters,
                kernel=LandmarkGraphKernel(n_neighbors=neighbours, falloff=power),
                landmarks=min(max(LEAST, per * clusters), most),
                random_state=seed,
            )
            scores.append(score(model.fit(x).labels_, y))
        values.append(max(scores))
    return statistics.fmean(values)


def doubts() -> None:
    """Print how many cuts are right and how many are not, and of each those that are doubted:
    of all groups but the topics."""
    for group, members in list(groups().items())[:-1]:
        cuts: dict[tuple[str, int], tuple[float, bool]] = {}  # the best score, and if it is doubted
        for name, rows, labellings in members:
            step = -(-len(rows) // FEW)
            x = rows[::step]
            for whole in labellings:
                y, clusters = whole[::step], int(whole.max())
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    model = KernelKMeans(clusters, kernel="landmark_graph", random_state=0).fit(x)
                doubted = any("is doubtful" in str(one.message) for one in told)
                before, _ = cuts.get((name, clusters), (-1.0, False))
                cuts[name, clusters] = max(before, score(model.labels_, y)), doubted
        for what, is_right in (("right", True), ("other", False)):
            marks = [mark for value, mark in cuts.values() if (value >= RIGHT) == is_right]
            print(f"{group}: of {len(marks)} {what} cuts {sum(marks)} are doubted", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--doubts", action="store_true")
    arguments = parser.parse_args()
    every = arguments.sets
    quiet()
    if arguments.doubts:
        doubts()
        return
    print(f"{'neighbours, falloff, landmarks a cluster':<42}", *(f"{way!s:>12}" for way in WAYS))
    for group, members in groups().items():
        scores: list[list[float]] = []
        for name, x, labellings in members:
            scores.append([found(x, labellings, way) for way in WAYS])
            if every:
                print(f"{name:<42}", *(f"{value:12.3f}" for value in scores[-1]), flush=True)
        means = map(statistics.fmean, zip(*scores, strict=True))
        print(f"{group + ', mean':<42}", *(f"{value:12.3f}" for value in means), flush=True)


if __name__ == "__main__":
    main()
