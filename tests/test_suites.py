"""The table of suites names what is there, and each test is of one suite."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SUITES = {"core", "ring", "matrix"}


def test_the_table_names_what_is_there(pytestconfig: pytest.Config) -> None:
    """A file or function that is renamed does not leave its suite unseen."""
    table = pytestconfig.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    assert table is not None
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
