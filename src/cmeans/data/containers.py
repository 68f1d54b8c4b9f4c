"""Containers of rows that are no plain arrays: with labelled axes, or handed over by Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np


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
    if not (hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__")):
        return False
    if hasattr(type(x), "dims"):  # an array with names
        return False
    if len(getattr(x, "shape", (0, 0))) != 2:  # a column by itself, of which no table is made
        return False
    is_frame = hasattr(x, "dtypes") and hasattr(x, "to_numpy")
    return not is_frame or _holds_lists(x)


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
