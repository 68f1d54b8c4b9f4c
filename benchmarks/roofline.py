"""Sweeps and kernel blocks against what the machine can do, its rates measured in the same run, in
turn with them.

    python -m benchmarks.roofline [--quick] [--json FILE]

A fuzzy sweep over n x s values that are kept must read them once, 4 n s bytes in float32, and make
two products, 4 n s c operations. It can take no less than the larger of bytes over the parallel
read bandwidth and operations over the rate of a large matrix product (sgemm), both with all
threads. Memberships come on top. Classes are in the manner of asv: `params`, `setup`, `time_...`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, ClassVar

import numpy as np
import threadpoolctl

from cmeans.data.blocks import Block, Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import (
    RBF,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    NormalizedPolynomial,
    Polynomial,
    Sigmoid,
)
from cmeans.rules import Fuzzy
from cmeans.spaces import landmark_space
from cmeans.sweeps.choice import sweep_for
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

from .contest import judged
from .harness import finish, load, unit_interval

ROWS, BASIS, FEATURES = 200_000, 500, 8
# seconds after which the threads of a matrix product have ceased to wait busily for the next
SETTLING = 0.1
SGEMM = 2048  # side of the matrices whose product is the machine's rate
WANTED = {
    2.0: {2: 1.6, 4: 2.0, 8: 2.0, 16: 1.6, 50: 1.6, 164: 1.6},
    1.3: dict.fromkeys((2, 4, 8, 16, 50, 164), 2.5),
}


def read(values: np.ndarray) -> float:
    """Read every number once: the largest, which NumPy finds as fast as memory is read."""
    return float(values.max())


class Machine:
    """Its two rates, with all threads."""

    def __init__(self, threads: int) -> None:
        self._threads, self._pool = threads, ThreadPoolExecutor(threads)
        self._parts = np.array_split(np.ones(ROWS * BASIS, dtype=np.float32), threads)
        self._square = np.random.default_rng(0).standard_normal((SGEMM, SGEMM), dtype=np.float32)
        self._product = np.empty_like(self._square)
        self.rates()

    def rates(self) -> tuple[float, float]:
        """Bytes and operations a second, the best of three each."""
        with threadpoolctl.threadpool_limits(self._threads, "blas"):
            multiplying = min(
                seconds(lambda: np.matmul(self._square, self._square, out=self._product))
                for _ in range(3)
            )
        time.sleep(SETTLING)
        reading = min(seconds(lambda: list(self._pool.map(read, self._parts))) for _ in range(3))
        return 4 * sum(map(len, self._parts)) / reading, 2 * SGEMM**3 / multiplying


@cache
def rows() -> Blocks:
    """Rows whose kernel values will be swept."""
    x = np.random.default_rng(0).standard_normal((ROWS, FEATURES), dtype=np.float32)
    return Blocks(x, np.ones(ROWS))


@cache
def represented() -> RepresentedRows:
    """Their kernel values, kept."""
    blocks = rows()
    return RepresentedRows(
        landmark_space(RBF(1 / 16), blocks.x[:BASIS], None, np.float32), blocks, 10**10
    )


class FuzzySweep:
    """One sweep of fuzzy c-means over kept kernel values."""

    params: ClassVar = ([2, 4, 8, 16, 50, 164], [2.0, 1.3])
    param_names: ClassVar = ["clusters", "m"]
    threads = 2

    def setup(self, clusters: int, m: float) -> None:
        space, rule, self.engine = represented().space, Fuzzy(m), ThreadEngine(self.threads)
        self.engine.__enter__()
        self.problem = Problem(represented(), rule, self.engine)
        self.state = State(
            space.embed(Block(rows().x[BASIS : BASIS + clusters], np.ones(clusters), 0))
        )
        self.sweep = sweep_for(self.problem.rows, rule, clusters)
        self.time_sweep(clusters, m)  # represents the rows

    def teardown(self, clusters: int, m: float) -> None:
        self.engine.__exit__(None, None, None)

    def time_sweep(self, clusters: int, m: float) -> None:
        self.problem.sweep(self.state, self.sweep)


KERNELS: dict[str, Kernel] = {
    "RBF": RBF(1.0),
    "Linear": Linear(),
    "Polynomial": Polynomial(5, 0.01),
    "NormalizedPolynomial": NormalizedPolynomial(5, 0.01),
    "Sigmoid": Sigmoid(0.0045, 0.11),
    "Cosine": Cosine(),
    "Laplacian": Laplacian(0.1),
}


class KernelBlock:
    """Blocks of kernel values of 1,024 rows, and the bare matrix products they contain; one
    thread."""

    params: ClassVar = (["covtype", "mnist"], ["float32", "float64"], list(KERNELS))
    param_names: ClassVar = ["data", "dtype", "kernel"]
    landmarks: ClassVar = {"covtype": 582, "mnist": 1000}
    blocks: ClassVar = {"covtype": 16, "mnist": 2}

    def setup(self, data: str, dtype: str, kernel: str) -> None:
        x = unit(data, dtype)
        s, count = self.landmarks[data], self.blocks[data]
        self.y = np.ascontiguousarray(x[:s])
        self.columns = KERNELS[kernel].prepare(self.y)
        self.rows = [x[s + 1024 * i : s + 1024 * (i + 1)] for i in range(count)]
        self.room = np.empty((1024, s), dtype=dtype)

    def time_block(self, data: str, dtype: str, kernel: str) -> None:
        for x in self.rows:
            self.columns(x, self.room)

    def time_product(self, data: str, dtype: str, kernel: str) -> None:
        for x in self.rows:
            np.matmul(x, self.y.T, out=self.room)


@cache
def unit(data: str, dtype: str) -> np.ndarray:
    """Some rows of a data set, drawn once for all, in [0, 1]."""
    x = load(data)
    return unit_interval(
        x[np.random.default_rng(0).permutation(len(x))[:20_000]], np.dtype(dtype).type
    )


def seconds(function: Callable[..., object], *words: Any) -> float:
    """Time of a call."""
    start = time.perf_counter()
    function(*words)
    return time.perf_counter() - start


def sweeps(rounds: int, threads: int) -> dict[str, Any]:
    """Every sweep, the best of three as the machine's rates are, round by round after the rates of
    that round."""
    FuzzySweep.threads = threads
    machine = Machine(threads)
    cases = [(c, m) for m in FuzzySweep.params[1] for c in FuzzySweep.params[0]]
    ready = {case: FuzzySweep() for case in cases}
    for case, benchmark in ready.items():
        benchmark.setup(*case)
    rates: list[tuple[float, float]] = []
    times: dict[tuple[int, float], list[float]] = {case: [] for case in cases}
    for _ in range(rounds):
        rates.append(machine.rates())
        for case, benchmark in ready.items():
            times[case].append(min(seconds(benchmark.time_sweep, *case) for _ in range(3)))
    for case, benchmark in ready.items():
        benchmark.teardown(*case)
    return sweep_report(np.array(rates), times)


def sweep_report(rates: np.ndarray, times: dict[tuple[int, float], list[float]]) -> dict[str, Any]:
    """The table: time, both bounds, and their ratio, round by round."""
    lines, checks = [], []
    for (c, m), taken in times.items():
        bounds = np.array([4 * ROWS * BASIS, 4 * ROWS * BASIS * c]) / rates  # (rounds, 2) seconds
        ratios = np.array(taken) / bounds.max(axis=1)
        reading, multiplying = np.median(bounds, axis=0) * 1e3
        most = WANTED[m][c]
        check = judged(
            f"fuzzy sweep over {ROWS:,} x {BASIS}, c = {c}, m = {m:g}, over the roofline",
            f"at most {most:g}",
            ratios.tolist(),
            most=most,
        )
        checks.append(check)
        bound = "reading" if reading > multiplying else "product"
        time_ms = statistics.median(taken) * 1e3
        lines.append(
            [
                m,
                c,
                time_ms,
                reading,
                multiplying,
                bound,
                check["value"],
                check["low"],
                check["high"],
                most,
            ]
        )
    columns = [
        "m",
        "c",
        "sweep, ms",
        "reading, ms",
        "products, ms",
        "bound",
        "times the bound",
        "least",
        "most",
        "wanted",
    ]
    bandwidth, product = np.median(rates, axis=0) / 1e9
    caption = (
        f"read bandwidth {bandwidth:.1f} GB/s, sgemm {product:.0f} GFlop/s (medians of "
        f"{len(rates)} rounds)"
    )
    return {"table": {"caption": caption, "columns": columns, "rows": lines}, "checks": checks}


def blocks(rounds: int) -> dict[str, Any]:
    """Every kernel's block beside its product."""
    lines, checks = [], []
    with threadpoolctl.threadpool_limits(1):
        for data in KernelBlock.params[0]:
            for dtype in KernelBlock.params[1]:
                for kernel in KERNELS:
                    benchmark, case = KernelBlock(), (data, dtype, kernel)
                    benchmark.setup(*case)
                    seconds(benchmark.time_block, *case)
                    pairs = [
                        (
                            seconds(benchmark.time_block, *case),
                            seconds(benchmark.time_product, *case),
                        )
                        for _ in range(rounds)
                    ]
                    ratios = [block / product for block, product in pairs]
                    product = (
                        statistics.median(product for _, product in pairs)
                        / len(benchmark.rows)
                        * 1e3
                    )
                    lines.append(
                        [
                            data,
                            benchmark.y.shape[1],
                            len(benchmark.y),
                            dtype,
                            kernel,
                            product,
                            statistics.median(ratios),
                        ]
                    )
                    if case == ("covtype", "float32", "RBF"):
                        text = (
                            "kernel block of covtype, s = 582, float32, over its bare matrix "
                            "product"
                        )
                        checks.append(judged(text, "at most 3", ratios, most=3))
    columns = [
        "data",
        "columns",
        "landmarks",
        "dtype",
        "kernel",
        "product, ms",
        "times the product",
    ]
    caption = "blocks of 1,024 rows against the bare matrix product they contain, one thread"
    return {"table": {"caption": caption, "columns": columns, "rows": lines}, "checks": checks}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    rounds = 2 if arguments.quick else arguments.rounds
    parts = [sweeps(rounds, arguments.threads), blocks(rounds)]
    result = {
        "title": "What the machine can do: sweeps over kept rows, and kernel blocks",
        "tables": [part["table"] for part in parts],
        "checks": [check for part in parts for check in part["checks"]],
    }
    finish(result, arguments.json)


if __name__ == "__main__":
    main()
