"""The parameter `join_equal_rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.arrays import is_sparse
from ...data.blocks import Blocks
from ...sampling.joined_rows import GroupedRows, joined_if_worth_it, joined_rows
from ...spaces.centres import Centres
from ..arguments import are_points
from ..kernel_evidence import given_kernel
from ..validation import host_array

if TYPE_CHECKING:
    from ..fit import BaseCMeans


def joins_equal_rows(value: Any, estimator_name: str) -> bool | None:
    """Return whether equal rows are to be joined; None: where it pays."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f'{estimator_name}(join_equal_rows={value!r}): give "auto", True or False.')


def equal_rows_joined(parameters: BaseCMeans, blocks: Blocks, n_clusters: int, estimator_name: str) -> GroupedRows | None:
    """Return the rows of a fit with equal ones joined, where that is asked for, or pays; else None."""
    asked = joins_equal_rows(parameters.join_equal_rows, estimator_name)
    if asked is False:
        return None
    obstacle = _obstacle_to_joining(parameters, blocks, n_clusters, estimator_name)
    if obstacle is None:
        joined = joined_if_worth_it(blocks) if asked is None else joined_rows(blocks)
        count = parameters.n_landmarks
        if joined is None or not isinstance(count, int) or count <= joined.blocks.n_rows:
            return joined
        obstacle = f"n_landmarks={count} are more than the {joined.blocks.n_rows} distinct rows"
    if asked is None:
        return None
    raise ValueError(f'{estimator_name}(join_equal_rows=True): {obstacle}; take join_equal_rows="auto".')


def _obstacle_to_joining(parameters: BaseCMeans, blocks: Blocks, n_clusters: int, estimator_name: str) -> str | None:
    """Return a reason why equal rows cannot be joined."""
    kernel = given_kernel(parameters, estimator_name)
    if kernel.takes_kernel_values or kernel.takes_affinities:
        return "rows of kernel values or affinities stand for all rows"
    if blocks.groups is not None:
        return "must_link joins rows already"
    if vars(parameters).get("size_min") is not None or vars(parameters).get("size_max") is not None:
        return "size_min and size_max may have to divide equal rows"
    if not isinstance(parameters.landmarks, str) and not are_points(parameters.landmarks, estimator_name):
        return "landmarks holds numbers of rows before they are joined (give points)"
    if isinstance(parameters.init, (str, Centres)) or is_sparse(parameters.init) or hasattr(parameters.init, "predict"):
        return None
    shape = host_array(parameters.init, "init", estimator_name).shape
    if len(shape) == 1 or (shape[0] == blocks.n_rows and shape != (n_clusters, blocks.x.shape[1])):
        return "init speaks of single rows before they are joined (give points)"
    return None
