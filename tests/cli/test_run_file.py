"""Every folder of results holds the file that repeats its run."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import numpy as np
import pytest
import typer

from cli.command import Command
from cli.streams import csv, groups
from cmeans.cli.commands import app
from cmeans.cli.config import _names
from cmeans.cli.option_names import option_of
from cmeans.cli.output.results import read_labels
from cmeans.cli.output.run_file import RUN, as_toml
from cmeans.selection import evidence


def test_a_fit_is_repeated(cmeans: Command, tmp_path: Path) -> None:
    name = 'a "b"\\n\n\t\x7fé\u202e🍷.csv'
    (tmp_path / name).write_bytes(csv(groups(90)[0]))
    out = tmp_path / "o 'x'\n\\"
    words = ["-c", 3, "--m", "1.70", "--kernel", "linear", "--missing-values", '"']
    assert cmeans("fit", tmp_path / name, *words, "--seed", 4, "--out", out).code == 0
    text, labels = (out / RUN).read_text(encoding="utf-8"), read_labels(out / "labels.parquet")
    assert text.startswith("# ")
    assert "cmeans fit --config run.toml" in text.splitlines()[0]
    assert tomllib.loads(text) == {
        "file": str(tmp_path / name),
        "missing-values": ['"'],
        "clusters": 3,
        "m": "1.70",
        "kernel": "linear",
        "seed": 4,
        "out": str(out),
    }
    again = cmeans("fit", "--config", out / RUN)  # over its own results
    assert again.summary["outputs"]["run"] == str(out / RUN)
    assert (out / RUN).read_text(encoding="utf-8") == text
    assert np.array_equal(read_labels(out / "labels.parquet"), labels)


@pytest.mark.parametrize("command", ["select", "index"])
def test_others_are_repeated(
    cmeans: Command, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "MOST", evidence.FEWEST)  # draws without clusters
    np.save(tmp_path / "x.npy", groups(90)[0])
    own = ["-c", "2-3", "--refits", 0, "--sample", 60, "--kernel", "linear"]
    words = own if command == "select" else ["-c", 3]
    first = cmeans(command, tmp_path / "x.npy", *words, "--out", tmp_path / "o").summary
    text = (tmp_path / "o" / RUN).read_text()
    again = cmeans(command, "--config", tmp_path / "o" / RUN).summary
    for summary in (first, again):
        summary.get("table", {}).pop("seconds", None)
    for key in ("config", "outputs", "n_clusters", "table", "sizes"):
        assert first.get(key) == again.get(key)
    assert (tmp_path / "o" / RUN).read_text() == text


def test_each_option_has_its_name_of_the_command_line() -> None:
    commands = typer.main.get_command(app).commands
    for name in ("fit", "select", "index"):
        for word in commands[name].params:
            if word.name != "as_json":  # which is of one run
                assert option_of(word.name).lstrip("-") in _names(word)


def test_values_survive() -> None:
    values = {"file": "\ud83d\U0010ffff\x00\u2028", "scale": "'''\"\"\"#", "header": False}
    values |= {"tol": 1e-300, "m": "1e3", "columns": ["3", "1,2"], "noise": float("inf"), "seed": 0}
    text = as_toml("fit", values)
    lost = values.pop("file")
    assert tomllib.loads(text) == values
    assert "# No Unicode; give it on the command line: file = " in text
    kept = as_toml("fit", {"file": lost[1:]})
    assert tomllib.loads(kept) == {"file": lost[1:]}
    assert kept.replace("\n", "").isprintable()


def test_a_file_of_somebody_else_stays(cmeans: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", groups(90)[0])
    out, fit = tmp_path / "o", ["fit", tmp_path / "x.npy", "-c", 3, "--kernel", "linear"]
    out.mkdir()
    (out / RUN).write_text("clusters = 3\n")
    ended = cmeans(*fit, "--out", out)
    assert (ended.code, f"{RUN} in it is not of a former run" in ended.err) == (2, True)
    assert (out / RUN).read_text() == "clusters = 3\n"
    assert cmeans(*fit, "--out", out, "--overwrite").code == 0
    os.unlink(out / "summary.json")  # as in a run that was broken off
    assert cmeans(*fit, "--out", out).code == 0


def test_no_file_shows_a_password(cmeans: Command, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "x.csv", groups(90)[0], delimiter=",")
    fit = ["fit", tmp_path / "x.csv", "-c", 3, "--kernel", "linear", "--out", tmp_path / "o"]
    assert cmeans(*fit, "--missing-values", "s3://me:SECRET@host/x?key=SECRET").code == 0
    assert not any(
        "SECRET" in (tmp_path / "o" / name).read_text() for name in (RUN, "summary.json")
    )
