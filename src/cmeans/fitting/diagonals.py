"""Validation of k(x, x), which kernel values from the user come with."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import Array, Float64, as_like, in_order, is_foreign, namespace, to_numpy
from ..data.blocks import spans
from ..data.precision import ASYMMETRY
from .validation import intact, refuse_entries


def diagonal(value: Any, x: Array, estimator_name: str) -> Array:
    """Return the given k(x, x) of every row (n,), in the library and dtype of the rows."""
    value = intact(value, "diag", estimator_name)
    try:
        diag = in_order(
            np.asarray(to_numpy(value) if is_foreign(value) else value, dtype=np.float64)
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{estimator_name}: diag must be numbers, k(x, x) of every row: {error}."
        ) from None
    if diag.ndim == 0:
        diag = np.full(x.shape[0], diag)
    if diag.shape != (x.shape[0],):
        raise ValueError(
            f"{estimator_name}: diag must hold one k(x, x) for each of the {x.shape[0]} rows (or "
            f"one number for all), got shape {diag.shape}."
        )
    said = f"{estimator_name}: diag"
    refuse_entries(~np.isfinite(diag), diag, said, "every k(x, x) must be finite")
    return as_like(diag, x)


def checked_square_diagonal(estimator_name: str, gram: Array) -> Array:
    """Return the diagonal of a square kernel matrix, which must be symmetric."""
    n, width = gram.shape
    if n != width:
        raise ValueError(
            f'{estimator_name}(kernel="precomputed"): X has shape ({n}, {width}); give the square '
            "kernel matrix, or only the columns of the landmarks with landmarks=their row numbers "
            "and kernel=Precomputed(diagonal=k(x, x) of every row)."
        )
    xp = namespace(gram)
    size = max(abs(float(xp.max(gram))), abs(float(xp.min(gram))))
    for start, stop in spans(int(gram.shape[0]), 1024):
        rows, columns = gram[start:stop, start:], gram[start:, start:stop]
        worst = float(xp.max(xp.abs(rows - columns.T)))
        if worst > ASYMMETRY * size:
            raise ValueError(
                f'{estimator_name}(kernel="precomputed"): the kernel matrix is not symmetric (k(x, '
                f"y) and k(y, x) differ by up to {worst:.3g}); pass kernel values, not distances "
                "of a one-sided kind, or (K + K.T) / 2."
            )
    return xp.asarray(xp.linalg.diagonal(gram), copy=True)


def diagonal_for_prediction(
    diag: Any,
    x: Array,
    estimator_name: str,
    training: Float64 | None,  # (n,) k(x, x) of the training rows
) -> Array | None:
    """Return k(x, x) of new rows: as given, or known where it is constant or the rows are the
    training rows; else None."""
    if diag is not None:
        return diagonal(diag, x, estimator_name)
    assert training is not None, "models of kernels that take their values keep it"
    if np.ptp(training) <= 1e-12 * np.abs(training).max():
        return as_like(np.full(x.shape[0], training[0]), x)
    if x.shape[0] == x.shape[1] == len(training):
        own = to_numpy(namespace(x).linalg.diagonal(x)).astype(np.float64)
        if np.allclose(own, training, rtol=1e-6, atol=0):
            return as_like(own, x)
    return None
