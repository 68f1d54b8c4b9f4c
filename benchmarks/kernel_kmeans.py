"""Approximate kernel k-means on covtype: KernelKMeans against scikit-learn's Nystroem followed by KMeans, end to end."""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem

from cmeans import KernelKMeans

from .harness import Run, contest, header, load, measure_memory, peak_megabytes, report, unit_interval
from .judge import landmark_kmeans_cost

GAMMA, LANDMARKS, CLUSTERS, SWEEPS = 1.0, 582, 7, 10


def runs(x: np.ndarray) -> tuple[dict[str, Run], np.ndarray]:
    """The contestants, and the landmarks they share: those that Nystroem draws from random_state 0."""
    nystroem = Nystroem(kernel="rbf", gamma=GAMMA, n_components=LANDMARKS, random_state=0)
    landmarks = np.random.RandomState(0).permutation(len(x))[:LANDMARKS]  # what Nystroem draws; checked below
    start = np.random.default_rng(0).choice(len(x), CLUSTERS, replace=False)

    def peer() -> np.ndarray:
        z = nystroem.fit_transform(x)
        assert (nystroem.component_indices_ == landmarks).all()
        return KMeans(CLUSTERS, init=z[start], n_init=1, max_iter=SWEEPS, tol=0).fit(z).labels_

    def ours() -> np.ndarray:
        model = KernelKMeans(CLUSTERS, gamma=GAMMA, landmarks=landmarks, init=start, max_iter=SWEEPS, tol=0)
        return model.fit(x).labels_

    return {"cmeans.KernelKMeans": ours, "sklearn Nystroem + KMeans": peer}, landmarks


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    x = unit_interval(load("covtype"), np.float32)
    contestants, landmarks = runs(x)
    if arguments.memory:
        measure_memory(contestants[arguments.memory])
        return
    print(header())
    outcomes = contest(contestants, arguments.repeats)
    scores = {name: landmark_kmeans_cost(x, outcome.result, x[landmarks], GAMMA) for name, outcome in outcomes.items()}
    peaks = {name: peak_megabytes("benchmarks.kernel_kmeans", name) for name in contestants}
    size = f"{len(x):,} x {x.shape[1]}, float32, RBF gamma {GAMMA:g}, s = {LANDMARKS}, c = {CLUSTERS}, {SWEEPS} sweeps"
    report(f"kernel k-means on covtype: {size}; n s x 4 bytes = {len(x) * LANDMARKS * 4 / 1e6:.0f} MB", outcomes, scores, peaks)


if __name__ == "__main__":
    main()
