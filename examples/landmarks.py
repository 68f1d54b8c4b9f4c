"""How many landmarks are enough: digits, exact kernel k-means against approximations, from the same start."""

from time import perf_counter

from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans, TwoStepKernelKMeans

X, digit = load_digits(return_X_y=True)
start = KernelKMeans(n_clusters=10, gamma="median", n_landmarks=None, max_iter=300, n_init=3, random_state=0).fit(X)
print(f"exact            objective {start.objective_:7.2f}, adjusted Rand index {adjusted_rand_score(digit, start.labels_):.2f}")
for estimator in (KernelKMeans, TwoStepKernelKMeans):
    for n_landmarks in (25, 100, 400):
        before = perf_counter()
        model = estimator(n_clusters=10, gamma="median", n_landmarks=n_landmarks, n_init=3, random_state=0).fit(X)
        seconds = perf_counter() - before
        # One judge for all: the exact objective of the labels they found.
        judged = KernelKMeans(n_clusters=10, gamma="median", n_landmarks=None, init=model.labels_, max_iter=1, tol=1e9).fit(X)
        print(
            f"{estimator.__name__:20s} s={n_landmarks:3d}: exact objective {judged.objective_history_[0]:7.2f}, "
            f"adjusted Rand index {adjusted_rand_score(digit, model.labels_):.2f}, {seconds:.2f} s"
        )
