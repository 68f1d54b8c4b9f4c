"""scikit-learn's callbacks, where the installed scikit-learn has them (1.9 and later), and
`verbose`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from .progress import Progress, listening

try:
    from sklearn.callback import CallbackSupportMixin, FitCallback
    from sklearn.callback import with_callbacks as calling_back
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Empty class for a scikit-learn without callbacks."""

    class FitCallback:  # type: ignore[no-redef]
        """Empty class for a scikit-learn without callbacks."""

    def calling_back(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "SweepHook", "verbose_log", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])

logger = logging.getLogger("cmeans")
# estimated memory of a fit, logged before it starts at level INFO
memory_logger = logging.getLogger("cmeans.memory")
memory_logger.setLevel(logging.WARNING)


def with_callbacks(method: Method) -> Method:
    """Let scikit-learn's callbacks see a method that fits: a decorator that keeps the method's
    type."""
    return calling_back(method)  # type: ignore[no-any-return]


class SweepHook:
    """Calls of the callbacks set on an estimator, for the fit and for every sweep."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, max_sweeps: int | None
    ) -> None:
        self._estimator = estimator
        self._data = {
            "X": X,
            "y": y,
            "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
        }
        self._root = None
        if _has_callbacks(estimator):
            self._root = estimator._init_callback_context(max_subtasks=max_sweeps)
            self._root.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def listens(self) -> bool:
        """True where a callback is set."""
        return self._root is not None

    def sweep_ended(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Call the callbacks after a sweep; `fitted` gives the attributes of an estimator stopped
        here. True: a callback stops the fit."""
        assert self._root is not None
        task = self._root.subcontext(task_name="sweep")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=fitted, **self._data
            )
        )

    def fit_ended(self) -> None:
        """Call the callbacks after the fit."""
        if self._root is not None:
            self._root.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes={}, **self._data
            )


def _has_callbacks(estimator: Any) -> bool:
    """Return True where `set_callbacks` was called, by the user or by a meta-estimator that passes
    its own on."""
    lists = (value for value in vars(estimator).values() if isinstance(value, list) and value)
    # the others of a list are of its kind: `init` may be a long one
    return any(isinstance(items[0], FitCallback) for items in lists)


def _bar(tol: float) -> AbstractContextManager[None]:
    """Return the context that draws a bar in a notebook; without IPython there is none, and rich is
    not loaded."""
    if "IPython" not in sys.modules:
        return nullcontext()
    try:
        from .progress_bar import drawn_in_notebook
    except ImportError:  # of the extra `cli`: the lines say the same
        return nullcontext()
    return drawn_in_notebook(tol)


@contextmanager
def verbose_log(verbose: int, estimator_name: str, tol: float) -> Iterator[None]:
    """Log to "cmeans" (to stderr where neither it nor a logger above it has a handler): verbose=1
    all messages inside the block, 2 also a line for each sweep.

    In a notebook that has rich, a bar shows the progress as well.
    """
    if not verbose:
        yield
        return
    handler = None if logger.hasHandlers() else logging.StreamHandler(sys.stderr)
    if handler is not None:
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    level = logger.level
    logger.setLevel(min(level or logging.INFO, logging.INFO))

    def listen(progress: Progress) -> None:
        if progress.objective is not None and verbose > 1:
            logger.info(
                "%s %s run %d/%d sweep %d: objective %.8g, movement %.3g",
                estimator_name,
                progress.stage,
                progress.run + 1,
                progress.n_runs,
                progress.sweep,
                progress.objective,
                progress.movement or 0.0,
            )

    try:
        with listening(listen), _bar(tol):
            yield
    finally:
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)
