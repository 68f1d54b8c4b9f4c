"""The words of the texts of each cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.arrays import IntArray

TERMS = 6  # of a cluster
SEEN_TEXTS = 20_000  # from which terms are taken, evenly spaced


def terms_of(texts: Sequence[str], labels: IntArray, n_clusters: int) -> list[list[str]]:
    """Return words that stand in the texts of each cluster more often than elsewhere, by their
    frequency there times the logarithm of how rare they are over all clusters (class-based tf-idf,
    Grootendorst 2022)."""
    from sklearn.feature_extraction.text import CountVectorizer  # which takes a while to load

    some = np.arange(0, len(texts), -(-len(texts) // SEEN_TEXTS))
    some = some[labels[some] >= 0]
    counter = CountVectorizer(token_pattern=r"(?u)\b[^\W\d_][\w'-]+\b", max_features=20_000)
    try:
        counts = counter.fit_transform([texts[i] for i in some.tolist()])
    except ValueError:  # of texts without words
        return [[] for _ in range(n_clusters)]
    words = counter.get_feature_names_out()
    classes = np.zeros((n_clusters, counts.shape[1]))
    for j in range(n_clusters):
        classes[j] = np.asarray(counts[labels[some] == j].sum(axis=0)).ravel()
    total = classes.sum(axis=0)
    share = classes / np.maximum(classes.sum(axis=1, keepdims=True), 1)
    rare = np.log1p(classes.sum() / n_clusters / np.maximum(total, 1))
    # A word that is no more frequent here than over all tells nothing, however frequent it is.
    more = share > 1.2 * total / max(total.sum(), 1)
    score = np.where(more & (classes > 1), share * rare, 0.0)
    best = np.argsort(-score, axis=1, kind="stable")[:, :TERMS]
    return [[str(words[k]) for k in best[j] if score[j, k] > 0] for j in range(n_clusters)]
