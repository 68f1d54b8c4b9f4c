"""Words of a command line that are wrong: one line that says what to give, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import Command


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("fit", "fit needs FILE; cmeans fit -h shows all that there is."),
        ("predict", "predict needs MODEL; cmeans predict -h shows all that there is."),
        ("fit x.csv", "fit needs --out DIR; cmeans fit -h shows all that there is."),
        ("fit x.csv --out", "--out: needs a value; cmeans fit -h shows all that there is."),
        ("fit x.csv --out d --seed a", "--seed a: give a whole number."),
        ("fit x.csv --out d --seed=a", "--seed a: give a whole number."),
        ("select x.csv --refits -3", "--refits -3: give a whole number from 0."),
        ("fit x.csv --out d --threshold 7", "--threshold 7: give a number from 0 to 1."),
        (
            "fit x.csv --out d --scale wide",
            "--scale wide: give one of none, standard, unit, robust, log, auto.",
        ),
        (
            "fit x.csv --out d --config none.toml",
            "--config none.toml: cannot be read (No such file or directory).",
        ),
    ],
)
def test_a_wrong_word_is_one_line(cmeans: Command, words: str, line: str) -> None:
    ended = cmeans(*words.split())
    assert (ended.code, ended.out, ended.err) == (2, "", f"cmeans: {line}\n")


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        ("fit x.csv --out d --sed 3", "--sed: cmeans fit has no such option; is it --seed"),
        ("fitt x.csv", "no such command 'fitt'"),
        ("fit a b c --out d", "got unexpected extra argument"),
        ("fit x.csv --out d --\x1b[31m 3", "--\\x1b[31m: cmeans fit has no such option"),
    ],
)
def test_what_is_not_known_is_one_line_without_control_characters(
    cmeans: Command, words: str, begin: str
) -> None:
    ended = cmeans(*words.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"cmeans: {begin}")
    assert "\x1b" not in ended.err


TABLE = "a,b,city\n1,2,Rome\n1.1,2.1,Oslo\n,,Rome\n5,6,Oslo\n5.1,6.2,Rome\n4.9,6.1,Oslo\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "left out: 'city'"),
        (["--columns", "a,b"], "cells are empty (1 of 6 in 'a', 1 of 6 in 'b')"),
        (["--columns", "a,b", "--missing", "partial"], "1 of 6 rows of the data has no value"),
    ],
)
def test_strict_makes_an_error_of_a_warning_and_writes_nothing(
    cmeans: Command, tmp_path: Path, words: list[str], reason: str
) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    given = ("fit", str(tmp_path / "t.csv"), "-c", "2", "--out", str(tmp_path / "out"), *words)
    ended = cmeans(*given, "--strict")
    assert ended.code == 2
    assert ended.err.splitlines()[-1].startswith("cmeans: --strict: ")
    assert reason in ended.err
    assert not (tmp_path / "out").exists()
    assert any(reason in warning for warning in cmeans(*given).summary["warnings"])


def test_strict_refuses_categories_that_the_fit_has_not_seen(
    cmeans: Command, tmp_path: Path
) -> None:
    seen, new = tmp_path / "seen.csv", tmp_path / "new.csv"
    seen.write_text(TABLE.replace(",,", "1.2,2.2,"))
    new.write_text(TABLE.replace(",,", "1.2,2.2,").replace("Rome", "Bonn"))
    words = ("--categorical", "city", "-c", "2", "--strict")
    model = Path(
        cmeans("fit", str(seen), *words, "--out", str(tmp_path)).summary["outputs"]["model"]
    )
    ended = cmeans("predict", str(model), str(new), "--out", str(tmp_path / "l.csv"), "--strict")
    assert ended.code == 2
    assert "--strict: column 'city' holds categories that the fit has not seen" in ended.err
    assert not (tmp_path / "l.csv").exists()


def test_a_shell_completes_options(cmeans: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CMEANS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "cmeans fit --colu")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert {*cmeans().out.split()} == {"--columns", "--column-weight"}
