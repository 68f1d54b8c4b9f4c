"""The page "A live stream with alerts", followed to the letter: its Python, and its commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.command import Command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "live_streams.md"


@pytest.mark.slow  # 3,000 rows as a reader has them
def test_the_page(
    cmeans: Command,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE.read_text(), flags=re.S | re.M)
    assert [kind for kind, _ in blocks].count("sh") == 2
    for kind, block in blocks:
        if kind == "sh":
            first, *words = shlex.split(block)
            assert first == "cmeans"
            ended = cmeans(*words)
            assert ended.code == 0, ended.err
            continue
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)
        said = re.findall(r"^ *print\(.*\)  # (.*)$", block, flags=re.M)
        assert capsys.readouterr().out.splitlines() == said
    columns = Path("labels.csv").read_text().partition("\n")[0]
    assert columns in PAGE.read_text()
