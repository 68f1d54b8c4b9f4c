"""What estimators of streams share: chunks in, the state of a stream out, and what is said of a chunk's rows."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import Array, Float64, as_like, host_float64, in_form_of, is_foreign, namespace, numpy_dtype, to_numpy
from ..assignment import assign_all
from ..blocks import Blocks, stretch
from ..callbacks import SweepHook, logger, verbose_log
from ..centres import Centres
from ..chance import Population, population
from ..choice import quick_for
from ..complaints import warn
from ..engines import Engine
from ..kernels import Kernel
from ..memory import require
from ..progress import Place
from ..rules import Fuzzy, Hard, Rule
from ..runs import Result, best_of
from ..solver import Carried, Solution, reason, solve
from ..spaces import LandmarkSpace, Space
from ..streams import Past
from ..sweep import State
from ..table import Table
from .base import OF_ROWS, BaseCMeans, Run
from .fuzzy_cmeans import settled_m
from .geometry import Geometry, host_rows, takes_kernel_values
from .inputs import Input, integer, one_of, read_rows, weights_of
from .results import complain_of_result, model_attributes
from .starts import Ground, starts
from .stream_state import Absorbed, Chunk, Held, Passage, Stream
from .widths import build_named_kernel

LARGEST_SEED = 2**31 - 1
OF_SWEEPS = ("n_iter_", "converged_", "stop_reason_")
MUCH_LOST = 0.1  # share of a centre's squared norm from which on a user is told that it was lost


class StreamingBase(BaseCMeans):
    """`fit` cuts rows into chunks, `partial_fit` takes one; what is done with a chunk is the estimator's own."""

    rule: str
    m: str | float
    _stream: Stream

    @abstractmethod
    def _begin(self, chunk: Chunk) -> Absorbed:
        """Cluster the first chunk."""

    @abstractmethod
    def _go_on(self, stream: Stream, chunk: Chunk) -> Absorbed:
        """Cluster a further chunk."""

    @abstractmethod
    def _rows_at_once(self, owner: str) -> int:
        """How many rows `fit` takes at a time, at most."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the next rows of a stream together with what is kept of those before.

        `labels_`, `memberships_` and `objective_` are then those of these rows. A chunk that is refused, and one without rows,
        leave everything as it was.

        Parameters
        ----------
        X : (n, d) rows, as `fit` takes them; the first chunk needs at least n_clusters of them.
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad words, rows or weights, naming the argument, what came and what to do.
        """
        before = dict(self.__dict__)
        try:
            return self._take(X, sample_weight)
        except BaseException:
            self.__dict__.clear()  # a chunk that is refused leaves nothing behind
            self.__dict__.update(before)
            raise

    def _take(self, X: Any, sample_weight: Any) -> Self:
        owner = type(self).__name__
        stream = vars(self).get("_stream")
        run = self._checked_run(owner)
        self._refuse_kernel_values(owner)
        if _has_no_rows(X):
            return self
        given = read_rows(self, X, fitting=stream is None)
        weight, unit = weights_of(given, sample_weight, owner)
        blocks = Blocks(given.x, weight, unit=unit)
        if stream is None:
            run = replace(run, n_clusters=self._fitting_number(run.n_clusters, blocks.n_rows))
        with verbose_log(self.verbose, owner):
            with self._engine(given.x) as engine:
                place = Place(f"chunk {1 if stream is None else stream.n_chunks + 1}")
                stream, absorbed = self._absorb(stream, blocks, run, given, engine, place)
                result = self._said_of(absorbed.table, absorbed.geometry.blocks, absorbed, stream, run, engine)
            self._keep(absorbed.geometry, result)
            self._keep_stream(stream, absorbed.loss)
            if self.verbose:
                logger.info("%s: chunk %d: %s, objective %.8g", owner, stream.n_chunks, self.stop_reason_, self.objective_)
        complain_of_result(absorbed.geometry, result, owner)
        _complain_of_loss(self.projection_loss_, owner)
        return self

    def _cluster(self, run: Run, given: Input, blocks: Blocks, engine: Engine, hook: SweepHook) -> tuple[Geometry, Result]:
        owner = type(self).__name__
        self._refuse_kernel_values(owner)
        parts = _cut(blocks, self._rows_at_once(owner), run.n_clusters)
        passage = self._passed(parts, run, given, engine, hook)
        result = self._said_of(None, blocks, passage.absorbed, passage.stream, run, engine)
        if len(parts) > 1 and not passage.absorbed.solution.ended:
            result = _of_all_chunks(result, run, passage)
        self._keep_stream(passage.stream, passage.loss)
        _complain_of_loss(self.projection_loss_, owner)
        return replace(passage.absorbed.geometry, blocks=blocks, population=population(blocks)), result

    def _passed(self, parts: list[Blocks], run: Run, given: Input, engine: Engine, hook: SweepHook) -> Passage:
        """All chunks, one after the other."""
        n_rows, stream, losses, fell_short = sum(part.n_rows for part in parts), None, [], 0
        for number, part in enumerate(parts):
            stream, absorbed = self._absorb(stream, part, run, given, engine, Place("chunk", number, len(parts)), hook, n_rows)
            losses += [] if absorbed.loss is None else [absorbed.loss]
            fell_short += not absorbed.solution.converged
            if absorbed.solution.ended:
                break
        assert stream is not None, "some row has weight"
        return Passage(stream, absorbed, np.max(losses, axis=0) if losses else None, fell_short)

    def _absorb(
        self,
        stream: Stream | None,
        blocks: Blocks,
        run: Run,
        given: Input,
        engine: Engine,
        place: Place,
        hook: SweepHook | None = None,
        rows_in_all: int = 0,
    ) -> tuple[Stream, Absorbed]:
        """The stream after a further chunk."""
        blocks = blocks.in_memory()
        if stream is None:
            seed, unit, dtype = new_seed(run), blocks.unit, np.dtype(numpy_dtype(blocks.x)).name
            number, before, visits = 0, 0, 0
        else:
            seed, unit, dtype = stream.seed, stream.unit, stream.dtype
            number, before, visits = stream.n_chunks, stream.n_samples, stream.row_visits
            blocks = replace(blocks, x=_like_first(blocks.x, stream), weight=blocks.weight * (blocks.unit / unit), unit=unit)
        seen = before + blocks.n_rows
        rows = blocks if stream is None or stream.held is None else stream.held.before(blocks)
        if isinstance(self.init, str) or stream is not None:
            rows = _with_weight(rows)
        chunk = Chunk(rows, run, given.copied, engine, seed, number, place, max(seen, rows_in_all), hook)
        held, enough = None, self._rows_to_begin_with(run)
        if stream is None or stream.held is not None:
            absorbed = self._begin(chunk)
            if stream is not None:
                absorbed = _renumbered(absorbed, stream, engine)
            if rows.n_rows < enough:
                held = Held(np.ascontiguousarray(rows.x) if isinstance(rows.x, np.ndarray) else rows.x, rows.weight)
        else:
            absorbed = self._go_on(stream, chunk)
        if absorbed.geometry.blocks is not blocks:
            geometry = replace(absorbed.geometry, blocks=blocks, population=population(blocks))
            absorbed = replace(absorbed, geometry=geometry, table=None)
        visits += absorbed.solution.row_visits
        return Stream(absorbed.past, absorbed.rule, seed, unit, dtype, number + 1, seen, visits, absorbed.reserve, held), absorbed

    def _rows_to_begin_with(self, run: Run) -> int:
        """How many rows are held before the first of them are let go."""
        return 0

    def _geometry(self, chunk: Chunk, space_of: Callable[[Kernel, Population], Space]) -> Geometry:
        """The kernel that the first rows settle, and the space that is made with it."""
        owner, blocks = type(self).__name__, chunk.blocks
        people = population(blocks)
        positions, weights = people.fixed_sample
        rows = host_rows(blocks, people.at(positions))
        kernel, gamma = build_named_kernel(self, owner, blocks, rows, weights, chunk.run.n_clusters)
        geometry = Geometry(blocks, kernel, space_of(kernel, people), people, gamma)
        geometry.complain(owner)
        return geometry

    def _later_geometry(self, chunk: Chunk, space: Space) -> Geometry:
        """A further chunk in its space."""
        return Geometry(chunk.blocks, space.kernel, space, population(chunk.blocks), getattr(space.kernel, "gamma", None))

    def _found(self, chunk: Chunk, geometry: Geometry, rule: Rule) -> tuple[Table, Solution]:
        """The best of the starts on a first chunk."""
        table = self._chunk_table(chunk, geometry, rule)
        run = chunk.run
        ground = Ground(type(self).__name__, run.n_clusters, geometry, table, rule, chunk.engine)
        first = starts(self.init, run.n_init, ground, chunk.rng("start"))
        after_sweep = None if chunk.hook is None else self._after_sweep(chunk.hook, geometry, rule)
        best = best_of(first, run.n_init, table, rule, chunk.engine, run.stopping, stage="chunk", after_sweep=after_sweep)
        return table, replace(best.solution, row_visits=best.row_visits)

    def _followed(
        self, chunk: Chunk, geometry: Geometry, rule: Rule, centres: Centres, carried: Carried | None = None
    ) -> tuple[Table, Solution]:
        """A further chunk clustered from where the centres are, with the sums of those before it."""
        table = self._chunk_table(chunk, geometry, rule)
        after_sweep = None if chunk.hook is None else self._after_sweep(chunk.hook, geometry, rule)
        stopping = chunk.run.stopping
        return table, solve(table, rule, State(centres), chunk.engine, stopping, chunk.place, after_sweep, carried=carried)

    def _chunk_table(self, chunk: Chunk, geometry: Geometry, rule: Rule) -> Table:
        given = Input(geometry.blocks.x, chunk.copied)
        return self._table_for(chunk.run, given, geometry, rule, chunk.engine, rows_in_all=chunk.rows_in_all)

    def _require_square(self, chunk: Chunk, n_rows: int, word: str) -> None:
        """Refuse a chunk whose kernel matrix does not fit in memory."""
        advice = f"their kernel matrix is factored; take a smaller {word}"
        require(chunk.run.budget, type(self).__name__, 3 * 8 * n_rows**2, f"{n_rows} rows at once", advice)

    def _make_rule(self, geometry: Geometry) -> Rule:
        owner = type(self).__name__
        if one_of(self.rule, "rule", owner, ("fuzzy", "hard")) == "hard":
            self.m_ = 1.0
            return Hard()
        self.m_ = settled_m(self.m, "m", owner, geometry)
        return Fuzzy(self.m_)

    def _said_of(self, table: Table | None, blocks: Blocks, absorbed: Absorbed, stream: Stream, run: Run, engine: Engine) -> Result:
        """What the centres say of rows, in the terms of the model that is kept."""
        past, rule, solution = absorbed.past, absorbed.rule, absorbed.solution
        space, centres = past.space.portable(past.centres)
        if table is None:
            n = stream.n_samples
            table = Table(space, blocks, 0, training=False, quick=quick_for(space, blocks, rule, n), rows_in_all=n)
        assignment = assign_all(table, space, rule, State(centres), engine)
        return Result(
            solution,
            solution.history,
            _reason(solution, run),
            assignment,
            space,
            State(centres),
            rule,
            (assignment.mass > 0) | (past.mass > 0),
            stream.row_visits + blocks.n_rows,
        )

    def _keep_stream(self, stream: Stream, loss: Float64 | None) -> None:
        self._stream = stream
        self.n_samples_seen_ = stream.n_samples
        self.n_chunks_ = stream.n_chunks
        self.mass_ = stream.past.mass * stream.unit
        self.projection_loss_ = np.zeros(len(stream.past.mass)) if loss is None else loss

    def _keep_without_rows(self, stream: Stream) -> None:
        """The model of a stream that has changed without rows: what was said of the last ones holds no longer."""
        space, centres = stream.past.space.portable(stream.past.centres)
        row = np.zeros((1, self.n_features_in_), dtype=stream.dtype)
        blocks = Blocks(row, np.ones(1))
        geometry = Geometry(blocks, self.kernel_, stream.past.space, population(blocks), self.gamma_)
        for name, value in model_attributes(geometry, stream.rule, space, State(centres)).items():
            setattr(self, name, value)
        for name in (*OF_ROWS, *OF_SWEEPS):
            self.__dict__.pop(name, None)
        self.n_clusters_ = int(np.count_nonzero(stream.past.mass > 0))
        self._keep_stream(stream, None)

    def _fitting_number(self, n_clusters: int, n_rows: int) -> int:
        if n_clusters > n_rows:
            raise ValueError(
                f"{type(self).__name__}(n_clusters={n_clusters}): the first rows are fewer than the clusters, n_samples={n_rows}; start "
                "with a larger chunk, or take fewer clusters."
            )
        return n_clusters

    def _first_chunk_of(self, size: Any, word: str, owner: str) -> int:
        """The word for the rows of a chunk, of which the first needs one a cluster."""
        least, step = integer(self.n_clusters, "n_clusters", owner, 1), integer(size, word, owner, 1)
        if step < least:
            raise ValueError(f"{owner}({word}={step}): the first one needs at least n_clusters={least} rows.")
        return step

    def _most_sweeps(self, run: Run) -> int | None:
        return None

    def _refuse_kernel_values(self, owner: str) -> None:
        if takes_kernel_values(self.kernel):
            raise ValueError(
                f'{owner}(kernel="precomputed"): a stream computes the kernel of rows it has just seen; pass rows and a kernel.'
            )


def _with_weight(blocks: Blocks) -> Blocks:
    """The rows that count."""
    rows = np.flatnonzero(blocks.weight > 0)
    return blocks if len(rows) == blocks.n_rows else blocks.part(rows, blocks.weight[rows])


def _renumbered(absorbed: Absorbed, former: Stream, engine: Engine) -> Absorbed:
    """Clusters found anew, with the numbers of those before that share most of the held rows with them."""
    assert former.held is not None
    rows = Blocks(former.held.x, former.held.weight)
    before, now = (_memberships(past, rule, rows, engine) for past, rule in ((former.past, former.rule), (absorbed.past, absorbed.rule)))
    old, new = linear_sum_assignment((before * rows.weight[:, None]).T @ now, maximize=True)
    others = np.setdiff1d(np.arange(now.shape[1]), new)
    return replace(absorbed, past=absorbed.past[np.concatenate([new[np.argsort(old)], others])])


def _memberships(past: Past, rule: Rule, rows: Blocks, engine: Engine) -> Float64:
    space, centres = past.space.portable(past.centres)
    return host_float64(assign_all(Table(space, rows, 0, training=False), space, rule, State(centres), engine).memberships)


def new_seed(run: Run) -> int:
    """What everything that a stream draws hangs on."""
    return int(run.rng.randint(LARGEST_SEED))


def _cut(blocks: Blocks, step: int, least: int) -> list[Blocks]:
    """Consecutive chunks of about `step` rows and at least `least`, those with any weight; even ones, since little can be projected
    into a short last one."""
    count = min(-(-blocks.n_rows // step), max(1, blocks.n_rows // least))
    bounds = np.linspace(0, blocks.n_rows, count + 1).astype(int)
    cuts = [Blocks(stretch(blocks.x, a, b), blocks.weight[a:b], unit=blocks.unit) for a, b in itertools.pairwise(bounds)]
    return [part for part in cuts if part.weight.any()]


def _reason(solution: Solution, run: Run) -> str:
    """Why the sweeps over one chunk ended."""
    if solution.converged or solution.ended:
        return reason(solution, run.stopping, solution.history[-1])
    return f"stopped at max_iter={run.stopping.max_iter} with centres still moving; raise max_iter or loosen tol={run.stopping.tol:g}"


def _of_all_chunks(result: Result, run: Run, passage: Passage) -> Result:
    """What there is to say of a fit whose chunks came to rest, or some of which did not."""
    tol, fell_short, n = run.stopping.tol, passage.fell_short, passage.stream.n_chunks
    said = f"converged: centres stand still to tol={tol:g} in each of {n} chunks"
    if fell_short:
        said = f"stopped at max_iter={run.stopping.max_iter} in {fell_short} of {n} chunks; raise max_iter or loosen tol={tol:g}"
    return replace(result, solution=replace(result.solution, converged=not fell_short), reason=said)


def _has_no_rows(X: Any) -> bool:
    shape: Any = getattr(X, "shape", None)
    if shape is None:
        return hasattr(X, "__len__") and len(X) == 0
    return len(shape) == 2 and shape[0] == 0


def _like_first(x: Array, stream: Stream) -> Array:
    """Rows in the float type that the stream began with, and in the array library that what is kept of it is in."""
    space = stream.past.space
    like = stream.held.x if stream.held is not None else space.points if isinstance(space, LandmarkSpace) else None
    if like is not None and is_foreign(like):
        return as_like(to_numpy(x), like) if is_foreign(x) and namespace(x) is not namespace(like) else in_form_of(x, like)
    if like is not None and is_foreign(x):
        x = to_numpy(x)
    if is_foreign(x):
        xp = namespace(x)
        return xp.astype(x, getattr(xp, stream.dtype), copy=False)
    return x.astype(stream.dtype, copy=False)


def _complain_of_loss(loss: Float64, owner: str) -> None:
    if len(loss) and loss.max() > MUCH_LOST:
        warn(
            f"{owner}: on the way from chunk to chunk up to {100 * loss.max():.0f}% of a centre's squared norm was lost, because the rows "
            "of one chunk do not span what those before had to say; take larger chunks, rows in random order, or more landmarks."
        )
