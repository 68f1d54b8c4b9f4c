"""The space that a fit will have, as far as its parameters tell before a row is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Array
from ..data.blocks import Block, Blocks
from ..graphs.landmark_graph import automatic_landmarks
from ..kernels import Kernel
from ..landmarks.rpcholesky import PROPOSALS
from ..spaces import Rows, Space
from ..spaces.landmark import keeps_gram
from .arguments import SpaceParameters
from .landmark_choice import Landmarks
from .space import is_space, takes_all_rows


@dataclass(frozen=True)
class ExpectedSpace(Space):
    """Sizes of a space that is not there yet. It represents no rows."""

    kernel: Kernel
    basis: int
    side: int = 0  # side of the matrices that are factored
    is_exact: bool = False  # spanned by all rows
    is_plain: bool = False  # of the rows themselves
    spherical: bool = False

    @property
    def size(self) -> int:
        return self.basis

    @property
    def moment_width(self) -> int:
        return (1 + self.is_exact) * self.basis

    @property
    def factored_size(self) -> int:
        return self.side

    @property
    def in_coordinates(self) -> bool:
        return self.is_plain

    @property
    def represents_by_views(self) -> bool:
        return self.is_plain and not self.spherical

    @property
    def keeps_rows_cheaply(self) -> bool:
        return not self.represents_by_views

    @property
    def sweeps_products(self) -> bool:
        return not self.is_exact

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        raise NotImplementedError("an expected space has no rows yet")


class ExpectedRows:
    """Evidence for rules of rows that are not looked at: numbers as good as any (`RuleEvidence`),
    since memory depends on none of them."""

    automatic_fuzzifier = critical_fuzzifier = merging_fuzzifier = advised_fuzzifier = 2.0
    temperature = critical_temperature = 1.0


def expected_space(
    parameters: SpaceParameters,
    kernel: Kernel,
    landmarks: Landmarks,
    blocks: Blocks,
    n_clusters: int,
    *,
    holes: bool,
    most: bool,
) -> ExpectedSpace:
    """Return the space of a fit of these rows, with as many landmarks as there can be (`most`), or
    as few, where the rows decide; `holes`: values may be missing."""
    n, d, spherical = blocks.n_rows, int(blocks.x.shape[1]), parameters.metric == "cosine"
    count = landmarks.count
    if landmarks.points is not None:
        points = landmarks.points  # sparse ones have no len()
        count = points.shape[0] if hasattr(points, "shape") else len(points)
    if kernel.over_landmarks or kernel.takes_affinities:
        side = automatic_landmarks(n_clusters) if count is None else count
        return ExpectedSpace(kernel, n_clusters, min(side, n), spherical=spherical)
    own = ("rows", "unit rows") if spherical else ("rows",)
    if is_space(parameters.kernel) or (kernel.coordinates in own and count is None):
        wide = 1 + holes  # which columns are there, too
        return ExpectedSpace(kernel, wide * d, is_plain=True, spherical=spherical)
    if count is None and takes_all_rows(landmarks.number, blocks):
        return ExpectedSpace(kernel, n, is_exact=True, spherical=spherical)
    if count is None:
        least = max(PROPOSALS, 4 * n_clusters)
        count = blocks.limits.most_landmarks if most else least
    count = min(count, n)
    has_matrix = landmarks.is_factored or keeps_gram(kernel, count, spherical=spherical)
    return ExpectedSpace(kernel, count, count if has_matrix else 0, spherical=spherical)
