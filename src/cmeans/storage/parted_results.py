"""Results by row in a folder whose files lie as those of the rows do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..data.addresses import place
from ..data.files.discovery import files_of
from ..data.row_source import RowsError
from .atomic import staged_tree, writing_to
from .overwriting import lies_in, refuse_overwriting


def names_folder(out: Any) -> bool:
    """True of a path without an ending, which names no kind of file."""
    return not place(out).suffix


@contextmanager
def results_file(out: Any, x: Any, word: str) -> Iterator[Any]:
    """Provide the file that results of rows `x` are written to: `out`, which is none of their own
    files, or, where it names a folder, one whose rows go there. `word`: what the user calls
    `out`."""
    if names_folder(out):
        with parted_results(out, x, word) as whole:
            yield whole
    else:
        refuse_overwriting({word: out}, files_of(x))
        yield out


@contextmanager
def parted_results(out: Any, x: Any, word: str) -> Iterator[Path]:
    """Provide a Parquet file for the results of rows `x` of files. At the end of the block its rows
    are in the folder `out`, in Parquet files of the names that those of `x` have, and in as many
    folders; on an exception there is none. `word`: what the user calls `out`."""
    folder, parts = place(out), _parts_of(x, word)
    if isinstance(x, (str, os.PathLike)) and lies_in(out, x):
        raise ValueError(f"{word}: lies in {x}, all of which is read as rows; choose another.")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(
            f"{word}: is there already; name a folder that is new or empty, or a file, such as "
            "labels.parquet."
        )
    with staged_tree(folder) as tree:
        whole = tree.parent / "rows.parquet"
        yield whole
        with writing_to(folder):
            _divide(whole, parts, tree)


def _parts_of(x: Any, word: str) -> list[tuple[Path, int]]:
    """Return the name of each file of rows below the folder of all, and how many rows it has."""
    from ..data.files.opening import open_file
    from ..data.files.schema import ReadOptions

    files = [place(file) for file in files_of(x)]
    if not files:
        raise ValueError(
            f"{word}: has an unknown ending; known are .parquet, .csv and .npy, and a folder, "
            "without one, where rows come from a folder of files."
        )
    if isinstance(x, (str, os.PathLike)) and place(x).is_dir():
        depth = len(place(x).parts)
    else:
        levels = zip(*(file.parent.parts for file in files), strict=False)
        depth = len(list(takewhile(lambda names: len(set(names)) == 1, levels)))
    parts = list[tuple[Path, int]]()
    for file in files:
        count = getattr(open_file(file, ReadOptions(file)), "n_rows", None)
        if count is None:
            raise RowsError(
                f"{word}: results go into a folder where files say how many rows they hold, as "
                f"Parquet does; {file} does not. Write one file, such as labels.parquet."
            )
        parts.append((Path(*file.parts[depth:]).with_suffix(".parquet"), count))
    return parts


def _divide(whole: Path, parts: Sequence[tuple[Path, int]], tree: Path) -> None:
    """Write the rows of a file to files of so many rows each."""
    from ..data.arrow_library import pa
    from ..data.files.arrow import file_bytes

    with file_bytes(whole) as opened, pa.parquet.ParquetFile(opened) as table:
        batches, schema = table.iter_batches(use_threads=False), table.schema_arrow
        rows = schema.empty_table()
        for name, count in parts:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            with (tree / name).open("xb") as part, pa.parquet.ParquetWriter(part, schema) as writer:
                while count:
                    rows = rows if len(rows) else pa.Table.from_batches([next(batches)])
                    writer.write_table(rows[:count])
                    rows, count = rows[count:], count - len(rows[:count])
