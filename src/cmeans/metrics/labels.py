"""Labels of any kind as numbers from 0, noise where it belongs, and tables of two of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import IntArray, is_foreign, to_numpy
from ..estimators.inputs import one_of

NOISE = -1
NOISE_WORDS = ("nearest", "cluster")
SORTED_KINDS = "biufUS"  # dtypes that NumPy sorts and compares by itself


def with_noise(truth: Any, labels: Any, noise: str, nearest: Any, owner: str) -> tuple[IntArray, IntArray]:
    """Classes and clusters (n,) as numbers from 0, noise rows where the word puts them."""
    one_of(noise, "noise", owner, NOISE_WORDS)
    (classes, _), (clusters, names) = both(truth, labels, "labels", owner)
    if noise == "cluster" or NOISE not in names:
        return classes, clusters
    rows = np.flatnonzero(clusters == names.index(NOISE))
    if nearest is None:
        raise ValueError(
            f'{owner}(noise="nearest", nearest=None): {len(rows)} of {len(clusters)} labels are -1 (noise); pass the nearest cluster of '
            'each row, nearest=model.transform(X).argmin(axis=1), or noise="cluster".'
        )
    others, other_names = coded(nearest, "nearest", owner)
    same_length(clusters, others, "labels", "nearest", owner)
    lost = rows[[other_names[code] == NOISE for code in others[rows]]]
    if len(lost):
        raise ValueError(
            f"{owner}: labels[{lost[0]}] is -1 (noise), and so is nearest[{lost[0]}]; nearest must name a cluster for every noise row: "
            "model.transform(X).argmin(axis=1)."
        )
    number = {name: code for code, name in enumerate(names)}
    codes = np.array([number.setdefault(name, len(number)) for name in other_names], dtype=np.intp)
    clusters = clusters.copy()
    clusters[rows] = codes[others[rows]]
    return classes, clusters


Coded = tuple[IntArray, list[Hashable]]  # (n,) numbers from 0, and the label that each number stands for


def both(truth: Any, labels: Any, name: str, owner: str) -> tuple[Coded, Coded]:
    classes, clusters = coded(truth, "truth", owner), coded(labels, name, owner)
    same_length(classes[0], clusters[0], "truth", name, owner)
    return classes, clusters


def coded(values: Any, name: str, owner: str) -> Coded:
    # A list stays one: as an array [1, "a"] would become strings, and tuples a table.
    given = values if isinstance(values, (list, tuple)) else to_numpy(values) if is_foreign(values) else np.asarray(values)
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise ValueError(
                f"{owner}: {name} has shape {given.shape}; one label a row is needed: shape (n,). "
                "Of memberships take argmax(axis=1), of a column ravel()."
            )
        if given.dtype.kind in SORTED_KINDS and len(given):
            if given.dtype.kind == "f" and np.isnan(given).any():
                raise _missing(int(np.argmax(np.isnan(given))), np.nan, name, owner)
            names, codes = np.unique(given, return_inverse=True)
            return codes.astype(np.intp, copy=False), names.tolist()
        given = given.tolist()
    if len(given) == 0:
        raise ValueError(f"{owner}: {name} is empty; at least one row is needed.")
    return _coded_by_hash(given, name, owner)


def _coded_by_hash(values: list[Any] | tuple[Any, ...], name: str, owner: str) -> Coded:
    number: dict[Hashable, int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
            raise _missing(row, value, name, owner)
        try:
            codes[row] = number.setdefault(value, len(number))
        except TypeError:
            raise ValueError(
                f"{owner}: {name}[{row}] is {value!r}, which is not hashable and so no label; one number, string or tuple a row is needed."
            ) from None
    return codes, list(number)


def _missing(row: int, value: Any, name: str, owner: str) -> ValueError:
    return ValueError(f"{owner}: {name}[{row}] is {value}; leave rows without a label out of all arguments, or give them one of their own.")


def same_length(one: IntArray, other: IntArray, name: str, other_name: str, owner: str) -> None:
    if len(one) != len(other):
        raise ValueError(f"{owner}: {name} has {len(one)} rows and {other_name} has {len(other)}; both need one label for each row.")


def contingency(clusters: IntArray, classes: IntArray) -> Any:
    """How many rows each cluster (row) shares with each class (column), as a sparse table: O(n), however many there are."""
    shape = (int(clusters.max()) + 1, int(classes.max()) + 1)
    return sparse.coo_array((np.ones(len(clusters), dtype=np.int64), (clusters, classes)), shape=shape).tocsr()
