"""A fuzzer of `tests/fuzz` as a target of OSS-Fuzz: dice are thrown by the bytes that atheris
changes, so that what brings a case further is tried again. By hand, where atheris is installed:

    python tests/fuzz/oss_fuzz/target.py readers -max_total_time=60
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


class ThrownBy(random.Random):
    """Dice whose numbers are bytes that are given, and zeros after these."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        super().__init__(0)

    def getrandbits(self, k: int) -> int:
        taken = self._data[self._at : self._at + (k + 7) // 8]
        self._at += len(taken)
        return int.from_bytes(taken, "little") & ((1 << k) - 1)

    def random(self) -> float:
        return self.getrandbits(53) / 2**53


def fuzz(name: str, words: list[str]) -> None:
    """Run a fuzzer for as long as the words for libFuzzer say."""
    import atheris

    warnings.simplefilter("ignore", UserWarning)  # of fits to whatever comes
    with atheris.instrument_imports(include=["cmeans"]):
        from fuzz.runner import case_of

        case = case_of(name, Path(tempfile.mkdtemp()))
        for number in range(100):  # which import all that is imported when it is needed
            case(random.Random(number))
    atheris.Setup([sys.argv[0], *words], lambda data: str(case(ThrownBy(data))))
    atheris.Fuzz()


if __name__ == "__main__":
    fuzz(sys.argv[1], sys.argv[2:])
