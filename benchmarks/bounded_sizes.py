"""Processor seconds of fits whose clusters are bounded in size, in those of the fit without bounds
from the same start; objectives beside those of exact sweeps, and the sizes.

`python -m benchmarks.bounded_sizes` runs 20,000 rows of 64 columns; with `--large` 300,000 of 128
in 4,096 clusters, five sweeps at most; with `--exact` the exact sweeps too, which take minutes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from cmeans import KernelKMeans, Sizes
from cmeans.solvers.sizes import solve

from .harness import header
from .many_clusters import mixture

BOUNDS = {
    "none": None,
    "equal": Sizes(least=1.0, most=1.0, of="mean"),
    "1.2 means": Sizes(most=1.2, of="mean"),
}


def drawn(clusters: int, *, even: bool, rows: int = 20_000, columns: int = 64) -> np.ndarray:
    """Rows about so many centres, as many of each or very different numbers."""
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(clusters, columns))
    shares = np.full(clusters, 1 / clusters) if even else rng.dirichlet(np.full(clusters, 2.0))
    own = rng.choice(clusters, rows, p=shares)
    return (centres[own] + 0.7 * rng.normal(size=(rows, columns))).astype(np.float32)


def fitted(x: np.ndarray, clusters: int, bounds: str, **words: Any) -> tuple[float, Any]:
    """Processor seconds of a fit, and the model."""
    model = KernelKMeans(
        clusters, kernel="linear", sizes=BOUNDS[bounds], random_state=0, n_jobs=1, **words
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x)
    return time.process_time() - start, model


def exactly(x: np.ndarray, clusters: int, bounds: str, **words: Any) -> float:
    """The objective where every sweep finds the cheapest assignment of all."""
    before, solve.EXACT = solve.EXACT, clusters
    try:
        return float(fitted(x, clusters, bounds, **words)[1].objective_)
    finally:
        solve.EXACT = before


def print_lines(name: str, x: np.ndarray, clusters: int, *, exact: bool, **words: Any) -> None:
    """Print a line of the table for each kind of bounds, as its fit ends."""
    unbounded = float("nan")
    for bounds in BOUNDS:
        seconds, model = fitted(x, clusters, bounds, **words)
        unbounded = seconds if bounds == "none" else unbounded
        sizes = np.bincount(model.labels_, minlength=clusters)
        beside = ""
        if exact and bounds != "none":
            beside = f"{model.objective_ / exactly(x, clusters, bounds, **words) - 1:+.2%}"
        gap = "" if bounds == "none" else f"{model.size_gap_:.2%}"
        print(
            f"{name:24s}{clusters:6d} {bounds:10s}{seconds:8.2f}{seconds / unbounded:8.2f}"
            f"{model.objective_:14.6g}{beside:>9s}{gap:>8s}{model.n_iter_:7d}"
            f"{sizes.min():7d}{sizes.max():7d}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    print(header())
    print(
        f"{'rows':24s}{'c':>6s} {'bounds':10s}{'seconds':>8s}{'ratio':>8s}{'objective':>14s}"
        f"{'exact':>9s}{'gap':>8s}{'sweeps':>7s}{'least':>7s}{'most':>7s}"
    )
    if given.large:
        x = mixture(128, 0.1, 300_000)[0]
        print_lines("mixture", x, 4096, exact=False, search=None, max_iter=5)
        return
    for search in (None, "auto"):
        for clusters in (100, 400):
            for even in (True, False):
                name = f"{'blobs' if even else 'heaps'}, search={search}"
                x = drawn(clusters, even=even)
                print_lines(name, x, clusters, exact=given.exact, search=search)


if __name__ == "__main__":
    main()
