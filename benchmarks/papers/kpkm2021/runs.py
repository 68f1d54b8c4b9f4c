"""What is measured, but for times: scores, objectives, descents, and what the figures show."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from cmeans.datasets import make_ring_and_disc

from ..paper import Run
from . import methods, times
from .methods import (
    FACTORS,
    OF_DIGITS,
    OF_UCI,
    PLAIN,
    UCI,
    WIDTHS,
    digits,
    estimator,
    exact_or_batched,
    over_median,
    similarity,
    uci,
)
from .projections import closed, drawn_start

GAMMAS = (None, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0)  # on disc and ring; None is the linear kernel
ON_RINGS = ("KPKM", "KFCM m=2", "KKM")
STEPS = (0.1, 0.01, 0.001)  # of AGP in Figure 1
POINTS = 250  # of a curve
GREYS = "0123456789abcdef"
# row of Figure 5 -> method, kernel, width; KFCM at a width of its own, as in the paper
PICTURED = {
    "KPKM, RBF": ("KPKM", "RBF", 1.0),
    "KKM, RBF": ("KKM", "RBF", 1.0),
    "KFCM m = 1.3, RBF": ("KFCM m=1.3", "RBF", 1.0),
    "KPKM, CW-SSIM": ("KPKM", "CW-SSIM", 0.3),
    "KKM, CW-SSIM": ("KKM", "CW-SSIM", 0.3),
    "KFCM m = 1.3, CW-SSIM": ("KFCM m=1.3", "CW-SSIM", 0.1),
}


def measure(run: Run) -> None:
    quick = run.quick
    run.stage("5.1: disc and ring", partial(rings, run))
    for name in UCI[:2] if quick else UCI:
        run.stage(f"Table 4: {name}", partial(table_four, run, name))
    run.stage("Table 5: digits", partial(table_five, run))
    run.stage("Figure 1: steps", partial(figure_one, run))
    for name in UCI[:2] if quick else UCI:
        run.stage(f"Figure 6: {name}", partial(figure_six, run, name))
    for name in times.COMPARED[:1] if quick else times.COMPARED:
        run.stage(f"Tables 6 and 7: times, {name}", partial(times.compare, run, name))
    run.stage("Tables 6 and 7: times, dense projectors", partial(times.dense_projectors, run))
    run.stage("Tables 6 and 7: times, a thousand digits", partial(times.large, run))
    run.stage("Large data: times", partial(times.covertype, run))


def kernel_name(gamma: float | None) -> str:
    return "linear" if gamma is None else f"RBF {gamma:g}"


def rings(run: Run) -> None:
    draws = 1 if run.quick else 10
    gammas = (None, 1.0) if run.quick else GAMMAS
    jobs = {
        f"ring | {kernel_name(gamma)} | {method}": (method, gamma, draws)
        for gamma in gammas
        for method in ON_RINGS
    }
    run.side_by_side(methods.of_rings, jobs)
    run.once("figure 3", _pictured_rings)


def table_four(run: Run, name: str) -> None:
    x, y = uci(name)
    size = {
        "rows": len(x),
        "features": x.shape[1],
        "classes": int(y.max()) + 1,
        "solver": exact_or_batched(x),
    }
    run.once(f"uci | {name}", lambda: size)
    seeds, factors = (2, (1.0,)) if run.quick else (10, FACTORS)
    jobs: dict[str, tuple[Any, ...]] = {}
    for method in OF_UCI:
        if method in PLAIN:
            jobs[f"uci | {name} | {method} | -"] = (name, method, None, seeds)
        elif method != "KPKM batched" or size["solver"] == "fagp":  # else KPKM is batched itself
            jobs |= {
                f"uci | {name} | {method} | {factor:g}": (name, method, factor, seeds)
                for factor in factors
            }
    run.side_by_side(methods.of_uci, jobs)


def table_five(run: Run) -> None:
    of_each = 10 if run.quick else 100
    seeds = 1 if run.quick else 6
    k = similarity(of_each)  # here, so that all processes have it
    values = np.linalg.eigvalsh(k)
    negative = float(np.abs(values[values < 0]).sum() / np.abs(values).sum())
    run.once("digits", lambda: {"rows": len(k), "negative": negative})
    kinds = {"RBF": (1.0,), "CW-SSIM": (0.3,)} if run.quick else {"RBF": FACTORS, "CW-SSIM": WIDTHS}
    jobs: dict[str, tuple[Any, ...]] = {}
    if not run.quick:
        for kernel, width in (("RBF", 1.0), ("CW-SSIM", "k")):
            jobs[f"digits | {kernel} | FAGP | {width}"] = (
                of_each,
                kernel,
                "KPKM",
                width,
                2,
                "fagp",
            )
    for kernel, widths in kinds.items():
        for method in OF_DIGITS:
            jobs |= {
                f"digits | {kernel} | {method} | {width}": (of_each, kernel, method, width, seeds)
                for width in widths
            }
    run.side_by_side(methods.of_digits, jobs)
    run.once("digits descent", partial(_structural_descent, of_each))
    run.side_by_side(
        pictured_digits,
        {f"figure 5 | {name}": (of_each, *kind) for name, kind in PICTURED.items()},
    )


def figure_one(run: Run) -> None:
    run.once("figure 1 | FAGP", partial(_walk, None))
    for step in STEPS[:1] if run.quick else STEPS:
        run.once(f"figure 1 | AGP {step:g}", partial(_walk, step))


def figure_six(run: Run, name: str) -> None:
    """Descent from one start: FAGP up to a thousand rows, batched above."""
    x, y = uci(name)
    run.once(f"figure 6 | {name}", lambda: _descent(estimator_on(x, y).fit(x), n_rows=len(x)))


def estimator_on(x: np.ndarray, y: np.ndarray) -> Any:
    return estimator(
        "KPKM", int(y.max()) + 1, 0, "fagp" if len(x) <= 1000 else "batched", gamma=over_median(x)
    )


def _descent(model: Any, n_rows: int) -> dict[str, Any]:
    history = np.array(model.objective_history_)
    slack = 1e-9 * history[0]  # rounding
    crisp = bool(np.isin(model.memberships_, (0.0, 1.0)).all())
    at = _thinned(len(history), even=True)
    return {
        "rows": n_rows,
        "solver": model.solver_,
        "steps": len(history) - 1,
        "rises": int((np.diff(history) > slack).sum()),
        "crisp": crisp,
        "at": at.tolist(),
        "objective": history[at].tolist(),
    }


def _structural_descent(of_each: int) -> dict[str, Any]:
    """Sweeps of batched with a kernel that is not positive definite, and how many of them went
    up."""
    _, y = digits(of_each)
    model = estimator("KPKM", int(y.max()) + 1, 0, "batched", kernel="precomputed").fit(
        similarity(of_each)
    )
    history = np.array(model.objective_history_)
    return {
        "sweeps": len(history) - 1,
        "rises": int((np.diff(history) > 1e-9 * abs(history[0])).sum()),
    }


def _walk(step: float | None) -> dict[str, Any]:
    x, _ = uci("iris")
    walked = closed(methods.rbf(x, 1.0), drawn_start(len(x), 3, 0), step)
    at = _thinned(len(walked.history))
    cell = {
        "iterations": walked.n_iter,
        "at": at.tolist(),
        "objective": np.array(walked.history)[at].tolist(),
    }
    return cell | ({"lengths": list(map(float, walked.steps))} if step is None else {})


def _thinned(length: int, *, even: bool = False) -> np.ndarray:
    """Places in a history of that length, few enough for a picture; evenly, or by powers."""
    places = np.linspace(0, length - 1, POINTS) if even else np.geomspace(1, length, POINTS) - 1
    return np.unique(places.round().astype(int))


def _pictured_rings() -> dict[str, Any]:
    """One draw in hundredths, and the labels that two kernels give."""
    x, y = make_ring_and_disc(random_state=0)
    cell: dict[str, Any] = {
        "x": (100 * x[:, 0]).round().astype(int).tolist(),
        "y": (100 * x[:, 1]).round().astype(int).tolist(),
    }
    cell["gamma"] = 1.0
    own = {"classes": y, "RBF": estimator("KPKM", 2, 0, "fagp", gamma=1.0).fit(x).labels_}
    own["linear"] = estimator("KPKM", 2, 0, "fagp", kernel="linear").fit(x).labels_
    return cell | {name: "".join(map(str, labels)) for name, labels in own.items()}


def pictured_digits(of_each: int, method: str, kernel: str, width: float) -> dict[str, Any]:
    """The mean image of each cluster in sixteen greys, ordered by the digit that leads in it; and
    how many rows it and the cluster have."""
    x, y = digits(of_each)
    rbf = kernel == "RBF"
    words: dict[str, Any] = (
        {"kernel": "rbf", "gamma": width * over_median(x)} if rbf else {"kernel": "precomputed"}
    )
    rows = x if rbf else methods.structural(of_each, width)
    labels = estimator(method, 10, 0, "batched", **words).fit(rows).labels_
    clusters = [np.bincount(y[labels == j], minlength=10) for j in range(10)]
    order = sorted(
        (j for j in range(10) if clusters[j].sum()),
        key=lambda j: (clusters[j].argmax(), -clusters[j].max()),
    )
    images = [
        "".join(GREYS[grey] for grey in (15 * x[labels == j].mean(axis=0)).round().astype(int))
        for j in order
    ]
    return {
        "images": images,
        "leads": [int(clusters[j].argmax()) for j in order],
        "most": [int(clusters[j].max()) for j in order],
        "rows": [int(clusters[j].sum()) for j in order],
        "nmi": float(normalized_mutual_info_score(y, labels, average_method="geometric")),
        "width": width,
    }
