"""Plain fuzzy c-means, m = 2, 20 sweeps from the same start: FuzzyCMeans(kernel="linear") against scikit-fuzzy's cmeans."""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from cmeans import FuzzyCMeans

from .harness import Run, contest, header, load, report, unit_interval
from .judge import fuzzy_cost

SWEEPS = 20


def runs(x: np.ndarray, clusters: int) -> dict[str, Run]:
    """The contestants from one start: memberships of random centres."""
    import skfuzzy

    start = x[np.random.default_rng(0).choice(len(x), clusters, replace=False)].astype(np.float64)
    d2 = ((x * x).sum(axis=1)[:, None] - 2 * x @ start.T + (start * start).sum(axis=1)[None, :]).clip(1e-12)
    memberships = (1 / d2) / (1 / d2).sum(axis=1, keepdims=True)
    columns = np.ascontiguousarray(x.T)

    def peer() -> np.ndarray:
        return skfuzzy.cmeans(columns, clusters, 2.0, error=0.0, maxiter=SWEEPS, init=memberships.T)[0]

    def ours(rows: np.ndarray) -> Run:
        model = FuzzyCMeans(clusters, m=2.0, kernel="linear", init=memberships, max_iter=SWEEPS - 1, tol=0)
        return lambda: model.fit(rows).cluster_centers_

    return {"cmeans, float64": ours(x), "cmeans, float32": ours(x.astype(np.float32)), "scikit-fuzzy, float64": peer}


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print(header())
    for name, clusters in (("birch1", 100), ("covtype", 7)):
        x = unit_interval(load(name), np.float64)
        outcomes = contest(runs(x, clusters), repeats)
        scores = {who: fuzzy_cost(x, outcome.result, 2.0) for who, outcome in outcomes.items()}
        report(f"fuzzy c-means on {name}: {len(x):,} x {x.shape[1]}, c = {clusters}, m = 2, {SWEEPS} sweeps", outcomes, scores)


if __name__ == "__main__":
    main()
