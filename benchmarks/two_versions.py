"""Two versions of cmeans side by side: the time of this checkout over that of another, for every
fit of `every_size`.

    python -m benchmarks.two_versions OTHER [--pairs N] [--only WORD] [--sizes N ...]

Each version has a process of its own for a line of work, and the two take turns over the same rows,
start and sweeps, so that a machine that slows down slows both. The other version is called by the
player of its own checkout, which knows its words, and needs its native library there (`python
hatch_build.py`). A change that should cost nothing has a median of all cells near 1; a cell that
stands out is measured again with more pairs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from .contest import ROOT, Settings, Worker
from .environments import FOLDER, UnavailableError
from .every_size import LEAST, SIZES, Line, lines
from .harness import DataError
from .players import job as files


def compare(
    line: Line, sizes: list[int], pairs: int, settings: Settings, sources: dict[str, Path]
) -> dict[int, float]:
    """Return by number of rows the median over pairs of this version's time over the other's."""
    folder = settings.scratch / "job"
    workers = {name: Worker(line.own, settings, path) for name, path in sources.items()}
    found: dict[int, float] = {}
    for n in sizes:
        x = line.rows(n)
        if x is None:
            continue
        files.write(folder, line.words, {"x": x, **line.arrays(x, line.words)})
        for worker in workers.values():
            worker.run(folder, 0)
        least = LEAST if n <= 100_000 else 0.0
        ratios = []
        for pair in range(pairs):
            order = list(workers)[:: 1 if pair % 2 else -1]
            seconds = {
                name: workers[name].run(folder, pair, None, least)["seconds"] for name in order
            }
            ratios.append(seconds["this"] / seconds["other"])
        found[n] = statistics.median(ratios)
    for worker in workers.values():
        worker.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "other",
        type=Path,
        metavar="OTHER",
        help="the checkout of the other version",
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORD", help="lines whose name holds WORD")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", default=list(SIZES))
    arguments = parser.parse_args()
    other = arguments.other.resolve()
    if not (other / "benchmarks" / "players" / "worker.py").is_file():
        parser.error(f"{arguments.other} holds no checkout of cmeans")
    sources = {"this": ROOT, "other": other}
    cells: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(
            arguments.pairs, arguments.threads, 300.0, 20.0, None, FOLDER, Path(scratch)
        )
        for line in lines():
            if arguments.only not in line.name:
                continue
            try:
                found = compare(line, arguments.sizes, arguments.pairs, settings, sources)
            except (DataError, UnavailableError) as error:
                print(f"   {line.name}: {error}")
                continue
            print(
                f"   {line.name}: "
                + ", ".join(f"{n:,}: {ratio:.3f}" for n, ratio in found.items()),
                flush=True,
            )
            cells += found.values()
    if cells:
        print(
            f"{len(cells)} cells: median {statistics.median(cells):.3f}, {min(cells):.3f} to "
            f"{max(cells):.3f}"
        )


if __name__ == "__main__":
    main()
