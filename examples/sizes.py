"""
Clusters of given sizes
=======================

442 patients for four wards of about the same size: each ward may differ from a quarter by one
patient in a hundred. The bounds are kept exactly, at the least cost that the centres allow.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from cmeans import KernelKMeans, Sizes
from cmeans.inspection import SizesDisplay

X = load_diabetes().data
figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for ax, words in zip(axes, ({}, {"sizes": Sizes(least=0.24, most=0.26)}), strict=True):
    model = KernelKMeans(4, kernel="linear", random_state=0, **words).fit(X)
    print(
        f"{words or 'as they come'}: sizes {np.bincount(model.labels_)}, sum of squares "
        f"{model.objective_:.3f}"
    )
    SizesDisplay.from_estimator(model, X, ax=ax)
    ax.set_title(", ".join(f"{word}={value}" for word, value in words.items()) or "as they come")
figure.tight_layout()
plt.show()

# %% New rows are assigned by the prices of the wards that the fit settled, and the gap says how far
# the assignment is from the best one.

print("prices:", np.round(model.prices_, 4), " gap:", model.size_gap_)
print("a new patient:", model.predict(X[:1]))
