"""What every engine promises. A new engine passes with a class of ten lines: see
test_engines.py."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np
import pytest
import threadpoolctl

from cmeans.data.blocks import Blocks, GivenRows
from cmeans.data.limits import Limits
from cmeans.engines import Chain, ChunkedRows, Engine, Pass
from cmeans.engines.base import Kept


@dataclass(frozen=True)
class Text:
    """A sum that shows its order."""

    letters: str

    def __add__(self, other: Text) -> Text:
        return Text(self.letters + other.letters)


@dataclass(frozen=True)
class Numbers:
    """Tasks that are numbers and nothing more."""

    n_tasks: int


@dataclass(frozen=True)
class Calling(Pass):
    """A function of the number."""

    function: Callable[[int], object]

    def work(self, rows: Numbers, task: int, prepared: None) -> object:
        return self.function(task)


@dataclass(frozen=True)
class Spelling(Pass[Text]):
    """Letters by number, from an alphabet that is prepared."""

    asked: list[int]  # how many tasks there were, each time

    def prepare(self, rows: Numbers) -> str:
        self.asked.append(rows.n_tasks)
        return "abcdefghijklmnopqrstuvwxyz"

    def work(self, rows: Numbers, task: int, prepared: str) -> Text:
        return Text(prepared[task])

    def conclude(self, total: Text) -> Text:
        return total + Text(".")


def fold(
    engine: Engine, function: Callable[[int], object], n_tasks: int, *heard: Callable[[int], None]
) -> object:
    """The sum of a function's values."""
    return engine.fold(Numbers(n_tasks), Calling(function), *heard)


class RefusedError(Exception):
    """What a task throws."""


def blas_threads() -> list[int]:
    return [
        pool["num_threads"]
        for pool in threadpoolctl.threadpool_info()
        if pool["user_api"] == "blas"
    ]


@pytest.fixture
def two_blas_threads():
    """So that a limit of one can be seen, and seen to end."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        yield


class EngineContract(ABC):
    """An engine of a given number of workers, used as a context manager."""

    @abstractmethod
    def make(self, workers: int) -> AbstractContextManager[Engine]:
        """The engine."""

    @pytest.fixture(params=[1, 2, 5])
    def workers(self, request: pytest.FixtureRequest) -> int:
        return request.param

    def test_run_gives_results_in_the_order_of_the_tasks(self, workers: int) -> None:
        def late_if_early(task: int) -> int:
            time.sleep(0.002 * ((7 - task) % 4))
            return task

        with self.make(workers) as engine:
            assert list(engine.run(late_if_early, 20)) == list(range(20))
            assert list(engine.run(late_if_early, 1)) == [0]

    def test_fold_adds_in_the_order_of_the_tasks(self, workers: int) -> None:
        def letter(task: int) -> Text:
            time.sleep(0.002 * (task % 3))
            return Text(chr(ord("a") + task))

        heard: list[int] = []
        with self.make(workers) as engine:
            assert fold(engine, letter, 26, heard.append) == Text("abcdefghijklmnopqrstuvwxyz")
            assert fold(engine, letter, 1) == Text("a")
        assert heard == list(range(26))

    def test_a_pass_is_prepared_once_and_its_sum_concluded(self, workers: int) -> None:
        spelling = Spelling([])
        with self.make(workers) as engine:
            assert list(engine.map(Numbers(4), spelling)) == [Text(letter) for letter in "abcd"]
            assert spelling.asked == [4]
            assert engine.fold(Numbers(26), spelling) == Text("abcdefghijklmnopqrstuvwxyz.")
            assert spelling.asked == [4, 26]

    def test_every_number_of_workers_gives_the_same_bits(self) -> None:
        def numbers(task: int) -> np.ndarray:
            rng = np.random.default_rng(task)
            a, b = rng.normal(size=(2, 60, 60)).astype(np.float32)
            return (a @ b).astype(np.float64).sum(axis=0) * 10.0 ** rng.integers(-8, 8)

        def total(workers: int) -> np.ndarray:
            with self.make(workers) as engine:
                return fold(engine, numbers, 41)

        once = total(1)
        for workers in (2, 5, 5):
            np.testing.assert_array_equal(total(workers), once)

    @pytest.mark.parametrize("failing", [0, 7, 19])
    def test_exceptions_come_through_and_the_engine_goes_on(
        self, workers: int, failing: int
    ) -> None:
        def fail(task: int) -> Text:
            if task == failing:
                raise RefusedError(f"task {task}")
            return Text("x")

        with self.make(workers) as engine:
            with pytest.raises(RefusedError, match=f"task {failing}"):
                fold(engine, fail, 20)
            assert fold(engine, lambda _: Text("y"), 3) == Text("yyy")

    def test_after_an_exception_the_rest_is_not_run(self, workers: int) -> None:
        ran: list[int] = []

        def fail_first(task: int) -> Text:
            ran.append(task)
            if task == 0:
                raise RefusedError
            time.sleep(0.001)
            return Text("x")

        with self.make(workers) as engine, pytest.raises(RefusedError):
            fold(engine, fail_first, 1000)
        assert len(ran) < 100

    def test_results_wait_in_small_numbers(self, workers: int) -> None:
        """A slow reader must not find all results of a long input in memory."""
        made: list[int] = []
        with self.make(workers) as engine:
            results = engine.run(lambda task: made.append(task), 300)
            next(results)
            time.sleep(0.05)
            assert len(made) <= 3 * workers + 2
            assert len([0 for _ in results]) == 299

    def test_a_reader_may_leave_early(self, workers: int) -> None:
        with self.make(workers) as engine:
            results = engine.run(lambda task: task, 300)
            assert next(results) == 0
            results.close()
            assert list(engine.run(lambda task: task, 3)) == [0, 1, 2]

    @pytest.mark.usefixtures("two_blas_threads")
    def test_blas_runs_one_thread_inside_and_as_before_after(self, workers: int) -> None:
        before = blas_threads()
        if before.count(1) == len(before):
            pytest.skip("this BLAS knows one thread only")
        with self.make(workers) as engine:
            assert set(blas_threads()) == {1}
            assert {
                count for counts in engine.run(lambda _: blas_threads(), 8) for count in counts
            } == {1}
        assert blas_threads() == before

    @pytest.mark.usefixtures("two_blas_threads")
    def test_blas_is_given_back_after_an_exception(self, workers: int) -> None:
        before = blas_threads()
        with pytest.raises(RefusedError), self.make(workers):
            raise RefusedError
        assert blas_threads() == before

    @pytest.mark.usefixtures("two_blas_threads")
    def test_engines_nest(self, workers: int) -> None:
        before = blas_threads()
        with self.make(workers) as outer:

            def inner(task: int) -> Text:
                with self.make(2) as engine:
                    return fold(engine, lambda number: Text(str(number)), task + 1)

            assert fold(outer, inner, 4) == Text("0010120123")
            assert set(blas_threads()) == {1}
        assert blas_threads() == before

    @pytest.mark.usefixtures("two_blas_threads")
    def test_engines_of_several_threads_overlap(self, workers: int) -> None:
        """Fits of one process may start and end in any order."""
        before = blas_threads()
        first_is_in, second_is_in = threading.Event(), threading.Event()
        seen: list[Text] = []

        def first() -> None:
            with self.make(workers) as engine:
                first_is_in.set()
                second_is_in.wait(5)
                seen.append(fold(engine, lambda _: Text("a"), 9))

        def second() -> None:
            first_is_in.wait(5)
            with self.make(workers) as engine:
                second_is_in.set()
                earlier.join(5)
                seen.append(fold(engine, lambda _: Text("b"), 9))

        earlier, later = threading.Thread(target=first), threading.Thread(target=second)
        self._run(earlier, later)
        assert seen == [Text("a" * 9), Text("b" * 9)]
        assert blas_threads() == before

    def test_floating_point_errors_are_as_before_after(self, workers: int) -> None:
        with np.errstate(over="raise", invalid="print"):
            before = np.geterr()
            with self.make(workers) as engine:
                fold(engine, lambda _: Text("x"), 9)
            assert np.geterr() == before
            with pytest.raises(RefusedError), self.make(workers):
                raise RefusedError
            assert np.geterr() == before

    def test_no_thread_is_left_behind(self, workers: int) -> None:
        before = threading.active_count()
        with self.make(workers) as engine:
            fold(engine, lambda _: Text("x"), 50)
        assert threading.active_count() == before

    @staticmethod
    def _run(*threads: threading.Thread) -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()


N_ROWS = 230
SMALL = Limits(block_rows=8, narrow_block_rows=8, least_task_rows=8, task_values=16, tasks=7)


class Notes:
    """Numbers by row that passes keep beside the rows."""

    def __init__(self, n_rows: int) -> None:
        self.times, self.before = np.zeros(n_rows), np.full(n_rows, -1.0)


def numbers_of(rows: GivenRows, task: int) -> tuple[slice, np.ndarray]:
    """Where the rows of a task are among those here, and their numbers among all, which is what
    they hold."""
    return slice(*rows.task_range(task)), np.concatenate(
        [block.x[:, 0] for block in rows.task(task)]
    )


@dataclass(frozen=True)
class Noting(Pass[Text]):
    """Counts in every row how often it was passed, and spells the numbers of all rows."""

    fails_at: int = -1

    def begin(self, rows: GivenRows) -> Notes:
        return Notes(rows.blocks.n_rows)

    def work(self, rows: GivenRows, task: int, kept: Notes) -> Text:
        here, numbers = numbers_of(rows, task)
        if self.fails_at in numbers:
            raise RefusedError(f"row {self.fails_at}")
        kept.times[here] += 1
        return Text("".join(chr(int(number)) for number in numbers))

    def conclude(self, total: Text) -> Text:
        return total + Text(".")


@dataclass(frozen=True)
class Reading(Pass[Text]):
    """Spells how often each row was passed."""

    def work(self, rows: GivenRows, task: int, kept: Notes) -> Text:
        return Text("".join(str(int(times)) for times in kept.times[numbers_of(rows, task)[0]]))


@dataclass(frozen=True)
class Linking(Chain[float]):
    """Notes in each row the state that the rows before have left: the number of the last of
    them."""

    def work(self, rows: GivenRows, task: int, kept: Notes, state: float, engine: Engine) -> float:
        here, numbers = numbers_of(rows, task)
        kept.before[here] = [state, *numbers[:-1]]
        return float(numbers[-1])


@dataclass(frozen=True)
class SpellingChunks(Chain["Text | None"]):
    """A stream that spells its rows, by the engine that it is given."""

    def work(
        self, rows: ChunkedRows, task: int, kept: None, state: Text | None, engine: Engine
    ) -> Text:
        blocks = rows.chunk(task)
        chunk = engine.fold(GivenRows(blocks, 1), Noting(), kept=Kept(Notes(blocks.n_rows)))
        return chunk if state is None else state + chunk


@dataclass(frozen=True)
class ChunksAlone(Pass["tuple[int, list[float], float]"]):
    """The number of each chunk, its rows and their weight."""

    def work(self, rows: ChunkedRows, task: int, prepared: None) -> tuple[int, list[float], float]:
        blocks = rows.chunk(task)
        return rows.numbers[task], blocks.x[:, 0].tolist(), float(blocks.weight.sum())


LETTERS = "".join(map(chr, range(N_ROWS)))
# rows between two of them are left out
SPANS = [(0, 40), (40, 41), (41, 100), (120, 150), (150, N_ROWS)]


class RowsContract(ABC):
    """An engine of a given number of workers that has some rows, wherever they are."""

    @abstractmethod
    def held(self, blocks: Blocks, workers: int) -> AbstractContextManager[tuple[Engine, Blocks]]:
        """The engine, and the same rows where it has them."""

    @pytest.fixture(params=[1, 2])
    def workers(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture
    def there(self, workers: int) -> Iterator[tuple[Engine, GivenRows]]:
        """Rows that hold their number, and weigh it."""
        x = np.arange(float(N_ROWS))[:, None]
        with self.held(Blocks(x, x[:, 0].copy(), limits=SMALL), workers) as (engine, blocks):
            yield engine, GivenRows(replace(blocks, limits=SMALL), 1)

    def test_numbers_stay_with_their_rows_from_pass_to_pass(
        self, there: tuple[Engine, GivenRows]
    ) -> None:
        engine, rows = there
        total, kept = engine.keep(rows, Noting())
        assert total == Text(LETTERS + ".")
        assert engine.fold(rows, Reading(), kept=kept) == Text("1" * N_ROWS)
        total, kept = engine.keep(rows, Noting(), kept)
        assert total == Text(LETTERS + ".")
        assert engine.fold(rows, Reading(), kept=kept) == Text("2" * N_ROWS)
        column = kept.column("times")
        assert column.shape == (N_ROWS,)
        np.testing.assert_array_equal(column[np.array([N_ROWS - 1, 0, 7])], 2.0)
        np.testing.assert_array_equal(column[:], 2.0)
        np.testing.assert_array_equal(np.asarray(kept.answer("times")), 2.0)

    def test_a_pass_that_fails_leaves_what_was_kept(self, there: tuple[Engine, GivenRows]) -> None:
        engine, rows = there
        with pytest.raises(RefusedError, match="row 99"):
            engine.keep(rows, Noting(fails_at=99))
        _, kept = engine.keep(rows, Noting())
        np.testing.assert_array_equal(kept.column("times")[:], 1.0)

    def test_a_chain_goes_from_row_to_row(self, there: tuple[Engine, GivenRows]) -> None:
        engine, rows = there
        _, kept = engine.keep(rows, Noting())
        *_, (state, kept) = engine.follow(rows, Linking(), -7.0, kept)
        assert state == N_ROWS - 1
        np.testing.assert_array_equal(kept.column("before")[:], [-7.0, *range(N_ROWS - 1)])
        *_, (state, kept) = engine.follow(rows, Linking(), state, kept)
        np.testing.assert_array_equal(kept.column("before")[:], [N_ROWS - 1, *range(N_ROWS - 1)])
        np.testing.assert_array_equal(kept.column("times")[:], 1.0)

    def test_a_stream_goes_from_chunk_to_chunk(self, there: tuple[Engine, GivenRows]) -> None:
        """Wherever the chunks are cut; states come on the way, that of the last chunk in any
        case."""
        engine, rows = there
        texts = [LETTERS[start:stop] + "." for start, stop in SPANS]
        wanted = [Text("".join(texts[:count])) for count in range(1, len(texts) + 1)]
        numbers = range(len(SPANS))
        states = [
            state
            for state, _ in engine.follow(
                ChunkedRows(rows.blocks, SPANS, numbers), SpellingChunks(), None
            )
        ]
        assert states == [state for state in wanted if state in states]
        assert states[-1] == wanted[-1]
        *_, (last, _) = engine.follow(
            ChunkedRows(rows.blocks, SPANS[3:], numbers[3:]), SpellingChunks(), wanted[2]
        )
        assert last == wanted[-1]

    def test_chunks_side_by_side(self, there: tuple[Engine, GivenRows]) -> None:
        engine, rows = there
        answers = list(
            engine.map(ChunkedRows(rows.blocks, SPANS, range(3, 3 + len(SPANS))), ChunksAlone())
        )
        assert answers == [
            (number, [*range(*span)], sum(range(*span))) for number, span in enumerate(SPANS, 3)
        ]
