"""What the documentation shows runs and prints what it says, and the reference has every public
name. Nothing is built here."""

from __future__ import annotations

import inspect
import io
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot as plt
import pytest

import cmeans

pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[1] / "docs"
ROOMS = tuple(name for name in cmeans.__all__ if isinstance(getattr(cmeans, name), ModuleType))
PUBLIC = [name for name in cmeans.__all__ if name not in ROOMS]


@pytest.mark.parametrize(
    "page",
    [
        *("index", "start", "choosing", "real_data", "extending", "embeddings"),
        *("customers", "explore", "cells", "images", "topics", "production"),
        *(f"algorithms/{page.stem}" for page in sorted((DOCS / "algorithms").glob("*.md"))),
    ],
)
def test_the_python_of_a_page(
    page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block after the other, as a reader would; "print(...)  # this" prints this."""
    if page == "cells":
        pytest.importorskip("anndata")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(
        r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(), flags=re.S | re.M
    )
    assert blocks
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, f"docs/{page}.md", "exec", dont_inherit=True), names)
        said = re.findall(r"^ *print\(.*\)  # (.*)$", block, flags=re.M)
        assert capsys.readouterr().out.splitlines() == said
    plt.close("all")


# blocks of pages that need packages of which some may not be there, each after those it needs
BLOCKS = {
    "rows_anywhere": [(0,), (0, 1), (0, 2), (0, 3), (0, 3, 4, 5, 6), (0, 3, 7)],
    "models_elsewhere": [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)],
}


@pytest.mark.filterwarnings("ignore:.*type hint is inferred as AnyType")  # by importing mlflow
@pytest.mark.parametrize(
    ("page", "numbers"), [(page, numbers) for page in BLOCKS for numbers in BLOCKS[page]]
)
def test_blocks_that_need_other_packages(
    page: str, numbers: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M)
    assert len(blocks) == max(map(max, BLOCKS[page])) + 1
    names: dict[str, object] = {}
    for code in (blocks[number] for number in numbers):
        for package in re.findall(r"^import ([\w.]+)$", code, flags=re.M):
            pytest.importorskip(package)
        said = io.StringIO()
        with redirect_stdout(said):
            exec(compile(code, f"docs/{page}.md", "exec", dont_inherit=True), names)
        printed = re.findall(r"^ *print\(.*\)  # (.*)$", code, flags=re.M)
        assert said.getvalue().splitlines() == printed


def named(page: str) -> set[str]:
    """What a page of the reference lists, by directive or in a table of names."""
    text = (DOCS / "api" / f"{page}.rst").read_text()
    return set(
        re.findall(
            r"^(?:\.\. auto(?:class|function|data)::|  ) ([\w.]+)(?:\(\))?$", text, flags=re.M
        )
    )


def test_every_public_name_is_in_the_reference() -> None:
    assert set(PUBLIC) <= named("estimators") | named("models")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_public_module_is_in_the_reference(room: str) -> None:
    text = (DOCS / "api" / f"{room}.rst").read_text()
    described = set(re.findall(r"^\.\. auto(?:class|function|data):: (\w+)", text, flags=re.M))
    names = set(getattr(cmeans, room).__all__)
    assert described <= names
    # estimators of the wing stand with the others
    assert names - described <= set(PUBLIC)
    assert described <= named(room)


def test_every_page_is_in_the_contents() -> None:
    """Pages of the papers are listed by conf.py as they are there."""
    listed = set(re.findall(r"^[\w/]+$", (DOCS / "index.md").read_text(), flags=re.M))
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for ending in ("md", "rst")
        for path in DOCS.rglob(f"*.{ending}")
    }
    written = {
        page
        for page in pages
        if not page.startswith(("papers/", "api/generated/", "gallery/", "_"))
    }
    assert written - {"index"} <= listed


def parameters(of: Callable[..., object]) -> set[str]:
    """Parameters of a function, a class or a method; of "other words" only where they have a
    name."""
    try:
        taken = inspect.signature(of).parameters.values()
    except ValueError:  # nothing can be told of it
        return set()
    return {one.name for one in taken} - {"self", "cls"}


def undescribed(of: type) -> Iterator[str]:
    """Methods of a class of this library, with parameters that neither they, nor those that they
    override, nor classes name."""
    for name in dir(of):
        method = getattr(of, name, None)  # attributes of fits have none of the class
        ours = str(getattr(method, "__module__", "")).startswith("cmeans.")
        if (
            name.startswith("_")
            or not ours
            or not callable(method)
            or isinstance(inspect.getattr_static(of, name), property)
        ):
            continue
        classes = [one for one in of.__mro__ if one.__module__.startswith("cmeans.")]
        texts = [vars(one)[name].__doc__ for one in classes if name in vars(one)]
        # what all methods of a rule, a kernel or a display take is told once, of the class
        if not hasattr(of, "fit"):
            texts += [one.__doc__ for one in classes]
        missing = parameters(method) - set(re.findall(r"\w+", " ".join(filter(None, texts))))
        if missing:
            yield f"{of.__name__}.{name}: {sorted(missing)}"


def test_every_parameter_is_named() -> None:
    """Of every public function, class and method."""
    places = [
        (cmeans, PUBLIC),
        *((getattr(cmeans, room), getattr(cmeans, room).__all__) for room in ROOMS),
    ]
    found = list[str]()
    for place, names in places:
        for name in names:
            value = getattr(place, name)
            if inspect.isfunction(value) or (
                isinstance(value, type) and not getattr(value, "_is_protocol", False)
            ):
                missing = parameters(value) - set(re.findall(r"\w+", inspect.getdoc(value) or ""))
                found += [f"{name}: {sorted(missing)}"] * bool(missing)
            if isinstance(value, type):
                found += undescribed(value)
    assert not found
