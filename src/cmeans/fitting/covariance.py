"""The parameter `covariance`: metrics of the clusters' own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from ..runtime.checks import ParameterError, is_auto, one_of, real
from ..runtime.parameter_object import ParameterObject
from .arguments import Auto

CovarianceName = Literal["full", "diag", "tied", "spherical"]
NAMES: tuple[CovarianceName, ...] = get_args(CovarianceName)


@dataclass(frozen=True, repr=False)
class Covariance(ParameterObject):
    """Covariances of the clusters, from their rows.

    `covariance="full"` is short for `covariance=Covariance("full")`.

    Parameters
    ----------
    shape : "full", "diag", "tied" or "spherical", default="full"
        "full": any ellipsoid for each cluster. "diag": one whose axes are the columns. "tied": the
        same ellipsoid for all. "spherical": a sphere, in the columns as they are given: the one
        shape that depends on their units.
    prior : "auto" or float >= 0, default="auto"
        The rows that count as seen in each cluster beforehand, with the covariance that is pooled
        within the clusters of the best hard partition. "auto": d + 1 for d columns that differ, 2
        for "diag", 2 / d for "spherical". 0: none, so that a cluster of few rows may have no
        inverse covariance, which is an error.
    df : None or float above 0, default=None
        Degrees of freedom of the components' tails, of mixtures: those of Student's t (Peel &
        McLachlan 2000), 5 say, so that a few rows far out do not widen a cluster. None: infinitely
        many, Gaussians.
    rounding : None or "auto", default=None
        Whether the covariances of a mixture hold what rounding has taken from columns of few
        values, such as grades and answers: "auto": 1 / (u^2 - 1) of a column's variance, u = 1 /
        sum_v p_v^2 its effective number of values, where that is a thousandth in any column.
        Rounding to u equal steps takes so much; without it a cluster that sits on one value has a
        density without bound.
    volume : "equal" or "free", default="equal"
        Whether clusters of the c-means family differ in shape alone, or in volume too. "equal":
        metrics have the determinant 1 (Gustafson & Kessel 1979). "free": squared distances have ln
        |S_j| besides; for hard and entropy rules. Components of a mixture are free always.

    Raises
    ------
    ValueError
        For other values.

    References
    ----------
    Gustafson, Kessel: Fuzzy clustering with a fuzzy covariance matrix. IEEE CDC 1979. Fraley,
    Raftery: Bayesian regularization for normal mixture estimation and model-based clustering.
    Journal of Classification 24, 2007 (the form of the prior, not its numbers). Peel, McLachlan:
    Robust mixture modelling using the t distribution. Statistics and Computing 10, 2000.

    Examples
    --------
    >>> from cmeans import Covariance
    >>> Covariance("diag", prior=4.0)
    Covariance(shape='diag', prior=4.0)
    """

    shape: CovarianceName = "full"
    prior: Auto | float = "auto"
    df: float | None = None
    volume: Literal["equal", "free"] = "equal"
    rounding: Auto | None = None

    def __post_init__(self) -> None:
        one_of(self.shape, "shape", "Covariance", NAMES)
        one_of(self.volume, "volume", "Covariance", ("equal", "free"))
        if not is_auto(self.prior):
            real(self.prior, "prior", "Covariance", others='"auto" or ')
        if self.df is not None:
            real(self.df, "df", "Covariance", above=True, others="None or ")
        if self.rounding is not None and not is_auto(self.rounding):
            wanted = '{name} must be None or "auto".'
            raise ParameterError("Covariance", "rounding", self.rounding, wanted)

    @property
    def prior_rows(self) -> float | None:
        """The rows of the prior; None where the shape says how many."""
        return None if is_auto(self.prior) else float(self.prior)


COVARIANCES: dict[str, partial[Covariance]] = {name: partial(Covariance, name) for name in NAMES}


def covariance_from(value: Any, estimator_name: str) -> Covariance:
    """Return the covariances that a value of the parameter stands for."""
    if isinstance(value, Covariance):
        return value
    if not isinstance(value, str) or value not in NAMES:
        wanted = f"{{name}} must be one of {list(NAMES)}, or Covariance(...)."
        raise ParameterError(estimator_name, "covariance", value, wanted)
    return Covariance(value)


def takes_csr(value: Any) -> bool:
    """Return True for a value of the parameter with which CSR rows are clustered as they are."""
    return getattr(value, "shape", value) in (None, "diag", "spherical")
