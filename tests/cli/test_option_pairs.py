"""Options of each command in pairs, on a small file.

Runs of several options cover all pairs that go together, and each ends well. Those that do not are
learnt from the lines that refuse them, which name both, or an option that is refused by itself.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
from typer.models import OptionInfo

from cli.command import Command
from cmeans.cli.commands import app
from cmeans.cli.methods import METHODS
from cmeans.cli.selection import SELECTABLE

VALUES = {  # of options that take text, or files; others have values of their types
    "columns": ["a,b,c", "1-3"],
    "weight": ["w"],
    "identifier": ["name"],
    "time": ["name"],
    "known_labels": ["known"],
    "must_link": ["known"],
    "categorical": ["plan"],
    "dates": ["day"],
    "cyclic": ["c=24"],
    "latlon": ["a,b"],
    "column_weight": ["a=2"],
    "missing_values": ["?", "none"],
    "encoding": ["utf-8"],
    "decimal": [",", "."],
    "thousands": [",", "'"],
    "array": ["X"],
    "texts": ["plan"],
    "coordinates": ["w,known"],
    "against": ["model.safetensors"],
    "title": ["Rows"],
    "names": ["x,y,z"],
    "memory_budget": ["1GB"],
    "sample_size": ["auto", "20"],
    "config": ["run.toml"],
    "model": ["model.safetensors"],
    "checkpoint": ["kept"],
    "kept_in": ["kept"],
    "events": ["events.csv"],
    "summary": ["summary.json"],
    "scheduler": ["tcp://127.0.0.1:1"],
}
NO_OPTIONS = {"help", "file", "source", "model_file", "out", "debug", "quiet", "as_json", "follow"}
NO_OPTIONS |= {"method", "scheduler", "runs_on", "resume"}  # which have tests of their own
NEEDED = {  # by other options, which are given with them
    "every": "kept_in",
    "truncated": "top_k",
    "checkpoint_every": "checkpoint",
}
SIZE = 8  # options of a run
MANY = 120  # with those of minutes, at most
FEW = 1  # run of each command that is made with all tests


def options_of(command: str) -> dict[str, list[list[str]]]:
    """Return the values of each option of a command, as words of the command line."""
    found = dict[str, list[list[str]]]()
    called = next(each.callback for each in app.registered_commands if each.name == command)
    for name, word in inspect.signature(called).parameters.items():
        info = getattr(word.annotation, "__metadata__", [None])[0]
        if name in NO_OPTIONS or not isinstance(info, OptionInfo):
            continue
        words = [info.default, *(info.param_decls or ()), "--" + name.replace("_", "-")]
        flags = next(each for each in words if str(each).startswith("-")).split("/")
        [*kinds] = {*get_args(get_args(word.annotation)[0])} or {get_args(word.annotation)[0]}
        choices = [each for kind in kinds for each in get_args(kind)]
        if get_origin(get_args(word.annotation)[0]) is Literal:
            kinds, choices = [Literal], list(get_args(get_args(word.annotation)[0]))
        if bool in kinds:
            # the file has names in its first line
            found[name] = [[flag] for flag in flags if flag != "--no-header"]
            continue
        texts = [each for each in (info.metavar or "").split("|") if each.islower()]
        number = ["2"] if int in kinds else ["0.5"] if float in kinds else []
        values = VALUES.get(name) or [*map(str, choices)] or number or texts or ["2"]
        found[name] = [[flags[0], value] for value in values]
    return found


class Covering:
    """Runs of a command in which all pairs of its options stand that go together."""

    def __init__(self, command: str, cmeans: Command) -> None:
        self.options, self._cmeans, self._command = options_of(command), cmeans, command
        self._dice = random.Random(0)
        self._of_flag = {words[0]: name for name, all in self.options.items() for words in all}
        methods = {"fit": METHODS, "select": {name: METHODS[name] for name in SELECTABLE}}
        self._methods = [*methods.get(command, {None: None}).items()]
        # options that stand in no run, those that are refused together, and what is wrong
        self.alone, self.refused = dict[tuple[str, ...], bool](), set[frozenset[str]]()
        self.wrong = list[tuple[str, str]]()
        self.left = {frozenset(pair) for pair in combinations(self.options, 2)}

    def run(self) -> None:
        """Make one run, without options that are refused, so that it ends well."""
        method, spec = self._methods[0]
        self._methods.append(self._methods.pop(0))
        base = [] if method is None else ["--method", method]
        if spec is None or "n_clusters" in spec.parameters:
            base += CLUSTERS.get(self._command, [])
        able = [
            name
            for name in self.options
            if spec is None or name in spec.parameters or name not in OF_METHODS
        ]
        names = self._picked(able)
        words = {name: self._dice.choice(self.options[name]) for name in names}
        words |= {NEEDED[name]: self.options[NEEDED[name]][0] for name in names if name in NEEDED}
        while words:
            line = [*base, *(word for each in words.values() for word in each)]
            if not (why := self._refusal(line)):
                break
            flags = re.findall(r"--[a-z][a-z0-9-]*|-c", why)
            named = [name for name in words if words[name][0] in flags]
            others = {*flags} - {words[name][0] for name in named}
            if len(named) >= 2:
                self.refused.add(frozenset(named[:2]))
            elif not named or not (others & {*base} or self._is_refused(base, words[named[0]])):
                self.wrong.append((" ".join(line), why))
                return
            del words[named[-1] if named[-1] not in map(NEEDED.get, words) else named[0]]
        self.left -= {frozenset(pair) for pair in combinations(words, 2)} | self.refused

    def _picked(self, able: Sequence[str]) -> list[str]:
        names = list[str]()
        while len(names) < SIZE:
            rest = [
                name
                for name in able
                if name not in names
                and not any(frozenset((name, other)) in self.refused for other in names)
            ]
            if not rest:
                break
            gains = {
                name: sum(frozenset((name, other)) in self.left for other in names or able)
                for name in rest
            }
            names.append(max(rest, key=lambda name: (gains[name], self._dice.random())))
        return names

    def _is_refused(self, base: Sequence[str], words: Sequence[str]) -> bool:
        key = (*base, *words)
        if key not in self.alone:
            self.alone[key] = bool(self._refusal(key))
        return self.alone[key]

    def _refusal(self, words: Sequence[str]) -> str:
        """Return the line that refuses a run; nothing of one that ends well."""
        ended = self._cmeans(self._command, *BASE[self._command], *words, "-q")
        if ended.code == 0:
            return ""
        lines = [line for line in ended.err.splitlines() if "warning: " not in line]
        if ended.code != 2 or len(lines) != 1:
            self.wrong.append((" ".join(words), ended.err[-600:]))
        return lines[-1] if lines else "nothing"


@pytest.fixture
def folder(cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    rows = [
        f"n{at},{at % 3 * 9 + a:.2f},{b:.2f},{at % 24},{1 + at % 2},{at % 3},{'xy'[at % 2]},"
        f"2024-01-{1 + at % 28:02d}"
        for at, (a, b) in enumerate(rng.normal(size=(48, 2)))
    ]
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("\n".join(["name,a,b,c,w,known,plan,day", *rows, ""]))
    Path("run.toml").write_text("")
    fitted = cmeans("fit", "x.csv", "-c", 3, "--columns", "a,b,c", "--out", "o")
    assert fitted.code == 0, fitted.err
    Path("o/model.safetensors").rename("model.safetensors")
    return tmp_path


BASE = {
    "fit": ["x.csv", "--out", "out"],
    "select": ["x.csv"],
    "predict": ["model.safetensors", "x.csv", "--out", "p.csv"],
    "stream": ["x.csv", "--out", "l.csv", "-c", "3"],
    "explore": ["x.csv", "-c", "3"],
    "report": ["model.safetensors", "x.csv"],
    "index": ["x.csv", "--out", "out", "-c", "3"],
}
CLUSTERS = {"fit": ["-c", "3"], "select": ["-c", "2-3"]}
OF_METHODS = {name for spec in METHODS.values() for name in spec.parameters}


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.minutes)])
@pytest.mark.parametrize("command", BASE)
@pytest.mark.filterwarnings("ignore")
def test_in_pairs(cmeans: Command, folder: Path, command: str, part: int) -> None:
    covering, runs = Covering(command, cmeans), 0
    while covering.left and runs < (MANY if part else FEW):
        covering.run()
        runs += 1
    assert not covering.wrong, f"{len(covering.wrong)} of {runs}: {covering.wrong[:8]}"
