"""Names of files and columns are shown to the letter, and no terminal obeys them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.command import Command
from cmeans.cli import registration
from cmeans.cli.output.messages import add_own_words, in_options, own_words
from cmeans.cli.output.results import as_json
from cmeans.cli.output.standard_streams import message
from cmeans.cli.output.terminal import print_report

NAMES = ["ratio:100:1", "[red]b[/red]", "ev\x1b[31mil", "n_init=5"]
SHOWN = ["ratio:100:1", "[red]b[/red]", r"ev\x1b[31mil", "n_init=5"]


@pytest.fixture
def table(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> Path:
    file = tmp_path / "max_iter=3 KernelKMeans.csv"
    file.write_text(
        "\n".join([",".join(NAMES), *(",".join(map(repr, map(float, row))) for row in blobs[0])])
    )
    return file


def test_summaries_and_messages(
    cmeans: Command,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(registration, "_at_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    ended = cmeans("fit", table.name, "-c", 3, "--max-iter", 1, "--out", "out")
    assert ended.code == 0
    assert table.name in ended.out
    assert ", ".join(SHOWN) in ended.out
    assert "--max-iter 1" in ended.out
    for words in (
        ["info", "out/model.safetensors"],
        ["predict", "out/model.safetensors", table.name, "--out", "labels.csv"],
    ):
        other = cmeans(*words)
        assert other.code == 0
        ended = type(ended)(0, ended.out + other.out, ended.err + other.err)
    assert "\x1b" not in ended.out + ended.err
    assert "\U0001f4af" not in ended.out
    as_data = cmeans("fit", table.name, "-c", 3, "--out", "out", "--json")
    assert "\x1b" not in as_data.out
    assert as_data.summary["column_names"] == NAMES


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "one.csv", "ev\x1b[31mil.csv", "--out", "x"],
        ["fit", "ev\x1b[31mil.csv", "-c", "3", "--out", "x"],
        ["ev\x1b[31mil"],
        ["fit", "--ev\x1b[31mil"],
    ],
)
def test_wrong_command_lines(cmeans: Command, words: list[str]) -> None:
    ended = cmeans(*words)
    assert ended.code == 2
    assert "\x1b" not in ended.out + ended.err
    assert r"ev\x1b[31mil" in ended.err.replace("\n", "")


def test_every_way_to_the_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    message("\x9b31m")
    print_report(
        ["a\x1b]0;b :smile: [bold]", [("c\x1b[2J :smile:", "[i]"), ("\x1b[1A:smile:", "[/i]")]]
    )
    shown = capsys.readouterr()
    assert shown.err == "\\x9b31m\n"
    assert shown.out.splitlines()[0] == r"a\x1b]0;b :smile: [bold]"
    assert [line.split() for line in shown.out.splitlines()[1:3]] == [
        [r"c\x1b[2J", ":smile:", "[i]"],
        [r"\x1b[1A:smile:", "[/i]"],
    ]
    odd = {"name": "\x9b \u202e \udcff é\n"}
    assert as_json(odd).isascii() is False
    assert json.loads(as_json(odd)) == odd
    assert all(line.isprintable() for line in as_json(odd).split("\n"))


def test_a_fault_is_shown_without_being_obeyed(cmeans: Command, tmp_path: Path) -> None:
    ended = cmeans("fit", tmp_path / "ev\x1b[31mil.csv", "--out", tmp_path / "x", "--debug")
    assert ended.code == 2
    assert "Traceback" in ended.err
    assert "\x1b" not in ended.err


def test_the_users_words_are_no_options() -> None:
    text = (
        "FuzzyCMeans(max_iter=9): n_init=3.csv: column 'a n_init=5' of n_init=3.csv, by "
        "KernelKMeans; raise max_iter."
    )
    said = (
        "--max-iter 9: n_init=3.csv: column 'a n_init=5' of n_init=3.csv, by --method hard; "
        "raise --max-iter."
    )
    assert in_options(text) != said
    with own_words(["n_init=3.csv", "X", "max_iter"]):
        add_own_words(["a n_init=5", 7])
        assert in_options(text) == said
        assert in_options("FuzzyCMeans: X holds None.") == "the data holds none."
    assert in_options(text) != said
