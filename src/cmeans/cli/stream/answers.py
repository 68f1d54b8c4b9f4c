"""Answers of the model of a stream about a chunk of rows, its number of clusters told or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import StreamingFuzzyCMeans, StreamingGaussianMixture
from ..errors import InputError
from ..option_names import option_of
from .batches import Batch

Model = StreamingFuzzyCMeans | StreamingGaussianMixture
MODELS: dict[str, type[Model]] = {
    cls.__name__: cls for cls in (StreamingFuzzyCMeans, StreamingGaussianMixture)
}
OF_ALL = ("n_clusters", "chunk_size", "random_state", "engine")  # of streams of either kind


@dataclass(frozen=True)
class Answers:
    """Answers for the rows of a chunk."""

    labels: NDArray[Any]  # (b,)
    n_clusters: int  # numbers of clusters are below it
    memberships: NDArray[Any] | None = None  # (b, c), where the number of clusters is told
    score: NDArray[Any] | None = None  # (b,) outlier scores, where they are asked for


def begun_model(words: Mapping[str, Any]) -> Model:
    """Return the model of a new stream: without a number of clusters one that finds it."""
    if words.get("n_clusters") is not None:
        return StreamingFuzzyCMeans().set_params(**words)
    for word, value in words.items():
        if word not in OF_ALL and value is not None:
            raise InputError(
                f"{option_of(word)}: is of streams whose number of clusters is told; give it, "
                "e.g. -c 3, or leave this out."
            )
    return StreamingGaussianMixture(chunk_size=words["chunk_size"])


def learnt(
    model: Model, x: NDArray[Any], chunk: Batch, *, scored: bool, only_told: bool
) -> Answers:
    """Teach the model a chunk, whose scaled rows are x, and return what it says of its rows.

    Outlier scores are those before, where there is a before; of rows of a cluster that opens in the
    chunk, those after it. `only_told`: rows of zero weight get
    answers, but do not change the model.
    """
    begun = hasattr(model, "n_features_in_") and hasattr(model, "_stream")
    score = np.asarray(model.outlier_score(x)) if scored and begun else None
    if isinstance(model, StreamingGaussianMixture):
        known = model.cluster_numbers_ if begun else np.empty(0)
        labels = np.asarray(model.partial_fit(x).labels_)
        new = ~np.isin(labels, known)
        if score is not None and new.any():
            score[new] = model.outlier_score(x[new])
        count, u = int(model.cluster_numbers_.max()) + 1, None
    elif only_told:
        labels, u = np.asarray(model.predict(x)), np.asarray(model.memberships(x))
        count = u.shape[1]
    else:
        model.partial_fit(x, sample_weight=chunk.weight)
        labels, u = np.asarray(model.labels_), np.asarray(model.memberships_)
        count = u.shape[1]
    if scored and score is None:
        has_clusters = hasattr(model, "_stream")  # else rows wait until there are enough of them
        score = np.asarray(model.outlier_score(x)) if has_clusters else np.zeros(len(x))
    return Answers(labels, count, u, score)
