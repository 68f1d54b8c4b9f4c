"""Pages of clusters to explore: what one is in Python, and what a reader has set on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from urllib.parse import parse_qs

from ..data.arrays import IntArray
from .page.document import check_page, write_page

CALLER = "explore"
HEIGHT = 900  # of a page in a notebook, in pixels


@dataclass(frozen=True)
class PageState:
    """The view that a reader has made of a page.

    Attributes
    ----------
    view : key of the partition that is shown; None: the one that the page begins with.
    names : {cluster: name} that were given to the clusters of that partition.
    all_names : {key: {cluster: name}} of all partitions.
    threshold : the membership below which rows were shown as of no cluster, from 0 to 1.
    hidden : clusters that were switched off.
    """

    view: str | None
    names: Mapping[int, str]
    all_names: Mapping[str, Mapping[int, str]]
    threshold: float
    hidden: tuple[int, ...]


def read_state(text: str) -> PageState:
    """Read the text of a page's view, which stands below the picture and in the page's address.

    Parameters
    ----------
    text : str, such as "view=3&name.3.0=Big+spenders", or the whole address.

    Returns
    -------
    PageState

    Examples
    --------
    >>> from cmeans.inspection import read_state
    >>> read_state("view=3&name.3.0=Big+spenders&least=40").names
    {0: 'Big spenders'}
    """
    words = parse_qs(text.strip().rpartition("#")[2], keep_blank_values=True)
    found: dict[str, dict[int, str]] = {}
    for word, values in words.items():
        head, _, cluster = word.rpartition(".")
        if head.startswith("name.") and cluster.isdecimal():
            found.setdefault(head.removeprefix("name."), {})[int(cluster)] = values[-1]
    view = words.get("view", [None])[-1]
    hidden = (
        part for part in words.get("hidden", [""])[-1].split() if part.lstrip("-").isdecimal()
    )
    least = words.get("least", ["0"])[-1]
    threshold = int(least) / 100 if least.isdecimal() else 0.0
    return PageState(view, found.get(view or "", {}), found, threshold, tuple(map(int, hidden)))


class Exploration:
    """A page that was made: notebooks show it, `save` writes it.

    Parameters
    ----------
    text : the page.
    own : the key of the partition that it begins with.

    Attributes
    ----------
    path : of the file, if it was written.
    partitions : {key: labels (s,)} of the partitions on the page, by the key that its view names.
    numbers : (s,) of the rows on the page.
    """

    def __init__(
        self, text: str, partitions: Mapping[str, IntArray], numbers: IntArray, own: str
    ) -> None:
        self._text, self._own = text, own
        self.partitions = dict(partitions)
        self.numbers = numbers
        self.path: Path | None = None

    def __repr__(self) -> str:
        where = "not saved; .save(path) writes it" if self.path is None else str(self.path)
        return (
            f"Exploration({len(self.numbers):,} rows, {len(self.partitions)} partitions, {where})"
        )

    def _repr_html_(self) -> str:
        page = escape(self._text, quote=True)
        return (
            f'<iframe srcdoc="{page}" title="Clusters to explore" width="100%" height="{HEIGHT}" '
            'sandbox="allow-scripts allow-downloads" style="border:0"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, .html, and return its path."""
        check_page(path, "path", f"{CALLER}.save")
        self.path = write_page(self._text, path)
        return self.path

    def state(self, text: str) -> PageState:
        """Read the text of the view of this page: `read_state`, for views that it has."""
        found = read_state(text)
        view = found.view or self._own
        if view not in self.partitions:
            raise ValueError(
                f"{CALLER}.state(text={text!r}): this page has no view {view!r}; its views are "
                f"{', '.join(map(repr, self.partitions))}."
            )
        return replace(found, view=view, names=found.all_names.get(view, {}))

    def labels(self, text: str = "") -> IntArray:
        """Return the labels (s,) of the rows `numbers` in the view that a text tells of."""
        view = self.state(text).view
        assert view is not None, "a page has a first view"
        return self.partitions[view]
