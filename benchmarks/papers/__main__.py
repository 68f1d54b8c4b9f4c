"""All papers by one command: `python -m benchmarks.papers`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from ..harness import quiet
from . import NAMES, __doc__, index, paper
from .paper import Paper, Run
from .results import Results

ROOT = Path(__file__).resolve().parents[2]
QUICK = Path(tempfile.gettempdir()) / "cmeans-papers"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "papers",
        nargs="*",
        default=["all"],
        metavar="PAPER",
        help=", ".join(NAMES) + ", or all (the default)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="reduced sizes: numbers that mean little, in under two minutes",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="also the exact runs on 70,000 rows: an hour or more, and 12 GB of memory",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="the folder of NAME.npz files (CMEANS_DATA)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"for pages, figures and results: docs/papers; with --quick {QUICK}",
    )
    fresh = (
        'forget results whose key begins so ("" = all); those that only --exact measures are '
        "kept without it"
    )
    parser.add_argument("--fresh", metavar="KEY", action="append", default=[], help=fresh)
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    parser.add_argument(
        "--check",
        action="store_true",
        help="measure and write nothing; say which pages are not what the results give",
    )
    parsed = parser.parse_args(arguments)
    unknown = [name for name in parsed.papers if name not in (*NAMES, "all")]
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such paper; there are {', '.join(NAMES)}, all")
    parsed.papers = list(NAMES) if "all" in parsed.papers else parsed.papers
    parsed.out = parsed.out or (QUICK if parsed.quick else ROOT / "docs" / "papers")
    return parsed


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.data is not None:
        os.environ["CMEANS_DATA"] = str(options.data.resolve())
    if options.check:
        return check(options.out)
    quiet()
    for name in options.papers:
        started, one = time.perf_counter(), paper(name)
        print(f"\n{name}: {one.title}", flush=True)
        results = Results(options.out / f"{name}.json")
        for beginning in options.fresh:
            one.forget(results, beginning, exact=options.exact)
        if not options.pages:
            one.measure(
                Run(
                    results,
                    quick=options.quick,
                    exact=options.exact,
                    exact_folder=options.out / "exact",
                )
            )
        write(one, results, options.out)
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    index.write(options.out)
    print(f"\n{options.out / 'index.md'}")
    return 0


def write(one: Paper, results: Results, folder: Path) -> None:
    cells = results.read()
    one.draw(cells, folder)
    (folder / f"{one.name}.md").write_text(one.page(cells))


def check(folder: Path) -> int:
    """0 if each page is what its stored results give."""
    texts = {name: paper(name).page(Results(folder / f"{name}.json").read()) for name in NAMES}
    texts["index"] = index.page(folder)
    stale = [
        name
        for name, text in texts.items()
        if not (folder / f"{name}.md").exists() or (folder / f"{name}.md").read_text() != text
    ]
    for name in stale:
        print(
            f"{folder / name}.md is not what {name}.json gives: python -m benchmarks.papers {name} "
            "--pages",
            file=sys.stderr,
        )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
