"""How a command ended, as a shell would see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        assert self.code == 0, self.err
        return json.loads(self.out)


Command = Callable[..., Ended]  # the fixture `cmeans`: words in, Ended out
