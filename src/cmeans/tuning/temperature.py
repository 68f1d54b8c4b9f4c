"""How soft maximum entropy c-means may be: the temperature above which centres collapse to one."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64
from ..spaces.spectrum import largest_eigenvalue


def critical_temperature(
    gram: Float64,  # (p, p) kernel of a fair sample of rows
    weights: Float64,  # (p,)
) -> float:
    """T* = 2 lambda_max of the rows' covariance in the kernel's space: Rose, Gurewitz, Fox 1990, from one linearised step.

    Where all centres are the mean and move apart by e_j, sum_j e_j = 0, the next ones are (2 / T) covariance e_j away from it.
    """
    p = weights / weights.sum()
    means = gram @ p
    centred = gram - means[:, None] - means[None, :] + p @ means
    root = np.sqrt(p)
    return 2.0 * max(largest_eigenvalue(root[:, None] * centred * root[None, :]), 0.0)
