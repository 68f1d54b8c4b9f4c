"""Distances between rows, ordered so that clusters show as dark squares, where there are any."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray, host_float64, in_float64
from ...data.blocks import Blocks
from ...fitting.validation import host_array
from ...runtime.checks import integer
from ...runtime.numerals import several
from ...sampling.pairwise import Affinity, KernelAffinity, affinity
from ..figure import SEQUENTIAL
from ..rows import inspected
from ..steps import last_step
from .base import Display

MOST_ROWS = 500


class TendencyDisplay(Display):
    """Visual assessment of cluster tendency (VAT): distances between rows, in the order in which a
    minimum spanning tree takes them up.

    Dark squares along the diagonal are clusters; where there are none, rows show none. Distances
    are those of the model's own space, between some rows.

    Parameters
    ----------
    distances : (s, s), symmetric.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    image_ : the picture; order_ : (s,) the rows in its order.

    References
    ----------
    Bezdek, Hathaway: VAT: a tool for visual assessment of (cluster) tendency. IJCNN 2002.

    Examples
    --------
    >>> from cmeans.inspection import TendencyDisplay
    >>> points = [[0.0], [9.0], [0.5], [9.5]]
    >>> distances = [[abs(a[0] - b[0]) for b in points] for a in points]
    >>> TendencyDisplay.from_predictions(distances).order_.tolist()
    [0, 2, 1, 3]
    """

    def __init__(self, distances: Float64) -> None:
        self.distances = distances

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, max_rows: int = MOST_ROWS, ax: Any = None
    ) -> Self:
        """Draw distances between rows X, in the space of a fitted model; of more than `max_rows` as
        many, evenly spaced.

        `model.landmarks_` as X shows the landmarks. Raises ValueError for precomputed kernels,
        which know no distances between new rows: give theirs to `from_predictions`.
        """
        caller = f"{cls.__name__}.from_estimator"
        most = integer(max_rows, "max_rows", caller, 2)
        model, X = last_step(model, X)  # distances are those of the rows that it sees
        seen = inspected(model, X, caller, most=most)
        if seen.represented is None:
            raise ValueError(
                f"{caller}: {type(model).__name__} tells no distances between rows of X; draw a "
                f"PieceTreeDisplay, or give distances to {cls.__name__}.from_predictions."
            )
        kernel = model.kernel_
        if kernel.takes_kernel_values or seen.x is None:
            raise ValueError(
                f"{caller}: a precomputed kernel gives no distances between rows of X; pass them, "
                f"sqrt(K_ii + K_jj - 2 K_ij), to {cls.__name__}.from_predictions."
            )
        x = in_float64(seen.x)
        known: Affinity = KernelAffinity(kernel, x)
        if not model._space.pairs_by_kernel:
            numbers = np.arange(x.shape[0])
            known = affinity(kernel, Blocks(x, np.ones(len(numbers))), numbers, model._space)
        return cls(np.sqrt(known.squared_distances(np.arange(len(seen.numbers))))).plot(ax=ax)

    @classmethod
    def from_predictions(cls, distances: Any, *, ax: Any = None) -> Self:
        """Draw given distances (s, s), symmetric and zero on the diagonal."""
        caller = f"{cls.__name__}.from_predictions"
        d = host_float64(host_array(distances, "distances", caller))
        if (
            d.ndim != 2
            or d.shape[0] != d.shape[1]
            or not d.size
            or not np.isfinite(d).all()
            or (d < 0).any()
            or not np.allclose(d, d.T)
        ):
            raise ValueError(
                f"{caller}: distances have shape {d.shape}; a symmetric matrix (s, s) of finite "
                "numbers from 0 on is needed."
            )
        return cls(d).plot(ax=ax)

    def _draw(self) -> None:
        self.order_ = tree_order(self.distances)
        self.image_ = self.ax_.imshow(
            self.distances[np.ix_(self.order_, self.order_)],
            cmap=SEQUENTIAL,
            interpolation="nearest",
        )
        self.figure_.colorbar(self.image_, ax=self.ax_, label="distance")
        self.ax_.set(xlabel="rows, ordered by a minimum spanning tree", xticks=[], yticks=[])
        self._say(
            f"{several(len(self.distances), 'row')}: dark squares on the diagonal are clusters"
        )

    @property
    def _size(self) -> tuple[float, float]:
        return 5.6, 4.8


def tree_order(distances: Float64) -> IntArray:
    """Return the order in which Prim's algorithm takes rows up, from one of the two farthest rows
    on."""
    n = len(distances)
    first = int(np.argmax(distances)) // n
    order, left, nearest = [first], np.ones(n, dtype=bool), distances[first].copy()
    left[first] = False
    for _ in range(n - 1):
        following = int(np.argmin(np.where(left, nearest, np.inf)))
        order.append(following)
        left[following] = False
        nearest = np.minimum(nearest, distances[following])
    return np.array(order, dtype=np.intp)
