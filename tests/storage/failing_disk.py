"""What is left of each kind of file after faults of the disk, as JSON. A process of its own, run by
`test_failing_disk.py`: before it a library is loaded that fails, or it has a disk of a few bytes.

    python -m storage.failing_disk FOLDER full|error|short|unreadable ...
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import io
import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import cmeans
from cmeans.cli import main
from cmeans.cli.stream.state import SavedStream
from storage.kinds_of_files import (
    KINDS,
    X,
    checkpoint_in,
    model_in,
    parquet_in,
    write_checkpoint,
)

STEPS = {"full": 4096, "error": 9001, "unreadable": 1997}  # bytes by which more comes through
# Of a page, which is all written at once, by so many times more: each step makes it anew.
COARSER = {"page": 8}
MOST = 60  # steps until all does
INPUTS = Path(tempfile.gettempdir())


def checkpointed(at: int, file: Path) -> None:
    """Write a checkpoint; OSError with the warning that a fit would give."""
    with warnings.catch_warnings(record=True) as caught:
        write_checkpoint(at, file)
    if caught:
        raise OSError(str(caught[0].message))


def write_state(at: int, file: Path) -> None:
    """A stream of some rows, or of all of them."""
    rows = INPUTS / "rows.csv"
    rows.write_text("\n".join(",".join(map(str, row)) for row in X[: 40 + 20 * at].tolist()) + "\n")
    words = ["stream", rows, "-c", 2, "-q", "--out", file.parent / "l.csv", "--checkpoint", file]
    command(*words, *(["--resume"] if at else []))


def state_in(file: Path) -> int:
    rows = SavedStream.load(file).place.rows
    assert (file.parent / "l.csv").read_bytes().count(b"\n") > rows
    return {40: 0, 60: 1}[rows]


def write_results(at: int, file: Path) -> None:
    np.save(INPUTS / "x.npy", X)
    words = ["--kernel", "linear", "--seed", "0", "-q", "--out", file.parent]
    command("fit", INPUTS / "x.npy", "-c", 2 + at, *words)


def results_in(file: Path) -> int:
    found = [model_in(file), parquet_in(file.with_name("labels.parquet"))]
    summary = file.with_name("summary.json")
    if summary.exists():
        assert {json.loads(summary.read_text())["n_clusters"] - 2} == {*found}
    return found[0]


def command(*words: object) -> None:
    """Run a command; OSError with what it says where it ends with an error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([str(word) for word in words])
    if code:
        [line] = said.getvalue().splitlines()
        assert code == 2, line
        raise OSError(line)


ALL = KINDS | {
    "checkpoint": ("c", checkpointed, checkpoint_in),
    "stream": ("s", write_state, state_in),
    "results": ("model.safetensors", write_results, results_in),
}


@contextmanager
def failing(folder: Path, how: str, comes_through: int) -> Iterator[None]:
    """Let so many bytes come through inside the block."""
    if how == "full":
        filler = folder.parent / "filler"
        filler.write_bytes(bytes(max(0, shutil.disk_usage(folder).free - comes_through)))
        try:
            yield
        finally:
            filler.unlink()
        return
    fault = ctypes.CDLL(None).fault_set
    number, most = (0, 7) if how == "short" else (errno.EIO, 0)
    below = ctypes.c_char_p(str(folder).encode())
    fault(below, ctypes.c_long(comes_through), number, ctypes.c_size_t(most), how == "unreadable")
    try:
        yield
    finally:
        fault(b"", ctypes.c_long(0), 0, ctypes.c_size_t(0), 0)


def tried(kind: str, work: Path, how: str) -> Iterator[dict[str, object]]:
    """Write a file over a former one, with more and more room, until all of it finds some."""
    name, write, read = ALL[kind]
    bytes_more = STEPS.get(how, 0) * COARSER.get(kind, 1)
    for step in range(MOST):
        folder = work / f"{kind}-{step}"
        folder.mkdir()
        write(0, folder / name)
        before = sorted(path.name for path in folder.iterdir())
        said = None
        if step == 0:
            gc.collect()  # files of former kinds that are still held would give room later
        try:
            with failing(folder, how, step * bytes_more):
                write(1, folder / name)
        except OSError as error:
            said = str(error)
        after = sorted(path.name for path in folder.iterdir())
        found = read(folder / name)
        yield {"kind": kind, "said": said, "before": before, "after": after, "found": found}
        shutil.rmtree(folder)
        if said is None:
            return
    raise AssertionError(f"{kind}: {MOST} steps are too few")


def read_rows(kind: str, work: Path) -> Iterator[dict[str, object]]:
    """Read a file of rows of which some bytes can be read."""
    folder = work / kind
    folder.mkdir()
    name, write, _ = KINDS[kind]
    if kind == "npy":
        np.save(folder / name, X)
    else:
        write(1, folder / name)
    for step in range(MOST):
        said = None
        try:
            with failing(folder, "unreadable", step * STEPS["unreadable"]):
                cmeans.open_blocks(folder / name).read(0, len(X))
        except (OSError, ValueError) as error:
            said = str(error)
        yield {"kind": kind, "said": said}
        if said is None:
            return


if __name__ == "__main__":
    for fault_kind in sys.argv[2:]:
        place = Path(sys.argv[1]) / fault_kind
        place.mkdir()
        unreadable = fault_kind == "unreadable"
        for each in ("Parquet", "CSV", "npy") if unreadable else ALL:
            for line in read_rows(each, place) if unreadable else tried(each, place, fault_kind):
                sys.stdout.write(json.dumps({"how": fault_kind, **line}) + "\n")
