"""Rows that come and go: handwritten digits in chunks of 150, each seen once, beside clustering all of them at once."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, StreamingFuzzyCMeans

images, digit = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(images))
images, digit = images[order] / 16.0, digit[order]

at_once = FuzzyCMeans(10, kernel="rbf", gamma="median", n_init=3, random_state=0).fit(images)
print(f"all {len(images)} rows at once:        adjusted Rand index {adjusted_rand_score(digit, at_once.labels_):.2f}")

for method in ("landmarks", "projection"):
    stream = StreamingFuzzyCMeans(10, method=method, kernel="rbf", gamma="median", random_state=0)
    for start in range(0, len(images), 150):
        stream.partial_fit(images[start : start + 150])  # labels_ are those of this chunk, and nothing else of it is kept
    score = adjusted_rand_score(digit, stream.predict(images))
    lost = f"{100 * stream.projection_loss_.max():.0f}% of a centre lost on the way into the last chunk"
    print(f"{stream.n_chunks_} chunks, {method + ':':12} adjusted Rand index {score:.2f}, {lost}")
