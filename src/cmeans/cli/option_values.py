"""The estimators' parameters as options, and the values of options: numbers, or one of a few words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from .errors import InputError

_RENAMED = {
    "scaling": "--inner-scaling",
    "n_landmarks": "--landmarks",
    "landmarks": "--landmark-choice",
    "n_clusters": "--clusters",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "T": "--temperature",
}


def option_of(word: str) -> str:
    """Return the option that sets a constructor parameter."""
    return _RENAMED.get(word, f"--{word.replace('_', '-')}")


def as_option(name: str, *value: Any) -> str:
    """Return an argument of `open_blocks` as an option: `--columns`, or `--columns a,b`."""
    if name == "header":
        return {(): "--header, --no-header", (True,): "--header", (False,): "--no-header"}[value]
    given = [",".join(map(str, word)) if isinstance(word, list) else str(word) for word in value]
    return " ".join([f"--{name}", *given])


def number_or_word(option: str, text: str | None, words: tuple[str, ...]) -> float | str | None:
    """Parse an option like `--gamma scale` or `--gamma 0.5`; None if it was not given."""
    if text is None or text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{option} {text}: give a number or {' or '.join(words)}.")
    return number


def landmark_number(text: str) -> int | str | None:
    """Parse `--landmarks 500`, `--landmarks auto`, or `--landmarks none` for the exact kernel."""
    if text == "auto":
        return "auto"
    if text == "none":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--landmarks {text}: give a whole number of at least 1, auto, or none for the exact kernel.")
    return int(text)


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


class KernelChoice(StrEnum):
    RBF = "rbf"
    LINEAR = "linear"
    LAPLACIAN = "laplacian"
    POLYNOMIAL = "polynomial"
    NORMALIZED_POLYNOMIAL = "normalized_polynomial"
    SIGMOID = "sigmoid"
    COSINE = "cosine"


class LandmarkChoice(StrEnum):
    RPCHOLESKY = "rpcholesky"
    KMEANS = "k-means++"
    UNIFORM = "uniform"


class AccelerationChoice(StrEnum):
    ANDERSON = "anderson"
    NONE = "none"


class InitChoice(StrEnum):
    KMEANS = "k-means++"
    SCALABLE = "k-means||"
    MAX_MIN = "max-min"
    DIRICHLET = "dirichlet"
    RANDOM = "random"
    PARTITION = "random-partition"


class SparsityTestChoice(StrEnum):
    GLOBAL = "global"
    LOCAL = "local"


class AdaptationChoice(StrEnum):
    JOURNAL = "journal"
    CONFERENCE = "conference"
    SQUARED = "squared"
    NONE = "none"


class EngineChoice(StrEnum):
    THREADS = "threads"
    DASK = "dask"


class SolverChoice(StrEnum):
    AUTO = "auto"
    FAGP = "fagp"
    AGP = "agp"
    BATCHED = "batched"
    LLOYD = "lloyd"


class PolishChoice(StrEnum):
    HARTIGAN = "hartigan"
    NONE = "none"


class InnerScalingChoice(StrEnum):
    RANGE = "range"
    NONE = "none"


class StreamMethodChoice(StrEnum):
    LANDMARKS = "landmarks"
    PROJECTION = "projection"


class StreamRuleChoice(StrEnum):
    FUZZY = "fuzzy"
    HARD = "hard"


class ProjectionChoice(StrEnum):
    CHOLESKY = "cholesky"
    GRADIENT = "gradient"
    L1 = "l1"


class MetaMembershipChoice(StrEnum):
    AUTO = "auto"
    UPDATE = "update"
    FROZEN = "frozen"


class PastWeightChoice(StrEnum):
    POWER = "u^m"
    MEMBERSHIP = "u"


class StreamFormatChoice(StrEnum):
    CSV = "csv"
    ARROW = "arrow"


class ScaleChoice(StrEnum):
    NONE = "none"
    STANDARD = "standard"
    UNIT = "unit"


class DtypeChoice(StrEnum):
    KEEP = "keep"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
