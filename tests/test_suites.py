"""The table of suites names what is there, and each test is of one suite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

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
        assert not function or f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), (
            place
        )


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
        ("ring", "tests/rules/test_noise_fuzzy.py", True),  # for two of its functions
        ("bits", "tests/papers/test_kpkm.py", True),
        ("core or ring", "tests/test_docs.py", True),
        ("not ring", "tests/rules/test_table.py", True),
        ("not minutes", "tests/test_docs.py", True),
        ("", "tests/test_docs.py", True),
    ],
)
def test_files_of_other_suites_are_not_read(
    table: Any, asked: str, file: str, is_read: bool
) -> None:
    config = SimpleNamespace(rootpath=ROOT, option=SimpleNamespace(markexpr=asked))
    assert table.pytest_ignore_collect(ROOT / file, config) is (None if is_read else True)


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
