"""Recall of a vector index whose cells `cmeans index` makes, beside cells that faiss trains.

Every index holds the same rows, each in the cell that its trainer gave it, and is asked for the ten
nearest rows of the same queries, with more and more cells probed. Recall is read off at equal mean
numbers of scanned rows; the tail is what the most expensive of 100 queries scans there.

    pip install faiss-cpu
    python -m benchmarks.index_recall made mnist --clusters 256
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from cmeans.cli import main as cmeans

from .harness import header, load

NEAREST, QUERIES = 10, 1000
SCANNED = (0.01, 0.02, 0.05, 0.1)  # shares of the rows
WORDS = {
    "flat": ["--search", "flat"],
    "flat, balance 1.2": ["--search", "flat", "--balance", "1.2"],
    "hierarchical": ["--search", "hierarchical"],
    "hierarchical, balance 1.2": ["--search", "hierarchical", "--balance", "1.2"],
}

Cells = tuple[np.ndarray, np.ndarray]  # centroids, and the cell of each row


def made(n: int, columns: int = 64) -> np.ndarray:
    """Rows of 200 groups of very different sizes and widths."""
    rng = np.random.default_rng(0)
    share = rng.pareto(1.0, 200) + 0.05
    y = rng.choice(200, n, p=share / share.sum())
    widths = rng.uniform(0.3, 1.2, 200)
    means = rng.normal(size=(200, columns))
    return (means[y] + widths[y, None] * rng.normal(size=(n, columns))).astype(np.float32)


def by_faiss(x: np.ndarray, count: int) -> Cells:
    """Cells as `IndexIVFFlat` trains them, and the nearest one of each row."""
    import faiss

    quantizer = faiss.IndexFlatL2(x.shape[1])
    faiss.IndexIVFFlat(quantizer, x.shape[1], count).train(x)
    return quantizer.reconstruct_n(0, count), quantizer.search(x, 1)[1][:, 0]


def by_command(x: np.ndarray, count: int, words: list[str]) -> Cells:
    """Cells as faiss reads them from the files of the command."""
    from faiss.contrib.vecs_io import fvecs_read

    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "x.npy", Path(folder) / "out"
        np.save(file, x)
        with redirect_stdout(StringIO()):
            code = cmeans(["index", str(file), "-c", str(count), "--out", str(out), *words])
        assert code == 0
        centroids = np.load(out / "centroids.npy")
        assert (centroids == fvecs_read(str(out / "centroids.fvecs"))).all()
        return centroids, np.load(out / "assignments.npy")


@dataclass
class Curve:
    """What queries scan and find, for growing numbers of probed cells."""

    scanned: np.ndarray  # mean rows
    tail: np.ndarray  # 99 of 100 queries scan no more
    recall: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, cells: Cells, queries: np.ndarray, truth: np.ndarray) -> Curve:
        import faiss

        quantizer = faiss.IndexFlatL2(x.shape[1])
        quantizer.add(cells[0])
        index = faiss.IndexIVFFlat(quantizer, x.shape[1], len(cells[0]))
        numbers, own = np.arange(len(x)), cells[1].astype(np.int64)
        index.add_core(len(x), *map(faiss.swig_ptr, (x, numbers, own)))
        sizes, points, probes = np.bincount(own, minlength=index.nlist), [], 1
        while probes <= index.nlist:
            index.nprobe = probes
            scanned = sizes[quantizer.search(queries, probes)[1]].sum(axis=1)
            found = index.search(queries, NEAREST)[1]
            hits = [len({*a} & {*b}) / NEAREST for a, b in zip(found, truth, strict=True)]
            points.append((scanned.mean(), np.quantile(scanned, 0.99), np.mean(hits)))
            probes += max(1, probes // 5)
        return cls(*np.array(points).T)

    def at(self, rows: float) -> str:
        """Recall, and the tail, where so many rows are scanned on average."""
        if rows < self.scanned[0]:  # by a single probe already
            return "-"
        recall, tail = (np.interp(rows, self.scanned, of) for of in (self.recall, self.tail))
        return f"{recall:.4f} ({tail / rows:.2f})"


def compare(name: str, x: np.ndarray, count: int, most: int) -> None:
    """Print a table of all trainers."""
    import faiss

    x = np.ascontiguousarray(np.random.default_rng(0).permutation(x)[:most], np.float32)
    queries, x = x[:QUERIES], x[QUERIES:]
    flat = faiss.IndexFlatL2(x.shape[1])
    flat.add(x)
    truth = flat.search(queries, NEAREST)[1]
    print(f"\n{name}: {len(x):,} x {x.shape[1]}, {count} cells\n")
    print("| cells of | CPU s | largest | imbalance |", *(f"{s:.1%} |" for s in SCANNED))
    print("|---|---|---|---|" + "---|" * len(SCANNED))
    trainers: dict[str, Callable[[], Cells]] = {"faiss": lambda: by_faiss(x, count)}
    trainers |= {
        word: lambda words=words: by_command(x, count, [*words, "-q"])
        for word, words in WORDS.items()
    }
    for word, train in trainers.items():
        began = time.process_time()
        cells = train()
        seconds, sizes = time.process_time() - began, np.bincount(cells[1], minlength=count)
        curve = Curve.of(x, cells, queries, truth)
        spread = sizes.max() / sizes.mean(), np.square(sizes / sizes.mean()).mean()
        print(f"| {word} | {seconds:.1f} | {spread[0]:.2f} | {spread[1]:.3f} |", end="")
        print(*(f" {curve.at(share * len(x))} |" for share in SCANNED))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=["made"], metavar="made|mnist|...")
    parser.add_argument("--clusters", type=int, default=256)
    parser.add_argument("--limit", type=int, default=20_000 + QUERIES, help="rows with queries")
    options = parser.parse_args()
    print(header())
    by_command(made(1000), 8, ["-q"])  # loads what the command needs, outside the times
    for name in options.names:
        rows = made(options.limit) if name == "made" else load(name)
        compare(name, rows, options.clusters, options.limit)


if __name__ == "__main__":
    main()
