"""Command lines of all words there are, right and wrong, over files with hostile names and columns.

A command ends well, or with a line and the exit code 2, and leaves nothing half-written; what it
says holds no character that a terminal would obey, and no page or table holds markup that came from
data.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from cmeans.cli import main
from cmeans.cli.commands import app
from fuzz.runner import Case, FoundError

HOSTILE = "<script>x</script>\x1b[31m\n'\"`$(touch owned)`"
WORDS = (
    "0",
    "1",
    "2",
    "3",
    "-1",
    "1e9",
    "0.5",
    "nan",
    "x",
    "",
    "auto",
    "linear",
    "rbf",
    "a,b",
    "a",
    "0-1",
    HOSTILE,
    "../up",
    "-",
    "--",
    "é",
)
# which wait, or show more
NEVER = {"--help", "-h", "--debug", "--follow", "--scheduler", "--engine", "--wait"}
FILES = (
    "rows.npy",
    "rows.csv",
    "rows.parquet",
    "named.parquet",
    "rows.npz",
    "model",
    "text",
    "empty",
    "folder",
    "none",
    HOSTILE + ".csv",
)
OUTPUTS = {
    "--out": ("out", "out.csv", "out.parquet", "out.html", "rows.npy", "none/out"),
    "--checkpoint": ("state", "model", "rows.csv"),
}


def options_of() -> dict[str, dict[str, bool]]:
    """Options of each command, and whether they stand alone."""
    group = typer.main.get_command(app)
    return {
        name: {
            option: bool(getattr(parameter, "is_flag", False))
            for parameter in command.params
            for option in parameter.opts
            if option[0] == "-"
        }
        for name, command in group.commands.items()
    }


def inputs(folder: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 20, axis=0)
    np.save(folder / "rows.npy", x)
    np.savez(folder / "rows.npz", X=x, w=np.ones(60), y=np.arange(60))
    np.savetxt(folder / "rows.csv", x, delimiter=",", header="a,b,c", comments="")
    (folder / (HOSTILE.replace("/", "") + ".csv")).write_bytes((folder / "rows.csv").read_bytes())
    pq.write_table(pa.table(dict(zip("abc", x.T, strict=True))), folder / "rows.parquet")
    names = [HOSTILE, "\x1b]0;title\x07", "=cmd|' /C calc'!A0"]
    pq.write_table(
        pa.table(dict(zip(names, x.T, strict=True)) | {"t": [HOSTILE] * 60}),
        folder / "named.parquet",
    )
    (folder / "text").write_text("words\nand words\n")
    (folder / "empty").touch()
    (folder / "folder").mkdir()
    shutil.copy(folder / "rows.csv", folder / "folder" / "a.csv")


def prepared(folder: Path) -> Case:
    options, home = options_of(), Path.cwd()
    given, work = folder / "given", folder / "work"
    given.mkdir()
    inputs(given)
    said(["fit", str(given / "rows.npy"), "-c", "3", "--out", str(folder / "fitted"), "-q"])
    shutil.copy(folder / "fitted" / "model.safetensors", given / "model")

    def case(dice: random.Random) -> str:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(given, work)
        words = line_of(dice, options)
        os.chdir(work)
        try:
            code, out, err = said(words)
        finally:
            os.chdir(home)
        return outcome(words, code, out, err, work)

    return case


def line_of(dice: random.Random, options: dict[str, dict[str, bool]]) -> list[str]:
    """Return the words of a command."""
    name = dice.choice(sorted(set(options) - {"demo"}))
    words = [
        name,
        *(["model"] if name in ("predict", "report", "info") and dice.random() < 0.9 else []),
    ]
    words += (
        [dice.choice(FILES).replace("/", "")] if name != "info" and dice.random() < 0.95 else []
    )
    words += (
        ["-c", dice.choice(("2", "3", "2-4"))]
        if "-c" in options[name] and dice.random() < 0.9
        else []
    )
    words += ["--refits", "0"] if name == "select" else []
    words += (
        ["--out", dice.choice(OUTPUTS["--out"])]
        if "--out" in options[name] and dice.random() < 0.8
        else []
    )
    known = sorted(set(options[name]) - NEVER)
    for option in dice.sample(known, min(len(known), dice.choice((0, 1, 1, 2, 3, 5)))):
        words.append(option)
        if not options[name][option] or dice.random() < 0.05:
            words.append(dice.choice(OUTPUTS.get(option, WORDS)))
    return words


def said(words: list[str]) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code and what it wrote."""
    written = io.BytesIO()  # labels of a stream go there as bytes
    out = io.TextIOWrapper(written, encoding="utf-8", newline="")
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()) as err,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UserWarning)
        code = main(words)
    out.flush()
    return code, written.getvalue().decode(), err.getvalue()


def outcome(words: list[str], code: int, out: str, err: str, work: Path) -> str:
    if code not in (0, 2) or "Traceback" in err or "a fault of cmeans" in err:
        raise FoundError(f"{words} ends with {code}: {err[-2000:]}")
    for line in (out + err).split("\n"):
        if not line.isprintable():
            raise FoundError(f"{words} says {line!r}")
    if (work / "owned").exists() or list(work.rglob(".cmeans-tmp*")):
        raise FoundError(f"{words} leaves {sorted(path.name for path in work.rglob('*'))}")
    for page in work.rglob("*.html"):
        if page.is_file() and "<script>x</script>" in page.read_text():
            raise FoundError(f"{words} writes a page with somebody's script")
    return "done" if code == 0 else "refused"
