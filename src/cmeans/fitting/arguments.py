"""Parameters with values of several kinds: landmarks, row numbers, points, rules that are
truncated, and engines."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Set
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from scipy import sparse

from ..data.arrays import Array, IntArray, as_like, is_foreign, is_sparse
from ..data.blocks import Blocks
from ..engines import Engine, count_threads
from ..kernels import Kernel, Precomputed
from ..kernels.base import GammaName as GammaName
from ..rules import Rule, Truncated
from ..runtime.checks import integer
from .diagonals import checked_square_diagonal
from .validation import host_array, intact

# Values that parameters of several estimators take by name
Auto = Literal["auto"]
MetricName = Literal["euclidean", "cosine"]
InitName = Literal["k-means++", "k-means||", "max-min", "random", "random-partition"]
MissingName = Literal["error", "partial"]
InnerScaling = Literal["range"]
StreamRule = Literal["fuzzy", "hard"]
StretchedStreamRule = Literal["fuzzy", "hard", "gaussian"]


class SpaceParameters(Protocol):
    """Constructor parameters of a geometry."""

    kernel: str | Kernel | Callable[..., Any]
    gamma: str | float
    landmarks: Any
    metric: str


def changed_among(names: Set[str], parameters: Any) -> list[str]:
    """Return those of the parameters of an estimator's constructor, in its order, that differ from
    their defaults."""
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
    for name in changed_among({"gamma"}, parameters):
        raise ValueError(
            f"{asked}, {name}={getattr(parameters, name)!r}): a graph has no {name}; leave it out."
        )


def refuse_stored(kernel: Kernel, estimator_name: str, blocks: Blocks, *, exact: bool) -> None:
    """Refuse rows that are not in memory where the space does not read them block by block."""

    def refuse(where: str, _: int | None) -> None:
        if kernel.takes_features:
            raise ValueError(
                f"{estimator_name}(landmarks=None): the exact kernel needs all {blocks.n_rows:,} "
                "rows in memory; take landmarks "
                f'(landmarks="auto" or a number), or load {where} and pass the array.'
            )
        raise ValueError(
            f'{estimator_name}(kernel="{kernel.name}"): kernel values must be in memory; load '
            f"{where} first, or pass rows."
        )

    if exact or not kernel.takes_features:
        blocks.in_memory(refuse)


def row_numbers(value: Any, estimator_name: str, n_rows: int, name: str = "landmarks") -> IntArray:
    """Return row numbers (s,), checked against the number of rows."""
    numbers = _numbers(value, estimator_name, name)
    wrong = (numbers < 0) | (numbers >= n_rows)
    if wrong.any():
        raise ValueError(
            f"{estimator_name}({name}=...): row number {numbers[wrong][0]} does not exist; there "
            f"are {n_rows} rows, from 0."
        )
    rows: IntArray = numbers.astype(np.intp)
    return rows


def check_landmarks(value: Any, estimator_name: str, *, rows_only: bool) -> None:
    """Refuse values that are neither row numbers nor points, whatever the rows are."""
    if not rows_only and are_points(value, estimator_name):
        _points(value, "landmarks", estimator_name)
    else:
        _numbers(value, estimator_name, "landmarks")


def are_points(value: Any, estimator_name: str) -> bool:
    return (
        is_sparse(value)
        or is_foreign(value)
        or host_array(value, "landmarks", estimator_name).ndim == 2
    )


def _numbers(value: Any, estimator_name: str, name: str) -> Any:
    numbers = host_array(value, name, estimator_name)
    if numbers.ndim != 1 or len(numbers) == 0 or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(
            f"{estimator_name}({name}=...): give a 1-D array of row numbers, got shape "
            f"{numbers.shape} of {numbers.dtype}."
        )
    return numbers


def _points(value: Any, name: str, estimator_name: str, n_features: int | None = None) -> Any:
    """Return finite points (s, d); d may be any number where `n_features` is None."""
    if is_sparse(value):
        points: Any = intact(value, name, estimator_name)
    else:
        points = host_array(value, name, estimator_name)
    d = points.shape[-1] if n_features is None and points.ndim == 2 else n_features
    if points.ndim != 2 or points.shape[0] == 0 or points.shape[1] != d:
        raise ValueError(
            f"{estimator_name}({name}=...): points must have shape (count, {d}) as the rows have, "
            f"got {tuple(points.shape)}."
        )
    if not is_sparse(points) and not np.issubdtype(points.dtype, np.number):
        raise ValueError(
            f"{estimator_name}({name}=...): points must be numbers, got {points.dtype}."
        )
    if not np.isfinite(points.data if is_sparse(points) else points).all():
        raise ValueError(
            f"{estimator_name}({name}=...): points must be finite; NaN or infinity found."
        )
    return points


def matching_points(value: Any, name: str, estimator_name: str, blocks: Blocks) -> Array:
    """Return points (s, d) in the form of the rows: dense or CSR, same library and dtype."""
    x = blocks.x
    points = _points(value, name, estimator_name, x.shape[1])
    if is_sparse(x):
        return type(x)(sparse.csr_array(points).astype(x.dtype))
    return as_like(points.toarray() if is_sparse(points) else points, x)


def check_top_k(value: Any, rule: Rule, estimator_name: str) -> int | None:
    """Return the number of clusters in which a row has memberships; None for all. Refuse it for
    rules that cannot keep to it."""
    if value is None:
        return None
    k = integer(value, "top_k", estimator_name, 1, others="None or ")
    why = Truncated.refusal(rule)
    if why is not None:
        raise ValueError(
            f"{estimator_name}(top_k={value!r}): memberships of rule={rule.name or rule!r} cannot "
            f"be truncated, as {why}; leave out top_k=."
        )
    return k


def asked_top_k(estimator: Any) -> Any:
    """Return the number of clusters in which parameters give a row memberships, `top_k` or that of
    a rule; None for all."""
    top_k, rule = vars(estimator).get("top_k"), vars(estimator).get("rule")
    return rule.most_clusters if top_k is None and isinstance(rule, Rule) else top_k


def truncated(rule: Rule, top_k: int | None) -> Rule:
    """Return a rule whose rows have memberships in so many clusters alone."""
    return rule if top_k is None else Truncated(rule, top_k)


def whole_diagonal(kernel: Precomputed, estimator_name: str, gram: Array) -> Array:
    """Return the checked diagonal of a square kernel matrix; it must not be given a second time."""
    diag = checked_square_diagonal(estimator_name, gram)
    if kernel.diagonal is not None:
        raise ValueError(
            f"{estimator_name}(kernel=Precomputed(diagonal=...)): the square kernel matrix has a "
            "diagonal of its own; leave it out."
        )
    return diag


def check_engine(estimator: Any) -> Engine | None:
    """Return the parameter `engine`, or None where there is none; refuse what is no engine, and
    `n_jobs` beside one."""
    name, engine, n_jobs = type(estimator).__name__, vars(estimator).get("engine"), estimator.n_jobs
    if engine is None:
        count_threads(n_jobs, name)
        return None
    if not isinstance(engine, Engine):
        raise ValueError(
            f"{name}(engine={engine!r}): give an engine, such as cmeans.ThreadEngine() or "
            "cmeans.DaskEngine(), or None for threads."
        )
    if n_jobs is not None:
        raise ValueError(
            f"{name}(n_jobs={n_jobs!r}, engine={engine!r}): an engine counts its own threads; "
            f"leave n_jobs out, and give engine=cmeans.ThreadEngine(n_jobs={n_jobs!r}) for threads."
        )
    return engine
