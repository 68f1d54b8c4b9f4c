"""Rows for streams, and what the library itself makes of them."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc

import cmeans as library
from cli.command import Ended

LINEAR = ["--clusters", 3, "--kernel", "linear"]


def groups(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three columns in three groups that nobody can mix up."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    truth[:3] = 0, 1, 2
    return (np.array([[0, 0, 0], [9, 0, 9], [0, 9, 90]])[truth] + rng.normal(size=(n, 3))).round(
        3
    ), truth


def csv(x: np.ndarray, names: str | None = "a,b,c", sep: str = ",") -> bytes:
    lines = [sep.join(map(repr, row)) for row in x.tolist()]
    return "\n".join([*([] if names is None else [names.replace(",", sep)]), *lines, ""]).encode()


def arrow(*tables: pa.Table, file: bool = False) -> bytes:
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_file if file else pa.ipc.new_stream
    with new(sink, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table, max_chunksize=37)
    return sink.getvalue().to_pybytes()


def table(x: np.ndarray, **more: object) -> pa.Table:
    return pa.table(dict(zip("abc", x.T, strict=True)) | more)


def answers(ended: Ended) -> pa.Table:
    assert ended.code == 0, ended.err
    return pa.csv.read_csv(io.BytesIO(ended.out.encode()))


def refused(ended: Ended) -> str:
    """The one line of a refusal."""
    assert ended.code == 2, ended
    assert "Traceback" not in ended.err
    told = ("reading", "going on", "they came", "looking for", "warning:")
    said = [
        line
        for line in ended.err.splitlines()
        if not line.startswith(tuple(f"cmeans: {words}" for words in told))
    ]
    assert len(said) == 1, ended.err
    return said[0]


def by_hand(
    x: np.ndarray, size: int, weight: np.ndarray | None = None, **words: object
) -> tuple[library.StreamingFuzzyCMeans, list[int]]:
    """What the library itself makes of the chunks."""
    model = library.StreamingFuzzyCMeans(
        3, kernel="linear", chunk_size=size, random_state=0
    ).set_params(**words)
    labels: list[int] = []
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        labels += model.partial_fit(
            x[rows], sample_weight=None if weight is None else weight[rows]
        ).labels_.tolist()
    return model, labels
