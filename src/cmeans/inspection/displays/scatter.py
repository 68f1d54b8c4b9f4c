"""Rows in a plane, coloured by their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

import numpy as np

from ...data.arrays import Float64, IntArray, host_float64, is_sparse
from ...fitting.validation import host_array
from ...runtime.checks import one_of
from ...runtime.numerals import percent, several
from ..direct_labels import label_apart
from ..directions import Plane, plane_of
from ..ellipses import cluster_covariances, density, ellipse
from ..figure import colour, marker, name_groups, plain, rgb
from ..rows import InspectedRows, inspected
from .base import Display, checked_labels, checked_memberships

BINNED = 50_000  # rows from which on the picture shows counts of cells in place of points
MOST_ROWS = 200_000
CELLS = 160  # of a side of the picture
ROWS_AS_VECTORS = 2_000  # of more, points are pixels also in files of vectors
FAINTEST = 0.15  # opacity of a row of membership zero
OF_NOISE = 0.6  # opacity of rows that belong to no cluster
ABOVE = (0, 9)  # points from the mark of a representative to its name
NAMED = 12  # clusters at most beside whose representatives there are names
DEVIATIONS = (1.0, 2.0)  # of ellipses from their centres
SHARES = (0.25, 0.5, 0.75, 0.95)  # of the rows within a contour of the density
GRID = 200  # points of a side over which contours are drawn

Outline = Literal["ellipses", "density"]


class ScatterDisplay(Display):
    """Rows over two of their columns, or over the plane in which centres lie apart most.

    The colour is the cluster, the opacity the largest membership, grey is noise; a cross and a
    number mark the row nearest to each centre. Beyond 50,000 rows cells are shown, mixed from the
    colours of their rows. Clusters with covariances have ellipses, one and two deviations away from
    their centres, or contours of the density of a mixture within which 25, 50, 75 and 95% of the
    rows lie.

    Parameters
    ----------
    positions : (n, 2)
    labels : (n,) -1 for noise.
    strength : (n,) numbers from 0 to 1, the opacity; None: all 1.
    axis_names : two names.
    representatives : dict of cluster: (position, text), optional
    centres, covariances : (c, 2) and (c, 2, 2) of ellipses; None: no ellipses.
    weights : (c,) of a mixture of these, whose density has contours in place of ellipses.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    points_ : artists, one a cluster (and one of noise), or the image of cells.
    ellipses_ : lines, two a cluster; contours_ : of the density. Where there are any.

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
        centres: Float64 | None = None,
        covariances: Float64 | None = None,
        weights: Float64 | None = None,
    ) -> None:
        self.positions, self.labels, self.strength = positions, labels, strength
        self.axis_names, self.representatives = tuple(axis_names), dict(representatives or {})
        self.centres, self.covariances, self.weights = centres, covariances, weights

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        columns: Sequence[Any] | None = None,
        outline: Outline | None = "ellipses",
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
        outline : "ellipses", "density" or None, default="ellipses"
            What shows the covariances of clusters that have some. "density": of a mixture.
        row_names : (n,) names of the rows, default=None
            Shown at the row that is nearest to each centre. None: its number.
        sample_weight : (n,) of which masses are sums; diag : as for `predict`.
        max_rows : int, default=200,000
            Rows that are looked at, evenly spaced.
        ax : Axes of matplotlib, default=None: of a new figure.

        Raises
        ------
        ValueError
            For a model or rows that are none, for columns that X has not got, and for the density
            of a model that is no mixture.
        """
        caller = f"{cls.__name__}.from_estimator"
        if outline is not None:
            one_of(outline, "outline", caller, get_args(Outline))
        seen = inspected(model, X, caller, sample_weight=sample_weight, diag=diag, most=max_rows)
        weights = vars(seen.model).get("weights_")
        if outline == "density" and weights is None:
            raise ValueError(
                f'{caller}(outline="density"): a GaussianMixture has a density; take "ellipses".'
            )
        plane = plane_of(seen) if columns is None else _plane(seen, columns, model, caller)
        nearest = {j: int(at) for j, at in enumerate(seen.nearest_rows(1)[:, 0]) if at >= 0}
        if row_names is not None and len(row_names) != seen.n_rows:
            raise ValueError(
                f"{caller}(row_names=...): {len(row_names)} names for {seen.n_rows} rows."
            )
        texts = {
            j: str(seen.numbers[at]) if row_names is None else str(row_names[seen.numbers[at]])
            for j, at in nearest.items()
        }
        return cls(
            plane.positions,
            seen.labels,
            strength=seen.memberships.max(axis=1),
            axis_names=plane.names,
            representatives={j: (plane.positions[at], texts[j]) for j, at in nearest.items()},
            centres=plane.centres,
            covariances=None if outline is None else plane.covariances,
            weights=weights if outline == "density" else None,
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
        if memberships is None:
            strength = None
        else:
            strength = checked_memberships(memberships, caller, len(own)).max(axis=1)
        names = [f"column {one}" for one in columns] if axis_names is None else axis_names
        return cls(x[:, list(columns)], own, strength=strength, axis_names=names).plot(ax=ax)

    def _draw(self) -> None:
        self.points_ = (
            [self._cells()]
            if len(self.labels) > BINNED
            else [self._points(int(j)) for j in np.unique(self.labels)]
        )
        if self.centres is not None and self.covariances is not None:
            self._outline(self.centres, self.covariances)
        for cluster, (position, _) in self.representatives.items():
            self.ax_.plot(
                *position, marker="P", ms=8, mfc=colour(cluster), mec="black", ls="none", zorder=4
            )
        self.ax_.set(xlabel=plain(self.axis_names[0], 80), ylabel=plain(self.axis_names[1], 80))
        named, few = self.representatives.items(), len(self.representatives) <= NAMED
        names = [f"{j}: {plain(text, 20)}" if few else str(j) for j, (_, text) in named]
        if names:
            label_apart(self.ax_, names, [position for _, (position, _) in named], ABOVE)
        self._name_clusters()

    def _name_clusters(self) -> None:
        """Name clusters by a legend, or at the middle of their rows."""
        clusters = np.unique(self.labels).tolist()
        names = ["noise" if cluster < 0 else str(cluster) for cluster in clusters]
        handles = [
            self.ax_.scatter([], [], color=colour(cluster), marker=marker(cluster), label=name)
            for cluster, name in zip(clusters, names, strict=True)
        ]
        if not name_groups(self.ax_, handles, names, "cluster") and not self.representatives:
            found = [cluster for cluster in clusters if cluster >= 0]
            middles = [np.median(self.positions[self.labels == j], axis=0) for j in found]
            label_apart(self.ax_, list(map(str, found)), middles)
        number, noise = len(clusters) - (-1 in clusters), float((self.labels < 0).mean())
        rows = several(len(self.labels), "row")
        said = f"{several(number, 'cluster')} in {rows}"
        self._say(said + (f"; {percent(noise)} are noise, grey" if noise else ""))

    def _outline(self, centres: Float64, covariances: Float64) -> None:
        """Draw ellipses, or contours of the density."""
        if self.weights is None or np.linalg.det(covariances).min() <= 0:
            self.ellipses_ = [
                self.ax_.plot(
                    *ellipse(centre, covariance, deviations).T,
                    color=colour(cluster),
                    lw=1.5 / deviations,
                    zorder=3,
                )[0]
                for cluster, (centre, covariance) in enumerate(
                    zip(centres, covariances, strict=True)
                )
                for deviations in DEVIATIONS
            ]
            return
        of_rows = density(self.positions, self.weights, centres, covariances)
        levels = np.unique(np.quantile(of_rows, [1.0 - share for share in SHARES]))
        (left, right), (low, high) = self.ax_.get_xlim(), self.ax_.get_ylim()
        x, y = np.linspace(left, right, GRID), np.linspace(low, high, GRID)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        height = density(grid, self.weights, centres, covariances).reshape(GRID, GRID)
        self.contours_ = self.ax_.contour(
            x, y, height, levels=levels, colors="0.3", linewidths=0.8, zorder=3
        )

    def _points(self, cluster: int) -> Any:
        own = self.labels == cluster
        opacity = np.full(own.sum(), 1.0 if cluster >= 0 else OF_NOISE)
        if self.strength is not None and cluster >= 0:
            opacity = FAINTEST + (1 - FAINTEST) * np.clip(self.strength[own], 0, 1)
        colours = np.column_stack([np.tile(rgb(cluster), (len(opacity), 1)), opacity])
        size = float(np.clip(6000 / len(self.labels), 3, 24))
        x, y = self.positions[own].T
        many = len(self.labels) > ROWS_AS_VECTORS
        return self.ax_.scatter(
            x,
            y,
            s=size,
            c=colours,
            marker=marker(cluster),
            label="noise" if cluster < 0 else str(cluster),
            linewidths=0.8 if cluster < 0 else 0,
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


def _plane(seen: InspectedRows, columns: Sequence[Any], model: Any, caller: str) -> Plane:
    """Return the plane of two columns; of rows that are clustered as they are shown, with what
    clusters are there."""
    positions, found = _columns(seen, columns, caller)
    names = seen.feature_names[found[0]], seen.feature_names[found[1]]
    own = seen.model
    if seen.state.metrics is None or own is not model or own.kernel_.coordinates != "rows":
        return Plane(positions, np.empty((0, 2)), names)
    covariances = cluster_covariances(seen)[:, found][:, :, found]
    return Plane(positions, host_float64(own.cluster_centers_)[:, found], names, covariances)


def _columns(seen: InspectedRows, columns: Sequence[Any], caller: str) -> tuple[Float64, list[int]]:
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
    return (host_float64(x) if is_sparse(x) else x), found
