"""What the documentation shows runs and prints what it says, and the reference has every public name. Nothing is built here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cmeans

DOCS = Path(__file__).resolve().parents[1] / "docs"
ROOMS = ("datasets", "inspection", "kernels", "metrics", "rules", "validity")
PUBLIC = [name for name in cmeans.__all__ if name not in ROOMS]


@pytest.mark.parametrize("page", ["index", "start", "choosing", "real_data", "extending", "embeddings"])
def test_the_python_of_a_page(page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One block after the other, as a reader would; "print(...)  # this" prints this."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(), flags=re.S | re.M)
    assert blocks
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, f"docs/{page}.md", "exec", dont_inherit=True), names)
        said = re.findall(r"^ *print\(.*\)  # (.*)$", block, flags=re.M)
        assert capsys.readouterr().out.splitlines() == said


def named(page: str) -> set[str]:
    """What a page of the reference lists, by directive or in a table of names."""
    text = (DOCS / "api" / f"{page}.rst").read_text()
    return set(re.findall(r"^(?:\.\. auto(?:class|function|data)::|  ) ([\w.]+)(?:\(\))?$", text, flags=re.M))


def test_every_public_name_is_in_the_reference() -> None:
    assert set(PUBLIC) <= named("estimators") | named("models")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_public_module_is_in_the_reference(room: str) -> None:
    text = (DOCS / "api" / f"{room}.rst").read_text()
    described = set(re.findall(r"^\.\. auto(?:class|function|data):: (\w+)", text, flags=re.M))
    assert described == set(getattr(cmeans, room).__all__)
    assert described <= named(room)


def test_every_page_is_in_the_contents() -> None:
    """Pages of the papers are listed by conf.py as they are there."""
    listed = set(re.findall(r"^[\w/]+$", (DOCS / "index.md").read_text(), flags=re.M))
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for ending in ("md", "rst") for path in DOCS.rglob(f"*.{ending}")}
    written = {page for page in pages if not page.startswith(("papers/", "api/generated/", "gallery/", "_"))}
    assert written - {"index"} <= listed
