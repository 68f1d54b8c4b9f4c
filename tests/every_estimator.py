"""All public estimators that cluster, from what `cmeans` exports: with quick parameters, and in the
groups that tests ask for.

A new estimator is in here as soon as it is in `cmeans.__all__`, and so in every test that goes over
one of these groups; but for `StreamingGaussianMixture`, whose rows have an order and no weights
(tests/streaming/test_living_clusters.py).
"""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import ClusterMixin

import cmeans

CLASSES: dict[str, type] = {
    name: value
    for name in cmeans.__all__
    if inspect.isclass(value := getattr(cmeans, name))
    and issubclass(value, ClusterMixin)
    and "sample_weight" in inspect.signature(value.fit).parameters
}
EVERY_NAME = tuple(CLASSES)
PARAMETERS = {name: tuple(inspect.signature(cls).parameters) for name, cls in CLASSES.items()}
# those that cluster in the spaces of kernels, plain rows among them; the others have these alone
NAMES = tuple(name for name in CLASSES if "kernel" in PARAMETERS[name])
SWEPT = tuple(name for name in CLASSES if "max_iter" in PARAMETERS[name])  # found by sweeps

# For whoever has such a parameter. Few rows in several chunks; wide possibilistic clusters of few
# rows fall together.
MEMBERS = [cmeans.KernelKMeans(c, kernel="linear", random_state=0) for c in (2, 4)]
QUICK: dict[str, Any] = {
    "random_state": 0,
    "eta_scale": 0.1,
    "chunk_size": 60,
    "patch_size": 60,
    "members": MEMBERS,
    "candidates": ["plain", "pieces"],
}
OF_KERNELS = {"gamma", "landmarks"}  # where they are given, and no kernel, it is the RBF kernel


# told how many clusters there may be
FINDING = tuple(name for name in NAMES if CLASSES[name]().n_clusters == "auto")
COUNTING = tuple(name for name in NAMES if name not in FINDING)  # told how many there are


def with_parameter(*parameters: str) -> tuple[str, ...]:
    """Names of the estimators that have all of these parameters."""
    return tuple(name for name in NAMES if set(parameters) <= set(PARAMETERS[name]))


def without(names: tuple[str, ...], *others: str) -> tuple[str, ...]:
    unknown = set(others) - set(EVERY_NAME)
    assert not unknown, f"no estimators: {unknown}"
    return tuple(name for name in names if name not in others)


def known(which: str | type, words: dict[str, Any]) -> dict[str, Any]:
    """Those of the words that are parameters of this estimator."""
    names = inspect.signature(_class(which)).parameters
    return {word: value for word, value in words.items() if word in names}


def told(which: str | type, n_clusters: int) -> int | tuple[int, int]:
    """What this estimator is told of the number of clusters: the most there may be, where it finds
    their number itself."""
    finds = inspect.signature(_class(which)).parameters["n_clusters"].default == "auto"
    finds &= _class(which) is not cmeans.AutoClustering  # which finds the space for a given number
    return (1, n_clusters) if finds else n_clusters


def build(which: str | type, *, n_clusters: int = 3, **words: Any) -> Any:
    """The estimator, not fitted, with quick parameters where the words say nothing else; where it
    finds the number of clusters itself, `n_clusters` is the most it may find."""
    number = {"n_clusters": told(which, n_clusters)}
    words = {"kernel": "rbf", **words} if OF_KERNELS & set(words) else words
    if (
        words.get("kernel") == "linear"
        and "kernel" not in inspect.signature(_class(which)).parameters
    ):
        words = {name: value for name, value in words.items() if name != "kernel"}
    return _class(which)(**{**known(which, number), **known(which, QUICK), **words})


def _class(which: str | type) -> type:
    """The class of a name, or the class itself, which may be one of `cmeans.papers` alone."""
    if isinstance(which, type):
        return which
    assert which in CLASSES, f"{which} is no public estimator; those are {', '.join(NAMES)}"
    return CLASSES[which]


STREAMS = tuple(name for name in NAMES if hasattr(CLASSES[name], "partial_fit"))
WITH_STARTS = with_parameter("init")
WITH_ENGINE = with_parameter("engine")
WITH_PLAN = tuple(name for name in CLASSES if hasattr(CLASSES[name], "plan"))
WITH_LANDMARKS = with_parameter("landmarks")
OF_KERNEL_VALUES = without(NAMES, *STREAMS)  # streams compute them
WITH_TYPICALITIES = tuple(name for name in NAMES if hasattr(build(name), "typicality"))
