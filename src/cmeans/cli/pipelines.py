"""Rows of a file as a saved pipeline takes them."""

from __future__ import annotations

from dataclasses import replace

from sklearn.pipeline import Pipeline

from ..fitting.rows.finite import takes_holes
from ..inspection.tables import Table
from ..runtime.numerals import in_bytes
from .errors import InputError
from .rows import InputRows, ReadOptions, read_rows


def rows_of_pipeline(pipeline: Pipeline, reading: ReadOptions) -> InputRows:
    """Return the rows of a file in memory: a data frame of the columns that the pipeline names, or
    an array where it names none."""
    if reading.columns:
        raise InputError(
            "--columns: the model is a pipeline, which says itself what columns it takes; leave "
            "the option out."
        )
    names = getattr(pipeline, "feature_names_in_", None)
    known = range(pipeline.n_features_in_) if names is None else [str(name) for name in names]
    rows = read_rows(replace(reading, holes=takes_holes(pipeline[-1])), known)
    if rows.stay:
        raise InputError(
            f"{reading.file}: takes {in_bytes(rows.x.nbytes)}, and a pipeline needs its rows in "
            "memory; give parts of it."
        )
    if names is None:
        return rows
    return replace(
        rows, x=Table({str(name): rows.x[:, at] for at, name in enumerate(names)}).to_frame()
    )
