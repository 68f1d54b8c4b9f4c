"""`python -m benchmarks.suite`: one call beside others on a public suite of labelled sets.

The suite is one file of keys `battery|set|X` and `battery|set|y0`, ..., or a folder of the suite as
it is published (`battery/set.data.gz`, `battery/set.labels0.gz`). Of each labelling rows with label
0 are noise and are left out of the score; a method's score on a set is the adjusted Rand index with
the labelling that it meets best. Number given: as many clusters as that labelling has. Number
unknown: one call; rows that a method leaves out count as one more cluster.

Others are judged beside ours by a file of their own, `--method FILE.py`, which has a function
`fit_predict(X, n_clusters)` that returns labels from 0, -1 for rows that are left out; `n_clusters`
is None where it is unknown. `--labels FOLDER` writes what comes out as the suite keeps results, to
be sent to it: `FOLDER/METHOD/battery/set.resultK.gz`, below the method's name labels from 1, and 0
for what is left out.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import runpy
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

import cmeans

NAME = "clustering_benchmarks.npz"
Method = Callable[[Any, Any], Any]  # rows and a number of clusters or None -> labels
_last: dict[bytes, Any] = {}  # fits of which two things are judged


def sets(place: Path) -> Iterator[tuple[str, Any, list[Any]]]:
    """Return the sets of a file or a folder: name, rows, labellings."""
    if place.is_dir():
        for path in sorted(place.glob("*/*.data.gz")):
            stem = path.name.removesuffix(".data.gz")
            labels = sorted(path.parent.glob(f"{stem}.labels*.gz"))
            yield (
                f"{path.parent.name}/{stem}",
                np.loadtxt(path, ndmin=2),
                [np.loadtxt(one, dtype=int) for one in labels],
            )
        return
    stored = np.load(place)
    parts: dict[str, dict[str, Any]] = {}
    for key in stored.files:
        battery, name, what = key.split("|")
        parts.setdefault(f"{battery}/{name}", {})[what] = stored[key]
    for name, found in sorted(parts.items()):
        labels = [found[what].astype(int) for what in sorted(found) if what != "X"]
        yield name, found["X"].astype(float), labels


def scaled(X: Any) -> Any:
    """Return rows whose columns have ranges of 1 where these differ more than ten times: what
    AutoClustering does itself."""
    ranges = np.ptp(X, axis=0)
    X, ranges = X[:, ranges > 0], ranges[ranges > 0]
    return (X - X.min(axis=0)) / ranges if ranges.max() > 10 * ranges.min() else X


def ours(X: Any, number: Any) -> Any:
    model = cmeans.cluster(X, "auto" if number is None else number)
    if number is None:
        _last[X.tobytes()] = model
    return model.labels_


def by_partition(X: Any, number: Any) -> Any:
    """Return the same with the partition that is kept where the answer is one cluster."""
    model = _last[X.tobytes()] if X.tobytes() in _last else cmeans.cluster(X)
    return model.labels_ if model.evidence_.partition is None else model.evidence_.partition


def of_sklearn_hdbscan(X: Any, number: Any) -> Any:
    return HDBSCAN(min_cluster_size=max(5, len(X) // 100), copy=True).fit_predict(scaled(X))


def _peer(module: str, make: Callable[[Any, Any], Any]) -> Method | None:
    """Return a method of a package, if it is installed."""
    try:
        package = importlib.import_module(module)
    except ImportError:
        return None
    return lambda X, number: make(package, number).fit_predict(scaled(X))


def methods(given: bool) -> dict[str, Method]:
    """Return ours, and the peers that are installed."""
    found: dict[str, Method | None]
    if given:
        found = {
            "cmeans.cluster": ours,
            "Genie": _peer("genieclust", lambda package, k: package.Genie(n_clusters=k)),
            "Lumbermark": _peer("lumbermark", lambda package, k: package.Lumbermark(n_clusters=k)),
        }
    else:
        found = {
            "cmeans.cluster": ours,
            "its partition": by_partition,
            "PLSCAN": _peer("fast_plscan", lambda package, _: package.PLSCAN()),
            "HDBSCAN": _peer("hdbscan", lambda package, _: package.HDBSCAN()),
            "HDBSCAN (scikit-learn)": of_sklearn_hdbscan,
        }
    return {name: method for name, method in found.items() if method is not None}


def write_labels(folder: Path, data: str, name: str, made: dict[int | None, Any]) -> None:
    """Write the labels of a set as the suite keeps them: a file for each number of clusters that a
    method was given and made."""
    for number, labels in made.items():
        if number == len(np.unique(labels[labels >= 0])):
            path = folder / name / f"{data}.result{number}.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(path, "wt") as file:
                file.write("\n".join([name, *map(str, labels + 1)]) + "\n")


def judged(
    method: Method, X: Any, labellings: list[Any], given: bool
) -> tuple[dict[str, Any], dict[int | None, Any]]:
    """Return score, number and CPU seconds of a method on a set; and its labels, by number."""
    numbers = [int(labels.max()) for labels in labellings]
    start = time.process_time()
    made: dict[int | None, Any] = {}
    for number in sorted(set(numbers)) if given else [None]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made[number] = np.asarray(method(X, number))
    seconds = time.process_time() - start
    scores = []
    for labels, number in zip(labellings, numbers, strict=True):
        kept = labels > 0
        answer = made[number if given else None]
        scores.append(adjusted_rand_score(labels[kept], answer[kept]))
    found = len(np.unique(made[None][made[None] >= 0])) if not given else None
    judgement = {
        "score": float(max(scores)),
        "number": found,
        "right": None if given else found in numbers,
        "seconds": seconds,
    }
    return judgement, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("place", nargs="?", help="file or folder; else that of CMEANS_DATA")
    parser.add_argument("--out", help="a JSON file for the figures")
    parser.add_argument("--only", default="", help="part of the names of methods")
    parser.add_argument("--number", default="", help="given or unknown alone")
    parser.add_argument("--sets", default="", help="part of the names of sets")
    parser.add_argument("--method", nargs="*", default=[], help="Python files of other methods")
    parser.add_argument("--labels", help="a folder for labels, as the suite keeps them")
    asked = parser.parse_args()
    others = {Path(file).stem: runpy.run_path(file)["fit_predict"] for file in asked.method}
    place = Path(asked.place or Path(os.environ["CMEANS_DATA"]) / NAME)
    results: dict[str, Any] = {}
    for given in (True, False):
        if asked.number not in ("", "given" if given else "unknown"):
            continue
        for name, method in (methods(given) | others).items():
            if asked.only not in name:
                continue
            rows = {}
            for data, X, labels in sets(place):
                if asked.sets not in data:
                    continue
                rows[data], made = judged(method, X, labels, given)
                if asked.labels:
                    write_labels(Path(asked.labels), data, name, made)
            if not rows:
                parser.error(f"no set of {place} has {asked.sets!r} in its name")
            key = f"{name}, number {'given' if given else 'unknown'}"
            results[key] = rows
            print(line(key, rows), flush=True)
            if asked.out:
                Path(asked.out).write_text(json.dumps(results, indent=1))


def line(key: str, rows: dict[str, Any]) -> str:
    """Return what a method reaches on all sets."""
    scores = [row["score"] for row in rows.values()]
    right = [row["right"] for row in rows.values() if row["right"] is not None]
    seconds = sum(row["seconds"] for row in rows.values())
    said = f"{key:45} mean {np.mean(scores):.3f} median {np.median(scores):.3f}"
    said += f" right {np.mean(right):.0%}" if right else ""
    return f"{said} CPU {seconds:.0f} s"


if __name__ == "__main__":
    main()
