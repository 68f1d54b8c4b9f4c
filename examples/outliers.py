"""
Outliers
========

Fuzzy memberships of a row sum to one, so that a stranger far from all clusters belongs to each by a
share. Possibilistic typicalities need not, and a noise cluster takes the rest: strangers stand out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from cmeans import FuzzyCMeans, PossibilisticCMeans

rng = np.random.default_rng(0)
flowers = load_iris().data
strangers = rng.uniform(flowers.min(axis=0) - 3, flowers.max(axis=0) + 3, size=(15, 4))
X = np.vstack([flowers, strangers])
is_stranger = np.arange(len(X)) >= len(flowers)

fuzzy = FuzzyCMeans(n_clusters=2, random_state=0).fit(X)
noise = FuzzyCMeans(n_clusters=2, noise="auto", random_state=0).fit(X)
possibilistic = PossibilisticCMeans(n_clusters=2, random_state=0).fit(X)
scores = {
    "1 - largest membership": 1 - fuzzy.memberships_.max(axis=1),
    "membership in the noise": noise.noise_membership_,
    "1 - typicality": possibilistic.outlier_score(X),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
for ax, (name, score) in zip(axes, scores.items(), strict=True):
    area = roc_auc_score(is_stranger, score)
    print(f"{name + ':':31} AUC {area:.2f}")
    ax.scatter(X[:, 0], X[:, 2], c=score, s=18, cmap="cividis")
    ax.scatter(
        *strangers[:, [0, 2]].T, s=70, facecolors="none", edgecolors="crimson", linewidths=0.8
    )
    ax.set(title=f"{name}: {area:.2f}", xlabel="sepal length (cm)", ylabel="petal length (cm)")
figure.tight_layout()
plt.show()

# %%
# The strangers are circled. The flowers that are most typical of each cluster:

print(possibilistic.representatives(3).tolist())
