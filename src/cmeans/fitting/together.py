"""One table of the features of a fit that go together, of which messages and the page of
capabilities are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .arguments import are_points, asked_top_k
from .kernel_evidence import given_kernel
from .landmark_choice import landmarks_from
from .search import Search, search_from
from .space import is_space

BY_SWEEPS = "KernelKMeans, FuzzyCMeans, PossibilisticCMeans"
JOINING = "search=Search(join_equal_rows=True)"  # as messages call it
TAKEN_BY = {
    "known_labels": f"{BY_SWEEPS}, GaussianMixture, CMeans and StreamingFuzzyCMeans",
    "must_link": f"{BY_SWEEPS}, GaussianMixture and CMeans",
}


@dataclass(frozen=True)
class Apart:
    """Two features that do not go together."""

    one: str
    other: str
    why: str  # and what to do

    @property
    def both(self) -> frozenset[str]:
        return frozenset((self.one, self.other))

    def said_of(self, estimator: Any) -> str:
        """Say why an estimator is refused, by the words that it was given."""
        words = (
            WORDS[feature](estimator) for feature in (self.one, self.other) if feature in WORDS
        )
        return f"{type(estimator).__name__}({', '.join(filter(None, words))}): {self.why}"


COVARIANCES = "clusters with covariances do not go with {} so far; leave out covariance=, or {}"
IN_MIXTURES = " (GaussianMixture has both)"
FREE = (
    "sizes are bounded of rows that are free to move; leave out known_labels= and must_link=, "
    "or the bounds"
)
TABLE = (
    Apart(
        "known_labels",
        'search="breathing"',
        'clusters of known rows cannot come and go; take search="auto" or None with known_labels',
    ),
    Apart(
        "known_labels",
        "top_k",
        "a row's known cluster need not be one of its nearest; leave out known_labels=, or top_k=",
    ),
    Apart("known_labels", "sizes", FREE),
    Apart("must_link", "sizes", FREE),
    Apart(
        "known_labels",
        'search="hierarchical"',
        'cells know no labels of rows; take search="auto" beside known_labels=',
    ),
    Apart(
        "noise",
        "sizes",
        "sizes are bounded of clusters without noise; give noise= or bounds of sizes, not both",
    ),
    Apart("covariance", "sizes", COVARIANCES.format("bounds of sizes", "sizes=")),
    Apart("covariance", "top_k", COVARIANCES.format("few memberships of a row", "top_k=")),
    Apart("covariance", "noise", COVARIANCES.format("a noise cluster", f"noise={IN_MIXTURES}")),
    Apart(
        "covariance",
        'missing="partial"',
        COVARIANCES.format("missing values", f"missing={IN_MIXTURES}"),
    ),
    Apart(
        "covariance",
        'search="annealing"',
        "clusters with covariances begin at hard partitions, which are not annealed; take "
        'search="auto"',
    ),
    Apart(
        "covariance",
        'search="hierarchical"',
        'clusters with covariances begin at hard partitions of their own; take search="auto"',
    ),
    Apart(
        "covariance",
        "landmarks",
        "clusters have covariances among rows as they are, or in few features, not over landmarks; "
        "leave one out",
    ),
    Apart(
        "top_k",
        "sizes",
        "sizes are bounded of clusters that all rows may join; give top_k= or bounds of sizes, not "
        "both",
    ),
    Apart(
        "top_k",
        'search="annealing"',
        'annealing begins where a row is as near to all centres; take search="breathing"',
    ),
    Apart(
        'missing="partial"',
        "a kernel",
        'distances over the values that are there are those of kernel="linear"; take that, or '
        "impute X (scikit-learn's SimpleImputer, KNNImputer)",
    ),
    Apart(
        'missing="partial"',
        "landmarks",
        "rows with missing values have no landmarks; leave these out",
    ),
    Apart(
        "join_equal_rows", "kernel values", "rows of kernel values or affinities stand for all rows"
    ),
    Apart("join_equal_rows", "must_link", "must_link joins rows already"),
    Apart("join_equal_rows", "sizes", "bounds of sizes may have to divide equal rows"),
    Apart(
        "join_equal_rows",
        "numbers of landmarks",
        "landmarks holds numbers of rows before they are joined (give points)",
    ),
)


def refused_beside(name: str) -> frozenset[str]:
    """Return the features that one does not go with."""
    return frozenset[str]().union(*(apart.both for apart in TABLE if name in apart.both)) - {name}


def refuse_beside(name: str, others: Iterable[str], estimator: Any) -> None:
    """Refuse a feature beside others, stages that are named and what the words of an estimator ask
    for, and by estimators without it."""
    estimator_name = type(estimator).__name__
    if name in TAKEN_BY and name not in estimator._takes:
        raise ValueError(
            f"{estimator_name}: {name} is for {TAKEN_BY[name]}; use one of these, or leave it out."
        )
    if (apart := first_apart(name, others, estimator)) is not None:
        raise ValueError(f"{apart.said_of(estimator)}.")


def first_apart(name: str, others: Iterable[str], estimator: Any) -> Apart | None:
    """Return the first row of the table in which a feature meets another that a fit has."""
    there = set(others)
    for apart in TABLE:
        if name in apart.both and not apart.both <= estimator._together:
            (other,) = apart.both - {name}
            if other in there or (other in WORDS and WORDS[other](estimator) is not None):
                return apart
    return None


def _spelled(*names: str) -> Callable[[Any], str | None]:
    """Return what says how parameters were given, where they were."""

    def said(estimator: Any) -> str | None:
        values = {name: value for name in names if (value := vars(estimator).get(name)) is not None}
        return ", ".join(f"{name}={value!r}" for name, value in values.items()) or None

    return said


def _top_k(estimator: Any) -> str | None:
    most = asked_top_k(estimator)
    return None if most is None else f"top_k={most}"


def _search(kind: str) -> Callable[[Any], str | None]:
    return lambda estimator: f'search="{kind}"' if _search_of(estimator).method == kind else None


def _search_of(estimator: Any) -> Search:
    return search_from(estimator.search, type(estimator).__name__)


def _is(value: Any, name: str) -> bool:
    return isinstance(value, str) and value == name


def _kernel(estimator: Any) -> str | None:
    kernel = given_kernel(estimator, type(estimator).__name__)
    plain = kernel.coordinates == "rows" and not is_space(estimator.kernel)
    return None if plain else f"kernel={estimator.kernel!r}"


def _landmarks(estimator: Any) -> str | None:
    landmarks = landmarks_from(estimator.landmarks, type(estimator).__name__)
    if landmarks.points is not None:
        return "landmarks=..."
    return None if landmarks.count is None else f"landmarks={estimator.landmarks!r}"


def _kernel_values(estimator: Any) -> str | None:
    kernel = given_kernel(estimator, type(estimator).__name__)
    if kernel.takes_kernel_values or kernel.takes_affinities:
        return f"kernel={estimator.kernel!r}"
    return None


def _landmark_rows(estimator: Any) -> str | None:
    points = landmarks_from(estimator.landmarks, type(estimator).__name__).points
    return (
        None if points is None or are_points(points, type(estimator).__name__) else "landmarks=..."
    )


WORDS: Mapping[str, Callable[[Any], str | None]] = {
    "join_equal_rows": lambda estimator: (
        None if isinstance(_search_of(estimator).join_equal_rows, str) else JOINING
    ),
    "top_k": _top_k,
    "covariance": _spelled("covariance"),
    "noise": _spelled("noise"),
    "sizes": _spelled("sizes"),
    'search="breathing"': _search("breathing"),
    'search="annealing"': _search("annealing"),
    'search="hierarchical"': _search("hierarchical"),
    'missing="partial"': lambda estimator: (
        'missing="partial"' if _is(estimator.missing, "partial") else None
    ),
    "a kernel": _kernel,
    "landmarks": _landmarks,
    "kernel values": _kernel_values,
    "numbers of landmarks": _landmark_rows,
}
