"""Liu et al. 2021 (KPKM, FAGP), section 5: what the paper claims, measured.

python -m benchmarks.papers.kpkm                          everything
python -m benchmarks.papers.kpkm --table 4 --table 5      some tables
python -m benchmarks.papers.kpkm --figure 6 --out DIR     some figures (needs matplotlib)

Tables: 1 disc and ring (section 5.1); 4 ten UCI sets, NMI, ARI and V-measure; 5 a thousand MNIST digits, CW-SSIM against RBF;
6 iterations of FAGP and AGP, in closed form; 7 time of both with dense projectors and in closed form, and a thousand rows in ten clusters.
Figures: 1 objective and step lengths of both; 3 disc and ring; 5 what the clusters of digits look like; 6 descent on ten sets.

The widths of a kernel are scanned for each method alike, and the one with the best mean NMI is shown, as the paper did by hand: these
are the best values that a method can reach, chosen by the classes. NMI divides by the geometric mean of the entropies: with the
arithmetic one it is the V-measure.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, v_measure_score

from cmeans import FuzzyCMeans, KernelKMeans, ProbabilisticKMeans
from cmeans.datasets import make_ring_and_disc
from cmeans.kernels import ComplexWaveletSSIM
from cmeans.probabilistic.grams import DenseGram
from cmeans.probabilistic.projection import Path as Walked
from cmeans.probabilistic.projection import follow

from ..harness import header, load

Array = np.ndarray

UCI = ("iris", "wine", "seeds", "glass", "ecoli", "yeast", "ionosphere", "sonar", "wdbc", "vehicle")
SCORES = ("NMI", "ARI", "VM")
FACTORS = (0.1, 0.3, 1.0, 3.0)  # of RBF's gamma, over the median squared distance
WIDTHS = (None, 0.3, 0.1, 0.03)  # of exp(-(1 - k) / width), k = CW-SSIM; None: k itself
EXACT_ROWS = 600  # up to which KPKM follows the paper step by step here
CLAIMS = {"NMI": 9, "ARI": 6, "VM": 7}  # of ten sets on which KPKM is best
PAPER = ("KPKM", "KFCM m=2", "KKM", "FCM", "KM")  # what the paper compares
DENSE_SIZES = {40: 3, 80: 3, 150: 1}  # rows of Iris, and starts; the largest with AGP's longest step alone


class Scores(NamedTuple):
    """Of ten runs, say: (runs, 3) NMI, ARI, VM; and what else was noted."""

    values: Array
    width: Any
    found: float  # clusters that hold rows, mean
    classes: float  # classes that are the most frequent one of some cluster, mean

    @property
    def mean(self) -> Array:
        return self.values.mean(axis=0)


# ------------------------------------------------------------------------------------------------------------------------- data


@cache
def uci(name: str) -> tuple[Array, Array]:
    """Rows, standardised, and classes 0, 1, ..."""
    x = load(name).astype(np.float64)
    spread = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.unique(load(name, "y"), return_inverse=True)[1]


@cache
def digits() -> tuple[Array, Array]:
    """A hundred MNIST digits of each class, in [0, 1]."""
    x, y = load("mnist"), load("mnist", "y")
    rng = np.random.default_rng(0)
    rows = np.sort(np.concatenate([rng.choice(np.flatnonzero(y == digit), 100, replace=False) for digit in range(10)]))
    return x[rows].astype(np.float64) / 255, y[rows].astype(np.intp)


@cache
def similarity() -> Array:
    """CW-SSIM of all pairs of them."""
    x, _ = digits()
    k = np.asarray(ComplexWaveletSSIM()(x, x))
    return (k + k.T) / 2


def over_median(x: Array) -> float:
    return 1.0 / float(np.median(pdist(x, "sqeuclidean")))


def rbf(x: Array, factor: float) -> Array:
    return np.exp(-factor * over_median(x) * squareform(pdist(x, "sqeuclidean")))


def structural(width: float | None) -> Array:
    return similarity() if width is None else np.exp((similarity() - 1.0) / width)


def objective(k: Array, labels: Array) -> float:
    """sum_l K_ll - sum_k p_k' K p_k / s_k of a partition."""
    p = (labels[:, None] == np.unique(labels)[None, :]).astype(float)
    return float(np.trace(k) - ((p * (k @ p)).sum(axis=0) / p.sum(axis=0)).sum())


# ---------------------------------------------------------------------------------------------------------------------- methods


def methods(solver: str = "auto") -> dict[str, Callable[..., Any]]:
    """Each makes an estimator of c clusters from a seed and the words of a kernel."""

    def kernel_fcm(m: str | float) -> Callable[..., Any]:
        return lambda c, seed, **words: FuzzyCMeans(c, m=m, n_landmarks=None, n_jobs=1, random_state=seed, **words)

    def kpkm(polish: str | None, solver: str) -> Callable[..., Any]:
        return lambda c, seed, **words: ProbabilisticKMeans(
            c, solver=solver, polish=polish, n_landmarks=None, n_jobs=1, random_state=seed, **words
        )

    return {
        "KPKM": kpkm(None, solver),
        "KPKM batched": kpkm(None, "batched"),
        "KPKM + polish": kpkm("hartigan", solver),
        "KFCM m=2": kernel_fcm(2.0),
        "KFCM m=1.3": kernel_fcm(1.3),
        "KFCM m auto": kernel_fcm("auto"),
        "KKM": lambda c, seed, **words: KernelKMeans(c, init="random", n_landmarks=None, n_jobs=1, random_state=seed, **words),
        "FCM": lambda c, seed: FuzzyCMeans(c, m=1.3, kernel="linear", n_jobs=1, random_state=seed),
        "KM": lambda c, seed: KernelKMeans(c, kernel="linear", n_jobs=1, random_state=seed),
    }


def scored(make: Callable[..., Any], x: Array, y: Array, seeds: int, width: Any, **words: Any) -> Scores:
    values, found, classes = [], [], []
    for seed in range(seeds):
        labels = make(int(y.max()) + 1, seed, **words).fit(x).labels_
        geometric = normalized_mutual_info_score(y, labels, average_method="geometric")
        values.append((geometric, adjusted_rand_score(y, labels), v_measure_score(y, labels)))
        found.append(len(np.unique(labels)))
        classes.append(len({int(np.bincount(y[labels == j]).argmax()) for j in np.unique(labels)}))
    return Scores(np.array(values), width, float(np.mean(found)), float(np.mean(classes)))


def best_width(tried: Iterable[Scores]) -> Scores:
    return max(tried, key=lambda scores: scores.mean[0])


# ---------------------------------------------------------------------------------------------------------- 5.1 disc and ring


def print_rings(seeds: int) -> None:
    """From one start a draw, and from ten of which the lowest objective counts."""
    print(f"\nDisc and ring, {seeds} draws of 300 points: draws parted without error (mean ARI), from 1 and from 10 starts")
    kinds: list[tuple[str, dict[str, Any]]] = [("linear", {"kernel": "linear"})]
    kinds += [(f"RBF, gamma {gamma:g}", {"gamma": gamma}) for gamma in (0.1, 0.3, 0.5, 1.0, 2.0, 3.0)]
    makers = methods("fagp")
    for name, words in kinds:
        line = f"   {name:16s}"
        for method in ("KPKM", "KFCM m=2", "KKM"):
            line += f"   {method}"
            for starts in (1, 10):
                values = []
                for seed in range(seeds):
                    x, y = make_ring_and_disc(random_state=seed)
                    model = makers[method](2, seed, **words).set_params(n_init=starts)
                    values.append(adjusted_rand_score(y, model.fit(x).labels_))
                line += f" {sum(value == 1.0 for value in values):2d} ({np.mean(values):6.3f})"
        print(line, flush=True)


# ------------------------------------------------------------------------------------------------------------- Table 4: UCI sets


def print_uci(seeds: int, names: Iterable[str]) -> None:
    """One line a set and method; at the end how often each is best."""
    print(f"\nTen UCI sets, {seeds} runs each: mean ± std of NMI, ARI, VM; factor of gamma; * best of the paper's five, + best of all")
    wins = {rivals: {score: dict.fromkeys(rivals, 0) for score in SCORES} for rivals in (PAPER, (*PAPER, "KFCM m auto"))}
    shown = ("KPKM", "KPKM batched", "KPKM + polish", "KFCM m=2", "KFCM m auto", "KKM", "FCM", "KM")
    costs, count = [], 0
    for name in names:
        started = time.perf_counter()
        x, y = uci(name)
        solver = "fagp" if len(x) <= EXACT_ROWS else "batched"
        makers, gamma, table = methods(solver), over_median(x), {}
        for method in shown:
            if method in ("FCM", "KM"):
                table[method] = scored(makers[method], x, y, seeds, "-")
            elif method == "KPKM batched" and solver == "batched":
                table[method] = table["KPKM"]
            else:
                table[method] = best_width([scored(makers[method], x, y, seeds, f, gamma=f * gamma) for f in FACTORS])
        print(f"{name}: {len(x)} x {x.shape[1]}, c = {y.max() + 1}, KPKM {solver}; {time.perf_counter() - started:.0f} s")
        for rivals, scores in wins.items():
            for i, score in enumerate(SCORES):
                top = max(round(table[rival].mean[i], 3) for rival in rivals)
                for rival in rivals:
                    scores[score][rival] += round(table[rival].mean[i], 3) == top
        for method in shown:
            print(f"   {method:14s}{_line(method, table)}   {table[method].width}", flush=True)
        costs.append((name, *_costs(name, makers, seeds)))
        count += 1
    for rivals, scores in wins.items():
        print(f"\nBest or level to three digits, of {count} sets, among {', '.join(rivals)}:")
        for score in SCORES:
            counted = ", ".join(f"{rival} {number}" for rival, number in scores[score].items())
            print(f"   {score}: {counted}; printed for KPKM: {CLAIMS[score]}")
    print("\nObjective at gamma = 1 / median: means over the starts, over that of KKM from random rows (the lowest of all in brackets)")
    print(f"{'':14s}{'KPKM':>18s}{'KPKM batched':>18s}{'KPKM + polish':>18s}{'KKM':>18s}")
    for name, means, lowest in costs:
        print(f"   {name:11s}" + "".join(f"{mean:10.4f} ({low:.4f})" for mean, low in zip(means, lowest, strict=True)))


def _line(method: str, table: dict[str, Scores]) -> str:
    parts = []
    for i in range(len(SCORES)):
        value = round(table[method].mean[i], 3)
        mark = "*" if method in PAPER and value == max(round(table[rival].mean[i], 3) for rival in PAPER) else ""
        mark += "+" if value == max(round(scores.mean[i], 3) for scores in table.values()) else ""
        parts.append(f"{value:6.3f} ± {table[method].values[:, i].std():.3f}{mark:2s}")
    return "  ".join(parts)


def _costs(name: str, makers: dict[str, Callable[..., Any]], seeds: int) -> tuple[list[float], list[float]]:
    x, y = uci(name)
    k, gamma = rbf(x, 1.0), over_median(x)
    runs = []
    for method in ("KPKM", "KPKM batched", "KPKM + polish", "KKM"):
        runs.append([objective(k, makers[method](int(y.max()) + 1, seed, gamma=gamma).fit(x).labels_) for seed in range(seeds)])
    unit = float(np.mean(runs[-1]))
    return [float(np.mean(run)) / unit for run in runs], [min(run) / unit for run in runs]


# ------------------------------------------------------------------------------------------------------------- Table 5: digits


def digit_kernels() -> dict[str, list[tuple[Any, dict[str, Any], Array]]]:
    """The kernels, and of each the widths with words and rows."""
    x, _ = digits()
    gamma = over_median(x)
    return {
        "RBF": [(factor, {"gamma": factor * gamma}, x) for factor in FACTORS],
        "CW-SSIM": [(width, {"kernel": "precomputed"}, structural(width)) for width in WIDTHS],
    }


def print_digits(seeds: int, exact: int) -> None:
    _, y = digits()
    values = np.linalg.eigvalsh(similarity())
    print(f"\n1,000 MNIST digits, c = 10, {seeds} runs each: NMI, ARI, VM; width; clusters that hold rows; digits that lead in a cluster")
    print(f"   CW-SSIM: {np.abs(values[values < 0]).sum() / np.abs(values).sum():.3f} of its spectrum is negative")
    makers = methods("batched")
    for kernel, kinds in digit_kernels().items():
        for method in ("KPKM", "KPKM + polish", "KFCM m=2", "KFCM m=1.3", "KFCM m auto", "KKM"):
            tried = [scored(makers[method], x, y, seeds, width, **words) for width, words, x in kinds]
            _print_digits(kernel, method, best_width(tried), [scores.mean[0] for scores in tried])
    if exact:
        print_exact(exact)


def _print_digits(kernel: str, method: str, scores: Scores, scan: list[float]) -> None:
    line = "  ".join(f"{mean:.3f} ± {std:.3f}" for mean, std in zip(scores.mean, scores.values.std(axis=0), strict=True))
    line += f"   {scores.width!s:5s} {scores.found:5.1f} {scores.classes:5.1f}"
    print(f"   {kernel:8s} {method:14s} {line}   scan: " + " ".join(f"{value:.3f}" for value in scan), flush=True)


def print_exact(seeds: int) -> None:
    """FAGP step by step on the digits, beside batched and KKM with the same seeds: scores, and the objective over KKM's."""
    x, y = digits()
    kinds = {"RBF, 1 / median": ({"gamma": over_median(x)}, x, rbf(x, 1.0))}
    kinds["CW-SSIM"] = ({"kernel": "precomputed"}, similarity(), similarity())
    print(f"   FAGP beside the others, {seeds} runs each: NMI; mean objective over that of KKM")
    for kernel, (words, rows, k) in kinds.items():
        makers = {"KKM": methods()["KKM"], "batched": methods("batched")["KPKM"], "FAGP": methods("fagp")["KPKM"]}
        unit = None
        for name, make in makers.items():
            found = [make(10, seed, **words).fit(rows).labels_ for seed in range(seeds)]
            nmi = [normalized_mutual_info_score(y, labels, average_method="geometric") for labels in found]
            cost = float(np.mean([objective(k, labels) for labels in found]))
            unit = unit or cost
            if name == "batched" and kernel == "CW-SSIM":
                history = np.array(make(10, 0, **words).fit(rows).objective_history_)
                print(f"   {kernel}: the objective rose in {(np.diff(history) > 0).sum()} of {len(history) - 1} sweeps (one run)")
            print(f"   {kernel:16s} {name:8s} {np.mean(nmi):.3f} ± {np.std(nmi):.3f}   {cost / unit:.4f}", flush=True)


# ------------------------------------------------------------------------------------------------------- Tables 6, 7: FAGP, AGP


def projector(active: Array, n: int, c: int) -> Array:
    """(30): I - N' (N N')^-1 N, from all active constraints."""
    rows = constraints(active, n, c)
    return np.eye(n * c) - rows.T @ np.linalg.inv(rows @ rows.T) @ rows


def constraints(active: Array, n: int, c: int) -> Array:
    return np.vstack([np.eye(n * c)[active], np.kron(np.eye(n), np.ones(c))])


def dense(k: Array, start: Array, step: float | None) -> tuple[Array, int]:
    """Algorithm 1 with matrices of n c by n c. FAGP (`step` None) updates the projector by (32); AGP makes it anew each time by (30)."""
    n, c = start.shape
    p, active = start.ravel().copy(), start.ravel() == 0
    q, count, longest = projector(active, n, c), 0, np.inf if step is None else step
    while True:
        g = dense_gradient(k, p.reshape(n, c)).ravel()
        if active.sum() == n * (c - 1):  # a vertex
            rows = constraints(active, n, c)
            w = (np.linalg.inv(rows @ rows.T) @ (rows @ g))[: int(active.sum())]
            if w.min() >= -1e-12:
                return p.reshape(n, c), count
            active[np.flatnonzero(active)[int(np.argmin(w))]] = False
            q = projector(active, n, c)
        elif step is not None:
            q = projector(active, n, c)
        d = -q @ g
        d[active | (np.abs(d) < 1e-14)] = 0.0
        ratio = np.where(d < 0, -p / np.where(d < 0, d, -1.0), np.inf)
        first = int(np.argmin(ratio))
        p += min(float(ratio[first]), longest) * d
        count += 1
        if ratio[first] <= longest:
            p[first], active[first] = 0.0, True
            if step is None:
                column = q[:, first].copy()
                q -= np.outer(column, column) / column[first]
            row = first // c
            free = np.flatnonzero(~active[row * c : (row + 1) * c])
            if len(free) == 1:
                p[row * c + free[0]] = 1.0


def dense_gradient(k: Array, p: Array) -> Array:
    kp, s = k @ p, p.sum(axis=0)
    return np.diag(k)[:, None] - 2 * kp / s + (p * kp).sum(axis=0) / s**2


def closed(k: Array, start: Array, step: float | None = None, most: int = 10**6) -> Walked:
    return follow(DenseGram(k, np.diag(k).copy()), np.ones(len(k)), start.copy(), most, float(np.trace(k)), step)


def drawn_start(n: int, c: int, seed: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(c), size=n)


def print_iterations(seeds: int, steps: tuple[float, ...] = (1.0, 0.1, 0.01)) -> None:
    """How many iterations AGP takes by its step, in closed form."""
    print(f"\nIterations in closed form, gamma = 1 / median, means of {seeds} starts; AGP by its step,")
    print("   how often it ends in the same partition, and FAGP's time as a share of AGP's")
    columns = "".join(f"{f'AGP {step:g}':>12s}{'same':>6s}{'time':>7s}" for step in steps)
    print(f"{'':12s}{'n':>6s}{'c':>4s}{'n(c-1)':>8s}{'FAGP':>8s}{columns}")
    for name in ("iris", "wine", "seeds", "sonar", "glass", "ionosphere"):
        x, y = uci(name)
        k, n, c = rbf(x, 1.0), len(x), int(y.max()) + 1
        runs: dict[Any, list[tuple[Walked, float]]] = {step: [] for step in (None, *steps)}
        for seed in range(seeds):
            for step, done in runs.items():
                begun = time.perf_counter()
                walked = closed(k, drawn_start(n, c, seed), step)
                done.append((walked, time.perf_counter() - begun))
        line = f"   {name:9s}{n:6d}{c:4d}{n * (c - 1):8d}{np.mean([walked.n_iter for walked, _ in runs[None]]):8.0f}"
        for step in steps:
            pairs = list(zip(runs[None], runs[step], strict=True))
            same = sum(bool(np.array_equal(a.memberships.argmax(1), b.memberships.argmax(1))) for (a, _), (b, _) in pairs)
            ratio = statistics.median(fast / slow for (_, fast), (_, slow) in pairs)
            line += f"{np.mean([walked.n_iter for walked, _ in runs[step]]):12.0f}{same:6d}{100 * ratio:6.0f}%"
        print(line, flush=True)


def print_dense(sizes: dict[int, int], step: float) -> None:
    """Time of both with dense projectors, and of both in closed form, taking turns on the same starts."""
    x, _ = uci("iris")
    print(f"\nIris, c = 3, first n rows of a random order, AGP's step {step:g}, medians: iterations; seconds; ratios")
    print("      n   FAGP    AGP   dense FAGP  dense AGP   FAGP/AGP   closed FAGP  closed AGP   dense/closed, FAGP   difference of P")
    order = np.random.default_rng(0).permutation(len(x))
    for n, seeds in sizes.items():
        k, c, lines = rbf(x[order[:n]], 1.0), 3, []
        for seed in range(seeds):
            start, seconds, results = drawn_start(n, c, seed), list[float](), list[Any]()
            for run, longest in ((dense, None), (dense, step), (closed, None), (closed, step)):
                begun = time.perf_counter()
                results.append(run(k, start, longest))
                seconds.append(time.perf_counter() - begun)
            (fast, many), (slow, more), one, two = results
            assert (many, more) == (one.n_iter, two.n_iter), "the dense and the closed form take the same steps"
            apart = max(np.abs(fast - one.memberships).max(), np.abs(slow - two.memberships).max())
            lines.append((many, more, *seconds, seconds[0] / seconds[1], seconds[0] / seconds[2], apart))
        many, more, a, b, e, f, ratio, gain, apart = np.median(lines, axis=0)
        print(
            f"   {n:4d}{many:7.0f}{more:7.0f}{a:13.3f}{b:11.3f}{100 * ratio:10.1f}%{e:14.4f}{f:12.4f}{gain:18.0f}{apart:22.1e}",
            flush=True,
        )


def print_large(repeats: int, rows: int = 1000, c: int = 10) -> None:
    """FAGP in closed form on a thousand digits, and one dense update of the projector at full size, in place."""
    x, _ = digits()
    x = x[:: len(x) // rows]
    k = rbf(x, 1.0)
    size = len(k) * c
    q = np.eye(size, order="F") - np.kron(np.eye(len(k)), np.full((c, c), 1 / c))
    q = np.asfortranarray(q)
    lines = []
    for seed in range(repeats):
        begun = time.perf_counter()
        walked = closed(k, drawn_start(len(k), c, seed))
        whole = time.perf_counter() - begun
        parts = []
        for first in range(3):
            at, g = first * c + seed, np.ones(size)
            column = q[:, at].copy()
            begun = time.perf_counter()
            fresh = q - np.outer(column, column) / column[at]  # (32) as written
            written = time.perf_counter() - begun
            del fresh
            begun = time.perf_counter()
            q = blas.dger(-1 / column[at], column, column, a=q, overwrite_a=True)  # (32) in place
            in_place = time.perf_counter() - begun
            begun = time.perf_counter()
            blas.dgemv(1.0, q, g)  # the direction, (33)
            parts.append((written, in_place, time.perf_counter() - begun))
        written, in_place, direction = np.median(parts, axis=0)
        gains = [seconds * walked.n_iter / whole for seconds in (in_place, in_place + direction, written, written + direction)]
        lines.append((walked.n_iter, whole, written, in_place, direction, *gains))
    steps, whole, written, in_place, direction, *gains = np.median(lines, axis=0)
    print(f"\n{len(k)} digits, c = {c}, medians of {repeats}: {steps:.0f} steps in {whole:.1f} s, {1e3 * whole / steps:.2f} ms a step")
    print(
        f"   dense projector {size} x {size}, {8e-9 * size**2:.1f} GB: update (32) as written {written:.3f} s, in place {in_place:.3f} s,"
    )
    print(f"   direction {direction:.3f} s. At the same number of steps the dense form takes, as multiples of the closed one's whole time:")
    print("   updates in place {:.0f}, with directions {:.0f}; updates as written {:.0f}, with directions {:.0f}".format(*gains))


# ---------------------------------------------------------------------------------------------------------------------- figures

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#d62728", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#1b4f72")


def figure_one(path: Path) -> None:
    """Objective against iterations, and the lengths of the steps, of FAGP and AGP on Iris."""
    import matplotlib.pyplot as plt

    x, _ = uci("iris")
    k, start = rbf(x, 1.0), drawn_start(len(x), 3, 0)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.7))
    for colour, step in zip(COLOURS, (None, 0.1, 0.01, 0.001), strict=False):
        walked = closed(k, start, step)
        name = f"FAGP ({walked.n_iter:,})" if step is None else f"AGP, step {step:g} ({walked.n_iter:,})"
        axes[0].plot(np.arange(1, len(walked.history) + 1), walked.history, color=colour, label=name, linewidth=1.6)
        if step is None:
            lengths = np.array(walked.steps)
            axes[1].plot(np.arange(1, len(lengths) + 1), lengths, ".", color=colour, markersize=4)
        else:
            axes[1].axhline(step, color=colour, linewidth=1, linestyle="--")
    axes[0].set(xscale="log", xlabel="iteration", ylabel="objective", title="Iris: objective")
    axes[0].legend(fontsize=8.5, frameon=False)
    axes[1].set(yscale="log", xlabel="iteration", ylabel="length", title="Iris: steps of FAGP (dashed: of AGP)")
    _save(figure, path / "kpkm-steps.png")


def figure_three(path: Path) -> None:
    import matplotlib.pyplot as plt

    x, y = make_ring_and_disc(random_state=0)
    make = methods("fagp")["KPKM"]
    panels = {"classes": y, "RBF, gamma = 1": make(2, 0, gamma=1.0).fit(x).labels_, "linear": make(2, 0, kernel="linear").fit(x).labels_}
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5))
    for axis, (title, labels) in zip(axes, panels.items(), strict=True):
        own = labels if adjusted_rand_score(y, labels) < 1 or (labels == y).all() else 1 - labels
        axis.scatter(*x.T, s=9, c=np.array(COLOURS)[own], linewidths=0)
        axis.set(aspect="equal", xticks=(), yticks=(), title=f"{title}\nARI {adjusted_rand_score(y, labels):.2f}")
    _save(figure, path / "kpkm-ring.png")


def figure_five(path: Path) -> None:
    """The mean image of each cluster of digits, ordered by the digit that leads in it; KFCM at a width of its own, as in the paper."""
    import matplotlib.pyplot as plt

    x, y = digits()
    makers, gamma = methods("batched"), over_median(x)
    kinds: dict[str, tuple[str, dict[str, Any], Array]] = {
        "KPKM, RBF": ("KPKM", {"gamma": gamma}, x),
        "KKM, RBF": ("KKM", {"gamma": gamma}, x),
        "KFCM m = 1.3, RBF": ("KFCM m=1.3", {"gamma": gamma}, x),
        "KPKM, CW-SSIM": ("KPKM", {"kernel": "precomputed"}, structural(0.3)),
        "KKM, CW-SSIM": ("KKM", {"kernel": "precomputed"}, structural(0.3)),
        "KFCM m = 1.3, CW-SSIM": ("KFCM m=1.3", {"kernel": "precomputed"}, structural(0.1)),
    }
    figure, axes = plt.subplots(len(kinds), 10, figsize=(9.6, 6.4))
    for line, (title, (method, words, rows)) in zip(axes, kinds.items(), strict=True):
        labels = makers[method](10, 0, **words).fit(rows).labels_
        clusters = [np.bincount(y[labels == j], minlength=10) for j in range(10)]
        order = sorted((j for j in range(10) if clusters[j].sum()), key=lambda j: (clusters[j].argmax(), -clusters[j].max()))
        for axis in line:
            axis.axis("off")
        for axis, j in zip(line, order, strict=False):
            axis.imshow(x[labels == j].mean(axis=0).reshape(28, 28), cmap="gray_r", vmin=0, vmax=1)
            axis.set_title(f"{clusters[j].argmax()}: {clusters[j].max()} of {clusters[j].sum()}", fontsize=7.5, pad=2)
        leads = len({int(clusters[j].argmax()) for j in order})
        nmi = normalized_mutual_info_score(y, labels, average_method="geometric")
        caption = f"{title}\n{len(order)} clusters\n{leads} digits\nNMI {nmi:.2f}"
        line[0].text(-0.15, 0.5, caption, transform=line[0].transAxes, ha="right", va="center", fontsize=8)
    _save(figure, path / "kpkm-digits.png")


def figure_six(path: Path) -> None:
    """Descent of FAGP from one start on the ten sets, as a share of what it falls in all."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 5, figsize=(10.6, 4.6))
    for axis, name in zip(axes.ravel(), UCI, strict=True):
        x, y = uci(name)
        model = methods("fagp" if len(x) <= 1000 else "batched")["KPKM"](int(y.max()) + 1, 0, gamma=over_median(x)).fit(x)
        history = np.array(model.objective_history_)
        rises = int((np.diff(history) > 1e-9 * history[0]).sum())
        print(f"   {name:11s} {model.solver_:8s} {len(history) - 1:6d} steps, {rises} rises, largest {max(np.diff(history).max(), 0):.1e}")
        axis.plot(history, color=COLOURS[0], linewidth=1.5)
        title = name if model.solver_ == "fagp" else f"{name} (batched)"
        axis.set_title(title, fontsize=10)
        axis.tick_params(labelsize=7.5)
        axis.locator_params(nbins=4)
    figure.supxlabel("step", fontsize=10, y=0.05)
    figure.supylabel("objective", fontsize=10)
    _save(figure, path / "kpkm-descent.png")


FIGURES = {1: figure_one, 3: figure_three, 5: figure_five, 6: figure_six}


def _save(figure: Any, path: Path) -> None:
    from PIL import Image

    figure.tight_layout()
    page = BytesIO()
    figure.savefig(page, dpi=110, bbox_inches="tight")
    Image.open(page).convert("RGB").quantize(64).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=int, choices=(1, 4, 5, 6, 7), action="append")
    parser.add_argument("--figure", type=int, choices=tuple(FIGURES), action="append", help="figures alone, and no table unless asked")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each method")
    parser.add_argument("--set", choices=UCI, action="append", help="of Table 4")
    parser.add_argument("--quick", action="store_true", help="three runs, small sets, no dense matrix above 80 rows")
    parser.add_argument("--out", type=Path, default=Path("docs/papers"), metavar="DIR", help="of the figures")
    arguments = parser.parse_args()
    seeds = min(arguments.seeds, 3) if arguments.quick else arguments.seeds
    tables = arguments.table or ([] if arguments.figure else [1, 4, 5, 6, 7])
    figures = arguments.figure or ([] if arguments.table else list(FIGURES))
    print(header())
    for table in tables:
        started = time.perf_counter()
        if table == 1:
            print_rings(seeds)
        elif table == 4:
            print_uci(seeds, arguments.set or (UCI[:3] if arguments.quick else UCI))
        elif table == 5:
            print_digits(seeds, 0 if arguments.quick else 4)
        elif table == 6:
            print_iterations(min(seeds, 3), *([(1.0, 0.1)] if arguments.quick else []))
        else:
            for step in (1.0, 0.1):
                most = 80 if arguments.quick or step < 1.0 else 150
                print_dense({n: starts for n, starts in DENSE_SIZES.items() if n <= most}, step)
            print_large(1, rows=200) if arguments.quick else print_large(2)
        print(f"{time.perf_counter() - started:.0f} s", flush=True)
    if figures:
        import matplotlib

        matplotlib.use("Agg")
        for number in figures:
            FIGURES[number](arguments.out)


if __name__ == "__main__":
    main()
