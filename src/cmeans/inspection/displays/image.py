"""Clusters of the pixels of an image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray
from ...fitting.validation import host_array
from ...runtime.docstrings import describes_arguments
from ...runtime.numerals import percent, several
from ..figure import SEQUENTIAL, pyplot, quiet, rgb
from ..rows import inspected
from .base import checked_labels, checked_memberships

MAPS = 8  # memberships at most that are drawn beside the labels


class ImageDisplay:
    """The clusters of an image's pixels: a picture of labels, and one of the memberships in each
    cluster.

    Parameters
    ----------
    labels : (h, w) -1 for noise.
    memberships : (h, w, c), optional; soft ones are drawn, one picture a cluster, of the eight
        largest clusters.
    colours : (c, 3) from 0 to 1, optional: of the clusters; None: those of all displays.

    Attributes
    ----------
    figure_, axes_ : of matplotlib, once plotted.
    images_ : that of the labels, then those of memberships.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans import KernelKMeans
    >>> from cmeans.inspection import ImageDisplay
    >>> image = np.zeros((4, 6, 3))
    >>> image[:, 3:] = 1.0
    >>> model = KernelKMeans(2, kernel="linear", random_state=0).fit(image.reshape(-1, 3))
    >>> ImageDisplay.from_estimator(model, image).labels.shape
    (4, 6)
    """

    def __init__(
        self,
        labels: IntArray,
        memberships: Float64 | None = None,
        *,
        colours: Float64 | None = None,
    ) -> None:
        self.labels, self.memberships, self.colours = labels, memberships, colours

    @classmethod
    @describes_arguments
    def from_estimator(
        cls,
        model: Any,
        image: Any,
        *,
        features: Callable[[Any], Any] | None = None,
        own_colours: bool = False,
        figure: Any = None,
    ) -> Self:
        """Draw what a fitted model says of each pixel.

        Parameters
        ----------
        model : a fitted estimator of this library.
        image : (h, w, channels) or (h, w) numbers.
        features : function of the image that returns rows (h w, d) as the model was fitted to;
            None: the channels.
        own_colours : bool, default=False
            True: each cluster in the mean colour of its pixels, for images of three channels.
        figure : Figure of matplotlib, default=None: a new one.

        Raises
        ------
        ValueError
            For an image of another shape, and for rows that are not one for each pixel.
        """
        caller = f"{cls.__name__}.from_estimator"
        pixels = host_array(image, "image", caller)
        if pixels.ndim not in (2, 3) or not pixels.size:
            raise ValueError(
                f"{caller}: the image has shape {pixels.shape}; (h, w, channels) or (h, w) is "
                "needed."
            )
        height, width = pixels.shape[:2]
        flat = pixels.reshape(height * width, -1)
        rows = flat if features is None else features(image)
        if len(rows) != height * width:
            raise ValueError(
                f"{caller}(features=...): it returned {len(rows)} rows for {height} x {width} "
                "pixels; one a pixel is needed."
            )
        seen = inspected(model, rows, caller, most=len(rows))
        labels = seen.labels
        colours = _mean_colours(flat, labels, seen.n_clusters, caller) if own_colours else None
        u = seen.memberships.reshape(height, width, -1) if seen.is_soft else None
        return cls(labels.reshape(height, width), u, colours=colours).plot(figure=figure)

    @classmethod
    @describes_arguments
    def from_predictions(
        cls, labels: Any, shape: tuple[int, int], *, memberships: Any = None, figure: Any = None
    ) -> Self:
        """Draw labels (h w,) and memberships (h w, c) of the pixels of an image of `shape` (h,
        w)."""
        caller = f"{cls.__name__}.from_predictions"
        own = checked_labels(labels, caller)
        height, width = shape
        if height * width != len(own):
            raise ValueError(
                f"{caller}(shape={shape!r}): {len(own)} labels are no image of that shape."
            )
        if memberships is None:
            u = None
        else:
            u = checked_memberships(memberships, caller, len(own)).reshape(height, width, -1)
        return cls(own.reshape(height, width), u).plot(figure=figure)

    def plot(self, *, figure: Any = None) -> Self:
        """Draw on a figure, or on a new one."""
        maps = []
        if self.memberships is not None:
            mass = self.memberships.sum(axis=(0, 1))
            maps = sorted(np.argsort(-mass, kind="stable")[:MAPS].tolist())
        across = min(3, 1 + len(maps))
        down = -(-(1 + len(maps)) // across)
        height, width = self.labels.shape
        size = (3.2 * across, 3.2 * down * min(2.0, height / width) + 0.4)
        with quiet(type(self).__name__):
            self._draw(figure, maps, (down, across), size)
        return self

    def _draw(
        self, figure: Any, maps: list[int], grid: tuple[int, int], size: tuple[float, float]
    ) -> None:
        plt = pyplot(type(self).__name__)
        self.figure_ = plt.figure(figsize=size, layout="constrained") if figure is None else figure
        self.axes_ = self.figure_.subplots(*grid, squeeze=False).ravel()
        palette = np.array([rgb(cluster) for cluster in range(-1, int(self.labels.max()) + 1)])
        if self.colours is not None:
            palette = np.vstack([palette[:1], self.colours])
        self.images_ = [self.axes_[0].imshow(palette[self.labels + 1], interpolation="nearest")]
        found, counts = np.unique(self.labels[self.labels >= 0], return_counts=True)
        least = percent(float(counts.min(initial=self.labels.size)) / self.labels.size)
        self.axes_[0].set_title(f"{several(len(found), 'cluster')}, the smallest {least}")
        for axis, cluster in zip(self.axes_[1:], maps, strict=False):
            assert self.memberships is not None
            self.images_.append(
                axis.imshow(
                    self.memberships[..., cluster],
                    vmin=0,
                    vmax=1,
                    cmap=SEQUENTIAL,
                    interpolation="nearest",
                )
            )
            axis.set_title(f"membership in {cluster}")
        for axis in self.axes_:
            axis.set_axis_off()


def _mean_colours(pixels: Any, labels: IntArray, n_clusters: int, caller: str) -> Float64:
    """Return the mean colour (c, 3) of each cluster's pixels."""
    if pixels.shape[1] != 3:
        raise ValueError(
            f"{caller}(own_colours=True): the image has {pixels.shape[1]} channels; three are "
            "needed for colours."
        )
    values = pixels.astype(np.float64) / (255.0 if np.issubdtype(pixels.dtype, np.integer) else 1.0)
    inside = labels >= 0
    counts = np.bincount(labels[inside], minlength=n_clusters)
    sums = np.column_stack(
        [
            np.bincount(labels[inside], weights=values[inside, k], minlength=n_clusters)
            for k in range(3)
        ]
    )
    return np.clip(sums / np.maximum(counts, 1)[:, None], 0, 1)
