"""Options of each command in pairs, on a small file: a result, or one line that says why not."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from typer.models import OptionInfo

from cli.command import Command
from cmeans.cli import commands

VALUES = {  # of options that take text, or files; others have values of their types
    "columns": ["a,b,c", "0-2"],
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
    "encoding": ["utf-8", "utf-16"],
    "decimal": [",", "."],
    "thousands": [",", "'"],
    "array": ["X"],
    "texts": ["plan"],
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
LEFT = {"help", "file", "source", "model_file", "out", "debug", "quiet", "as_json", "follow"}
SIZE = 5  # options of a run
FEW = 8  # runs of each command that are made with all tests


def options_of(command: str) -> dict[str, list[list[str]]]:
    """Return the values of each option of a command, as words of the command line."""
    found = dict[str, list[list[str]]]()
    for name, word in inspect.signature(getattr(commands, command)).parameters.items():
        info = getattr(word.annotation, "__metadata__", [None])[0]
        if name in LEFT or not isinstance(info, OptionInfo):
            continue
        words = [info.default, *(info.param_decls or ()), "--" + name.replace("_", "-")]
        flags = next(each for each in words if str(each).startswith("-")).split("/")
        [*kinds] = {*get_args(get_args(word.annotation)[0])} or {get_args(word.annotation)[0]}
        choices = [each for kind in kinds for each in get_args(kind)]
        if get_origin(get_args(word.annotation)[0]) is Literal:
            kinds, choices = [Literal], list(get_args(get_args(word.annotation)[0]))
        if bool in kinds:
            found[name] = [[flag] for flag in flags]
            continue
        texts = [each for each in (info.metavar or "").split("|") if each.islower()]
        number = ["2"] if int in kinds else ["0.5"] if float in kinds else []
        values = VALUES.get(name) or [*map(str, choices)] or number or texts or ["2"]
        found[name] = [[flags[0], value] for value in values]
    return found


def runs_of(command: str) -> list[list[str]]:
    """Return words of runs in which each two options stand together, each value once at least."""
    options, rng = options_of(command), random.Random(0)
    left = {(a, b) for a in options for b in options if a < b}
    used, runs = dict.fromkeys(options, 0), list[list[str]]()
    while left:
        first = rng.choice(sorted(left)) if len(runs) < FEW else min(left)
        names = list(first)
        while len(names) < SIZE:
            gains = {
                name: sum(tuple(sorted((name, other))) in left for other in names)
                for name in options
                if name not in names
            }
            names.append(max(gains, key=lambda name: (gains[name], rng.random())))
        left -= {tuple(sorted((a, b))) for a in names for b in names}
        words = list[str]()
        for name in names:
            words += options[name][used[name] % len(options[name])]
            used[name] += 1
        runs.append(words)
    return runs


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
    "fit": ["x.csv", "--out", "out", "-c", "3"],
    "select": ["x.csv", "-c", "2-3"],
    "predict": ["model.safetensors", "x.csv", "--out", "p.csv"],
    "stream": ["x.csv", "--out", "l.csv", "-c", "3"],
    "explore": ["x.csv", "-c", "3"],
    "report": ["model.safetensors", "x.csv"],
    "index": ["x.csv", "--out", "out", "-c", "3"],
}


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.minutes)])
@pytest.mark.parametrize("command", BASE)
@pytest.mark.filterwarnings("ignore")
def test_in_pairs(cmeans: Command, folder: Path, command: str, part: int) -> None:
    runs = runs_of(command)
    wrong = list[Any]()
    for words in runs[FEW:] if part else runs[:FEW]:
        line = [command, *BASE[command], *words]
        ended = cmeans(*line)
        lines = [each for each in ended.err.splitlines() if each.startswith("cmeans: --")]
        told = ended.code == 0 or (ended.code == 2 and ended.err.strip())
        if not told or "Traceback" in ended.err or "unexpected" in ended.err or len(lines) > 1:
            wrong.append((" ".join(line), ended.code, ended.err[-600:]))
    assert not wrong, f"{len(wrong)} of {len(runs)}: {wrong[:8]}"
