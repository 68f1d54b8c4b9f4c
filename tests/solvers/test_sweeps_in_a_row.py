"""Sweeps in a row give the bits of the loop that looks after each sweep."""

from __future__ import annotations

import time

import numpy as np
import pytest

import cmeans
from cmeans import native
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF
from cmeans.rules import Fuzzy, Hard, Possibilistic
from cmeans.runtime.progress import Reporter
from cmeans.solvers import sweeps_in_a_row
from cmeans.solvers.fixed_point import solve
from cmeans.solvers.observer import Observer
from cmeans.solvers.stopping import relative_movement
from cmeans.solvers.sweeps_in_a_row import MOST, SweepsInARow
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.sweeps.choice import sweep_for
from cmeans.sweeps.problem import Problem, Stopping
from cmeans.sweeps.repeated import RepeatedSweep
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

LOOKED_AT = Observer(Reporter((lambda _: None,)))  # after every sweep
UNSEEN = Observer()

pytestmark = pytest.mark.skipif(not native.is_available(), reason="there is no native code")


def rows(
    n: int = 900, d: int = 3, dtype: str = "float64", seed: int = 0, **limits: int
) -> RepresentedRows:
    rng = np.random.default_rng(seed)
    x = (
        3 * rng.standard_normal((12, d))[rng.integers(12, size=n)] + rng.standard_normal((n, d))
    ).astype(dtype)
    blocks = Blocks(x, rng.uniform(0.5, 2.0, n), limits=Limits(**limits))
    return RepresentedRows(EuclideanSpace(x.mean(axis=0).astype(np.float64)), blocks, 0)


def both(problem: Problem, state: State):
    before = state.centres.coordinates.copy()
    ends = [solve(problem, state, observer) for observer in (LOOKED_AT, UNSEEN)]
    np.testing.assert_array_equal(state.centres.coordinates, before)
    return ends


def assert_the_same(one, other) -> None:
    for name in ("history", "n_iter", "row_visits", "converged", "floor", "verdict", "ended"):
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.state.centres.coordinates, other.state.centres.coordinates)
    np.testing.assert_array_equal(
        one.last[0].centres.coordinates, other.last[0].centres.coordinates
    )
    for name in ("weight", "mass", "moment", "spread", "penalty"):
        np.testing.assert_array_equal(getattr(one.last[1], name), getattr(other.last[1], name))


@pytest.mark.parametrize("rule", [Hard(), Fuzzy(2.0), Fuzzy(1.3), Possibilistic(2.0)], ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "stopping",
    [Stopping(7), Stopping(3 * MOST, 0.0), Stopping(3 * MOST, 1e-7)],
    ids=["few", "many", "to rest"],
)
def test_the_same_bits(rule, dtype, stopping):
    here = rows(dtype=dtype)
    scales = np.full(5, 4.0) if isinstance(rule, Possibilistic) else None
    state = State(here.space.at(here.blocks.x[:5].astype(np.float64)), scales)
    with ThreadEngine(2).opened() as engine:
        problem = Problem(here, rule, engine, stopping)
        assert SweepsInARow.of(problem, state, sweep_for(here, rule, 5)) is not None
        assert_the_same(*both(problem, state))


def test_a_cluster_that_is_empty_is_filled_as_ever():
    here = rows()
    points = np.concatenate([here.blocks.x[:4], np.full((2, 3), 1e4)])  # the last two win no row
    with ThreadEngine(1).opened() as engine:
        one, other = both(
            Problem(here, Hard(), engine, Stopping(100, 1e-9)), State(here.space.at(points))
        )
    assert_the_same(one, other)
    assert (other.last[1].mass > 0).all()


def test_values_that_overflow_are_refused_as_ever():
    x = np.full((300, 2), 1e200)
    x[::2] *= -1.0
    here = RepresentedRows(EuclideanSpace(np.zeros(2)), Blocks(x, np.ones(300)), 0)
    with ThreadEngine(1).opened() as engine, pytest.raises(ValueError, match="not finite"):
        solve(Problem(here, Hard(), engine), State(here.space.at(x[:2])))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_several_tasks_on_any_number_of_threads(n_threads, dtype):
    here = rows(4000, dtype=dtype, block_rows=64, narrow_block_rows=64, task_values=1000)
    assert here.n_tasks > 10
    state = State(here.space.at(here.blocks.x[:5].astype(np.float64)))
    with ThreadEngine(n_threads).opened() as engine:
        assert_the_same(*both(Problem(here, Fuzzy(1.5), engine, Stopping(3 * MOST, 1e-9)), state))


def test_rows_represented_by_kernel_values():
    x = rows(600).blocks.x
    blocks = Blocks(x, np.ones(600), limits=Limits(task_values=1000, block_rows=64))
    space = landmark_space(RBF(0.1), x[::20], None, x.dtype)
    start = State(space.embed(blocks.take(np.arange(4))))
    with ThreadEngine(2).opened() as engine:
        here = [RepresentedRows(space, blocks, room) for room in (600 * (space.size + 2) * 8, 0)]
        assert here[0].stay_in_memory
        one, other = both(Problem(here[0], Hard(), engine), start)
        assert_the_same(one, other)
        assert here[0].stay_in_memory  # for a further start, though no room is left
        assert (
            SweepsInARow.of(Problem(here[1], Hard(), engine), start, sweep_for(here[1], Hard(), 4))
            is None
        )


def test_an_interrupt_lets_the_other_threads_go(monkeypatch):
    here = rows(4000, block_rows=64, narrow_block_rows=64, task_values=1000)
    state, calls = State(here.space.at(here.blocks.x[:5])), []

    def interrupted(*_):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return relative_movement(*_)

    monkeypatch.setattr(sweeps_in_a_row, "relative_movement", interrupted)
    with ThreadEngine(3).opened() as engine:
        with pytest.raises(KeyboardInterrupt):
            solve(Problem(here, Hard(), engine, Stopping(50, 0.0)), state)
        assert list(engine.run(lambda task: task, 9)) == list(range(9))


def test_threads_wait_for_sweeps_that_come_late():
    here = rows(4000, block_rows=64, narrow_block_rows=64, task_values=1000)
    state = State(here.space.at(here.blocks.x[:5]))
    with ThreadEngine(3).opened() as engine:
        sweep = RepeatedSweep(sweep_for(here, Hard(), 5), here, state, engine)
        centres = state.centres.coordinates, state.centres.squared_norms()
        first = sweep(*centres).memory.copy()
        for _ in range(2):
            sweep.ask_for_help()
            for _ in range(3):
                time.sleep(0.02)  # longer than they look for tasks
                np.testing.assert_array_equal(sweep(*centres).memory, first)
            sweep.end()


def test_listening_changes_no_bit_of_a_fit():
    from cmeans.runtime.progress import listening

    x = rows().blocks.x
    model = cmeans.KernelKMeans(6, kernel="linear", random_state=0)
    quiet = model.fit(x).cluster_centers_.copy(), model.n_iter_, model.objective_history_
    with listening(lambda _: None):
        model.fit(x)
    np.testing.assert_array_equal(model.cluster_centers_, quiet[0])
    assert (model.n_iter_, list(model.objective_history_)) == (quiet[1], list(quiet[2]))
