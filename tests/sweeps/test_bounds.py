"""Hard sweeps that leave rows out say what sweeps over all rows say, at every step of any run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from cmeans import KernelKMeans
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.data.outputs import RowOutputs
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF
from cmeans.rules import Hard
from cmeans.solvers.fixed_point import solve
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.spaces.centres import Centres
from cmeans.sweeps.bounded import BoundedSweep
from cmeans.sweeps.nearest_of_many import NearestAssign
from cmeans.sweeps.problem import Problem, Stopping
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from cmeans.sweeps.statistics import Statistics
from contracts.arrays import DTYPES, cut_raggedly
from euclidean_rows import euclidean_rows
from limited import limited
from sweep_choices import pairs

pytestmark = pytest.mark.slow

# of sum_i weight_i k(x_i, x_i) and of what is taken from it
OBJECTIVE = {"float64": 1e-11, "float32": 1e-7}
# of the sum of the absolute values; float32 sums of up to 150 rows, and then float64
SUMS = {"float64": 1e-12, "float32": 2e-6}
RAGGED = Limits(block_rows=150, tasks=2, task_values=1)


def points(n: int = 500, d: int = 5, blobs: int = 9, seed: int = 0) -> np.ndarray:
    """Overlapping blobs, so that rows keep changing clusters for a while, in numbers that float32
    holds exactly."""
    rng = np.random.default_rng(seed)
    X = 2 * rng.normal(size=(blobs, d))[np.arange(n) % blobs] + rng.normal(size=(n, d))
    return X.astype(np.float32).astype(float)


def rows_of(X: np.ndarray, dtype: str, weight: np.ndarray | None = None) -> RepresentedRows:
    return euclidean_rows(X.astype(dtype), weight, 10**9, RAGGED)


@dataclass
class Watched:
    """A bounded sweep whose every step is held against fresh ones, which have no bounds yet and so
    read every row."""

    dtype: str
    read: list[int] = field(default_factory=list)  # rows, sweep by sweep

    def __post_init__(self) -> None:
        self._follow(BoundedSweep(Hard(), self.dtype))

    def _follow(self, sweep: BoundedSweep) -> None:
        self._pass, sweep._pass, self._sweep = sweep._pass, self._count, sweep

    def of_fewer(self, kept: np.ndarray) -> Watched:
        fewer = Watched(self.dtype)
        fewer._follow(self._sweep.of_fewer(kept))
        return fewer

    def _count(self, *words: object) -> int:
        count = self._pass(*words)
        self.read[-1] += count
        return count

    def __call__(self, rows: RepresentedRows, state: State) -> Statistics:
        self.read.append(0)
        sums = total(self._sweep, rows, state)
        labels, everything = (
            labels_of(rows, state),
            total(BoundedSweep(Hard(), self.dtype), rows, state),
        )
        np.testing.assert_array_equal(
            np.concatenate([self._labels(rows, task) for task in range(rows.n_tasks)]), labels
        )
        x, weight = rows.blocks.x.astype(float), rows.blocks.weight
        own = labels[:, None] == np.arange(len(state.centres))
        np.testing.assert_allclose(sums.mass, own.T @ weight, rtol=1e-12, atol=1e-12 * weight.sum())
        # an empty cluster is seen to be empty
        assert (sums.mass[own.T @ (weight > 0) == 0] == 0).all()
        if isinstance(rows.space, EuclideanSpace):
            moment = own.T @ (weight[:, None] * x)
            assert (
                np.abs(sums.moment - moment)
                <= SUMS[self.dtype] * (own.T @ (weight[:, None] * np.abs(x)))
            ).all()
        size = sum(
            (block.weight * block.rows.kxx).sum()
            for task in range(rows.n_tasks)
            for block in rows.task(task)
        )
        size += 2 * np.abs(sums.moment * rows.space.coefficients(state.centres)).sum()
        assert abs(sums.objective - everything.objective) <= OBJECTIVE[self.dtype] * size
        return sums

    def _labels(self, rows: RepresentedRows, task: int) -> np.ndarray:
        return np.concatenate(
            [
                known.label
                for _, known in sorted(self._sweep._known[rows].tasks[task].bounds.items())
            ]
        )


def total(sweep, rows: RepresentedRows, state: State) -> Statistics:
    parts = [sweep(rows, Hard(), state, task) for task in range(rows.n_tasks)]
    return sum(parts[1:], parts[0]).settled


def labels_of(rows: RepresentedRows, state: State) -> np.ndarray:
    """What the last pass says, which reads every row."""
    x = rows.blocks.x
    out, assign = (
        RowOutputs.empty(rows.n_rows, len(state.centres), x[:0, 0]),
        NearestAssign(x.dtype),
    )
    for task in range(rows.n_tasks):
        assign(rows, rows.space, Hard(), state, task, out)
    return out.labels


def lloyd(sweep: Watched, rows: RepresentedRows, state: State, steps: int) -> State:
    """Sweep after sweep; an empty cluster goes to the row farthest from the first centre."""
    for _ in range(steps):
        sums = sweep(rows, state)
        new = rows.space.centres(sums.mass, sums.moment)
        empty = np.flatnonzero(sums.mass <= 0)
        if len(empty):
            far = np.argsort(-((rows.blocks.x - rows.blocks.x[0]) ** 2).sum(axis=1), kind="stable")[
                : len(empty)
            ]
            new = new.replaced(empty, rows.space.embed(rows.blocks.take(far)))
        state = State(new)
    return state


def start(rows: RepresentedRows, numbers) -> State:
    return State(rows.space.embed(rows.blocks.take(np.asarray(numbers))))


@pytest.mark.parametrize(
    ("dtype", "c", "weights"), pairs(DTYPES, [1, 2, 7, 8, 9, 13, 40], ["equal", "whole", "any"])
)
def test_a_run_of_lloyds_iterations_leaves_rows_out(dtype, c, weights):
    """From any number of centres: alone in their groups of bounds (c up to 8), or several to a
    group."""
    rng = np.random.default_rng(c)
    X = points(seed=c)
    weight = {
        "equal": np.ones(len(X)),
        "whole": rng.integers(0, 4, size=len(X)).astype(float),
        "any": rng.uniform(0.1, 2, size=len(X)),
    }
    rows, sweep = rows_of(X, dtype, weight[weights]), Watched(dtype)
    lloyd(sweep, rows, start(rows, rng.choice(len(X), size=c, replace=False)), 25)
    assert sweep.read[0] == len(X)
    assert sum(sweep.read[1:]) < 24 * len(X) / 2  # rows are left out, or there would be no point


@pytest.mark.parametrize("dtype", DTYPES)
def test_centres_that_stand_still_need_no_row(dtype):
    """c = 1 never needs one again wherever its centre goes; ties need theirs in every sweep."""
    rows, sweep = rows_of(points(), dtype), Watched(dtype)
    state = start(rows, [0, 1, 2])
    for _ in range(3):
        sweep(rows, state)
    assert sweep.read[1] == sweep.read[2] <= 2  # rows nearly between two centres
    rows, sweep = rows_of(points(), dtype), Watched(dtype)
    lloyd(sweep, rows, start(rows, [0]), 5)
    assert sweep.read == [500, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "kept",
    [np.delete(np.arange(20), [3, 11, 12]), np.array([19, 2, 0, 7, 13])],
    ids=["most", "few"],
)
def test_some_of_the_clusters_go_on(dtype, kept):
    """With other numbers, and so in other groups, in place of those that are gone; rows of these
    are read at least."""
    rows, sweep = rows_of(points(blobs=20), dtype), Watched(dtype)
    state = lloyd(sweep, rows, start(rows, range(20)), 6)
    left = np.isin(labels_of(rows, state), kept, invert=True).sum()
    fewer = sweep.of_fewer(kept)
    lloyd(fewer, rows, State(state.centres[kept]), 6)
    assert fewer.read[0] < rows.n_rows or left > rows.n_rows / 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_states_in_any_order(dtype):
    """Back and forth, twice the same, near and far: bounds never depend on a run being a run."""
    rng = np.random.default_rng(3)
    rows, sweep = rows_of(points(), dtype), Watched(dtype)
    states = [start(rows, rng.choice(500, size=11, replace=False)) for _ in range(3)]
    nearby = [
        State(Centres.orthonormal(state.centres.coordinates + rng.normal(scale=0.01, size=(11, 5))))
        for state in states
    ]
    for number in rng.integers(0, 3, size=30):
        sweep(rows, states[number])
        if rng.uniform() < 0.5:
            sweep(rows, nearby[number])


@pytest.mark.parametrize("weights", ["equal", "any"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_clusters_that_empty_and_are_filled_again(dtype, weights):
    """Centres sent far away leave nothing behind, not even what rounding leaves of adding and
    subtracting weights."""
    rng = np.random.default_rng(4)
    X = points()
    rows = rows_of(
        X, dtype, np.ones(len(X)) if weights == "equal" else rng.uniform(0.1, 2, size=len(X))
    )
    sweep, near = Watched(dtype), start(rows, rng.choice(500, size=10, replace=False)).centres
    for away in ([3], [3, 4, 9], [], [0, 1, 2, 3, 4, 5, 6, 7, 8], [], [5]):
        sums = sweep(
            rows,
            State(
                near.replaced(
                    np.array(away, dtype=int), Centres.orthonormal(np.full((len(away), 5), 1e3))
                )
            ),
        )
        assert (sums.mass[away] == 0).all()
        assert (sums.moment[away] == 0).all()
        assert (sums.mass > 0).sum() == 10 - len(away)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_repeat_and_tie(dtype):
    """A coarse grid, every row several times, with centres on it, some of them twice: ties go to
    the lowest number, always."""
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, size=(700, 2)).astype(float)
    rows, sweep = rows_of(X, dtype, rng.integers(1, 4, size=700).astype(float)), Watched(dtype)
    for _ in range(25):
        centres = rng.integers(-2, 3, size=(9, 2)).astype(float)
        centres[8] = centres[2]
        sums = sweep(rows, State(Centres.orthonormal(centres)))
        assert sums.mass[8] == 0
    lloyd(sweep, rows, start(rows, np.arange(6)), 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_centres_that_creep(dtype):
    """Steps too small for the bounds' own digits add up all the same: in the end every row of this
    line has changed sides."""
    X = (
        np.column_stack([np.linspace(0.99998, 1.0, 60), np.zeros(60)])
        .astype(np.float32)
        .astype(float)
    )
    rows, sweep = rows_of(X, dtype), Watched(dtype)
    for number in range(1200):
        sweep(rows, State(Centres.orthonormal(np.array([[-5e-8 * number, 0.0], [2.00001, 0.0]]))))
    assert (
        sweep(rows, State(Centres.orthonormal(np.array([[-6e-5, 0.0], [2.00001, 0.0]])))).mass[0]
        == 0
    )


@pytest.mark.parametrize(
    ("dtype", "away", "step"), [("float32", 100.0, 1e-4), ("float64", 1e6, 1e-5)]
)
def test_rows_that_rounding_sends_here_or_there(dtype, away, step):
    """Far from the origin many rows lie between centres as far as arithmetic can tell; bounds that
    knew better would say otherwise."""
    rng = np.random.default_rng(6)
    X, V = points(1000) + away, points(12, seed=8) + away
    rows, sweep = rows_of(X, dtype), Watched(dtype)
    for _ in range(40):
        sweep(rows, State(Centres.orthonormal(V + step * rng.normal(size=V.shape))))
    assert sum(sweep.read[1:]) < 39 * 1000


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_cluster_that_loses_nearly_all_its_rows_keeps_its_digits(dtype):
    """What is left is a difference of sums that were far larger."""
    X = np.concatenate([points(5000, 3, 1, seed=7) + 5, [[105.0, 5.0, 5.0]]])
    rows, sweep = rows_of(X, dtype), Watched(dtype)
    for there in (105.0, 1.0):
        sweep(rows, State(Centres.orthonormal(np.array([[there, 5.0, 5.0], [-300.0, 0.0, 0.0]]))))
    sums = sweep(rows, State(Centres.orthonormal(np.array([[100.0, 5.0, 5.0], [5.0, 5.0, 5.0]]))))
    assert sums.mass[0] == 1
    np.testing.assert_allclose(sums.moment[0], X[-1], rtol=1e-6 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("factor", [True, False], ids=["eigh", "gradient"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_a_kernels_space(dtype, factor):
    """The triangle inequality holds there too, with what the landmarks leave out of a row; pairs of
    coefficients and products included."""
    X = points(600, 3).astype(dtype)
    space = landmark_space(RBF(0.05), X[:40], None, X.dtype, factor=factor)
    blocks = Blocks(X, np.random.default_rng(1).uniform(0.1, 2, size=600), limits=RAGGED)
    rows, sweep = RepresentedRows(space, blocks, 10**9), Watched(dtype)
    lloyd(sweep, rows, start(rows, np.arange(12)), 25)
    assert sum(sweep.read[1:]) < 24 * 600 / 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_fits_say_the_same(dtype, monkeypatch):
    """Every run of the solver, emptied clusters and all."""
    X = points(400, 60, 6, seed=2).astype(dtype)
    make = partial(KernelKMeans, 25, kernel="linear", random_state=0, n_init=3, search=None, tol=0)
    cut_raggedly(monkeypatch, block=150, tasks=2)
    limited(monkeypatch, narrow_columns=40)
    monkeypatch.setattr("cmeans.sweeps.choice.LEAST_BOUNDED", 0)
    bounded = make().fit(X)
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    generic = make().fit(X)
    np.testing.assert_array_equal(bounded.labels_, generic.labels_)
    assert bounded.n_iter_ == generic.n_iter_
    assert bounded.objective_ == pytest.approx(
        generic.objective_, rel=1e-6 if dtype == "float32" else 1e-12
    )


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_any_number_of_threads(workers):
    """One object serves all tasks of a run."""
    rows = rows_of(points(), "float32")
    with ThreadEngine(workers).opened() as engine:
        solution = solve(
            Problem(rows, Hard(), engine, Stopping(30, 0.0)), start(rows, np.arange(9))
        )
    with ThreadEngine(1).opened() as engine:
        expected = solve(
            Problem(rows, Hard(), engine, Stopping(30, 0.0)), start(rows, np.arange(9))
        )
    assert solution.history == expected.history
