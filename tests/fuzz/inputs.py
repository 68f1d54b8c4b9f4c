"""Estimators and whatever may be handed to them: rows, weights and parameters of every kind.

A fit is refused by a ValueError, or its model keeps what it promises: labels of its clusters,
numbers that are finite, memberships that sum to one where they should, predictions of the training
rows that are its labels. A warning that is not the library's own is a find too.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cmeans import ThreadEngine
from every_estimator import CLASSES, EVERY_NAME, FINDING, PARAMETERS, SWEPT, known
from fuzz.runner import Case, FoundError

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    0.5,
    1.5,
    1e-300,
    1e300,
    1e-9,
    float("nan"),
    float("inf"),
    True,
    None,
    "auto",
    "x",
    [],
    (1, 2),
    10**30,
    1 + 2j,
)
WORDS: dict[str, tuple[Any, ...]] = {
    "n_clusters": (
        1,
        2,
        3,
        5,
        0,
        -1,
        2.0,
        "3",
        None,
        10**9,
        "auto",
        (1, 5),
        (1, 0),
        (2, 3),
        (1, 10**9),
    ),
    "kernel": (
        "linear",
        "rbf",
        "laplacian",
        "cosine",
        "sigmoid",
        "polynomial",
        "landmark_graph",
        "manhattan",
        "gower",
        "no",
        None,
        3,
    ),
    "gamma": ("scale", "median", "auto", 0.1, 1e-300, 1e300, 0, -1, float("nan"), "no"),
    "landmarks": (
        "auto",
        None,
        1,
        3,
        10,
        0,
        -1,
        10**9,
        2.5,
        "no",
        [0, 1, 2],
        [0, 0],
        [10**9],
        [-1],
        np.eye(3),
        np.full((2, 3), np.nan),
    ),
    "landmarks__method": ("auto", "rpcholesky", "uniform", "k-means++", "k-means", "no"),
    "landmarks__tol": (0.0, 0.02, 1.0, -1, float("nan")),
    "init": (
        "k-means++",
        "k-means||",
        "max-min",
        "random",
        "random-partition",
        "dirichlet",
        "no",
        [0, 1, 2],
        [0, 0, 0],
        np.eye(3),
    ),
    "m": ("auto", 1.1, 2.0, 50.0, 1.0, 0, float("inf"), "no"),
    "search": ("auto", "breathing", "annealing", "hierarchical", None, "no"),
    "search__acceleration": ("anderson", None, "no"),
    "rule": ("fuzzy", "hard", "entropy", "possibilistic", "noise_fuzzy", "no", 3, None),
    "noise": (None, 0.1, "auto", 0.0, 1.0, -1, 2.0),
    "sizes__least": (None, 1, 5, 0.2, 0.9, -1, [1, 2, 3]),
    "sizes__most": (None, 1, 20, 0.5, 0.0, 10**9),
    "solver": ("auto", "fagp", "agp", "batched", "lloyd", "no"),
    "max_iter": (1, 2, 20, 0, None, -1),
    "chunk_size": (5, 20, 1, 0, 10**9),
    "patch_size": (5, 20, 1, 0, 10**9),
    "warm_up": ("auto", 0, 10**6, -1),
    "engine": (
        None,
        ThreadEngine(),
        ThreadEngine(2, memory_budget="1GB"),
        ThreadEngine(memory_budget=10**400),
        3,
    ),
    "n_jobs": (None, 1, 2, -1, 0, "x"),
    "random_state": (0, None, -1, 2**40, "x", np.random.RandomState(0)),
    "join_equal_rows": ("auto", True, False, "x"),
    "tol": (0, 1e-4, 0.1, 1e300, -1),
    "search__progressive": (True, False),
    "missing": ("error", "partial", "no"),
    "metric": ("euclidean", "cosine", "no"),
    "scaling": (None, "range", "no"),
    "top_k": (None, 1, 2, 5, 0),
    "eta_scale": (0.1, 1.0, 5.0, 1e-300, 0),
    "sparsity": ("auto", 0.1, 0.9, 0, 1),
    "beta": (None, 0.1, 1.0, 0.0, 50),
    "decay": (1.0, 0.5, 0.0, -1),
    "n_neighbors": (1, 3, 10, 0, 10**9),
    "n_points": (1, 3, 10, 0, 10**9),
    "verbose": (0, False),
}
NEVER = {"engine", "checkpoint", "verbose", "n_init"}  # which have tests of their own, or write


def rows_of(dice: random.Random) -> Any:
    """Return rows, of some kind or none."""
    rng = np.random.default_rng(dice.getrandbits(32))
    n, d = dice.choice((1, 2, 3, 7, 30, 30, 60, 60)), dice.choice((1, 2, 3, 8))
    x = rng.normal(size=(n, d)) + dice.choice((0, 5)) * rng.integers(0, 3, (n, 1))
    with np.errstate(all="ignore"):
        x = dice.choice(VALUES)(x, rng)
        return x if dice.random() < 0.6 else dice.choice(FORMS)(x)


VALUES: tuple[Callable[[np.ndarray, np.random.Generator], np.ndarray], ...] = (
    *(lambda x, _: x,) * 4,
    lambda x, rng: x * 10.0 ** rng.integers(-300, 300),
    lambda x, rng: x * 10.0 ** rng.integers(-320, 300, x.shape[1]),
    lambda x, _: np.zeros_like(x),
    lambda x, _: x[np.zeros(len(x), int)],
    lambda x, _: np.round(x),
    lambda x, _: x + 1e9,
    lambda x, rng: np.where(
        rng.random(x.shape) < 0.05, rng.choice([np.nan, np.inf, -np.inf, 1e308, 5e-324]), x
    ),
    lambda x, _: np.where(np.arange(len(x))[:, None] == 0, 1e200, x),
)
FORMS: tuple[Callable[[np.ndarray], Any], ...] = (
    lambda x: x.astype(np.float32),
    lambda x: np.nan_to_num(x).clip(-100, 100).astype(np.int8),
    lambda x: x > 0,
    lambda x: np.asfortranarray(x)[::-1],
    lambda x: x.tolist(),
    lambda x: x.astype(object),
    lambda x: x.astype(str),
    lambda x: x.ravel(),
    lambda x: x[None],
    lambda x: x[:0],
    lambda x: x[:, :0],
    lambda x: sparse.csr_array(x),
    lambda x: sparse.coo_array(x),
    lambda x: sparse.csr_matrix(np.where(x > 0, x, 0)),
    lambda x: np.ma.masked_array(x, x > 1),
    lambda x: x + 1j,
    lambda x: x.astype(np.float16),
    lambda x: x.astype(np.longdouble),
    lambda _: None,
    lambda _: "rows",
    lambda _: 3.0,
    lambda _: [[1, 2], [3]],
    lambda x: {"a": x[:, 0]},
    lambda x: np.broadcast_to(x[:1], x.shape),
)


def weights_of(dice: random.Random, n: int) -> Any:
    rng = np.random.default_rng(dice.getrandbits(32))
    ways: tuple[Callable[[], Any], ...] = (
        lambda: rng.integers(0, 4, n),
        lambda: rng.random(n) * 10.0 ** rng.integers(-300, 300),
        lambda: np.zeros(n),
        lambda: np.where(np.arange(n) == 0, 1.0, 0.0),
        lambda: -np.ones(n),
        lambda: np.full(n, np.nan),
        lambda: np.ones(n + 1),
        lambda: 3.0,
        lambda: "x",
        lambda: np.ones((n, 1)),
        lambda: rng.random(n).astype(object),
    )
    return None if dice.random() < 0.7 else dice.choice(ways)()


def words_of(dice: random.Random, name: str) -> dict[str, Any]:
    """Return a few parameters of an estimator."""
    number = (1, 3) if name in FINDING else 3
    words = known(
        name,
        {
            "n_clusters": number,
            "random_state": 0,
            "chunk_size": 20,
            "patch_size": 20,
            "max_iter": 30,
        },
    )
    tabled = [word for word in WORDS if word.partition("__")[0] in PARAMETERS[name]]
    own = sorted(set(PARAMETERS[name] if dice.random() < 0.2 else tabled) - NEVER)
    for word in dice.sample(own, min(len(own), dice.choice((0, 1, 1, 2, 3)))):
        words[word] = dice.choice(
            WORDS[word] if word in WORDS and dice.random() < 0.85 else NUMBERS
        )
    return words


def prepared(folder: Path) -> Case:
    def case(dice: random.Random) -> str:
        name = dice.choice(EVERY_NAME)
        words, x = words_of(dice, name), rows_of(dice)
        weight = weights_of(
            dice, len(x) if hasattr(x, "__len__") and not sparse.issparse(x) else 30
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            try:
                return fitted(name, words, x, weight)
            except (FoundError, ValueError) as error:
                if isinstance(error, FoundError):
                    raise FoundError(
                        f"{name}({words}) of {x!r} with {weight!r}: {error}"
                    ) from error
                if len(str(error)) < 10:
                    raise FoundError(f"{name} says no more than {error}") from error
                return "refused"
            except Exception as error:
                raise FoundError(
                    f"{name}({words}) of {x!r} with {weight!r} ends with {type(error).__name__}"
                ) from error

    return case


def fitted(name: str, words: dict[str, Any], x: Any, weight: Any) -> str:
    try:
        model = CLASSES[name]().set_params(**words).fit(x, sample_weight=weight)
    except TypeError as error:
        # as scikit-learn has it
        if "sparse" in str(error) or "argument must be a string or a real number" in str(error):
            return "refused"
        raise
    n = x.shape[0] if hasattr(x, "shape") else len(x)
    labels = np.asarray(model.labels_)
    c = len(model._state.centres) if name in SWEPT else model.n_clusters_
    if labels.shape != (n,) or labels.min() < -1 or labels.max() >= c:
        raise FoundError(f"labels {labels!r} of {n} rows and {c} clusters")
    if not np.isfinite(model.objective_) and not _overflows(x, weight):
        raise FoundError(f"objective {model.objective_}")
    u = model.memberships_
    u = u.toarray() if sparse.issparse(u) else np.asarray(u)
    if u.shape != (n, c) or not np.isfinite(u).all() or u.min() < 0 or u.max() > 1 + 1e-6:
        raise FoundError(f"memberships {u!r}")
    shares = u.sum(axis=1) + np.asarray(getattr(model, "noise_membership_", 0.0))
    somewhere = (labels >= 0) | (shares > 0)  # rows that say nothing belong nowhere
    if name in SWEPT and model._sums_to_one and not np.allclose(shares[somewhere], 1.0, atol=1e-4):
        raise FoundError(f"memberships that sum to {shares!r}")
    cut_short = name == "ProbabilisticKMeans" and not model.converged_
    divided = np.isin(u, (0.0, 1.0)).all() and _divides_equal_rows(words, x, model)
    if not cut_short and not divided and not np.array_equal(model.predict(x), labels):
        raise FoundError(f"predicts {model.predict(x)!r} where its labels are {labels!r}")
    return "fitted"


def _divides_equal_rows(words: dict[str, Any], x: Any, model: Any) -> bool:
    """True where bounds of sizes may divide rows of one place among clusters, which nothing tells
    apart later; also where a kernel tells none apart."""
    if words.get("sizes__least") is None and words.get("sizes__most") is None:
        return False
    rows = x.toarray() if sparse.issparse(x) else np.asarray(x, np.float64)
    are_one = not np.ptp(model.transform(x), axis=1).any()
    return are_one or len(np.unique(rows, axis=0)) < len(rows)


def _overflows(x: Any, weight: Any) -> bool:
    """True where weighted squares of these numbers are beyond all that can be written."""
    with np.errstate(over="ignore"):
        largest = np.abs(x.data if sparse.issparse(x) else np.asarray(x, np.float64)).max()
        return not np.isfinite(
            1e3 * largest**2 * (1.0 if weight is None else np.max(np.asarray(weight, np.float64)))
        )
