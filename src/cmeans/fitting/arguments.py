"""Parameters with values of several kinds: landmarks, row numbers, points, the fuzzifier, sizes of clusters."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Set
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from ..data.arrays import Array, IntArray, as_like, is_foreign, is_sparse
from ..data.blocks import Blocks
from ..kernels import LandmarkGraphKernel, Precomputed, PrecomputedGraphKernel, checked_params
from ..kernels.landmark_graph import GraphParameters
from ..rules import Rule, Truncated
from .validation import checked_square_diagonal, host_array, intact, integer, real

if TYPE_CHECKING:
    from .geometry import Geometry
    from .space import SpaceParameters

# Values that parameters of several estimators take by name
Auto = Literal["auto"]
GammaName = Literal["scale", "median"]
MetricName = Literal["euclidean", "cosine"]
InitName = Literal["k-means++", "k-means||", "max-min", "random", "random-partition"]
MissingName = Literal["error", "partial"]
SparsityTest = Literal["global", "local"]
InnerScaling = Literal["range"]
StreamRule = Literal["fuzzy", "hard"]
HARDNESS = 0.5  # beta of a polynomial fuzzifier, as in R's fclust


def takes_kernel_values(kernel: Any) -> bool:
    """True where rows are kernel values already."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def takes_graph(kernel: Any) -> bool:
    """True where the kernel is a graph of the rows."""
    return isinstance(kernel, LandmarkGraphKernel) or (isinstance(kernel, str) and kernel == "landmark_graph")


def takes_affinities(kernel: Any) -> bool:
    """True where rows are affinities to all rows of a graph."""
    return isinstance(kernel, PrecomputedGraphKernel) or (isinstance(kernel, str) and kernel == "precomputed_graph")


def changed_among(names: Set[str], parameters: Any) -> list[str]:
    """Return those of the parameters of an estimator's constructor, in its order, that differ from their defaults."""
    return [
        name
        for name, default in defaults_of(parameters.__class__).items()
        if name in names and _differs(getattr(parameters, name), default)
    ]


@cache
def defaults_of(estimator: type) -> dict[str, Any]:
    """Return the defaults of the parameters of an estimator's constructor."""
    return {name: one.default for name, one in inspect.signature(estimator).parameters.items()}


def _differs(value: Any, default: Any) -> bool:
    return not (np.isscalar(value) or value is None) or value != default


def graph_parameters(parameters: SpaceParameters, estimator_name: str) -> GraphParameters:
    """Return the parameters of a graph, checked; refuse those that have no meaning for it."""
    given = takes_affinities(parameters.kernel)
    asked = f'{estimator_name}(kernel="{"precomputed_graph" if given else "landmark_graph"}"'
    for name in changed_among({"gamma", "degree", "coef0"}, parameters):
        raise ValueError(f"{asked}, {name}={getattr(parameters, name)!r}): a graph has no {name}; leave it out.")
    params = checked_params(parameters.kernel_params, estimator_name)
    known = {"n_components", "normalized", "refine"} if given else {field.name for field in fields(GraphParameters)} - {"refine"}
    if set(params) - known:
        raise ValueError(f"{asked}, kernel_params={params!r}): {sorted(set(params) - known)} unknown; a graph takes {sorted(known)}.")
    try:
        return GraphParameters(**params)
    except ValueError as error:
        raise ValueError(f"{asked}, kernel_params={params!r}): {error}") from None


def refuse_stored(parameters: SpaceParameters, estimator_name: str, blocks: Blocks, *, exact: bool) -> None:
    """Refuse rows that are not in memory where the space does not read them block by block."""
    if takes_kernel_values(parameters.kernel) or takes_affinities(parameters.kernel):
        name = "precomputed" if takes_kernel_values(parameters.kernel) else "precomputed_graph"
        blocks.require_in_memory(
            lambda where: f'{estimator_name}(kernel="{name}"): kernel values must be in memory; load {where} first, or pass rows.'
        )
    if exact:
        blocks.require_in_memory(
            lambda where: (
                f"{estimator_name}(landmarks=None): the exact kernel needs all {blocks.n_rows:,} rows in memory; take landmarks "
                f'(landmarks="auto" or a number), or load {where} and pass the array.'
            )
        )


def row_numbers(value: Any, estimator_name: str, n_rows: int, name: str = "landmarks") -> IntArray:
    """Return row numbers (s,), checked against the number of rows."""
    numbers = _numbers(value, estimator_name, name)
    wrong = (numbers < 0) | (numbers >= n_rows)
    if wrong.any():
        raise ValueError(f"{estimator_name}({name}=...): row number {numbers[wrong][0]} does not exist; there are {n_rows} rows, from 0.")
    rows: IntArray = numbers.astype(np.intp)
    return rows


def check_landmarks(value: Any, estimator_name: str, *, rows_only: bool) -> None:
    """Refuse values that are neither row numbers nor points, whatever the rows are."""
    if not rows_only and are_points(value, estimator_name):
        _points(value, "landmarks", estimator_name)
    else:
        _numbers(value, estimator_name, "landmarks")


def are_points(value: Any, estimator_name: str) -> bool:
    return is_sparse(value) or is_foreign(value) or host_array(value, "landmarks", estimator_name).ndim == 2


def _numbers(value: Any, estimator_name: str, name: str) -> Any:
    numbers = host_array(value, name, estimator_name)
    if numbers.ndim != 1 or len(numbers) == 0 or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"{estimator_name}({name}=...): give a 1-D array of row numbers, got shape {numbers.shape} of {numbers.dtype}.")
    return numbers


def _points(value: Any, name: str, estimator_name: str, n_features: int | None = None) -> Any:
    """Return finite points (s, d); d may be any number where `n_features` is None."""
    points: Any = intact(value, name, estimator_name) if is_sparse(value) else host_array(value, name, estimator_name)
    d = points.shape[-1] if n_features is None and points.ndim == 2 else n_features
    if points.ndim != 2 or points.shape[0] == 0 or points.shape[1] != d:
        raise ValueError(f"{estimator_name}({name}=...): points must have shape (count, {d}) as the rows have, got {tuple(points.shape)}.")
    if not is_sparse(points) and not np.issubdtype(points.dtype, np.number):
        raise ValueError(f"{estimator_name}({name}=...): points must be numbers, got {points.dtype}.")
    if not np.isfinite(points.data if is_sparse(points) else points).all():
        raise ValueError(f"{estimator_name}({name}=...): points must be finite; NaN or infinity found.")
    return points


def matching_points(value: Any, name: str, estimator_name: str, blocks: Blocks) -> Array:
    """Return points (s, d) in the form and units of the rows: dense or CSR, same library and dtype."""
    x = blocks.x
    points = _points(value, name, estimator_name, x.shape[1])
    if is_sparse(x):
        return blocks.scaled(type(x)(sparse.csr_array(points).astype(x.dtype)))
    return blocks.scaled(as_like(points.toarray() if is_sparse(points) else points, x))


def settled_m(value: Any, name: str, estimator_name: str, geometry: Geometry) -> float:
    """Return the fuzzifier as given, or the one that keeps clusters apart."""
    return geometry.fuzzifier.automatic if check_m(value, name, estimator_name) is None else float(value)


def check_noise(value: Any, estimator_name: str) -> float | None:
    """Return the share of noise as a number; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    share = real(value, "noise", estimator_name, above=True, others='"auto", None or ')
    if share >= 1:
        raise ValueError(f"{estimator_name}(noise={value!r}): the share of the rows that are noise must be less than 1.")
    return share


def check_parameter(name: str, value: Any, estimator_name: str) -> None:
    """Refuse a bad value of a parameter of a rule, whatever the rows are."""
    _RULE_PARAMETERS[name][0](value, name, estimator_name)


def check_top_k(value: Any, rule: Rule | type[Rule], sizes: str | None, search: str | None, estimator_name: str) -> int | None:
    """Return the number of clusters in which a row has memberships; None for all. Refuse it for rules that cannot keep to it."""
    if value is None:
        return None
    k = integer(value, "top_k", estimator_name, 1, others="None or ")
    given = f"{estimator_name}(top_k={value!r}"
    why = Truncated.refusal(rule)
    if why is not None:
        raise ValueError(f"{given}): memberships of rule={rule.name or rule!r} cannot be truncated, as {why}; leave out top_k=.")
    if sizes is not None:
        raise ValueError(f"{given}, {sizes}): sizes are bounded of clusters that all rows may join; give top_k= or the bounds, not both.")
    if search == "annealing":
        raise ValueError(f'{given}, search="annealing"): annealing begins where a row is as near to all centres; take search="breathing".')
    return k


def truncated(rule: Rule, top_k: int | None) -> Rule:
    """Return a rule whose rows have memberships in so many clusters alone."""
    return rule if top_k is None else Truncated(rule, top_k)


def settled(name: str, value: Any, estimator_name: str, geometry: Geometry) -> float:
    """Return a parameter of a rule as given, or as the rows make it."""
    return _RULE_PARAMETERS[name][1](value, name, estimator_name, geometry)


def settled_temperature(value: Any, name: str, estimator_name: str, geometry: Geometry) -> float:
    """Return the temperature as given, or the one that keeps clusters apart."""
    return geometry.temperature if check_temperature(value, name, estimator_name) is None else float(value)


def check_temperature(value: Any, name: str, estimator_name: str) -> float | None:
    """Return the temperature as a number; None for "auto", and where none is given."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    return real(value, name, estimator_name, above=True, others='"auto" or ')


def check_m(value: Any, name: str, estimator_name: str) -> float | None:
    """Return the fuzzifier as a number; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, numbers.Real) and value == 1:
        raise ValueError(
            f"{estimator_name}({name}={value!r}): {name} must be greater than 1; for m = 1, hard memberships, use KernelKMeans."
        )
    return real(value, name, estimator_name, least=1.0, above=True, others='"auto" or ')


def check_beta(value: Any, name: str, estimator_name: str) -> float:
    """Return the hardness of a polynomial fuzzifier; HARDNESS where none is given."""
    beta = real(HARDNESS if value is None else value, name, estimator_name)
    if beta >= 1:
        raise ValueError(
            f"{estimator_name}({name}={value!r}): {name} must be less than 1; for hard memberships, its limit, use KernelKMeans."
        )
    return beta


_RULE_PARAMETERS: dict[str, tuple[Callable[..., Any], Callable[..., float]]] = {  # each with its check, and how it is settled
    "m": (check_m, settled_m),
    "T": (check_temperature, settled_temperature),
    "beta": (check_beta, lambda value, name, estimator_name, _: check_beta(value, name, estimator_name)),
}


def whole_diagonal(parameters: SpaceParameters, estimator_name: str, gram: Array) -> Array:
    """Return the checked diagonal of a square kernel matrix; it must not be given a second time."""
    diag = checked_square_diagonal(estimator_name, gram)
    if given_diagonal(parameters, estimator_name) is not None:
        raise ValueError(
            f'{estimator_name}(kernel_params={{"diag": ...}}): the square kernel matrix has a diagonal of its own; leave it out.'
        )
    return diag


def given_diagonal(parameters: SpaceParameters, estimator_name: str) -> Any:
    """Return the diagonal in kernel_params, as it came; None where there is none."""
    params = checked_params(parameters.kernel_params, estimator_name)
    if set(params) - {"diag"}:
        raise ValueError(f'{estimator_name}(kernel_params={params!r}): kernel="precomputed" takes "diag" only.')
    return params.get("diag")
