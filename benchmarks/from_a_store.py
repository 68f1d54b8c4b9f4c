"""Sweeps over rows in an object store on this machine beside the same file on the local disk.

    python -m benchmarks.from_a_store [--rows N] [--rounds R] [--delay MS]

A server of the tests' own answers as S3 does, in a process of its own; the file is Parquet, N x 16
float32. Seconds of a fit of three sweeps by two threads, in turns, and processor seconds of the
process that fits and of the server, for each fit. `--delay`: how long the server waits before each
answer, as a store far away does. Wanted: at most 1.2 times the local disk's time for 10^7 rows.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cmeans

COLUMNS, PART, SWEEPS = 16, 10**6, 3
SERVER = """
import mmap, sys, time
sys.path.insert(0, "tests")
from object_server import Answer, serving
ask = Answer.do_GET
def late(self):
    time.sleep(float(sys.argv[2]) / 1e3)
    ask(self)
Answer.do_GET = late
with serving() as one, open(sys.argv[1], "rb") as file:
    whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    one.objects["bucket/rows.parquet"] = memoryview(whole)  # parts of which are no copies
    print(one.host, flush=True)
    begun = time.process_time()
    for _ in sys.stdin:
        print(time.process_time() - begun, len(one.asked), flush=True)
        one.asked.clear()
"""


def write(file: Path, n_rows: int) -> None:
    """Write rows in groups of so many that several are read at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"x{number}" for number in range(COLUMNS)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pq.ParquetWriter(file, schema, use_dictionary=False) as writer:
        for start in range(0, n_rows, PART):
            rows = rng.normal(size=(min(PART, n_rows - start), COLUMNS)).astype(np.float32)
            table = pa.table(list(rows.T.copy()), schema=schema)
            writer.write_table(table, row_group_size=100_000)


def seconds(rows: Any) -> tuple[float, float]:
    """Return the seconds of a fit of some sweeps, and those of its processors."""
    begun, worked = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cmeans.FuzzyCMeans(
            8,
            kernel="linear",
            init=np.random.default_rng(1).normal(size=(8, COLUMNS)),
            max_iter=SWEEPS,
            tol=0.0,
            search=None,
            n_jobs=2,
        ).fit(rows)
    return time.perf_counter() - begun, time.process_time() - worked


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rows", type=int, default=10**7)
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--delay", type=float, default=0.0)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        write(file, given.rows)
        command = [sys.executable, "-c", SERVER, str(file), str(given.delay)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            host = server.stdout.readline().strip()
            options = {"access_key": "KEY", "secret_key": "SECRET", "region": "us-east-1"}
            options |= {"endpoint_override": host, "scheme": "http"}
            found: dict[str, list[tuple[float, float]]] = {"local disk": [], "store": []}
            seconds(file)  # the first is slower, as code is loaded
            for _ in range(given.rounds):
                found["local disk"].append(seconds(file))
                # one of its own for each fit, as an address keeps what it has fetched
                address = cmeans.Address("s3://bucket/rows.parquet", options)
                found["store"].append(seconds(address))
            server.stdin.write("\n")
            server.stdin.flush()
            served, asked = map(float, server.stdout.readline().split())
            server.communicate()
    sys.stdout.write(f"{given.rows:,} x {COLUMNS} float32, {file.name}, {SWEEPS} sweeps\n")
    middle = {name: np.median(pairs, axis=0) for name, pairs in found.items()}
    for name, (wall, worked) in middle.items():
        sys.stdout.write(f"{name:>11} {wall:7.2f} s, of processors {worked:7.2f} s\n")
    sys.stdout.write(
        f"     server {asked / given.rounds:7.0f} requests of a fit, of processors "
        f"{served / given.rounds:7.2f} s\n"
    )
    ratios = [there[0] / here[0] for here, there in zip(*found.values(), strict=True)]
    sys.stdout.write(f"      ratio {statistics.median(ratios):7.2f}\n")


if __name__ == "__main__":
    main()
