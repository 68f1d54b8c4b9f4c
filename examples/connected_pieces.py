"""
Connected pieces
================

Rings and moons, whose number nobody tells: one fit has the best clusters for every number of them,
and says which numbers stand out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons

from cmeans import ConnectivityClustering
from cmeans.inspection import PieceTreeDisplay

rings = make_circles(600, noise=0.03, factor=0.4, random_state=0)[0]
moons = make_moons(600, noise=0.05, random_state=0)[0] + [3, 0]
X = np.concatenate([rings, moons])
model = ConnectivityClustering().fit(X)
print(f"{model.n_clusters_} clusters of {np.bincount(model.labels_).tolist()} rows")
for k in (1, 2, 3, 4, 5):
    print(f"{k} clusters cost {model.cost_curve_[k - 1]:6.1f} at least")
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for ax, k in zip(axes, (model.n_clusters_, 2), strict=False):
    ax.scatter(*X.T, c=[f"C{label}" for label in model.partition(k)], s=4)
    ax.set(title=f"partition({k})", aspect="equal")
PieceTreeDisplay.from_estimator(model, ax=axes[2])
plt.show()
