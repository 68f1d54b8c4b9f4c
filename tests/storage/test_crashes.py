"""After a power cut at any moment, and whatever a file system keeps of what was not flushed, a
reader finds the old file or the new one, whole; after the work, the new one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cmeans.data.files.claims import check_unpacked
from cmeans.data.row_source import RowsError
from cmeans.storage.array_file import write_array
from cmeans.storage.atomic import staged, staged_file
from storage.crashes import each_end, each_state, recorded
from storage.kinds_of_files import KINDS, checkpoint_in, write_checkpoint


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("former", [False, True])
def test_one_file(kind: str, former: bool, tmp_path: Path) -> None:
    name, write, read = KINDS[kind]
    folder = tmp_path / "folder"
    folder.mkdir()
    if former:
        write(0, folder / name)
    with recorded(folder) as disk:
        write(1, folder / name)
    seen = set[int | None]()
    for step, left in each_state(disk, tmp_path):
        assert {file.name for file in left.iterdir()} <= {name}, step
        seen.add(read(left / name) if (left / name).exists() else None)
    assert seen == {0 if former else None, 1}
    assert [read(left / name) for left in each_end(disk, tmp_path)] == [1]


def test_files_of_one_run(tmp_path: Path) -> None:
    """Each is whole, and where the seal is they belong together."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for run in ("old", "new"):
        with recorded(folder) as disk, staged(folder, seal="seal") as place:
            for name in ("a", "b", "seal"):
                (place / name).write_text(f"{run} {name}")
    seen = set[tuple[str, ...]]()
    for step, left in each_state(disk, tmp_path):
        found = {file.name: file.read_text() for file in left.iterdir()}
        assert all(text in (f"old {name}", f"new {name}") for name, text in found.items()), step
        if "seal" in found:
            assert len({text.split()[0] for text in found.values()}) == 1, (step, found)
            assert len(found) == 3
        assert {"a", "b"} <= found.keys()
        seen.add(tuple(sorted(found.values())))
    assert ("new a", "old b") in seen
    [end] = each_end(disk, tmp_path)
    assert (end / "seal").read_text() == "new seal"


def test_checkpoints_with_arrays_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_checkpoint(0, folder / "c")
    with recorded(folder) as disk:
        write_checkpoint(1, folder / "c")
    seen = {checkpoint_in(left / "c") for _, left in each_state(disk, tmp_path)}
    assert seen == {0, 1}
    assert {checkpoint_in(left / "c") for left in each_end(disk, tmp_path)} == {1}


def test_two_writers_at_once_have_a_place_each(tmp_path: Path) -> None:
    with staged_file(tmp_path / "f") as one, staged_file(tmp_path / "f") as other:
        one.write_text("one")
        other.write_text("other")
        assert one.read_text() == "one"
    assert (tmp_path / "f").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("cut", [1, 4, 100])
def test_a_part_of_an_array_is_none(cut: int, tmp_path: Path) -> None:
    array = np.arange(50, dtype=np.int32)
    stored = write_array(tmp_path / "c", array)
    file = tmp_path / stored.file
    file.write_bytes(file.read_bytes()[:-cut])
    with pytest.raises(ValueError, match="is truncated, or no such file"):
        stored.read_into(tmp_path, np.empty_like(array))


def test_what_files_may_unpack_to() -> None:
    check_unpacked("x", 2**28, 1)
    check_unpacked("x", 200 * 2**21, 2**21)
    for size, packed in ((2**28 + 1, 1), (200 * 2**21 + 1, 2**21)):
        with pytest.raises(RowsError, match="unpacks to"):
            check_unpacked("x", size, packed)
