"""Rows larger than memory: akFCM on a folder of Parquet files far larger than its memory budget.

    python -m benchmarks.larger_than_memory [--rows 50000000] [--folder DIR] [--out
    docs/larger_than_memory.md]

Generates the folder (deleted afterwards), clusters it under `memory_budget="1GB"` in a process of
its own whose peak resident memory is measured, writes labels and the two largest memberships of
every row, and compares a prefix of a tenth of the rows fitted from its files and from memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .harness import machine
from .template import render

D, C, S = 16, 10, 200
FILE_ROWS, GROUP_ROWS = 1_000_000, 131_072
BUDGET = "1GB"
CHILD = """
import json, sys
from pathlib import Path
from time import perf_counter
import cmeans
words = json.loads(sys.argv[1])

def peak():
    # what getrusage tells is the parent's until it is exceeded
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

at_start = peak()
began = perf_counter()
rows = cmeans.open_blocks(words["folder"])
opened = perf_counter()
model = cmeans.FuzzyCMeans(
    words["c"],
    m=words["m"],
    kernel="rbf",
    landmarks=words["s"],
    random_state=0,
    engine=cmeans.ThreadEngine(memory_budget=words["budget"]),
)
counts = model.fit_predict_to(rows, words["labels"], top_k=2)
done = perf_counter()
print(json.dumps({
    "rows": len(rows), "gigabytes": rows.nbytes / 1e9,
    "open_seconds": opened - began, "fit_seconds": done - opened,
    "sweeps": model.n_iter_, "row_visits": model.row_visits_, "written": int(counts.sum()),
    "peak_at_start": at_start, "peak_in_all": peak(), "objective": model.objective_,
    "reason": model.stop_reason_, "approximation": str(model.approximation_),
}))
"""


def generate(folder: Path, n_rows: int) -> None:
    """Ten Gaussian clusters of unequal weight and width in 16 dimensions, float32, in files of a
    million rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    centres, widths = (
        3.0 * rng.normal(size=(C, D)).astype(np.float32),
        rng.uniform(0.7, 1.5, C).astype(np.float32),
    )
    shares = rng.dirichlet(np.full(C, 5.0))
    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        n = min(FILE_ROWS, n_rows - start)
        which = rng.choice(C, n, p=shares)
        x = rng.standard_normal((n, D), dtype=np.float32) * widths[which, None] + centres[which]
        table = pa.table({f"x{j}": np.ascontiguousarray(x[:, j]) for j in range(D)})
        pq.write_table(
            table,
            folder / f"part-{number:04}.parquet",
            row_group_size=GROUP_ROWS,
            use_dictionary=False,
            compression="none",
        )


def in_process_of_its_own(words: dict[str, object]) -> dict[str, object]:
    """What the child says of itself."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, json.dumps(words)],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise SystemExit(run.stderr)
    said: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return said


def prefix_both_ways(folder: Path, n_rows: int) -> dict[str, object]:
    """The first files, from where they are and from memory."""
    import cmeans

    files = [
        folder / f"part-{number:04}.parquet" for number in range(max(1, n_rows // FILE_ROWS // 10))
    ]
    rows = cmeans.open_blocks(files)
    x = rows.read(0, len(rows))
    seconds, models = {}, {}
    for name, source in (("file", rows), ("memory", x)):
        began = perf_counter()
        models[name] = cmeans.FuzzyCMeans(C, m=1.7, kernel="rbf", landmarks=S, random_state=0).fit(
            source
        )
        seconds[name] = perf_counter() - began
    return {
        "rows": len(rows),
        "seconds": seconds,
        "relative_difference": abs(models["file"].objective_ / models["memory"].objective_ - 1),
        "labels_that_differ": int((models["file"].labels_ != models["memory"].labels_).sum()),
    }


def main() -> None:
    told = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    told.add_argument("--rows", type=int, default=50_000_000)
    told.add_argument(
        "--folder",
        type=Path,
        default=None,
        help="where the rows and scratch go; default: the temporary folder",
    )
    told.add_argument("--out", type=Path, default=None, help="a Markdown file for the figures")
    words = told.parse_args()
    place = Path(tempfile.mkdtemp(prefix="cmeans-rows-", dir=words.folder))
    os.environ["TMPDIR"] = str(place)
    tempfile.tempdir = None
    try:
        (place / "rows").mkdir()
        began = perf_counter()
        generate(place / "rows", words.rows)
        print(f"generated {words.rows:,} rows in {perf_counter() - began:.0f} s", file=sys.stderr)
        told_child = {
            "folder": str(place / "rows"),
            "c": C,
            "s": S,
            "m": 1.7,
            "budget": BUDGET,
            "labels": str(place / "labels.parquet"),
        }
        figures: dict[str, Any] = {
            "whole": in_process_of_its_own(told_child),
            "prefix": prefix_both_ways(place / "rows", words.rows),
        }
    finally:
        shutil.rmtree(place, ignore_errors=True)
    whole = figures["whole"]
    whole["machine"] = machine(2)
    whole["row_visits_per_second"] = whole["row_visits"] / whole["fit_seconds"]
    print(json.dumps(figures, indent=1))
    if words.out is not None:
        sizes = {"d": D, "c": C, "s": S, "group_rows": GROUP_ROWS, "budget": BUDGET}
        words.out.write_text(
            render("larger_than_memory.md", {**figures, **sizes}), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
