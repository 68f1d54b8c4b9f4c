"""Clusters inside one another: kernel k-means with an RBF kernel finds the rings that plain k-means cuts in half."""

from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans

X, rings = make_circles(1500, noise=0.05, factor=0.2, random_state=0)
for words in ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 2.0}):
    model = KernelKMeans(n_clusters=2, n_init=5, random_state=0, **words).fit(X)
    print(f"{model.kernel:7s} adjusted Rand index {adjusted_rand_score(rings, model.labels_):5.2f}, {model.n_iter_} sweeps")
