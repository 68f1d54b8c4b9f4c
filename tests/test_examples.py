"""What a newcomer runs first must run: every example script, and the code of the README."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHOWS = {  # a line that each script must come to
    "rings": "rbf     adjusted Rand index  1.00",
    "overlapping_wines": "m=1.29: mean largest membership 0.87, adjusted Rand index 0.90",
    "outliers": "1 - typicality:                 AUC 1.00",
    "landmarks": "KernelKMeans         s=400",
    "unknown_number": "adaptive, from 10 clusters on: 4 clusters",
    "streams": "12 chunks, landmarks:   adjusted Rand index 0.68",
    "strings": "kernel, kernels, kernelised, kernelise",
}


def test_every_example_is_run_and_listed() -> None:
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    listed = set(re.findall(r"`(\w+)\.py`", (ROOT / "examples" / "README.md").read_text()))
    assert scripts == set(SHOWS) == listed


@pytest.mark.parametrize("name", SHOWS)
def test_an_example_shows_what_it_should(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    assert SHOWS[name] in capsys.readouterr().out


def test_the_python_of_the_readme(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    first, pictures = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    names: dict[str, object] = {}
    exec(compile(first, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("1.43")
    assert "0.864" in printed.splitlines()[-1]
    exec(compile(pictures, "README.md", "exec"), names)
    assert "high proline" in capsys.readouterr().out
    assert (tmp_path / "wines.html").is_file()
