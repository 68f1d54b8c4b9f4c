"""Diagnosis of kernels and results: messages with advice, and measures of collapsed centres."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ..data.arrays import Float64
from ..runtime.numerals import in_digits
from ..spaces.centres import Centres

COLLAPSED = 1e-2  # separation below which all centres count as one
# factor by which kernel values may lie below the smallest normal number: seven bits are lost there
VANISHING = 128.0
# squared distance of two centres, as a fraction of that of rows to theirs, below which they count
# as one
COINCIDENT = 1e-3
ROUNDING = 1e-15  # of squared distances, relative to the centres' squared norms


def kernel_complaints(
    gram: Float64,  # (p, p) kernel of a fair sample of rows
    weights: Float64,  # (p,)
    *,
    known_definite: bool,
    rounding: float,
) -> list[str]:
    """Return the messages to warn with about a kernel, judged by a sample of its matrix."""
    messages = []
    diag = np.diag(gram)
    if not known_definite and not diag.any() and gram.any():
        return [
            "the kernel is 0 of a row with itself, as a distance is, and a kernel is largest "
            "there. Make one of the distances D, for instance np.exp(-(D / np.median(D)) ** 2), or "
            'give those to some landmarks: kernel="landmark_graph" with '
            'kernel=LandmarkGraphKernel(metric="precomputed").'
        ]
    if not known_definite and len(gram) > 1:
        values = scipy.linalg.eigvalsh(gram)
        negative = float(
            -values[values < 0].sum() / max(np.abs(values).sum(), np.finfo(float).tiny)
        )
        if negative > max(1e-6, 100 * rounding):
            messages.append(
                f"the kernel is indefinite on these rows: {100 * negative:.3g}% of its spectrum "
                "(by absolute value) is negative. With landmarks the negative part is clipped; "
                "without them negative squared distances count as zero and the objective may rise. "
                "Prefer landmarks or a positive definite kernel."
            )
    if len(gram) < 3 or (diag <= 0).any():
        return messages
    root = np.sqrt(diag)
    cosine = gram / root[:, None]
    cosine /= root[None, :]
    np.fill_diagonal(cosine, -np.inf)
    nearest = np.quantile(cosine.max(axis=1), 0.9)
    p = weights / weights.sum()
    variance = float(p @ diag - p @ gram @ p) / float(p @ diag)
    if nearest < 0.02:
        messages.append(
            "the kernel is nearly the identity on these rows (nine rows in ten have no neighbour "
            f"more similar than {nearest:.2g}): "
            'every row is a cluster of its own. Take a smaller gamma, for instance gamma="median".'
        )
    elif variance < max(1e-6, 50 * rounding):
        messages.append(
            f"the kernel is nearly constant on these rows (they differ by {variance:.2g} of its "
            'size): rounding hides the clusters. Take a larger gamma, for instance gamma="median", '
            "or centre the data."
        )
    return messages


def out_of_range(
    values: Float64,  # kernel of a fair sample of rows, whole or its diagonal
    dtype: Any,  # of the rows, and so of the kernel values in sweeps
    total_weight: float,  # weight of the rows that a sum in that type covers
) -> str | None:
    """Return the reason for which the type cannot hold the values of a kernel, or sums of them;
    None where it can."""
    limits = np.finfo(dtype)
    size = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    least, most = float(limits.tiny) / VANISHING, float(limits.max) / max(total_weight, 4.0)
    if size == 0.0 or least <= size <= most:
        return None
    if size < least:
        beyond = f"below {in_digits(least)}, where digits are lost"
    else:
        beyond = f"above {in_digits(most)}, where sums of them overflow"
    return (
        f"its values on these rows run from {in_digits(values.min())} to "
        f"{in_digits(values.max())}, in {limits.dtype} {beyond}"
    )


def separation(
    centres: Centres,
    within: Float64,  # (c,) mean squared distance of the rows of each cluster to its centre
    mass: Float64,  # (c,) what each of these counts
) -> float:
    """max_j |v_j - mean v|^2 over the mean squared distance between a row and a centre: near zero
    when all centres coincide.

    That is what rows lie from their own centres plus, for clusters of one size, twice what centres
    lie from their mean. So a row that belongs nowhere has no part in it, however far it is.
    """
    apart = centres.squared_distances_from_mean(np.ones(len(centres)))
    typical = float(mass @ within) / float(mass.sum()) + 2.0 * float(apart.mean())
    return float(apart.max()) / typical if typical > 0 else 1.0


def coincident_pairs(centres: Centres, within: Float64) -> int:
    """Number of pairs of centres that practically coincide: beside the wider of their clusters,
    they are no distance apart."""
    distances = centres.squared_distances()
    rounding = ROUNDING * float(centres.squared_norms().max())
    near = np.maximum(COINCIDENT * np.maximum(within[:, None], within[None, :]), rounding)
    return int(np.sum(np.triu(distances <= near, k=1)))
