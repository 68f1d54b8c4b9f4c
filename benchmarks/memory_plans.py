"""Plans beside peaks: `model.plan(X).memory`, and what a fit in a process of its own takes at most.

    python -m benchmarks.memory_plans [--only NAME ...] [--out docs/memory_plans.md]

What counts is resident memory beside the process before the fit, with the rows that it was given;
of memory maps the pages that the system keeps of their file do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .harness import machine
from .players.worker import resident, settled

DRAWN = 10_000  # rows that are made at a time
LEAST = 200_000_000  # bytes of a plan from which on half of it must be taken
LINEAR: dict[str, Any] = {"kernel": "linear", "max_iter": 3}
LANDMARKS: dict[str, Any] = {"kernel": "rbf", "landmarks": 500, "max_iter": 3}


@dataclass(frozen=True)
class Case:
    """A fit of made rows: its estimator, what these are like, and two sizes of them."""

    estimator: str
    words: dict[str, Any]
    kind: str  # "array", "CSR", "memory map", "npy" or "Parquet"
    sizes: tuple[tuple[int, int], ...]  # rows and columns
    dtype: str = "float64"
    stored: int = 60  # values of a sparse row
    budget: str | None = None
    weighted: bool = False
    labels: dict[str, str] = field(default_factory=dict)


def case(estimator: str, kind: str, *sizes: tuple[int, int], **words: Any) -> Case:
    own = {name: words.pop(name) for name in ("dtype", "stored", "budget") if name in words}
    return Case(estimator, words, kind, sizes, **own)


FOUND: dict[str, Any] = {"max_iter": 3, "n_clusters": (1, 4)}
MANY = {**LINEAR, "n_clusters": 100}
CASES = (
    case("KernelKMeans", "array", (3_000_000, 20), (400_000, 300), **LINEAR, n_clusters=20),
    case("KernelKMeans", "array", (100_000, 20), (250_000, 20), **LANDMARKS, n_clusters=20),
    case("KernelKMeans", "array", (5_000, 20), (8_000, 20), **LANDMARKS | {"landmarks": None}),
    case("KernelKMeans", "CSR", (40_000, 60_000), (40_000, 120_000), **LINEAR, n_clusters=20),
    case("KernelKMeans", "memory map", (3_000_000, 20), (400_000, 300), **LINEAR, n_clusters=20),
    case("KernelKMeans", "npy", (200_000, 200), (300_000, 300), **LINEAR, n_clusters=20),
    case("KernelKMeans", "Parquet", (200_000, 200), (300_000, 300), **LINEAR, n_clusters=20),
    case("FuzzyCMeans", "array", (300_000, 10), (600_000, 20), **MANY),
    case("FuzzyCMeans", "array", (600_000, 10), (900_000, 20), **MANY, dtype="float32"),
    case("FuzzyCMeans", "array", (20_000, 2_000), (20_000, 4_000), **LINEAR, n_clusters=10),
    case("FuzzyCMeans", "CSR", (40_000, 60_000), (40_000, 120_000), **LINEAR, n_clusters=20),
    case("FuzzyCMeans", "Parquet", (200_000, 200), (400_000, 200), **LANDMARKS, n_clusters=20),
    case("PossibilisticCMeans", "array", (300_000, 10), (600_000, 20), **MANY),
    case("CMeans", "array", (300_000, 10), (600_000, 20), **MANY, rule="entropy"),
    case("AdaptivePossibilisticCMeans", "array", (700_000, 40), (1_200_000, 40), **FOUND),
    case("SequentialPossibilisticCMeans", "array", (700_000, 40), (1_200_000, 40), **FOUND),
    case("ProbabilisticKMeans", "array", (400_000, 10), (800_000, 20), **LINEAR, n_clusters=20),
    case("TwoStepKernelKMeans", "array", (8_000_000, 5), (12_000_000, 5), **LANDMARKS),
    case("StreamingFuzzyCMeans", "array", (300_000, 10), (600_000, 20), **MANY),
    case("KernelPatchClustering", "array", (300_000, 10), (600_000, 20), **MANY),
)


@contextlib.contextmanager
def rows_of(given: dict[str, Any], folder: Path) -> Iterator[Any]:
    """Provide made rows of some kind; those of files are made a few at a time."""
    rng = np.random.default_rng(0)
    (n, d), kind, dtype = given["size"], given["kind"], np.dtype(given["dtype"])

    def parts() -> Iterator[np.ndarray]:
        for start in range(0, n, DRAWN):
            count = min(DRAWN, n - start)
            yield (rng.normal(size=(count, d)) + rng.integers(10, size=(count, 1))).astype(dtype)

    if kind == "CSR":
        yield sparse_rows(rng, n, d, given["stored"], dtype)
    elif kind == "array":
        x, start = np.empty((n, d), dtype), 0
        for part in parts():
            x[start : start + len(part)] = part
            start += len(part)
        yield x
    elif kind == "Parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = [f"x{j}" for j in range(d)]
        schema = pa.schema([(name, pa.from_numpy_dtype(dtype)) for name in names])
        with pq.ParquetWriter(folder / "x.parquet", schema) as writer:
            for part in parts():
                columns = [np.ascontiguousarray(column) for column in part.T]
                writer.write_table(pa.table(columns, schema=schema))
        yield str(folder / "x.parquet")
    else:
        file = np.lib.format.open_memmap(folder / "x.npy", "w+", dtype, (n, d))
        start = 0
        for part in parts():
            file[start : start + len(part)] = part
            start += len(part)
        file.flush()
        del file
        name = str(folder / "x.npy")
        yield np.load(name, mmap_mode="r") if kind == "memory map" else name


def sparse_rows(rng: np.random.Generator, n: int, d: int, stored: int, dtype: Any) -> Any:
    """Return CSR rows of so many stored values, in few distinct columns for each of ten groups."""
    from scipy import sparse

    columns = rng.integers(d // 10, size=(n, stored), dtype=np.int32)
    columns += (d // 10) * rng.integers(10, size=(n, 1), dtype=np.int32)
    columns.sort(axis=1)
    x = sparse.csr_array(
        (
            rng.random(n * stored).astype(dtype),
            columns.ravel(),
            np.arange(0, n * stored + 1, stored, dtype=np.int32),
        ),
        shape=(n, d),
    )
    x.sum_duplicates()
    return x


@contextlib.contextmanager
def most_anonymous(found: list[int]) -> Iterator[None]:
    """Note the most memory that is of no file while the block runs, as often as it can be asked."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            found[0] = max(found[0], resident("RssAnon"))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def child(given: dict[str, Any]) -> dict[str, Any]:
    """Plan and fit, in this process."""
    import cmeans

    engine = cmeans.ThreadEngine(2, memory_budget=given["budget"])
    model = getattr(cmeans, given["estimator"])(**given["words"], random_state=0, engine=engine)
    with tempfile.TemporaryDirectory() as folder, rows_of(given, Path(folder)) as x:
        plan = model.plan(x)
        before, anonymous = settled(), [resident("RssAnon")]
        at_first = anonymous[0]
        watching = most_anonymous(anonymous) if given["kind"] == "memory map" else None
        with watching or contextlib.nullcontext(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x)
        peak = anonymous[0] - at_first if watching else resident("VmHWM") - before
    return {
        "plan": plan.memory,
        "peak": peak,
        "passes": plan.passes,
        "visits": plan.row_visits,
        "visited": int(model.row_visits_),
    }


def measured(one: Case, size: tuple[int, int]) -> dict[str, Any]:
    """Plan and fit in a process of its own."""
    given = {**asdict(one), "size": size}
    command = [sys.executable, "-m", "benchmarks.memory_plans", "--child", json.dumps(given)]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[1],
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"{one.estimator}, {one.kind}, {size}: {ended.stderr[-2_000:]}")
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def row_of(one: Case, size: tuple[int, int], found: dict[str, Any]) -> str:
    """A line of the table."""
    words = ", ".join(
        f"{name}={value!r}" for name, value in one.words.items() if name != "max_iter"
    )
    kind = one.kind if one.dtype == "float64" else f"{one.kind}, {one.dtype}"
    return (
        f"| `{one.estimator}` | {words} | {kind} | {size[0]:,} x {size[1]:,} "
        f"| {found['plan'] / 1e6:,.0f} | {found['peak'] / 1e6:,.0f} "
        f"| {found['peak'] / found['plan']:.2f} |"
    )


PAGE = """# Memory: plans beside peaks

`model.plan(X).memory` says how many bytes a fit takes at most, before it begins. Below it stands
beside the largest resident memory that the fit then took in a process of its own, less what the
process held before: libraries, and the rows that were given. A share above 1 would break the
promise; one below .5 of a plan above 200 MB would make it idle. Tests hold both, at each of these
sizes.

| estimator | parameters | rows | shape | plan, MB | peak, MB | share |
|---|---|---|---|---|---|---|
{table}

Three sweeps each, two threads, no `memory_budget`, so that rows are kept as the space sees them
where that pays. CSR rows store 60 values each. Of memory maps the pages that the system keeps of
the file do not count, as it takes them back. `AdaptivePossibilisticCMeans` holds a copy of its rows
in units of its own. Measured on {machine} by `python -m benchmarks.memory_plans`.
"""


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.memory_plans", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="estimators or kinds of rows")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    words = parser.parse_args()
    cpu, lines = machine(2)["cpu"], list[str]()
    if words.child is not None:
        os.environ["OPENBLAS_NUM_THREADS"] = "2"
        sys.stdout.write(json.dumps(child(json.loads(words.child))) + "\n")
        return
    for one in CASES:
        if words.only and not {one.estimator, one.kind} & set(words.only):
            continue
        for size in one.sizes:
            found = measured(one, size)
            lines.append(row_of(one, size, found))
            visits = f" visits {found['visited']:,} of {found['visits']:,}"
            sys.stdout.write(lines[-1] + visits + "\n")
            sys.stdout.flush()
    if words.out is not None:
        words.out.write_text(PAGE.format(table="\n".join(lines), machine=cpu))


if __name__ == "__main__":
    main()
