"""Rows in a plane, coloured by their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray, host_float64, is_sparse
from ...fitting.validation import host_array
from ..directions import plane_of
from ..figure import colour, marker, plain, rgb
from ..rows import InspectedRows, inspected
from .base import Display, checked_labels, checked_memberships

BINNED = 50_000  # rows from which on the picture shows counts of cells in place of points
MOST_ROWS = 200_000
CELLS = 160  # of a side of the picture
ROWS_AS_VECTORS = 2_000  # of more, points are pixels also in files of vectors
FAINTEST = 0.15  # opacity of a row of membership zero
LEGEND = 14  # clusters at most that a legend names


class ScatterDisplay(Display):
    """Rows over two of their columns, or over the plane in which centres lie apart most.

    The colour is the cluster, the opacity the largest membership, grey is noise; a cross and a
    number mark the row nearest to each centre. Beyond 50,000 rows cells are shown, mixed from the
    colours of their rows.

    Parameters
    ----------
    positions : (n, 2)
    labels : (n,) -1 for noise.
    strength : (n,) numbers from 0 to 1, the opacity; None: all 1.
    axis_names : two names.
    representatives : dict of cluster: (position, text), optional

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    points_ : artists, one a cluster (and one of noise), or the image of cells.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.inspection import ScatterDisplay
    >>> X = load_iris().data
    >>> model = FuzzyCMeans(3, random_state=0).fit(X)
    >>> display = ScatterDisplay.from_estimator(model, X, columns=(0, 2))
    >>> display.ax_.get_xlabel()
    'column 0'
    """

    def __init__(
        self,
        positions: Float64,
        labels: IntArray,
        *,
        strength: Float64 | None = None,
        axis_names: Sequence[str] = ("", ""),
        representatives: dict[int, tuple[Float64, str]] | None = None,
    ) -> None:
        self.positions, self.labels, self.strength = positions, labels, strength
        self.axis_names, self.representatives = tuple(axis_names), dict(representatives or {})

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        columns: Sequence[Any] | None = None,
        row_names: Sequence[Any] | None = None,
        sample_weight: Any = None,
        diag: Any = None,
        max_rows: int = MOST_ROWS,
        ax: Any = None,
    ) -> Self:
        """Draw rows and what a fitted model says of them.

        Parameters
        ----------
        model : a fitted estimator of this library.
        X : rows as its `predict` takes them, files too.
        columns : two names or numbers of columns, default=None
            None: the plane in which the centres of the model lie apart most, in its own space.
        row_names : (n,) names of the rows, default=None
            Shown at the row that is nearest to each centre. None: its number.
        sample_weight : (n,) of which masses are sums; diag : as for `predict`.
        max_rows : int, default=200,000
            Rows that are looked at, evenly spaced.
        ax : Axes of matplotlib, default=None: of a new figure.

        Raises
        ------
        ValueError
            For a model or rows that are none, and for columns that X has not got.
        """
        caller = f"{cls.__name__}.from_estimator"
        seen = inspected(model, X, caller, sample_weight=sample_weight, diag=diag, most=max_rows)
        if columns is None:
            positions, _, names = plane_of(seen.model._state.centres, seen.distances, seen.masses)
        else:
            positions, names = _columns(seen, columns, caller)
        nearest = {j: int(at) for j, at in enumerate(seen.nearest_rows(1)[:, 0]) if at >= 0}
        if row_names is not None and len(row_names) != seen.n_rows:
            raise ValueError(
                f"{caller}(row_names=...): {len(row_names)} names for {seen.n_rows} rows."
            )
        texts = {
            j: str(seen.numbers[at]) if row_names is None else str(row_names[seen.numbers[at]])
            for j, at in nearest.items()
        }
        named = {j: (positions[at], texts[j]) for j, at in nearest.items()}
        strength = seen.memberships.max(axis=1)
        return cls(
            positions, seen.labels, strength=strength, axis_names=names, representatives=named
        ).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        labels: Any,
        *,
        memberships: Any = None,
        columns: Sequence[int] = (0, 1),
        axis_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw rows X (n, d) over two columns, with labels (n,) and memberships (n, c) of any
        clustering.

        `axis_names`: those two columns' names.
        """
        caller = f"{cls.__name__}.from_predictions"
        x, own = host_float64(host_array(X, "X", caller)), checked_labels(labels, caller)
        if x.ndim != 2 or len(x) != len(own):
            raise ValueError(
                f"{caller}: X has shape {x.shape}; ({len(own)}, d), one row for each label, is "
                "needed."
            )
        if len(columns) != 2 or not all(
            isinstance(one, int) and 0 <= one < x.shape[1] for one in columns
        ):
            raise ValueError(
                f"{caller}(columns={columns!r}): give two column numbers from 0 to "
                f"{x.shape[1] - 1}."
            )
        strength = (
            None
            if memberships is None
            else checked_memberships(memberships, caller, len(own)).max(axis=1)
        )
        names = [f"column {one}" for one in columns] if axis_names is None else axis_names
        return cls(x[:, list(columns)], own, strength=strength, axis_names=names).plot(ax=ax)

    def _draw(self) -> None:
        self.points_ = (
            [self._cells()]
            if len(self.labels) > BINNED
            else [self._points(int(j)) for j in np.unique(self.labels)]
        )
        for cluster, (position, text) in self.representatives.items():
            self.ax_.plot(
                *position, marker="P", ms=8, mfc=colour(cluster), mec="black", ls="none", zorder=4
            )
            self.ax_.annotate(
                f"{cluster}: {plain(text, 20)}", position, (6, 6), textcoords="offset "
"points", fontsize=8, zorder=5,
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "alpha": 0.75, "lw": 0},
            )  # fmt: skip
        self.ax_.set(xlabel=plain(self.axis_names[0], 80), ylabel=plain(self.axis_names[1], 80))
        if len(self.labels) <= BINNED and 1 < len(self.points_) <= LEGEND:
            legend = self.ax_.legend(title="cluster", fontsize=8, markerscale=2)
            for handle in legend.legend_handles:
                handle.set_alpha(1)

    def _points(self, cluster: int) -> Any:
        own = self.labels == cluster
        opacity = (
            np.ones(own.sum())
            if self.strength is None
            else FAINTEST + (1 - FAINTEST) * np.clip(self.strength[own], 0, 1)
        )
        colours = np.column_stack([np.tile(rgb(cluster), (len(opacity), 1)), opacity])
        size = float(np.clip(6000 / len(self.labels), 3, 24))
        x, y = self.positions[own].T
        name = "noise" if cluster < 0 else str(cluster)
        many = len(self.labels) > ROWS_AS_VECTORS
        return self.ax_.scatter(
            x,
            y,
            s=size,
            c=colours,
            marker=marker(cluster),
            label=name,
            linewidths=0,
            rasterized=many,
        )

    def _cells(self) -> Any:
        """Draw a grid of cells over the plane: each in the mean colour of the rows that fall into
        it, the more opaque the more rows they are."""
        low, high = self.positions.min(axis=0), self.positions.max(axis=0)
        extent = np.where(high > low, high - low, 1.0)
        places = np.minimum(((self.positions - low) / extent * CELLS).astype(np.intp), CELLS - 1)
        flat = places[:, 1] * CELLS + places[:, 0]
        counts = np.bincount(flat, minlength=CELLS**2).astype(np.float64)
        palette = np.array([rgb(cluster) for cluster in range(-1, int(self.labels.max()) + 1)])
        colours = palette[self.labels + 1]
        picture = np.zeros((CELLS**2, 4))
        for channel in range(3):
            picture[:, channel] = np.bincount(
                flat, weights=colours[:, channel], minlength=CELLS**2
            ) / np.maximum(counts, 1)
        picture[:, 3] = np.where(
            counts > 0, 0.25 + 0.75 * np.log1p(counts) / np.log1p(counts.max()), 0
        )
        shown = picture.reshape(CELLS, CELLS, 4)
        box = (low[0], low[0] + extent[0], low[1], low[1] + extent[1])
        return self.ax_.imshow(
            shown, origin="lower", extent=box, aspect="auto", interpolation="nearest"
        )


def _columns(
    seen: InspectedRows, columns: Sequence[Any], caller: str
) -> tuple[Float64, tuple[str, str]]:
    if seen.x is None:
        raise ValueError(
            f"{caller}(columns={columns!r}): rows of a precomputed kernel have no columns to draw; "
            "leave columns out."
        )
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(f"{caller}(columns={columns!r}): give two names or numbers of columns.")
    found = []
    for column in columns:
        if isinstance(column, str) and column in seen.feature_names:
            found.append(seen.feature_names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(seen.feature_names):
            found.append(int(column))
        else:
            known = ", ".join(seen.feature_names[:10])
            raise ValueError(
                f"{caller}(columns={columns!r}): X has no column {column!r}; it has "
                f"{len(seen.feature_names)}: {known}."
            )
    x = seen.x[:, found]
    return host_float64(x) if is_sparse(x) else x, (
        seen.feature_names[found[0]],
        seen.feature_names[found[1]],
    )
