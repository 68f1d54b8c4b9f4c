"""Run commands in this process, as a shell would see them: exit code, stdout, stderr."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command import Command, Ended
from cmeans.cli import main


@pytest.fixture
def cmeans(capsys: pytest.CaptureFixture[str]) -> Command:
    def command(*words: object) -> Ended:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Ended(code, *capsys.readouterr())

    return command


@pytest.fixture
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """150 rows in three groups of four columns, and their groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 50)
    centres = np.array([[0, 0, 0, 0], [6, 0, 6, 0], [0, 6, 0, 60]])
    return centres[groups] + rng.normal(size=(150, 4)) * [1, 1, 1, 10], groups


@pytest.fixture
def table(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> Path:
    """The groups as Parquet: columns a, b, c, d, a weight w and a text."""
    x, groups = blobs
    columns = dict(zip("abcd", x.T, strict=True)) | {
        "w": 1.0 + groups,
        "text": [f"t{group}" for group in groups],
    }
    file = tmp_path / "blobs.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=64)
    return file
