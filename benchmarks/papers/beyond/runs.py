"""What a run measures, question by question."""

from __future__ import annotations

from functools import partial

import numpy as np

from cmeans import KernelKMeans, Landmarks, StreamingFuzzyCMeans
from cmeans.papers import StreamingKernelFCM
from cmeans.spaces import landmark_space

from ..paper import Run
from ..seconds import timed
from ..zhang2013.extras import ORDERED, ORDERS, in_order
from .gradients import gradients
from .problems import PROBLEMS, Problem, cost, exact, fitted, rows_of, start
from .scales import scales

DRAWS = 5
AUTO_DRAWS = 3
METHODS = ("uniform", "k-means++", "rpcholesky")
PARTS = 4  # draws of an ensemble
QUICK_ROWS = 800
LOSS_SHARES = (10, 2)
LOSS_WAYS: dict[str, type[StreamingFuzzyCMeans]] = {
    "stKFCM": StreamingKernelFCM,
    "landmarks": StreamingFuzzyCMeans,
}
WAYS = ("one draw", "side by side", "best certificate", "one draw of all")


def measure(run: Run) -> None:
    for name in ("A3, RBF",) if run.quick else PROBLEMS:
        problem = PROBLEMS[name].reduced(QUICK_ROWS) if run.quick else PROBLEMS[name]
        run.stage(f"{name}: landmarks", partial(landmarks, run, problem))
    run.stage("projection loss", partial(losses, run))
    run.stage("lambda", partial(scales, run))
    run.stage("projected gradients", partial(gradients, run))


def landmarks(run: Run, problem: Problem) -> None:
    """Samplings, ensembles and the certificate on one problem."""
    name, draws = problem.title, 1 if run.quick else DRAWS
    run.trials(f"exact | {name}", draws, partial(exact, problem))
    for size in problem.sizes:
        for method in METHODS:
            run.trials(
                f"sampling | {name} | {size} | {method}",
                draws,
                partial(sampled, problem, size, method),
            )
    for way in WAYS:
        run.trials(f"ensemble | {name} | {way}", draws, partial(ensemble, problem, way))
    run.trials(f"auto | {name}", 1 if run.quick else AUTO_DRAWS, partial(automatic, problem))


def sampled(problem: Problem, size: int, method: str, trial: int) -> dict[str, float]:
    model, busy = fitted(problem, trial, trial, landmarks=Landmarks(size, method=method))
    return {
        "residual": model.approximation_.residual,
        "cost": cost(problem, model.labels_),
        "busy": busy,
    }


def automatic(problem: Problem, trial: int) -> dict[str, float]:
    model, busy = fitted(problem, trial, trial, landmarks="auto")
    made = model.approximation_
    if made is None:  # so few rows that all of them are taken
        return {
            "landmarks": len(model.labels_),
            "residual": 0.0,
            "ranking": 0.0,
            "cost": cost(problem, model.labels_),
            "busy": busy,
        }
    return {
        "landmarks": made.n_landmarks,
        "residual": made.residual,
        "ranking": made.comparison_error,
        "low": made.cost_bounds[0],
        "high": made.cost_bounds[1],
        "cost": cost(problem, model.labels_),
        "busy": busy,
    }


def part_size(problem: Problem) -> int:
    """Landmarks of one draw of an ensemble: all together are the largest number of the
    samplings."""
    return problem.sizes[-1] // PARTS


def ensemble(problem: Problem, way: str, trial: int) -> dict[str, float]:
    """Uniform draws of landmarks, together or by themselves."""
    size, seeds = part_size(problem), [PARTS * trial + part for part in range(PARTS)]
    if way == "side by side":
        labels, busy = timed(partial(averaged, problem, trial, size, seeds))
    elif way == "best certificate":
        labels, busy = timed(partial(best_certified, problem, trial, size, seeds))
    else:
        model, busy = fitted(
            problem,
            trial,
            seeds[0],
            landmarks=Landmarks(size if way == "one draw" else PARTS * size, method="uniform"),
        )
        labels = model.labels_
    return {"cost": cost(problem, labels), "busy": busy}


def averaged(problem: Problem, trial: int, size: int, seeds: list[int]) -> np.ndarray:
    """k-means with the mean of the draws' approximate kernels: their features side by side."""
    x = rows_of(problem)
    features = []
    for seed in seeds:
        points = x[np.random.default_rng(seed).choice(len(x), size, replace=False)]
        space = landmark_space(problem.kernel, points, None, x.dtype)
        features.append((problem.kernel(x, points) @ space.whitener) / np.sqrt(len(seeds)))
    model = KernelKMeans(problem.clusters, kernel="linear", init=start(problem, trial))
    return model.fit(np.hstack(features).astype(x.dtype)).labels_


def best_certified(problem: Problem, trial: int, size: int, seeds: list[int]) -> np.ndarray:
    """Of the draws, the one that leaves out least of the kernel."""
    models = [
        fitted(problem, trial, seed, landmarks=Landmarks(size, method="uniform"))[0]
        for seed in seeds
    ]
    return min(models, key=lambda model: model.approximation_.residual).labels_


def losses(run: Run) -> None:
    """What stKFCM loses between chunks, rows in random order and sorted; the landmark stream beside
    it."""
    for name, ordered in list(ORDERED.items())[: 1 if run.quick else None]:
        ordered = ordered._replace(rows=QUICK_ROWS) if run.quick else ordered
        for order in ORDERS:
            for share in LOSS_SHARES:
                for way, stream in LOSS_WAYS.items():
                    key = f"loss | {name} | {order} | {share:g}% | {way}"
                    run.trials(key, 1, partial(in_order, ordered, order, share, stream))
