"""Containers of rows that are no plain arrays: with labelled axes, or handed over by Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np


class ArrowTable(Protocol):
    """A table that is handed over by Arrow's C interface, as data frames are."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def unlabelled(x: Any) -> Any:
    """Return the array that one with labelled axes holds, such as xarray's, whichever library it is
    of; others as they are. The variables of a dataset are its columns."""
    if not hasattr(type(x), "dims"):
        return x
    if hasattr(type(x), "data_vars"):
        x = x.to_array("column").transpose(..., "column")
    if not hasattr(type(x), "data"):
        return x
    if len(x.dims) > 2:
        last = min(x.dims, key=lambda dim: (dim != "column", x.sizes[dim]))
        advice = f"X.stack(row={[dim for dim in x.dims if dim != last]!r})"
        raise ValueError(
            f"X has the dimensions {', '.join(map(repr, x.dims))}, and rows and columns are "
            f"needed; with {last!r} for columns: {advice}.transpose('row', {last!r})."
        )
    return x.data


def comes_by_arrow(x: Any) -> bool:
    """True of a table that is handed over by Arrow's C interface, as those of DuckDB are. Data
    frames of numbers are taken as scikit-learn does."""
    if not is_table(x):
        return False
    is_frame = hasattr(x, "dtypes") and hasattr(x, "to_numpy")
    return not is_frame or _holds_lists(x)


def is_table(x: Any) -> bool:
    """True of what Arrow's C interface can hand over as a table, data frames among it."""
    if isinstance(x, type) or not (
        hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__")
    ):
        return False
    if hasattr(type(x), "dims"):  # an array with names
        return False
    return len(getattr(x, "shape", (0, 0))) == 2  # not a column by itself


def column_names(table: Any) -> list[str] | None:
    """Return the names of the columns of a table as Arrow has them; None where it does not tell
    them."""
    names = getattr(getattr(table, "schema", None), "names", None)  # of Arrow's own tables
    if not isinstance(names, list):
        names = getattr(table, "columns", None)
    return None if names is None or callable(names) else [str(name) for name in names]


def repeated(labels: Iterable[Any]) -> str:
    """Return what is told of a column whose name others have too; nothing where none has."""
    counts = Counter(labels)
    twice = sorted((label for label, count in counts.items() if count > 1), key=str)
    if not twice:
        return ""
    title = "" if str(twice[0]).strip() else ", and lines above the names are to be deleted"
    return (
        f"column {twice[0]!r} occurs {counts[twice[0]]} times; every column needs a name of its "
        f"own{title}"
    )


def refuse_frame(X: Any, estimator_name: str) -> None:
    """Refuse a data frame without rows or columns, with a name that several columns have, or with
    names of several types."""
    if not (hasattr(X, "dtypes") and hasattr(X, "columns")):
        return
    kind, shape, names = type(X).__name__, tuple(getattr(X, "shape", ())), list(X.columns)
    if len(shape) == 2 and 0 in shape:
        none, what = ("rows", "sample") if shape[0] == 0 else ("columns", "feature")
        raise ValueError(
            f"{estimator_name}: X is a {kind} without {none}: 0 {what}(s) (shape={shape}) while a "
            f"minimum of 1 is required by {estimator_name}."
        )
    if said := repeated(names):
        raise ValueError(f"{estimator_name}: X is a {kind} whose {said}.")
    types = sorted({type(name).__name__ for name in names})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            f"{estimator_name}: the columns of X have names of several types "
            f"({', '.join(types)}); make all of them text, X.columns = X.columns.astype(str)."
        )


def _holds_lists(frame: Any) -> bool:
    """True of a data frame with a column whose cells are lists of numbers."""
    for at, kind in enumerate(frame.dtypes):
        if getattr(kind, "kind", "") == "O":  # of pandas, whose cells may be anything
            cells = (cell for cell in frame.iloc[:, at] if cell is not None)
            if isinstance(next(cells, None), (list, tuple, np.ndarray)):
                return True
        elif str(kind).lower().startswith(("list", "array", "fixed_size_list")):
            return True
    return False
