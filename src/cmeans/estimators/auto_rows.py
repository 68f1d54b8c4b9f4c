"""The rows on which a choice is made: all of few, a sample of many, and those far from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from ..data.arrays import Float64, IntArray, is_sparse
from ..data.blocks import Blocks
from ..data.chosen_scaling import ChosenScaling, chosen_scaling
from ..data.log_transformer import LogTransformer
from ..engines import Engine
from ..evidence.far_rows import far_rows
from ..evidence.steps import spread_copies, stepped_columns
from ..fitting.connected import AS_THEY_ARE
from ..graphs.piece_points import GivenPoints, nearest_of_rows
from ..runtime.checks import ParameterError, is_auto
from ..sampling.population import distinct_rows, population_of, sample

WHOLE = 3000  # rows up to which all are judged: valleys are read at this scale
SAMPLE = 3000  # of more
TREE = 20_000  # rows of a tree, which is cheap and sees more in more
CENTRES = 256  # rows of the sample, from which others are far
SCALERS: dict[str, tuple[Any, ...]] = {
    "none": (),
    "unit": (MinMaxScaler,),
    "standard": (StandardScaler,),
    "robust": (RobustScaler,),
    "log": (LogTransformer, StandardScaler),
}
SPARSE = ChosenScaling("none", "columns as they are: sparse rows keep their zeros")


@dataclass(frozen=True)
class JudgedRows:
    """Distinct rows of a sample as they are judged: spread where columns have few values."""

    x: Float64  # (m, d) scaled
    weights: Float64  # (m,)
    more: tuple[Float64, Float64]  # a larger sample and its weights, for a tree of pieces
    scalers: tuple[Any, ...]  # fitted, in their order
    scaling: str  # in a sentence
    scaling_name: str
    far: IntArray | None  # numbers of the rows far from a sample
    numbers: IntArray | None = None  # (m,) of the rows among all, where all are judged
    stepped: tuple[int, ...] = ()  # columns of few values
    holes: bool = False  # whether values of the rows that they stand for are missing
    note: str = ""  # how they came to be then

    def scaled(self, x: Any) -> Any:
        """Return rows scaled as these are."""
        for scaler in self.scalers:
            x = scaler.transform(x)
        return x


def judged_rows(blocks: Blocks, scaling: str, engine: Engine, seed: int) -> JudgedRows:
    """Return the rows that are judged, and how they are scaled."""
    rng, n = np.random.RandomState(seed), blocks.n_rows
    population = population_of(blocks)
    positions, weights = sample(population, n if n <= WHOLE else SAMPLE, rng)
    numbers, far = population.at(positions), None
    x = _rows(blocks, numbers, weights)
    weights = weights * (population.weights.sum() * blocks.unit / weights.sum())
    if n > WHOLE:
        far = _far(blocks, x, engine)
        others = np.setdiff1d(far, numbers)
        numbers = np.concatenate([numbers, others])
        added = blocks.weight[:][others] * blocks.unit
        x, weights = _rows(blocks, numbers, np.ones(len(numbers))), np.append(weights, added)
    x, weights, first = _joined(x, weights)
    chosen = SPARSE if is_sparse(blocks.x) else chosen_scaling(x)
    name, said = (chosen.name, chosen.reason) if is_auto(scaling) else (scaling, scaling)
    if name != chosen.name:
        said = f'columns scaled by "{name}", as given'
    if chosen is SPARSE and name != SPARSE.name:
        raise ParameterError(
            "AutoClustering",
            "scaling",
            scaling,
            'sparse rows would lose their zeros; take {name}="none", or scale them beforehand.',
        )
    scalers = []
    for make in SCALERS[name]:
        scalers.append(make().fit(x))
        x = scalers[-1].transform(x)
    x = np.ascontiguousarray(x)
    found = JudgedRows(x, weights, (x, weights), tuple(scalers), said, name, far)
    stepped = stepped_columns(x, weights, 2 * SAMPLE)
    if len(stepped):
        x, weights, copied = spread_copies(x, weights, stepped, 2 * SAMPLE, seed)
        first, more = first[copied], (x, weights)
        found = replace(found, x=x, weights=weights, more=more, stepped=tuple(stepped.tolist()))
    if n <= WHOLE:
        return replace(found, numbers=numbers[first])
    positions, weights = sample(population, min(n, TREE), rng)
    x, weights, _ = _joined(_rows(blocks, population.at(positions), weights), weights)
    x = np.ascontiguousarray(found.scaled(x))
    if len(stepped):
        x, weights, _ = spread_copies(x, weights, stepped, 2 * TREE, seed)
    weights = weights * (found.weights.sum() / weights.sum())
    return replace(found, more=(x, weights))


def in_their_span(x: Float64) -> Float64:
    """Return coordinates (n, n) of rows (n, d) in their span, where they have twice as many columns
    and more: distances are the same, and take less."""
    n, d = x.shape
    if d < 2 * n:
        return x
    (triangle,) = scipy.linalg.qr((x - x.mean(axis=0)).T, mode="r", check_finite=False)
    triangle = triangle[:n]
    return np.ascontiguousarray(triangle.T)


def _joined(x: Float64, weights: Float64) -> tuple[Float64, Float64, IntArray]:
    """Return distinct rows, in an order of their own, the sums of their weights, and the numbers of
    the first rows of each kind."""
    first, member = distinct_rows(x)
    return x[first], np.bincount(member, weights, len(first)).astype(np.float64), first


def _rows(blocks: Blocks, numbers: IntArray, weights: Float64) -> Float64:
    return AS_THEY_ARE.rows(blocks.part(numbers, weights).in_memory().x)


def _far(blocks: Blocks, x: Float64, engine: Engine) -> IntArray:
    """Return the rows that are far from some rows of a sample."""
    step = -(-len(x) // CENTRES)
    distances = nearest_of_rows(GivenPoints(x[::step], radius=0.0), blocks, engine)[1]
    return np.sort(far_rows(distances))
