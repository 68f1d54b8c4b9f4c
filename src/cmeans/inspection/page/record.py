"""The record of facts that travels in a page for its script: rows, planes, columns, partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray
from ..contrast import contrast_of
from ..directions import Plane
from ..ellipses import ellipse
from ..far_cells import far_cells
from ..figure import COLOURS, NOISE
from ..rows import InspectedRows
from .packing import packed_codes, packed_numbers, packed_texts
from .partition import QUOTED, ShownPartition, matched_colours, record_of

DRAWN = 100_000  # rows that are drawn one by one at most, over a shading that counts all
FINE = 1_000_000  # values up to which all have 16 bits, and more than ten columns are kept
COLUMNS = 10  # that tell most, of more rows
MOST_COLUMNS = 60
OUTSIDE = 0.01  # of the rows that may lie outside a picture, far from all others
TEXTS = 4_000_000  # characters at most of texts that are shown at a pointer


@dataclass(frozen=True)
class PageRows:
    """Rows of a page, and all that it says of them.

    Attributes
    ----------
    seen : the rows, as the model has them.
    feature_names : names of their columns.
    planes : name: positions in a plane.
    partitions : the model's own, and others.
    own : the place of the model's own.
    ids : of the rows; None: their numbers.
    texts : of the rows.
    sets : (s,) 0 or 1, where rows of two sets stand side by side, and the names of the sets.
    evidence : what the evidence of the partitions is.
    noun : what a row is called.
    """

    seen: InspectedRows
    feature_names: tuple[str, ...]
    planes: Mapping[str, Plane]
    partitions: Sequence[ShownPartition]
    own: int = 0
    ids: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    sets: IntArray | None = None
    set_names: Sequence[str] = ()
    evidence: str = ""
    noun: str = "row"
    step: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        numbers = self.seen.numbers
        object.__setattr__(self, "step", int(numbers[1] - numbers[0]) if len(numbers) > 1 else 1)


def record(page: PageRows, title: str, kind: str) -> dict[str, Any]:
    """Return the record of facts of a page."""
    colours = matched_colours(page.partitions, page.own)
    texts = None if page.texts is None else [" ".join(text.split()) for text in page.texts]
    quoted = None if texts is None else [text[:QUOTED] for text in texts]
    return {
        "title": title,
        "kind": kind,
        "noun": page.noun,
        "count": len(page.seen.numbers),
        "total": page.seen.n_rows,
        "step": page.step,
        "drawn": DRAWN,
        "palette": COLOURS,
        "noise": NOISE,
        "chosen": page.own,
        "ids": None if page.ids is None else packed_texts(page.ids),
        "texts": None if quoted is None or sum(map(len, quoted)) > TEXTS else packed_texts(quoted),
        "set": None if page.sets is None else packed_codes(page.sets),
        "sets": list(page.set_names),
        "columns": _columns(page),
        "planes": [_plane(name, plane, page.seen.weight) for name, plane in page.planes.items()],
        "evidence": {"name": page.evidence, "points": _points(page.partitions)},
        "partitions": [
            record_of(one, own, page.feature_names, texts, page.sets)
            for one, own in zip(page.partitions, colours, strict=True)
        ],
    }


def _points(partitions: Sequence[ShownPartition]) -> list[dict[str, Any]]:
    """Return the evidence of the partitions of the slider, a point each."""
    points = [
        {
            "clusters": one.seen.n_clusters,
            "value": one.evidence if np.isfinite(one.evidence) else None,
            "partition": at,
        }
        for at, one in enumerate(partitions)
        if one.in_series
    ]
    return sorted(points, key=lambda point: point["clusters"])


def _columns(page: PageRows) -> list[dict[str, Any]]:
    """Return the columns that are shown, those first that tell clusters apart most."""
    seen = page.seen
    contrast = contrast_of(seen, page.feature_names)
    if contrast is None:
        return []
    most = max(min(MOST_COLUMNS, FINE // len(seen.numbers)), COLUMNS)
    order = np.argsort(-np.ptp(contrast.standardized, axis=0), kind="stable")[:most]
    bits = 16 if len(seen.numbers) * len(order) <= FINE else 8
    return [_column(page, k, bits) for k in order.tolist()]


def _column(page: PageRows, k: int, bits: int) -> dict[str, Any]:
    """Return a column, and whether its numbers are dates or years, which have a form of their
    own; cells that lie far from all others by themselves, so that the scale is that of the rest."""
    values, unit, far = page.seen.column(k), page.seen.unit(k), page.seen.far.get(k)
    beyond = [] if far is None else np.flatnonzero(far).tolist()
    apart = [[row, float(values[row])] for row in beyond]
    values = values if far is None else np.where(far, np.nan, values)
    packed = packed_numbers(values, bits)
    finite = values[np.isfinite(values)]
    top = round((float(finite.max()) - packed["low"]) / packed["step"]) if len(finite) else 0
    form = "date" if k in page.seen.dates else "year" if unit.is_year else "number"
    return {"name": page.feature_names[k], "form": form, "values": packed, "top": top, "far": apart}


def _plane(name: str, plane: Plane, weight: Float64) -> dict[str, Any]:
    """Return a plane and the places of the rows in it; the window to look through where a few
    lie far from all others, and how many do."""
    ellipses = [
        {"cluster": j, "points": ellipse(plane.centres[j], covariance, k).round(6).tolist()}
        for j, covariance in enumerate([] if plane.covariances is None else plane.covariances)
        for k in (1, 2)
    ]
    across, upwards = (packed_numbers(plane.positions[:, k]) for k in (0, 1))
    found = [*far_cells(plane.positions, weight).values()]
    far, window = np.any(found, axis=0) if found else np.zeros(len(weight), np.bool_), None
    if 0 < far.sum() <= OUTSIDE * len(far):
        usual = plane.positions[~far & np.isfinite(plane.positions).all(axis=1)]
        window = [[bound(usual[:, k]) for bound in (np.min, np.max)] for k in (0, 1)]
    names = {"name": name, "axes": list(plane.names), "window": window}
    return {
        **names,
        "x": across,
        "y": upwards,
        "ellipses": ellipses,
        "far": int(far.sum()) if window else 0,
    }
