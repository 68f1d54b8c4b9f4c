"""Rows of a file as a saved pipeline takes them: columns by name, text and all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..inspection.tables import Table
from .errors import InputError
from .rows import InputRows, ReadOptions, read_rows, tables_of


def rows_of_pipeline(pipeline: Pipeline, reading: ReadOptions) -> InputRows:
    """Return the rows of a file in memory: a data frame of the columns that the pipeline names, or an array where it names none."""
    if reading.columns:
        raise InputError("--columns: the model is a pipeline, which says itself what columns it takes; leave the option out.")
    names = getattr(pipeline, "feature_names_in_", None)
    if names is None:
        rows = read_rows(reading, range(pipeline.n_features_in_))
        if rows.stay:
            raise InputError(
                f"{reading.file}: takes {rows.x.nbytes / 1e9:.3g} GB, and a pipeline needs its rows in memory; give parts of it."
            )
        return rows
    tables = tables_of(reading, "a pipeline that takes columns by name")
    known = {str(field.label): field.label for field in tables[0].header.fields}
    wanted = [known[name] for name in names if name in known] + ([] if reading.weight is None else [reading.weight])
    parts = dict[Any, list[NDArray[Any]]]()
    for table in tables:
        for block in table.blocks([table.header.position(label) for label in wanted]):
            for label, values in zip(wanted, block, strict=True):
                parts.setdefault(label, []).append(values)
    columns = {label: _with_gaps(np.concatenate(values)) for label, values in parts.items()}
    weight = None if reading.weight is None else np.asarray(columns.pop(reading.weight), dtype=np.float64)
    return InputRows(Table({str(label): column for label, column in columns.items()}).to_frame(), tuple(columns), weight)


def _with_gaps(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column in which NaN stands for every empty cell, as in frames that pandas reads."""
    if values.dtype.kind not in "OU":
        return values
    column = values.astype(object)
    column[[value is None or value == "" for value in column.tolist()]] = np.nan
    return column
