"""Parameters with values of several kinds: landmarks, row numbers, points, the fuzzifier."""

from __future__ import annotations

import inspect
import numbers
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import sparse

from ..data.arrays import Array, IntArray, as_like, is_foreign, is_sparse
from ..data.blocks import Blocks
from ..kernels import LandmarkGraphKernel, Precomputed, PrecomputedGraphKernel, checked_params
from ..kernels.landmark_graph import GraphParameters
from .validation import checked_square_diagonal, host_array, intact, integer, one_of, real

if TYPE_CHECKING:
    from .space import Geometry, SpaceParameters

# Values that parameters of several estimators take by name
Auto = Literal["auto"]
GammaName = Literal["scale", "median"]
LandmarkName = Literal["rpcholesky", "k-means++", "uniform"]
LandmarkSolver = Literal["eigh", "gradient"]
InitName = Literal["k-means++", "k-means||", "max-min", "random", "random-partition"]
Acceleration = Literal["anderson"]
SearchName = Literal["auto", "breathing"]
SparsityTest = Literal["global", "local"]
InnerScaling = Literal["range"]
StreamRule = Literal["fuzzy", "hard"]


def given_landmarks(value: Any, estimator_name: str, blocks: Blocks, number: int | str | None) -> tuple[IntArray | None, Array] | None:
    """Return landmarks given as row numbers (rows, points) or as points (None, points); None where `value` is the name of a method."""
    if isinstance(value, str):
        return None
    if are_points(value, estimator_name):
        rows, points = None, matching_points(value, "landmarks", estimator_name, blocks)
    else:
        rows = row_numbers(value, estimator_name, blocks.n_rows)
        points = blocks.take(rows).x
    if isinstance(number, int) and number != points.shape[0]:
        raise ValueError(
            f"{estimator_name}(n_landmarks={number}): landmarks holds {points.shape[0]}; leave n_landmarks out when they are given."
        )
    return rows, points


def number_of_landmarks(value: Any, estimator_name: str, n_rows: int | None) -> int | str | None:
    """Return n_landmarks: a number of rows, "auto", or None for the exact space."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    number = integer(value, "n_landmarks", estimator_name, 1, others='"auto", None or ')
    if n_rows is not None and number > n_rows:
        raise ValueError(f"{estimator_name}(n_landmarks={number}): there are only n_samples={n_rows} rows to take landmarks from.")
    return number


def takes_kernel_values(kernel: Any) -> bool:
    """True where rows are kernel values already."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def takes_graph(kernel: Any) -> bool:
    """True where the kernel is a graph of the rows."""
    return isinstance(kernel, LandmarkGraphKernel) or (isinstance(kernel, str) and kernel == "landmark_graph")


def takes_affinities(kernel: Any) -> bool:
    """True where rows are affinities to all rows of a graph."""
    return isinstance(kernel, PrecomputedGraphKernel) or (isinstance(kernel, str) and kernel == "precomputed_graph")


def graph_parameters(parameters: SpaceParameters, estimator_name: str) -> GraphParameters:
    """Return the parameters of a graph, checked; refuse those that have no meaning for it."""
    given = takes_affinities(parameters.kernel)
    asked = f'{estimator_name}(kernel="{"precomputed_graph" if given else "landmark_graph"}"'
    defaults = {name: one.default for name, one in inspect.signature(type(parameters)).parameters.items()}
    meaningless = ("gamma", "degree", "coef0", "landmark_tol", "landmark_solver", *(("n_landmarks", "landmarks") if given else ()))
    for name in [name for name in meaningless if name in defaults]:
        value, default = getattr(parameters, name), defaults[name]
        if type(value) is not type(default) or value != default:
            raise ValueError(f"{asked}, {name}={value!r}): a graph has no {name}; leave it out.")
    if parameters.n_landmarks is None:
        raise ValueError(f'{asked}, n_landmarks=None): the graph is made over landmarks; give a number, or "auto".')
    params = checked_params(parameters.kernel_params, estimator_name)
    known = {"n_components", "normalized"} if given else {field.name for field in fields(GraphParameters)}
    if set(params) - known:
        raise ValueError(f"{asked}, kernel_params={params!r}): {sorted(set(params) - known)} unknown; a graph takes {sorted(known)}.")
    try:
        return GraphParameters(**params)
    except ValueError as error:
        raise ValueError(f"{asked}, kernel_params={params!r}): {error}") from None


def checked_landmark_parameters(
    parameters: SpaceParameters, estimator_name: str, n_rows: int | None = None
) -> tuple[int | str | None, bool]:
    """Return the number of landmarks and whether to factor their kernel. Parameters are checked even where they will not be used, and
    independently of the rows where `n_rows` is None."""
    if isinstance(parameters.landmarks, str):
        one_of(parameters.landmarks, "landmarks", estimator_name, get_args(LandmarkName))
    else:
        check_landmarks(parameters.landmarks, estimator_name, rows_only=takes_kernel_values(parameters.kernel))
    real(parameters.landmark_tol, "landmark_tol", estimator_name)
    factor = one_of(parameters.landmark_solver, "landmark_solver", estimator_name, get_args(LandmarkSolver)) == "eigh"
    return number_of_landmarks(parameters.n_landmarks, estimator_name, n_rows), factor


def refuse_stored(parameters: SpaceParameters, estimator_name: str, blocks: Blocks, number: int | str | None) -> None:
    """Refuse rows that are not in memory where the space does not read them block by block."""
    if takes_kernel_values(parameters.kernel) or takes_affinities(parameters.kernel):
        name = "precomputed" if takes_kernel_values(parameters.kernel) else "precomputed_graph"
        blocks.require_in_memory(
            lambda where: f'{estimator_name}(kernel="{name}"): kernel values must be in memory; load {where} first, or pass rows.'
        )
    if number is None and isinstance(parameters.landmarks, str):
        blocks.require_in_memory(
            lambda where: (
                f"{estimator_name}(n_landmarks=None): the exact kernel needs all {blocks.n_rows:,} rows in memory; take landmarks "
                f'(n_landmarks="auto" or a number), or load {where} and pass the array.'
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


def check_m(value: Any, name: str, estimator_name: str) -> float | None:
    """Return the fuzzifier as a number; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, numbers.Real) and value == 1:
        raise ValueError(
            f"{estimator_name}({name}={value!r}): {name} must be greater than 1; for m = 1, hard memberships, use KernelKMeans."
        )
    return real(value, name, estimator_name, least=1.0, above=True, others='"auto" or ')


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
