"""The parameter `search`: how sweeps leave poor optima, and how they are made fewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..runtime.checks import one_of
from ..runtime.parameter_object import ParameterObject
from .arguments import Auto

SearchName = Literal["auto", "breathing", "annealing", "hierarchical"]
Acceleration = Literal["anderson"]
NAMES: tuple[SearchName, ...] = ("auto", "breathing", "annealing", "hierarchical")


@dataclass(frozen=True, repr=False)
class Search(ParameterObject):
    """The way of a fit from its starts to its result: the search for a better optimum, and what
    makes sweeps fewer.

    `search="breathing"` is short for `search=Search("breathing")`, `search=None` for
    `search=Search(None)`.

    Parameters
    ----------
    method : "auto", "breathing", "annealing", "hierarchical" or None, default="auto"
        How to leave poor optima: clusters come where errors are large and as many go where they are
        of least use, as long as that lowers the objective (breathing k-means, Fritzke 2020). It
        begins where the best start has converged. Up to 1,000 rows then change clusters one by one,
        and clusters begin anew at rows, for a few milliseconds. "auto": under the hard rule; where
        the partition that it finds is better, the estimator's own sweeps go on from there. It
        visits no more rows than nine further starts would (from 256 clusters on: two), and leaves a
        start that `init` gives as it is. "breathing": from any start, under the estimator's own
        rule where that is hard or fuzzy, and for as long as it gains. With `progressive`, on a
        sample first, which is enough where it has 1,000 rows a cluster. "annealing", for
        `CMeans(rule="entropy")`: the temperature falls from where all centres coincide, so that
        clusters divide one after the other, whatever the start; it suits clusters of like sizes, as
        large ones divide before small ones part. "hierarchical", for thousands of clusters, as of
        a vector index: a sample of 64 rows a cluster (32 above 2,048 clusters) is divided into some
        sqrt(c) cells, and each of these into its share of the clusters; one or two sweeps over all
        rows follow under a hard rule, and under a soft one as many as it takes. It begins at no
        other `init`. None: sweeps from the starts alone.
    acceleration : "anderson" or None, default="anderson"
        Whether centres of the last few sweeps are mixed for the next (Anderson 1965), mostly for a
        half to a fifth of the sweeps. It begins where centres move little and the objective is
        convex, so that a start leads where plain sweeps lead, cluster for cluster; of possibilistic
        clusters, where several fixed points are near, it may lead to another one. A mixture that
        raises the objective is taken back; the sweep it took counts, and repeats the objective
        before it. Hard rules and sizes within bounds go without.
    progressive : bool, default=True
        Whether to sweep over growing samples first, above 25,000 rows. These are fair samples of
        1/256, 1/64, 1/16 and 1/4 of the rows, each swept from where the one before it ended, and
        all rows in the end, until the centres stand still there too. With n_init > 1 starts are
        compared on the samples, and the best is continued. A start given by `init` uses all rows at
        once.
    join_equal_rows : "auto", True or False, default="auto"
        Whether equal rows are joined to one with the sum of their weights before anything else,
        which changes no objective and leaves fewer rows to sweep over. An image of a million pixels
        has some 60,000 colours. Labels and memberships are those of all rows. "auto": above 2,000
        rows, where a sample of 1,000 shows many equal ones, and half of all at most prove to be
        distinct; not for arrays of other libraries, nor on Dask's workers. True: always, bringing
        the distinct rows of a Dask collection here. Parameters that name single rows, and kernel
        values, go without.

    Raises
    ------
    ValueError
        For an unknown method or acceleration, and where one of the others is no such value.

    References
    ----------
    Fritzke: The breathing k-means algorithm. arXiv:2006.15666, 2020.
    Anderson: Iterative procedures for nonlinear integral equations. Journal of the ACM 12(4), 1965.

    Examples
    --------
    >>> from cmeans import FuzzyCMeans, Search
    >>> FuzzyCMeans(3, search=Search(acceleration=None))
    FuzzyCMeans(n_clusters=3, search=Search(acceleration=None))
    """

    method: SearchName | None = "auto"
    acceleration: Acceleration | None = "anderson"
    progressive: bool = True
    join_equal_rows: bool | Auto = "auto"

    def __post_init__(self) -> None:
        if self.method is not None:
            one_of(self.method, "method", "Search", NAMES)
        if self.acceleration is not None:
            one_of(self.acceleration, "acceleration", "Search", ("anderson",))
        if not isinstance(self.progressive, bool | np.bool_):
            raise ValueError(f"Search(progressive={self.progressive!r}): give True or False.")
        joined = self.join_equal_rows
        if not isinstance(joined, bool | np.bool_) and not (
            isinstance(joined, str) and joined == "auto"
        ):
            raise ValueError(f'Search(join_equal_rows={joined!r}): give "auto", True or False.')


_BY_NAME: dict[str | None, Search] = {name: Search(name) for name in (*NAMES, None)}
# of estimators without the parameter
NO_SEARCH = Search(None, acceleration=None, progressive=False, join_equal_rows=False)


def search_from(value: Any, estimator_name: str) -> Search:
    """Return the search that a value of the parameter stands for."""
    if isinstance(value, Search):
        return value
    return _BY_NAME[None if value is None else one_of(value, "search", estimator_name, NAMES)]


def search_within(search: Search, taken: tuple[str, ...] | None, estimator_name: str) -> Search:
    """Return the search of an estimator that takes only some of its fields; others are refused, and
    off."""
    if taken is None:
        return search
    others = [
        name
        for name in search.non_defaults()
        if name not in taken and getattr(search, name) != getattr(NO_SEARCH, name)
    ]
    if others:
        raise ValueError(
            f"{estimator_name}(search={search!r}): there is no {' and no '.join(others)} here; "
            "leave it out."
        )
    return NO_SEARCH.set_params(**{name: getattr(search, name) for name in taken})
