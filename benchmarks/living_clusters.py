"""Streams whose clusters move, or come and go, and whose number nobody knows:
StreamingGaussianMixture against river's DenStream, CluStream and DBSTREAM.

    python -m benchmarks.living_clusters --river-python VENV/bin/python      river 0.26.1 there
    python -m benchmarks.living_clusters --speed                             rows per second

River's methods get the best of seven radii (DenStream, DBSTREAM) or numbers of clusters
(CluStream), by the index itself. Labels are those on arrival: each row is predicted, then learnt.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import StreamingGaussianMixture

SEEN = 200  # rows before the first that is judged
RIVER = """
import json, sys
import numpy as np
from river import cluster
case = np.load(sys.argv[1])
methods = {
    "DenStream": [
        lambda r=r: cluster.DenStream(
            decaying_factor=0.01, beta=0.5, mu=2.5, epsilon=r, n_samples_init=100
        )
        for r in (0.5, 1, 1.5, 2, 3, 4, 6)
    ],
    "DBSTREAM": [
        lambda r=r: cluster.DBSTREAM(clustering_threshold=r, fading_factor=0.01, cleanup_interval=4,
                                     intersection_factor=0.5, minimum_weight=1)
        for r in (0.5, 1, 1.5, 2, 3, 4, 6)
    ],
    "CluStream": [
        lambda k=k: cluster.CluStream(n_macro_clusters=k, max_micro_clusters=50, seed=0)
        for k in (2, 3, 4, 5, 6, 8, 10)
    ],
}
found = {}
for name, makes in methods.items():
    found[name] = []
    for make in makes:
        model, labels = make(), []
        for row in case:
            x = dict(enumerate(row.tolist()))
            try:
                labels.append(int(model.predict_one(x)))
            except Exception:
                labels.append(-1)
            model.learn_one(x)
        found[name].append(labels)
json.dump(found, open(sys.argv[2], "w"))
"""


def moving(seed: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Four clusters of deviation 1, at least 8 apart, each of which moves by 6 in 2,000 rows."""
    rng = np.random.default_rng(seed)
    centres, way = _apart(rng, 4, d, 8.0), rng.normal(size=(4, d))
    way *= 6 / np.linalg.norm(way, axis=1, keepdims=True)
    y = rng.integers(0, 4, 2000)
    moved = centres[y] + way[y] * np.linspace(0, 1, 2000)[:, None]
    return moved + rng.normal(size=(2000, d)), y


def coming_and_going(seed: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Six clusters, at least 10 apart, of which about three are there at any time of 4,000 rows."""
    rng = np.random.default_rng(seed)
    centres, now = _apart(rng, 6, d, 10.0), np.linspace(0, 8, 4000, endpoint=False)
    y = np.array([rng.choice([j for j in range(6) if j <= t < j + 3]) for t in now])
    return centres[y] + rng.normal(size=(4000, d)), y


def _apart(rng: np.random.Generator, c: int, d: int, least: float) -> np.ndarray:
    """Draw centres whose least distance is this."""
    centres = rng.normal(size=(c, d))
    d2 = ((centres[:, None] - centres) ** 2).sum(axis=2)
    return centres * least / np.sqrt(d2[d2 > 0].min())


def ours(x: np.ndarray, chunk: int) -> np.ndarray:
    """Labels on arrival in chunks of so many rows."""
    model = StreamingGaussianMixture()
    parts = range(0, len(x), chunk)
    return np.concatenate([model.partial_fit(x[i : i + chunk]).labels_ for i in parts])


def theirs(x: np.ndarray, python: str) -> dict[str, Any]:
    """Labels of river's methods, for each of seven parameters."""
    with tempfile.TemporaryDirectory() as folder:
        rows, out, script = (Path(folder) / name for name in ("x.npy", "out.json", "run.py"))
        np.save(rows, x)
        script.write_text(RIVER)
        subprocess.run([python, script, rows, out], check=True)
        return dict(json.loads(out.read_text()))


def table(python: str | None, seeds: int) -> None:
    names = ["row by row", "in chunks of 1,000"] + (
        ["DenStream", "CluStream", "DBSTREAM"] * bool(python)
    )
    print("| stream | columns |", " | ".join(names), "|\n|---|---|" + "---|" * len(names))
    for case in (moving, coming_and_going):
        for d in (2, 4, 16):
            found: dict[str, list[Any]] = {name: [] for name in names}
            for seed in range(seeds):
                x, y = case(seed, d)
                for name, chunk in zip(names, (1, 1000), strict=False):
                    found[name].append(adjusted_rand_score(y[SEEN:], ours(x, chunk)[SEEN:]))
                for name, labels in (theirs(x, python) if python else {}).items():
                    found[name].append(
                        [adjusted_rand_score(y[SEEN:], one[SEEN:]) for one in labels]
                    )
            cells = [f"{np.mean(values, axis=0).max():.2f}" for values in found.values()]
            print(
                f"| {case.__name__.replace('_', ' ')} | {d} |", " | ".join(cells), "|", flush=True
            )


def speed() -> None:
    """Rows per second of processor time in chunks of 10,000 rows of some clusters, and one by
    one."""
    for c, d in ((6, 4), (3, 2), (3, 16)):
        rng = np.random.default_rng(0)
        y = rng.integers(0, c, 400_000)
        x = _apart(rng, c, d, 8.0)[y] + rng.normal(size=(len(y), d))
        model = StreamingGaussianMixture().partial_fit(x[:100_000])
        for chunk, stop in ((10_000, len(x)), (1, 103_000)):
            paces = []
            for start in range(100_000, stop, chunk):
                began = time.process_time()
                model.partial_fit(x[start : start + chunk])
                paces.append(chunk / (time.process_time() - began))
            pace = f"{np.median(paces):,.0f} rows/s, best {max(paces):,.0f}"
            print(f"{c} clusters, {d} columns, chunks of {chunk:,}: {pace}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--river-python", default=None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args(sys.argv[1:])
    speed() if given.speed else table(given.river_python, given.seeds)
