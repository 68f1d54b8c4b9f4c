"""Table II of Zhang & Havens 2013 (stKFCM), measured beside printed, and what else the streams do on its data.

python -m benchmarks.papers.stkfcm                          everything that is missing, then the page and its figures
python -m benchmarks.papers.stkfcm --part table --set 2D15  some of it
python -m benchmarks.papers.stkfcm --part page              the page and the figures from what is stored
python -m benchmarks.papers.stkfcm --part check             the acceptance figures from what is stored
python -m benchmarks.papers.stkfcm --part table --fresh     measured anew

Parts: table (m = 1.7, as printed), auto (m = "auto"), published (one start from random rows, no warm-up), widths, starts, single
(single-pass baselines), weights, orders, exact, times (of the small sets: leave the machine alone), check, page (with figures). Measured
cells are kept in docs/papers/stkfcm.json, and a run goes on where the last one ended. "exact" is KFCM on all of MNIST: 4.9e9 kernel values,
most of them computed in every sweep; it takes an hour or so.

A trial is a random order of the rows and a random_state, the same for all contestants.
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import cmeans

from ..harness import header
from . import stkfcm_extras as extras
from .stkfcm_runs import ALL_ROWS, CASES, PRINTED_M, PUBLISHED, STREAMS, Case, Store, key_of, trial_of

SMALL_TRIALS = 20
EXACT = {"n_init": 1, "max_iter": 30, "memory_budget": "15GB"}  # of KFCM on all of MNIST
LANDMARKED = {"max_iter": 100, "n_init": 1}  # of akFCM
PARTS = ("table", "auto", "published", "widths", "starts", "single", "weights", "orders", "exact", "times", "check", "page")


def measure_table(store: Store, name: str, m: str | float, trials: int, *, published: bool = False) -> None:
    """The cells of one data set; as published: one start from random rows, and the first chunk decides."""
    case = CASES[name]
    whole = "KFCM" if case.small else "akFCM"
    contestants: list[tuple[str, float | None]] = [(whole, None)]
    shares = case.shares[1::2][::-1] + case.shares[::2][::-1]  # every other one first, and cheap ones
    contestants += [(method, share) for methods in (STREAMS[1:], STREAMS[:1]) for share in shares for method in methods]
    for method, share in contestants:
        key = key_of(name, m, method, share, published=published)
        words: dict[str, Any] = {"m": m, **(LANDMARKED if method == "akFCM" else {})}
        if published:
            words |= PUBLISHED | ({"warm_up": 0} if method in ("stKFCM", "landmarks") else {})
        count = 1 if method == "akFCM" else trials
        cell = store.trials(key, count, partial(trial_of, method, case, share, words))
        print(f"{key:50s} ARI {_mean(cell['ari']):.3f} purity {_mean(cell['purity']):.3f} {_mean(cell['seconds']):8.2f} s", flush=True)


def measure_times(store: Store, name: str, runs: int = 5) -> None:
    """Seconds of the small sets by themselves: contestants take turns, the same trials."""
    case = CASES[name]
    whole: list[tuple[str, float | None]] = [(ALL_ROWS, None)]
    for group in (whole, *([(method, share) for method in STREAMS] for share in case.shares)):
        count = 2 if group is whole else runs
        keys = ["times | " + key_of(name, PRINTED_M, method, share) for method, share in group]
        for trial in range(len(store.read().get(keys[-1], {}).get("seconds", [])), count):
            for key, (method, share) in zip(keys, group, strict=True):
                found = trial_of(method, case, share, {"m": PRINTED_M}, trial)
                store.add(key, seconds=[round(found["seconds"], 4)], busy=[round(found["busy"], 4)])
    store.add("machine", times=machine())


def measure_exact(store: Store, name: str, m: str | float) -> None:
    """KFCM on all of MNIST, once."""
    case = CASES[name]
    store.trials(key_of(name, m, "KFCM", None), 1, partial(trial_of, "KFCM", case, None, {"m": m, **EXACT}))


def warm_up() -> None:
    """What is compiled or loaded in a first run is no part of a time."""
    case = CASES["2D15"]
    for method in ("KFCM", *STREAMS):
        trial_of(method, case, 10, {"m": PRINTED_M}, 0)


def machine() -> str:
    """The header of a benchmark; the library names itself where it is not installed."""
    return header().replace("cmeans absent", f"cmeans {cmeans.__version__}")


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _trials(case: Case, arguments: argparse.Namespace) -> int:
    return arguments.trials or (SMALL_TRIALS if case.small else 1)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--set", choices=tuple(CASES), action="append", help="of table, auto and exact")
    parser.add_argument("--trials", type=int, help="20 on the small sets, else 1, unless said otherwise")
    parser.add_argument("--fresh", action="store_true", help="forget what is stored of the parts asked for")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/papers"), metavar="DIR", help="of the page, its figures and the stored results"
    )
    arguments = parser.parse_args()
    parts = arguments.part or PARTS
    store = Store(arguments.out / "stkfcm.json")
    print(machine())
    if arguments.fresh:
        _forget(store, parts, arguments.set)
    if not {"table", "auto", "published"}.isdisjoint(parts):
        warm_up()
    for part in parts:
        started = time.perf_counter()
        _do(part, store, arguments)
        print(f"{part}: {time.perf_counter() - started:.0f} s", flush=True)


def _do(part: str, store: Store, arguments: argparse.Namespace) -> None:
    names = arguments.set or list(CASES)
    if part in ("table", "auto", "published"):
        m, published = ("auto" if part == "auto" else PRINTED_M), part == "published"
        for name in names:
            if (part == "published" and not CASES[name].small) or (part == "table" and "normalised" in name):
                continue
            store.add("machine", **{part: machine()})
            measure_table(store, name, m, _trials(CASES[name], arguments), published=published)
    elif part == "exact":
        measure_exact(store, "MNIST", PRINTED_M)
    elif part == "times":
        warm_up()
        for name in names:
            if CASES[name].small:
                measure_times(store, name)
    elif part in ("page", "check"):
        from . import stkfcm_page as page

        page.print_check(store.read())
        if part == "page":
            page.write(store.read(), arguments.out)
    else:
        by_name = {
            "widths": extras.widths,
            "starts": extras.beginnings,
            "single": extras.baselines,
            "weights": extras.weights,
            "orders": extras.orders,
        }
        by_name[part](store)


BEGINNINGS = {
    "widths": "width | ",
    "starts": "starts | ",
    "single": "single pass | ",
    "weights": "weights | ",
    "orders": "order | ",
    "times": "times | ",
}


def _forget(store: Store, parts: list[str], names: list[str] | None) -> None:
    for part in parts:
        if part in BEGINNINGS:
            store.forget(partial(_begins, BEGINNINGS[part]))
        elif part in ("table", "auto", "published"):
            for name in names or CASES:
                store.forget(partial(_belongs, f"{name} | m {'auto' if part == 'auto' else f'{PRINTED_M:g}'} | ", part))
        elif part == "exact":
            store.forget(partial(_begins, key_of("MNIST", PRINTED_M, "KFCM", None)))


def _begins(beginning: str, key: str) -> bool:
    return key.startswith(beginning)


def _belongs(start: str, part: str, key: str) -> bool:
    exact = key == key_of("MNIST", PRINTED_M, "KFCM", None)
    return key.startswith(start) and key.endswith("| as published") == (part == "published") and not exact


if __name__ == "__main__":
    main()
