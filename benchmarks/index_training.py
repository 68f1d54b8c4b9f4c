"""Training thousands of cells of a vector index, and the nearest of very many cells, beside
superkmeans, faiss and scikit-learn, in one process and in turns.

Flat trainers make as many sweeps over all rows, each from the start that it draws itself; those in
levels do what they do by default. Times are those of training alone, and with the labels of all
rows, for which superkmeans and faiss are asked apart, and which scikit-learn's trainers find as
they train. The objective is judged apart from all of them, on a sample.

    pip install superkmeans==0.2.0 faiss-cpu
    python -m benchmarks.index_training --rows 1000000 --columns 128 --clusters 4096
    python -m benchmarks.index_training --predict --rows 200000 --columns 128 --clusters 65536
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from cmeans import KernelKMeans
from cmeans.runtime.progress import Progress, listening

from .harness import header
from .many_clusters import mixture

JUDGED = 50_000
ROWS = {  # what rows are like
    "mixture": lambda n, d: mixture(d, 0.1, n)[0],
    "uniform": lambda n, d: np.random.default_rng(0).random((n, d), np.float32),
}


class Watch:
    """Seconds and processor seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self._began[0], time.process_time() - self._began[1]


Played = tuple[np.ndarray, tuple[float, float]]  # what is found, and when the training was over
Play = Callable[[Watch], Played]


def trainers(x: np.ndarray, c: int, sweeps: int, threads: int) -> dict[str, Play]:
    """Functions that return centres, after the labels of all rows are known too."""
    import faiss
    from superkmeans import SuperKMeans

    def ours(watch: Watch, **words: object) -> Played:
        model = KernelKMeans(c, kernel="linear", n_jobs=threads, random_state=0, **words)
        trained = []

        def note(progress: Progress) -> None:
            if progress.stage != "assign":
                trained[:] = [watch.read()]

        with listening(note):
            model.fit(x)
        return model.cluster_centers_, trained[0]

    def superkmeans(watch: Watch, **words: object) -> Played:
        model = SuperKMeans(c, x.shape[1], n_threads=threads, seed=0, **words)
        centres, trained = model.train(x), watch.read()
        model.assign_training_points(x, centres)
        return centres, trained

    def by_faiss(watch: Watch) -> Played:
        most = {"min_points_per_centroid": 1, "max_points_per_centroid": len(x)}
        model = faiss.Kmeans(x.shape[1], c, niter=sweeps, seed=0, **most)
        model.train(x)
        trained = watch.read()
        model.index.search(x, 1)
        return model.centroids, trained

    def sklearn(watch: Watch, kind: type, **words: object) -> Played:
        model = kind(c, init="random", n_init=1, max_iter=sweeps, tol=0, random_state=0, **words)
        return model.fit(x).cluster_centers_, watch.read()

    whole = {"sampling_fraction": 1.0, "max_points_per_cluster": len(x)}
    flat = {"hierarchical": False, "iters": sweeps, "early_termination": False, "tol": 0.0}
    return {
        "cmeans flat": partial(ours, search=None, max_iter=sweeps, tol=0.0),
        "superkmeans flat": partial(superkmeans, **flat, **whole),
        "cmeans hierarchical": partial(ours, search="hierarchical"),
        "superkmeans hierarchical": partial(superkmeans, hierarchical=True),
        "faiss": by_faiss,
        "KMeans": partial(sklearn, kind=KMeans),
        "MiniBatchKMeans": partial(sklearn, kind=MiniBatchKMeans, batch_size=4 * c),
    }


def searchers(x: np.ndarray, v: np.ndarray, threads: int) -> dict[str, Play]:
    """Functions that return the nearest of centres v."""
    import faiss

    words = {"init": v, "max_iter": 1, "search": None, "n_jobs": threads}
    model = KernelKMeans(len(v), kernel="linear", **words).fit(v)  # each of them is its own mean
    flat = faiss.IndexFlatL2(x.shape[1])
    flat.add(np.ascontiguousarray(v))
    found: dict[str, Callable[[], np.ndarray]] = {
        "cmeans": lambda: model.predict(x),
        "faiss": lambda: flat.search(x, 1)[1][:, 0],
        "scikit-learn": lambda: pairwise_distances_argmin(x, v),
    }
    return {name: lambda watch, of=of: (of(), watch.read()) for name, of in found.items()}


def objective(x: np.ndarray, centres: np.ndarray) -> float:
    """The mean squared distance of a sample to the nearest centre."""
    rows, centres, total = x[:: -(-len(x) // JUDGED)], np.asarray(centres, np.float32), 0.0
    norms = np.einsum("ij,ij->i", centres, centres)
    for start in range(0, len(rows), 4096):
        part = rows[start : start + 4096]
        nearest = (norms - 2 * part @ centres.T).argmin(axis=1)
        total += float(((part.astype(np.float64) - centres[nearest]) ** 2).sum())
    return total / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", choices=ROWS, default="mixture")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--clusters", type=int, default=4096)
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--predict", action="store_true", help="labels of given cells alone")
    parser.add_argument("--of", nargs="*", metavar="NAME", help="of these alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that so few sweeps have not converged
    c, threads = options.clusters, options.threads
    x = ROWS[options.data](options.rows + (c if options.predict else 0), options.columns)
    print(header(), f"\n{options.data}, {options.rows:,} x {options.columns}, c = {c:,}\n")
    if options.predict:
        v, x = x[:c], x[c:]
        players = searchers(x, v, threads)
    else:
        players = trainers(x, c, options.sweeps, threads)
    players = {name: play for name, play in players.items() if name in (options.of or players)}
    KernelKMeans(2, kernel="linear", max_iter=1).fit(x[:100])  # loads what it needs
    seconds: dict[str, list[tuple[float, ...]]] = {name: [] for name in players}
    results = {}
    for _ in range(options.turns):
        for name, play in players.items():
            watch = Watch()
            results[name], trained = play(watch)
            seconds[name].append((*trained, *watch.read()))
            print(f"  {name}: {seconds[name][-1][2]:.1f} s", flush=True)
    first = next(iter(results))
    said = "equal labels" if options.predict else "objective"
    print(
        f"\n| | s, training alone | processor s | s, with labels | processor s | over {first} | "
        f"{said} |\n|---|---|---|---|---|---|---|"
    )
    for name, result in results.items():
        times = " | ".join(f"{median(of):.1f}" for of in zip(*seconds[name], strict=True))
        ratio = median(a[2] / b[2] for a, b in zip(seconds[name], seconds[first], strict=True))
        worth = (result == results[first]).mean() if options.predict else objective(x, result)
        print(f"| {name} | {times} | {ratio:.2f} | {worth:.5g} |")


if __name__ == "__main__":
    main()
