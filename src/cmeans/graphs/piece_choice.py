"""The choice of the number of connected pieces, and of those too light to be any.

The gain of a piece is how much the cost falls by its centre. In one heap of rows the gains fall as
a power of their rank, so that i ln(g_i / g_(i+1)) has one mean for all ranks i (Renyi 1953), which
the largest gains tell (Hill 1975). Where pieces stand apart, the gain after theirs is far smaller.
Two things speak for as many pieces as there are before a fall:

    f = ln(g_i / g_(i+1))    how far it is; alone it prefers few pieces, since the largest gains are
                             farthest from each other
    i f / mean of i f        how much farther than in a heap; alone it prefers many pieces, among
                             which a gap is rare

The evidence is the product of both. It has no unit, and depends little on the number of rows and
columns: in one heap, uniform or normal, of 30 to 1,000 rows and 1 to 50 columns it exceeds 1.5 once
in twenty times (in one column once in eight).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray
from .piece_tree import PieceTree
from .pieces import Pieces

ENOUGH = 1.5  # evidence at least for more than one piece
SHARE = 50  # times lighter than an equal share of the rows are crumbs: of two pieces 1% of the rows
LONE = 2.0  # points of median weight, than which crumbs are lighter at most
SAME = 1e-9  # relative difference of gains that differ by rounding alone
FINER = 2.0  # times as many pieces at least has each layer as the one above it
LAYERS = 6  # at most


@dataclass(frozen=True)
class Gaps:
    """Falls of the gains of pieces: for some numbers of pieces, from that one to the next."""

    numbers: IntArray  # (q,) rising
    falls: Float64  # (q,) f
    excess: Float64  # (q,) i f by its mean
    fewest: int  # pieces that there are without any evidence: parts that nothing joins

    @property
    def evidence(self) -> Float64:
        return self.falls * self.excess

    def number(self, least: int = 1, most: int | None = None) -> int:
        """Return the number of pieces of the largest evidence, from the least to the most; the
        fewest that there are where none is enough, if so few may be."""
        within = self.numbers >= least
        if most is not None:
            within &= self.numbers <= most
        numbers, evidence = self.numbers[within], self.evidence[within]
        if least <= self.fewest and evidence.max(initial=0.0) < ENOUGH:
            return self.fewest
        return int(numbers[evidence.argmax()]) if len(numbers) else least

    def layers(self, number: int) -> IntArray:
        """Return the numbers of pieces of a few layers, the largest first: the given one, and those
        of the largest evidence, where it is enough, that are not near each other."""
        layers, evidence = [number], self.evidence
        order = np.argsort(-evidence, kind="stable")
        for k in self.numbers[order[evidence[order] >= ENOUGH]].tolist():
            apart = all(max(k, other) >= FINER * min(k, other) for other in layers)
            if apart and len(layers) < LAYERS:
                layers.append(k)
        return np.array(sorted(layers, reverse=True), dtype=np.intp)


def gaps(pieces: Pieces, min_weight: float | None = None) -> Gaps:
    """Return where the gains of `pieces` fall, which are of z = 1 and of any weight.

    Crumbs are lighter than `min_weight`, by default than `crumb_weight`. Where they stand out among
    the gains they are rows far from all others, and the gaps are looked for again without them,
    until only pieces stand out.
    """
    tree, fewest = pieces.tree, len(pieces.tree.roots)
    gain, weight = pieces.gain[fewest:], tree.weight[pieces.top[fewest:]]
    while True:
        found = _gaps_of(gain, fewest)
        number = found.number()
        least = crumb_weight(tree, number) if min_weight is None else min_weight
        crumbs = (np.arange(len(gain)) < number - fewest) & (weight < least)
        if not crumbs.any():
            return found
        gain, weight = gain[~crumbs], weight[~crumbs]


def _gaps_of(gain: Float64, fewest: int) -> Gaps:
    """Return the gaps of falling gains. Equal ones count once: tables of whole numbers have gains
    of few values, and many of each, which is no sign of pieces."""
    falls = np.log(gain[:-1] / gain[1:])
    steps = np.flatnonzero(falls > SAME)
    falls = falls[steps]
    scaled = np.arange(1.0, len(steps) + 1) * falls
    # the mean is of the largest gains, since the smaller ones are of single rows, and fall
    # otherwise; so few tell it badly, and it is taken three standard errors larger
    largest = scaled[: math.isqrt(4 * len(steps)) + 1]
    mean = float(largest.mean()) * (1 + 3 / math.sqrt(len(largest))) if len(steps) else 1.0
    upper = slice((len(steps) + 1) // 2)
    return Gaps(steps[upper] + 1 + fewest, falls[upper], scaled[upper] / mean, fewest)


def crumb_weight(tree: PieceTree, number: int) -> float:
    """Return the weight below which a piece is a crumb among a number of pieces: a fiftieth of an
    equal share, at least that of two points of median weight."""
    share = float(tree.weight[tree.roots].sum()) / (SHARE * number)
    return max(share, LONE * float(np.median(tree.weight[: tree.n_points])))


def least_weight(pieces: Pieces, number: int) -> float:
    """Return the least weight with which a found number of pieces are the best ones: any, that of
    the lightest point, unless there are crumbs among them."""
    tree = pieces.tree
    crumbs, lightest = crumb_weight(tree, number), float(tree.weight[: tree.n_points].min())
    found = tree.weight[pieces.top[len(tree.roots) : number]]
    return crumbs if (found < crumbs).any() else lightest
