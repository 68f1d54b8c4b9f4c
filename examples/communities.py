"""
Communities
===========

Nine groups of rows, three by three: how well communities agree at each resolution says which
numbers of them there are.
"""

import matplotlib.pyplot as plt
import numpy as np

from cmeans import ModularityClustering
from cmeans.inspection import ResolutionDisplay

rng = np.random.default_rng(0)
corners = np.array([[0, 0], [1, 0], [0.5, 0.9]])
centres = (30 * corners[:, None] + 4.5 * corners).reshape(9, 2)
X = np.concatenate([centre + rng.normal(size=(150, 2)) for centre in centres])
model = ModularityClustering().fit(X)
for labels, resolution in zip(model.cluster_layers_, model.layer_resolutions_, strict=True):
    print(f"{labels.max() + 1} communities at resolution {resolution:.3g}")
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for ax, labels in zip(axes, model.cluster_layers_, strict=False):
    ax.scatter(*X.T, c=[f"C{label}" for label in labels], s=4)
    ax.set(title=f"{labels.max() + 1} communities", aspect="equal")
ResolutionDisplay.from_estimator(model, ax=axes[2])
plt.show()
