"""Columns in which people know their rows: those that went into a pipeline, whose model is its last
step, or others beside the rows of a fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from ..data.arrays import Array, Float64, IntArray, is_sparse
from .tables import plain_columns

CATEGORIES = 20  # of a column at most that are shown, the most frequent


def last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a pipeline and the rows that reach it; any other model and X as they
    are."""
    if not isinstance(model, Pipeline):
        return model, X
    if X is None:
        return model[-1], None
    return model[-1], model[:-1].transform(X) if len(model) > 1 else X


def shown_columns(model: Pipeline, X: Any, numbers: IntArray) -> tuple[Array, tuple[str, ...]]:
    """Return some rows of what a pipeline takes, as numbers (s, k) in their own units, and the
    names of these columns.

    A column of text becomes a column of zeros and ones for each of its categories, "city=Rome";
    cells that are missing count as the mean of their column. Columns that a column transformer
    drops are left out.
    """
    return _shown(X, numbers, getattr(model, "feature_names_in_", None), partial(_used, model))


def other_columns(values: Any, numbers: IntArray) -> tuple[Array, tuple[str, ...]]:
    """Return some rows of other values than those of a fit, as `shown_columns` does."""
    return _shown(values, numbers, None, lambda labels: list(range(len(labels))))


def _shown(
    X: Any, numbers: IntArray, names: Any, used: Callable[[list[Any]], list[int]]
) -> tuple[Array, tuple[str, ...]]:
    if is_sparse(X):
        return X.tocsr()[numbers].astype(np.float64), _names(names, X.shape[1])
    rows = None if hasattr(X, "columns") else np.asarray(X)
    known = list(X.columns) if rows is None else list(range(rows.shape[1]))
    titles = [str(label) for label in known] if rows is None else list(_names(names, len(known)))
    columns, made = list[Float64](), list[str]()
    for at in used(known if rows is None else titles):
        values = np.asarray(X[known[at]] if rows is None else rows[:, at])[numbers]
        for name, column in _as_numbers(values, titles[at]):
            columns.append(column)
            made.append(name)
    return np.column_stack(columns) if columns else np.empty((len(numbers), 0)), tuple(made)


def _names(names: Any, d: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"column {number}" for number in range(d))
    return tuple(map(str, names))


def _used(model: Pipeline, labels: list[Any]) -> list[int]:
    """Return the places of the columns that the first step passes on: all, but for those that a
    column transformer drops."""
    if not isinstance(model[0], ColumnTransformer):
        return list(range(len(labels)))
    kept = set[int]()
    for _, tool, columns in model[0].transformers_:
        if isinstance(tool, str) and tool == "drop":
            continue
        columns = plain_columns(columns)
        # of labels, the last included
        if isinstance(columns, slice) and isinstance(columns.start or columns.stop, str):
            start = 0 if columns.start is None else labels.index(columns.start)
            kept.update(
                range(
                    start, len(labels) if columns.stop is None else labels.index(columns.stop) + 1
                )
            )
        elif not isinstance(columns, slice) and any(isinstance(column, str) for column in columns):
            kept.update(labels.index(column) for column in columns)
        else:
            kept.update(np.arange(len(labels))[columns].tolist())
    return sorted(kept)


def _as_numbers(values: Any, name: str) -> list[tuple[str, Float64]]:
    """Return a column as columns of numbers, with their names."""
    try:
        column = values.astype(np.float64)
    except (TypeError, ValueError):
        return _categories(values, name)
    missing = ~np.isfinite(column)
    if missing.any():
        column[missing] = column[~missing].mean() if not missing.all() else 0.0
    return [(name, column)]


def _categories(values: Any, name: str) -> list[tuple[str, Float64]]:
    texts = np.array(
        ["missing" if value is None or value != value else str(value) for value in values.tolist()],
        dtype=object,
    )
    found, counts = np.unique(texts, return_counts=True)
    frequent = found[np.sort(np.argsort(-counts, kind="stable")[:CATEGORIES])]
    return [
        (f"{name}={category}", (texts == category).astype(np.float64))
        for category in frequent.tolist()
    ]
