"""What is compared with what: rows, start, sweeps, contestants, and what is wanted of their
times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .environments import OWN
from .harness import load, unit_interval

Arrays = dict[str, np.ndarray]

RBF = {"kernel": "rbf", "gamma": 1.0}
# x.y is about 100 on digits in [0, 1]
POLYNOMIAL = {"kernel": "polynomial", "gamma": 0.01, "degree": 5, "coef0": 1.0}
EXACT_ROWS = 5000


@dataclass(frozen=True)
class Contestant:
    """One package at one kind of work."""

    name: str
    player: str  # the file in players/
    call: str  # the function in it
    requirement: str | None = None  # for pip
    environment: str = OWN
    words: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A wanted ratio: `over` divided by `under`, run by run, at least or at most a number."""

    text: str
    over: str
    under: str
    least: float | None = None
    most: float | None = None
    of: str = "seconds"  # or "objective"


@dataclass(frozen=True)
class Contest:
    """One job, for all contestants the same."""

    name: str
    point: int
    title: str
    data: str
    words: dict[str, Any]  # what players are told beside the arrays
    arrays: Callable[[np.ndarray, dict[str, Any]], Arrays]
    # "kernel": full-kernel objective on a fixed sample; "hard", "fuzzy": the plain objective on all
    # rows
    judged: str
    contestants: tuple[Contestant, ...]
    checks: tuple[Check, ...] = ()
    rows: int | None = None  # at most so many
    seeded: bool = False  # every run has a seed of its own
    # rows and classes, at most so many, that are not loaded
    made: Callable[[int | None], tuple[np.ndarray, np.ndarray]] | None = None

    def make(self, limit: int | None = None) -> tuple[Arrays, np.ndarray]:
        """The arrays of the job, rows in [0, 1] among them, and the classes; of all rows, or of
        some drawn once for all."""
        limit = None if limit is None else max(limit, 2 * self.words["clusters"])
        most = self.rows if limit is None else limit if self.rows is None else min(limit, self.rows)
        x, y = (load(self.data), load(self.data, "y")) if self.made is None else self.made(most)
        few = min(number for number in (limit, self.rows, len(x)) if number is not None)
        if few < len(x):
            chosen = np.random.default_rng(0).permutation(len(x))[:few]
            x, y = x[chosen], y[chosen]
        x = unit_interval(x, np.dtype(self.words["dtype"]).type)
        return {"x": x, **self.arrays(x, self.words)}, y


def landmarks_and_start(x: np.ndarray, words: dict[str, Any]) -> Arrays:
    """Row numbers: the landmarks that Nystroem draws from random_state 0, and the rows that centres
    start from."""
    return {
        "landmarks": np.random.RandomState(0).permutation(len(x))[: words["n_landmarks"]],
        **start_rows(x, words),
    }


def start_rows(x: np.ndarray, words: dict[str, Any]) -> Arrays:
    """Distinct rows that centres start from."""
    return {"start": np.random.default_rng(0).choice(len(x), words["clusters"], replace=False)}


def start_memberships(x: np.ndarray, words: dict[str, Any]) -> Arrays:
    """Centres at distinct rows, and the memberships that m = 2 gives them."""
    centres = x[start_rows(x, words)["start"]]
    d2 = (
        (x * x).sum(axis=1)[:, None] - 2 * x @ centres.T + (centres * centres).sum(axis=1)[None, :]
    ).clip(1e-12)
    return {"centres": centres, "memberships": (1 / d2) / (1 / d2).sum(axis=1, keepdims=True)}


def start_labels(x: np.ndarray, words: dict[str, Any]) -> Arrays:
    """Labels as tslearn draws them from random_state 0."""
    return {"labels": np.random.RandomState(0).randint(words["clusters"], size=len(x))}


def nothing(x: np.ndarray, words: dict[str, Any]) -> Arrays:
    """Everybody chooses landmarks and start for himself."""
    return {}


def sklearn(name: str, call: str, **words: Any) -> Contestant:
    return Contestant(name, "scikit_learn", call, None, "numpy 2", words)


def faiss(name: str, call: str) -> Contestant:
    return Contestant(
        name, "faiss_player", call, "faiss-cpu==1.15.1", "numpy 2", {"dtype": "float32"}
    )


def ours(name: str, call: str, **words: Any) -> Contestant:
    return Contestant(name, "cmeans_player", call, None, OWN, words)


HARD, PIPELINE = "KernelKMeans", "Nystroem + KMeans"

KERNEL_COVTYPE = Contest(
    "kernel-covtype",
    1,
    "Kernel k-means on landmarks: covtype",
    "covtype",
    {"clusters": 7, "n_landmarks": 582, "sweeps": 10, "dtype": "float32", **RBF},
    landmarks_and_start,
    "kernel",
    (
        ours(HARD, "hard"),
        ours("FuzzyCMeans, m = 2", "fuzzy", m=2.0),
        ours("FuzzyCMeans, m = auto", "fuzzy", m="auto"),
        sklearn(PIPELINE, "nystroem_kmeans"),
        faiss("Nystroem + faiss", "nystroem_kmeans"),
    ),
    (
        Check(
            "Nystroem + KMeans over KernelKMeans, covtype, end to end (aim: 12)",
            PIPELINE,
            HARD,
            least=10,
        ),
        Check("akFCM (m = 2) over KernelKMeans, covtype", "FuzzyCMeans, m = 2", HARD, most=1.3),
        Check(
            'akFCM (m = "auto") over KernelKMeans, covtype', "FuzzyCMeans, m = auto", HARD, most=1.3
        ),
    ),
)

KERNEL_MNIST = Contest(
    "kernel-mnist",
    1,
    "Kernel k-means on landmarks: MNIST",
    "mnist",
    {"clusters": 10, "n_landmarks": 1000, "sweeps": 20, "dtype": "float32", **POLYNOMIAL},
    landmarks_and_start,
    "kernel",
    (ours(HARD, "hard"), sklearn(PIPELINE, "nystroem_kmeans")),
    (Check("Nystroem + KMeans over KernelKMeans, MNIST, end to end", PIPELINE, HARD, least=2.5),),
)


def by_default(like: Contest, least: float) -> Contest:
    """The same rows, kernel and number of landmarks, and everything else as it comes."""
    where = like.title.partition(": ")[2]
    words = {word: value for word, value in like.words.items() if word != "sweeps"}
    title = f"Kernel k-means on landmarks, each side's defaults: {where}"
    checks = (
        Check(
            f"Nystroem + KMeans over KernelKMeans, {where}, defaults", PIPELINE, HARD, least=least
        ),
        Check(
            f"objective of KernelKMeans over that of Nystroem + KMeans, {where}, defaults",
            HARD,
            PIPELINE,
            most=1.005,
            of="objective",
        ),
    )
    players = (ours(HARD, "defaults"), sklearn(PIPELINE, "defaults"))
    return Contest(
        f"defaults-{like.data}",
        2,
        title,
        like.data,
        words,
        nothing,
        "kernel",
        players,
        checks,
        seeded=True,
    )


PEERS_FUZZY = {
    "scikit-fuzzy": Contestant(
        "scikit-fuzzy", "scikit_fuzzy", "fuzzy", "scikit-fuzzy==0.5.0", "numpy 2"
    ),
    "fuzzy-c-means": Contestant(
        "fuzzy-c-means", "fuzzy_c_means", "fuzzy", "fuzzy-c-means==2.3.1", "numpy 1"
    ),
    "soft-clustering": Contestant(
        "soft-clustering", "soft_clustering_player", "fuzzy", "soft-clustering==0.2.0", "numpy 2"
    ),
    "scikit-fuzzy-c-means": Contestant(
        "scikit-fuzzy-c-means",
        "scikit_fuzzy_c_means",
        "fuzzy",
        "scikit-fuzzy-c-means==0.1.3",
        "numpy 2",
    ),
    "prosemble": Contestant(
        "prosemble", "prosemble_player", "fuzzy", "prosemble[jax]==2.4.0", "numpy 2"
    ),
}


def fuzzy(data: str, clusters: int, wanted: dict[str, float]) -> Contest:
    """Plain fuzzy c-means, m = 2, 20 sweeps."""
    players = tuple(
        ours(f"FuzzyCMeans, {dtype}", "linear_fuzzy", dtype=dtype)
        for dtype in ("float32", "float64")
    )
    checks = tuple(
        Check(
            f"{peer} over FuzzyCMeans, {data}, ours in {dtype}",
            peer,
            f"FuzzyCMeans, {dtype}",
            least=least,
        )
        for peer, least in wanted.items()
        for dtype in ("float32", "float64")
    )
    words = {"clusters": clusters, "sweeps": 20, "m": 2.0, "dtype": "float64"}
    title = f"Plain fuzzy c-means: {data}"
    return Contest(
        f"fuzzy-{data}",
        3,
        title,
        data,
        words,
        start_memberships,
        "fuzzy",
        (*players, *PEERS_FUZZY.values()),
        checks,
    )


def kmeans(data: str, clusters: int) -> Contest:
    """Plain k-means, 20 sweeps, in both dtypes."""
    dtypes = ("float32", "float64")
    players = [ours(f"KernelKMeans, {dtype}", "linear_hard", dtype=dtype) for dtype in dtypes]
    players += [sklearn(f"KMeans, {dtype}", "kmeans", dtype=dtype) for dtype in dtypes]
    checks = tuple(
        Check(
            f'KernelKMeans(kernel="linear") over KMeans, {data}, {dtype}',
            f"KernelKMeans, {dtype}",
            f"KMeans, {dtype}",
            most=1.2,
        )
        for dtype in dtypes
    )
    words = {"clusters": clusters, "sweeps": 20, "dtype": "float64"}
    title = f"Plain k-means: {data}"
    return Contest(
        f"kmeans-{data}",
        5,
        title,
        data,
        words,
        start_rows,
        "hard",
        (*players, faiss("faiss", "kmeans")),
        checks,
    )


EXACT = Contest(
    "exact-covtype",
    0,
    f"Exact kernel k-means: {EXACT_ROWS:,} rows of covtype",
    "covtype",
    {"clusters": 7, "sweeps": 20, "dtype": "float64", **RBF},
    start_labels,
    "kernel",
    (
        ours(HARD, "exact"),
        Contestant("tslearn", "tslearn_player", "exact", "tslearn==0.10.0", "numpy 2"),
        Contestant("kkmeans", "kkmeans_player", "exact", "kkmeans==0.1.0", "numpy 1"),
    ),
    rows=EXACT_ROWS,
)

CONTESTS = (
    KERNEL_COVTYPE,
    KERNEL_MNIST,
    by_default(KERNEL_COVTYPE, 8),
    by_default(KERNEL_MNIST, 2),
    fuzzy("birch1", 100, {"scikit-fuzzy": 50, "fuzzy-c-means": 25}),
    fuzzy("covtype", 7, {"scikit-fuzzy": 15, "fuzzy-c-means": 10}),
    kmeans("birch1", 100),
    kmeans("covtype", 7),
    EXACT,
)
