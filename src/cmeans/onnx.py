"""Models as ONNX graphs: labels, memberships and distances of new rows where there is no Python.

ONNX (`pip install "cmeans[onnx]"`) enters the package in `persistence/onnx_graph.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .data.addresses import place
from .data.blocks import Block
from .persistence.onnx_graph import Graph, Namespace, NoNumbersError, Symbol
from .persistence.pipelines import steps_of
from .persistence.transformers import scaled_by
from .runtime.checks import one_of
from .runtime.user_warnings import one_line
from .storage.atomic import write_atomically

__all__ = ["export"]


def export(
    model: BaseEstimator,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: Literal["float64", "float32"] = "float64",
) -> Any:
    """Return what a fitted model says of new rows as an ONNX graph, and write it to a file.

    The graph has one input, `X` (rows, d), and three outputs:

    - `label` (rows,), integers: what `predict` returns.
    - `memberships` (rows, c): what `memberships` returns, of a mixture the posterior probabilities.
    - `distances` (rows, c): what `transform` returns.

    It holds the centres, the landmarks and the formulas of rule, kernel and covariances, and no
    training rows beside the landmarks; of `GaussianMixture` and `covariance=` all shapes.
    The scale of the columns is in it, where the model keeps one: that of a table (`read_table`), so
    that `X` are the table's numbers as they are, and of the scalers of a `Pipeline` that
    `cmeans.save` takes.

    Parameters
    ----------
    model : a fitted estimator of this library, or a pipeline that ends in one.
    path : the file, by custom `.onnx`; None: none is written. Addresses go too.
    dtype : "float64" or "float32", default="float64"
        The type of `X`, of what is computed and of the results. "float64" agrees with the model to
        rounding. "float32", for devices that know no other, agrees with what the model says of rows
        of that type to some 1e-5; rows nearly between two clusters may get the other label.

    Returns
    -------
    onnx.ModelProto, of operator set 17; `doc_string` is the model's repr, and `metadata_props` hold
    its class ("estimator") and the names of the columns ("columns", JSON).

    Raises
    ------
    ImportError
        Without ONNX, which `pip install "cmeans[onnx]"` brings.
    ValueError
        For models without fixed centres (communities, connected pieces, consensus, living streams),
        rows that are kernel values or had missing values, tables whose columns are made of others,
        and kernels or rules that ask for more than formulas: the message says which.

    Notes
    -----
    Rows are not checked: of NaN and infinity whatever arithmetic makes of them comes back.

    Examples
    --------
    >>> import cmeans
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = cmeans.FuzzyCMeans(2, random_state=0).fit(X)
    >>> graph = cmeans.onnx.export(model, "model.onnx")  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession("model.onnx")  # doctest: +SKIP
    >>> labels, u, distances = session.run(None, {"X": np.array(X)})  # doctest: +SKIP
    """
    one_of(dtype, "dtype", "onnx.export", ("float64", "float32"))
    check_is_fitted(model)
    steps, last = steps_of(getattr(model, "_saved", model))
    check_is_fitted(last)
    graph = Graph()
    x = rows = graph.rows("X", last.n_features_in_, dtype)
    for name, tool in () if steps is None else steps.before:
        with _telling(f"step {name!r}"):
            rows = scaled_by(tool, rows)
    outputs = _answers(last, rows)
    names = getattr(model, "feature_names_in_", None)
    note = {"estimator": type(last).__name__}
    if names is not None:
        note["columns"] = json.dumps([str(name) for name in names])
    made = x.graph.model(outputs, one_line(repr(model), most=1000), note)
    if path is not None:
        write_atomically(
            place(path), lambda temporary: Path(temporary).write_bytes(made.SerializeToString())
        )
    return made


def _answers(model: Any, x: Symbol) -> dict[str, Symbol]:
    """Return label, memberships and distances of rows; as `sweeps.generic.assign` has them."""
    name = type(model).__name__
    if "_state" not in vars(model):
        raise ValueError(
            f"onnx.export: what {name} says of a row does not follow from distances to fixed "
            "centres, which is what a graph can hold; take an estimator with centres."
        )
    space, rule, state = model._space, model._rule, model._state
    if not space.kernel.takes_features:
        raise ValueError(
            f"onnx.export: rows of {name}(kernel={space.kernel.name!r}) are values for other rows; "
            "a graph needs a kernel that computes them of features."
        )
    if space.filling is not None:
        raise ValueError(
            f"onnx.export: {name} was fitted to rows with missing values, which a graph has no "
            "place for; fit to whole rows, or put values in their place before (SimpleImputer)."
        )
    x = _in_units(model, x)
    space = space.for_rows(
        x, holes=False, is_scale_free=rule.is_scale_free, has_metrics=state.metrics is not None
    )
    with _telling(f"kernel {type(space.kernel).__name__}"):
        rows = space.rows(Block(x, np.ones(1), 0)).plain()
        d2 = state.distances_in(space, rows.kxx)(rows)
    with _telling(f"rule {type(rule).__name__}"):
        xp = Namespace()
        costs, _ = rule.tails(d2, state.expected_errors)
        u = rule.memberships(costs, state.scales)
        label, distances = xp.argmax(u, axis=1), xp.sqrt(d2)
        if rule.leaves_rows_out:
            label = xp.where(rule.left_out(u, costs), -1, label)
    if space.may_hold_empty_rows:
        empty = rows.kxx == 0
        label, u = xp.where(empty, -1, label), xp.where(empty[:, None], 0.0, u)
        distances = xp.where(empty[:, None], np.nan, distances)
    return {"label": label, "memberships": u, "distances": distances}


def _in_units(model: Any, rows: Symbol) -> Symbol:
    """Return rows in the units of the model, from those of the table that it was fitted to."""
    recipe = vars(model).get("recipe_")
    if recipe is not None:
        if recipe.made:
            sources = ", ".join(sorted({name for made in recipe.made for name in made.sources}))
            raise ValueError(
                f"onnx.export: columns of the table are made of others ({sources}), which a graph "
                "of numbers cannot do; fit to columns of numbers, or make these before."
            )
        rows = recipe.scaling.scaled(rows)
    units = model._units
    with _telling("the power of each column"):
        return rows if units is None else units(rows)


@contextmanager
def _telling(what: str) -> Iterator[None]:
    """Say in one line what cannot be written, and why."""
    try:
        yield
    except (NoNumbersError, AttributeError, TypeError) as error:
        raise ValueError(
            f"onnx.export: {what} cannot be written as a graph: {one_line(error, most=200)}."
        ) from error
