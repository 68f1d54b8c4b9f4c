"""Commands that are killed, stopped, find the disk full or their rows gone, at random moments.

Whatever happens, a file of results is whole or absent, what is said is a line, and the command, run
again or resumed, ends in the very results of one that nothing has happened to. Resumed with other
rows, weights or another order of them it is refused in a line, and leaves everything as it was.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import cmeans

# here, so that what a process is killed in is its work
from cmeans.cli import commands, fitting, selection  # noqa: F401
from cmeans.cli import main as command
from cmeans.cli.stream import run  # noqa: F401
from cmeans.fitting.prediction import Predicting
from fuzz.runner import FoundError, is_runnable, processor_time

FAULTS = ("SIGKILL", "SIGTERM", "full disk", "rows gone")
CHANGES = ("value", "weight", "order", "copied")
DONE, WRONG, INTERRUPTED = 0, 2, 130
WAIT = 60.0  # seconds in which a command that hangs does nothing


@dataclass(frozen=True)
class Command:
    """A command, the files of its results, and how it goes on."""

    line: str
    results: dict[str, Callable[[Path], object]]  # by name: what of a file must be the same again
    state: str | None = None  # the file that it goes on from
    # its rows, with weights in the last column, and of how many of them each is known to a state
    rows: str = ""
    known: int = 2

    @property
    def words(self) -> list[str]:
        return self.line.split()


def of_bytes(file: Path) -> object:
    return file.read_bytes()


def of_summary(file: Path) -> object:
    """What a summary says but for times, and for which run it was."""
    own = {"seconds", "resumed", "warnings", "next"}
    return {name: value for name, value in json.loads(file.read_text()).items() if name not in own}


def of_table(file: Path) -> object:
    """A table without its last column, which holds times."""
    return [line.rpartition(",")[0] for line in file.read_text().splitlines()]


def of_page(file: Path) -> object:
    """A page without the minute in which it was made."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", file.read_text())


def of_model(file: Path) -> object:
    model = cmeans.load(file)
    return model._state.centres.coordinates.tobytes(), model.n_iter_


COMMANDS = {
    "fit": Command(
        "fit weighted.npy --weight 4 -c 5 --method fuzzy --m 1.5 --kernel rbf --landmarks 40 "
        "--n-init 2 --seed 3 -q --out out "
        "--checkpoint state --checkpoint-minutes 0",
        {
            "out/labels.parquet": of_bytes,
            "out/run.toml": of_bytes,
            "out/model.safetensors": of_model,
            "out/summary.json": of_summary,
        },
        "state",
        "weighted.npy",
        400,
    ),
    "predict": Command("predict model rows.npy --out labels.csv -q", {"labels.csv": of_bytes}),
    "stream": Command(
        "stream weighted.csv --weight w -c 5 --chunk-size 250 --out labels.csv --checkpoint state "
        "--checkpoint-every 1 -q --summary s.json",
        {"labels.csv": of_bytes, "s.json": of_summary},
        "state",
        "weighted.csv",
    ),
    "select": Command(
        "select few_weighted.npy --weight 4 -c 2-3 --refits 2 --method hard -q --out out "
        "--checkpoint state --checkpoint-minutes 0",
        {
            "out/selection.csv": of_table,
            "out/run.toml": of_bytes,
            "out/selection.json": lambda file: json.loads(file.read_text())["reason"],
        },
        "state",
        "few_weighted.npy",
        400,
    ),
    "report": Command("report model few.npy --out page.html -q", {"page.html": of_page}),
}


def main(rounds: int, first: int, names: list[str]) -> int:
    """Run so many rounds of each command, and say what came of them."""
    found = 0
    with tempfile.TemporaryDirectory() as place:
        inputs = prepared(Path(place) / "inputs")
        for name in names:
            counts, trial = Counter[str](), Trial(COMMANDS[name], inputs, Path(place))
            for number in range(first, first + rounds):
                try:
                    counts[trial.round(random.Random(f"{name} {number}"))] += 1
                except Exception as error:
                    found += 1
                    counts["find"] += 1
                    print(
                        f"--- kills of {name}, round {number}: {type(error).__name__}: {error}",
                        file=sys.stderr,
                        flush=True,
                    )
            print(
                f"{name}: {rounds} rounds "
                f"({', '.join(f'{what} {count}' for what, count in counts.most_common())})",
                flush=True,
            )
    return int(found > 0)


def prepared(folder: Path, n: int = 6_000) -> Path:
    """Write rows and a model, and return their folder."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4)) + 3.0 * rng.normal(size=(5, 4))[rng.integers(5, size=n)]
    np.save(folder / "rows.npy", x)
    np.save(folder / "few.npy", x[:400])
    weighted = np.column_stack([x, rng.integers(1, 4, n)])
    write_rows(folder / "weighted.npy", weighted)
    write_rows(folder / "few_weighted.npy", weighted[:400])
    write_rows(folder / "weighted.csv", weighted)
    cmeans.save(cmeans.FuzzyCMeans(5, m=1.5, random_state=0).fit(x[:600]), folder / "model")
    return folder


def read_rows(file: Path) -> np.ndarray:
    return np.loadtxt(file, delimiter=",", skiprows=1) if file.suffix == ".csv" else np.load(file)


def write_rows(file: Path, x: np.ndarray) -> None:
    if file.suffix == ".csv":
        np.savetxt(file, x, fmt="%.5f", delimiter=",", header="a,b,c,d,w", comments="")
    else:
        np.save(file, x)


class Trial:
    """One command, as it goes when nothing happens, and in rounds in which something does."""

    def __init__(self, what: Command, inputs: Path, place: Path) -> None:
        self.what, self.inputs, self.place = what, inputs, place
        folder, begun = self._folder(), time.monotonic()
        code, said = ended(started(self.what.words, folder), folder)
        self.seconds = time.monotonic() - begun
        if code != DONE:
            raise FoundError(f"ends with {code} though nothing happens: {said}")
        self.known = {name: read(folder / name) for name, read in what.results.items()}
        self.largest = max((folder / name).stat().st_size for name in what.results)

    def round(self, dice: random.Random) -> str:
        """Do something to a command at some moment, look at what it leaves, and let it go on."""
        fault, folder = dice.choice(FAULTS), self._folder()
        full = dice.randrange(self.largest) if fault == "full disk" else None
        process, moment = started(self.what.words, folder, full), dice.random() * 1.1 * self.seconds
        time.sleep(moment)
        if fault.startswith("SIG"):
            os.kill(process, signal.Signals[fault])
        elif fault == "rows gone":
            for file in [*folder.glob("*.npy"), *folder.glob("*.csv")]:
                if file.name in self.what.results:
                    continue
                file.unlink()
        code, said = ended(process, folder)
        self._look(folder, fault, code, said)
        for file in self.inputs.iterdir():
            shutil.copy(file, folder)
        goes_on = self.what.state is not None and (folder / self.what.state).exists()
        change = self._changed(folder, dice) if goes_on else ""
        again, told = ended(
            started([*self.what.words, *(["--resume"] if goes_on else [])], folder), folder
        )
        if again != DONE:
            raise FoundError(
                f"after {fault} at {moment:.2f} s ({code}, {said!r}) it does not go on: {again}, "
                f"{told!r}"
            )
        for name, read in self.what.results.items():
            if read(folder / name) != self.known[name]:
                raise FoundError(
                    f"after {fault} at {moment:.2f} s ({code}, {said!r}) {name} is another"
                )
        if left := [file.name for file in folder.rglob(".cmeans-tmp*")]:
            raise FoundError(f"after {fault} at {moment:.2f} s {left} are left")
        return f"{fault}: {code}{change}"

    def _changed(self, folder: Path, dice: random.Random) -> str:
        """Let it go on with other rows, which it must refuse, or with a copy of the same; return in
        words what came."""
        file, change = folder / self.what.rows, dice.choice(CHANGES)
        x = read_rows(file)
        one, other = dice.sample(range(self.what.known), 2)
        if change == "copied":
            write_rows(file, x)
            return ", copied"
        if change == "value":
            x[one, dice.randrange(4)] += 1e-4
        elif change == "weight":
            x[one, 4] += 1
        else:
            x[[one, other]] = x[[other, one]]
        before = {
            path: path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
            and ".cmeans" not in str(path)
            and path.name not in (file.name, "said")
        }
        write_rows(file, x)
        code, said = ended(started([*self.what.words, "--resume"], folder), folder)
        if code != WRONG or len(said.splitlines()) != 1:
            raise FoundError(
                f"other rows ({change} {one}) are not refused in a line: {code}, {said}"
            )
        for path, content in before.items():
            now = path.read_bytes()  # labels that no state records go
            if now != content and not (path.name == "labels.csv" and content.startswith(now)):
                raise FoundError(f"other rows ({change} {one}) change {path.name}")
        shutil.copy(self.inputs / file.name, folder)
        return f", {change} refused"

    def _look(self, folder: Path, fault: str, code: int, said: str) -> None:
        """Find nothing half-written, and no more said than a line."""
        killed = fault == "SIGKILL" and code == -signal.SIGKILL
        # the latter before there is a handler
        stopped = fault == "SIGTERM" and code in (INTERRUPTED, -signal.SIGTERM)
        if not (killed or stopped or code in (DONE, WRONG)) or "Traceback" in said:
            raise FoundError(f"{fault} ends with {code}: {said}")
        if (
            code == WRONG
            and len([line for line in said.splitlines() if "warning:" not in line]) != 1
        ):
            raise FoundError(f"{fault} says {said!r}")
        # of labels that are written as rows come
        grows = "labels.csv" if self.what.words[0] == "stream" else None
        for name, read in self.what.results.items():
            if not (folder / name).exists() or name == grows:
                continue
            if read(folder / name) != self.known[name] and not (
                code == INTERRUPTED and name.endswith("model.safetensors")
            ):
                raise FoundError(f"{fault} ({code}, {said!r}) leaves {name} half-written")
        if grows is not None and (folder / grows).exists():
            whole = self.known[grows]
            assert isinstance(whole, bytes)
            if not whole.startswith((folder / grows).read_bytes()):
                raise FoundError(f"{fault} ({code}, {said!r}) leaves other labels")

    def _folder(self) -> Path:
        """Return a fresh folder of inputs, always at the same place: pages name the files that they
        are of."""
        folder = self.place / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        return folder


def started(words: list[str], folder: Path, full: int | None = None) -> int:
    """Run a command in a copy of this process, with rows that stay in their files; `full`: bytes of
    a file that the disk takes."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.chdir(folder)
        said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(said, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        if full is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (full, full))
        Predicting._limits = replace(Predicting._limits, loaded_bytes=0)
        code = command(words)
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(process: int, folder: Path) -> tuple[int, str]:
    """Return how a command has ended, and what it said."""
    used, heard = 0.0, time.monotonic()
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), (folder / "said").read_text() if (
                folder / "said"
            ).exists() else ""
        now = processor_time(process)
        if now > used or is_runnable(process):
            used, heard = now, time.monotonic()
        if time.monotonic() - heard > WAIT:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise FoundError("hangs")
        time.sleep(0.005)
