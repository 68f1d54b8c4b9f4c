"""
A table of numbers and categories
=================================

Customers of a shop: ages and sums are numbers, channels and plans categories. Zeros and ones beside
scaled numbers make squared distances of both, another category costing what a full range of a
number does; Gower's similarity compares them one by one, whatever the scale.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.kernels import Gower

rng = np.random.default_rng(0)
group = rng.choice(3, size=600, p=[0.5, 0.3, 0.2])
age = np.array([30, 45, 40])[group] + rng.normal(0, 6, 600)
spent = np.array([200, 260, 900])[group] * rng.lognormal(0, 0.4, 600)
usual = np.array([[0, 0], [1, 1], [1, 2]])[group]  # channel and plan of most customers of a group
categories = np.where(
    rng.random((600, 2)) < 0.8, usual, np.column_stack([rng.choice(2, 600), rng.choice(3, 600)])
)

numbers = np.column_stack([age, spent])
scaled = MinMaxScaler().fit_transform(numbers)
ones = OneHotEncoder(sparse_output=False).fit_transform(categories) * np.sqrt(0.5)
rows = np.column_stack([numbers, categories])
fits = {
    "numbers alone": FuzzyCMeans(3, random_state=0).fit(scaled),
    "zeros and ones": FuzzyCMeans(3, random_state=0).fit(np.column_stack([scaled, ones])),
    "Gower's similarity": KernelKMeans(
        3, kernel=Gower.of(rows, categorical=[2, 3]), random_state=0
    ).fit(rows),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True)
for ax, (name, model) in zip(axes, fits.items(), strict=True):
    found = adjusted_rand_score(group, model.labels_)
    print(f"{name:20s}adjusted Rand index {found:.2f}")
    ax.scatter(age, spent, c=[f"C{label}" for label in model.labels_], s=6)
    ax.set_title(f"{name}: {found:.2f}")
    ax.set_xlabel("age")
axes[0].set_ylabel("spent")
figure.tight_layout()
plt.show()

# %%
# Each cluster has its plan.

for label in range(3):
    own = fits["Gower's similarity"].labels_ == label
    plan = np.bincount(categories[own, 1], minlength=3).argmax()
    print(
        f"cluster {label}: {own.sum()} customers of {age[own].mean():.0f} years, who spend "
        f"{spent[own].mean():.0f}; mostly plan {plan}"
    )
