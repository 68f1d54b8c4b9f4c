"""The parameter `sizes`: bounds of the clusters' sizes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..data.column_facts import facts_of
from ..runtime.checks import one_of
from ..runtime.parameter_object import ParameterObject
from ..solvers.sizes import SizeLimits
from .validation import host_array

WANTED = {"least": "at least 0", "most": "above 0"}


@dataclass(frozen=True, repr=False)
class Sizes(ParameterObject):
    """Bounds of the clusters' sizes.

    Parameters
    ----------
    least, most : number, one for each cluster, or None, default=None
        Least and greatest size of each cluster: below 1 a share of all rows, else a number of them
        (with weights, the sum of these). With equal weights they are kept exactly, shares to the
        next whole row outwards; with unequal weights as far as whole rows allow, and a warning says
        what is missed. Of soft rules sizes are sums of memberships, times weights.
    of : "rows" or "mean", default="rows"
        In what the bounds are told: numbers or shares of the rows, or multiples of the mean size.
        `Sizes(most=1.2, of="mean")` allows a fifth more than that, to the next whole row. One
        multiple for all holds for as many clusters as rows differ, where these are fewer, and a
        warning says how many; bounds in rows, or of each cluster, divide equal rows instead.

    Raises
    ------
    ValueError
        For values that are no sizes, and for bounds that exclude each other.

    Notes
    -----
    A row belongs where its squared distance less the cluster's price (`prices_`) is least; prices
    are above zero where clusters must be filled up, and below where they are full. `size_gap_` is
    the share by which the objective may lie above the least for the centres of the fit. With more
    than 32 clusters hard rows of equal weight are placed at least cost among the 16 clusters that
    are nearest to each, which takes two to four times as long as a fit without bounds; the last
    assignment is the cheapest of all again where rows times clusters are at most 2^25.

    Every drawn start is followed within the bounds, and so is the best plain partition that a
    search finds; sweeps within them go without acceleration. `predict` goes by the prices alone,
    whatever sizes come of it: equal rows, which the bounds may part in `labels_`, have one label
    there.

    References
    ----------
    Bradley, Bennett, Demiriz: Constrained k-means clustering. Microsoft Research MSR-TR-2000-65,
    2000.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans import KernelKMeans, Sizes
    >>> X = [[0.0], [1.0], [2.0], [9.0]]
    >>> model = KernelKMeans(2, kernel="linear", sizes=Sizes(least=2)).fit(X)
    >>> np.bincount(model.labels_).tolist()
    [2, 2]
    """

    least: float | Sequence[float] | None = None
    most: float | Sequence[float] | None = None
    of: Literal["rows", "mean"] = "rows"

    def __post_init__(self) -> None:
        one_of(self.of, "of", "Sizes", ("rows", "mean"))
        low, high = self._low, self._high
        if self.of == "mean":
            self._check_multiples(low, high)
            return
        if len(low) == len(high) or 1 in (len(low), len(high)):
            comparable = (np.maximum(low, high) < 1) | (np.minimum(low, high) >= 1)
            if (comparable & (low > high)).any():
                raise ValueError(f"{self!r}: least must not be above most.")
        if (low < 1).all() and len(low) > 1 and math.fsum(low) > 1 + 1e-9:
            raise ValueError(
                f"{self!r}: the shares of least add up to {math.fsum(low):.6g}; they must not "
                "exceed 1."
            )
        if (high < 1).all() and len(high) > 1 and math.fsum(high) < 1 - 1e-9:
            raise ValueError(
                f"{self!r}: the shares of most add up to {math.fsum(high):.6g}; all rows must find "
                "room."
            )

    def _check_multiples(self, low: Float64, high: Float64) -> None:
        """Refuse multiples of the mean size that exclude each other."""
        if (len(low) == len(high) or 1 in (len(low), len(high))) and (low > high).any():
            raise ValueError(f"{self!r}: least must not be above most.")
        if low.mean() > 1 + 1e-9 or high.mean() < 1 - 1e-9:
            raise ValueError(
                f"{self!r}: the mean size is 1; least must be at most that, and most at least "
                "that, on average over the clusters."
            )

    @property
    def _low(self) -> Float64:
        return np.zeros(1) if self.least is None else _sizes(self.least, "least")

    @property
    def _high(self) -> Float64:
        return np.full(1, np.inf) if self.most is None else _sizes(self.most, "most")


UNBOUNDED = Sizes()


@dataclass(frozen=True)
class GivenSizes:
    """Bounds as they are given: values below 1 are shares of the rows' weight, others weights."""

    low: Float64  # (c,) or (1,)
    high: Float64  # (c,) or (1,), infinite where there is no bound
    given: str  # for messages
    estimator_name: str
    in_means: bool = False  # multiples of the mean size instead

    def limits(self, blocks: Blocks, n_clusters: int, *, soft: bool) -> SizeLimits:
        """Return the bounds for all clusters, if these rows can keep them."""
        total = float(blocks.weight.sum()) * blocks.unit
        low, high = (np.broadcast_to(values, (n_clusters,)) for values in (self.low, self.high))
        if self.in_means:
            low, high = low / n_clusters, np.minimum(high / n_clusters, 1.0)
        are_shares = [self.in_means | (values < 1) for values in (low, high)]
        shares = (
            np.where(are_shares[0], low, low / total),
            np.where(are_shares[1], high, np.minimum(high / total, 1.0)),
        )
        limits = SizeLimits(
            f"{self.estimator_name}({self.given})",
            *shares,
            low_is_share=are_shares[0],
            high_is_share=are_shares[1],
            in_means=self.in_means and len(self.low) == len(self.high) == 1,
        )
        complaint = limits.complaint(
            limits.over(facts_of(blocks.weight), soft=soft),
            blocks.unit,
            "rows" if blocks.alike else "of weight",
        )
        if complaint is not None:
            raise ValueError(
                f"{self.estimator_name}({self.given}): {complaint}. Values below 1 are shares of "
                "all rows, others their number (of weighted rows, the sum of their weights)."
            )
        return limits


def sizes_from(value: Any, estimator_name: str) -> Sizes:
    """Return the bounds that a value of the parameter stands for."""
    if value is None:
        return UNBOUNDED
    if isinstance(value, Sizes):
        return value
    raise ValueError(
        f"{estimator_name}(sizes={value!r}): give Sizes(least=..., most=...), or None."
    )


def given_sizes(value: Any, n_clusters: Any, estimator_name: str) -> GivenSizes | None:
    """Return the bounds that the parameter `sizes` asks for, checked as far as is possible without
    rows; None for none."""
    sizes = sizes_from(value, estimator_name)
    if sizes.least is None and sizes.most is None:
        return None
    in_means = sizes.of == "mean"
    bounds = GivenSizes(sizes._low, sizes._high, f"sizes={sizes!r}", estimator_name, in_means)
    if isinstance(n_clusters, numbers.Integral):  # others are refused first
        for values, name in ((bounds.low, "least"), (bounds.high, "most")):
            if len(values) not in (1, n_clusters):
                raise ValueError(
                    f"{estimator_name}({bounds.given}): {name} holds {len(values)} numbers for "
                    f"n_clusters={n_clusters}; give one for each cluster, or one for all."
                )
    return bounds


def _sizes(value: Any, name: str) -> Float64:
    """Return one number, or one for each cluster, in an array."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        values = np.array([float(value)])
    else:
        if isinstance(value, str | bytes | bool):
            array = np.asarray(None)
        else:
            array = host_array(value, name, "Sizes")
        if (
            array.ndim != 1
            or not len(array)
            or not np.issubdtype(array.dtype, np.number)
            or np.iscomplexobj(array)
        ):
            raise ValueError(
                f"Sizes({name}={value!r}): {name} must be a number, or an array of one number for "
                "each cluster: below 1 a share of all rows, from 1 on a number of them."
            )
        values = array.astype(np.float64)
    if not (np.isfinite(values) & ((values > 0) | ((values == 0) & (name == "least")))).all():
        raise ValueError(f"Sizes({name}={value!r}): {name} must be finite and {WANTED[name]}.")
    return values
