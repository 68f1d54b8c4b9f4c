"""Evidence of partitions in plain loops."""

from __future__ import annotations

import numpy as np


def neighbour_score(x, labels, weights, few=3):
    """(a - e) / (1 - e) over the pairs of rows and their nearest few, equally near ones by equal
    shares, of clusters that are no crumbs."""
    n = len(x)
    least = max(0.01 * weights.sum(), 5 * np.median(weights))
    masses = {j: weights[labels == j].sum() for j in set(labels.tolist()) if j >= 0}
    heavy = {j for j, mass in masses.items() if mass >= least}
    if len(heavy) < 2:
        return 0.0
    together = pairs = 0.0
    for i in range(n):
        others = sorted((float(np.linalg.norm(x[i] - x[j])), j) for j in range(n) if j != i)
        last = others[few - 1][0]
        nearer = sum(distance < last for distance, _ in others)
        level = sum(distance == last for distance, _ in others)
        for distance, j in others:
            share = 1.0 if distance < last else (few - nearer) / level if distance == last else 0.0
            if share and labels[i] in heavy and labels[j] in heavy:
                pairs += weights[i] * share
                together += weights[i] * share * (labels[i] == labels[j])
    total = sum(masses[j] for j in heavy)
    chance = sum((masses[j] / total) ** 2 for j in heavy)
    return (together / pairs - chance) / (1 - chance)


def valleys(labels, ends, heights):
    """The valleys between clusters by their edges; infinite where none joins two."""
    c = labels.max() + 1
    between = {(i, j): [] for i in range(c) for j in range(c)}
    for (a, b), height in zip(ends, heights, strict=True):
        i, j = sorted((labels[a], labels[b]))
        between[i, j].append(height)
    depths = np.full((c, c), np.inf)
    for i in range(c):
        for j in range(i + 1, c):
            if between[i, j]:
                within = max(np.mean(between[i, i]), np.mean(between[j, j]))
                depths[i, j] = depths[j, i] = np.mean(between[i, j]) - within
    return depths


def pair_squares(x):
    """The squared distances of all pairs of rows."""
    n, d = x.shape
    return np.array(
        [[sum((x[i, k] - x[j, k]) ** 2 for k in range(d)) for j in range(n)] for i in range(n)]
    )


def reach(x, ends, numbers, count):
    """The distances from midpoints of edges to the row that is so manieth near, among the ends and
    their neighbours."""
    found = []
    for a, b in ends:
        rows = {a, b, *numbers[a], *numbers[b]}
        middle = (x[a] + x[b]) / 2
        found.append(sorted(float(np.linalg.norm(x[r] - middle)) for r in rows)[count - 1])
    return np.array(found)
