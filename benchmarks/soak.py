"""A soak: a fit of 10^9 simulated rows with a checkpoint and a stream of 10^8, each killed ten
times on its way.

    python -m benchmarks.soak [--rows 1000000000] [--stream-rows 100000000] [--kills 10] [--folder
    DIR] [--out soak.json]

Rows are made by their numbers as they are read, so that none is stored. Each job runs once to its
end, in a process of its own, and once in processes that are killed (SIGKILL) at random moments and
go on from what is kept. Both must end in the same centres and labels, bit for bit. The memory of
all processes is watched: `anonymous` is what they hold of their own, without files that are mapped
(the labels).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import cmeans
from cmeans.data.row_source import RowArray, StoredRows

from .harness import machine, quiet

D, C = 2, 5
MADE = 4096  # rows that are made together, from the number of the first
CHUNK = 100_000  # rows of a stream that are clustered at a time
SAVED = 10  # chunks between two savings of a stream
BUDGET = "400MB"  # of a fit: for its largest sample, labels, and a few of its rows
CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0], [3.0, 10.0]], np.float32)


class Simulated(StoredRows):
    """Rows (n, 2) about five points, made by their numbers."""

    def __init__(self, n_rows: int) -> None:
        super().__init__("rows that are simulated", range(D), np.float32, n_rows)

    def memory(self, n_threads: int) -> int:
        return n_threads * 16 * MADE * D

    def _read(self, start: int, stop: int) -> RowArray:
        stop = min(stop, len(self))
        out = np.empty((max(0, stop - start), D), np.float32)
        for first in range(start - start % MADE, stop, MADE):
            begin, end = max(start, first), min(stop, first + MADE)
            out[begin - start : end - start] = made(first)[begin - first : end - first]
        return out


def made(first: int) -> RowArray:
    """Return rows number first ... first + MADE - 1."""
    rng = np.random.Generator(np.random.Philox(key=[7, first]))
    x = rng.random((MADE, D), np.float32)
    # a triangle of width 2, which has no corners for centres to hang on
    x += rng.random((MADE, D), np.float32)
    x *= 3.0
    x += CENTRES[rng.integers(0, C, MADE, np.uint8)]
    return x


def fit(n_rows: int, folder: Path) -> dict[str, Any]:
    """Fit, from the checkpoint where there is one."""
    file = folder / "fit.checkpoint"
    checkpoint = cmeans.Checkpoint(file, sweeps=1, minutes=None, resume=file.exists())
    model = cmeans.KernelKMeans(
        C,
        kernel="linear",
        random_state=0,
        tol=1e-6,
        engine=cmeans.ThreadEngine(memory_budget=BUDGET, checkpoint=checkpoint),
    )
    model.fit(Simulated(n_rows))
    return {
        "centres": digest(model.cluster_centers_),
        "labels": digest(model.labels_),
        "sweeps": model.n_iter_,
    }


def stream(n_rows: int, folder: Path) -> dict[str, Any]:
    """Take chunk after chunk, from the saved state where there is one."""
    file, rows = folder / "stream.safetensors", Simulated(n_rows)
    model = (
        cmeans.load(file)
        if file.exists()
        else cmeans.StreamingFuzzyCMeans(C, m=1.5, random_state=0)
    )
    done = getattr(model, "n_samples_seen_", 0)
    for number, start in enumerate(range(done, n_rows, CHUNK), 1):
        model.partial_fit(rows.read(start, min(start + CHUNK, n_rows)))
        if number % SAVED == 0:
            cmeans.save(model, file, rows=False)
    return {
        "centres": digest(model.cluster_centers_),
        "labels": digest(model.predict(rows.read(0, CHUNK))),
        "chunks": model.n_chunks_,
    }


def digest(array: np.ndarray) -> str:
    found = hashlib.sha256()
    for start in range(0, len(array), 2**24):
        found.update(np.ascontiguousarray(array[start : start + 2**24]))
    return found.hexdigest()[:16]


JOBS = {"fit": fit, "stream": stream}


def run(job: str, n_rows: int, folder: Path, seconds: float | None = None) -> dict[str, Any]:
    """Run a job in a process of its own, killed after so many seconds; return its result, if it
    came to one, and its memory."""
    folder.mkdir(exist_ok=True)
    words = [
        sys.executable,
        "-m",
        "benchmarks.soak",
        "--job",
        job,
        "--rows",
        str(n_rows),
        "--folder",
        str(folder),
    ]
    begun, most = time.monotonic(), 0
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            time.sleep(0.1)
            most = max(most, anonymous(process.pid))
            if seconds is not None and time.monotonic() - begun > seconds:
                process.send_signal(signal.SIGKILL)
                seconds = None
        assert process.stdout is not None
        said = process.stdout.read()
    if process.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"{job} ends with {process.returncode}")
    result = json.loads(said) if process.returncode == 0 else None
    return {"result": result, "seconds": time.monotonic() - begun, "megabytes": most / 1e6}


def anonymous(pid: int) -> int:
    """Bytes of memory that a process holds of its own."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)


def soak(job: str, n_rows: int, kills: int, folder: Path) -> dict[str, Any]:
    """Run a job undisturbed, and again with kills; return both, and whether they came to the
    same."""
    dice, whole = random.Random(0), run(job, n_rows, folder / f"{job} {n_rows}, whole")
    runs = [
        run(
            job,
            n_rows,
            folder / f"{job} {n_rows}, killed",
            whole["seconds"] * dice.uniform(0.1, 0.6),
        )
        for _ in range(kills)
    ]
    killed = sum(one["result"] is None for one in runs)
    last = run(job, n_rows, folder / f"{job} {n_rows}, killed")
    found = {
        "job": job,
        "rows": n_rows,
        "killed": killed,
        "same": last["result"] == whole["result"],
        **whole["result"],
    }
    of_kills = {"seconds_with_kills": sum(one["seconds"] for one in [*runs, last])}
    megabytes = {
        "megabytes": whole["megabytes"],
        "megabytes_with_kills": max(one["megabytes"] for one in [*runs, last]),
    }
    return {**found, "seconds": whole["seconds"], **of_kills, **megabytes}


def table(lines: list[dict[str, Any]]) -> str:
    """Return the figures as Markdown."""
    head = (
        "| | rows | sweeps or chunks | seconds | killed | seconds in all, with kills | memory, "
        "MB (with kills) | same bits |"
    )
    rows = [
        f"| {line['job']} | {line['rows']:.0e} | {line.get('sweeps', line.get('chunks')):,} | "
        f"{line['seconds']:,.0f} | "
        f"{line['killed']} times | {line['seconds_with_kills']:,.0f} | {line['megabytes']:.0f} "
        f"({line['megabytes_with_kills']:.0f}) | "
        f"{'yes' if line['same'] else 'NO'} |"
        for line in lines
    ]
    return "\n".join([head, "|" + "---|" * 8, *rows])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--stream-rows", type=float, default=1e8)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path, help="also write the figures as JSON")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.job:
        quiet()
        print(json.dumps(JOBS[words.job](int(words.rows), words.folder)))
        return 0
    with tempfile.TemporaryDirectory(dir=words.folder) as place:
        # A tenth of the rows beside all of them shows whether memory grows with them.
        sizes = [
            ("fit", words.rows / 10),
            ("fit", words.rows),
            ("stream", words.stream_rows / 10),
            ("stream", words.stream_rows),
        ]
        lines = list[dict[str, Any]]()
        for job, n_rows in sizes:
            lines.append(soak(job, int(n_rows), words.kills, Path(place)))
            print(json.dumps(lines[-1]), file=sys.stderr, flush=True)
    print(f"{machine(2)}\n\n{table(lines)}")
    if words.out is not None:
        words.out.write_text(json.dumps(lines, indent=1) + "\n")
    return int(not all(line["same"] for line in lines))


if __name__ == "__main__":
    sys.exit(main())
