"""
Overlapping wines
=================

178 Italian wines of three cultivars, and why the fuzzifier must fit the data: at m = 3 all
memberships are alike.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from cmeans import FuzzyCMeans
from cmeans.inspection import MembershipDisplay

X, cultivar = load_wine(return_X_y=True)
X = minmax_scale(X)
for m in ("auto", 2.0, 3.0):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = FuzzyCMeans(n_clusters=3, m=m, kernel="rbf", gamma="median", random_state=0).fit(X)
    largest = model.memberships_.max(axis=1)
    score = adjusted_rand_score(cultivar, model.labels_)
    print(
        f"m={model.m_:.2f}: mean largest membership {largest.mean():.2f}, adjusted Rand index "
        f"{score:.2f}"
    )
    for warning in caught:
        print("   ", warning.message)

# %% The profiles of memberships at the fuzzifier that was chosen, and the wines that lie between
# the clusters.

model = FuzzyCMeans(n_clusters=3, kernel="rbf", gamma="median", random_state=0).fit(X)
MembershipDisplay.from_estimator(model, X)
plt.show()
doubtful = np.argsort(model.memberships_.max(axis=1))[:3]
print("the three wines between the clusters:")
for row in doubtful:
    print(f"   wine {row}, memberships {np.round(model.memberships_[row], 2)}")
