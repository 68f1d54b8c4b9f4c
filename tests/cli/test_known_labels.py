"""`cmeans fit --known-labels COLUMN` and `--must-link COLUMN|FILE`."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command import Command


@pytest.fixture
def labelled(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> Path:
    """The groups, with the labels of every fifth row, not those that clusters would have by
    themselves, and every third in links."""
    x, groups = blobs
    known = np.where(np.arange(150) % 5 == 0, (groups + 1) % 3, -1)
    group = np.where(np.arange(150) % 3 == 0, groups, -1)
    columns = dict(zip("abcd", x.T, strict=True)) | {
        "known": known,
        "group": group,
        "w": 1.0 + groups,
        "text": [f"t{group}" for group in groups],
    }
    file = tmp_path / "labelled.parquet"
    pq.write_table(pa.table(columns), file)
    return file


@pytest.fixture
def mislabelled(labelled: Path) -> Path:
    """The same with columns in which rows without a label have -2, or nothing."""
    table = pq.read_table(labelled)
    below = np.where(table["known"].to_numpy() < 0, -2, table["known"].to_numpy())
    holes = pa.array([None if number < 0 else int(number) for number in below])
    pq.write_table(
        table.append_column("below", pa.array(below)).append_column("holes", holes), labelled
    )
    return labelled


@pytest.mark.parametrize(
    "words",
    ["", "--method hard", "--method entropy --temperature 0.5", "--weight w", "--columns a,b,c,d"],
)
def test_clusters_take_the_numbers_of_labels(
    cmeans: Command,
    labelled: Path,
    blobs: tuple[np.ndarray, np.ndarray],
    tmp_path: Path,
    words: str,
) -> None:
    out, data = (
        tmp_path / "o",
        [*"abcd"]
        if "--columns" in words
        else [*"abcd", "group"]
        if "w" in words.split()
        else [*"abcd", "group", "w"],
    )
    summary = cmeans(
        "fit",
        labelled,
        "-c",
        3,
        "--known-labels",
        "known",
        "--scale",
        "unit",
        *words.split(),
        "--out",
        out,
    ).summary
    assert (summary["column_names"], summary["known_labels"]) == (data, "known")
    labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
    np.testing.assert_array_equal(labels[::5], ((blobs[1] + 1) % 3)[::5])
    assert (
        cmeans("predict", out / "model.safetensors", labelled, "--out", tmp_path / "p.parquet").code
        == 0
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--known-labels nobody", "--known-labels nobody: .*there is no column 'nobody'"),
        ("--known-labels text", "--known-labels text: holds text; give whole numbers"),
        ("--known-labels a", r"--known-labels a: row 0 is .*; give whole numbers"),
        (
            "--known-labels known --columns a,known",
            "--known-labels: column 'known' is also in --columns; it holds their labels",
        ),
        ("--known-labels w --weight w", "--known-labels w: is --weight too"),
        ("--known-labels known -c 2", r"--known-labels known: row \d+ is 2; labels are 0 \.\.\. 1"),
        (
            "--known-labels known --method two-step",
            "--known-labels known: is for --method hard, --method fuzzy",
        ),
        (
            "--known-labels known --size-min 10",
            r"--size-min 10.0: .*leave out --known-labels and --must-link, or the bounds",
        ),
        (
            "--known-labels below",
            r"--known-labels below: row 1 is -2; labels are 0 \.\.\. 2, or -1 where",
        ),
        (
            "--known-labels holes",
            r"--known-labels holes: row 1 is nan; give whole numbers, -1 where",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    cmeans: Command, mislabelled: Path, tmp_path: Path, words: str, message: str
) -> None:
    clusters = () if "-c" in words.split() else ("-c", 3)
    columns = () if "--columns" in words.split() else ("--columns", "b,c,d")
    ended = cmeans("fit", mislabelled, *clusters, *columns, *words.split(), "--out", tmp_path / "o")
    assert ended.code == 2
    assert re.search(message, ended.err.splitlines()[-1]), ended.err
    assert not (tmp_path / "o" / "summary.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--method hard",
        "--method polynomial_fuzzy",
        "--known-labels known",
        "--memory-budget 100MB",
    ],
)
def test_linked_rows_share_a_cluster(
    cmeans: Command, labelled: Path, tmp_path: Path, words: str
) -> None:
    """By groups in a column, or by pairs in a file."""
    group = pq.read_table(labelled)["group"].to_numpy()
    pairs = [
        [i, j] for label in range(3) for i, j in itertools.pairwise(np.flatnonzero(group == label))
    ]
    np.save(tmp_path / "pairs.npy", np.array(pairs))
    np.savetxt(
        tmp_path / "pairs.csv",
        np.array(pairs),
        fmt="%d",
        delimiter=",",
        header="one,other",
        comments="",
    )
    written = []
    for given in ("group", tmp_path / "pairs.npy", tmp_path / "pairs.csv"):
        out = tmp_path / "o"
        summary = cmeans(
            "fit",
            labelled,
            "-c",
            3,
            "--columns",
            "a,b,c,d",
            "--must-link",
            given,
            *words.split(),
            "--out",
            out,
        ).summary
        assert summary["must_link"] == str(given)
        labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
        assert all(len(set(labels[group == label])) == 1 for label in range(3))
        written.append(labels)
    np.testing.assert_array_equal(written[1], written[0])
    np.testing.assert_array_equal(written[2], written[0])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--must-link nobody",
            "--must-link nobody: .*there is no column 'nobody'.*, nor a file of pairs",
        ),
        (
            "--must-link text",
            "--must-link text: holds text; give whole numbers from 0, -1 for rows in none",
        ),
        ("--must-link a --columns b,c", "--must-link a: holds .*; give whole numbers"),
        (
            "--must-link group --columns a,group",
            "--must-link: column 'group' is also in --columns; it holds their groups",
        ),
        ("--must-link w --weight w", "--must-link w: is --weight too; it holds the groups"),
        ("--must-link below", "--must-link below: holds the group -7"),
        ("--must-link group --method two-step", "--must-link group: is for --method hard"),
        (
            "--must-link FOLDER/beyond.npy",
            r"--must-link .*beyond.npy: names row 150, which does not exist",
        ),
        ("--must-link FOLDER/minus.npy", r"--must-link .*minus.npy: names row -1"),
        ("--must-link FOLDER/three.npy", "--must-link .*three.npy: has 3 columns; give two"),
        (
            "--must-link FOLDER/halves.npy",
            "--must-link .*halves.npy: holds 0.5; give whole numbers",
        ),
        ("--must-link FOLDER/words.csv", "--must-link .*words.csv: "),
        (
            "--must-link group --known-labels other",
            r"--must-link group: joins rows \d+ and \d+, whose --known-labels are",
        ),
        (
            "--must-link group --method hard --size-min 5",
            "leave out --known-labels and --must-link, or the bounds",
        ),
    ],
)
def test_links_that_cannot_be_are_refused(
    cmeans: Command, labelled: Path, tmp_path: Path, words: str, message: str
) -> None:
    table = pq.read_table(labelled)
    below = pa.array(np.where(np.arange(150) == 3, -7, 0))
    pq.write_table(
        table.append_column("below", below).append_column(
            "other", pa.array(np.arange(150) // 3 % 3)
        ),
        labelled,
    )
    for name, pairs in {
        "beyond": [[0, 150]],
        "minus": [[0, -1]],
        "three": [[0, 1, 2]],
        "halves": [[0.5, 1]],
    }.items():
        np.save(tmp_path / f"{name}.npy", np.array(pairs))
    (tmp_path / "words.csv").write_text("one,other\nfirst,second\n", encoding="utf-8")
    columns = () if "--columns" in words or "--weight" in words else ("--columns", "b,c,d")
    given = words.replace("FOLDER", str(tmp_path)).split()
    ended = cmeans("fit", labelled, "-c", 3, *columns, *given, "--out", tmp_path / "o")
    assert ended.code == 2
    assert re.search(message, ended.err.splitlines()[-1]), ended.err
    assert not (tmp_path / "o" / "summary.json").exists()
