"""A short run of each fuzzer: the same cases every time, others with HYPOTHESIS_PROFILE=search;
`python -m tests.fuzz NAME` goes on."""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import faulty, kills
from fuzz.oss_fuzz.target import ThrownBy
from fuzz.runner import FUZZERS, Bounds, Case, case_of, run

pytestmark = pytest.mark.slow

# of those that take longer
CASES = {
    "checkpoints": 4,
    "command_lines": 4,
    "model_files": 6,
    "pages": 2,
    "schedules": 3,
    "stream_lines": 6,
}


@pytest.fixture(scope="module", params=FUZZERS)
def fuzzer(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return request.param, case_of(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of fits to whatever comes
def test_cases(fuzzer: tuple[str, Case]) -> None:
    name, case = fuzzer

    @settings(
        max_examples=CASES.get(name, 8), suppress_health_check=list(HealthCheck), database=None
    )
    @given(st.randoms(use_true_random=False))
    def all_of_them(dice: random.Random) -> None:
        assert isinstance(case(dice), str)

    all_of_them()


def test_dice_that_bytes_throw(tmp_path: Path) -> None:
    """The same bytes are the same case, as OSS-Fuzz's machines keep them."""
    case = case_of("tables", tmp_path)
    for data in (b"", b"\xff" * 99, bytes(range(256))):
        assert case(ThrownBy(data)) == case(ThrownBy(data))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are watched through /proc")
class TestRuns:
    """Cases in processes of their own."""

    def test_what_is_well(self) -> None:
        report = run("readers", 600.0, first=0, cases=5)
        assert report.outcomes.total() == 5
        assert not report.finds

    def test_what_is_found(self) -> None:
        """Each way to go wrong, and the cases after it run all the same."""
        report = run(
            "faulty",
            600.0,
            first=0,
            cases=len(faulty.WAYS),
            bounds=Bounds(seconds=1.0, memory=2**26),
        )
        assert report.outcomes == {"well": 3, "crash": 1, "KeyError": 1, "memory": 1, "hang": 1}
        found = dict(report.finds)
        for way, told in (
            ("crash", "SIGSEGV"),
            ("error", "KeyError: 'x'"),
            ("memory", "takes 1"),
            ("hang", "hangs"),
        ):
            assert told in found.pop(faulty.WAYS.index(way))
        assert not found


@pytest.mark.skipif(sys.platform != "linux", reason="signals and limits of POSIX systems")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.minutes if name == "select" else ())
        for name in kills.COMMANDS
    ],
)
def test_kills(name: str, tmp_path: Path) -> None:
    trial = kills.Trial(kills.COMMANDS[name], kills.prepared(tmp_path / "inputs", 1500), tmp_path)
    assert trial.round(random.Random(name))
