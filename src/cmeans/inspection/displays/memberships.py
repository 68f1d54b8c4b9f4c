"""Memberships of rows: sorted profiles, or a heat map."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np

from ...data.arrays import Float64
from ...runtime.checks import one_of
from ...runtime.numerals import percent
from ..figure import LEGEND, SEQUENTIAL, colour, name_groups
from ..rows import inspected
from .base import Display, by_cluster, checked_memberships, thinned
from .lanes import draw_lanes

Kind = Literal["profiles", "heatmap"]
HALF = 0.5  # membership from which on a row is said to belong to a cluster
SEEN = 0.02  # membership up to which profiles are followed where they stand in lanes


class MembershipDisplay(Display):
    """Memberships of rows in each cluster.

    As profiles: of each cluster, its memberships in falling order; a steep fall is a clear cluster,
    a slope one that overlaps others. As a heat map: rows cluster by cluster, the clearest first,
    and their memberships in all clusters.

    Parameters
    ----------
    memberships : (n, c)
    kind : "profiles" or "heatmap", default="profiles"

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    lines_ : the c lines of profiles; image_ : of a heat map.

    Examples
    --------
    >>> from cmeans.inspection import MembershipDisplay
    >>> display = MembershipDisplay.from_predictions([[0.9, 0.1], [0.4, 0.6]])
    >>> len(display.lines_)
    2
    """

    def __init__(self, memberships: Float64, *, kind: str = "profiles") -> None:
        self.memberships, self.kind = memberships, kind

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        kind: Kind = "profiles",
        diag: Any = None,
        max_rows: int = 50_000,
        ax: Any = None,
    ) -> Self:
        """Draw the memberships of rows X in the clusters of a fitted model; of many rows
        `max_rows`, evenly spaced."""
        caller = f"{cls.__name__}.from_estimator"
        one_of(kind, "kind", caller, get_args(Kind))
        return cls(
            inspected(model, X, caller, diag=diag, most=max_rows).memberships, kind=kind
        ).plot(ax=ax)

    @classmethod
    def from_predictions(cls, memberships: Any, *, kind: Kind = "profiles", ax: Any = None) -> Self:
        """Draw memberships (n, c) of any clustering."""
        caller = f"{cls.__name__}.from_predictions"
        return cls(
            checked_memberships(memberships, caller),
            kind=one_of(kind, "kind", caller, get_args(Kind)),
        ).plot(ax=ax)

    def _draw(self) -> None:
        if self.kind == "heatmap":
            self._draw_map()
        else:
            self._draw_profiles()
        clear = float((self.memberships.max(axis=1) >= HALF).mean())
        self._say(f"{percent(clear)} of the rows belong to a cluster by half or more")

    def _draw_map(self) -> None:
        c = self.memberships.shape[1]
        order = thinned(
            by_cluster(np.argmax(self.memberships, axis=1), self.memberships.max(axis=1))
        )
        self.image_ = self.ax_.imshow(
            self.memberships[order],
            aspect="auto",
            vmin=0,
            vmax=1,
            cmap=SEQUENTIAL,
            interpolation="nearest",
        )
        self.ax_.set(
            xlabel="cluster",
            ylabel="rows, cluster by cluster",
            xticks=range(c) if c <= 30 else [],
            yticks=[],
        )
        self.figure_.colorbar(self.image_, ax=self.ax_, label="membership")

    def _draw_profiles(self) -> None:
        n, c = self.memberships.shape
        falling = -np.sort(-self.memberships, axis=0)
        shown = thinned(np.arange(n))
        share = (shown + 1) / n
        if c > LEGEND:
            some = int((falling[shown].max(axis=1) >= SEEN).sum())
            self.lines_ = draw_lanes(
                self.ax_, share[:some], falling[shown[:some]].T, list(map(str, range(c)))
            )
            self.ax_.set(xlabel="rows, in the order of their membership", ylabel="cluster")
            self.ax_.set_xlim(0, share[some - 1])
            self.ax_.xaxis.set_major_formatter(lambda value, _: percent(value))
            return
        self.lines_ = [
            self.ax_.plot(share, falling[shown, j], color=colour(j))[0] for j in range(c)
        ]
        self.ax_.axhline(HALF, color="0.7", lw=0.8, ls=":")
        self.ax_.set(
            xlabel="rows, in the order of their membership", ylabel="membership in the cluster"
        )
        self.ax_.set(xlim=(0, 1), ylim=(0, 1.02))
        self.ax_.xaxis.set_major_formatter(lambda value, _: percent(value))
        name_groups(self.ax_, self.lines_, list(map(str, range(c))), "cluster")
