"""Parameters with values of several kinds: landmarks, row numbers, points, the fuzzifier, sizes of clusters."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from ..data.arrays import Array, Float64, IntArray, as_like, is_foreign, is_sparse
from ..data.blocks import Blocks
from ..data.column_facts import facts_of
from ..data.scaling import FeatureUnits
from ..kernels import Kernel, Precomputed
from ..kernels.base import GammaName as GammaName
from ..rules import RULES, Rule, Truncated
from ..solvers.sizes import SizeLimits
from .validation import checked_square_diagonal, host_array, intact, integer, one_of, real

if TYPE_CHECKING:
    from .space import SpaceParameters

# Values that parameters of several estimators take by name
Auto = Literal["auto"]
LandmarkName = Literal["rpcholesky", "k-means++", "uniform"]
LandmarkSolver = Literal["eigh", "gradient"]
InitName = Literal["k-means++", "k-means||", "max-min", "random", "random-partition"]
Acceleration = Literal["anderson"]
MissingName = Literal["error", "partial"]
OnEmpty = Literal["warn", "error"]
SearchName = Literal["auto", "breathing", "annealing"]
InnerScaling = Literal["range"]
StreamRule = Literal["fuzzy", "hard"]
SizesArgument: TypeAlias = float | Sequence[float] | None  # of both parameters; arrays are sequences too
LEAST = {"size_min": "at least 0", "size_max": "above 0"}


def given_landmarks(
    value: Any, estimator_name: str, blocks: Blocks, number: int | str | None, units: FeatureUnits | None = None
) -> tuple[IntArray | None, Array] | None:
    """Return landmarks given as row numbers (rows, points) or as points (None, points); None where `value` is the name of a method.
    `units`: those of the rows, where they are not the user's."""
    if isinstance(value, str):
        return None
    if are_points(value, estimator_name):
        rows, points = None, matching_points(value, "landmarks", estimator_name, blocks)
        points = points if units is None else units(points)
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


def refuse_beside_graph(parameters: SpaceParameters, kernel: Kernel, estimator_name: str) -> None:
    """Refuse parameters that have no meaning for a graph."""
    asked = f'{estimator_name}(kernel="{kernel.name}"'
    meaningless = {"gamma", "landmark_tol", "landmark_solver"} | ({"n_landmarks", "landmarks"} if kernel.takes_affinities else set())
    for name in changed_among(meaningless, parameters):
        raise ValueError(f"{asked}, {name}={getattr(parameters, name)!r}): a graph has no {name}; leave it out.")
    if parameters.n_landmarks is None:
        raise ValueError(f'{asked}, n_landmarks=None): the graph is made over landmarks; give a number, or "auto".')


def checked_landmark_parameters(
    parameters: SpaceParameters, kernel: Kernel, estimator_name: str, n_rows: int | None = None
) -> tuple[int | str | None, bool]:
    """Return the number of landmarks and whether to factor their kernel. Parameters are checked even where they will not be used, and
    independently of the rows where `n_rows` is None."""
    if isinstance(parameters.landmarks, str):
        one_of(parameters.landmarks, "landmarks", estimator_name, get_args(LandmarkName))
    else:
        check_landmarks(parameters.landmarks, estimator_name, rows_only=kernel.takes_kernel_values)
    real(parameters.landmark_tol, "landmark_tol", estimator_name)
    factor = one_of(parameters.landmark_solver, "landmark_solver", estimator_name, get_args(LandmarkSolver)) == "eigh"
    return number_of_landmarks(parameters.n_landmarks, estimator_name, n_rows), factor


def refuse_stored(parameters: SpaceParameters, kernel: Kernel, estimator_name: str, blocks: Blocks, number: int | str | None) -> None:
    """Refuse rows that are not in memory where the space does not read them block by block."""
    if kernel.takes_kernel_values or kernel.takes_affinities:
        blocks.require_in_memory(
            lambda where: f'{estimator_name}(kernel="{kernel.name}"): kernel values must be in memory; load {where} first, or pass rows.'
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
    """Return points (s, d) in the form of the rows: dense or CSR, same library and dtype."""
    x = blocks.x
    points = _points(value, name, estimator_name, x.shape[1])
    if is_sparse(x):
        return type(x)(sparse.csr_array(points).astype(x.dtype))
    return as_like(points.toarray() if is_sparse(points) else points, x)


def rule_of(value: Any, estimator_name: str, names: Sequence[str] = ()) -> Rule:
    """Return the rule of a name, made with its defaults, or of an object; `names` are those that may be given, all that there are."""
    if isinstance(value, type) and issubclass(value, Rule):
        raise ValueError(f"{estimator_name}(rule={value.__name__}): give a rule object, {value.__name__}(...), not its class.")
    return value if isinstance(value, Rule) else RULES[one_of(value, "rule", estimator_name, tuple(names or RULES))]()


def check_top_k(value: Any, rule: Rule, estimator_name: str) -> int | None:
    """Return the number of clusters in which a row has memberships; None for all. Refuse it for rules that cannot keep to it."""
    if value is None:
        return None
    k = integer(value, "top_k", estimator_name, 1, others="None or ")
    why = Truncated.refusal(rule)
    if why is not None:
        raise ValueError(
            f"{estimator_name}(top_k={value!r}): memberships of rule={rule.name or rule!r} cannot be truncated, as {why}; leave out top_k=."
        )
    return k


def truncated(rule: Rule, top_k: int | None) -> Rule:
    """Return a rule whose rows have memberships in so many clusters alone."""
    return rule if top_k is None else Truncated(rule, top_k)


def whole_diagonal(kernel: Precomputed, estimator_name: str, gram: Array) -> Array:
    """Return the checked diagonal of a square kernel matrix; it must not be given a second time."""
    diag = checked_square_diagonal(estimator_name, gram)
    if kernel.diagonal is not None:
        raise ValueError(
            f"{estimator_name}(kernel=Precomputed(diagonal=...)): the square kernel matrix has a diagonal of its own; leave it out."
        )
    return diag


@dataclass(frozen=True)
class GivenSizes:
    """Bounds as they are given: values below 1 are shares of the rows' weight, others weights."""

    low: Float64  # (c,) or (1,)
    high: Float64  # (c,) or (1,), infinite where there is no bound
    given: str  # for messages
    estimator_name: str

    def limits(self, blocks: Blocks, n_clusters: int, *, soft: bool) -> SizeLimits:
        """Return the bounds for all clusters, if these rows can keep them."""
        total = float(blocks.weight.sum()) * blocks.unit
        low, high = (np.broadcast_to(values, (n_clusters,)) for values in (self.low, self.high))
        shares = np.where(low < 1, low, low / total), np.where(high < 1, high, np.minimum(high / total, 1.0))
        limits = SizeLimits(f"{self.estimator_name}({self.given})", *shares, low_is_share=low < 1, high_is_share=high < 1)
        complaint = limits.complaint(limits.over(facts_of(blocks.weight), soft=soft), blocks.unit, "rows" if blocks.alike else "of weight")
        if complaint is not None:
            raise ValueError(
                f"{self.estimator_name}({self.given}): {complaint}. Values below 1 are shares of all rows, others their number (of "
                "weighted rows, the sum of their weights)."
            )
        return limits


def given_sizes(size_min: Any, size_max: Any, n_clusters: Any, estimator_name: str) -> GivenSizes | None:
    """Return `size_min` and `size_max`, checked as far as is possible without rows; None where neither is given."""
    if size_min is None and size_max is None:
        return None
    low = np.zeros(1) if size_min is None else _sizes(size_min, "size_min", estimator_name)
    high = np.full(1, np.inf) if size_max is None else _sizes(size_max, "size_max", estimator_name)
    given = ", ".join(f"{name}={value!r}" for name, value in (("size_min", size_min), ("size_max", size_max)) if value is not None)
    if not isinstance(n_clusters, numbers.Integral):
        return GivenSizes(low, high, given, estimator_name)  # that is refused first
    for values, name in ((low, "size_min"), (high, "size_max")):
        if len(values) not in (1, n_clusters):
            raise ValueError(
                f"{estimator_name}({given}): {name} holds {len(values)} numbers for n_clusters={n_clusters}; give one for each cluster, or "
                "one for all."
            )
    comparable = (np.maximum(low, high) < 1) | (np.minimum(low, high) >= 1)
    if (comparable & (low > high)).any():
        raise ValueError(f"{estimator_name}({given}): size_min must not be above size_max.")
    if (low < 1).all() and len(low) > 1 and math.fsum(low) > 1 + 1e-9:
        raise ValueError(f"{estimator_name}({given}): the shares of size_min add up to {math.fsum(low):.6g}; they must not exceed 1.")
    if (high < 1).all() and len(high) > 1 and math.fsum(high) < 1 - 1e-9:
        raise ValueError(f"{estimator_name}({given}): the shares of size_max add up to {math.fsum(high):.6g}; all rows must find room.")
    return GivenSizes(low, high, given, estimator_name)


def _sizes(value: Any, name: str, estimator_name: str) -> Float64:
    """Return one number, or one for each cluster, in an array."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        values = np.array([float(value)])
    else:
        array = np.asarray(None) if isinstance(value, (str, bytes, bool)) else host_array(value, name, estimator_name)
        if array.ndim != 1 or not len(array) or not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
            raise ValueError(
                f"{estimator_name}({name}={value!r}): {name} must be a number, or an array of one number for each cluster: below 1 "
                "a share of all rows, from 1 on a number of them."
            )
        values = array.astype(np.float64)
    wanted = LEAST[name]
    if not (np.isfinite(values) & ((values > 0) | ((values == 0) & (name == "size_min")))).all():
        raise ValueError(f"{estimator_name}({name}={value!r}): {name} must be finite and {wanted}.")
    return values
