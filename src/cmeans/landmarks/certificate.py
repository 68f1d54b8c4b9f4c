"""Certificates of fits on landmarks: bounds against the whole kernel matrix, computed from the sums
of the fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64, host_float64, in_float64
from ..data.blocks import Block, Blocks
from ..data.precision import binary_exponent, rounding
from ..rules import Rule
from ..runtime.numerals import in_digits
from ..runtime.stored_classes import stored
from ..sampling.population import JudgedSample, Population
from ..spaces import LandmarkSpace, gram_matrix
from ..spaces.rows import ProductRows
from ..spaces.spectrum import leading_sum
from ..sweeps.state import State
from ..sweeps.statistics import Statistics

NORMAL = 2.576  # standard deviations to either side of the mean that cover 99%
NO_LENGTH = 1e-150  # of a mean on the sphere: no bound follows then
INDEFINITE = 1e-6  # an eigenvalue below minus this share of the largest is not rounding


@stored
@dataclass(frozen=True)
class Approximation:
    """The part of the kernel that the landmarks leave out, and bounds of the true cost of the
    returned partition.

    With K^ the kernel as the landmarks represent it, E = K - K^ is positive semidefinite, e_i =
    E_ii is the part of row i left out, and for memberships u with weights w_ij = w_i u_ij^m

        J_K^(u) + sum_ij w_ij e_i  -  sum_ij w_ij e_i   <=   J_K(u)   <=   J_K^(u) + sum_ij w_ij
        e_i,

    the right-hand side being the objective of the fit at the means of u (Havens 2011, Chitta 2011
    keep k(x, x) in it as well). The true costs of two partitions differ by at most comparison_error
    * cost_bounds[1] more, or less, than their objectives do: the sum of the n_clusters largest
    eigenvalues of E (Weyl; Ky Fan), estimated on at most 1,000 rows (500 where a fit takes little
    time itself).

    Attributes
    ----------
    n_landmarks : number of landmarks.
    rank : directions kept of the landmarks' kernel matrix; None where it is not factored.
    residual : sum_i w_i e_i / sum_i w_i k(x_i, x_i), of the centred kernel where constants do not
        matter.
    residual_interval : bounds of `residual` at 99%, from a sample above 1,000 rows; equal where
        every row was measured.
    cost_bounds : bounds of the objective of the returned memberships with the whole kernel, each
        cluster at its own mean.
    comparison_error : relative to cost_bounds[1], without a penalty where that is negative; None
        where the kernel between rows is not known.
    rows_measured : number of rows measured.
    """

    n_landmarks: int
    rank: int | None
    residual: float
    residual_interval: tuple[float, float]
    cost_bounds: tuple[float, float]
    comparison_error: float | None
    rows_measured: int

    def __str__(self) -> str:
        low, high = self.residual_interval
        kept = "" if self.rank is None or self.rank == self.n_landmarks else f" (rank {self.rank})"
        spread = "" if low == high else f" ({100 * low:.3g} to {100 * high:.3g}%)"
        if self.comparison_error is None:
            ranks = ""
        else:
            ranks = f"; costs of partitions compare to {100 * self.comparison_error:.2g}%"
        return (
            f"{self.n_landmarks} landmarks{kept} leave out {100 * self.residual:.3g}%{spread} of "
            f"the kernel; the true cost lies in [{in_digits(self.cost_bounds[0], 8)}, "
            f"{in_digits(self.cost_bounds[1], 8)}]{ranks}"
        )


def certify(
    space: LandmarkSpace,
    blocks: Blocks,
    population: Population,
    rule: Rule,
    state: State,
    sums: Statistics,  # of a sweep from `state`
    gram: Float64 | None,  # kernel matrix of the judged rows, where it is known
    judged: JudgedSample | None,
    # of a row in all clusters together: 1 where rows may be held in a cluster by what is known of
    # them
    least_weight: float = 0.0,
) -> Approximation | None:
    """Return the certificate of a partition; None for kernels that are not positive semidefinite,
    where the bounds do not hold."""
    fixed, weights = population.fixed_sample
    all_measured = len(population) <= population.limits.certified_rows
    positions, weights = (
        (np.arange(len(population)), population.weights) if all_measured else (fixed, weights)
    )
    rows = population.at(positions)
    share = weights / weights.sum()
    total = float(blocks.weight.sum())
    block = blocks.take(rows)
    error, norms, projections, represented = _residuals(space, block)
    if not _semidefinite(space, error, norms, gram):
        return None
    if space.spherical:
        lengths = space.means(sums.mass, sums.moment).squared_norms() ** 0.5
    else:
        lengths = np.ones(len(state.centres))
    # at most, of a cluster's cost by what the landmarks leave out of its rows
    gains = 1.0 / np.maximum(lengths, NO_LENGTH)
    total_weight = np.maximum(
        _total_weights(space, represented, rule, state, gains), least_weight * gains.max()
    )
    mean = _Mean(share, exact=len(rows) == len(population))
    moved = space.centres(sums.mass, sums.moment) - state.centres
    slack = rounding(blocks.x.dtype) * total * mean.estimate(_rounding_sizes(space, block, norms))
    upper = sums.objective - float((sums.mass * lengths) @ moved.squared_norms()) + slack
    lower = upper - 2.0 * slack - total * mean.interval(total_weight * error)[1]
    lower = max(lower, 0.0) if sums.penalty == 0.0 else lower
    size = mean.estimate(norms) or 1.0
    low, high = mean.interval(error)
    ranking = None
    if (
        gram is not None
        and judged is not None
        and space.whitener is not None
        and not space.spherical
    ):
        which = judged.positions if all_measured else judged.within
        sample_block = blocks.take(population.at(judged.positions))
        error_of, diagonal = _error_among(
            space, sample_block, judged.weights, gram, projections[which]
        )
        leading, _ = leading_sum(
            error_of, diagonal, len(state.centres), len(judged.weights) / len(population)
        )
        cost = upper - min(sums.penalty, 0.0)
        ranking = total * leading / cost if cost > 0 else 0.0
    return Approximation(
        int(space.points.shape[0]),
        None if space.whitener is None else int(space.whitener.shape[1]),
        mean.estimate(error) / size,
        (low / size, high / size),
        (lower * blocks.unit, upper * blocks.unit),
        ranking,
        len(rows),
    )


@dataclass(frozen=True)
class _Mean:
    """The mean over all rows, from some of them."""

    share: Float64  # (p,) sums to one
    exact: bool  # the rows are all rows

    def estimate(self, values: Float64) -> float:
        return float(self.share @ values)

    def interval(self, values: Float64) -> tuple[float, float]:
        """Bounds at 99% of the mean of nonnegative numbers."""
        mean = self.estimate(values)
        if self.exact:
            return mean, mean
        # Weights of the sample are multiplicities: the interval depends on the number of different
        # rows.
        scale = binary_exponent(values)
        squares = np.ldexp(values - mean, -scale) ** 2
        half = math.ldexp(
            NORMAL * math.sqrt(float(self.share @ squares) * float(self.share @ self.share)), scale
        )
        return max(mean - half, 0.0), mean + half


def _residuals(space: LandmarkSpace, block: Block) -> tuple[Float64, Float64, Float64, ProductRows]:
    """e_i = |phi(x_i) - its projection|^2 and |phi(x_i)|^2, (p,) each, about the space's own
    origin, the projections (p, k), and the rows as they are represented."""
    if space.kernel.takes_features:  # in float64: e_i is the difference of two nearly equal numbers
        space = replace(space, points=in_float64(space.points))
        block = replace(block, x=in_float64(block.x))
    represented = space.rows(block).plain()
    norms = host_float64(represented.kxx[:, None])[:, 0]
    projected = space.means(np.ones(len(block.weight)), host_float64(represented.g))
    error = norms - projected.squared_norms()
    return (
        (np.maximum(error, 0.0) if space.kernel.positive_definite else error),
        norms,
        projected.coordinates,
        represented,
    )


def _total_weights(
    space: LandmarkSpace, represented: ProductRows, rule: Rule, state: State, factors: Float64
) -> Float64:
    """Total weight (p,) of each row: its weights in all clusters, summed with these factors
    (c,)."""
    d2 = represented.squared_distances(space.view(state.centres, represented.kxx))
    total_weight: Float64 = rule.weights(host_float64(rule.memberships(d2, state.scales))) @ factors
    return total_weight


def _rounding_sizes(space: LandmarkSpace, block: Block, norms: Float64) -> Float64:
    """Size (p,) of the numbers that a sweep adds up, times the factor by which their rounding is
    enlarged."""
    if space.centring is None:
        return 2.0 * np.abs(norms)
    raw = host_float64((space.kernel.diag(block.x) if block.kxx is None else block.kxx)[:, None])[
        :, 0
    ]
    return 8.0 * np.abs(raw)


def _semidefinite(
    space: LandmarkSpace, error: Float64, norms: Float64, gram: Float64 | None
) -> bool:
    if space.kernel.positive_definite:
        return True
    if (error < -INDEFINITE * np.abs(norms).max()).any():
        return False
    if gram is None:
        return True
    values = np.linalg.eigvalsh(gram)
    return bool(values[0] >= -INDEFINITE * values[-1])


def _error_among(
    space: LandmarkSpace, block: Block, weights: Float64, gram: Float64, projections: Float64
) -> tuple[Callable[[Float64], Float64], Float64]:
    """Return the products of E = K - K^ (q, q) among the rows of a block, each weighted by the root
    of its share, and the diagonal; `projections` are those of these rows."""
    if space.kernel.distances_ignore_shifts:  # the given matrix may be about another origin
        gram = gram_matrix(space.kernel, block.x)
    z = projections + space.origin
    root = np.sqrt(weights / weights.sum())
    scaled = root[:, None] * z

    def products(vectors: Float64) -> Float64:
        of_kernel: Float64 = root[:, None] * (gram @ (root[:, None] * vectors))
        of_kernel -= scaled @ (scaled.T @ vectors)
        return of_kernel

    return products, root * root * np.diag(gram) - np.einsum("ij,ij->i", scaled, scaled)
