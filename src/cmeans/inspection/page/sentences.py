"""Clusters in sentences for people: what sets one apart, and the words of its texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.arrays import Float64, IntArray
from ...runtime.numerals import in_digits, percent, told_apart
from ..contrast import DISTINCT, Contrast

SAID = 3  # sentences of a cluster
TERMS = 6
SEEN_TEXTS = 20_000  # from which terms are taken, evenly spaced
OFTEN, SELDOM = 1.5, 1 / 1.5  # times the mean from which on a ratio says more than a difference


def sentences_of(contrast: Contrast, cluster: int, ranges: tuple[Float64, Float64]) -> list[str]:
    """Return what sets a cluster apart, the most different column first.

    `ranges`: the least and the largest value (d,) of each column.
    """
    leading = contrast.leading(cluster, SAID)
    apart = [k for k in leading if abs(contrast.differences[cluster, k]) >= DISTINCT]
    if not apart:
        return ["Near the average in every column."]
    return [_sentence(contrast, cluster, int(k), *ranges) for k in apart]


def _sentence(contrast: Contrast, cluster: int, k: int, low: Float64, high: Float64) -> str:
    name, own, mean = contrast.feature_names[k], contrast.means[cluster, k], contrast.mean[k]
    if low[k] == 0 and high[k] == 1:
        column, equals, value = name.partition("=")
        what = f"{column} {value}" if equals else name
        return f"{percent(own)} have {what}, {percent(mean)} of all rows."
    one, other = told_apart([own, mean])
    if low[k] >= 0 and mean > 0 and own / mean >= OFTEN:
        return f"{name}: {in_digits(own / mean, 2)} times the average ({one}, all rows {other})."
    if low[k] >= 0 and mean > 0 and own / mean <= SELDOM:
        return f"{name}: {percent(own / mean)} of the average ({one}, all rows {other})."
    way = "above" if own > mean else "below"
    return f"{name}: {one} on average, {way} the {other} of all rows."


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
