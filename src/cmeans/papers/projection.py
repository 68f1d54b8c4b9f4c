"""A chunk's own space, and the centres of the chunks before it projected into it (Zhang 2013 eq.
10-12, Remark 1)."""

from __future__ import annotations

import warnings
from typing import Literal, cast, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from ..data.arrays import take
from ..data.blocks import Block, Blocks
from ..kernels import Kernel
from ..spaces import ExactSpace, LandmarkSpace, Space, solver_tolerance, spanning_space
from ..spaces.centres import Centres
from ..streaming.summary import StreamSummary

Projection = Literal["cholesky", "gradient", "l1"]
PROJECTIONS: tuple[str, ...] = get_args(Projection)
L1_SHARE = 1e-3  # relative to the least penalty at which every coefficient is zero


def chunk_space(kernel: Kernel, blocks: Blocks, projection: str) -> Space:
    """Return the span of a chunk's rows: factored once, or, for "gradient", not at all."""
    dtype = blocks.x.dtype
    if projection == "gradient":
        return ExactSpace(kernel, blocks, solver_tolerance(dtype))
    return spanning_space(kernel, take(blocks.x, np.flatnonzero(blocks.weight > 0)), dtype)


def projected(past: StreamSummary, space: Space, blocks: Blocks, projection: str) -> Centres:
    """Return the past's centres over a chunk's rows: the nearest points of their span, or, for
    "l1", combinations of few rows near them."""
    centres = space.project(past.centres, past.space)
    if projection != "l1":
        return centres
    return _sparse(
        centres, cast(LandmarkSpace, space), blocks.take(np.flatnonzero(blocks.weight > 0))
    )


def _sparse(centres: Centres, space: LandmarkSpace, rows: Block) -> Centres:
    """argmin_beta |v - sum_i beta_i phi(x_i)|^2 / 2k + penalty |beta|_1 for each centre, in
    orthonormal coordinates."""
    origin = space.origin
    design = np.asfortranarray(space.coordinates(rows).T)  # (k, n)
    aims = centres.coordinates + origin
    out = np.zeros_like(aims)
    if not design.size:  # the kernel is zero on all rows
        return Centres.orthonormal(out)
    for aim, row in zip(aims, out, strict=True):
        penalty = L1_SHARE * float(np.abs(aim @ design).max()) / len(aim)
        if penalty > 0:
            with warnings.catch_warnings():
                # any combination is valid; the reported loss measures its quality
                warnings.simplefilter("ignore", ConvergenceWarning)
                row[:] = (
                    design
                    @ Lasso(alpha=penalty, fit_intercept=False, tol=1e-6).fit(design, aim).coef_
                )
    return Centres.orthonormal(out - origin)
