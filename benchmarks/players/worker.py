"""One contestant in a process of its own: `python -m benchmarks.players.worker PLAYER CALL WORDS
THREADS`.

It says what it is, and then answers each line of its input, {"job": FOLDER, "seed": NUMBER,
"answer": FILE or null, "least": SECONDS}, with one line: seconds (the median of as many runs as
last `least`), and the peak of resident memory beyond what stood before (Linux).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import platform
import re
import statistics
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("cmeans", "numpy", "scipy", "scikit-learn", "numba", "jax")


def main() -> None:
    player, call, words, threads = (
        sys.argv[1],
        sys.argv[2],
        json.loads(sys.argv[3]),
        int(sys.argv[4]),
    )
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", message=".* needs no gamma")  # a mistake of ours
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a package prints is no answer
    try:
        module = importlib.import_module(f"benchmarks.players.{player}")
        play = getattr(module, call)
    except Exception as error:
        print(json.dumps({"error": said(error)}), file=answers, flush=True)
        return
    print(
        json.dumps({**greeting(), "compiles": getattr(module, "COMPILES", False)}),
        file=answers,
        flush=True,
    )
    for line in sys.stdin:
        try:
            answer = one_run(play, json.loads(line), words)
        except Exception as error:
            answer = {"error": said(error)}
        print(json.dumps(answer), file=answers, flush=True)


def one_run(play: Any, order: dict[str, Any], words: dict[str, Any]) -> dict[str, float]:
    """Time one run; its answer goes to a file."""
    import numpy as np

    from .job import Job

    job = Job(Path(order["job"]), {**words, "seed": order["seed"]})
    run, answer = play(job)
    touch(
        2
        * np.dtype(job.dtype).itemsize
        * len(job.x)
        * max(job.x.shape[1], job.words.get("n_landmarks", 0))
    )
    before = settled()
    times, result = [], None
    while not times or sum(times) < order.get("least", 0.0):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    peak = resident("VmHWM") - before
    if order["answer"]:
        np.savez(order["answer"], **answer(result))
    return {"seconds": statistics.median(times), "peak_mb": peak / 1e6}


def greeting() -> dict[str, Any]:
    """Versions and BLAS of this environment."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    pools = []
    try:
        import threadpoolctl

        for pool in threadpoolctl.threadpool_info():
            pools.append(
                f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture') or ''} "
                f"x{pool['num_threads']}"
            )
    except ImportError:
        pass
    return {"python": platform.python_version(), "packages": found, "pools": sorted(set(pools))}


def touch(nbytes: int) -> None:
    """Bring in, and give back, about as much memory as a run needs.

    A virtual machine's host takes free memory back after seconds, and its first touch can then cost
    seconds a gigabyte: whoever came first would pay for it, which says nothing of a package.
    """
    import numpy as np

    np.empty(nbytes, dtype=np.uint8)[::4096] = 1


def settled() -> int:
    """Resident memory after all that is free went back to the system; the peak counts from here."""
    gc.collect()
    if not Path("/proc/self/clear_refs").exists():
        return 0
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def resident(key: str) -> int:
    """Bytes of VmRSS or VmHWM; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    match = re.search(rf"{key}:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(match[1]) * 1024 if match else 0


def said(error: Exception) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200]


if __name__ == "__main__":
    main()
