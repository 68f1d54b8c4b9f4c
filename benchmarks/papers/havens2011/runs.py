"""What is measured: figures 2-5 (exact and sampled from shared starts) and Table II."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from cmeans import CMeans, Landmarks

from ..paper import Run
from ..results import key
from .exact import measure as measure_exact
from .fits import (
    ALGORITHMS,
    AUTO,
    CORRECTED,
    FCM,
    PCM,
    PRINTED,
    VARIANTS,
    Drawn,
    Values,
    estimator,
    first_memberships,
    full,
    fuzzy_rule,
    one_run,
)
from .settings import KERNELS, RUNS, SIZES, M, Problem, a3, mnist, starts, very_large

A3, MNIST, MNIST_ALL = "A3", "MNIST 20,000", "MNIST 70,000"
# runs of the exact algorithms on all n^2 kernel values of A3: each takes as long as everything
# sampled
TIMED = {FCM: 2, PCM: 1}
MANY = 128  # columns from which hard sweeps keep bounds
TABLE_SWEEPS = 60  # at most, of each of the two parts of akPCM as well


class Plan(NamedTuple):
    """How many runs, at which rates in per cent: of the main variant at small and at large rates,
    and of the others."""

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

    def exact_count(self, variant: str) -> int:
        return self.runs if variant == CORRECTED else self.others


OF_A3 = Plan((1, 2, 3, 5, 10, 20), RUNS, 5, 3, 2, (1, 3))
OF_MNIST = Plan((0.1, 0.2, 0.5, 1, 2, 5), RUNS, 100, RUNS, 5, (0.1, 0.2, 0.5, 1, 2, 5))
# a run on 3,500 rows drawn takes its ten seconds
OF_ALL_MNIST = Plan((0.1, 0.2, 0.5, 1, 2, 5), RUNS, 2, 2, 0, ())
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
        run.stage(f"Table II, {name}", partial(table, run, name))
    if run.exact and not run.quick:
        run.stage(
            "MNIST, exact on 70,000 rows",
            lambda: against_tiles(run, MNIST_ALL, mnist(), OF_ALL_MNIST),
        )


def against_tiles(run: Run, name: str, problem: Problem, plan: Plan) -> None:
    """The exact side on tiles of the kernel matrix, all runs of it together."""
    m = about(run, name, problem, plan)
    counts = {variant: count for variant in known(m) if (count := plan.exact_count(variant))}
    keys = {
        (algorithm, variant): key(name, "exact", algorithm, variant)
        for algorithm in ALGORITHMS
        for variant in counts
    }
    measure_exact(run, problem, m, counts, keys, run.exact_folder)
    for number in range(plan.runs):
        sample(run, name, problem, plan, number, m, tuple(counts))


def known(m: float) -> tuple[str, ...]:
    """The variants to be run: m="auto" is at most 2, and then nothing new."""
    return tuple(variant for variant in VARIANTS if variant != AUTO or m < M)


def against_spanned(run: Run, problem: Problem, plan: Plan) -> None:
    """A3, on which a few dozen rows span all others: the library's exact fit, and for the time it
    takes all n^2 values a few times."""
    m, whole = about(run, A3, problem, plan), cache(partial(full, problem))
    spanning = Values(problem.x, {"landmarks": None, **problem.kernel}, 0.0)

    def fit(
        variant: str, algorithm: str, rows: np.ndarray, values: Callable[[], Values]
    ) -> dict[str, Any]:
        u = first_memberships(problem, rows, fuzzy_rule(variant, m))
        return one_run(
            values(),
            estimator(algorithm, variant, problem.clusters, m, init=u, **values().words),
            problem.classes,
        )

    for number, rows in enumerate(starts(len(problem.x), plan.runs, problem.clusters)):
        for variant in known(m):
            for algorithm in ALGORITHMS if number < plan.exact_count(variant) else ():
                trial = partial(fit, variant, algorithm, rows)
                run.nth(
                    key(A3, "exact", algorithm, variant), number, partial(trial, lambda: spanning)
                )
                if variant == CORRECTED and number < TIMED[algorithm]:
                    run.nth(key(A3, "full", algorithm), number, partial(trial, whole))
        sample(run, A3, problem, plan, number, m, known(m))


def sample(
    run: Run,
    name: str,
    problem: Problem,
    plan: Plan,
    number: int,
    m: float,
    variants: tuple[str, ...],
) -> None:
    """One run of the sampled side at every rate, on one draw a rate: fits from the rows, as users
    run them, and on kernel values."""
    for rate in plan.rates:
        s = size(len(problem.x), rate)
        drawn = Drawn(problem, s, number, number, warm(run, name, problem, s))
        for algorithm in ALGORITHMS if number < plan.count(rate, CORRECTED) else ():
            run.nth(
                key("whole", name, s, algorithm), number, partial(drawn.whole_fit, algorithm, m)
            )
        for variant in variants:
            for algorithm in ALGORITHMS if number < plan.count(rate, variant) else ():
                run.nth(
                    key(name, s, algorithm, variant),
                    number,
                    partial(drawn.fit, algorithm, variant, m),
                )


def table(run: Run, name: str) -> None:
    """Table II of one data set. Draws and starts go on together, so that few runs are of several of
    both, and 25 of all pairs."""
    x, classes = very_large(name, 2000 if run.quick else None)
    for kernel, words in KERNELS.items():
        problem = Problem(x, classes, len(np.unique(classes)), words)
        m = about(run, f"II | {name} | {kernel}", problem, None)
        for place, s in enumerate(SIZES[name]):
            draws = shape(kernel, PRINTED, place, quick=run.quick)[0]
            for number in range(25):
                start = (number // draws + number % draws) % 5
                drawn = Drawn(
                    problem, s, number % draws, start, warm(run, f"{name} {kernel}", problem, s)
                )
                for variant in (PRINTED, AUTO):
                    for algorithm in (
                        ALGORITHMS
                        if number < np.prod(shape(kernel, variant, place, quick=run.quick))
                        else ()
                    ):
                        trial = partial(drawn.fit, algorithm, variant, m, max_iter=TABLE_SWEEPS)
                        run.nth(key("II", name, kernel, s, algorithm, variant), number, trial)


def shape(kernel: str, variant: str, place: int, *, quick: bool = False) -> tuple[int, int]:
    """Draws of landmarks, and starts for each: as the paper has it at the smallest sample, fewer
    where a run takes long."""
    if quick:
        return 1, (2 if variant == PRINTED else 1) if place == 0 else int(
            kernel == "polynomial" and variant == PRINTED
        )
    if variant == PRINTED and kernel != "RBF, sigma 2":
        return (5, 5) if place == 0 else (5, 1)
    return (1, 2) if place == 0 else (1, 1)


def about(run: Run, name: str, problem: Problem, plan: Plan | None) -> float:
    """What m="auto" comes to on these rows, kept with what pages say of the data."""

    def work() -> dict[str, Any]:
        counts = np.unique(problem.classes, return_counts=True)[1]
        model = CMeans(
            problem.clusters,
            max_iter=1,
            landmarks=Landmarks(problem.clusters, method="uniform"),
            random_state=0,
            **problem.kernel,
        )
        rates = (
            {}
            if plan is None
            else {
                "rates": list(plan.rates),
                "sizes": [size(len(problem.x), rate) for rate in plan.rates],
            }
        )
        facts = {"n": len(problem.x), "features": problem.x.shape[1], "clusters": problem.clusters}
        return {
            **facts,
            "m": model.fit(problem.x).m_,
            "largest": counts.max() / len(problem.x),
            **rates,
        }

    return float(run.once(f"{name} | about", work)["m"])


_WARM: set[tuple[str, bool]] = set()


def warm(run: Run, name: str, problem: Problem, s: int) -> Callable[[], None]:
    """Two sweeps of everything, so that no run is timed while something is loaded: for few columns
    and for many."""

    def once() -> None:
        if run.quick or (name, s > MANY) in _WARM:
            return
        _WARM.add((name, s > MANY))
        drawn = Drawn(problem, s, 0, np.arange(problem.clusters))
        for algorithm in ALGORITHMS:
            for variant in VARIANTS:
                drawn.fit(algorithm, variant, 1.3, max_iter=2)
            drawn.whole_fit(algorithm, M, max_iter=2)

    return once


def size(n: int, rate: float) -> int:
    return round(n * rate / 100)
