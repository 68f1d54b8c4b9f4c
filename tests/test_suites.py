"""The table of suites names what is there, and each test is of one suite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from string import ascii_lowercase
from types import SimpleNamespace
from typing import Any

import pytest

from each_once import A_FIFTH, of_other_estimators, repeats

ROOT = Path(__file__).resolve().parents[1]
SUITES = {"core", "ring", "matrix"}


@pytest.fixture
def table(pytestconfig: pytest.Config) -> Any:
    """The module conftest.py of the tests."""
    module = pytestconfig.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    assert module is not None
    return module


def test_the_table_names_what_is_there(table: Any) -> None:
    """A file or function that is renamed does not leave its suite unseen."""
    named = [place for places in table.SUITES.values() for place in places]
    assert len(set(named)) == len(named)
    for place in (*named, *table.BITS):
        file, _, function = place.partition("::")
        assert (ROOT / file).exists(), place
        assert not function or is_in(file, function), place


def is_in(file: str, function: str) -> bool:
    return f"def {function.rpartition('::')[2]}(" in (ROOT / file).read_text(encoding="utf-8")


def test_the_table_of_fifths_names_what_is_there() -> None:
    for place in A_FIFTH:
        file, _, function = place.partition("::")
        assert not function or is_in(file, function), place


class Asked:
    """As much of the call of a test of two parameters as is looked at."""

    def __init__(self, a: int, b: str) -> None:
        self.params = {"a": a, "b": b}
        self.place = a, b


@pytest.mark.parametrize("name", ["one", "another"])
def test_of_a_product_each_choice_is_left_once(name: str) -> None:
    group: Any = [Asked(a, b) for a in range(3) for b in "wxyz"]
    kept = {one.place for one in group} - {one.place for one in repeats(name, group)}
    assert len(kept) == 4
    assert {a for a, _ in kept} == set(range(3))
    assert {b for _, b in kept} == set("wxyz")


def test_other_functions_leave_other_combinations() -> None:
    group: Any = [Asked(a, b) for a in range(3) for b in "wxyz"]
    left = [{one.place for one in repeats(name, group)} for name in ("one", "another")]
    assert left[0] != left[1]


def test_of_seven_estimators_a_fifth_is_asked() -> None:
    """Each of them by some functions, with all other choices; of three, all."""

    def asked(name: str, most: int) -> list[Any]:
        group: Any = [Asked(a, b) for a in range(most) for b in "wx"]
        for one in group:
            one.params["name"] = one.params.pop("a")
        left = of_other_estimators(name, group)
        return [one.place for one in group if one not in left]

    assert len(asked("a", 3)) == 6
    met = set[int]()
    for function in ascii_lowercase:
        kept = asked(function, 7)
        assert {b for _, b in kept} == set("wx")
        assert len({a for a, _ in kept}) in (1, 2)
        met |= {a for a, _ in kept}
    assert met == set(range(7))


def test_a_function_that_is_named_is_asked_of_a_fifth_of_its_first_choices() -> None:
    named = next(place for place in sorted(A_FIFTH) if "::" in place)
    group: Any = [Asked(a, b) for a in range(6) for b in "wx"]
    left = of_other_estimators(named, group)
    assert len({one.place[0] for one in group if one not in left}) in (1, 2)
    assert of_other_estimators("another", group) == []


def test_each_test_is_of_one_suite(request: pytest.FixtureRequest) -> None:
    """Of those that were collected here."""
    for item in request.session.items:
        suites = {mark.name for mark in item.iter_markers()} & SUITES
        assert len(suites) == (item.get_closest_marker("minutes") is None), item.nodeid


@pytest.mark.parametrize(
    ("asked", "file", "is_read"),
    [
        ("core", "tests/rules/test_table.py", True),
        ("core and not slow", "tests/rules/test_table.py", True),
        ("core and not slow", "tests/test_docs.py", False),
        ("ring and not slow", "tests/rules/test_table.py", False),
        ("ring", "tests/test_architecture.py", True),  # for one of its functions
        ("bits", "tests/papers/test_kpkm.py", True),
        ("core or ring", "tests/test_docs.py", True),
        ("not ring", "tests/rules/test_table.py", True),
        ("not minutes", "tests/test_docs.py", True),
        ("not minutes and not matrix", "tests/test_docs.py", True),
        ("", "tests/test_docs.py", True),
    ],
)
def test_files_of_other_suites_are_not_read(
    table: Any, asked: str, file: str, is_read: bool
) -> None:
    config = SimpleNamespace(rootpath=ROOT, option=SimpleNamespace(markexpr=asked))
    assert table.pytest_ignore_collect(ROOT / file, config) is (None if is_read else True)


@pytest.mark.minutes
def test_the_quick_tests_of_the_core_are_found_by_the_command_that_leaves_out_slow_ones() -> None:
    """Which CONTRIBUTING.md recommends."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n0",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
    ]
    files = ["tests/rules/test_table.py", "tests/rules/test_truncated.py"]
    run = subprocess.run(
        [*command, "-m", "core and not slow", *files], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    assert f"{files[0]}::test_a_name_belongs_to_one_class\n" in run.stdout
    assert files[1] not in run.stdout  # all of it is slow
