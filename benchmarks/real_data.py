"""What joining equal rows of photographs saves, and what known labels of MNIST add: the two tables
of docs/real_data.md.

The photographs are scikit-learn's, tiled to 1,000 by 1,000 pixels of 8 bits a channel, and in 256
levels of grey. Fits with and without joining begin at the same rows and sweep alone, in turns;
seconds are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, KernelKMeans, Search

from .harness import header, load, quiet

COLOURS, DRAWS = 8, 3
LUMINANCE = (0.299, 0.587, 0.114)
SHARES = (0.0, 0.01, 0.05)

FITS: dict[str, Callable[..., Any]] = {
    "hard, linear": lambda **words: KernelKMeans(COLOURS, kernel="linear", **words),
    "fuzzy, linear": lambda **words: FuzzyCMeans(COLOURS, m=2.0, **words),
    "hard, RBF, 40 landmarks": lambda **words: KernelKMeans(COLOURS, gamma=1e-4, **words),
}
LABELLED: dict[str, Callable[[int], Any]] = {
    "hard, linear": lambda seed: KernelKMeans(10, kernel="linear", random_state=seed),
    "fuzzy, linear": lambda seed: FuzzyCMeans(10, random_state=seed),
    "hard, RBF, 300 landmarks": lambda seed: KernelKMeans(10, landmarks=300, random_state=seed),
    "hard, landmark graph": lambda seed: KernelKMeans(
        10, kernel="landmark_graph", random_state=seed
    ),
}


def photographs() -> dict[str, np.ndarray]:
    """Pixels (10^6, channels) by name."""
    found = {}
    for name in ("china", "flower"):
        colours = np.tile(load_sample_image(f"{name}.jpg"), (3, 3, 1))[:1000, :1000].reshape(-1, 3)
        found[f"{name}, colour"] = np.ascontiguousarray(colours)
        found[f"{name}, grey"] = np.rint(colours @ LUMINANCE).astype(np.uint8)[:, None]
    return found


def joined() -> None:
    """Print the table of photographs."""
    print(
        "| photograph, distinct rows | fit | sweeps | without, s | joined, s | times | objectives "
        "differ by |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, x in photographs().items():
        rows = np.random.RandomState(0).choice(len(x), 40, replace=False)
        start = x[rows[:COLOURS]] + 0.01 * np.arange(COLOURS)[:, None]
        for fit, make in FITS.items():
            words = (
                {"landmarks": np.unique(x[rows].astype(float), axis=0)}
                if "landmarks" in fit
                else {}
            )
            models, seconds = {}, {}
            make(init=start, n_jobs=1, **words).fit(x[:3000])  # what a process does once
            for join in (True, False):
                begun = time.process_time()
                models[join] = make(
                    init=start,
                    tol=1e-6,
                    max_iter=50,
                    n_jobs=1,
                    search=Search(join_equal_rows=join),
                    **words,
                ).fit(x)
                seconds[join] = time.process_time() - begun
            apart = abs(models[True].objective_ / models[False].objective_ - 1)
            print(
                f"| {name}, {len(np.unique(x, axis=0)):,} | {fit} | {models[True].n_iter_} | "
                f"{seconds[False]:.2f} | {seconds[True]:.3f} | "
                f"{seconds[False] / seconds[True]:.1f} | {apart:.0e} |",
                flush=True,
            )


def labelled() -> None:
    """Print the table of MNIST, by the rows whose labels are not known."""
    x, y = (load("mnist") / 255).astype(np.float32), load("mnist", "y").astype(int)
    print(
        f"| fit | {' | '.join(f'{100 * share:g}%' for share in SHARES)} "
        f"|\n|---|{'---|' * len(SHARES)}"
    )
    for fit, make in LABELLED.items():
        found = []
        for share in SHARES:
            scores = []
            for seed in range(DRAWS):
                rows = np.random.RandomState(seed).choice(
                    len(y), int(share * len(y)), replace=False
                )
                known, others = np.full(len(y), -1), np.setdiff1d(np.arange(len(y)), rows)
                known[rows] = y[rows]
                labels = make(seed).fit(x, known_labels=known if share else None).labels_
                scores.append(
                    (
                        adjusted_rand_score(y[others], labels[others]),
                        np.mean(labels[others] == y[others]),
                    )
                )
            ari, right = np.mean(scores, axis=0)
            found.append(f"{ari:.3f}" + (f", {100 * right:.0f}% right" if share else ""))
        print(f"| {fit} | {' | '.join(found)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["joined", "labelled"])
    with warnings.catch_warnings():
        quiet()
        print(header())
        {"joined": joined, "labelled": labelled}[parser.parse_args().table]()


if __name__ == "__main__":
    main()
