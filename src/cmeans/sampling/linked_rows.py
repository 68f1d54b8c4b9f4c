"""Rows that must share a cluster joined to one, with the weighted means of their products with the basis and of k(x, x)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, as_like, dense_like, is_sparse, to_numpy
from ..data.blocks import Blocks
from ..engines import Engine, Pass
from ..spaces import ProductSpace, Space
from ..sweeps.represented_rows import RepresentedRows
from .joined_rows import GroupedRows


@dataclass(frozen=True)
class MeansPass(Pass[list[tuple[IntArray, Any, Float64]]]):
    """Additions of the blocks of a task to groups of rows: numbers of groups, and sums of share times g and k(x, x) over their rows."""

    groups: IntArray  # (n,)
    share: Float64  # (n,) of a row in its group; a group's shares sum to one

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> list[tuple[IntArray, Any, Float64]]:
        added = []
        for block in rows.task(task):
            plain = block.rows.plain()
            g, kxx = plain.g if is_sparse(plain.g) else to_numpy(plain.g), to_numpy(plain.kxx)
            here = slice(block.start, block.start + len(kxx))
            groups, place = np.unique(self.groups[here], return_inverse=True)
            shares = sparse.csr_array((self.share[here], (place, np.arange(len(kxx)))), shape=(len(groups), len(kxx)))
            added.append((groups, shares @ g, shares @ kxx))
        return added


def linked_rows(space: Space, blocks: Blocks, engine: Engine) -> tuple[ProductSpace, GroupedRows]:
    """Return the rows of a fit with those of each group as one, and the space that they lie in."""
    groups = blocks.groups
    assert groups is not None, "some rows are linked"
    first = np.unique(groups, return_index=True)[1]
    weight: Float64 = np.bincount(groups, weights=blocks.weight).astype(np.float64)
    by_weight = weight[groups] > 0
    share = np.where(by_weight, blocks.weight / np.where(by_weight, weight[groups], 1.0), 1.0 / np.bincount(groups)[groups])
    parts = [part for task in engine.map(RepresentedRows(space, blocks, 0), MeansPass(groups, share)) for part in task]
    kxx = np.zeros(len(weight))
    for numbers, _, squares in parts:
        kxx[numbers] += squares
    g: Any
    if is_sparse(parts[0][1]):
        numbers, rows = np.concatenate([part[0] for part in parts]), sparse.vstack([part[1] for part in parts], format="csr")
        g = sparse.csr_array((np.ones(len(numbers)), (numbers, np.arange(len(numbers)))), shape=(len(weight), len(numbers))) @ rows
    else:
        g = np.zeros((len(weight), space.size))
        for numbers, products, _ in parts:
            g[numbers] += products
    like = dense_like(blocks.x)
    known = None if blocks.known is None else blocks.known[first]
    means = as_like(kxx, like)
    g = g.astype(blocks.x.dtype) if is_sparse(g) else as_like(g, like)
    joined = replace(blocks, x=g, weight=weight, kxx=means, factors=None, known=known, groups=None)
    return ProductSpace(space), GroupedRows(joined, groups.astype(np.int32))
