"""Workers for parts of rows, and parts that one task works."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FAIR = 1.05  # times a thread's equal share of the rows
AT_ONCE = 4  # a worker's memory, divided by this, may be parts that one task needs


def fair_places(
    holders: Sequence[Sequence[str]], sizes: list[int], threads: dict[str, int]
) -> list[str]:
    """Return a worker for each part: one that holds it, unless its load would far exceed the
    others'. `threads`: of all workers, of which there is one at least."""
    enough = FAIR * sum(sizes) / sum(threads.values())
    load, places = dict.fromkeys(threads, 0.0), []
    for there, size in zip(holders, sizes, strict=True):
        after = {worker: load[worker] + size / threads[worker] for worker in load}
        fair = [worker for worker in there if after.get(worker, np.inf) <= enough]
        place = fair[0] if fair else min(after, key=after.__getitem__)
        load[place] += size / threads[place]
        places.append(place)
    return places


def groups_of(places: list[str], sizes: list[int], limits: dict[str, int]) -> list[list[int]]:
    """Return the parts that one task works: all of a worker, or, where they may not all be in
    its memory at once, some of them. `sizes`: bytes of each; `limits`: of the workers."""
    groups = dict[str, list[list[int]]]()
    held = dict.fromkeys(places, 0)  # bytes of the last group of each worker
    for number, (place, size) in enumerate(zip(places, sizes, strict=True)):
        most, there = limits.get(place) or np.inf, groups.setdefault(place, [[]])
        if there[-1] and AT_ONCE * (held[place] + size) > most:
            there.append([])
            held[place] = 0
        there[-1].append(number)
        held[place] += size
    return [group for there in groups.values() for group in there]
