"""
Single cells
============

From an AnnData of counts to kinds of cells, a picture and the genes that mark them. The counts are
made here, as those of 2,000 cells of eight kinds might be: no biology is in them.

The steps are those that scanpy has: counts to logarithms of shares, principal axes, clusters. What
is found stands in the AnnData, where scanpy's plots look for it.
"""

import matplotlib.pyplot as plt
import numpy as np
from anndata import AnnData
from sklearn.metrics import adjusted_rand_score

import cmeans
from cmeans.inspection import explain

rng = np.random.default_rng(0)
kinds = rng.choice(8, size=2000, p=[0.3, 0.2, 0.15, 0.12, 0.1, 0.07, 0.04, 0.02])
usual = rng.gamma(0.5, 1.0, size=600)
of_kind = np.where(rng.random((8, 600)) < 0.05, 6.0, 1.0)  # some genes of each are more active
depth = rng.lognormal(0.0, 0.4, size=2000)
counts = rng.poisson(usual * of_kind[kinds] * depth[:, None])
cells = AnnData(counts.astype(np.float32))
cells.var_names = [f"gene {number}" for number in range(600)]

shares = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
centred = shares - shares.mean(axis=0)
directions = np.linalg.eigh(centred.T @ centred)[1][:, :-31:-1]
cells.obsm["X_pca"] = centred @ directions

model = cmeans.anndata.cluster(cells)  # the number of clusters is not told
print(cells.obs["cmeans"].value_counts().to_dict())
found = cells.obs["cmeans"].cat.codes
print(f"adjusted Rand index with the kinds {adjusted_rand_score(kinds, found):.2f}")

told = explain(model, cells.obsm["X_pca"], values=shares, feature_names=cells.var_names)
for cluster in range(model.n_clusters_):
    rows = told.columns["cluster"] == cluster
    print(f"cluster {cluster}: {', '.join(told.columns['column'][rows])}")

try:
    from umap import UMAP

    places = UMAP(random_state=0).fit_transform(cells.obsm["X_pca"])
except ImportError:  # the plane in which the clusters come nearest to standing in a circle
    angles = 2 * np.pi * np.asarray(found) / model.n_clusters_
    corners = np.column_stack([np.cos(angles), np.sin(angles)])
    axes = np.linalg.lstsq(cells.obsm["X_pca"], corners, rcond=None)[0]
    places = cells.obsm["X_pca"] @ axes
colours = np.array(cells.uns["cmeans_colors"])
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].scatter(*places.T, c=colours[found], s=3)
axes[0].set(title=f"{model.n_clusters_} clusters")
genes = [told.columns["column"][told.columns["cluster"] == k][0] for k in range(model.n_clusters_)]
levels = [
    shares[found == k][:, cells.var_names.get_indexer(genes)].mean(axis=0)
    for k in range(len(genes))
]
axes[1].imshow(levels, cmap="cividis")
axes[1].set(title="mean level of a gene of each", xlabel="gene", ylabel="cluster")
axes[1].set_xticks(range(len(genes)), genes, rotation=90)
plt.show()
