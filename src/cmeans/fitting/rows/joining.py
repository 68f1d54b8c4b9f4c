"""Equal rows joined to one, as `Search.join_equal_rows` asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.arrays import is_sparse
from ...data.blocks import Blocks
from ...sampling.joined_rows import GroupedRows, joined_if_worth_it, joined_rows
from ...spaces.centres import Centres
from ..arguments import are_points, takes_affinities, takes_kernel_values
from ..validation import host_array

if TYPE_CHECKING:
    from ..fit import BaseCMeans
    from ..procedure import FitSettings


def equal_rows_joined(
    parameters: BaseCMeans, blocks: Blocks, settings: FitSettings, estimator_name: str, *, sized: bool
) -> GroupedRows | None:
    """Return the rows of a fit with equal ones joined, where that is asked for, or pays; else None. `sized`: sizes are bounded."""
    asked = settings.search.join_equal_rows
    if not asked:
        return None
    obstacle = _obstacle_to_joining(parameters, blocks, settings, estimator_name, sized=sized)
    if obstacle is None:
        joined = joined_if_worth_it(blocks) if asked == "auto" else joined_rows(blocks)
        count = settings.landmarks.count
        if joined is None or count is None or count <= joined.blocks.n_rows:
            return joined
        obstacle = f"landmarks={count} are more than the {joined.blocks.n_rows} distinct rows"
    if asked == "auto":
        return None
    raise ValueError(f'{estimator_name}(search=Search(join_equal_rows=True)): {obstacle}; take join_equal_rows="auto".')


def _obstacle_to_joining(parameters: BaseCMeans, blocks: Blocks, settings: FitSettings, estimator_name: str, *, sized: bool) -> str | None:
    """Return a reason why equal rows cannot be joined."""
    if takes_kernel_values(parameters.kernel) or takes_affinities(parameters.kernel):
        return "rows of kernel values or affinities stand for all rows"
    if blocks.groups is not None:
        return "must_link joins rows already"
    if sized:
        return "bounds of sizes may have to divide equal rows"
    points = settings.landmarks.points
    if points is not None and not are_points(points, estimator_name):
        return "landmarks holds numbers of rows before they are joined (give points)"
    if isinstance(parameters.init, (str, Centres)) or is_sparse(parameters.init) or hasattr(parameters.init, "predict"):
        return None
    shape = host_array(parameters.init, "init", estimator_name).shape
    if len(shape) == 1 or (shape[0] == blocks.n_rows and shape != (settings.n_clusters, blocks.x.shape[1])):
        return "init speaks of single rows before they are joined (give points)"
    return None
