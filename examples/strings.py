"""
Strings, and any kernel
=======================

Words by the letter pairs that they share, as a full kernel matrix and as the columns of a few
landmarks only. Graphs, trees and time series go the same way, by a kernel of theirs.
"""

from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from cmeans import KernelKMeans
from cmeans.kernels import Precomputed

WORDS = [
    *("cluster", "clusters", "clustered", "clustering", "clusterings"),
    *("kernel", "kernels", "kernelised", "kernelise"),
    *("landmark", "landmarks", "landmarked"),
    *("fuzzy", "fuzzier", "fuzziness", "fuzzifier", "fuzzifiers"),
]


def pairs(word: str) -> Counter[str]:
    """How often each pair of neighbouring letters occurs."""
    return Counter(a + b for a, b in pairwise(word))


def kernel(left: list[str], right: list[str]) -> np.ndarray:
    """Normalised 2-spectrum kernel between two lists of words."""
    counts = [[pairs(word) for word in words] for words in (left, right)]
    values = np.array(
        [[sum(a[p] * b[p] for p in a) for b in counts[1]] for a in counts[0]], dtype=float
    )
    norms = [np.sqrt([sum(v * v for v in a.values()) for a in side]) for side in counts]
    return values / np.outer(*norms)


full = KernelKMeans(n_clusters=4, kernel="precomputed", n_init=5, random_state=0).fit(
    kernel(WORDS, WORDS)
)
rows = [0, 5, 9, 12, 3, 14]  # six words stand for all
columns = KernelKMeans(
    n_clusters=4,
    kernel=Precomputed(diagonal=np.ones(len(WORDS))),
    landmarks=rows,
    init=full.labels_,
).fit(kernel(WORDS, [WORDS[i] for i in rows]))
for name, model in (("full kernel matrix", full), ("six columns of it", columns)):
    print(name)
    for j in range(4):
        print(
            "   ",
            ", ".join(word for word, label in zip(WORDS, model.labels_, strict=True) if label == j),
        )
print(
    "kernelisation belongs to cluster",
    full.predict(kernel(["kernelisation"], WORDS))[0],
    "like",
    WORDS[5],
)

# %%
# The kernel in the order of the clusters.

order = np.argsort(full.labels_, kind="stable")
plt.figure(figsize=(6, 5))
plt.imshow(kernel(WORDS, WORDS)[np.ix_(order, order)], cmap="cividis", vmin=0)
plt.yticks(range(len(WORDS)), [WORDS[i] for i in order])
plt.xticks([])
plt.colorbar(label="kernel value")
plt.show()
