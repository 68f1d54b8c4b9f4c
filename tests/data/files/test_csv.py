"""CSV as other programs write it: the same rows, or one line that says what is wrong and where."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet as pq
import pytest

import cmeans
from cmeans.cli.rows import ReadOptions, read_rows
from cmeans.data.row_source import RowsError
from cmeans.runtime.user_warnings import DataWarning
from file_formats import parquet, table

pytestmark = pytest.mark.slow

ROWS = [[1, 2.5], [3, 4], [5, 6]]
RENAMED = "or give it a name that ends in {} if it is CSV"
TEXT = "a,b\n1,2.5\n3,4\n5,6\n"
LONG = f"7,8.{'0' * 395}\n" * 3_000  # lines of more than a block


def written(folder: Path, content: str | bytes, name: str = "x.csv") -> Path:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


def everywhere(file: Path, columns: str = "") -> list[np.ndarray]:
    """The rows in memory, and those of blocks."""
    words = tuple(columns.split(",")) if columns else ()
    return [
        read_rows(ReadOptions(file, words)).x,
        cmeans.open_blocks(file, columns=list(words) or None).read(0, 10**9),
    ]


def refused(file: Path, columns: str = "") -> str:
    """What is said in memory and in blocks, which is the same but for the way to write an
    argument."""
    with pytest.raises(RowsError) as one:
        read_rows(ReadOptions(file, tuple(columns.split(",")) if columns else ()))
    with pytest.raises(RowsError) as other:
        cmeans.open_blocks(file, columns=columns.split(",") if columns else None)
    first = str(one.value).replace("--encoding", "encoding").partition("--columns")[0]
    assert first == str(other.value).partition("columns=")[0]
    return str(one.value)


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (TEXT.replace("\n", "\r"), ""),
        (TEXT.replace("\n", "\r").rstrip("\r"), ""),
        (TEXT.replace("\n", "\r", 2), ""),
        (TEXT.replace("\n", "\r\n", 2), ""),
        ("\ufeff" + TEXT, ""),
        ("\ufeff \n\r\n" + TEXT, ""),
        (" \r\n\t\n" + TEXT, ""),
        (TEXT.replace("a,b", '"a, b",b'), ""),
        (TEXT.replace(",", ";").replace("a;b", '"a, x, y";"b, x"'), ""),
        (TEXT.replace("a,b", '"a\nb","c\r\nd"'), ""),
        ("t,a,b\n" + "".join(f'"x\n{a},{b},9",{a},{b}\n' for a, b in ROWS), "a,b"),
        ("t,a,b\r" + "".join(f'"{"t" * 140_000}",{a},{b}\r' for a, b in ROWS), "a,b"),
        ('t,a,b\n5",1,2.5\nx"y,3,4\n"""",5,6\n', "a,b"),
        ("t,a,b\n" + "".join(f"größe,{a},{b}\n" for a, b in ROWS), "a,b"),
    ],
)
def test_the_same_rows(tmp_path: Path, content: str | bytes, columns: str) -> None:
    for x in everywhere(written(tmp_path, content), columns):
        assert x.tolist() == ROWS


NAMED = "größe,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_text_of_other_encodings(tmp_path: Path, encoding: str) -> None:
    assert all(x.tolist() == ROWS for x in everywhere(written(tmp_path, NAMED.encode(encoding))))


def test_windows_1252_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, NAMED.encode("cp1252"))
    with pytest.warns(DataWarning, match="is not UTF-8 and is read as Windows-1252; --encoding"):
        rows = read_rows(ReadOptions(file))
    assert rows.columns == ("größe", "b")
    with pytest.warns(DataWarning), pytest.raises(RowsError, match=r"line 5: .*'ä', no number"):
        cmeans.open_blocks(written(tmp_path, TEXT.encode() + b"1,\xe4\n"))


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_a_single_line(tmp_path: Path, end: str) -> None:
    for x in everywhere(written(tmp_path, f"1,2.5{end}")):
        assert x.tolist() == [[1, 2.5]]
    for x in everywhere(written(tmp_path, f"\n7{end}")):
        assert x.tolist() == [[7]]
    assert refused(written(tmp_path, f"a,b{end}")).endswith("x.csv: has no rows.")


def test_a_single_column_after_empty_lines(tmp_path: Path) -> None:
    for x in everywhere(written(tmp_path, "\n\na\n1\n2")):
        assert x.tolist() == [[1], [2]]


def test_truths_that_turn_out_to_be_numbers(tmp_path: Path) -> None:
    """A column is taken for what its first lines hold; later ones may hold the other kind."""
    text = "a,b\n" + "true,1\n" * 60 + "0.5,true\n" + "False,0\n" * 60
    for x in everywhere(written(tmp_path, text)):
        assert x.tolist() == [[1, 1]] * 60 + [[0.5, 1]] + [[0, 0]] * 60


def test_names_alone_are_a_file_of_no_rows(tmp_path: Path) -> None:
    files = [
        written(tmp_path, TEXT, "1.csv"),
        written(tmp_path, "a,b", "2.csv"),
        written(tmp_path, TEXT, "3.csv"),
    ]
    assert cmeans.open_blocks(files).read(0, 10).tolist() == ROWS + ROWS


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is parsed in pieces of 128 KiB."""
    monkeypatch.setattr("cmeans.data.files.csv._PIECE", 1 << 17)


@pytest.mark.usefixtures("small_pieces")
def test_line_breaks_in_quotes_at_the_ends_of_blocks(tmp_path: Path) -> None:
    n = 20_000
    file = written(
        tmp_path, "a,t,b\n" + "".join(f'{a},"words\nand {a}",{a % 7}\n' for a in range(n))
    )
    assert file.stat().st_size > 3 << 17
    for x in everywhere(file, "a,b"):
        assert np.array_equal(x, np.column_stack([np.arange(n), np.arange(n) % 7]))


@pytest.mark.usefixtures("small_pieces")
def test_a_quote_that_is_open_over_several_blocks(tmp_path: Path) -> None:
    long = "1,2,3\n" * 45_000
    file = written(tmp_path, f'a,t,b\n1,"x\n{long}",2\n' + "3,,4\n" * 50 + f'5,"{long}",6\n7,",",8')
    assert file.stat().st_size > 4 << 17
    for x in everywhere(file, "a,b"):
        assert x.tolist() == [[1, 2], *[[3, 4]] * 50, [5, 6], [7, 8]]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(("name", "text"), [(200_000, 1), (1, 200_000)])
def test_lines_longer_than_blocks(tmp_path: Path, name: int, text: int) -> None:
    """As those of a hundred thousand columns are."""
    file = written(
        tmp_path, f"{'t' * name},a,b\n" + "".join(f"{'t' * text},{a},{b}\n" for a, b in ROWS)
    )
    for x in everywhere(file, "a,b"):
        assert x.tolist() == ROWS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "grö\x81e,b\n1,2\n".encode("latin1"),
            "is not text in UTF-8 (byte 0xF6 at place 3 of line 1); --encoding says in what it is.",
        ),
        (
            "\r\rä\x81,b\r1,2\r".encode("latin1"),
            "is not text in UTF-8 (byte 0xE4 at place 1 of line 3); --encoding says in what it is.",
        ),
        (
            TEXT.encode() + b"1,\xe4\x81\n",
            "line 5: column 'b' is not text in UTF-8 (byte 0xE4).",
        ),
        (
            TEXT.encode() + LONG.encode() + b"\xe4\x811,2\n",
            "line 3005: column 'a' is not text in UTF-8 (byte 0xE4).",
        ),
        (TEXT + "\0" * 300, "line 5: has 1 field where 2 belong."),
        (TEXT + "1,\0002\n", "line 5: column 'b' holds '\\x002', no number."),
        (TEXT + "1\n", "line 5: has 1 field where 2 belong."),
        (TEXT.replace("\n", "\r") + "1,2,3\r", "line 5: has 3 fields where 2 belong."),
        (TEXT + '"1\n1,2\n', "line 5: has a quote that is not closed."),
        ('a,"b\n' + "1,2\n" * 30 + '5,"6\n7,8\n', "the first line has a quote that is not closed."),
        ('a,"t\n' + TEXT * 3, "the first line has a quote that is not closed."),
        (TEXT + '1,"2\n' + 3 * LONG, "line 5: has a quote that is not closed."),
        (TEXT + LONG + "7,8.x\n", "line 3005: column 'b' holds '8.x', no number."),
        (TEXT + LONG + "7,8,9\n", "line 3005: has 3 fields where 2 belong."),
        (
            gzip.compress(TEXT.encode(), mtime=0),
            f"is packed by gzip; unpack it first (zcat FILE > NEW), {RENAMED.format('.gz')}.",
        ),
        (
            bz2.compress(TEXT.encode()),
            f"is packed by bz2; unpack it first (bzcat FILE > NEW), {RENAMED.format('.bz2')}.",
        ),
        (lzma.compress(TEXT.encode()), "is packed by xz; unpack it first (xzcat FILE > NEW)."),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, content: str | bytes, message: str) -> None:
    file = written(tmp_path, content)
    assert refused(file) == f"{file}: {message}"


def test_a_first_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cmeans.data.files.csv.LONGEST", 1 << 20)
    assert refused(written(tmp_path, "7" * (3 << 20))).endswith(
        "x.csv: the first line is longer than 1 MiB; it is no CSV."
    )


@pytest.mark.parametrize("read", [lambda file: read_rows(ReadOptions(file)), cmeans.open_blocks])
def test_a_file_that_grows_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
) -> None:
    """Its last line may have come in half."""
    file, opened = written(tmp_path, TEXT), pyarrow.input_stream
    calls = []

    def input_stream(*words: object, **more: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            with file.open("a") as more_rows:
                more_rows.write("7,1")  # of 7,12
        return opened(*words, **more)

    monkeypatch.setattr("pyarrow.input_stream", input_stream)
    with pytest.raises(
        RowsError, match=r"x\.csv: changed \(or disappeared\) while it was being read"
    ):
        read(file)


class TestFolders:
    def test_links_are_followed(self, tmp_path: Path) -> None:
        x = np.arange(12.0).reshape(6, 2)
        parquet(tmp_path / "away", x[4:], "2.parquet")
        parquet(tmp_path / "rows", x[:4], "1.parquet")
        (tmp_path / "rows" / "2").symlink_to(tmp_path / "away")
        (tmp_path / "rows" / "3").symlink_to(tmp_path / "rows")  # would go on for ever
        assert np.array_equal(cmeans.open_blocks(tmp_path / "rows").read(0, 10), x)

    def test_what_is_no_file_is_not_left_out_silently(self, tmp_path: Path) -> None:
        pq.write_table(table(np.eye(3)), tmp_path / "1.parquet")
        (tmp_path / "2.parquet").symlink_to(tmp_path / "nowhere.parquet")
        with pytest.raises(RowsError, match=r"2\.parquet: no such file"):
            cmeans.open_blocks(tmp_path)
        (tmp_path / "2.parquet").unlink()
        (tmp_path / "notes").symlink_to(tmp_path / "nowhere")
        assert len(cmeans.open_blocks(tmp_path)) == 3
