"""
An unknown number, and noise
============================

Handwritten digits of four kinds among strangers, and nobody says that there are four.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from cmeans import AdaptivePossibilisticCMeans, SequentialPossibilisticCMeans

images, digit = load_digits(return_X_y=True)
of_four = np.isin(digit, (0, 4, 6, 7))
strangers = np.random.default_rng(0).choice(np.flatnonzero(~of_four), size=40, replace=False)
rows = np.concatenate([np.flatnonzero(of_four), strangers])
X, digit, is_stranger = PCA(3).fit_transform(images[rows]), digit[rows], ~of_four[rows]
print(
    f"{np.sum(~is_stranger)} images of the digits 0, 4, 6, 7 and {np.sum(is_stranger)} of others, "
    "as three principal components"
)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
for ax, (name, model) in zip(
    axes,
    {
        "adaptive, from 10 clusters on": AdaptivePossibilisticCMeans(
            n_clusters=(1, 10), random_state=0
        ),
        "without sparsity": AdaptivePossibilisticCMeans((1, 10), sparsity=0, random_state=0),
        "sequential, with no bound": SequentialPossibilisticCMeans(),
    }.items(),
    strict=True,
):
    labels = model.fit_predict(X)
    print(f"{name}: {model.n_clusters_} clusters")
    for j in range(model.n_clusters_):
        kinds, counts = np.unique(digit[labels == j], return_counts=True)
        print(
            f"    {counts.sum():3d} images, {counts.max() / counts.sum():4.0%} of them of the "
            f"digit {kinds[counts.argmax()]}"
        )
    known, unknown = np.mean(labels[~is_stranger] == -1), np.mean(labels[is_stranger] == -1)
    print(
        f"    {np.sum(labels == -1):3d} belong nowhere: {unknown:.0%} of the others, {known:.0%} "
        "of the four digits"
    )
    ax.scatter(*X[labels == -1, :2].T, c="0.6", s=6, label="nowhere")
    placed = labels >= 0
    ax.scatter(*X[placed, :2].T, c=[f"C{label}" for label in labels[placed]], s=6)
    ax.set(title=f"{name}: {model.n_clusters_}", xlabel="first component")
axes[0].set_ylabel("second component")
figure.tight_layout()
plt.show()

# %% Grey rows belong nowhere. Without sparsity every image belongs somewhere; the sequential
# estimator takes no number at all and keeps the cores of the clusters alone.
