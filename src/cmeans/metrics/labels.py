"""Labels of any kind as integer codes from 0, the treatment of noise, and contingency tables."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import IntArray, is_foreign, to_numpy
from ..fitting.validation import intact
from ..runtime.checks import one_of

NOISE = -1
NOISE_OPTIONS = ("nearest", "cluster")
SORTED_KINDS = "biufUS"  # dtypes that NumPy can sort


def with_noise(
    truth: Any, labels: Any, noise: str, nearest: Any, function_name: str
) -> tuple[IntArray, IntArray]:
    """Return classes and clusters (n,) as codes from 0, noise rows as `noise` demands."""
    one_of(noise, "noise", function_name, NOISE_OPTIONS)
    (classes, _), (clusters, names) = coded_pair(truth, labels, "labels", function_name)
    if noise == "cluster" or NOISE not in names:
        return classes, clusters
    rows = np.flatnonzero(clusters == names.index(NOISE))
    if nearest is None:
        raise ValueError(
            f'{function_name}(noise="nearest", nearest=None): {len(rows)} of {len(clusters)} '
            "labels are -1 (noise); pass the nearest "
            'cluster of each row, nearest=model.transform(X).argmin(axis=1), or noise="cluster".'
        )
    others, other_names = coded(nearest, "nearest", function_name)
    same_length(clusters, others, "labels", "nearest", function_name)
    unassigned = rows[[other_names[code] == NOISE for code in others[rows]]]
    if len(unassigned):
        raise ValueError(
            f"{function_name}: labels[{unassigned[0]}] is -1 (noise), and so is "
            f"nearest[{unassigned[0]}]; nearest must name a cluster "
            "for every noise row: model.transform(X).argmin(axis=1)."
        )
    number = {name: code for code, name in enumerate(names)}
    codes = np.array([number.setdefault(name, len(number)) for name in other_names], dtype=np.intp)
    clusters = clusters.copy()
    clusters[rows] = codes[others[rows]]
    return classes, clusters


CodedLabels = tuple[IntArray, list[Hashable]]  # (n,) codes from 0, and the label of each code


def coded_pair(
    truth: Any, labels: Any, name: str, function_name: str
) -> tuple[CodedLabels, CodedLabels]:
    """Return the codes of truth and labels, which must have the same length."""
    classes, clusters = coded(truth, "truth", function_name), coded(labels, name, function_name)
    same_length(classes[0], clusters[0], "truth", name, function_name)
    return classes, clusters


def coded(values: Any, name: str, function_name: str) -> CodedLabels:
    """Return the codes of labels of any kind; ValueError where one is missing or there are none."""
    values = intact(values, name, function_name)
    # A list is not made an array: [1, "a"] would become strings, and tuples a table.
    labels = (
        values
        if isinstance(values, (list, tuple))
        else to_numpy(values)
        if is_foreign(values)
        else np.asarray(values)
    )
    if isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise ValueError(
                f"{function_name}: {name} has shape {labels.shape}; one label a row is needed: "
                "shape (n,). Of memberships take argmax(axis=1), of a column ravel()."
            )
        if labels.dtype.kind in SORTED_KINDS and len(labels):
            if labels.dtype.kind == "f" and np.isnan(labels).any():
                raise _missing(int(np.argmax(np.isnan(labels))), np.nan, name, function_name)
            names, codes = np.unique(labels, return_inverse=True)
            return codes.astype(np.intp, copy=False), names.tolist()
        labels = labels.tolist()
    if len(labels) == 0:
        raise ValueError(f"{function_name}: {name} is empty; at least one row is needed.")
    return _coded_by_hash(labels, name, function_name)


def _coded_by_hash(
    values: list[Any] | tuple[Any, ...], name: str, function_name: str
) -> CodedLabels:
    number: dict[Hashable, int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
            raise _missing(row, value, name, function_name)
        try:
            codes[row] = number.setdefault(value, len(number))
        except TypeError:
            raise ValueError(
                f"{function_name}: {name}[{row}] is {value!r}, which is not hashable and so not a "
                "label; one number, string or tuple a row is needed."
            ) from None
    return codes, list(number)


def _missing(row: int, value: Any, name: str, function_name: str) -> ValueError:
    return ValueError(
        f"{function_name}: {name}[{row}] is {value}; leave rows without a label out of all "
        "arguments, or give them one of their own."
    )


def same_length(
    one: IntArray, other: IntArray, name: str, other_name: str, function_name: str
) -> None:
    if len(one) != len(other):
        raise ValueError(
            f"{function_name}: {name} has {len(one)} rows and {other_name} has {len(other)}; both "
            "need one label for each row."
        )


def contingency(clusters: IntArray, classes: IntArray) -> Any:
    """Number of rows that each cluster (row) shares with each class (column), as a sparse table;
    O(n) for any number of them."""
    shape = (int(clusters.max()) + 1, int(classes.max()) + 1)
    return sparse.coo_array(
        (np.ones(len(clusters), dtype=np.int64), (clusters, classes)), shape=shape
    ).tocsr()
