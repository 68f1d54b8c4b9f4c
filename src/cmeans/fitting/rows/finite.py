"""Numbers of rows in memory, which must be finite, or missing where they may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ...data.arrays import Array, is_sparse, is_stored, namespace, to_numpy
from ...data.blocks import rows_between, spans
from ...data.files.tables import or_partial

PARTIAL = 'missing="partial"'
OF_ROWS = f', or take kernel="linear" and {PARTIAL}'
OF_COMPONENTS = f", or take {PARTIAL}"
BY_OTHERS = f", or take {{}}({PARTIAL})"
ADVICE_OF_PARTIAL = (
    OF_ROWS,
    OF_COMPONENTS,
    BY_OTHERS.format("GaussianMixture"),
    or_partial(PARTIAL),
    or_partial("--missing partial"),
)


def takes_holes(estimator: BaseEstimator) -> bool:
    """True where values of X may be missing."""
    missing = vars(estimator).get("missing")
    return isinstance(missing, str) and missing == "partial"


def names_of(estimator: BaseEstimator) -> list[str] | None:
    """Return the names of the columns of the fit; None where they had none."""
    names = vars(estimator).get("feature_names_in_")
    return None if names is None else names.tolist()


def hollow(X: Any) -> Any:
    """Return a masked array with NaN in place of masked entries, other rows as they are."""
    if not isinstance(X, np.ma.MaskedArray) or X.dtype.kind not in "biuf":
        return X
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)


@contextmanager
def without_partial(takes_partial: bool = False) -> Iterator[None]:
    """Leave the advice of missing="partial" out of errors raised inside the block, where that is no
    way out."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        for advice in ADVICE_OF_PARTIAL:
            text = text.replace(advice, "")
        if takes_partial or text == str(error):
            raise
        raise type(error)(text) from error


def way_out(estimator: BaseEstimator, sparse: bool = False) -> str:
    """Return, for messages, the ways to impute missing values, and what to do else, but of sparse
    rows, whose values cannot be missing."""
    words = vars(estimator)
    if sparse:
        partial = ""
    elif "missing" not in words:
        partial = BY_OTHERS.format("FuzzyCMeans")
    elif "kernel" not in words:
        partial = OF_COMPONENTS
    elif words.get("covariance") is not None:
        partial = BY_OTHERS.format("GaussianMixture")
    elif isinstance(words["kernel"], str) and words["kernel"] == "linear":
        partial = OF_COMPONENTS
    else:
        partial = OF_ROWS
    return f"(scikit-learn's SimpleImputer, KNNImputer){partial}"


def _sum_is_finite(values: Array) -> bool:
    """True where a sum shows neither NaN nor infinity, without a temporary; it may overflow by
    itself, so False says nothing."""
    xp = namespace(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(xp.isfinite(xp.sum(values)))


def has_holes(x: Array, estimator: BaseEstimator, names: npt.NDArray[Any] | None) -> bool:
    """True where values of rows in memory are missing, and may be; others that are not finite are
    refused by the `names` of columns."""
    estimator_name = type(estimator).__name__
    if not is_stored(x) and _sum_is_finite(x.data if is_sparse(x) else x):
        return False
    may_be_missing, holes = takes_holes(estimator) and not is_sparse(x), False
    step = 64 if is_sparse(x) else max(1, 2**20 // max(1, int(x.shape[1])))
    for start, stop in spans(int(x.shape[0]), step):
        part = rows_between(x, start, stop)
        entries = part.tocoo().data if is_sparse(part) else to_numpy(part)
        bad = np.isinf(entries) if may_be_missing else ~np.isfinite(entries)
        holes = holes or (may_be_missing and bool(np.isnan(entries).any()))
        if bad.any():
            dense = part.toarray() if is_sparse(part) else entries
            row, column = map(int, np.argwhere(~np.isfinite(dense) if is_sparse(part) else bad)[0])
            what = "NaN" if np.isnan(dense[row, column]) else "infinity"
            label = column if names is None else repr(str(names[column]))
            advice = "Remove or impute such rows, or mend the column"
            if what == "NaN" and takes_holes(estimator):
                advice = (
                    "Entries that a sparse matrix does not hold are zeros; pass dense rows "
                    "where values are missing"
                )
            elif what == "NaN":
                advice = f"Remove or impute such rows {way_out(estimator, is_sparse(x))}"
            raise ValueError(
                f"{estimator_name}: Input X contains {what}, first at row {start + row}, column "
                f"{label}. {advice}."
            )
    return holes
