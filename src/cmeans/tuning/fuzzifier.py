"""The fuzzifier m of fuzzy c-means: the value above which all centres collapse to one, and a choice below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64
from ..spaces.spectrum import largest_eigenvalue

LARGEST_AUTOMATIC = 2.0


@dataclass(frozen=True)
class Fuzzifier:
    """Bounds and choice of m from a sample of rows."""

    lambda_max: float  # largest eigenvalue of the scatter of directions from the mean (trace 1)
    critical: float  # m*: beyond it "all centres at the mean" is a stable solution; infinite where lambda_max >= 1/2
    automatic: float  # halfway from 1 to m*, at most 2


def fuzzifier(
    gram: Float64,  # (p, p) kernel of a fair sample of rows
    weights: Float64,  # (p,)
) -> Fuzzifier:
    """m* = 1 / (1 - 2 lambda_max), from one linearised step of fuzzy c-means at the point where all centres are the mean.

    With y_i = phi(x_i) - mean, C = sum_i w_i y_i y_i^T / |y_i|^2 / sum_i w_i, that point is unstable iff 2m/(m-1) lambda_max(C) > 1
    (the threshold of Yu, Cheng & Huang, IEEE Trans. SMC-B 34(1), 2004, in feature space).
    """
    p = weights / weights.sum()
    means = gram @ p
    centred = gram - means[:, None] - means[None, :] + p @ means
    norms = np.diag(centred).copy()
    visible = norms > 1e-12 * max(float(np.abs(np.diag(gram)).max()), np.finfo(float).tiny)
    if not visible.any():
        return Fuzzifier(1.0, np.inf, LARGEST_AUTOMATIC)
    scale = np.sqrt(np.where(visible, p / np.where(visible, norms, 1.0), 0.0))
    scatter = scale[:, None] * centred * scale[None, :]
    lambda_max = largest_eigenvalue(scatter)
    critical = 1.0 / (1.0 - 2.0 * lambda_max) if lambda_max < 0.5 else np.inf
    return Fuzzifier(lambda_max, critical, float(min(1.0 + (critical - 1.0) / 2.0, LARGEST_AUTOMATIC)))
