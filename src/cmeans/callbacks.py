"""scikit-learn's callbacks, where the installed scikit-learn has them (1.9 and later), and `verbose`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .progress import Progress, watching

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support: this scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "SweepHook", "verbose_log", "with_callbacks"]

logger = logging.getLogger("cmeans")
memory_logger = logging.getLogger("cmeans.memory")  # what a fit will keep, said before it starts to whoever sets the level INFO
memory_logger.setLevel(logging.WARNING)


class SweepHook:
    """Tells the callbacks set on an estimator of the fit and of every sweep."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, max_sweeps: int | None) -> None:
        self._estimator = estimator
        self._data = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        self._root = None
        if getattr(estimator, "_skl_callbacks", None) or hasattr(estimator, "_parent_callback_ctx"):
            self._root = estimator._init_callback_context(max_subtasks=max_sweeps)
            self._root.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def listens(self) -> bool:
        """Whether any callback is set."""
        return self._root is not None

    def sweep_ended(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """One sweep is over; `fitted` gives the attributes of an estimator stopped here. True: a callback wants to stop."""
        assert self._root is not None
        task = self._root.subcontext(task_name="sweep")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(task.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=fitted, **self._data))

    def fit_ended(self) -> None:
        """The fit is over."""
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes={}, **self._data)


@contextmanager
def verbose_log(verbose: int, owner: str) -> Iterator[None]:
    """verbose=1: what is logged inside the block, 2: a line a sweep too; to the logger "cmeans" (stderr unless it has handlers)."""
    if not verbose:
        yield
        return
    handler = None if logger.handlers else logging.StreamHandler(sys.stderr)
    if handler is not None:
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    level = logger.level
    logger.setLevel(min(level or logging.INFO, logging.INFO))

    def listen(at: Progress) -> None:
        if at.objective is not None and verbose > 1:
            logger.info(
                "%s %s run %d/%d sweep %d: objective %.8g, movement %.3g",
                owner,
                at.stage,
                at.run + 1,
                at.n_runs,
                at.sweep,
                at.objective,
                at.movement or 0.0,
            )

    try:
        with watching(listen):
            yield
    finally:
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)
