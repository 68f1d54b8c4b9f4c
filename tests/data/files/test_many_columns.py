"""Columns are found by name in a few looks at the columns, not in as many as there are names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cmeans
from cmeans.data.files.schema import Field, Header, ReadOptions

N = 300
NAMES = [f"c{at}" for at in range(N)]
READING = ReadOptions("x.csv")


class Counted(tuple):
    """Columns that count how often one is looked at."""

    looks = 0

    def __iter__(self) -> Iterator[Any]:
        for part in super().__iter__():
            Counted.looks += 1
            yield part

    def __getitem__(self, at: Any) -> Any:
        Counted.looks += 1
        return super().__getitem__(at)


class Name(str):
    """A name that counts how often it is compared."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.looks += 1
        return str.__eq__(self, other)


WAYS: dict[str, Callable[[Header], Any]] = {
    "names": lambda header: header.choose(replace(READING, columns=NAMES[::-1])).picked[::-1],
    "one word": lambda header: header.choose(replace(READING, columns=[",".join(NAMES)])).picked,
    "a range": lambda header: header.choose(replace(READING, columns=[f"0-{N - 1}"])).picked,
    "a model's": lambda header: header.choose(replace(READING, known=NAMES)).picked,
    "all but some": lambda header: [
        *range(N - 9),
        *header.choose(replace(READING, leave_out=NAMES[:-9])).picked,
    ],
}


@pytest.mark.parametrize("way", WAYS)
def test_files(way: str) -> None:
    header = Header("x.csv", Counted(Field(Name(name), "double", numeric=True) for name in NAMES))
    Counted.looks = 0
    assert [*WAYS[way](header)] == list(range(N))
    assert Counted.looks < 20 * N


def test_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a frame costs as many looks as it has columns."""
    parts, found = list[slice](), pd.DataFrame.__getitem__

    def counted(frame: pd.DataFrame, key: Any) -> Any:
        if isinstance(key, slice):
            parts.append(key)
        return found(frame, key)

    monkeypatch.setattr(pd.DataFrame, "__getitem__", counted)
    rows = np.random.default_rng(0).normal(size=(20, N))
    frame = pd.DataFrame(rows, columns=NAMES)
    model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(frame)
    assert np.array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="hold text or dates, no numbers"):
        model.fit(frame.astype(dict.fromkeys(NAMES[::2], str)).replace(r"^", "x", regex=True))
    assert len(parts) < 10
