"""
Choosing the number of clusters
===============================

``select`` compares numbers of clusters by evidence that is corrected for chance, so that one
cluster is an answer too; ``stability`` fits again on bootstrap samples and says of each cluster how
often it comes back.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from cmeans import FuzzyCMeans, select, stability
from cmeans.inspection import SelectionDisplay, StabilityDisplay

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
chosen = select(FuzzyCMeans(), X, range(2, 6), n_bootstrap=2, random_state=0)
print(chosen.reason)
SelectionDisplay.from_selection(chosen)
plt.show()

# %% What comes back from bootstrap samples: all three; of five clusters, those that cut a cultivar
# in two do not.

for c in (3, 5):
    found = stability(FuzzyCMeans(c, random_state=0).fit(X), X, n_bootstrap=10, random_state=0)
    print(f"{c} clusters:", np.round(found.clusters, 2))
    StabilityDisplay.from_stability(found)
plt.show()

# %%
# The same question to one cloud without clusters.

cloud = np.random.default_rng(0).normal(size=(150, 13))
print(select(FuzzyCMeans(), cloud, range(2, 5), n_bootstrap=0, random_state=0).reason)
