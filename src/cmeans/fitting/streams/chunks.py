"""Treatment of one chunk in the fit of a stream: cutting, numbering, reasons and warnings."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from ...data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    in_form_of,
    is_foreign,
    namespace,
    to_numpy,
)
from ...data.blocks import Blocks
from ...data.column_facts import asked
from ...data.known_labels import KnownLabels
from ...engines import Engine
from ...engines.base import Span
from ...kernels import kernel_of
from ...rules import Rule
from ...runtime.checks import integer
from ...runtime.user_warnings import warn
from ...solvers.multistart import FitResult
from ...solvers.solution import Solution
from ...solvers.stopping import reason
from ...streaming import StreamSummary
from ...sweeps.final_pass import assign_all
from ...sweeps.represented_rows import RepresentedRows
from ..procedure import FitSettings
from .stream_state import ChunkResult, FitSummary, StreamState

LARGEST_SEED = 2**31 - 1
MUCH_LOST = 0.1  # share of a centre's squared norm from which on its loss causes a warning


def with_weight(blocks: Blocks) -> Blocks:
    """Return the rows of positive weight."""
    rows = np.flatnonzero(blocks.weight > 0)
    return blocks if len(rows) == blocks.n_rows else blocks.part(rows, blocks.weight[rows])


def renumbered(
    absorbed: ChunkResult, former: StreamState, known: KnownLabels | None, engine: Engine
) -> ChunkResult:
    """Renumber newly found clusters like the former ones that share most of the held rows with
    them; those of known labels have theirs."""
    assert former.held is not None
    rows = Blocks(former.held.x, former.held.weight, limits=absorbed.geometry.blocks.limits)
    before, now = (
        memberships(past, rule, rows, engine)
        for past, rule in ((former.past, former.rule), (absorbed.past, absorbed.rule))
    )
    shared = (before * rows.weight[:, None]).T @ now
    for label in () if known is None else np.unique(known.labels[known.strength > 0]):
        shared[label, label] += 2 * rows.weight.sum()  # more than all others can share
    old, new = linear_sum_assignment(shared, maximize=True)
    others = np.setdiff1d(np.arange(now.shape[1]), new)
    return replace(absorbed, past=absorbed.past[np.concatenate([new[np.argsort(old)], others])])


def memberships(past: StreamSummary, rule: Rule, rows: Blocks, engine: Engine) -> Float64:
    space, state = past.portable_state
    found = assign_all(RepresentedRows(space, rows, 0, training=False), space, rule, state, engine)
    return host_float64(found.all_memberships(rows.x))


def new_seed(settings: FitSettings) -> int:
    """Return the seed for all random draws of a stream."""
    return int(settings.rng.randint(LARGEST_SEED))


def cut(blocks: Blocks, step: int, least: int) -> list[Span]:
    """Return consecutive chunks of about `step` rows and at least `least`, those with any weight;
    of even size, since little can be projected into a short last one."""
    count = min(-(-blocks.n_rows // step), max(1, blocks.n_rows // least))
    bounds = np.linspace(0, blocks.n_rows, count + 1).astype(int)
    spans = list(itertools.pairwise(bounds.tolist()))
    if blocks.alike:
        return spans
    return [
        spans[k] for k in np.unique(np.concatenate(asked(blocks.weight, partial(_weighed, bounds))))
    ]


def _weighed(bounds: IntArray, weight: Float64, start: int) -> IntArray:
    """Return the numbers of chunks that have any of the weights of rows from `start` on."""
    return np.unique(np.searchsorted(bounds, start + np.flatnonzero(weight > 0), side="right") - 1)


def reason_of_chunk(solution: Solution, settings: FitSettings) -> str:
    """Return the reason why the sweeps over one chunk ended."""
    if solution.converged or solution.ended:
        return reason(solution, settings.stopping, solution.history[-1])
    max_iter, tol = settings.stopping.max_iter, settings.stopping.tol
    return (
        f"stopped at max_iter={max_iter} with centres still moving; raise max_iter or loosen "
        f"tol={tol:g}"
    )


def of_all_chunks(result: FitResult, settings: FitSettings, summary: FitSummary) -> FitResult:
    """Return the result with the convergence of all chunks."""
    tol, fell_short, n = settings.stopping.tol, summary.fell_short, summary.stream.n_chunks
    message = f"converged: centres stand still to tol={tol:g} in each of {n} chunks"
    if fell_short:
        message = (
            f"stopped at max_iter={settings.stopping.max_iter} in {fell_short} of {n} "
            f"chunks; raise max_iter or loosen tol={tol:g}"
        )
    return replace(
        result, solution=replace(result.solution, converged=not fell_short), reason=message
    )


def like_first(x: Array, stream: StreamState) -> Array:
    """Return rows in the float type of the first chunk and the array library of the stream's
    state."""
    space = stream.past.space
    like = space.basis_points if stream.held is None else stream.held.x
    if like is not None and is_foreign(like):
        if is_foreign(x) and namespace(x) is not namespace(like):
            return as_like(to_numpy(x), like)
        return in_form_of(x, like)
    if like is not None and is_foreign(x):
        x = to_numpy(x)
    if is_foreign(x):
        xp = namespace(x)
        return xp.astype(x, getattr(xp, stream.dtype), copy=False)
    return x.astype(stream.dtype, copy=False)


def warn_of_loss(loss: Float64, estimator_name: str) -> None:
    if len(loss) and loss.max() > MUCH_LOST:
        warn(
            f"{estimator_name}: on the way from chunk to chunk up to {100 * loss.max():.0f}% of a "
            "centre's squared norm was lost, because rows of one chunk do not span what those "
            "before had to say; take larger chunks, rows in random order, or more landmarks.",
            ConvergenceWarning,
        )


def checked_chunk_size(size: Any, word: str, n_clusters: Any, estimator_name: str) -> int:
    """Return the checked number of rows of a chunk; the first chunk needs a row for each
    cluster."""
    least = integer(n_clusters, "n_clusters", estimator_name, 1)
    step = integer(size, word, estimator_name, 1)
    if step < least:
        raise ValueError(
            f"{estimator_name}({word}={step}): the first one needs at least n_clusters={least} "
            "rows."
        )
    return step


def refuse_kernel_values(kernel: Any, estimator_name: str) -> None:
    """Refuse a precomputed kernel."""
    if kernel_of(kernel, estimator_name).takes_kernel_values:
        raise ValueError(
            f'{estimator_name}(kernel="precomputed"): a stream computes the kernel of rows it has '
            "just seen; pass rows and a kernel."
        )
