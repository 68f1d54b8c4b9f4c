"""A run that ended somehow, and one that goes on: together they do what one run would have done."""

from __future__ import annotations

import errno
import os
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

import cmeans as library
from cli.command import Command
from cli.streams import LINEAR, arrow, by_hand, csv, groups, refused, table
from cmeans.cli.stream import state
from cmeans.cli.stream.labels import LabelWriter
from cmeans.cli.stream.run import StreamRun
from cmeans.persistence.model_file import read_metadata
from damage import Damage, changed_by_hand, flipped, truncated

pytestmark = pytest.mark.slow


class Killed(BaseException):
    """What no program can do anything about."""


def dies(cmeans: Command, owner: Any, name: str, calls: int, *words: object) -> None:
    """A run whose process dies in the middle of a call, after so many calls before it."""
    former, made = getattr(owner, name), 0

    def dying(*given: Any, **more: Any) -> Any:
        nonlocal made
        made += 1
        if made > calls:
            if name == "_put":
                former(given[0], given[1][: len(given[1]) // 2])
            raise Killed
        return former(*given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, dying)
        with pytest.raises(Killed):
            cmeans(*words)


def written(folder: Path, kind: str, x: np.ndarray) -> Path:
    """Rows with some malformed ones among them."""
    a = x[:, 0].tolist()
    for at in (0, 30, 31, 77, len(x) - 1):
        a[at] = None
    rows = table(x).set_column(0, "a", pa.array(a))
    if kind == "folder":
        (folder / "in").mkdir()
        for at, start in enumerate(range(0, len(x), 33)):
            pq.write_table(
                rows.slice(start, 33), folder / "in" / f"{at}.parquet", row_group_size=10
            )
        pq.write_table(rows.slice(0, 0), folder / "in" / "15.parquet")  # nothing between 1 and 2
        return folder / "in"
    file = folder / f"x.{'txt' if kind == 'mac' else kind}"
    if kind in ("csv", "mac"):
        file.write_bytes(csv(x))
        lines = file.read_text().splitlines()
        for at in (0, 30, 31, 77, len(x) - 1):
            lines[at + 1] = "?"
        file.write_bytes(("\n" if kind == "csv" else "\r").join(lines).encode())
    elif kind == "arrow":
        file.write_bytes(arrow(rows))
    else:
        pq.write_table(rows, file, row_group_size=25)
    return file


@pytest.mark.parametrize("kind", ["csv", "mac", "arrow", "parquet", "folder"])
@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        (StreamRun, "_take", 4),  # between two chunks
        (StreamRun, "_learn", 5),
        (LabelWriter, "_put", 7),  # when half of a chunk's labels are written
        (state, "write_packed", 2),
        (LabelWriter, "write", 3),
    ],
)
def test_killed_and_resumed_is_as_if_nothing_had_happened(
    cmeans: Command, tmp_path: Path, kind: str, owner: Any, name: str, calls: int
) -> None:
    source = written(tmp_path, kind, groups(205)[0])
    words = [
        "stream",
        source,
        *LINEAR,
        "--chunk-size",
        20,
        "--checkpoint-every",
        2,
        "--memberships",
        "--scale",
        "unit",
        "-q",
    ]

    def named(run: str) -> list[object]:
        return ["--checkpoint", tmp_path / run / "s.safetensors", "--out", tmp_path / run / "l.csv"]

    for run in ("whole", "torn"):
        (tmp_path / run).mkdir()
    whole = cmeans(*words, *named("whole")).summary
    dies(cmeans, owner, name, calls, *words, *named("torn"))
    torn = cmeans(*words, *named("torn"), "--resume").summary
    assert [path.read_bytes() for path in sorted((tmp_path / "torn").iterdir())] == [
        path.read_bytes() for path in sorted((tmp_path / "whole").iterdir())
    ]
    own = {"config", "outputs", "seconds", "resumed"}
    assert {name: fact for name, fact in torn.items() if name not in own} == {
        name: fact for name, fact in whole.items() if name not in own
    }
    assert (whole["rows_clustered"], whole["rows_malformed"]) == (200, 5)


def test_every_place_to_die_in(cmeans: Command, tmp_path: Path) -> None:
    source = written(tmp_path, "folder", groups(120)[0])
    words = [
        "stream",
        source,
        *LINEAR,
        "--chunk-size",
        17,
        "--checkpoint-every",
        1,
        "-q",
        "--out",
        tmp_path / "l.csv",
    ]
    words += ["--checkpoint", tmp_path / "s.safetensors"]
    assert cmeans(*words).code == 0
    whole = [(tmp_path / name).read_bytes() for name in ("l.csv", "s.safetensors")]
    (tmp_path / "s.safetensors").unlink()
    dies(cmeans, StreamRun, "_take", 1, *words)
    for calls in (1, 0, 1, 1, 0, 1):  # a chunk or two are added each time
        dies(cmeans, LabelWriter, "_put", calls, *words, "--resume")
    assert cmeans(*words, "--resume").code == 0
    assert [(tmp_path / name).read_bytes() for name in ("l.csv", "s.safetensors")] == whole


def test_a_full_disk_costs_no_labels(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, _ = groups(100)
    (tmp_path / "x.csv").write_bytes(csv(x))
    words = [
        "stream",
        tmp_path / "x.csv",
        *LINEAR,
        "--chunk-size",
        10,
        "--checkpoint-every",
        3,
        "--out",
        tmp_path / "l.csv",
    ]
    words += ["--checkpoint", tmp_path / "s.safetensors"]
    put = LabelWriter._put

    def full(self: LabelWriter, data: bytes) -> None:
        put(self, data[: len(data) // 2])
        if self._size > 400:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        put(self, data[len(data) // 2 :])

    with monkeypatch.context() as patch:
        patch.setattr(LabelWriter, "_put", full)
        assert refused(cmeans(*words)) == f"cmeans: {tmp_path / 'l.csv'}: No space left on device"
    stream = read_metadata(tmp_path / "s.safetensors")["metadata"]["stream"]
    assert stream["written"]["bytes"] < 400 < (tmp_path / "l.csv").stat().st_size
    assert cmeans(*words, "--resume").code == 0
    assert pa.csv.read_csv(tmp_path / "l.csv").to_pydict() == {
        "row": list(range(100)),
        "label": by_hand(x, 10)[1],
    }


def test_a_finished_stream_goes_on_where_more_has_come(cmeans: Command, tmp_path: Path) -> None:
    x, _ = groups(150)
    source, out, kept = tmp_path / "x.csv", tmp_path / "l.csv", tmp_path / "s.safetensors"
    words = ["stream", source, "--chunk-size", 50, "--checkpoint", kept, "--out", out]
    source.write_bytes(csv(x[:100]))
    assert cmeans(*words, *LINEAR).code == 0
    ended = cmeans(*words, "--resume")  # nothing new
    assert ended.summary["rows"] == 100
    assert "cmeans: going on after 100 rows" in ended.err.splitlines()
    source.write_bytes(csv(x))
    assert cmeans(*words, "--resume").summary["rows"] == 150
    stored = pa.csv.read_csv(out)
    assert stored["label"].to_pylist() == by_hand(x, 50)[1]
    assert stored["row"].to_pylist() == list(range(150))
    source.write_bytes(csv(x[:30]))
    assert (
        "x.csv: holds 30 rows, but 150 were read from it before; it is another file now."
        in refused(cmeans(*words, "--resume"))
    )


def test_a_chunk_without_the_row_that_is_skipped_is_scaled_once(
    cmeans: Command, tmp_path: Path
) -> None:
    x, truth = groups(100)
    x[60, 1] = 1e120
    (tmp_path / "x.csv").write_bytes(csv(x))
    words = ["stream", tmp_path / "x.csv", "--chunk-size", 20, "--out", tmp_path / "l.csv"]
    begin = ["--clusters", 3, "--kernel", "polynomial", "--scale", "unit"]
    assert cmeans(*words, *begin).summary["rows_malformed"] == 1
    labels = pa.csv.read_csv(tmp_path / "l.csv")["label"].to_pylist()
    assert adjusted_rand_score(np.delete(truth, 60), labels) == 1.0


@pytest.mark.parametrize("change", ["value", "weight", "order", "shorter"])
def test_other_rows_than_were_read_are_refused(
    cmeans: Command, tmp_path: Path, change: str
) -> None:
    """A file of which rows were clustered must begin with these."""
    x, _ = groups(150)
    x = np.column_stack([x, 1.0 + np.arange(150) % 2])
    source, out, kept = tmp_path / "x.csv", tmp_path / "l.csv", tmp_path / "s.safetensors"
    words = ["stream", source, "--chunk-size", 50, "--checkpoint", kept, "--out", out]
    source.write_bytes(csv(x[:100], "a,b,c,w"))
    assert cmeans(*words, *LINEAR, "--weight", "w").code == 0
    before, other = (kept.read_bytes(), out.read_bytes()), x.copy()
    if change == "value":
        other[99, 2] += 0.001
    if change == "weight":
        other[0, 3] = 2.0
    if change == "order":
        other[[3, 70]] = other[[70, 3]]
    source.write_bytes(csv(other[: 99 if change == "shorter" else 150], "a,b,c,w"))
    line = refused(cmeans(*words, "--resume"))
    held = "99 rows, but 100" if change == "shorter" else "other rows than the 100 that"
    assert line.startswith(f"cmeans: x.csv: holds {held} were read from it before; it is another")
    assert (kept.read_bytes(), out.read_bytes()) == before
    source.write_bytes(csv(x, "a,b,c,w"))
    assert cmeans(*words, "--resume").summary["rows"] == 150


@pytest.mark.parametrize("place", ["done", "last"])
def test_other_files_of_a_folder_than_were_read_are_refused(
    cmeans: Command, tmp_path: Path, place: str
) -> None:
    """Where its size or time is another, a file that was read to its end is looked at again; one
    that is gone, or was only copied, is no hindrance."""
    x, _ = groups(120)
    folder, kept, out = tmp_path / "in", tmp_path / "s.safetensors", tmp_path / "l.csv"
    words = ["stream", folder, "--chunk-size", 40, "--checkpoint", kept, "--out", out]
    folder.mkdir()
    for number in range(3):
        pq.write_table(table(x[30 * number : 30 * number + 30]), folder / f"{number}.parquet")
    assert cmeans(*words, *LINEAR).code == 0
    before, file = (kept.read_bytes(), out.read_bytes()), folder / "1.parquet"
    file = folder / ("1.parquet" if place == "done" else "2.parquet")
    rows, other = pq.read_table(file), pq.read_table(file).to_pydict()
    other["b"][29] += 0.001
    pq.write_table(pa.table(other), file)
    line = refused(cmeans(*words, "--resume"))
    assert line.startswith(f"cmeans: {file.name}: holds other rows than the 30 that were read")
    if place == "done":
        pq.write_table(pa.concat_tables([rows, rows]), file)
        line = refused(cmeans(*words, "--resume"))
        assert line.startswith(f"cmeans: {file.name}: holds 60 rows, but 30 were read")
    assert (kept.read_bytes(), out.read_bytes()) == before
    pq.write_table(rows, file)
    (folder / "0.parquet").unlink()
    pq.write_table(table(x[90:]), folder / "3.parquet")
    assert cmeans(*words, "--resume").summary["rows"] == 120
    assert pa.csv.read_csv(out)["label"].to_pylist() == by_hand(x, 40)[1]


@pytest.mark.parametrize("row", [7, 60])
@pytest.mark.parametrize(
    ("kernel", "value", "said"),
    [
        ("linear", 1e200, "line {2}: column 'b' has 1e+200, whose square is too large for float64"),
        (
            "polynomial",
            1e120,
            "row {0} (counted from 0): column 'b' has 1e+120, too much for the kernel; scale the "
            "data, or take another kernel",
        ),
    ],
)
def test_a_row_out_of_range_does_not_end_a_stream(
    cmeans: Command, tmp_path: Path, row: int, kernel: str, value: float, said: str
) -> None:
    """In the first chunk and later it is skipped like malformed ones, and counted; where none is
    forgiven the stream goes on once one is."""
    x, _ = groups(100)
    source, out, kept = tmp_path / "x.csv", tmp_path / "l.csv", tmp_path / "s.safetensors"
    words = ["stream", source, "--chunk-size", 20, "--checkpoint", kept, "--out", out]
    begin = ["--clusters", 3, "--kernel", kernel, "--scale", "none"]
    others = np.delete(np.arange(100), row)
    far = x.copy()
    far[row, 1] = value
    source.write_bytes(csv(far))
    message = said.format(row, None, row + 2)
    refusal = cmeans(*words, *begin, "--max-errors", 0)
    assert f"cmeans: a malformed row; {message}." in refusal.err.splitlines()
    assert refusal.code == 2
    ended = cmeans(*words, *(["--resume"] if kept.exists() else begin))
    assert f"cmeans: warning: {message}" in ended.err.splitlines()
    summary = ended.summary
    assert (summary["rows"], summary["rows_clustered"], summary["rows_malformed"]) == (100, 99, 1)
    assert pa.csv.read_csv(out)["row"].to_pylist() == others.tolist()
    assert cmeans(*words, "--resume").summary["rows"] == 100  # it is one of the rows that were read
    source.write_bytes(csv(x[others]))
    assert cmeans(*words[:-1], tmp_path / "other.csv", *begin).code == 0
    if kernel == "linear":  # else its chunk is one row shorter
        labels = pa.csv.read_csv(tmp_path / "other.csv")["label"].to_pylist()
        assert pa.csv.read_csv(out)["label"].to_pylist() == labels


def test_another_source_is_read_from_its_beginning(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, _ = groups(160)
    kept, out = tmp_path / "s.safetensors", tmp_path / "l.csv"
    words = ["--chunk-size", 40, "--checkpoint", kept, "--out", out, "--resume"]
    (tmp_path / "one.csv").write_bytes(csv(x[:40]))
    (tmp_path / "two.csv").write_bytes(csv(x[40:80]))
    assert cmeans("stream", tmp_path / "one.csv", *LINEAR, *words[:-1]).code == 0
    ended = cmeans("stream", tmp_path / "two.csv", *words)
    assert (
        f"they came from {tmp_path / 'one.csv'}; {tmp_path / 'two.csv'} is read from its beginning"
        in ended.err
    )
    for part in (x[80:120], x[120:]):
        (tmp_path / "pipe").write_bytes(csv(part))
        with open(tmp_path / "pipe") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert cmeans("stream", *words).code == 0
    model, labels = by_hand(x, 40)
    assert pa.csv.read_csv(out).to_pydict() == {"row": list(range(160)), "label": labels}
    assert np.array_equal(library.load(kept).mass_, model.mass_)
    ended = cmeans("stream", tmp_path / "two.csv", *words)
    assert f"warning: they came from a pipe; {tmp_path / 'two.csv'} is read from its" in ended.err


def test_a_wrong_source_does_not_touch_the_state(cmeans: Command, tmp_path: Path) -> None:
    x, _ = groups(80)
    words = [
        "--chunk-size",
        40,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
    ]
    (tmp_path / "x.csv").write_bytes(csv(x[:40]))
    (tmp_path / "y.csv").write_bytes(csv(x, "a,b,z"))
    (tmp_path / "z.csv").write_bytes(csv(x[:0]))
    assert cmeans("stream", tmp_path / "x.csv", *LINEAR, *words).code == 0
    before = (tmp_path / "s.safetensors").read_bytes()
    with (tmp_path / "l.csv").open("a") as labels:
        labels.write("40,1\n4")  # of a run that was killed
    assert "lacks column 'c' of the model" in refused(
        cmeans("stream", tmp_path / "y.csv", *words, "--resume")
    )
    assert cmeans("stream", tmp_path / "z.csv", *words, "--resume").code == 0
    assert (tmp_path / "s.safetensors").read_bytes() == before
    (tmp_path / "x.csv").write_bytes(csv(x))
    assert cmeans("stream", tmp_path / "x.csv", *words, "--resume").code == 0
    assert pa.csv.read_csv(tmp_path / "l.csv").to_pydict() == {
        "row": list(range(80)),
        "label": by_hand(x, 40)[1],
    }


def test_columns_without_their_names(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that is taken up again need not begin with the names."""
    x, _ = groups(80)
    x = np.column_stack([x, np.arange(80.0)])
    words = [
        "stream",
        "--chunk-size",
        40,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
    ]
    (tmp_path / "one").write_bytes(csv(x[:40], "a,b,c,w"))
    (tmp_path / "two").write_bytes(csv(x[40:], None))
    with open(tmp_path / "one") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert cmeans(*words, *LINEAR, "--columns", "b,a", "--weight", "w").code == 0
    for more, message in (
        ([], "--weight w: standard input: there is no column 'w'"),
        (
            ["--weight", 3],
            "the model names its columns, the file does not; say with --columns which columns "
            "stand for columns 'b', 'a'",
        ),
        (["--weight", 3, "--columns", "1"], "names 1 columns, but the model was fitted on 2"),
    ):
        with open(tmp_path / "two") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert message in refused(cmeans(*words, "--resume", *more))
    with open(tmp_path / "two") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert cmeans(*words, "--resume", "--columns", "1,0", "--weight", 3).code == 0
    assert (
        pa.csv.read_csv(tmp_path / "l.csv")["label"].to_pylist()
        == by_hand(x[:, [1, 0]], 40, x[:, 3])[1]
    )
    assert read_metadata(tmp_path / "s.safetensors")["metadata"]["columns"] == ["b", "a"]


def test_labels_that_were_moved_away_are_begun_anew(cmeans: Command, tmp_path: Path) -> None:
    x, _ = groups(80)
    words = [
        "stream",
        tmp_path / "x.csv",
        "--chunk-size",
        40,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
    ]
    (tmp_path / "x.csv").write_bytes(csv(x[:40]))
    assert cmeans(*words, *LINEAR).code == 0
    (tmp_path / "l.csv").unlink()
    (tmp_path / "x.csv").write_bytes(csv(x))
    assert cmeans(*words, "--resume").code == 0
    assert pa.csv.read_csv(tmp_path / "l.csv")["row"].to_pylist() == list(range(40, 80))


def test_a_model_from_python_goes_on(cmeans: Command, tmp_path: Path) -> None:
    x, _ = groups(80)
    library.save(by_hand(x[:40], 40)[0], tmp_path / "s.safetensors")
    (tmp_path / "x.csv").write_bytes(csv(x[40:], None))
    words = [
        "--chunk-size",
        40,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
        "--resume",
    ]
    assert cmeans("stream", tmp_path / "x.csv", *words).summary["chunks"] == 2
    assert pa.csv.read_csv(tmp_path / "l.csv")["label"].to_pylist() == by_hand(x, 40)[1][40:]


def test_without_resume_all_begins_anew(cmeans: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(csv(groups(50)[0]))
    words = [
        "stream",
        tmp_path / "x.csv",
        *LINEAR,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
    ]
    first = cmeans(*words)
    before = [(tmp_path / name).read_bytes() for name in ("l.csv", "s.safetensors")]
    second = cmeans(*words)
    assert "--resume would have gone on" not in first.err
    assert "its state replaces" in second.err
    assert [(tmp_path / name).read_bytes() for name in ("l.csv", "s.safetensors")] == before


def test_what_cannot_be_gone_on_with(cmeans: Command, tmp_path: Path) -> None:
    file, kept, out = tmp_path / "x.csv", tmp_path / "s.safetensors", tmp_path / "l.csv"
    file.write_bytes(csv(groups(50)[0]))
    words = ["stream", file, "--checkpoint", kept, "--out", out, "--resume"]
    assert "--resume: there is no" in refused(cmeans(*words))
    assert cmeans(*words[:-1], *LINEAR, "--m", "1.5").code == 0
    (tmp_path / "other.csv").write_text("something else")
    library.save(
        library.KernelKMeans(2, kernel="linear").fit(np.eye(4)), tmp_path / "k.safetensors"
    )
    before = kept.read_bytes(), out.read_bytes()
    for more, message in (
        (
            ["-c", 4],
            f"--clusters 4: {kept} was begun with 3; leave the option out to go on with that.",
        ),
        (["--kernel", "rbf"], f"--kernel rbf: {kept} was begun with linear"),
        (["--m", "2"], f"--m 2.0: {kept} was begun with 1.5"),
        (["--seed", 5], f"--seed 5: {kept} was begun with 0"),
        (["--scale", "unit"], f"--scale unit: {kept} was begun with none"),
        (["--dtype", "float32"], f"--dtype float32: {kept} was begun with float64"),
        (["--columns", "a"], "names 1 columns, but the model was fitted on 3"),
        (
            ["--memberships"],
            f"--memberships: {out} was begun without them; go on with it without them, or name a "
            "new file.",
        ),
        (
            ["--out", tmp_path / "other.csv"],
            "other.csv: exists, but the labels so far went to l.csv",
        ),
        (
            ["--checkpoint", tmp_path / "k.safetensors"],
            "holds KernelKMeans, which no stream can go on with.",
        ),
        (["--checkpoint", file], "would overwrite the input file"),
        (["--checkpoint", tmp_path / "other.csv"], "other.csv"),
    ):
        assert message in refused(cmeans(*words, *more))
    assert (kept.read_bytes(), out.read_bytes()) == before
    out.write_bytes(before[1][:20])
    assert "l.csv: has 20 bytes, but the state had written" in refused(cmeans(*words))


def test_chunks_are_as_large_as_before_where_nothing_is_said(
    cmeans: Command, tmp_path: Path
) -> None:
    x, _ = groups(130)
    source, at_once, out = tmp_path / "x.csv", tmp_path / "w.csv", tmp_path / "l.csv"
    kept = ["--checkpoint", tmp_path / "s.safetensors", "--out", out, "-q"]
    source.write_bytes(csv(x[:40]))
    assert cmeans("stream", source, "--chunk-size", 20, *kept, *LINEAR).code == 0
    source.write_bytes(csv(x))
    assert cmeans("stream", source, *kept, "--resume").code == 0
    assert cmeans("stream", source, "--chunk-size", 20, "--out", at_once, *LINEAR).code == 0
    assert out.read_bytes() == at_once.read_bytes()


@pytest.mark.parametrize(("damage", "every"), [(truncated, 1), (flipped, 3), (changed_by_hand, 4)])
def test_what_goes_on_from_a_damaged_state_is_the_same_stream_or_none(
    cmeans: Command, tmp_path: Path, damage: Damage, every: int
) -> None:
    """Some of what tests/streaming/test_states.py tries on streams without a command."""
    x, _ = groups(60)
    source, kept, out = tmp_path / "x.csv", tmp_path / "s.safetensors", tmp_path / "l.csv"
    words = ["stream", source, "--chunk-size", 20, "--checkpoint", kept, "--out", out, "-q"]
    source.write_bytes(csv(x[:40]))
    assert cmeans(*words, *LINEAR).code == 0
    state, half = kept.read_bytes(), out.read_bytes()
    source.write_bytes(csv(x))
    assert cmeans(*words, "--resume").code == 0
    whole = out.read_bytes()
    for what, changed in islice(damage(state, tmp_path / "scratch"), 0, None, every):
        kept.write_bytes(changed)
        out.write_bytes(half)
        ended = cmeans(*words, "--resume")
        if ended.code:
            assert out.read_bytes() == half, what
            line = refused(ended)
            assert str(kept) in line, what
            # What somebody has made of it may be a good model of another kind, or one from Python.
            assert "damaged" in line or what[0] in (("estimator",), ("metadata",)), what
        else:
            assert out.read_bytes() == whole, what


SOUND: dict[str, object] = {
    "rows": 1,
    "source": "-",
    "files": {},
    "clustered": 0,
    "sizes": [],
    "noise": 0,
    "digests": {},
    "stamps": {},
    "written": None,
}


@pytest.mark.parametrize(
    "change",
    [
        {"rows": "x"},
        {"rows": -1},
        {"rows": 2**64},
        {"files": []},
        {"files": {"x.csv": 2**64}},
        {"clustered": 2},  # of one row
        {"sizes": 5},
        {"sizes": [2**64]},
        {"digests": None},
        {"stamps": {"x.csv": 1}},
        {"written": {"name": "x"}},
        {"written": {"name": "x", "bytes": 2**64, "memberships": False}},
        {"source": []},
        *({name: ...} for name in SOUND),
    ],
)
def test_a_damaged_state_is_refused(
    cmeans: Command, tmp_path: Path, change: dict[str, object]
) -> None:
    """One of whose words is wrong, or is missing (...)."""
    x, _ = groups(40)
    (tmp_path / "x.csv").write_bytes(csv(x))
    stream = {name: value for name, value in (SOUND | change).items() if value is not ...}
    metadata = {
        "columns": ["a", "b", "c"],
        "scaling": {"kind": "none", "shift": [], "factor": []},
        "stream": stream,
    }
    library.save(by_hand(x, 40)[0], tmp_path / "s.safetensors", metadata=metadata)
    line = refused(
        cmeans("stream", tmp_path / "x.csv", "--checkpoint", tmp_path / "s.safetensors", "--resume")
    )
    assert f"what {tmp_path / 's.safetensors'} says of its stream cannot be read" in line
