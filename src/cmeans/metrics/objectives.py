"""Comparison of objectives: the reduction since the start of a run, and the error of an
approximation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fitting.validation import intact
from ..runtime.checks import real


def error_reduction(initial: Any, final: float | None = None) -> float:
    """Error reduction:  (E_initial - E_final) / E_initial, the share of the initial objective that
    a run has removed.

    Use it to compare runs from the same start: larger means more compact clusters.

    Parameters
    ----------
    initial : number, the objective at the start; or alone, a fitted model's `objective_history_`
        (its first and last values).
    final : number, the objective at the end.

    Returns
    -------
    float, at most 1; below 0 where the objective has risen

    Raises
    ------
    ValueError
        If an objective is not finite or negative, the initial one is zero, or `final` is missing
        beside a number.

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means: solution to large scale kernel
    clustering. KDD 2011, section 5.2.

    Examples
    --------
    >>> from cmeans import KernelKMeans
    >>> from cmeans.metrics import error_reduction
    >>> error_reduction(80.0, 20.0)
    0.75
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = KernelKMeans(2, kernel="linear", init=[[0.0], [1.0]]).fit(X)
    >>> bool(error_reduction(model.objective_history_) > 0.9)
    True
    """
    if final is None:
        history = np.asarray(intact(initial, "initial", "error_reduction"))
        if history.ndim != 1 or len(history) == 0:
            raise ValueError(
                f"error_reduction(initial=of shape {history.shape}, final=None): pass two numbers, "
                "or a fitted model's objective_history_ (1-D, not empty) alone."
            )
        initial, final = history[0], history[-1]
    first = real(initial, "initial", "error_reduction", above=True)
    return (first - real(final, "final", "error_reduction")) / first


def percent_error(sampled: float, full: float) -> float:
    """Percent error of the objective:  100 (E_samp - E_full) / E_full, the error of an
    approximation.

    Use it for a run with landmarks against the run with the full kernel from the same start. Both
    objectives must be those of the same rows, kernel and m; below 0, the approximation has found
    the better clustering.

    Parameters
    ----------
    sampled : number, the objective of the approximation.
    full : number, the objective of the full run.

    Returns
    -------
    float, at least -100

    Raises
    ------
    ValueError
        If an objective is not finite or negative, or `full` is zero.

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, V.A.3, eq. 22.

    Examples
    --------
    >>> from cmeans.metrics import percent_error
    >>> percent_error(10.5, 10.0)
    5.0
    """
    reference = real(full, "full", "percent_error", above=True)
    return (real(sampled, "sampled", "percent_error") - reference) / reference * 100.0
