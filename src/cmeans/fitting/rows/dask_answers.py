"""Answers about rows in Dask collections: made where the rows are, block by block, when they are
asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.arrays import foreign_like
from ...data.containers import unlabelled
from ...engines.dask.dask_api import is_collection, row_by_row
from ...engines.dask.rows import type_and_columns
from ...runtime.docstrings import describes_arguments
from ...runtime.user_warnings import collected
from ..attribute_names import PER_ROW
from ..streams.no_rows import has_no_rows, refuse_other_width
from ..validation import check_columns

Method = TypeVar("Method", bound=Callable[..., Any])
OF_A_FIT = (*PER_ROW, "feature_names_in_", "_stream")  # not needed for new rows
HEAVY_WORDS = {"engine", "init", "landmarks", "random_state"}  # nor are the parameters of the fit


def lazily(method: Method) -> Method:
    """Wrap a method (rows, d) -> (rows, c), or (rows,) for labels and scores, to return Dask arrays
    for Dask collections, and empty ones for the chunks of a stream that have no rows."""

    @wraps(describes_arguments(method))
    def answered(self: Any, X: Any, *, diag: Any = None) -> Any:
        X = unlabelled(X)
        is_none = self._answers_no_rows and has_no_rows(X)
        if not is_collection(X) and not is_none:
            return method(self, X, diag=diag)
        check_is_fitted(self)
        estimator_name, name = type(self).__name__, method.__name__
        if name in ("predict", "outlier_score", "score_samples"):
            width = None
        elif name == "_top_columns":
            width = 2 * self._most
        elif name == "impute":
            width = self.n_features_in_
        else:
            width = len(self._state.centres)
        nothing = np.empty(
            (0,) if width is None else (0, width), np.int64 if name == "predict" else np.float64
        )
        if is_none:
            refuse_other_width(self, X)
            return foreign_like(nothing, X)
        if diag is not None:
            raise ValueError(
                f"{estimator_name}: diag cannot be given with a Dask collection; pass arrays, part "
                "by part."
            )
        dtype, columns = type_and_columns(X, estimator_name)
        check_columns(self, columns, "the Dask data frame")
        dtype = np.int64 if name == "predict" else dtype
        return row_by_row(
            X, _answer, width, dtype, model=portable(self), asked=name, nothing=nothing
        )

    return answered  # type: ignore[return-value]


def portable(model: Any) -> Any:
    """Copy of a fitted model with only what prediction needs."""
    light = copy.copy(model)
    for name in OF_A_FIT:
        vars(light).pop(name, None)
    for word in HEAVY_WORDS & set(vars(light)):
        setattr(light, word, None)
    light.n_jobs = 1  # workers run several blocks at once
    return light


def _answer(block: Any, model: Any, asked: str, nothing: Any, block_info: Any = None) -> Any:
    if not len(block):
        return nothing
    rows = block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
    try:
        with collected():  # one warning for each block would be many
            return getattr(model, asked)(rows)
    except ValueError as error:
        first = block_info[0]["array-location"][0][0] if block_info else np.nan
        begins = "" if np.isnan(first) else f", which begins at row {first}"
        raise ValueError(f"{error} Rows are counted within a chunk of X{begins}.") from error
