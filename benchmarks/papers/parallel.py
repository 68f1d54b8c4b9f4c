"""Cells by fits that do not depend on each other: one process a core, one thread each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import joblib
import threadpoolctl

from ..harness import quiet
from .paper import Run


def in_parallel(
    run: Run, work: Callable[..., dict[str, Any]], jobs: dict[str, tuple[Any, ...]]
) -> None:
    """`work(*arguments)` of every key that has no cell yet, kept as soon as it is there."""
    there = run.results.read()
    missing = {key: arguments for key, arguments in jobs.items() if key not in there}
    if not missing:
        return
    with ProcessPoolExecutor(
        min(joblib.cpu_count(), len(missing)), initializer=_one_thread
    ) as pool:
        futures = {pool.submit(work, *arguments): key for key, arguments in missing.items()}
        for future in as_completed(futures):
            run.once(futures[future], future.result)


def _one_thread() -> None:
    quiet()
    threadpoolctl.threadpool_limits(1)
