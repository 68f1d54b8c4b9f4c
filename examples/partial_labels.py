"""
Labels of a few rows
====================

Handwritten digits of which a few are labelled: clusters take the numbers of the labels and begin at
the means of their labelled rows, and the others fall into place.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans

X, digit = (every[:1000] for every in load_digits(return_X_y=True))
counts, scores = (0, 50, 200), list[np.ndarray]()
# which rows are labelled is chance: 4 draws
orders = [np.random.default_rng(seed).permutation(len(X)) for seed in range(4)]
for count in counts:
    of_draws = []
    for order in orders:
        rest = order[200:]  # labelled in no fit
        known = np.full(len(X), -1)  # -1: not known
        known[order[:count]] = digit[order[:count]]
        labels = KernelKMeans(10, landmarks=300, random_state=0).fit_predict(X, known_labels=known)
        of_draws.append(
            (adjusted_rand_score(digit[rest], labels[rest]), np.mean(digit[rest] == labels[rest]))
        )
    scores.append(np.array(of_draws).T)
    right = f", {scores[-1][1].mean():.0%} are named right" if count else ""
    print(f"{count:3d} labels: adjusted Rand index of the others {scores[-1][0].mean():.2f}{right}")

index = np.array([score[0] for score in scores])  # (counts, draws)
plt.plot(counts, index, "o", color="0.75")
plt.plot(counts, index.mean(axis=1), "o-", label="mean of 4 draws")
plt.legend()
plt.xlabel(f"labelled rows of {len(X):,}")
plt.ylabel("adjusted Rand index of the others")
plt.show()

# %% Where no labels are known, it may be known that rows belong together: they are one row, and
# share a cluster.

order = orders[0]
pairs = np.array([(i, j) for i, j in pairwise(order[:200]) if digit[i] == digit[j]])
model = KernelKMeans(10, landmarks=300, random_state=0).fit(X, must_link=pairs)
together = np.mean(model.labels_[pairs[:, 0]] == model.labels_[pairs[:, 1]])
print(f"{len(pairs)} pairs that must share a cluster: {together:.0%} do")
