"""The plan of a fit's memory: each of its terms by numbers of its own, what a budget leaves, and
what is told and refused before any work."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from scipy import sparse

import cmeans
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.data.row_source import StoredRows
from cmeans.fitting import memory
from cmeans.fitting.expected_space import ExpectedSpace
from cmeans.fitting.memory import FIXED, FitSizes, Footprint, footprint, plan
from cmeans.kernels import RBF, Linear
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.sweeps.bounded import SearchMemory
from cmeans.sweeps.represented_rows import RepresentedRows
from every_estimator import STREAMS, WITH_ENGINE, WITH_PLAN, build

N, D, C, T = 100_000, 20, 10, 2
PLAIN, SPANNED = ExpectedSpace(Linear(), D, is_plain=True), ExpectedSpace(RBF(0.1), 500, 500)


def centres(width: int) -> int:
    """Bytes of the 20 sets of centres or sums that are held at once."""
    return 20 * 8 * C * width


class Unread(StoredRows):
    """Rows of no file, of which none may be read."""

    def __init__(self, shape: tuple[int, int] = (N, D), dtype: Any = np.float32) -> None:
        super().__init__("nowhere", range(shape[1]), dtype, shape[0])

    def memory(self, n_threads: int) -> int:
        return 1_000_000 * n_threads

    def _read(self, start: int, stop: int) -> np.ndarray:
        raise AssertionError("rows are read")


def of(x: Any, **weight: Any) -> Blocks:
    return Blocks(x, weight.get("weight", np.broadcast_to(1.0, (x.shape[0],))))


def shaped(n: int = N, d: int = D, dtype: Any = np.float64) -> np.ndarray:
    """An array that takes no memory."""
    return np.broadcast_to(np.zeros(1, dtype), (n, d))


def csr(n: int, d: int) -> sparse.csr_array:
    """Rows of 60 values."""
    columns = np.sort(np.arange(n * 60, dtype=np.int32).reshape(n, 60) % d, axis=1)
    return sparse.csr_array(
        (np.ones(columns.size), columns.ravel(), np.arange(n + 1) * 60), shape=(n, d)
    )


def sizes(**given: Any) -> FitSizes:
    return FitSizes(C, T, labelled=given.pop("labelled", N), **given)


# ---------------------------------------------------------------------------------- the formula


def test_what_arrays_take() -> None:
    """Memberships and 24 bytes a row; blocks of 4,096 rows of each thread; a sample of rows."""
    found = footprint(PLAIN, of(shaped()), sizes(memberships=C, samples=N // 4))
    thread = 4096 * 8 * 8 * C + 8 * C * (D + D)
    assert found == Footprint(
        held=centres(D),
        sweeping=T * thread + (2 * T + 3) * 8 * C * D,
        setup=0,
        seeding=20_000 * (2 * 8 * D + 8 * 4 * (2 + 2)),
        sampling=N // 4 * (8 * D + 32),
        results=N * (24 + 8 * C),
    )
    assert found.least == FIXED + centres(D) + max(
        found.seeding, found.sampling + found.sweeping, found.results + found.sweeping
    )


def test_single_precision_takes_half() -> None:
    """Of rows, blocks and memberships; sums and rows that are drawn from are in double."""
    found = footprint(PLAIN, of(shaped(dtype=np.float32)), sizes(memberships=C, samples=N // 4))
    assert found.results == N * (24 + 4 * C)
    assert found.sampling == N // 4 * (4 * D + 32)
    assert found.seeding == 20_000 * (2 * 8 * D + 8 * 4 * (2 + 2))
    assert found.sweeping == T * (4096 * 4 * 8 * C + 16 * C * D) + (2 * T + 3) * 8 * C * D


@pytest.mark.parametrize("n_threads", [1, 3, 16])
def test_each_thread_has_blocks_and_sums_that_wait(n_threads: int) -> None:
    one, more = (
        footprint(PLAIN, of(shaped()), FitSizes(C, threads, labelled=N)).sweeping
        for threads in (1, n_threads)
    )
    a_thread = 4096 * 8 * 8 * C + 8 * C * 2 * D + 2 * 8 * C * D
    assert more - one == (n_threads - 1) * a_thread


def test_no_thread_is_planned_for_without_a_task() -> None:
    """Sums of wide CSR rows are dense: 20,000 rows of 60 values are one task in 60,000 columns."""
    x = csr(20_000, 60_000)
    wide = ExpectedSpace(Linear(), 60_000, is_plain=True)
    one = footprint(wide, of(x), FitSizes(C, 1, labelled=20_000)).sweeping
    assert one == 1024 * 8 * 8 * C + (2 + 1) * 8 * C * 60_000
    assert footprint(wide, of(x), FitSizes(C, 64, labelled=20_000)).sweeping == one


def test_a_patch_is_planned_with_the_kernel_matrix_of_its_rows() -> None:
    x = shaped(10_000, 5)
    one, more = (
        cmeans.KernelPatchClustering(C, kernel="linear", patch_size=2000, n_points=points).plan(x)
        for points in (1, 101)
    )
    matrices = 8 * (2000 + C * 101) ** 2 - 8 * (2000 + C * 1) ** 2
    assert more.least_memory - one.least_memory == matrices


def test_the_sample_of_an_adaptive_fit_is_planned() -> None:
    """20,000 rows, as they are and in their space, and a row number each of all."""
    few, many = (
        cmeans.AdaptivePossibilisticCMeans(n_clusters=(1, 4), scaling=None).plan(shaped(n, 40))
        for n in (100_000, 200_000)
    )
    of_a_row = (many.least_memory - few.least_memory) / 100_000
    beyond_rows = few.least_memory - 100_000 * of_a_row
    assert beyond_rows > FIXED + 2 * 20_000 * 40 * 8


def test_landmarks_are_chosen_factored_and_certified() -> None:
    """Among 20,000 rows at most, with a copy; and their prepared form stays."""
    found = footprint(SPANNED, of(shaped()), sizes())
    among = 2 * 8 * 8388 * (500 + D)
    assert memory.rows_for(500, Limits()) == 8388
    certified = 8 * 1000 * (4 * 500 + 2 * D + 2 * 1000)
    assert found.setup == max(among, certified, 6 * 8 * 500**2) == among
    assert found.held == 2 * 8 * 500 * (D + 4) + centres(500)
    few = ExpectedSpace(RBF(0.1), 2000, 2000)
    assert footprint(few, of(shaped()), sizes()).setup == max(
        2 * 8 * 8000 * (2000 + D), 6 * 8 * 2000**2, 8 * 1000 * (4 * 2000 + 2 * D + 2000)
    )


def test_what_is_copied_remembered_and_weighed_stays() -> None:
    weight = np.arange(N) + 1.0
    found = footprint(PLAIN, of(shaped(), weight=weight), sizes(copied=7, remembered=11))
    assert found.held == 7 + 11 + 24 * N + centres(D)


def test_stored_rows_are_read_a_few_at_a_time() -> None:
    """Labels of a byte each stay; results wait for a task of each thread; a start reads a few."""
    n = 1_000_000
    rows = of(Unread((n, D)))
    found = footprint(PLAIN, rows, sizes(memberships=C, labelled=n, samples=n // 4))
    assert found.held == T * 1_000_000 + 2**26 + centres(D)
    assert found.results == n + T * 65_536 * (24 + 4 * C)
    assert found.sampling == 32 * n // 4


def test_sparse_rows_count_by_what_they_store() -> None:
    """60 values a row in 60,000 columns: as many bytes as they have, not as many as columns."""
    x = csr(20_000, 60_000)
    found = footprint(ExpectedSpace(Linear(), 60_000, is_plain=True), of(x), sizes(labelled=20_000))
    assert found.seeding < 20_000 * 2 * 2 * (12 * 60 + 200)
    assert found.least < 400e6
    plan_ = cmeans.KernelKMeans(C, kernel="linear").plan(x)
    assert plan_.memory < 500e6


def test_very_many_centres_are_drawn_ahead() -> None:
    few, many = (footprint(PLAIN, of(shaped()), FitSizes(c, 1)).seeding for c in (255, 256))
    assert many - few >= 2 * 8 * 2**22


# ------------------------------------------------------------------------------------ the budget


def test_a_budget_leaves_what_the_fit_does_not_need() -> None:
    needed = footprint(SPANNED, of(shaped()), sizes()).least
    one = plan(needed, "Some", SPANNED, of(shaped()), sizes())
    assert (one.needed, one.for_rows, one.share) == (needed, 0, 0.0)
    assert one.taken == needed
    rows = N * 502 * 8
    for more, kept in ((rows // 4, rows // 4), (2 * rows, rows)):
        two = plan(needed + more, "Some", SPANNED, of(shaped()), sizes())
        assert (two.for_rows, two.taken) == (more, needed + kept)
        assert two.share == kept / rows
    with pytest.raises(ValueError, match=rf"Some: 100000 rows, 10 .* at least {needed} bytes"):
        plan(needed - 1, "Some", SPANNED, of(shaped()), sizes())


def test_without_a_budget_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = footprint(SPANNED, of(shaped()), sizes()).least
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * needed + 2_000)
    assert plan(None, "Some", SPANNED, of(shaped()), sizes()).for_rows == 1_000
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    assert plan(None, "Some", SPANNED, of(shaped()), sizes()).for_rows == 0


def test_bounds_of_stored_rows_come_before_rows() -> None:
    one = memory.MemoryPlan(100, 50, 80)
    both = one.with_bounds(SearchMemory(30, 10), 50)
    assert (both.bounds, both.for_rows, both.taken) == (SearchMemory(30, 10), 10, 150)
    first = one.with_bounds(SearchMemory(30, 30), 50)
    assert (first.bounds, first.for_rows, first.taken) == (SearchMemory(30, 0), 20, 150)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99, 1.0])
def test_no_more_is_kept_than_there_is_room_for(share: float) -> None:
    x = np.random.default_rng(0).normal(size=(5_000, 3))
    space = landmark_space(RBF(0.1), x[:50], None, x.dtype)
    room = int(share * len(x) * 52 * 8)
    rows = RepresentedRows(space, of(x), room)
    for _ in range(2):
        for task in range(rows.n_tasks):
            list(rows.task(task))
    kept = sum(len(block.weight) for blocks in rows._kept.values() for block in blocks)
    assert kept * 52 * 8 <= room
    assert kept * 52 * 8 >= room - 52 * 8 * -(-len(x) // rows.n_tasks)
    assert rows.room_to_keep == room


def test_views_are_kept_for_nothing() -> None:
    x = np.zeros((5_000, 3))
    assert memory.rows_as_represented(EuclideanSpace(np.zeros(3)), of(x)) == 0
    assert memory.rows_as_represented(EuclideanSpace(np.zeros(3)), of(Unread((50, 3)))) == 50 * 20


# ------------------------------------------------------------------------- told before any work


@pytest.mark.parametrize("name", WITH_PLAN)
def test_a_plan_reads_nothing_and_changes_nothing(name: str) -> None:
    model = build(name)
    before = dict(vars(model))
    found = model.plan(Unread((200_000, 30)))
    assert vars(model) == before
    assert found == model.plan(Unread((200_000, 30)))
    assert (found.n_rows, found.n_columns) == (200_000, 30)
    assert 0 < found.least_memory <= found.memory
    assert found.passes >= 1
    assert found.row_visits >= 200_000
    assert repr(found).startswith("FitPlan(n_rows=200000, n_columns=30, memory=")
    with pytest.raises(AttributeError):
        found.memory = 0


@pytest.mark.parametrize("name", WITH_ENGINE)
def test_a_budget_that_is_too_small_is_refused_before_rows_are_read(name: str) -> None:
    model, rows = build(name), Unread((200_000, 30))
    least = model.plan(rows).least_memory
    for budget in (1, least // 20):
        model.set_params(engine=cmeans.ThreadEngine(memory_budget=budget))
        for question in (model.fit, model.plan):
            with pytest.raises(ValueError, match=rf"{name}: .*memory_budget={budget}[.:]"):
                question(rows)


def test_linked_rows_without_room_are_refused_before_they_are_read() -> None:
    """They are read into memory, unlike others, for which the budget suffices."""
    model, rows = cmeans.FuzzyCMeans(3, kernel="linear", m=2.0), Unread((2_000_000, 60))
    least = model.plan(rows).least_memory
    assert least < rows.nbytes
    model.set_params(engine=cmeans.ThreadEngine(memory_budget=least))
    with pytest.raises(
        ValueError,
        match=rf"all rows of nowhere need {rows.nbytes} bytes.* of memory_budget={least}: linked "
        "rows are read into memory",
    ):
        model.fit(rows, must_link=[[0, 1]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of one cloud
@pytest.mark.parametrize("name", [name for name in WITH_PLAN if name not in STREAMS])
def test_a_fit_needs_no_more_than_is_told(name: str) -> None:
    """The space that was expected is the one that comes."""
    x = np.random.default_rng(0).normal(size=(1_000, 4))
    words = {"kernel": "rbf", "landmarks": 40} if "landmarks" in vars(build(name)) else {}
    model = build(name, **words)
    model.set_params(engine=cmeans.ThreadEngine(memory_budget=model.plan(x).least_memory))
    model.fit(x)


def test_hard_fits_of_many_clusters_plan_and_hold_no_memberships(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(2_000, 3))
    for kernel in ("linear", "rbf"):
        model = cmeans.KernelKMeans(200, kernel=kernel, max_iter=2, random_state=0)
        with pytest.warns(Warning, match="max_iter"):
            model.fit(x)
        assert not [name for name in vars(model) if name.startswith("memberships")]
        cmeans.save(model, tmp_path / "model")
        with safe_open(tmp_path / "model", framework="numpy") as stored:
            assert not [name for name in stored.keys() if "memberships" in name]  # noqa: SIM118
        u = cmeans.load(tmp_path / "model").memberships_
        assert u.dtype == x.dtype
        np.testing.assert_array_equal(u, model.labels_[:, None] == np.arange(200))
        np.testing.assert_array_equal(u, model.memberships_)


VISITED = {
    "hard": lambda: cmeans.KernelKMeans(4, kernel="linear", random_state=0),
    "fuzzy, no search": lambda: cmeans.FuzzyCMeans(4, kernel="linear", m=2.0, search=None),
    "adaptive": lambda: cmeans.AdaptivePossibilisticCMeans(n_clusters=(1, 8), random_state=0),
    "stream": lambda: cmeans.StreamingFuzzyCMeans(4, kernel="linear", random_state=0),
    "patches": lambda: cmeans.KernelPatchClustering(4, kernel="linear", random_state=0),
    "two steps": lambda: cmeans.TwoStepKernelKMeans(4, kernel="rbf", random_state=0),
}


@pytest.mark.slow  # fits of 30,000 rows: fewer are not swept on samples
@pytest.mark.parametrize("n", [4_000, 30_000])
@pytest.mark.parametrize("name", VISITED)
def test_row_visits_are_about_as_many_as_are_told(name: str, n: int) -> None:
    """Of fits of rows with as many groups as clusters, a quarter to three times as many."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2)) + 5 * rng.normal(size=(4, 2))[rng.integers(4, size=n)]
    model = VISITED[name]()
    told = model.plan(x).row_visits
    assert told / 4 < model.fit(x).row_visits_ < 3 * told


def test_json_of_a_plan() -> None:
    found = cmeans.FuzzyCMeans(3, kernel="linear").plan(shaped())
    assert json.loads(json.dumps(asdict(found)))["passes"] == found.passes


@pytest.mark.parametrize(
    ("step", "more"), [("setup", 102), ("seeding", 102), ("sampling", 112), ("results", 112)]
)
def test_the_largest_step_decides(step: str, more: int) -> None:
    """With what stays; sweeps over samples and the last pass have their blocks beside."""
    parts = {"held": 2, "sweeping": 10, "setup": 0, "seeding": 0, "sampling": 0, "results": 0}
    assert Footprint(**{**parts, step: 100}).least == FIXED + more
