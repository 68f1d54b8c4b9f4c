"""
Handwritten digits
==================

Images of one digit form a long, bent cloud: a thin 1 and a leaning 1 have less in common than
either has with its neighbours in between. The landmark graph follows such clouds from neighbour to
neighbour; k-means wants balls.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from cmeans import KernelKMeans

X, digit = load_digits(return_X_y=True)
models = {
    kernel: KernelKMeans(10, kernel=kernel, random_state=0).fit(X)
    for kernel in ("linear", "landmark_graph")
}
for kernel, model in models.items():
    print(
        f"{kernel:15s} normalised mutual information "
        f"{normalized_mutual_info_score(digit, model.labels_):.2f}"
    )

# %%
# The mean image of each cluster, and five images drawn from it.

model = models["landmark_graph"]
figure, axes = plt.subplots(6, 10, figsize=(9, 5.6))
for j in range(10):
    members = X[model.labels_ == j]
    for ax, image in zip(
        axes[:, j], [members.mean(axis=0), *members[:: len(members) // 5][:5]], strict=True
    ):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("mean")
plt.show()
