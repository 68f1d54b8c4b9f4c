"""Exact kernel c-means on tens of thousands of rows: each tile of K serves the clusters of all runs
at once.

Of K only the tiles on and below the diagonal are computed, once, in float32: 9.8 GB for 70,000
rows. A sweep multiplies each with the weights of all runs that have not converged, runs x clusters
columns, and with its transpose. After each sweep what the runs have come to is written to a file,
from which an interrupted run goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cmeans.kernels import Kernel
from cmeans.rules import Rule

from .seconds import timed

Array = np.ndarray
SIDE = 2000  # rows and columns of a tile


class Tiles:
    """The lower triangle of K, in float32 tiles."""

    def __init__(self, x: Array, kernel: Kernel, side: int = SIDE) -> None:
        x = np.ascontiguousarray(x, dtype=np.float32)
        self.cuts = [slice(start, min(start + side, len(x))) for start in range(0, len(x), side)]
        self.tiles, self.seconds = timed(
            lambda: {
                (i, j): np.asarray(kernel(x[self.cuts[i]], x[self.cuts[j]]))
                for i, j in self._pairs()
            }
        )
        self.diag = np.concatenate(
            [np.diag(self.tiles[i, i]) for i in range(len(self.cuts))]
        ).astype(np.float64)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return ((i, j) for i in range(len(self.cuts)) for j in range(i + 1))

    def __len__(self) -> int:
        return len(self.diag)

    def columns(self, rows: Array) -> Array:
        """K[:, rows], float64."""
        out = np.empty((len(self), len(rows)))
        for place, row in enumerate(rows):
            own = int(row) // (self.cuts[0].stop - self.cuts[0].start)
            offset = int(row) - self.cuts[own].start
            for i, cut in enumerate(self.cuts):
                out[cut, place] = (
                    self.tiles[i, own][:, offset] if i >= own else self.tiles[own, i][offset]
                )
        return out

    def times(self, w: Array) -> Array:
        """K w in float64, from float32 sums over the rows of one tile. Rows of w that are zero cost
        nothing where most are."""
        w = np.ascontiguousarray(w, dtype=np.float32)
        out = np.zeros(w.shape)
        busy = [_busy(w[cut]) for cut in self.cuts]
        for (i, j), tile in self.tiles.items():
            _add(out[self.cuts[i]], tile, w[self.cuts[j]], busy[j])
            if i != j:
                _add(out[self.cuts[j]], tile.T, w[self.cuts[i]], busy[i])
        return out


def _busy(w: Array) -> Array | None:
    """Rows that are not zero; None where there are many, and all are taken as they lie."""
    rows = np.flatnonzero(w.any(axis=1))
    return rows if len(rows) < len(w) / 3 else None


def _add(out: Array, tile: Array, w: Array, rows: Array | None) -> None:
    if rows is None:
        out += tile @ w
    elif len(rows):
        out += tile[:, rows] @ w[rows]


class Solved(NamedTuple):
    """What each run came to."""

    labels: Array  # (runs, n)
    u: Array  # (runs, n, c) memberships
    # (runs, c) mean squared distances of clusters, weighted by u^m: eq. 11 of Havens 2011
    scales: Array
    objective: Array  # (runs,) sum u^m d
    start: Array  # (runs,) the same at the beginning, where memberships are those given
    sweeps: Array  # (runs,)


@dataclass
class _Standing:
    """Between two sweeps."""

    u: Array
    scales: Array
    objective: Array
    start: Array
    sweeps: Array
    done: Array

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".writing.npz")
        np.savez(part, **self.__dict__)
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> _Standing:
        with np.load(path) as file:
            return cls(**{name: file[name] for name in file.files})


def solve(
    tiles: Tiles,
    rule: Rule,
    u: Array,
    *,
    tol: float,
    max_sweeps: int,
    standing: Path,
    scales: Array | None = None,
) -> Solved:
    """Runs from the memberships `u` (runs, n, c), each until max |u - u'| <= tol; `scales` (runs,
    c) where the rule wants them."""
    runs, _, c = u.shape
    state = _Standing(
        u.astype(np.float64),
        np.zeros((runs, c)),
        *np.zeros((2, runs)),
        np.zeros(runs, int),
        np.zeros(runs, bool),
    )
    if standing.exists():
        state = _Standing.load(standing)
        print(f"      goes on after sweep {state.sweeps.max()}", flush=True)
    products = _Products(tiles, rule)
    while not state.done.all() and state.sweeps.max() < max_sweeps:
        started, active = time.perf_counter(), np.flatnonzero(~state.done)
        d2, mass = products.distances(state.u[active], active)
        change = 0.0
        for run, d, weighed in zip(active, d2, mass, strict=True):
            if state.sweeps[run] == 0:
                state.start[run] = (
                    rule.weights(state.u[run]) * np.where(weighed > 0, d, 0.0)
                ).sum()
            new = rule.memberships(d, None if scales is None else scales[run])
            moved = float(np.abs(new - state.u[run]).max())
            w = rule.weights(new)
            product = (w * np.where(np.isfinite(d), d, 0.0)).sum(axis=0)
            state.u[run], state.objective[run] = new, product.sum()
            state.scales[run] = product / np.maximum(w.sum(axis=0), np.finfo(float).tiny)
            state.sweeps[run] += 1
            state.done[run] = moved <= tol
            change = max(change, moved)
        state.save(standing)
        print(
            f"      sweep {state.sweeps.max()}: {len(active)} runs, largest change {change:.2g}, "
            f"{time.perf_counter() - started:.1f} s",
            flush=True,
        )
    standing.unlink(missing_ok=True)
    labels = state.u.argmax(axis=2)
    return Solved(labels, state.u, state.scales, state.objective, state.start, state.sweeps)


class _Products:
    """K w of all runs. Of hard memberships few change in late sweeps: only those rows of K are
    summed, onto what is there."""

    def __init__(self, tiles: Tiles, rule: Rule) -> None:
        self.tiles, self.rule = tiles, rule
        self.before: tuple[Array, Array, Array] | None = None

    def distances(self, u: Array, active: Array) -> tuple[Array, Array]:
        """Squared distances (runs, n, c) from the centres that memberships give, infinite from
        clusters without weight; and the masses."""
        runs, n, c = u.shape
        w = np.stack([self.rule.weights(one) for one in u], axis=1, dtype=np.float32).reshape(
            n, runs * c
        )
        if self.before is None or self.rule.is_soft:
            product = self.tiles.times(w)
        else:
            runs_before, w_before, product = self.before
            kept = np.isin(runs_before, active).repeat(c)
            w_before, product = w_before[:, kept], product[:, kept]
            product = product + self.tiles.times(w - w_before)
        self.before = (active, w, product)
        mass = w.sum(axis=0, dtype=np.float64)
        safe = np.where(mass > 0, mass, 1.0)
        norms = np.einsum("ij,ij->j", w, product, dtype=np.float64) / safe**2
        d2 = (
            np.maximum(self.tiles.diag[:, None] - 2.0 * product / safe + norms, 0.0)
            .reshape(n, runs, c)
            .transpose(1, 0, 2)
        )
        mass = mass.reshape(runs, c)
        return np.where((mass > 0)[:, None, :], d2, np.inf), mass


def seconds_of_one(
    tiles: Tiles, rule: Rule, u: Array, scales: Array | None = None, repeats: int = 3
) -> float:
    """A sweep of one run by itself: median."""

    def sweep() -> float:
        d2, _ = _Products(tiles, rule).distances(u[:1], np.zeros(1, int))
        new = rule.memberships(d2[0], None if scales is None else scales[0])
        return float(np.abs(new - u[0]).max())

    return float(np.median([timed(sweep)[1] for _ in range(repeats)]))


def first_memberships(tiles: Tiles, rule: Rule, rows: Array) -> Array:
    """u from the distances to rows that serve as centres."""
    columns = tiles.columns(rows)
    return rule.memberships(
        np.maximum(tiles.diag[:, None] - 2.0 * columns + tiles.diag[rows], 0.0), None
    )


def separation(tiles: Tiles, rule: Rule, u: Array) -> Array:
    """How far centres lie from their mean: the largest |v_j - mean v|^2 of each run, over the mean
    squared distance of rows to centres."""
    runs, n, c = u.shape
    w = np.stack([rule.weights(one) for one in u], axis=1, dtype=np.float32)
    w /= np.maximum(w.sum(axis=0, dtype=np.float64), np.finfo(float).tiny)
    product = tiles.times(w.reshape(n, runs * c)).reshape(n, runs, c)
    found = np.empty(runs)
    for run in range(runs):
        gram = w[:, run].T.astype(np.float64) @ product[:, run]
        apart = np.diag(gram) - 2.0 * gram.mean(axis=1) + gram.mean()
        found[run] = max(apart.max(), 0.0) / (
            tiles.diag.mean() - 2.0 * product[:, run].mean() + np.diag(gram).mean()
        )
    return found
