"""A display of your own: how surely each row belongs to its cluster, as steps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from cmeans.inspection.figure import axes, colour


class CertaintyDisplay:
    """The share of each cluster's rows whose largest membership is at least so much.

    A curve that stays near one to the right edge is a cluster of rows that belong nowhere else.

    Parameters
    ----------
    memberships : (n, c) memberships, rows that sum to one or less.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    lines_ : the curves, cluster by cluster.
    """

    def __init__(self, memberships: Any) -> None:
        self.memberships = np.asarray(memberships)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None) -> Self:
        """Draw what a fitted model says of rows X, on `ax` or on a new figure."""
        return cls(model.memberships(X)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = axes(ax, type(self).__name__)
        self.figure_ = self.ax_.figure
        largest, labels = self.memberships.max(axis=1), self.memberships.argmax(axis=1)
        self.lines_ = []
        for cluster in range(self.memberships.shape[1]):
            own = np.sort(largest[labels == cluster])
            share = 1 - np.arange(len(own)) / max(len(own), 1)
            name = f"cluster {cluster}"
            self.lines_ += self.ax_.step(own, share, color=colour(cluster), label=name, where="pre")
        self.ax_.set(xlabel="largest membership", ylabel="share of the cluster's rows")
        self.ax_.legend()
        return self
