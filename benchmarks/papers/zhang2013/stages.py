"""What a run measures, stage by stage. A trial is a random order of the rows and a random_state,
the same for all contestants."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

from threadpoolctl import threadpool_limits

from cmeans import ThreadEngine

from ... import singlepass
from ...harness import quiet
from ..paper import Run
from . import extras
from .extras import SMALL, case_of
from .runs import (
    ALL_ROWS,
    CASES,
    LARGEST,
    LARGEST_SHARE,
    ONLY_EXACT,
    PRINTED_M,
    PUBLISHED,
    STREAMS,
    Case,
    key_of,
    trial_of,
)

SMALL_TRIALS = 10  # of Table II, where nothing is stored yet
TIMED = {"streams": 5, ALL_ROWS: 2}  # runs that take turns
# of KFCM on all of MNIST
EXACT = {"n_init": 1, "max_iter": 30, "engine": ThreadEngine(memory_budget="15GB")}
LARGE_TABLES: dict[str, list[tuple[str, Any]]] = {
    "MNIST: Table II and m auto": [("MNIST", PRINTED_M), ("MNIST, normalised", "auto")],
    "Forest: Table II and m auto": [("Forest", PRINTED_M), ("Forest", "auto")],
}
LANDMARKED = {"max_iter": 100, "n_init": 1}  # of akFCM


def measure(run: Run) -> None:
    """All that is missing: Table II, and what is beside it."""
    warm_up()
    small = list(extras.few(SMALL, run))
    at_once(run, "small sets: Table II", [partial(table, run, name, PRINTED_M) for name in small])
    at_once(run, "small sets: m auto", [partial(table, run, name, "auto") for name in small])
    at_once(
        run,
        "small sets: as published",
        [partial(table, run, name, PRINTED_M, published=True) for name in small],
    )
    run.stage("small sets: times", lambda: [times(run, name) for name in small])
    run.stage("widths", partial(extras.widths, run))
    at_once(
        run,
        "starts",
        [partial(extras.beginnings, run, method) for method in ("stKFCM", "landmarks")],
    )
    at_once(
        run,
        "single pass",
        [partial(extras.baselines, run, method) for method in singlepass.METHODS],
    )
    run.stage("weights of the past", partial(extras.weights, run))
    at_once(run, "orders", [partial(extras.orders, run, order) for order in extras.ORDERS])
    run.stage("memory", partial(extras.memory, run))
    for title, tables in LARGE_TABLES.items():
        at_once(
            run,
            title,
            [partial(table, run, name, m) for name, m in tables[: 1 if run.quick else None]],
        )
    if run.exact:
        run.stage("MNIST: exact in chunks of 10%", partial(largest_chunks, run))
        run.stage("MNIST: exact KFCM on all rows", partial(all_rows, run))


def at_once(run: Run, title: str, tables: list[Callable[[], None]]) -> None:
    """A process for each: most chunks are so small that one process leaves a core idle. The page
    shows processor seconds."""

    def work() -> None:
        if len(tables) == 1 or run.quick:
            for one in tables:
                one()
            return
        with ProcessPoolExecutor(len(tables), get_context("spawn"), initializer=_begin) as pool:
            for done in [pool.submit(one) for one in tables]:
                done.result()

    run.stage(title, work)


def _begin() -> None:
    quiet()
    threadpool_limits(1)
    warm_up()


def table(run: Run, name: str, m: str | float, *, published: bool = False) -> None:
    """The cells of one data set; as published: one start from random rows, and the first chunk
    decides."""
    case = case_of(name, run)
    whole = "KFCM" if case.small else "akFCM"
    contestants: list[tuple[str, float | None]] = [(whole, None)]
    contestants += [(method, share) for share in reversed(case.shares) for method in STREAMS]
    for method, share in contestants:
        key = key_of(name, m, method, share, published=published)
        if key in ONLY_EXACT:
            continue
        words: dict[str, Any] = {"m": m, **(LANDMARKED if method == "akFCM" else {})}
        if published:
            words |= PUBLISHED | ({"warm_up": 0} if method in ("stKFCM", "landmarks") else {})
        run.trials(
            key, _trials(run, case, m, published), partial(trial_of, method, case, share, words)
        )


def times(run: Run, name: str) -> None:
    """Seconds of the small sets by themselves: contestants take turns, the same trials."""
    case = case_of(name, run)
    whole: list[tuple[str, float | None]] = [(ALL_ROWS, None)]
    for group in (whole, *([(method, share) for method in STREAMS] for share in case.shares)):
        for count in range(
            1, 1 + (1 if run.quick else TIMED[ALL_ROWS if group is whole else "streams"])
        ):
            for method, share in group:
                key = "times | " + key_of(name, PRINTED_M, method, share)
                run.trials(key, count, partial(_timed, method, case, share))


def largest_chunks(run: Run) -> None:
    """Chunks of 7,000 rows of MNIST, which cost their cube."""
    for name, m in LARGEST:
        for method in STREAMS:
            key = key_of(name, m, method, LARGEST_SHARE)
            run.trials(key, 1, partial(trial_of, method, CASES[name], LARGEST_SHARE, {"m": m}))


def all_rows(run: Run) -> None:
    """KFCM on all of MNIST: 4.9e9 kernel values, most of them computed in every sweep."""
    key = key_of("MNIST", PRINTED_M, "KFCM", None)
    run.trials(key, 1, partial(trial_of, "KFCM", CASES["MNIST"], None, {"m": PRINTED_M, **EXACT}))


def warm_up() -> None:
    """What is loaded in a first run is no part of a time."""
    for method in ("KFCM", *STREAMS):
        trial_of(method, CASES["2D15"].reduced(1000), 10, {"m": PRINTED_M}, 0)


def _timed(method: str, case: Case, share: float | None, trial: int) -> dict[str, float]:
    found = trial_of(method, case, share, {"m": PRINTED_M}, trial)
    return {"seconds": found["seconds"], "busy": found["busy"]}


def _trials(run: Run, case: Case, m: str | float, published: bool) -> int:
    if run.quick or not case.small:
        return 1
    return extras.TRIALS if published or m == "auto" else SMALL_TRIALS
