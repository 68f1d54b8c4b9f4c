"""Four pictures of a clustering that say most of it."""

from __future__ import annotations

from typing import Any

from ..runtime.docstrings import describes_arguments
from .displays.centres import CentresDisplay
from .displays.convergence import ConvergenceDisplay
from .displays.memberships import MembershipDisplay
from .displays.pieces import CostCurveDisplay, PieceTreeDisplay
from .displays.resolutions import ResolutionDisplay
from .displays.scatter import ScatterDisplay
from .displays.silhouette import SilhouetteDisplay
from .displays.sizes import SizesDisplay
from .figure import shared_axes
from .steps import last_step


@describes_arguments
def overview_of_pieces(model: Any, X: Any) -> Any:
    """Draw four pictures of connected pieces and rows X, and return the figure of matplotlib: rows
    in the plane of the centres, sizes, the tree and the cost curve."""
    figure, ((first, second), (third, fourth)) = shared_axes(2, 2, "plot", figsize=(11, 8))
    ScatterDisplay.from_estimator(model, X, ax=first)
    SizesDisplay.from_estimator(model, X, ax=second)
    PieceTreeDisplay.from_estimator(model, ax=third)
    CostCurveDisplay.from_estimator(model, ax=fourth)
    return figure


@describes_arguments
def overview_of_communities(model: Any, X: Any) -> Any:
    """Draw four pictures of communities and rows X, and return the figure of matplotlib: rows,
    sizes, memberships and the stability of resolutions."""
    figure, ((first, second), (third, fourth)) = shared_axes(2, 2, "plot", figsize=(11, 8))
    ScatterDisplay.from_estimator(model, X, ax=first)
    SizesDisplay.from_estimator(model, X, ax=second)
    MembershipDisplay.from_estimator(model, X, ax=third)
    ResolutionDisplay.from_estimator(model, ax=fourth)
    return figure


@describes_arguments
def overview(model: Any, X: Any, *, diag: Any = None) -> Any:
    """Draw four pictures of a fitted model and rows X, and return the figure of matplotlib.

    Rows in the plane of the centres, sizes, silhouettes (of soft clusters memberships), and centres
    over the columns (of rows that are no features, the course of the fit).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> X = load_iris().data
    >>> len(FuzzyCMeans(3, random_state=0).fit(X).plot(X).axes) >= 4
    True
    """
    figure, ((first, second), (third, fourth)) = shared_axes(2, 2, "plot", figsize=(11, 8))
    ScatterDisplay.from_estimator(model, X, diag=diag, ax=first)
    SizesDisplay.from_estimator(model, X, diag=diag, ax=second)
    last, _ = last_step(model, None)
    if last.rule_.is_soft or len(last._state.centres) < 2:
        MembershipDisplay.from_estimator(model, X, diag=diag, ax=third)
    else:
        SilhouetteDisplay.from_estimator(model, X, diag=diag, ax=third)
    if not last.kernel_.takes_features:
        ConvergenceDisplay.from_estimator(last, ax=fourth)
    else:
        CentresDisplay.from_estimator(model, X, ax=fourth)
    return figure
