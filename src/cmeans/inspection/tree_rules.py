"""A small tree that tells clusters, and its rules as sentences: "spend above 1,200 and age below
30"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray, host_float64, is_sparse
from ..runtime.numerals import between, percent
from .rows import InspectedRows
from .units import Unit

WIDE = 1_000  # columns at most from which the tree chooses: those of the largest differences


@dataclass(frozen=True)
class ShortRule:
    """Conditions under which rows are said to be in a cluster.

    Attributes
    ----------
    cluster : its number; -1 for none.
    conditions : all of which hold, such as "spend above 1,200"; none for all rows.
    right : share of the weight of the rows for which they hold that is in the cluster.
    weight : of these rows.
    """

    cluster: int
    conditions: tuple[str, ...]
    right: float
    weight: float

    def __str__(self) -> str:
        said = " and ".join(self.conditions) or "all rows"
        return said if self.right == 1 else f"{said} ({percent(self.right)} of such rows)"


@dataclass(frozen=True)
class Threshold:
    """The border at which a question parts a column: the largest number below, and the
    smallest above."""

    low: float
    high: float

    def sides(self, unit: Unit) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return what is said below and above: a word and a number each, in the fewest digits."""
        at, (below, above, at_most, at_least) = between(self.low, self.high), unit.words
        if unit.is_whole and at != round(at):
            return (at_most, unit.exactly(self.low)), (at_least, unit.exactly(self.high))
        # rows of single precision are parted by the same words
        strictly = np.float32(self.low) < np.float32(at)
        return (below if strictly else at_most, unit.exactly(at)), (above, unit.exactly(at))


@dataclass(frozen=True)
class Range:
    """The values of a column that are left on the way to an answer."""

    lower: Threshold | None = None
    upper: Threshold | None = None
    missing: bool = True  # whether rows without a value come there too

    def said(self, name: str, unit: Unit) -> str:
        if unit.is_share:
            return f"{name} is {0 if self.lower is None else 1}"
        above = None if self.lower is None else self.lower.sides(unit)[1]
        below = None if self.upper is None else self.upper.sides(unit)[0]
        if above is None or below is None:
            return f"{name} {' '.join(above or below or ())}"
        words = (below[0], above[0])
        if words == unit.words[:2]:
            return f"{name} between {above[1]} and {below[1]}"
        if words == unit.words[2:]:
            same = above[1] == below[1]
            return f"{name} is {above[1]}" if same else f"{name} from {above[1]} to {below[1]}"
        return f"{name} {' '.join(above)} and {' '.join(below)}"


def tree_of(
    seen: InspectedRows, names: Sequence[str], chosen: IntArray, depth: int
) -> tuple[Any, tuple[ShortRule, ...], float]:
    """Return a tree that tells labels, its rules, and the share of the weight that it tells
    rightly."""
    from sklearn.tree import DecisionTreeClassifier  # which takes a while to load

    used = np.sort(chosen[:WIDE])
    assert seen.x is not None
    x = host_float64(seen.x[:, used]) if len(used) < len(names) or is_sparse(seen.x) else seen.x
    weight = seen.weight * seen.memberships.max(axis=1)
    weight = np.where(seen.labels < 0, seen.weight, weight)
    tree = DecisionTreeClassifier(
        max_depth=depth,
        max_leaf_nodes=2**depth,
        min_samples_leaf=max(1, len(x) // 200),
        random_state=0,
    )
    tree.fit(x, seen.labels, sample_weight=weight)
    right = tree.predict(x) == seen.labels
    total = float(seen.weight.sum())
    rules = []
    for cluster, rows, ranges in _answers(tree, x, 0, np.ones(len(x), dtype=bool), {}):
        own = seen.weight * rows
        here, all_in = float(own.sum()), bool((seen.labels == cluster)[rows].all())
        conditions = tuple(
            one.said(" ".join(names[used[k]].split()), seen.unit(int(used[k])))
            + (" (or missing)" if one.missing and np.isnan(x[:, k]).any() else "")
            for k, one in ranges.items()
        )
        share = 1.0 if all_in or not here else float(own @ (seen.labels == cluster)) / here
        rules.append(ShortRule(cluster, conditions, share, here))
    return tree, tuple(rules), 1.0 if right.all() else float(seen.weight @ right / total)


def text_of(rules: Sequence[ShortRule], called: Sequence[str]) -> str:
    """Return rules as lines, cluster by cluster as they are called, those of most rows first."""
    lines = []
    clusters = list(range(len(called))) + ([-1] if any(rule.cluster < 0 for rule in rules) else [])
    for cluster in clusters:
        own = sorted((r for r in rules if r.cluster == cluster), key=lambda rule: -rule.weight)
        name = called[cluster] if cluster >= 0 else "no cluster"
        said = [str(rule) for rule in own] or ["no rule as short as these tells it"]
        lines += [f"{name}: {said[0]}", *(f"{'or':>{len(name)}}: {other}" for other in said[1:])]
    return "\n".join(lines) + "\n"


def _answers(
    tree: Any, x: Float64, node: int, rows: npt.NDArray[np.bool_], ranges: Mapping[int, Range]
) -> Iterator[tuple[int, npt.NDArray[np.bool_], Mapping[int, Range]]]:
    """Yield the answers below a node: the cluster, the rows that come there, and what is known of
    the columns. Questions of which all answers are the same cluster are left out."""
    inside, clusters = tree.tree_, _ends(tree, node)
    if len(clusters) == 1:
        yield clusters.pop(), rows, ranges
        return
    k = int(inside.feature[node])
    values, threshold, known = x[:, k], inside.threshold[node], ranges.get(k, Range())
    single, none = values.astype(np.float32), np.isnan(values)
    cut = Threshold(
        float(values[single <= threshold].max()), float(values[single > threshold].min())
    )
    to_left = bool(inside.missing_go_to_left[node])
    for child, side, takes_none, lower, upper in (
        (inside.children_left[node], single <= threshold, to_left, known.lower, cut),
        (inside.children_right[node], single > threshold, not to_left, cut, known.upper),
    ):
        came = rows & (side | none if takes_none else side)
        narrowed = Range(lower, upper, known.missing and takes_none)
        yield from _answers(tree, x, int(child), came, {**ranges, k: narrowed})


def _ends(tree: Any, node: int) -> set[int]:
    """Return the clusters in which the answers below a node end."""
    inside = tree.tree_
    if inside.children_left[node] < 0:
        return {int(tree.classes_[inside.value[node][0].argmax()])}
    return _ends(tree, int(inside.children_left[node])) | _ends(
        tree, int(inside.children_right[node])
    )
