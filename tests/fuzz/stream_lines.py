"""Lines of a stream that are no rows, rows that are cut between two reads, whatever else comes
through a pipe, and states from anybody.

`cmeans stream` labels the sound rows and counts the others, or refuses the stream in a line. Where
there are no quotes, which lines are sound is found again here, in the plainest way.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import re
from pathlib import Path

import numpy as np

from cmeans.cli import main
from fuzz.mutations import by_hand, changed_bytes, changed_text
from fuzz.readers import WORDS
from fuzz.runner import Case, FoundError

MISSING = {
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "n/a",
}
MISSING |= {"nan", "null"}  # what stands for no number in a CSV, as pyarrow has it
UNITS = "\t\u00a0\u2009\u202f €$£%°"  # and blanks, which may stand around a number
CODES = "EUR|USD|GBP|CHF|"  # of currencies, likewise
BELOW_ZERO = r"^\(([^-()]+)\)$|^([^-()]+)-$"  # as accountants write it
TRUTHS = {"true", "True", "TRUE", "false", "False", "FALSE"}


def lines_of(dice: random.Random, n: int) -> list[str]:
    """Return lines of three numbers; some are no rows."""
    rng = np.random.default_rng(dice.getrandbits(32))
    x = rng.normal(size=(n, 3)) + np.array([[0, 0, 0], [9, 0, 9], [0, 9, 9]])[rng.integers(0, 3, n)]
    lines = [",".join(f"{value:.3f}" for value in row) for row in x]
    for at in range(3, n):
        if dice.random() < 0.1:
            lines[at] = changed_text(
                lines[at], dice, [word for word in WORDS if not {"\n", "\r", '"'} & set(word)]
            )
    return lines


def is_sound(line: str, told: dict[int, str]) -> bool:
    """True of three numbers with commas between them whose squares are finite. `told`: for each
    column that is said to be read as people write numbers, what stands in these beside digits."""
    cells = line.split(",")
    return len(cells) == 3 and all(
        _is_number(_plain(cell, told[at]) if at in told else cell) for at, cell in enumerate(cells)
    )


def _plain(cell: str, beside: str) -> str:
    """Return a number as programs write it."""
    return re.sub(BELOW_ZERO, r"-\1\2", re.sub(beside, "", cell)).replace("\u2212", "-")


def as_told(warnings: list[str]) -> dict[int, str]:
    """Return what warnings say of columns in which all cells of the first lines are numbers, if
    not as programs write them."""
    told = {}
    for text in warnings:
        if column := re.search("column '([abc])': .*, and are read so", text):
            mark = re.search("[\"'](.)[\"'] between thousands", text)
            marks = re.escape(mark[1]) if mark else ""
            told["abc".index(column[1])] = f"{CODES}[{UNITS}{marks}]"
    return told


def _is_number(cell: str) -> bool:
    text = cell.strip(" \t")
    if cell in MISSING or "_" in text or not (text.isascii() and text.isprintable()):
        return False
    try:
        return math.isfinite(float(text) * float(text))
    except ValueError:
        return text in TRUTHS


def prepared(folder: Path) -> Case:
    source, out, summary, state = (
        folder / "rows.csv",
        folder / "labels.csv",
        folder / "summary.json",
        folder / "state",
    )

    whole = "a,b,c\n" + "\n".join(f"{at % 3},{at % 3 * 9},{at / 50}" for at in range(50)) + "\n"
    source.write_text(whole[: len(whole) // 2 + 1])
    begun = [
        "stream",
        str(source),
        "--chunk-size",
        "10",
        "-q",
        "--out",
        str(out),
        "--checkpoint",
        str(state),
    ]
    assert told_by([*begun, "-c", "3"])[0] == 0
    labels, saved = out.read_bytes(), state.read_bytes()

    def resumed(dice: random.Random) -> str:
        """Go on from a state that somebody has changed."""
        source.write_text(whole)
        out.write_bytes(labels)
        state.write_bytes(by_hand(saved, dice, folder / "scratch"))
        code, said, told = told_by([*begun, "--resume"])
        refuse_faults(code, said, told)
        return "went on" if code == 0 else "refused"

    def case(dice: random.Random) -> str:
        if dice.random() < 0.3:
            return resumed(dice)
        for file in (out, summary, state):
            file.unlink(missing_ok=True)
        n = dice.choice((0, 3, 12, 40, 90))
        lines = lines_of(dice, n)
        known = dice.random() < 0.7
        text = ("a,b,c\n" + "\n".join(lines) + dice.choice(("", "\n"))).encode()
        data = (
            text
            if known
            else changed_bytes(changed_text(text.decode(), dice, WORDS).encode(), dice)
        )
        source.write_bytes(data)
        words = [
            "stream",
            str(source),
            "-c",
            "3",
            "--kernel",
            "linear",
            "--chunk-size",
            str(dice.choice((3, 7, 30, 5000))),
            "-q",
        ]
        words += [
            "--out",
            str(out),
            "--summary",
            str(summary),
            "--checkpoint",
            str(state),
            "--max-errors",
            str(dice.choice((0, 1000))),
        ]
        return outcome(*told_by(words), lines if known else None, out, summary)

    return case


def told_by(words: list[str]) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it wrote."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as said,
        contextlib.redirect_stderr(io.StringIO()) as told,
    ):
        return main(words), said.getvalue(), told.getvalue()


def refuse_faults(code: int, said: str, told: str) -> None:
    """Raise where a command ends otherwise than it may."""
    if code not in (0, 2) or "Traceback" in told or "fault of cmeans" in told:
        raise FoundError(f"ends with {code}: {told}")
    if not all(line.isprintable() for line in (said + told).split("\n")):
        raise FoundError(f"control characters: {told!r}")


def outcome(
    code: int, said: str, told: str, lines: list[str] | None, out: Path, summary: Path
) -> str:
    """Return what came of a stream, whose lines may be known; raise where that is not as it must
    be."""
    refuse_faults(code, said, told)
    if code == 2:
        return "refused"
    counts = json.loads(summary.read_text())
    labels = out.read_text().splitlines()[1:] if out.exists() else []
    if lines is not None:
        filled = [line for line in lines if line]
        told = as_told(counts["warnings"])
        numbers = [number for number, line in enumerate(filled) if is_sound(line, told)]
        if [int(label.partition(",")[0]) for label in labels] != numbers:
            raise FoundError(f"labels of rows {labels}, where {numbers} are sound of {filled}")
    if (
        counts["rows_clustered"] != len(labels)
        or counts["rows"] != counts["rows_clustered"] + counts["rows_malformed"]
    ):
        raise FoundError(f"counts {counts['rows']} rows, and labels {len(labels)}")
    return "labelled"
