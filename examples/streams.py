"""
Streams
=======

Handwritten digits in chunks of 300, beside clustering all of them at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, StreamingFuzzyCMeans
from cmeans.papers import StreamingKernelFCM

images, digit = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(images))
images, digit = images[order] / 16.0, digit[order]

at_once = FuzzyCMeans(10, kernel="rbf", gamma="median", landmarks=300, random_state=0).fit(images)
all_at_once = adjusted_rand_score(digit, at_once.labels_)
print(f"all {len(images)} rows at once:        adjusted Rand index {all_at_once:.2f}")

for way, estimator in {"landmarks": StreamingFuzzyCMeans, "projection": StreamingKernelFCM}.items():
    stream = estimator(10, kernel="rbf", gamma="median", random_state=0)
    scores = []
    for start in range(0, len(images), 300):
        # labels_ are those of this chunk, and nothing else of it is kept
        stream.partial_fit(images[start : start + 300])
        scores.append(adjusted_rand_score(digit, stream.predict(images)))
    lost = (
        f"{100 * stream.projection_loss_.max():.0f}% of a centre lost on the way into the last "
        "chunk"
    )
    print(f"{stream.n_chunks_} chunks, {way + ':':12} adjusted Rand index {scores[-1]:.2f}, {lost}")
    plt.plot(range(1, len(scores) + 1), scores, "o-", label=estimator.__name__)
plt.axhline(all_at_once, color="0.5", linestyle="--", label="all rows at once")
plt.xlabel("chunks seen")
plt.ylabel("adjusted Rand index of all rows")
plt.legend()
plt.show()
