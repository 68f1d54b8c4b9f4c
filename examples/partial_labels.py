"""
Labels of a few rows
====================

Handwritten digits of which a few are labelled: clusters take the numbers of the labels and begin at the means of their labelled rows, and
the others fall into place.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans

X, digit = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
counts, scores, rest = (0, 50, 100, 200), list[float](), order[200:]  # `rest` is labelled in no fit
for count in counts:
    known = np.full(len(X), -1)  # -1: not known
    known[order[:count]] = digit[order[:count]]
    model = KernelKMeans(10, n_landmarks=300, random_state=0).fit(X, known_labels=known)
    scores.append(float(adjusted_rand_score(digit[rest], model.labels_[rest])))
    right = f", {np.mean(model.labels_[rest] == digit[rest]):.0%} are named right" if count else ""
    print(f"{count:3d} labels: adjusted Rand index of the others {scores[-1]:.2f}{right}")

plt.plot(counts, scores, "o-")
plt.xlabel(f"labelled rows of {len(X):,}")
plt.ylabel("adjusted Rand index of the others")
plt.show()

# %%
# Where no labels are known, it may be known that rows belong together: they are one row, and share a cluster.

pairs = np.array([(i, j) for i, j in pairwise(order[:200]) if digit[i] == digit[j]])
model = KernelKMeans(10, n_landmarks=300, random_state=0).fit(X, must_link=pairs)
together = np.mean(model.labels_[pairs[:, 0]] == model.labels_[pairs[:, 1]])
print(f"{len(pairs)} pairs that must share a cluster: {together:.0%} do")
