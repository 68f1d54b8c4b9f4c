"""Values of the options that take one of a few words."""

from __future__ import annotations

from enum import StrEnum


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
