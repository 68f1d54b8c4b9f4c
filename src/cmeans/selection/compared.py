"""Labels of a reference beside those of refits, and bootstrap weights for these: here, or where the
rows are."""

from __future__ import annotations

import operator
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, IntArray, is_foreign, to_numpy
from ..engines import brought
from ..engines.parts.columns import Column
from ..metrics.matching import numbers_as_in, shared_weights
from .bootstrap import bootstrap_weights


class ComparedHere:
    """Labels and weights (n,) in arrays."""

    def __init__(self, reference: IntArray, weight: Float64) -> None:
        self._reference, self._weight = reference, weight
        self._same = np.zeros(len(reference), np.int32)

    def drawn(self, seed: int, replicate: int) -> Any:
        """Return the weights of one replicate."""
        return bootstrap_weights(self._weight, seed, replicate)

    def shared(self, model: Any, n_clusters: int) -> Float64:
        """Return the weights that clusters of the reference share with those of a refit, and note
        the rows on which the two agree."""
        labels = labels_here(model.labels_)
        shared = shared_weights(
            self._reference, labels, self._weight, n_clusters, len(model._state.centres)
        )
        self._same += _agree(self._reference, labels, np.append(numbers_as_in(shared), -1))
        return shared

    def shares(self, count: int) -> Any:
        """Return the share (n,) of `count` refits that agree with the reference."""
        return self._same / count


class ComparedThere:
    """The same beside rows that others hold: weights are drawn, and labels compared, where
    they are."""

    def __init__(self, reference: Column, weight: Any) -> None:
        self._reference, self._weight = reference, weight
        self._same = reference.mapped(np.zeros_like, np.int32)

    def drawn(self, seed: int, replicate: int) -> Any:
        return self._reference.mapped(
            partial(_drawn, seed, replicate), self._reference.rows.first_rows, self._weight
        )

    def shared(self, model: Any, n_clusters: int) -> Float64:
        labels = self._reference.rows.column(
            model.labels_, as_labels, "labels", type(model).__name__
        )
        sizes = n_clusters, len(model._state.centres)
        shared: Float64 = reduce(
            operator.add, self._reference.asked(partial(_shared, *sizes), labels, self._weight)
        )
        agree = partial(_agree, number=np.append(numbers_as_in(shared), -1))
        self._same = self._same.mapped(operator.add, self._reference.mapped(agree, labels))
        return shared

    def shares(self, count: int) -> Any:
        return self._same.mapped(operator.truediv, count).lazily()


def labels_here(labels: Array) -> IntArray:
    """Return labels (n,) as they lie, on the host."""
    here = brought(labels)
    return to_numpy(here) if is_foreign(here) else np.asarray(here)


def as_labels(part: IntArray, start: int) -> IntArray:
    """Return a part of labels as it is."""
    return part


def _drawn(seed: int, replicate: int, labels: IntArray, start: int, weight: Any) -> Float64:
    return bootstrap_weights(np.broadcast_to(weight, labels.shape), seed, replicate, start)


def _shared(
    n_reference: int, n_labels: int, reference: IntArray, start: int, labels: IntArray, weight: Any
) -> Float64:
    return shared_weights(
        reference, labels, np.broadcast_to(weight, labels.shape), n_reference, n_labels
    )


def _agree(reference: IntArray, labels: IntArray, number: IntArray) -> npt.NDArray[np.bool_]:
    agree: npt.NDArray[np.bool_] = number[labels] == reference
    return agree
