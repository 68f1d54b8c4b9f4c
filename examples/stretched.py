"""
Stretched clusters
==================

Flowers of three species, measured in four ways. Petals and sepals grow together, so that every
species is a long cloud: round clusters cut the two that touch, and a mixture of Gaussians, whose
components have covariances of their own, tells them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, GaussianMixture, KernelKMeans
from cmeans.inspection import ScatterDisplay

iris = load_iris(as_frame=True)
X, species = iris.data, iris.target
models = {
    "k-means": KernelKMeans(3, kernel="linear", random_state=0),
    "fuzzy, covariances": FuzzyCMeans(3, covariance="full", random_state=0),
    "mixture": GaussianMixture(3, random_state=0),
}
columns = ("petal length (cm)", "sepal width (cm)")
figure, axes = plt.subplots(1, 4, figsize=(15, 3.6))
for ax, (name, model) in zip(axes, models.items(), strict=False):
    model.fit(X)
    print(f"{name:20} adjusted Rand index {adjusted_rand_score(species, model.labels_):.2f}")
    ScatterDisplay.from_estimator(model, X, columns=columns, ax=ax)
    ax.set_title(name)

# %% A mixture has a density, and numbers of clusters compare by its likelihood.

mixture = models["mixture"]
ScatterDisplay.from_estimator(mixture, X, columns=columns, outline="density", ax=axes[3])
axes[3].set_title("density")
figure.tight_layout()
plt.show()

found = GaussianMixture((1, 4), random_state=0).fit(X)
print("BIC of 1 to 4 clusters:", found.bics_.round(), "the least:", found.n_clusters_)
