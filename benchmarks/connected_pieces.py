"""Connected pieces on the half of a public suite of labelled sets that is in the data folder, with
their number given and unknown, beside estimators that find the number themselves.

    python -m benchmarks.connected_pieces            a minute; prints two tables

Peers take part where they are installed: pip install hdbscan fast_hdbscan fast_plscan

The score of a set is the adjusted Rand index over the rows that a labelling has in a cluster, the
best of its labellings; rows without a cluster, -1, count as one more. The number is right if a
labelling has as many clusters.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import ConnectivityClustering

from .harness import data_file, quiet

SUITE = "clustering_benchmarks"
OURS = "ConnectivityClustering"
PEERS = {"hdbscan": "HDBSCAN", "fast_hdbscan": "HDBSCAN", "fast_plscan": "PLSCAN"}
THIN = ("mk2", "windows", "stripes", "line", "smile", "circles")  # pieces that stand apart

Labels = np.ndarray


def sets(most: int) -> Iterator[tuple[str, np.ndarray, list[Labels]]]:
    """Name, rows and labellings, 0 of which is noise, of sets of up to so many rows."""
    with np.load(data_file(SUITE)) as stored:
        names = sorted({key.rpartition("|")[0] for key in stored.files})
        for name in names:
            X = stored[f"{name}|X"].astype(np.float64)
            keys = [key for key in stored.files if key.startswith(f"{name}|y")]
            if len(X) <= most:
                yield name.partition("|")[2], X, [stored[key] for key in keys]


def score(found: Labels, labelling: Labels) -> float:
    counted = labelling > 0
    return float(adjusted_rand_score(labelling[counted], found[counted]))


def finders() -> dict[str, Callable[[np.ndarray], Labels]]:
    """The ways to labels of rows whose number of clusters is unknown, all with their defaults."""
    found: dict[str, Callable[[np.ndarray], Labels]] = {
        OURS: lambda X: ConnectivityClustering().fit(X).labels_
    }
    for package, name in PEERS.items():
        try:
            peer: Any = getattr(importlib.import_module(package), name)
        except ImportError:
            continue
        found[package] = lambda X, peer=peer: _labels_of(peer, X)
    return found


def _labels_of(peer: Any, X: np.ndarray) -> Labels:
    try:
        return np.asarray(peer().fit(X).labels_)
    except Exception:  # one peer asks for another package where there are many columns
        return np.full(len(X), -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", type=int, default=10_000, help="leave larger sets out")
    most = parser.parse_args().rows
    quiet()
    ways = finders()
    given: list[float] = []
    scores: dict[str, list[float]] = {name: [] for name in ways}
    right: dict[str, list[bool]] = {name: [] for name in ways}
    width = max(map(len, ways)) + 6
    print(f"{'set':<18}{'clusters':<14}{'given':>6}", *(f"{name:>{width}}" for name in ways))
    for name, X, labellings in sets(most):
        numbers = [int(y.max()) for y in labellings]
        tree = ConnectivityClustering(1).fit(X)
        given.append(
            max(score(tree.partition(k), y) for k, y in zip(numbers, labellings, strict=True))
        )
        cells = []
        for way, find in ways.items():
            labels = find(X)
            scores[way].append(max(score(labels, y) for y in labellings))
            right[way].append(int(labels.max()) + 1 in numbers)
            cells.append(f"{scores[way][-1]:.3f} ({labels.max() + 1:3d})")
        star = "*" if name in THIN else ""
        counts = ", ".join(map(str, sorted(set(numbers))))
        print(
            f"{name + star:<18}{counts:<14}{given[-1]:6.3f}",
            *(f"{cell:>{width}}" for cell in cells),
            flush=True,
        )
    print(f"\nnumber given: mean {statistics.fmean(given):.4f} (sets with *: .99 or more each)")
    print("number unknown:")
    for way in ways:
        print(f"  {way:<24}mean {statistics.fmean(scores[way]):.3f}", end="   ")
        print(f"number right on {statistics.fmean(right[way]):.0%}")


if __name__ == "__main__":
    main()
