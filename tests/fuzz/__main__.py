"""Run a fuzzer, or rounds of kills: `python -m tests.fuzz model_files --minutes 20`, `python -m
tests.fuzz kills --rounds 100`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz import runner


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", choices=[*runner.FUZZERS, "all", "kills", "faulty"])
    parser.add_argument("--minutes", type=float, default=20.0, help="how long each fuzzer runs")
    parser.add_argument(
        "--first",
        type=int,
        default=1_000_000,
        help="number of the first case; those of the suite begin at 0",
    )
    parser.add_argument("--cases", type=int, help="so many cases at most; 1 shows a find again")
    parser.add_argument("--rounds", type=int, default=100, help="of kills, for each command")
    parser.add_argument("--only", help="kills of one command alone")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.worker:
        first, last, folder = words.worker
        runner.work(words.name, int(first), int(last), Path(folder))
        return 0
    if words.name == "kills":
        from fuzz import kills  # which loads all that the command does

        if words.only not in (None, *kills.COMMANDS):
            parser.error(f"--only {words.only}: one of {', '.join(kills.COMMANDS)}")
        return kills.main(
            words.rounds, words.first, [words.only] if words.only else list(kills.COMMANDS)
        )
    found = False
    for name in runner.FUZZERS if words.name == "all" else [words.name]:
        report = runner.run(name, 60.0 * words.minutes, words.first, words.cases)
        print(f"{name}: {report}", flush=True)
        found |= bool(report.finds)
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
