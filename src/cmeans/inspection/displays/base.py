"""The parts that displays share: plotting, checked labels and memberships, names of clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray, host_float64
from ...fitting.validation import host_array
from ...runtime.docstrings import describes_arguments
from ..figure import LINE, axes, quiet, wrapped

NAMED = 60  # bars at most for whose names a new figure has room
ROWS_OF_A_PICTURE = 2_000  # of heat maps and profiles: more than pixels show


class Display(ABC):
    """A picture on axes of matplotlib: it is made by a class method `from_...`, which draws it too,
    and can be drawn again elsewhere."""

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).items():
            if name.startswith("from_"):
                # a class method has a copy
                method.__doc__ = describes_arguments(method.__func__).__doc__

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        name = type(self).__name__
        with quiet(name):
            self.ax_ = axes(ax, name, figsize=self._size)
            self.figure_ = self.ax_.figure
            self._draw()
        return self

    @property
    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure in inches."""
        return 6.4, 4.4

    def _say(self, finding: str) -> None:
        """Say above the picture what it shows."""
        self.ax_.set_title(wrapped(finding, self.ax_))

    @abstractmethod
    def _draw(self) -> None:
        """Draw on `ax_`."""


def bars_size(count: int) -> tuple[float, float]:
    """Return the width and height of a figure of so many bars, one below the other."""
    return 6.4, max(min(0.4 * count + 1.4, 4.4), 1.3 * LINE * min(count, NAMED) + 1)


def checked_labels(labels: Any, caller: str) -> IntArray:
    """Return labels (n,), whole numbers from -1 on."""
    values = host_array(labels, "labels", caller)
    if (
        values.ndim != 1
        or not len(values)
        or not np.issubdtype(values.dtype, np.integer)
        or values.min() < -1
    ):
        raise ValueError(
            f"{caller}: labels have shape {values.shape} and type {values.dtype}; whole numbers "
            "(n,) from -1 on are needed."
        )
    return values.astype(np.intp)


def checked_memberships(memberships: Any, caller: str, n_rows: int | None = None) -> Float64:
    """Return memberships (n, c), from 0 to 1."""
    u = host_float64(host_array(memberships, "memberships", caller))
    if u.ndim != 2 or not u.size or (n_rows is not None and len(u) != n_rows):
        wanted = "(n, c)" if n_rows is None else f"({n_rows}, c)"
        raise ValueError(
            f"{caller}: memberships have shape {u.shape}; {wanted}, one row for each row of X, is "
            "needed."
        )
    if not (np.isfinite(u).all() and u.min() >= 0 and u.max() <= 1 + 1e-4):
        raise ValueError(f"{caller}: memberships must lie between 0 and 1.")
    return u


def cluster_names(names: Sequence[Any] | None, n_clusters: int, caller: str) -> list[str]:
    """Return the names of the clusters: those given, or their numbers."""
    if names is None:
        return [str(cluster) for cluster in range(n_clusters)]
    if len(names) != n_clusters:
        raise ValueError(
            f"{caller}(cluster_names=...): {len(names)} names for {n_clusters} clusters."
        )
    return [str(name) for name in names]


def by_cluster(labels: IntArray, value: Float64) -> IntArray:
    """Return the order of the rows cluster by cluster, those of the largest value first; noise
    last."""
    place = np.where(labels < 0, np.iinfo(np.int32).max, labels)
    return np.lexsort((-value, place))


def thinned(order: IntArray, most: int = ROWS_OF_A_PICTURE) -> IntArray:
    """Return at most so many of some rows, evenly spaced."""
    return order[np.linspace(0, len(order) - 1, min(len(order), most)).astype(np.intp)]
