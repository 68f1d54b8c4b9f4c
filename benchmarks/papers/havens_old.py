"""Table II of Havens, Chitta, Jain, Jin 2011: akFCM on very large data, with the exponent they print and with m="auto".

Features are brought to [0, 1]. The polynomial kernel is (x.y + 1)^2. Text and table differ in sigma (2 and 1); both are
run, gamma = 1 / sigma. Each line: purities of the starts (mean, least, largest, and that of the lowest objective), sweeps,
seconds a start. One draw of landmarks, as many starts as --starts says.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from cmeans import CMeans, FuzzyCMeans
from cmeans.datasets import make_quadrupeds
from cmeans.metrics import purity
from cmeans.rules import Fuzzy

from ..harness import header, load, unit_interval

SIZES = {"mammals": (50, 250, 500), "covtype": (59, 291, 582)}
PRINTED = {
    ("mammals", "polynomial"): (0.85, 0.86, 0.86),
    ("mammals", "rbf"): (0.85, 0.86, 0.86),
    ("covtype", "polynomial"): (0.53, 0.53, 0.53),
    ("covtype", "rbf"): (0.52, 0.52, 0.52),
}
KERNELS = {
    "polynomial": {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "gamma": 1.0},
    "rbf, sigma 1": {"kernel": "rbf", "gamma": 1.0},
    "rbf, sigma 2": {"kernel": "rbf", "gamma": 0.5},
}


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows in [0, 1], float32, and their classes."""
    if name == "mammals":
        x, classes = make_quadrupeds(500_000, random_state=0)
    else:
        x, classes = load("covtype"), load("covtype", "y")
    return unit_interval(x, np.float32), classes


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--data", choices=tuple(SIZES), action="append")
    arguments = parser.parse_args()
    print(header())
    for name in arguments.data or SIZES:
        x, classes = data(name)
        clusters = len(np.unique(classes))
        print(f"\n{name}: {len(x):,} x {x.shape[1]}, c = {clusters}, largest class {np.bincount(classes).max() / len(x):.3f}")
        for kernel, words in KERNELS.items():
            for size, printed in zip(SIZES[name], PRINTED[name, kernel.partition(",")[0]], strict=True):
                landmarks = np.random.default_rng(0).choice(len(x), size, replace=False)
                for method in ("printed exponent", "m auto"):
                    purities, objectives, sweeps, started = [], [], [], time.perf_counter()
                    for seed in range(arguments.starts):
                        common = {**words, "landmarks": landmarks, "init": "random", "random_state": seed}
                        if method == "printed exponent":
                            model = CMeans(clusters, rule=Fuzzy(2.0, exponent=2.0), stop="memberships", tol=1e-3, **common).fit(x)
                        else:
                            model = FuzzyCMeans(clusters, **common).fit(x)
                        purities.append(purity(classes, model.labels_))
                        objectives.append(model.objective_)
                        sweeps.append(model.n_iter_)
                    seconds = (time.perf_counter() - started) / arguments.starts
                    best = purities[int(np.argmin(objectives))]
                    print(
                        f"   {kernel:14s} s = {size:3d}  {method:17s} purity mean {np.mean(purities):.3f} least {min(purities):.3f} "
                        f"largest {max(purities):.3f} of the best objective {best:.3f}  (printed {printed:.2f})  "
                        f"sweeps {np.median(sweeps):.0f}  {seconds:.1f} s",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
