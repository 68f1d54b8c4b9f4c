"""Clusters matched with those of a reference, against all permutations and scikit-learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, jaccard_score

from cmeans.metrics import match_labels
from cmeans.metrics.matching import adjusted_rand, jaccard, shared_weights

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("seed", range(5))
def test_no_numbering_agrees_more(seed):
    rng = np.random.default_rng(seed)
    reference, labels, weight = rng.integers(0, 4, 50), rng.integers(0, 4, 50), rng.uniform(size=50)
    found = match_labels(labels, reference, sample_weight=weight)
    most = max(
        weight[np.array(order)[labels] == reference].sum()
        for order in itertools.permutations(range(4))
    )
    assert weight[found == reference].sum() == pytest.approx(most, rel=1e-12)
    assert adjusted_rand_score(labels, found) == 1.0


def test_clusters_that_are_left_over_and_noise():
    assert match_labels([0, 1, 2, -1, 2], [5, 5, 1, 1, 1]).tolist() == [5, 6, 1, -1, 1]
    assert match_labels([3, 3], [0, 1]).tolist() == [0, 0]
    assert match_labels([-1, -1], [0, 1]).tolist() == [-1, -1]


@pytest.mark.parametrize("weighted", [False, True])
def test_agreement_as_scikit_learn_has_it(weighted):
    reference, labels = RNG.integers(-1, 3, 200), RNG.integers(-1, 5, 200)
    weight = RNG.integers(0, 4, 200) if weighted else np.ones(200, int)
    shared = shared_weights(reference, labels, weight.astype(float), 3, 5)
    copies = np.repeat(np.arange(200), weight)
    assert adjusted_rand(shared) == pytest.approx(
        adjusted_rand_score(reference[copies], labels[copies]), rel=1e-12
    )
    matched = match_labels(labels, reference, sample_weight=weight)
    expected = [jaccard_score(reference[copies] == j, matched[copies] == j) for j in range(3)]
    np.testing.assert_allclose(jaccard(shared), expected, rtol=1e-12)


def test_clusters_without_rows():
    shared = shared_weights(np.array([0, 0, 2]), np.array([0, 0, 0]), np.ones(3), 3, 1)
    np.testing.assert_array_equal(jaccard(shared), [2 / 3, np.nan, 0.0])


@pytest.mark.parametrize(
    ("labels", "reference", "message"),
    [
        ([0, 1], [0], "labels has 2 rows and reference has 1"),
        ([0.5, 1], [0, 1], "labels has shape"),
        ([[0], [1]], [0, 1], "labels has shape"),
        ([0, 1], ["a", "b"], "reference has shape"),
        ([0, -2], [0, 1], "labels holds -2"),
        ([], [], "labels has shape"),
    ],
)
def test_bad_labels(labels, reference, message):
    with pytest.raises(ValueError, match=message):
        match_labels(labels, reference)
