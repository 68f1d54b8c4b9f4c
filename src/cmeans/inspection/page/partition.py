"""One partition of the rows on a page: its clusters as cards, and their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...data.arrays import IntArray
from ...runtime.numerals import percent
from ..contrast import contrast_of
from ..figure import COLOURS
from ..rows import InspectedRows
from ..wording import said_of
from .packing import packed_codes, packed_labels
from .terms import terms_of

SAID = 3  # sentences of a card
NAMED = 3  # terms in the name of a cluster of texts
TYPICAL = 3  # rows of one
QUOTED = 240  # characters at most of a text that is shown


@dataclass(frozen=True)
class ShownPartition:
    """One partition of the rows of a page.

    Attributes
    ----------
    key, name : for the address, and for people.
    seen : the rows as this partition has them.
    evidence : how good it is, by what the page's evidence is; NaN: not known.
    in_series : whether the slider over the number of clusters goes through it.
    said : further words on it.
    names : of its clusters; none: by what they are like.
    """

    key: str
    name: str
    seen: InspectedRows
    evidence: float = float("nan")
    in_series: bool = True
    said: str = ""
    names: tuple[str, ...] = ()


def matched_colours(partitions: Sequence[ShownPartition], first: int) -> list[list[int]]:
    """Return colours (c,) of the clusters of each partition, by number: a cluster has that of the
    cluster with which it shares most rows in the partition before it, on the way of the slider from
    `first`, so that colours stay while the number of clusters changes; those of other partitions
    are compared with the first."""
    along = [at for at, one in enumerate(partitions) if one.in_series or at == first]
    along.sort(key=lambda at: partitions[at].seen.n_clusters)
    middle = along.index(first)
    before = {at: along[k - 1] for k, at in enumerate(along) if k > middle}
    before |= {at: along[k + 1] for k, at in enumerate(along) if k < middle}
    found: dict[int, list[int]] = {first: list(range(partitions[first].seen.n_clusters))}
    for at in [*along[middle + 1 :], *along[:middle][::-1], *range(len(partitions))]:
        if at not in found:
            last = before.get(at, first)
            found[at] = _continued(partitions[last].seen, found[last], partitions[at].seen)
    return [[k % len(COLOURS) for k in found[at]] for at in range(len(partitions))]


def _continued(before: InspectedRows, colours: list[int], seen: InspectedRows) -> list[int]:
    both = (before.labels >= 0) & (seen.labels >= 0)
    shared = np.zeros((seen.n_clusters, before.n_clusters))
    np.add.at(shared, (seen.labels[both], before.labels[both]), 1)
    rows, columns = linear_sum_assignment(-shared)
    own = {int(j): colours[k] for j, k in zip(rows, columns, strict=True) if shared[j, k]}
    used = set(own.values())
    free = iter(k for k in range(len(used) + seen.n_clusters) if k not in used)
    return [own[j] if j in own else next(free) for j in range(seen.n_clusters)]


def record_of(
    partition: ShownPartition,
    colours: list[int],
    feature_names: tuple[str, ...],
    texts: Sequence[str] | None,
    sets: IntArray | None,
) -> dict[str, Any]:
    """Return a partition as the page's script takes it."""
    seen = partition.seen
    seen = seen if seen.x is None else replace(seen, feature_names=feature_names)
    largest = np.clip(np.nan_to_num(seen.memberships.max(axis=1, initial=0.0)), 0, 1)
    return {
        "key": partition.key,
        "name": partition.name,
        "said": partition.said,
        "series": partition.in_series,
        "colours": colours,
        "labels": packed_labels(seen.labels),
        "memberships": packed_codes(np.rint(250 * largest).astype(int)) if seen.is_soft else None,
        "noise": float(seen.weight[seen.labels < 0].sum() / max(seen.weight.sum(), 1e-300)),
        "cards": _cards(seen, partition.names, texts, sets),
    }


def _cards(
    seen: InspectedRows, names: Sequence[str], texts: Sequence[str] | None, sets: IntArray | None
) -> list[dict[str, Any]]:
    """Return what is told of each cluster."""
    c, total, factor = seen.n_clusters, float(seen.weight.sum()), seen.n_rows / len(seen.numbers)
    sentences = _sentences(seen)
    terms = [[] for _ in range(c)] if texts is None else terms_of(texts, seen.labels, c)
    names = names or _names(seen, terms)
    typical = [[i for i in rows if i >= 0] for rows in seen.nearest_rows(TYPICAL).tolist()]
    return [
        {
            "label": str(j),
            "name": names[j],
            "size": round(float(seen.masses[j]) * factor),
            "share": float(seen.masses[j]) / total if total else 0.0,
            "shares": None if sets is None else _shares(seen.labels == j, sets),
            "sentences": sentences[j],
            "terms": terms[j],
            "typical": typical[j],
            "texts": [] if texts is None else [texts[i][:QUOTED] for i in typical[j]],
        }
        for j in range(c)
    ]


def _names(seen: InspectedRows, terms: Sequence[Sequence[str]]) -> list[str]:
    """Return names to begin with: a few words of its texts, or what a cluster is high or low in."""
    contrast = contrast_of(seen, seen.feature_names)
    said = ["average"] * seen.n_clusters if contrast is None else contrast.names
    return [
        ", ".join(words[:NAMED])
        or (name if name != "average" and seen.masses[j] > 0 else f"cluster {j}")
        for j, (words, name) in enumerate(zip(terms, said, strict=True))
    ]


def _shares(inside: Any, sets: IntArray) -> str:
    """Return the share of a cluster in each of two sets of rows, of which a sample may have
    none."""
    parts = [inside[sets == k] for k in (0, 1)]
    first, second = (percent(float(one.mean())) if len(one) else "none shown" for one in parts)
    return f"{first}, then {second}"


def _sentences(seen: InspectedRows) -> list[list[str]]:
    """Return what sets each cluster apart. Rows count for the cluster of their label alone, as they
    do in the histograms beside the sentences."""
    hard = (seen.labels[:, None] == np.arange(seen.n_clusters)).astype(np.float64)
    contrast = contrast_of(replace(seen, memberships=hard), seen.feature_names)
    if contrast is None:
        return [[] for _ in range(seen.n_clusters)]
    unit = cache(seen.unit)
    return [
        said_of(contrast, j, unit, SAID) if seen.masses[j] > 0 else []
        for j in range(seen.n_clusters)
    ]
