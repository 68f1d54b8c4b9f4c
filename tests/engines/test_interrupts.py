"""Ctrl-C between any two steps of taking and giving back BLAS's threads and the handlers of
signals: afterwards both are as they were."""

from __future__ import annotations

import dis
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
from threadpoolctl import ThreadpoolController

from cmeans.engines import one_blas_thread as module
from cmeans.engines.one_blas_thread import one_blas_thread
from cmeans.runtime import signals
from cmeans.runtime.signals import held_back

WATCHED = {module.__file__, signals.__file__}


def threads() -> list[int]:
    return [part["num_threads"] for part in module._blas().info() if part["user_api"] == "blas"]


@pytest.fixture
def two_threads() -> Iterator[None]:
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        if 2 not in threads():
            pytest.skip("BLAS has one thread here")
        yield


class Interrupting:
    """Sends SIGINT before the step of that number in the files that are watched."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._calls = dict[FrameType, bool]()  # whether the last step of each frame was one

    def __call__(self, frame: FrameType, event: str, _: Any) -> Interrupting | None:
        if frame.f_code.co_filename not in WATCHED:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            # Python looks for signals when a call returns, not between any two instructions.
            returned = self._calls.get(frame, False)
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            self._calls[frame] = name.startswith("CALL")
            self._left -= returned
            if returned and self._left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return self

    @property
    def sent(self) -> bool:
        return self._left <= 0


def interrupted(number: int, context: Any) -> bool:
    """True where the signal came; it ends the block as an exception."""
    former, sender = sys.gettrace(), Interrupting(number)
    sys.settrace(sender)
    try:
        with context():
            pass
    except KeyboardInterrupt:
        assert sender.sent
    else:
        assert not sender.sent, "the signal was lost"
    finally:
        sys.settrace(former)
    return sender.sent


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals reach that alone"
)
@pytest.mark.parametrize("context", [one_blas_thread, held_back])
def test_at_any_step(context: Any, two_threads: None) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    term = signal.getsignal(signal.SIGTERM)
    try:
        number = 1
        while interrupted(number, context):
            assert 2 in threads(), f"step {number}"
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, f"step {number}"
            assert signal.getsignal(signal.SIGTERM) is term, f"step {number}"
            assert not module._single_blas._open
            number += 1
        assert number > 10
    finally:
        signal.signal(signal.SIGINT, before)


def test_contexts_that_overlap(two_threads: None) -> None:
    first, second = one_blas_thread(), one_blas_thread()
    with first:
        with second:
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert 2 in threads()
