"""The gradient form for alpha: centres in the span of landmarks whose kernel matrix is not
factored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..fitting.landmark_choice import Landmarks
from ..runtime.docstrings import shares_parameters


@shares_parameters(Landmarks)
@dataclass(frozen=True, repr=False)
class GradientLandmarks(Landmarks):
    """A choice of landmarks whose coefficients alpha solve K_ss alpha = t by conjugate gradients.

    Havens 2011 and Chitta 2011 propose it where landmarks are too many for a factor of K_ss. It is
    here for the papers' tables: `Landmarks` factors K_ss once for a fit, and leaves out directions
    in which landmarks are nearly redundant. Give it to `landmarks=` of an estimator; graphs, and
    the sample of `TwoStepKernelKMeans`, have no use for it.

    Parameters
    ----------
    number : "auto", int or None, default="auto"
        Number of landmarks; None: all rows. "auto": all up to 2,000, else as many as `tol` asks
        for, at most 2,048.

    Examples
    --------
    >>> from cmeans import KernelKMeans
    >>> from cmeans.papers import GradientLandmarks
    >>> KernelKMeans(3, landmarks=GradientLandmarks(300))
    KernelKMeans(landmarks=GradientLandmarks(number=300), n_clusters=3)

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 12-20.
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, eq. 4-7.
    """

    is_factored: ClassVar[bool] = False
