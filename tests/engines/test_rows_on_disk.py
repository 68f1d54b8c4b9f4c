"""Files of parts that the processes of a machine share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cmeans.engines.parts.rows_on_disk import RowsOnDisk


def test_rows_are_mapped_where_they_are_written_and_gone_after(tmp_path: Path) -> None:
    disk, rows = RowsOnDisk(str(tmp_path / "rows")), np.arange(6.0).reshape(3, 2)
    assert disk.found(1) is None
    assert isinstance(disk.written(1, rows), np.memmap)
    np.testing.assert_array_equal(disk.found(1), rows)
    assert [file.name for file in (tmp_path / "rows").iterdir()] == ["1.npy"]
    disk.remove()
    assert not list(tmp_path.iterdir())


def test_without_room_rows_are_as_they_came(tmp_path: Path) -> None:
    disk, rows = RowsOnDisk(str(tmp_path / "no" / "room")), np.ones((3, 2))
    assert disk.written(1, rows) is rows
    assert disk.found(1) is None
