"""The evidence over numbers of clusters, and the choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ...runtime.numerals import several
from ..figure import colour, count_axis, name_groups
from .base import Display

LINES = {  # columns of a selection's table that are drawn where they are there
    "silhouette": ("silhouette", colour(3), "--"),
    "chance": ("silhouette by chance", colour(-1), ":"),
    "corrected": ("silhouette, corrected", colour(0), "-"),
    "stability": ("stability", colour(1), "-"),
}
CRITERIA = {"bic": ("BIC", colour(0), "-"), "icl": ("ICL", colour(3), "--")}  # in place of these


class SelectionDisplay(Display):
    """The evidence of `cmeans.select` for each number of clusters, and its choice.

    Parameters
    ----------
    table : columns by name, "n_clusters" among them.
    n_clusters : int, the choice.
    reason : str

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    lines_ : dict of column: line.
    choice_ : the vertical line at the choice.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import KernelKMeans, select
    >>> from cmeans.inspection import SelectionDisplay
    >>> X, _ = make_blobs(300, centers=3, random_state=1)
    >>> found = select(KernelKMeans(kernel="linear"), X, range(2, 4), random_state=0)
    >>> sorted(SelectionDisplay.from_selection(found).lines_)[:2]
    ['chance', 'corrected']
    """

    def __init__(self, table: Mapping[str, Any], n_clusters: int, *, reason: str = "") -> None:
        self.table, self.n_clusters, self.reason = table, n_clusters, reason

    @classmethod
    def from_selection(cls, selection: Any, *, ax: Any = None) -> Self:
        """Draw a `selection`, what `cmeans.select` returned. Of several settings of other
        parameters, the chosen one is shown."""
        caller = f"{cls.__name__}.from_selection"
        table = getattr(selection, "table", None)
        if not isinstance(table, Mapping) or "n_clusters" not in table:
            raise ValueError(
                f"{caller}(selection={selection!r}): give what cmeans.select returned."
            )
        own = np.ones(len(table["n_clusters"]), dtype=bool)
        for name, value in selection.params.items():
            own &= np.asarray(table[name] == value)
        kept = {name: np.asarray(values)[own] for name, values in table.items()}
        return cls(kept, int(selection.n_clusters), reason=str(selection.reason)).plot(ax=ax)

    def _draw(self) -> None:
        numbers, self.lines_ = np.asarray(self.table["n_clusters"]), {}
        by_likelihood = "bic" in self.table
        for column, (name, own, style) in (CRITERIA if by_likelihood else LINES).items():
            if column in self.table:
                (self.lines_[column],) = self.ax_.plot(
                    numbers, self.table[column], style, color=own, label=name, marker="o", ms=3
                )
        if "stability" in self.lines_ and "stability_error" in self.table:
            middle, error = (
                np.asarray(self.table[name], dtype=float)
                for name in ("stability", "stability_error")
            )
            self.ax_.fill_between(
                numbers,
                middle - error,
                middle + error,
                color=LINES["stability"][1],
                alpha=0.2,
                lw=0,
            )
        self.choice_ = self.ax_.axvline(self.n_clusters, color="0.5", lw=1, zorder=0)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        evidence = "criterion: the lower, the better" if by_likelihood else "evidence"
        self.ax_.set(xlabel="number of clusters", ylabel=evidence)
        count_axis(self.ax_.yaxis)
        lines = list(self.lines_.values())
        name_groups(self.ax_, lines, [line.get_label() for line in lines], "")
        chosen = several(self.n_clusters, "cluster") if self.n_clusters > 1 else "no clusters"
        self._say(f"The evidence speaks for {chosen}")
