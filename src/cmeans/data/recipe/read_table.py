"""`read_table`: a table of any writing as rows, with the recipe that reads the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..addresses import PathWord
from ..containers import ArrowTable, is_table
from ..files.notation import TextFormat
from ..files.opening import hold, open_rows, opened_tables
from ..files.schema import ReadOptions, in_python
from ..row_source import ColumnLabel, RowsError, StoredRows, as_source
from .front import TableWords, front_of, in_units
from .made_columns import Unseen
from .recipe_columns import with_made
from .scaling import AUTO, KINDS
from .table_recipe import TableRecipe

_IN_MEMORY = 2**30  # bytes of rows up to which they are read at once


def read_table(
    path: PathWord | Sequence[PathWord] | ArrowTable,
    *,
    recipe: Any = None,
    columns: ColumnLabel | Sequence[ColumnLabel] | None = (),
    weight: ColumnLabel | None = None,
    id: ColumnLabel | None = None,
    scale: str = "none",
    categorical: Sequence[ColumnLabel] = (),
    dates: Sequence[str] = (),
    cyclic: Mapping[str, float] | None = None,
    latlon: Sequence[tuple[str, str]] = (),
    column_weight: Mapping[str, float] | None = None,
    missing: str = "error",
    missing_values: Sequence[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    dtype: Any = None,
) -> StoredRows:
    """Read a table as people write it, for any estimator, and keep how it was read.

    Use it for data frames, and CSV, Parquet, Arrow and Excel files, whose columns are not all plain
    numbers. Numbers with decimal commas, thousands and signs of currencies are recognised;
    identifiers, dates and text are left out; each is told in a `DataWarning`. A model that is
    fitted to the rows keeps their recipe as `recipe_`, also in its file, by which the next table is
    read, and each path and data frame that its `predict` and other methods are given. An array, and
    a frame of columns that the recipe made, are taken as prepared.

    Parameters
    ----------
    path : str, path, a sequence of them, or a table
        As of `open_blocks`. A table is a data frame of pandas or polars, a table of PyArrow, or
        whatever else has ``__arrow_c_stream__``; it is held in memory and read as a Parquet file of
        it would be.
    recipe : a fitted model, or the ``recipe`` of another table, default None
        Read the table as that one was: all parameters below but ``columns``, ``weight``, ``id``,
        ``missing`` and ``encoding`` are then its own. Numbers that are written otherwise, with
        decimal commas for one, are read with a `DataWarning`.
    columns : str, int, or a sequence of them, default ()
        Columns that are data; with () or None all that hold numbers, with a recipe those of its
        names.
    weight : str or int, default None
        The column of sample weights.
    id : str or int, default None
        The column that names the rows, which is no data.
    scale : {"none", "standard", "unit", "robust", "log", "auto"}, default "none"
        "standard": mean 0, deviation 1; "unit": from 0 to 1; "robust": by medians and quartiles;
        "log": standard, after the logarithm of columns with a long tail. "auto": "log" where that
        levels a long tail, "unit" or "robust" where the ranges of columns differ more than ten
        times, else "none".
    categorical : sequence of columns, default ()
        Each category becomes a column of zeros and ones; empty cells, and `missing_values`, are
        one of their own.
    dates : sequence of str, default ()
        Columns of dates, as days since 1970; ``"name=%d.%m.%Y"`` where the format is not clear.
    cyclic : dict of column: period, default None
        Numbers that begin anew, such as ``{"hour": 24}``, as points of a circle.
    latlon : sequence of (latitude, longitude), default ()
        Pairs of columns in degrees, as points of the sphere.
    column_weight : dict of column: weight, default None
        As how many columns alike a column counts, after it is scaled.
    missing : {"error", "partial"}, default "error"
        As of `open_blocks`.
    missing_values : sequence of str, default None
        Cells that stand for nothing, beside empty ones and NA, such as ``["?", "-9999"]``. None:
        where some seem to, that is an error that says so.
    decimal, thousands : str, default None
        What stands before decimals, and between thousands; recognised by default.
    encoding : str, default None
        Of files of text; UTF-8, UTF-16 and Windows-1252 are recognised.
    header, dtype
        As of `open_blocks`.

    Returns
    -------
    StoredRows
        The rows, scaled, for any estimator: ``columns``, ``weight`` and ``read(start, stop)`` are
        as of `open_blocks`, ``recipe`` is how they were read, and ``numpy.asarray(rows)`` has all
        of them in memory, for other libraries.

    Raises
    ------
    ValueError
        `RowsError`, of one line: as of `open_blocks`; or numbers may be meant in two ways, or cells
        seem to stand for nothing: the line names the parameter that tells; or what is given is
        neither a path nor a table.
    ImportError
        pyarrow is not installed, and a table or such a file is given.

    Examples
    --------
    >>> import os, tempfile, warnings
    >>> import cmeans
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "shop.csv")
    ...     with open(file, "w") as out:
    ...         _ = out.write("spend;plan\\n1.200,50;a\\n80,00;b\\n95,10;b\\n1.310,00;a\\n")
    ...     with warnings.catch_warnings():
    ...         warnings.simplefilter("ignore")
    ...         rows = cmeans.read_table(file, categorical=["plan"], scale="standard")
    ...     model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(rows)
    ...     again = cmeans.read_table(file, recipe=model)
    >>> rows.columns
    ('spend', 'plan_a', 'plan_b')
    >>> model.predict(again).tolist()
    [1, 0, 0, 1]

    A frame is read in the same way, and so is the next one that the model is given:

    >>> import pandas as pd
    >>> shop = pd.DataFrame({"spend": [1200.5, 80.0, 95.1, 1310.0], "plan": ["a", "b", "b", "a"]})
    >>> rows = cmeans.read_table(shop, categorical=["plan"], scale="standard")
    >>> model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(rows)
    >>> model.predict(shop[:2]).tolist() == model.labels_[:2].tolist()
    True
    """
    if missing not in ("error", "partial"):
        raise RowsError(f'missing={missing!r}: give "error" or "partial".')
    if scale not in (*KINDS, AUTO):
        raise RowsError(f"scale={scale!r}: give one of {', '.join((*KINDS, AUTO))}.")
    several = () if columns is None else columns
    asked = _asked(
        path,
        columns=(several,) if isinstance(several, (str, int)) else tuple(several),
        weight=weight,
        dtype=dtype,
        header=header,
        holes=missing == "partial",
        name=id,
        written=TextFormat(encoding),
    )
    if recipe is not None:
        return _again(asked, getattr(recipe, "recipe_", recipe))
    words = TableWords(
        categorical, dates, cyclic or {}, latlon, column_weight or {}, decimal, thousands,
        None if missing_values is None else tuple(missing_values), encoding,
    )  # fmt: skip
    front = front_of(asked, words, [label for label in (weight, id) if label is not None])
    no_data = [*(field.label for field in front.left_out), *([] if id is None else [id])]
    rows = _opened(asked, front.recipe, no_data)
    front.tell(rows, rows.columns, rows.where, in_python)
    return _with_recipe(
        rows, in_units(front.recipe, rows, rows.columns, rows.weight, scale, words, in_python)
    )


def _asked(path: Any, **words: Any) -> ReadOptions:
    """Return the options for reading files, or a table that is held in their place."""
    return hold(path, ReadOptions("", **words)) if is_table(path) else ReadOptions(path, **words)


def _again(asked: ReadOptions, recipe: Any) -> StoredRows:
    if not isinstance(recipe, TableRecipe):
        raise RowsError(
            f"recipe={recipe!r}: give a model that was fitted to rows of read_table or by the "
            "command, or the recipe of such rows."
        )
    unseen = Unseen()
    known = replace(asked, known=recipe.columns, dtype=recipe.dtype)
    rows = _opened(known, recipe, (), unseen)
    unseen.tell()
    read = _with_recipe(rows, recipe)
    read.columns = recipe.columns  # which others may stand for
    return read


def _opened(
    asked: ReadOptions,
    recipe: TableRecipe,
    no_data: Sequence[ColumnLabel],
    unseen: Unseen | None = None,
) -> StoredRows:
    reading = replace(recipe.reading(asked, unseen), leave_out=no_data)
    if reading.columns:
        header = next(opened_tables(reading)).header
        picked = with_made(header, header.pick(reading.columns))
        reading = replace(reading, columns=header.labels(picked))
    rows = as_source(open_rows(reading, _IN_MEMORY)[0])
    if rows is None:
        raise RowsError(f"{asked.file}: is a sparse matrix; take open_blocks, and no recipe.")
    return rows


def _with_recipe(rows: StoredRows, recipe: TableRecipe) -> StoredRows:
    scaled: StoredRows = recipe.scaling.apply(rows)
    scaled.recipe = recipe
    return scaled
