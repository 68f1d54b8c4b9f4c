"""Contestants in processes of their own, taking turns over the same job."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import judge
from .environments import UnavailableError, python_of
from .jobs import Check, Contest, Contestant
from .players import job as files

ROOT = Path(__file__).resolve().parents[1]
FEW_ROWS = 5000  # rows that a package which compiles nothing warms up on
THREAD_WORDS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Settings:
    """How contests are run."""

    runs: int
    threads: int
    limit: float  # seconds a run may take
    patience: float  # seconds all runs of a contestant may take that no wanted ratio needs
    quick: int | None  # rows to cut data to
    environments: Path
    # jobs, answers, and what Numba compiles for those that use it: so that it is seen
    scratch: Path

    def variables(self) -> dict[str, str]:
        """The same number of threads for all."""
        return {
            **os.environ,
            **dict.fromkeys(THREAD_WORDS, str(self.threads)),
            "NUMBA_CACHE_DIR": str(self.scratch / "numba"),
        }


class Worker:
    """A contestant's process."""

    def __init__(
        self, contestant: Contestant, settings: Settings, checkout: Path | None = None
    ) -> None:
        """`checkout`: another version's, whose own player runs, since it knows the words of its
        time."""
        python = python_of(contestant.environment, contestant.requirement, settings.environments)
        command = [python, "-m", "benchmarks.players.worker", contestant.player, contestant.call]
        self._process = subprocess.Popen(
            [*command, json.dumps(contestant.words), str(settings.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=checkout or ROOT,
            env={
                **settings.variables(),
                **({} if checkout is None else {"PYTHONPATH": str(checkout / "src")}),
            },
        )
        self._limit = settings.limit
        self.greeting = self._answer()

    def run(
        self, job: Path, seed: int, answer: Path | None = None, least: float = 0.0
    ) -> dict[str, float]:
        """One run, or as many as last `least` seconds, timed by the process itself."""
        assert self._process.stdin is not None
        order = {"job": str(job), "seed": seed, "answer": answer and str(answer), "least": least}
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its answer, or the lack of one, says why
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        late = threading.Timer(self._limit, self._process.kill)
        late.start()
        try:
            line = self._process.stdout.readline()
        finally:
            in_time = late.is_alive()
            late.cancel()
        if not line:
            code = self._process.wait()
            raise UnavailableError(
                f"ended with code {code}" if in_time else f"stopped after {self._limit:.0f} s"
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise UnavailableError(answer["error"])
        return answer


def hold(contest: Contest, settings: Settings) -> dict[str, Any]:
    """All contestants, run after run in turn; what came out, scored."""
    with tempfile.TemporaryDirectory(dir=settings.scratch) as folder:
        full, few = Path(folder) / "full", Path(folder) / "few"
        arrays, classes = contest.make(settings.quick)
        files.write(full, contest.words, arrays)
        files.write(few, contest.words, contest.make(FEW_ROWS)[0])
        x = arrays.pop("x")
        records = [_record(contestant, contest.words) for contestant in contest.contestants]
        workers = _begin(contest, settings, records, full, few)
        for run in range(settings.runs):
            for record in _taking_part(contest, settings, records, workers):
                worker, answer = (
                    workers[record["name"]],
                    _answer_file(contest, Path(folder), record["name"], run),
                )
                try:
                    result = worker.run(full, run, answer)
                except UnavailableError as error:
                    _drop(workers, record, error)
                    continue
                record["seconds"].append(result["seconds"])
                record["peak_mb"].append(result["peak_mb"])
            done = [
                f"{record['name']} {record['seconds'][run]:.3g} s"
                for record in records
                if len(record["seconds"]) > run
            ]
            print(f"   run {run + 1}: " + ", ".join(done), flush=True)
        for worker in workers.values():
            worker.close()
        _score(contest, x, classes, records, Path(folder), settings.runs)
    return {
        "point": contest.point,
        "title": contest.title,
        "words": {**contest.words, "rows": len(x), "columns": x.shape[1], "judged": contest.judged},
        "contestants": records,
        "checks": [measured(check, records) for check in contest.checks],
    }


def _record(contestant: Contestant, words: dict[str, Any]) -> dict[str, Any]:
    return {
        **asdict(contestant),
        "words": {**words, **contestant.words},
        "seconds": [],
        "peak_mb": [],
        "objective": [],
        "rand_index": [],
    }


def _begin(
    contest: Contest, settings: Settings, records: list[dict[str, Any]], full: Path, few: Path
) -> dict[str, Worker]:
    """The processes, each after a run that does not count: on all rows where a package compiles,
    else on a few."""
    workers: dict[str, Worker] = {}
    for contestant, record in zip(contest.contestants, records, strict=True):
        try:
            worker = workers[contestant.name] = Worker(contestant, settings)
            record["machine"] = worker.greeting
            compiles = worker.greeting["compiles"]
            first = worker.run(full if compiles else few, 0)
            record["compiles"], record["warm_up"] = compiles, first["seconds"]
        except UnavailableError as error:
            _drop(workers, record, error)
    return workers


def _taking_part(
    contest: Contest, settings: Settings, records: list[dict[str, Any]], workers: dict[str, Worker]
) -> Iterator[dict[str, Any]]:
    """Those whose turn it is: all that run, but slow ones that no wanted ratio needs only until
    patience ends."""
    needed = {name for check in contest.checks for name in (check.over, check.under)}
    for record in records:
        name = record["name"]
        if name in workers and (name in needed or sum(record["seconds"]) < settings.patience):
            yield record


def _answer_file(contest: Contest, folder: Path, name: str, run: int) -> Path:
    """One of every run where these differ, else one that the last run leaves."""
    return folder / (f"{name}-{run}.npz" if contest.seeded else f"{name}-.npz")


def _drop(workers: dict[str, Worker], record: dict[str, Any], error: UnavailableError) -> None:
    record["error"] = str(error)
    print(f"   {record['name']}: {error}", flush=True)
    if record["name"] in workers:
        workers.pop(record["name"]).close()


def _score(
    contest: Contest,
    x: np.ndarray,
    classes: np.ndarray,
    records: list[dict[str, Any]],
    folder: Path,
    runs: int,
) -> None:
    """The judge's objective and the adjusted Rand index of every answer there is."""
    answers = []
    for record in records:
        for path in dict.fromkeys(
            _answer_file(contest, folder, record["name"], run) for run in range(runs)
        ):
            if path.exists():
                with np.load(path) as file:
                    answers.append((record, dict(file)))
    if contest.judged == "kernel":
        rows = judge.fixed_sample(len(x))
        costs = judge.full_kernel_costs(
            x[rows],
            [answer["labels"][rows] for _, answer in answers],
            judge.kernel_of(contest.words),
        )
    elif contest.judged == "hard":
        costs = [judge.hard_cost(x, answer["labels"]) for _, answer in answers]
    else:
        costs = [
            judge.fuzzy_cost(x, answer["centres"], contest.words["m"]) for _, answer in answers
        ]
    for (record, answer), cost in zip(answers, costs, strict=True):
        record["objective"].append(cost)
        record["rand_index"].append(judge.rand_index(answer["labels"], classes))


def measured(check: Check, records: list[dict[str, Any]]) -> dict[str, Any]:
    """A wanted ratio and the one that came out: median, least and largest over the paired runs."""
    of = {record["name"]: record[check.of] for record in records}
    wanted = f"at least {check.least:g}" if check.least is not None else f"at most {check.most:g}"
    ratios = [over / under for over, under in zip(of[check.over], of[check.under], strict=False)]
    return judged(check.text, wanted, ratios, least=check.least, most=check.most)


def judged(
    text: str,
    wanted: str,
    values: list[float],
    *,
    least: float | None = None,
    most: float | None = None,
) -> dict[str, Any]:
    """A wanted number beside what was measured."""
    if not values:
        return {"text": text, "wanted": wanted, "value": None}
    value = statistics.median(values)
    met = (least is None or value >= least) and (most is None or value <= most)
    return {
        "text": text,
        "wanted": wanted,
        "value": value,
        "low": min(values),
        "high": max(values),
        "met": met,
    }
