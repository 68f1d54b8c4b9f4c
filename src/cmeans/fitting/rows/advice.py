"""Messages about what cannot be rows of numbers: what it is, and what to pass instead."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Set
from inspect import isroutine
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.arrays import is_foreign, is_sparse
from ...data.containers import is_table
from ...data.files.schema import shortened


def _has(*names: str) -> Callable[[Any], bool]:
    """Return whether something offers all of these, as the objects of a library do that need not be
    installed."""
    return lambda x: all(hasattr(type(x), name) for name in names)


_SAMPLED = 1_000  # rows that show what a column of text holds
_FEW = 20  # categories that may be in few rows

# how to tell one, what it is, and what to pass instead
KINDS: tuple[tuple[Callable[[Any], bool], str, str], ...] = (
    (lambda x: x is None, "None", "rows of numbers"),
    (lambda x: isinstance(x, type) or isroutine(x), "{name}", "rows, not what makes them"),
    (
        _has("data_vars", "to_dataframe"),
        "an xarray.Dataset",
        "a table of its variables, X.to_dataframe()",
    ),
    (
        _has("obsm", "varm"),
        "AnnData",
        'it to cmeans.anndata.cluster, or coordinates that it holds, such as X.obsm["X_pca"]',
    ),
    (_has("fetchnumpy", "fetchall"), "a {name} of DuckDB, whose rows are not there yet", "X.df()"),
    (_has("collect", "collect_schema"), "a LazyFrame, whose rows are not there yet", "X.collect()"),
    (
        _has("read_all", "schema"),
        "an Arrow stream, which can be read only once",
        "a table of its batches, X.read_all()",
    ),
    (_has("to_reader", "to_table"), "a {name}, whose rows are not there yet", "X.to_reader()"),
    (
        _has("to_table", "schema"),
        "an Arrow dataset, whose rows are not there yet",
        "X.scanner().to_reader()",
    ),
    (_has("read", "readline"), "an open file", "its name"),
    (lambda x: isinstance(x, Mapping), "a mapping ({name})", "a data frame, pandas.DataFrame(X)"),
    (
        lambda x: isinstance(x, list) and bool(x) and isinstance(x[0], Mapping),
        "a list of mappings",
        "a data frame, pandas.DataFrame(X)",
    ),
    (
        lambda x: isinstance(x, Iterator),
        "an iterator ({name}), which can be read only once",
        "its rows, list(X)",
    ),
    (lambda x: isinstance(x, Set), "a set, which has no order", "a list of rows"),
    (lambda x: isinstance(x, np.matrix), "a numpy.matrix", "an array, numpy.asarray(X)"),
)


def refuse_no_rows(X: Any, estimator_name: str) -> None:
    """Refuse what is not rows and columns of numbers, whatever they are."""
    if not (type(X) is np.ndarray or is_sparse(X)):
        for is_one, what, instead in KINDS:
            if is_one(X):
                name = X.__name__ if isinstance(X, type) or isroutine(X) else type(X).__name__
                raise ValueError(
                    f"{estimator_name}: X is {what.format(name=name)}; pass {instead}."
                )
    if isinstance(X, np.ndarray) and X.dtype.kind in "cmMV":
        kind, instead = {
            "c": (
                "complex numbers",
                "their real and imaginary parts, numpy.hstack([X.real, X.imag])",
            ),
            "V": ("records", "numpy.lib.recfunctions.structured_to_unstructured(X)"),
        }.get(X.dtype.kind, ("dates", 'days, (X - X.min()) / numpy.timedelta64(1, "D")'))
        also = ". Complex data not supported" if X.dtype.kind == "c" else ""
        raise ValueError(f"{estimator_name}: X holds {kind}, {X.dtype}{also}; pass {instead}.")
    if is_sparse(X) or is_foreign(X) or isinstance(X, np.ndarray):
        _refuse_shape(tuple(X.shape), estimator_name)


def _refuse_shape(shape: tuple[int, ...], estimator_name: str) -> None:
    """Refuse arrays that are not rows and columns."""
    if len(shape) == 2 or 0 in shape:
        return
    advice = "Reshape your data"
    if len(shape) == 1:
        advice += ": X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row"
    elif shape:
        advice += (
            f": X.reshape(-1, {shape[-1]}) if the last axis holds the features, as the "
            "channels of an image"
        )
        advice += f", X.reshape({shape[0]}, -1) if each X[i] is one row"
    raise ValueError(
        f"{estimator_name}: expected a 2-D array of rows and features, got one of shape {shape}. "
        f"{advice}."
    )


def refuse_text(X: Any, error: TypeError | ValueError, estimator_name: str) -> None:
    """Refuse rows of which no array of numbers can be made, for an error that says so; columns of a
    data frame by name."""
    labels = labels_of(X)
    if hasattr(X, "to_list") and _is_nested(X[:1]):
        raise ValueError(
            f"{estimator_name}: X is a column of lists; pass these as an array, "
            "numpy.array(X.to_list())."
        ) from error
    first = X[:1] if labels else X
    nested = [label for label in labels if _is_nested(first[label])]
    if nested:
        rows = f"numpy.array(X[{nested[0]!r}].to_list())"
        raise ValueError(
            f"{estimator_name}: {shortened(nested)} of X holds lists of numbers; pass these as an "
            f"array, {rows}."
        ) from error
    numbers = [label for label in labels if _holds_numbers(np.asarray(X[label]))]
    if len(numbers) < len(labels):
        raise ValueError(_advice_on_text(estimator_name, X, labels, numbers)) from error
    message = str(error)
    if message.startswith(("Expected 2D", "Expected a 2-dim", "Found array with dim")):
        _refuse_shape(np.shape(X), estimator_name)
    if message.startswith("could not convert string"):
        made = (
            "OneHotEncoder makes numbers of categories, TfidfVectorizer of documents, both of "
            "scikit-learn"
        )
        raise ValueError(f"{estimator_name}: X holds text ({message}); {made}.") from error
    if "inhomogeneous" in message or "array element with a sequence" in message:
        raise ValueError(
            f"{estimator_name}: X is no array of rows of as many numbers each; pass rows of one "
            "length."
        ) from error
    if isinstance(error, TypeError):
        raise TypeError(
            f"{estimator_name}: X holds something else than numbers ({message})."
        ) from error


def labels_of(X: Any) -> list[Any]:
    """Return the columns of a data frame; none for other rows."""
    return [label for label in getattr(X, "columns", ()) if isinstance(label, (str, int))]


def holds_dates(X: Any) -> bool:
    """True of a data frame with a column of dates, of which some frames make numbers."""
    labels = labels_of(X)
    first = X[:1] if labels else X
    return any(np.asarray(first[label]).dtype.kind in "mM" for label in labels)


def _is_nested(column: Any) -> bool:
    """True of the first row of a column where it is a list."""
    values = np.asarray(column)
    return values.ndim > 1 or (
        values.dtype == object
        and values.size > 0
        and isinstance(values[0], (list, tuple, np.ndarray))
    )


def _holds_numbers(values: npt.NDArray[Any]) -> bool:
    try:
        return values.dtype.kind not in "mM" and values.astype(np.float64) is not None
    except (TypeError, ValueError):
        return False


def _advice_on_text(estimator_name: str, X: Any, labels: list[Any], numbers: list[Any]) -> str:
    """Return what to do with columns of text or dates."""
    known = set(numbers)
    others = [label for label in labels if label not in known]
    dates = [label for label in others if _holds_dates(X[label])]
    spans = [label for label in others if np.asarray(X[label]).dtype.kind == "m"]
    texts = [label for label in others if label not in (*dates, *spans)]
    if numbers:
        take = f"take those of numbers alone, e.g. X[{numbers[:6]!r}]"
    else:
        take = "take columns of numbers"
    return (
        f"{estimator_name}: {shortened(others)} of X hold{'s' if len(others) == 1 else ''} text "
        f"or dates, no numbers; {take}{_made_numbers(estimator_name, X, numbers, texts, dates)}"
        + (f"; spans of time become days by X[{spans[0]!r}].dt.days." if spans else ".")
    )


def _made_numbers(
    estimator_name: str, X: Any, numbers: list[Any], texts: list[Any], dates: list[Any]
) -> str:
    """Return the advice that makes numbers of columns of text and dates, and keeps the others."""
    if dates and is_table(X):
        named = {
            "categorical": [str(label) for label in texts if _holds_categories(X[label])][:6],
            "dates": [str(label) for label in dates[:6]],
        }
        words = ", ".join(f"{word}={labels!r}" for word, labels in named.items() if labels)
        rows = f'cmeans.read_table(X, {words}, scale="standard")'
        also = "categories and days" if named["categorical"] else "days"
        return f", or make {also} of them: {estimator_name}(...).fit({rows})"
    if texts:
        rest = ", remainder=StandardScaler()" if numbers else ""
        encoder = f"make_column_transformer((OneHotEncoder(), {texts[:6]!r}){rest})"
        return (
            f", or encode categories: make_pipeline({encoder}, {estimator_name}(...)).fit(X), "
            "all but the last of scikit-learn"
        )
    return ""


def _holds_dates(column: Any) -> bool:
    """True of dates, with time zones too, as a library has them or as Python's own; not of spans of
    time."""
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return values.dtype.kind == "M"
    filled = (value for value in values if isinstance(value, (str, datetime.date)))
    return isinstance(next(filled, None), datetime.date)


def _holds_categories(column: Any) -> bool:
    """True of text that occurs again and again."""
    cells = list(map(str, np.asarray(column)[:_SAMPLED].tolist()))
    return len(set(cells)) <= max(_FEW, len(cells) // 2)
