"""Sums of the largest eigenvalues against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.spaces import spectrum

pytestmark = pytest.mark.usefixtures("one_thread")


def leading_sum(matrix, *words):
    return spectrum.leading_sum(lambda vectors: matrix @ vectors, np.diag(matrix), *words)


def spread(n, falling, seed=0):
    """A positive semidefinite matrix with the eigenvalues falling ** 0, 1, 2, ..."""
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    return (basis * falling ** np.arange(n)) @ basis.T


@pytest.mark.parametrize("count", [1, 3, 20])
@pytest.mark.parametrize(("falling", "within"), [(0.5, 1e-9), (0.9, 1e-6), (0.99, 0.02)])
def test_it_is_the_sum_of_the_largest_eigenvalues(falling, within, count):
    matrix = spread(200, falling)
    found, basis = leading_sum(matrix, count, 1.0)
    expected = np.sort(np.linalg.eigvalsh(matrix))[-count:].sum()
    assert found == pytest.approx(expected, rel=within)
    assert found <= expected * (1 + 1e-12)  # Rayleigh and Ritz: from below
    assert leading_sum(matrix, count, 1.0, basis)[0] == pytest.approx(expected, rel=within)


@pytest.mark.parametrize("n", [1, 2, 5, 22])
@pytest.mark.parametrize("count", [1, 4, 50])
def test_small_matrices_are_taken_apart_whole(n, count):
    """Even where more eigenvalues are asked for than there are."""
    matrix = spread(n, 0.9, seed=1)
    found, _ = leading_sum(matrix, count, 1.0)
    assert found == pytest.approx(np.linalg.eigvalsh(matrix)[-count:].sum(), rel=1e-12)


def test_a_matrix_of_nothing():
    assert leading_sum(np.zeros((4, 4)), 2, 1.0)[0] == 0
    assert leading_sum(np.zeros((100, 100)), 2, 0.5)[0] == 0


def test_negative_eigenvalues_count_for_nothing():
    matrix = np.diag([3.0, -1.0, -2.0])
    assert leading_sum(matrix, 2, 1.0)[0] == pytest.approx(3.0)


def test_a_space_of_before_serves_a_matrix_that_differs_a_little():
    matrix = spread(200, 0.7)
    _, near = leading_sum(matrix, 3, 1.0)
    vector = np.random.default_rng(2).normal(size=200)
    changed = matrix - 0.05 * np.outer(vector, vector) / (vector @ vector)
    assert leading_sum(changed, 3, 1.0, near)[0] == pytest.approx(
        np.linalg.eigvalsh(changed)[-3:].sum(), rel=1e-6
    )


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("sampled", [0.1, 0.5])
def test_of_a_diagonal_matrix_each_entry_counts_as_it_does_in_the_whole(count, sampled):
    """Rows without anything in common have eigenvalues of their share in all rows, which in a
    sample look larger; they are so near to each other that a few steps find a fifth less."""
    n, p = 1000, int(1000 * sampled)
    values = np.random.default_rng(3).uniform(0.5, 1.0, size=n)
    part = np.diag(values[:p]) / p  # every row weighted by the root of its share in the sample
    found, _ = leading_sum(part, count, sampled)
    expected = np.sort(values[:p])[-count:].sum() / n
    assert 0.8 * expected < found <= expected * (1 + 1e-12)
    assert expected < 1.1 * np.sort(values)[-count:].sum() / n


def test_from_a_sample_it_is_nearer_to_the_whole_than_the_samples_own_eigenvalues():
    """A narrow kernel plus three clusters, from a fifth of 600 rows: the means of ten samples."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 2)) + 6 * rng.normal(size=(3, 2))[np.arange(600) % 3]
    norms = (X**2).sum(axis=1)
    d2 = norms[:, None] + norms[None, :] - 2 * X @ X.T
    whole = 0.3 * np.exp(-0.02 * d2) + 0.7 * np.exp(-200 * d2)
    expected = np.linalg.eigvalsh(whole / 600)[-3:].sum()
    ours, raw = [], []
    for _ in range(10):
        chosen = rng.choice(600, size=120, replace=False)
        part = whole[np.ix_(chosen, chosen)] / 120
        ours.append(leading_sum(part, 3, 0.2)[0])
        raw.append(np.linalg.eigvalsh(part)[-3:].sum())
    assert abs(np.mean(ours) - expected) < 0.5 * abs(np.mean(raw) - expected)
    assert np.mean(ours) == pytest.approx(expected, rel=0.03)


def test_the_largest_of_eigenvalues_that_coincide():
    """LAPACK fails on the scatter of the rows of an identity matrix when it is asked for one
    eigenvalue."""
    rows = np.eye(60)
    for n in range(20, 60):
        part = rows[:n] - rows[:n].mean(axis=0)
        scatter = part.T @ part
        assert spectrum.largest_eigenvalue(scatter) == pytest.approx(
            np.linalg.eigvalsh(scatter)[-1], rel=1e-12
        )
