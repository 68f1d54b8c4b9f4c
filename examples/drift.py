"""
A stream with drift
===================

Handwritten digits arrive in chunks of 100; each row is seen once. For a while they are 0 to 6, then
all ten. Before a chunk is learnt, its mean `outlier_score`, the squared distance to the nearest
centre, says how well the model of yesterday fits: its rise is the signal.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from cmeans import StreamingFuzzyCMeans

images, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
known, new = (rng.permutation(np.flatnonzero(rows)) for rows in (digit < 7, digit >= 7))
before = 600
stream = np.concatenate([known[:before], rng.permutation(np.concatenate([known[before:], new]))])
model = StreamingFuzzyCMeans(7, random_state=0)
scores = list[float]()
for start in range(0, len(stream), 100):
    chunk = images[stream[start : start + 100]] / 16
    if start:
        scores.append(float(model.outlier_score(chunk).mean()))
    model.partial_fit(chunk)

usual = np.array(scores[: before // 100 - 1])
signal = usual.mean() + 4 * usual.std()
first = next(number for number, score in enumerate(scores, start=1) if score > signal)
print(
    f"scores {usual.min():.2f} to {usual.max():.2f} until chunk {before // 100}; the first above "
    f"{signal:.2f} is that of chunk {first}"
)

plt.plot(range(1, len(scores) + 1), scores, "o-")
plt.axhline(
    signal, color="0.5", linestyle="--", label="mean + 4 standard deviations of the first five"
)
plt.axvline(before / 100 - 0.5, color="crimson", linewidth=1, label="new digits arrive")
plt.xlabel("chunk")
plt.ylabel("mean outlier score")
plt.legend()
plt.show()
