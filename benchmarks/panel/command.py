"""The command: what it writes, and the numbers of its summaries."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cmeans
from cmeans.cli import main

from .cases import Words, answers, case, fitted
from .files import as_csv, as_folder, as_parquet, columns
from .rows import SOME, some

# times, texts, places
NOT_TOLD = {"seconds", "version", "warnings", "outputs", "file", "model", "source"}
NOT_TOLD |= {"config", "next"}


def command(*words: object) -> str:
    """What the command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as complaints:
        code = main([*map(str, words)])
    if code:
        raise RuntimeError(f"cmeans {' '.join(map(str, words))}: {complaints.getvalue()}")
    return out.getvalue()


def summary(text: str) -> Words:
    return {name: value for name, value in json.loads(text).items() if name not in NOT_TOLD}


def read(path: Path) -> Any:
    import pyarrow.parquet as pq

    return (
        columns(pq.read_table(path))
        if path.suffix == ".parquet"
        else np.frombuffer(path.read_bytes(), np.uint8)
    )


FITS = {
    "hard": ["--method", "hard", "-c", 4, "--landmarks", 40, "--n-init", 2],
    "two-step": ["--method", "two-step", "-c", 4, "--landmarks", 200],
    "fuzzy": ["-c", 4, "--m", 1.3, "--scale", "unit", "--top-k", 2],
    "fuzzy, float32": [
        "-c",
        4,
        "--kernel",
        "linear",
        "--dtype",
        "float32",
        "--threshold",
        0.2,
        "--scale",
        "standard",
    ],
    "possibilistic": [
        "--method",
        "possibilistic",
        "-c",
        4,
        "--landmarks",
        40,
        "--weight",
        "x3",
        "--columns",
        "0-2",
        "--eta-scale",
        0.05,
    ],
    "probabilistic": ["--method", "probabilistic", "-c", 4, "--landmarks", 40],
    "adaptive": ["--method", "adaptive", "-c", 9],
    "sequential": ["--method", "sequential", "-c", 9],
}


def fit_and_predict(words: list[object]) -> Words:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows").mkdir()
        files = [
            as_parquet(abs(SOME()), folder),
            as_csv(abs(SOME()), folder),
            as_folder(abs(SOME()), folder / "rows"),
        ]
        said: Words = {}
        for file in files if "--weight" in words else files[:1]:
            said[Path(file).name] = {
                "fit": summary(command("fit", file, *words, "--out", folder / "result", "-q")),
                "labels": read(folder / "result" / "labels.parquet"),
            }
        model = folder / "result" / "model.safetensors"
        again = cmeans.load(model)
        said["model"] = fitted(again) | answers(
            again, np.abs(some(SOME()))[:, : again.n_features_in_]
        )
        for out in ("new.parquet", "new.csv", "new.npy"):
            said[f"predict, {out}"] = summary(
                command("predict", model, files[0], "--out", folder / out, "-q")
            )
            said[out] = read(folder / out)
        return said


for name, words in FITS.items():
    case(f"command, fit, {name}", "pyarrow", "typer")(partial(fit_and_predict, words))

STREAMS: dict[str, list[object]] = {
    "landmarks": ["-c", 4],
    "euclidean": ["-c", 4, "--kernel", "linear", "--scale", "standard", "--m", 1.3, "--decay", 0.8],
}


def stream_and_go_on(words: list[object]) -> Words:
    said: Words = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out, state = folder / "labels.csv", folder / "labels.csv.state"
        begun = SOME()[:1300]
        for number, rows in enumerate((begun, np.concatenate([begun, SOME()[2600:]]))):
            file = as_csv(rows, folder)
            more = [
                *words,
                "--chunk-size",
                400,
                "--checkpoint",
                state,
                "--out",
                out,
                "--memberships",
                "-q",
            ]
            said[f"{out.name}, {number}"] = summary(
                command("stream", file, *more, *(["--resume"] if number else []))
            )
        said[out.name] = read(out)
        again = cmeans.load(state)
        return said | {"state": fitted(again) | answers(again, some(SOME()))}


for name, words in STREAMS.items():
    case(f"command, stream, {name}", "pyarrow", "typer")(partial(stream_and_go_on, words))


@case("command, a pipe", "pyarrow", "typer")
def _pipe() -> Words:
    """CSV through the standard input of a process; labels through its standard output."""
    with tempfile.TemporaryDirectory() as name:
        text = Path(as_csv(SOME(), Path(name))).read_bytes()
    words = [
        "-c",
        "from cmeans.cli import main; raise SystemExit(main())",
        "stream",
        "-c",
        "4",
        "--chunk-size",
        "500",
        "-q",
    ]
    ended = subprocess.run([sys.executable, *words], input=text, capture_output=True, check=True)
    return {"labels": np.frombuffer(ended.stdout, np.uint8)}
