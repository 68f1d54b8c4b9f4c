"""Some rows of a clustering and what its model says of them: all that displays, summaries and
explanations look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..data.arrays import Array, Float64, IntArray, host_float64, is_sparse, ratios
from ..fitting.rows.advice import refuse_no_rows
from ..fitting.seen_rows import Inspectable, SeenRows, first_rows
from ..runtime.checks import integer
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from .far_cells import Mask, far_cells
from .steps import last_step, other_columns, shown_columns
from .units import Unit, unit_of

MOST_ROWS = 50_000  # that are looked at of more, evenly spaced


@dataclass(frozen=True)
class InspectedRows:
    """Some rows, and what a model says of them.

    Attributes
    ----------
    model : of this library; the last step, where a pipeline was asked.
    numbers : (s,) of the rows, in the order of X.
    n_rows : of X.
    x : (s, d) float64, dense or CSR, in the units of X; NaN: missing; None where rows are no
        features (precomputed kernels).
    weight : (s,)
    labels : (s,) -1 for noise.
    memberships : (s, c) one-hot for hard clusters.
    is_soft : whether clusters are not hard.
    distances : (s, c) to the centres, in the space of the model.
    state : the centres, and their metrics.
    feature_names : d names.
    represented : the rows as the space of the model has them; None where it has no numbers.
    dates : numbers of the columns that are days since 1970.
    taken : (s, d) the rows as the model takes them; None where rows are no features.
    """

    model: Any
    numbers: IntArray
    n_rows: int
    x: Array | None
    weight: Float64
    labels: IntArray
    memberships: Float64
    is_soft: bool
    distances: Float64
    state: State
    feature_names: tuple[str, ...]
    represented: RepresentedRows | None
    dates: frozenset[int] = frozenset()
    taken: Array | None = None

    def column(self, number: int) -> Float64:
        """Return one column (s,) of the input."""
        assert self.x is not None
        x = self.x
        return host_float64(x[:, [number]])[:, 0] if is_sparse(x) else x[:, number]

    def unit(self, number: int) -> Unit:
        """Return how the numbers of a column are written."""
        values, far = self.column(number), self.far.get(number)
        return unit_of(values if far is None else values[~far], number in self.dates)

    @cached_property
    def far(self) -> Mapping[int, Mask]:
        """Cells that lie far from all others of their column, by the number of the column."""
        return far_cells(self.x, self.weight)

    @property
    def coordinates(self) -> Float64:
        """(s, r) of the rows, over the orthonormal axes of a space that has some."""
        represented = self.represented
        assert represented is not None, "clusters with metrics are in a space"
        rows = represented.blocks.take(np.arange(represented.n_rows))
        coordinates: Float64 = represented.space.embed(rows).coordinates
        return coordinates

    @property
    def n_clusters(self) -> int:
        return int(self.memberships.shape[1])

    @cached_property
    def silhouettes(self) -> Float64:
        """(s,) simplified silhouettes (b - a) / max(a, b), by the own and the nearest other centre;
        0 for one cluster, or noise."""
        if self.n_clusters < 2:
            return np.zeros(len(self.labels))
        own = self.own_distances
        others = self.distances.copy()
        np.put_along_axis(others, np.maximum(self.labels, 0)[:, None], np.inf, axis=1)
        other = others.min(axis=1)
        far = np.maximum(own, other)
        return np.where(self.labels < 0, 0.0, ratios(other - own, far))

    @cached_property
    def own_distances(self) -> Float64:
        """(s,) distance of each row to the centre of its label; of noise, to the first centre."""
        return self.of_own_cluster(self.distances)

    def of_own_cluster(self, values: Float64) -> Float64:
        """Return the value (s,) of each row's own cluster among values (s, c); noise has that of
        the first."""
        return np.take_along_axis(values, np.maximum(self.labels, 0)[:, None], axis=1)[:, 0]

    def nearest_rows(self, count: int) -> IntArray:
        """Return the places (c, count) of the rows of each label that are nearest to its centre; -1
        where it has fewer."""
        return first_rows(self.labels, self.own_distances, self.n_clusters, count)

    @cached_property
    def masses(self) -> Float64:
        """(c,) the weight of the rows with each label."""
        own = self.labels >= 0
        return np.bincount(
            self.labels[own], weights=self.weight[own], minlength=self.n_clusters
        ).astype(np.float64)


def inspected(
    model: Any,
    X: Any,
    caller: str,
    *,
    sample_weight: Any = None,
    diag: Any = None,
    most: int = MOST_ROWS,
    inverse_transform: Callable[[Any], Any] | None = None,
    values: Any = None,
    recipe: Any = None,
) -> InspectedRows:
    """Return at most so many rows of X, evenly spaced, and what a fitted model says of them; their
    columns in the units to which `inverse_transform` brings them, or as they go into a pipeline, or
    those of other `values` of the same rows. `recipe`: of the table that they are, where the model
    does not keep it; its units are those of the table."""
    pipeline, given = model if isinstance(model, Pipeline) else None, X
    if pipeline is not None and inverse_transform is not None:
        raise ValueError(
            f"{caller}(inverse_transform=...): of a pipeline the columns that go in are shown; "
            "leave it out."
        )
    if values is not None and inverse_transform is not None:
        raise ValueError(
            f"{caller}(values=..., inverse_transform=...): values are shown as they are; leave one "
            "of them out."
        )
    model, X = last_step(model, X)
    if not isinstance(model, Inspectable):
        raise ValueError(
            f"{caller}: the model is {model!r}; pass a fitted estimator of this library."
        )
    if X is None:
        raise ValueError(
            f"{caller}: X is None; pass the rows to look at, those of the fit or others."
        )
    most = integer(most, "max_rows", caller, 1)
    seen = model._seen(X, diag, sample_weight, most)
    x, numbers = seen.x, seen.numbers
    recipe = vars(model).get("recipe_") if recipe is None else recipe
    if pipeline is not None or values is not None or x is None:
        recipe = None
    if recipe is not None and inverse_transform is None:
        inverse_transform = recipe.scaling.undone
    if x is not None and inverse_transform is not None:
        wanted, x = tuple(x.shape), inverse_transform(x)
        if getattr(x, "shape", None) != wanted:
            raise ValueError(
                f"{caller}(inverse_transform=...): it returned {getattr(x, 'shape', type(x))}; an "
                f"array {wanted} is needed."
            )
    names = () if x is None else feature_names(model) if recipe is None else recipe.shown_names
    dates = () if recipe is None else map(recipe.columns.index, recipe.dates)
    if values is not None:
        x, names = _of_other_values(values, seen, caller)
    elif x is not None and pipeline is not None:
        x, names = shown_columns(pipeline, given, numbers)
    x = x if x is None or is_sparse(x) else host_float64(x)
    words = {**vars(seen), "x": x, "feature_names": names, "dates": frozenset(dates)}
    return InspectedRows(**words, model=model, taken=seen.x)


def _of_other_values(values: Any, seen: SeenRows, caller: str) -> tuple[Array, tuple[str, ...]]:
    """Return rows of other values than those of the fit, and the names of their columns."""
    refuse_no_rows(values, f"{caller}(values=...)")
    shape = np.shape(values)
    if len(shape) != 2 or shape[0] != seen.n_rows:
        raise ValueError(
            f"{caller}(values=...): its shape is {shape}, and X has {seen.n_rows} rows; give the "
            "same rows, in the same order."
        )
    return other_columns(values, seen.numbers)


def feature_names(model: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted to, or their numbers."""
    names = vars(model).get("feature_names_in_")
    if names is None:
        return tuple(f"column {number}" for number in range(model.n_features_in_))
    return tuple(map(str, names))


def named_features(names: Any, seen: InspectedRows, caller: str) -> tuple[str, ...]:
    """Return the names of columns that a user gave, or those of the model."""
    if names is None:
        return seen.feature_names
    if seen.x is None:
        raise ValueError(
            f"{caller}(feature_names=...): rows of a precomputed kernel have no columns to name; "
            "leave feature_names out."
        )
    given = tuple(str(name) for name in names)
    if len(given) != len(seen.feature_names):
        raise ValueError(
            f"{caller}(feature_names=...): {len(given)} names for {len(seen.feature_names)} "
            "columns."
        )
    return given
