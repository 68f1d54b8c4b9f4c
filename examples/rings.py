"""
Rings
=====

Two rings, one inside the other. Plain k-means cuts both in half; kernel k-means with a Gaussian
kernel finds them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans

X, rings = make_circles(1500, noise=0.05, factor=0.2, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(7, 3.5), sharey=True)
for ax, words in zip(axes, ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 2.0}), strict=True):
    model = KernelKMeans(n_clusters=2, n_init=5, random_state=0, **words).fit(X)
    score = adjusted_rand_score(rings, model.labels_)
    print(f"{model.kernel:7s} adjusted Rand index {score:5.2f}, {model.n_iter_} sweeps")
    ax.scatter(*X.T, c=[f"C{label}" for label in model.labels_], s=4)
    ax.set(title=f'kernel="{model.kernel}": {score:.2f}', aspect="equal")
plt.show()
