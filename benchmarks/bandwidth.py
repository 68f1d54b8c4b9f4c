"""gamma="auto" against the fixed rules "median" and "scale": ARI on labelled sets, written to docs/bandwidth.md.

What was measured is kept in docs/bandwidth.json and not measured again; --fresh starts anew.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.tuning.bandwidth import clearest

from .harness import header, load, unit_interval
from .template import render

DOCS = Path(__file__).resolve().parents[1] / "docs"
RULES = ("auto", "median", "scale")
MEASURED = ("median", "scale", "auto")
METHODS = {"KernelKMeans": KernelKMeans, "FuzzyCMeans": FuzzyCMeans}
SCALINGS = {"[0, 1]": lambda x: unit_interval(x, np.float64), "unit variance": lambda x: scale(x.astype(np.float64))}
CHOSEN_ON = ["iris", "wine", "seeds", "glass", "ecoli", "yeast", "ionosphere", "sonar", "wdbc", "vehicle"]
OTHERS = ["aggregation", "banknote", "balance", "r15", "unbalance", "d31", "s1", "s2", "s3", "s4", "a1", "a2", "a3"]
EXACT_UP_TO, LANDMARKS, STARTS = 1000, 300, 5

Cells = dict[str, dict[str, float]]


def measured(name: str, scaling: str, seeds: int, cells: Cells) -> Iterable[tuple[str, dict[str, float]]]:
    """One set in one scaling: mean ARI and width of every method and rule that is not among the cells yet."""
    x, y = SCALINGS[scaling](load(name)), load(name, "y")
    c = len(np.unique(y))
    words = {"kernel": "rbf", "n_landmarks": None if len(x) <= EXACT_UP_TO else LANDMARKS, "n_init": STARTS, "max_iter": 100, "n_jobs": 1}
    for method, estimator in METHODS.items():
        for rule in MEASURED:
            key = " | ".join((name, scaling, method, rule))
            if key in cells:
                continue
            models = [estimator(c, gamma=rule, random_state=0, **words).fit(x)]
            same = [cells.get(" | ".join((name, scaling, method, other)), {}) for other in ("median", "scale")]
            if rule == "auto" and (known := [cell for cell in same if cell.get("gamma") == models[0].gamma_]):
                yield key, known[0]  # the same width and the same seeds
                continue
            models += [estimator(c, gamma=rule, random_state=seed, **words).fit(x) for seed in range(1, seeds)]
            scores = [adjusted_rand_score(y, model.labels_) for model in models]
            yield key, {"ari": float(np.mean(scores)), "std": float(np.std(scores)), "gamma": models[0].gamma_}


def seconds_to_choose() -> float:
    """CPU time of the scan over widths on 1,000 rows, c = 10."""
    x = np.random.default_rng(0).normal(size=(1000, 10))
    distances = squareform(pdist(x, "sqeuclidean")) / 20
    start = time.process_time()
    clearest(distances, np.ones(len(x)), 10)
    return time.process_time() - start


def lines(names: list[str], scaling: str, cells: Cells) -> dict[str, Any] | None:
    """Of sets in one scaling: the width chosen, ARI of every method and rule, their means, and how far auto falls below at most."""
    keys = {name: [" | ".join((name, scaling, method, rule)) for method in METHODS for rule in RULES] for name in names}
    there = {name: [cells[key] for key in of] for name, of in keys.items() if all(key in cells for key in of)}
    if not there:
        return None
    values = np.array([[cell["ari"] for cell in found] for found in there.values()])
    rules = zip(METHODS, (values.T[:3], values.T[3:]), strict=True)
    return {
        "sets": [
            {"name": name, "factor": found[0]["gamma"] / found[1]["gamma"], "ari": [cell["ari"] for cell in found]}
            for name, found in there.items()
        ],
        "mean": values.mean(axis=0).tolist(),
        "losses": {method: (auto - np.maximum(*fixed)).min() for method, (auto, *fixed) in rules},
    }


def page(cells: Cells, seeds: int) -> str:
    """The whole of docs/bandwidth.md."""
    sections = []
    for title, names in (("Ten sets of many features", CHOSEN_ON), ("Further sets", OTHERS)):
        sections.append((title, [(scaling, found) for scaling in SCALINGS if (found := lines(names, scaling, cells))]))
    heads = [f"{method}, {rule}" for method in METHODS for rule in RULES]
    numbers = {"STARTS": STARTS, "EXACT_UP_TO": EXACT_UP_TO, "LANDMARKS": LANDMARKS, "seeds": seeds}
    return render("bandwidth.md", {**numbers, "sections": sections, "heads": heads, "seconds": seconds_to_choose(), "header": header()})


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="of the first ten sets; three of the others")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--page-only", action="store_true", help="write the page from what was measured before")
    arguments = parser.parse_args()
    store = DOCS / "bandwidth.json"
    cells: Cells = {} if arguments.fresh or not store.exists() else json.loads(store.read_text())
    jobs = [] if arguments.page_only else [(name, scaling) for name in [*CHOSEN_ON, *OTHERS] for scaling in SCALINGS]
    for name, scaling in jobs:
        if name in OTHERS[4:] and scaling != "[0, 1]":
            continue  # both features of these have nearly the same spread: nothing new
        for key, cell in measured(name, scaling, arguments.seeds if name in CHOSEN_ON else 3, cells):
            cells[key] = cell
            print(f"{key:50s} ARI {cell['ari']:.3f} +- {cell['std']:.3f}   gamma {cell['gamma']:.4g}", flush=True)
            store.write_text(json.dumps(cells, indent=0))
    text = page(cells, arguments.seeds)
    (DOCS / "bandwidth.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
