"""All benchmarks by one command: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import jobs, many_clusters, page
from .contest import ROOT, Settings, hold
from .environments import FOLDER
from .harness import machine

QUICK_ROWS = 6_000
CONTESTS = (*jobs.CONTESTS, *many_clusters.CONTESTS)
# those that run in a way of their own, and their points
OWN_SCRIPTS = {"roofline": 4, "growth": 9, "every_size": 10, "text": 12}

DESCRIPTION = """\
cmeans beside its peers: the same rows, start and sweeps for all, contestants in turn, medians; and beside what the machine can do.

At most 20 minutes on a quiet machine of two cores, and some minutes more at first, when the peers' environments are made. Needs the
data sets (CMEANS_DATA), pip, and matplotlib for the figure. Points:

"""


def parse() -> argparse.Namespace:
    points = [(contest.name, contest.point, contest.title) for contest in CONTESTS]
    points += [
        ("roofline", 4, "Sweeps and kernel blocks against the machine's rates"),
        ("growth", 9, "Time a row from 10^4 to 10^7 rows"),
    ]
    points += [("every_size", 10, "Every size: fits of 150 to 1,000,000 rows")]
    points += [("text", 12, "Rows of text: CSR rows of 30,000 columns")]
    listed = "\n".join(
        f"   {name:18s}{title}" + (f" (point {point})" if point else "")
        for name, point, title in points
    )
    parser = argparse.ArgumentParser(
        "python -m benchmarks",
        description=DESCRIPTION + listed,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--only", nargs="+", metavar="JOB", help="names, their beginnings, or numbers of points"
    )
    parser.add_argument("--runs", type=int, default=5, help="paired runs; medians of 5 by default")
    parser.add_argument("--threads", type=int, default=2, help="the same for all (2)")
    parser.add_argument("--limit", type=float, default=300, help="seconds a run may take (300)")
    parser.add_argument(
        "--patience",
        type=float,
        default=60,
        help="seconds for all runs of a peer that no wanted ratio needs (60)",
    )
    parser.add_argument(
        "--part",
        default="",
        metavar="WORD",
        help="of every_size: only lines whose name holds WORD, the others as stored",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        metavar="N",
        help="of every_size: only these numbers of rows, the others as stored",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a smoke run: few rows, numbers that mean nothing"
    )
    parser.add_argument(
        "--envs", type=Path, default=FOLDER, help=f"where the peers' environments are ({FOLDER})"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs" / "benchmarks.md",
        help="the page; results go beside it as JSON",
    )
    parser.add_argument(
        "--page", action="store_true", help="only make the page again from the results"
    )
    arguments = parser.parse_args()
    arguments.names = [name for name, point, _ in points if _asked(arguments.only, name, point)]
    if not arguments.names:
        parser.error(f"--only {' '.join(arguments.only)}: no such job")
    return arguments


def _asked(only: list[str] | None, name: str, point: int) -> bool:
    return only is None or any(name.startswith(word) or word == str(point) for word in only)


def main() -> None:
    arguments = parse()
    path = arguments.out.with_suffix(".json")
    if not arguments.page:
        with tempfile.TemporaryDirectory() as scratch:
            settings = Settings(
                runs=arguments.runs,
                threads=arguments.threads,
                limit=arguments.limit,
                patience=arguments.patience,
                quick=QUICK_ROWS if arguments.quick else None,
                environments=arguments.envs.resolve(),
                scratch=Path(scratch),
            )
            part = [
                *(["--only", arguments.part] if arguments.part else []),
                *(["--sizes", *map(str, arguments.sizes)] if arguments.sizes else []),
            ]
            run_all(arguments.names, settings, path, part)
    page.write(json.loads(path.read_text()), arguments.out)
    print(f"\n{arguments.out}")


def run_all(names: list[str], settings: Settings, path: Path, part: list[str]) -> None:
    """Job after job; what is done is kept at once. `part` are options of every_size, which then
    adds to what is stored of it."""
    results = json.loads(path.read_text()) if path.exists() else {}
    contests = {contest.name: contest for contest in CONTESTS}
    for name in names:
        started, here = time.perf_counter(), machine(settings.threads)
        print(f"\n{name}", flush=True)
        stored = results.get(name) if name == "every_size" and part else None
        result = (
            hold(contests[name], settings)
            if name in contests
            else own_script(name, settings, part if name == "every_size" else [], stored)
        )
        took = time.perf_counter() - started + (0.0 if stored is None else stored["took"])
        results[name] = {
            **result,
            "machine": here,
            "runs": settings.runs,
            "quick": settings.quick is not None,
            "took": took,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n")
        for check in result["checks"]:
            print("   " + page.said(check), flush=True)
        print(f"   {took:.0f} s in all", flush=True)


def own_script(name: str, settings: Settings, options: list[str], stored: dict | None) -> dict:
    """A script of ours in a process of its own, with as many threads as the contestants have; it
    may add to what is stored."""
    out = settings.scratch / f"{name}.json"
    if stored is not None:
        out.write_text(json.dumps(stored))
    command = [
        sys.executable,
        "-m",
        f"benchmarks.{name}",
        "--json",
        str(out),
        "--threads",
        str(settings.threads),
    ]
    command += ["--envs", str(settings.environments)] if name == "every_size" else []
    command += [*options, *(["--quick"] if settings.quick else [])]
    subprocess.run(command, check=True, cwd=ROOT, env=settings.variables())
    return {"point": OWN_SCRIPTS[name], **json.loads(out.read_text())}


if __name__ == "__main__":
    main()
