"""What may be said where an option takes one of a few words."""

from __future__ import annotations

from enum import StrEnum


class Method(StrEnum):
    HARD = "hard"
    TWO_STEP = "two-step"
    FUZZY = "fuzzy"
    POSSIBILISTIC = "possibilistic"
    PROBABILISTIC = "probabilistic"
    ADAPTIVE = "adaptive"
    SEQUENTIAL = "sequential"


class Kernel(StrEnum):
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


class Acceleration(StrEnum):
    ANDERSON = "anderson"
    NONE = "none"


class Init(StrEnum):
    KMEANS = "k-means++"
    SCALABLE = "k-means||"
    MAX_MIN = "max-min"
    DIRICHLET = "dirichlet"
    RANDOM = "random"
    PARTITION = "random-partition"


class SparsityTest(StrEnum):
    GLOBAL = "global"
    LOCAL = "local"


class Adaptation(StrEnum):
    JOURNAL = "journal"
    CONFERENCE = "conference"
    SQUARED = "squared"
    NONE = "none"


class Engine(StrEnum):
    THREADS = "threads"
    DASK = "dask"


class Solver(StrEnum):
    AUTO = "auto"
    FAGP = "fagp"
    AGP = "agp"
    BATCHED = "batched"
    LLOYD = "lloyd"


class Polish(StrEnum):
    HARTIGAN = "hartigan"
    NONE = "none"


class InnerScaling(StrEnum):
    RANGE = "range"
    NONE = "none"


class StreamMethod(StrEnum):
    LANDMARKS = "landmarks"
    PROJECTION = "projection"


class StreamRule(StrEnum):
    FUZZY = "fuzzy"
    HARD = "hard"


class Projection(StrEnum):
    CHOLESKY = "cholesky"
    GRADIENT = "gradient"
    L1 = "l1"


class MetaMembership(StrEnum):
    AUTO = "auto"
    UPDATE = "update"
    FROZEN = "frozen"


class PastWeight(StrEnum):
    POWER = "u^m"
    MEMBERSHIP = "u"


class StreamFormat(StrEnum):
    CSV = "csv"
    ARROW = "arrow"


class Scale(StrEnum):
    NONE = "none"
    STANDARD = "standard"
    UNIT = "unit"


class Dtype(StrEnum):
    KEEP = "keep"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
