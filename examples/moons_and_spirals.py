"""
Moons and spirals
=================

``kernel="landmark_graph"`` cuts the graph of rows that share near landmarks: relaxed normalised
cuts (spectral clustering) at the cost of k-means, with an answer for new rows. Beside it k-means on
the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans


def spirals(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two arms of one and a half turns around one another."""
    rng = np.random.default_rng(seed)
    arm = rng.integers(2, size=n)
    angle = 1.0 + rng.uniform(0, 3 * np.pi, n)
    direction = angle + np.pi * arm
    points = angle[:, None] * np.column_stack([np.cos(direction), np.sin(direction)])
    return points + rng.normal(scale=0.25, size=(n, 2)), arm


shapes = {"moons": make_moons(20_000, noise=0.06, random_state=0), "spirals": spirals(20_000)}
figure, axes = plt.subplots(2, 2, figsize=(7, 6.5))
for row, (name, (X, truth)) in zip(axes, shapes.items(), strict=True):
    for ax, kernel in zip(row, ("linear", "landmark_graph"), strict=True):
        model = KernelKMeans(2, kernel=kernel, random_state=0).fit(X)
        score = adjusted_rand_score(truth, model.labels_)
        print(f"{name:8s} {kernel:15s} adjusted Rand index {score:.2f}")
        ax.scatter(*X[::10].T, c=[f"C{label}" for label in model.labels_[::10]], s=2)
        ax.set(title=f"{name}, {kernel}: {score:.2f}", xticks=[], yticks=[])
plt.show()

# %%
# A model answers for rows that it has not seen, which spectral clustering does not.

print("new rows:", model.predict(spirals(5, seed=1)[0]), "arms:", spirals(5, seed=1)[1])
