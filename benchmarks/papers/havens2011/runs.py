"""What is measured: figures 2-5 (exact and sampled from shared starts) and Table II."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cmeans import CMeans

from ..paper import Run
from .exact import measure as measure_exact
from .fits import (
    ALGORITHMS,
    AUTO,
    CORRECTED,
    FCM,
    PCM,
    PRINTED,
    VARIANTS,
    Values,
    draw,
    estimator,
    first_memberships,
    full,
    fuzzy_rule,
    one_run,
    sampled,
    whole_fit,
)
from .settings import KERNELS, RUNS, SIZES, M, Problem, a3, mnist, starts, very_large

A3, MNIST, MNIST_ALL = "A3", "MNIST 20,000", "MNIST 70,000"
TIMED = {FCM: 2, PCM: 1}  # runs of the exact algorithms on all n^2 kernel values of A3: each takes as long as everything sampled
MANY = 128  # columns from which sweeps are compiled in another form
TABLE_SWEEPS = 60  # at most, of each of the two parts of akPCM as well


class Plan(NamedTuple):
    """How many runs, at which rates in per cent: of the main variant at small and at large rates, and of the others."""

    rates: tuple[float, ...]
    runs: int
    large_from: float
    large_runs: int
    others: int
    other_rates: tuple[float, ...]

    def count(self, rate: float, variant: str) -> int:
        if variant != CORRECTED:
            return self.others if rate in self.other_rates else 0
        return self.runs if rate < self.large_from else self.large_runs


OF_A3 = Plan((1, 2, 3, 5, 10, 20), RUNS, 5, 3, 2, (1, 3))
OF_MNIST = Plan((0.1, 0.2, 0.5, 1, 2, 5), RUNS, 100, RUNS, 5, (0.1, 0.2, 0.5, 1, 2, 5))
OF_ALL_MNIST = Plan((0.1, 0.2, 0.5, 1, 2, 5), RUNS, 2, 2, 0, ())  # a run on 3,500 rows drawn takes its ten seconds
QUICK_A3 = Plan((5, 10, 20), 3, 100, 3, 1, (5, 20))
QUICK_MNIST = Plan((5, 20), 2, 100, 2, 1, (5, 20))


def measure(run: Run) -> None:
    if run.quick:
        run.stage("A3", lambda: against_spanned(run, a3(600), QUICK_A3))
        run.stage("MNIST", lambda: against_tiles(run, MNIST, mnist(600), QUICK_MNIST))
    else:
        run.stage("A3", lambda: against_spanned(run, a3(), OF_A3))
        run.stage("MNIST, 20,000 rows", lambda: against_tiles(run, MNIST, mnist(20_000), OF_MNIST))
    for name in SIZES:
        run.stage(f"Table II, {name}", lambda name=name: table(run, name))
    if run.exact and not run.quick:
        run.stage("MNIST, exact on 70,000 rows", lambda: against_tiles(run, MNIST_ALL, mnist(), OF_ALL_MNIST))


def against_tiles(run: Run, name: str, problem: Problem, plan: Plan) -> None:
    """The exact side on tiles of the kernel matrix, all runs of it together."""
    m = about(run, name, problem, plan)
    counts = {variant: count for variant in known(m) if (count := plan.runs if variant == CORRECTED else plan.others)}
    keys = {(algorithm, variant): exact_key(name, algorithm, variant) for algorithm in ALGORITHMS for variant in counts}
    measure_exact(run, problem, m, counts, keys, run.exact_folder)
    for number, rows in enumerate(starts(len(problem.x), plan.runs, problem.clusters)):
        sample(run, name, problem, plan, number, rows, m, tuple(counts))


def known(m: float) -> tuple[str, ...]:
    """The variants to be run: m="auto" is at most 2, and then nothing new."""
    return tuple(variant for variant in VARIANTS if variant != AUTO or m < M)


def against_spanned(run: Run, problem: Problem, plan: Plan) -> None:
    """A3, on which a few dozen rows span all others: the library's exact fit, and for the time it takes all n^2 values a few times."""
    n, m = len(problem.x), about(run, A3, problem, plan)
    whole = full(problem) if f"{A3} | full | {PCM}" not in run.results.read() else None
    spanning = Values(problem.x, {"n_landmarks": None, **problem.kernel}, 0.0)
    for number, rows in enumerate(starts(n, plan.runs, problem.clusters)):
        for variant in known(m):
            if number >= (plan.runs if variant == CORRECTED else plan.others):
                continue
            u = first_memberships(problem, rows, fuzzy_rule(variant, m))
            for algorithm in ALGORITHMS:
                make = partial(estimator, algorithm, variant, problem.clusters, m, init=u)
                run.trials(exact_key(A3, algorithm, variant), number + 1, partial(_fit, spanning, make, problem.classes))
                if whole is not None and variant == CORRECTED and number < TIMED[algorithm]:
                    run.trials(f"{A3} | full | {algorithm}", number + 1, partial(_fit, whole, make, problem.classes))
        sample(run, A3, problem, plan, number, rows, m, known(m))


def _fit(values: Values, make: Callable[..., CMeans], classes: np.ndarray, number: int) -> dict[str, Any]:
    return one_run(values, make(**values.words), values.values, classes)


def sample(run: Run, name: str, problem: Problem, plan: Plan, number: int, rows: np.ndarray, m: float, variants: tuple[str, ...]) -> None:
    """One run of the sampled side at every rate, on one draw a rate."""
    n, cells = len(problem.x), run.results.read()
    for rate in plan.rates:
        s = size(n, rate)
        wanted = [
            (algorithm, variant)
            for variant in variants
            for algorithm in ALGORITHMS
            if number < plan.count(rate, variant) and len(cells.get(key(name, s, algorithm, variant), {}).get("purity", ())) <= number
        ]
        whole = [
            algorithm
            for algorithm in ALGORITHMS
            if number < plan.count(rate, CORRECTED) and len(cells.get(whole_key(name, s, algorithm), {}).get("seconds", ())) <= number
        ]
        if not wanted and not whole:
            continue
        if not run.quick:
            warm_up(name, problem, s)
        landmarks = draw(n, s, number)
        for algorithm in whole:
            u = first_memberships(problem, rows, fuzzy_rule(CORRECTED, m))
            run.trials(
                whole_key(name, s, algorithm), number + 1, lambda _, a=algorithm, u=u, chosen=landmarks: whole_fit(problem, a, chosen, u)
            )
        if not wanted:
            continue
        values = sampled(problem, landmarks)
        for algorithm, variant in wanted:
            u = first_memberships(problem, rows, fuzzy_rule(variant, m))
            model = estimator(algorithm, variant, problem.clusters, m, init=u, **values.words)
            run.trials(
                key(name, s, algorithm, variant),
                number + 1,
                lambda _, model=model, values=values: one_run(values, model, values.values, problem.classes),
            )


def table(run: Run, name: str) -> None:
    """Table II of one data set: draws of landmarks, and starts for each of them."""
    x, classes = very_large(name, 2000 if run.quick else None)
    clusters, n = len(np.unique(classes)), len(x)
    for kernel, words in KERNELS.items():
        problem = Problem(x, classes, clusters, words)
        m = about(run, f"II | {name} | {kernel}", problem, None)
        for place, s in enumerate(SIZES[name]):
            for number, landmarks, rows, wanted in table_runs(run, name, kernel, place, n, clusters):
                if not run.quick:
                    warm_up(f"{name} {kernel}", problem, s)
                values = None
                for algorithm, variant in wanted:
                    values = values if values is not None else sampled(problem, landmarks)
                    u = first_memberships(problem, rows, fuzzy_rule(variant, m))
                    model = estimator(algorithm, variant, clusters, m, init=u, max_iter=TABLE_SWEEPS, **values.words)
                    run.trials(
                        table_key(name, kernel, s, algorithm, variant),
                        number + 1,
                        lambda _, model=model, values=values: one_run(values, model, values.values, classes),
                    )


def table_runs(
    run: Run, name: str, kernel: str, place: int, n: int, clusters: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray, list[tuple[str, str]]]]:
    """Number, landmarks, start rows and what is still to be run."""
    s = SIZES[name][place]
    for number in range(25):
        cells, wanted = run.results.read(), []
        for variant in (PRINTED, AUTO):
            draws, first = shape(kernel, variant, place, quick=run.quick)
            for algorithm in ALGORITHMS:
                have = len(cells.get(table_key(name, kernel, s, algorithm, variant), {}).get("purity", ()))
                if number < draws * first and have <= number:
                    wanted.append((algorithm, variant))
        if wanted:
            # draws and starts go on together, so that few runs are of several of both, and 25 of all pairs
            draws = shape(kernel, PRINTED, place, quick=run.quick)[0]
            number_of_draw, start = number % draws, (number // draws + number % draws) % 5
            yield number, draw(n, s, number_of_draw), starts(n, 5, clusters)[start], wanted


def shape(kernel: str, variant: str, place: int, *, quick: bool = False) -> tuple[int, int]:
    """Draws of landmarks, and starts for each: as the paper has it at the smallest sample, fewer where a run takes long."""
    if quick:
        return 1, (2 if variant == PRINTED else 1) if place == 0 else int(kernel == "polynomial" and variant == PRINTED)
    if variant == PRINTED and kernel != "RBF, sigma 2":
        return (5, 5) if place == 0 else (5, 1)
    return (1, 2) if place == 0 else (1, 1)


def about(run: Run, name: str, problem: Problem, plan: Plan | None) -> float:
    """What m="auto" comes to on these rows, kept with what pages say of the data."""

    def work() -> dict[str, Any]:
        counts = np.unique(problem.classes, return_counts=True)[1]
        model = CMeans(problem.clusters, max_iter=1, n_landmarks=problem.clusters, landmarks="uniform", random_state=0, **problem.kernel)
        rates = {} if plan is None else {"rates": list(plan.rates), "sizes": [size(len(problem.x), rate) for rate in plan.rates]}
        facts = {"n": len(problem.x), "features": problem.x.shape[1], "clusters": problem.clusters}
        return {**facts, "m": model.fit(problem.x).m_, "largest": counts.max() / len(problem.x), **rates}

    return float(run.once(f"{name} | about", work)["m"])


_WARM: set[tuple[str, bool]] = set()


def warm_up(name: str, problem: Problem, s: int) -> None:
    """Two sweeps of everything, so that no run is timed while something is compiled: for few columns and for many."""
    if (name, s > MANY) in _WARM:
        return
    _WARM.add((name, s > MANY))
    landmarks = draw(len(problem.x), s, 0)
    values = sampled(problem, landmarks)
    u = first_memberships(problem, np.arange(problem.clusters), fuzzy_rule(CORRECTED, M))
    for variant in VARIANTS:
        for algorithm in ALGORITHMS:
            estimator(algorithm, variant, problem.clusters, 1.3, init=u, max_iter=2, **values.words).fit(values.values)

    for algorithm in ALGORITHMS:
        whole_fit(problem, algorithm, landmarks, u, max_iter=2)


def size(n: int, rate: float) -> int:
    return round(n * rate / 100)


def key(name: str, s: int, algorithm: str, variant: str) -> str:
    return f"{name} | {s} | {algorithm} | {variant}"


def whole_key(name: str, s: int, algorithm: str) -> str:
    return f"whole | {name} | {s} | {algorithm}"


def exact_key(name: str, algorithm: str, variant: str) -> str:
    return f"{name} | exact | {algorithm} | {variant}"


def table_key(name: str, kernel: str, s: int, algorithm: str, variant: str) -> str:
    return f"II | {name} | {kernel} | {s} | {algorithm} | {variant}"
