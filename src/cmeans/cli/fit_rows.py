"""The rows of a fit: how a file is read, its empty cells, encoded and scaled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from ..data.recipe.front import Front, front_of, in_units
from ..data.recipe.table_recipe import TableRecipe
from ..runtime.numerals import in_bytes, parse_budget
from ..runtime.user_warnings import DataWarning
from .fit_request import FitRequest
from .methods import MethodSpec
from .option_names import as_option
from .output.terminal import Screen
from .rows import SHARE, InputRows, apart, read_rows

PARTIAL = "partial"
MOST_BY_HAND = 100_000  # rows of a table below which people write totals


def prepared_rows(
    request: FitRequest,
    front: Front,
    screen: Screen,
    *,
    stays: bool,
    wanted: Callable[[Any], object] | None = None,
) -> tuple[InputRows, TableRecipe]:
    """Return the rows of a file, encoded and scaled, and how. `stays`: they are not to be read
    here; `wanted`: as of `read_rows`."""
    budget = parse_budget(request.words.get("memory_budget"), "--memory-budget")
    told = request.known_labels, request.must_link
    left = [*request.reading.leave_out, *(field.label for field in front.left_out)]
    holes = request.words.get("missing") == PARTIAL
    rows = read_rows(
        replace(request.reading, holes=holes, leave_out=left),
        None,
        0 if stays else None if budget is None else budget // SHARE,
        front.recipe,
        *told,
        wanted,
    )
    read = None if request.plan else rows.x
    front.tell(read, rows.columns, str(request.reading.file), as_option)
    rows = replace(rows, left_out=(*front.left_out, *rows.left_out))
    are_here = isinstance(rows.x, np.ndarray)
    if holes and (np.isnan(rows.x).any() if are_here else request.takes_blanks):
        text = _blanks(rows)
        if request.takes_blanks:
            text += ", as --missing partial says; --missing error refuses them."
            warnings.warn(text, DataWarning, stacklevel=2)
        else:
            screen.say(text)
    if _ends_in_totals(rows, front.recipe):
        warnings.warn(
            f"{request.reading.file}: its last row holds the sums of the others; delete it where "
            "it is a row of totals.",
            DataWarning,
            stacklevel=2,
        )
    if rows.stay:
        who = "the workers read them" if stays else "they are read again in every sweep"
        screen.say(f"{in_bytes(rows.x.nbytes)} of rows stay where they are; {who}")
    recipe = in_units(
        front.recipe, rows.x, rows.columns, rows.weight, request.scale, request.table, as_option
    )
    recipe = replace(recipe, bits=request.reading.bits)
    return replace(rows, x=recipe.scaling.apply(rows.x)), recipe


def with_front(request: FitRequest, methods: Mapping[str, MethodSpec]) -> tuple[FitRequest, Front]:
    """Return how the rows are read, and a request that takes empty cells for missing values where
    there are some, the method can take them, and nothing else is said."""
    reading = replace(request.reading, spell=as_option)
    no_data = apart(reading, request.known_labels, request.must_link)
    front = request.front or front_of(reading, request.table, no_data)
    words, own = request.words, methods[request.method].parameters
    plain = {
        name: words.get(name, own[name].default) for name in ("kernel", "metric") if name in own
    }
    takes = (
        front.has_blanks
        and "missing" in own
        and "missing" not in words
        and request.scheduler is None
        and plain.get("kernel", "linear") == "linear"
        and plain.get("metric") in (None, "euclidean")
        and not any(word.startswith("landmarks") for word in words)
    )
    if takes:
        request = replace(request, words=words | {"missing": PARTIAL}, takes_blanks=True)
    return request, front


def _ends_in_totals(rows: InputRows, recipe: TableRecipe) -> bool:
    """True where each number of the last row is the sum, or the mean, of those above it."""
    if rows.stay or scipy.sparse.issparse(rows.x) or not 10 < len(rows.x) <= MOST_BY_HAND:
        return False
    own = ~np.isin(list(map(str, rows.columns)), list(recipe.unscaled))
    last, above = rows.x[-1, own].astype(np.float64), rows.x[:-1, own]
    counts = np.maximum((~np.isnan(above)).sum(axis=0), 1)
    sums = np.nansum(above, axis=0, dtype=np.float64)
    is_sum, is_mean = np.isclose(last, sums, 1e-4), np.isclose(last, sums / counts, 1e-4)
    known = ~np.isnan(last)
    return bool((is_sum & (last != 0))[known].any() and (is_sum | is_mean)[known].all())


def _blanks(rows: InputRows) -> str:
    """Return what is told of the empty cells that rows hold."""
    if rows.stay:
        return "cells are empty; distances are taken over those that are not"
    counts = np.isnan(rows.x).sum(axis=0)
    some = [
        f"{count:,} of {rows.x.shape[0]:,} in {label!r}"
        for label, count in zip(rows.columns, counts.tolist(), strict=True)
        if count
    ]
    told = ", ".join([*some[:6], *(["..."] if len(some) > 6 else [])])
    return f"cells are empty ({told}); distances are taken over those that are not"
