"""Outliers: fuzzy memberships must sum to one, typicalities need not, so strangers stand out."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from cmeans import FuzzyCMeans, PossibilisticCMeans

rng = np.random.default_rng(0)
flowers = load_iris().data
strangers = rng.uniform(flowers.min(axis=0) - 3, flowers.max(axis=0) + 3, size=(15, 4))
X = np.vstack([flowers, strangers])
is_stranger = np.arange(len(X)) >= len(flowers)

fuzzy = FuzzyCMeans(n_clusters=2, kernel="linear", random_state=0).fit(X)
possibilistic = PossibilisticCMeans(n_clusters=2, kernel="linear", random_state=0).fit(X)
print(f"largest membership as a score:  AUC {roc_auc_score(is_stranger, 1 - fuzzy.memberships_.max(axis=1)):.2f}")
print(f"1 - typicality:                 AUC {roc_auc_score(is_stranger, possibilistic.outlier_score(X)):.2f}")
print("most typical flowers of each cluster:", possibilistic.representatives(3).tolist())
