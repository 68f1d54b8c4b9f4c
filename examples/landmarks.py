"""
How many landmarks are enough
=============================

Digits by exact kernel k-means and by approximations; the exact objective of the labels that they
found judges all of them.
"""

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans, TwoStepKernelKMeans
from cmeans.inspection import CertificateDisplay

X, digit = load_digits(return_X_y=True)
exact = KernelKMeans(n_clusters=10, gamma="median", landmarks=None, random_state=0).fit(X)
print(
    f"exact            objective {exact.objective_:7.2f}, adjusted Rand index "
    f"{adjusted_rand_score(digit, exact.labels_):.2f}"
)
for estimator in (KernelKMeans, TwoStepKernelKMeans):
    for n_landmarks in (25, 200):
        before = perf_counter()
        model = estimator(n_clusters=10, gamma="median", landmarks=n_landmarks, random_state=0).fit(
            X
        )
        seconds = perf_counter() - before
        judged = KernelKMeans(
            n_clusters=10, gamma="median", landmarks=None, init=model.labels_, max_iter=1, tol=1e9
        ).fit(X)
        print(
            f"{estimator.__name__:20s} s={n_landmarks:3d}: exact objective "
            f"{judged.objective_history_[0]:7.2f}, "
            f"adjusted Rand index {adjusted_rand_score(digit, model.labels_):.2f}, {seconds:.2f} s"
        )

# %% A fit on landmarks carries a certificate, `approximation_`: bounds of the true cost of its
# partition, with the whole kernel, made from a sample of rows. They close as landmarks are added.

model = KernelKMeans(10, gamma="median", landmarks=100, random_state=0).fit(X)
print(model.approximation_)
CertificateDisplay.from_estimator(model, X, n_landmarks=(25, 50, 100))
plt.show()
