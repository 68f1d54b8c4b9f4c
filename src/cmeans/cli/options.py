"""The options of the commands: what each is called, what the help says of it, and what the estimators hear."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from .fitting import METHODS, FitRequest
from .rows import Wish
from .shell import argument, option
from .words import landmark_number, number_or_word, option_of

DATA, METHOD, KERNEL, RUN, SCREEN = "The data", "The method", "The kernel", "The run", "The screen"
ADAPTIVE = "The methods adaptive and sequential"
PROBABILISTIC = "The method probabilistic"
AUTO = "auto|NUMBER"
NUMBER_OR = {"alpha": ("auto",), "m": ("auto",), "pilot_m": ("auto",), "sparsity": ("auto",), "gamma": ("scale", "median")}


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
    UNIFORM = "uniform"
    KMEANS = "k-means++"


class Init(StrEnum):
    KMEANS = "k-means++"
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


class Scale(StrEnum):
    NONE = "none"
    STANDARD = "standard"
    UNIT = "unit"


class Dtype(StrEnum):
    KEEP = "keep"
    FLOAT32 = "float32"
    FLOAT64 = "float64"


File = Annotated[Path, argument("Parquet, CSV, npy or npz.", "FILE")]
ModelFile = Annotated[Path, argument("The model.safetensors of an earlier fit.", "MODEL")]
Columns = Annotated[
    list[str] | None,
    option(DATA, "Columns that are data: names, positions from 0, ranges like 0-9; may be repeated.", metavar="a,b,c", shown="all"),
]
Array = Annotated[str | None, option(DATA, "Which array of an npz.", metavar="NAME", shown="X, or the only one")]
HeaderLine = Annotated[
    bool | None, option(DATA, "Whether the first line of a CSV holds names.", "--header/--no-header", shown="it is looked at")
]
Quiet = Annotated[bool, option(SCREEN, "Only warnings and errors on stderr.", "--quiet", "-q")]
Debug = Annotated[bool, option(SCREEN, "Show the whole traceback of an error.", "--debug")]


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Everything `cmeans fit` can be told. Fields named like constructor words of the estimators are those words."""

    file: File
    columns: Columns = None
    weight: Annotated[str | None, option(DATA, "Column with the weight of each row; in an npz also an array.", metavar="COLUMN")] = None
    scale: Annotated[Scale, option(DATA, "standard: mean 0, deviation 1; unit: [0, 1]. Kept with the model.")] = Scale.NONE
    dtype: Annotated[Dtype, option(DATA, "keep: float32 where every column is float32, else float64.")] = Dtype.KEEP
    array: Array = None
    header: HeaderLine = None

    method: Annotated[Method, option(METHOD, "How rows belong to clusters; adaptive and sequential find the number of clusters.")] = (
        Method.FUZZY
    )
    clusters: Annotated[
        int | None,
        option(
            METHOD,
            "How many clusters. adaptive: how many to start from, about twice as many as there may be; sequential: at most how many.",
            "--clusters",
            "-c",
            min=1,
            shown="required; 20 for adaptive, 100 for sequential",
        ),
    ] = None
    m: Annotated[str | None, option(METHOD, "Fuzziness, above 1.", metavar=AUTO, shown="auto; 2 for possibilistic")] = None
    pilot_m: Annotated[
        str | None, option(METHOD, "Fuzziness of the fuzzy run that goes first.", metavar=AUTO, shown="auto; 2 for adaptive")
    ] = None
    eta_scale: Annotated[float | None, option(METHOD, "Width of possibilistic clusters, relative to the pilot's.", shown="1")] = None

    sparsity: Annotated[
        str | None, option(ADAPTIVE, "lambda; 0: every row belongs somewhere, larger: more are noise.", metavar=AUTO, shown="auto")
    ] = None
    p: Annotated[float | None, option(ADAPTIVE, "Power of the sparsity term, between 0 and 1.", shown="0.5")] = None
    sparsity_test: Annotated[
        SparsityTest | None, option(ADAPTIVE, "Whether a typicality must beat 0, or be a local minimum only.", shown="global")
    ] = None
    adaptation: Annotated[
        Adaptation | None,
        option(ADAPTIVE, "How widths follow the clusters; sequential: conference or squared.", shown="journal; conference for sequential"),
    ] = None
    scaling: Annotated[
        InnerScaling | None,
        option(
            ADAPTIVE,
            "range: each column is brought to a range of 10 inside the fit, whatever --scale; none: columns share a unit.",
            "--inner-scaling",
            shown="range",
        ),
    ] = None
    alpha: Annotated[
        str | None,
        option(
            ADAPTIVE,
            "adaptive, journal: larger means narrower clusters, and more; auto: as wide as leaves their number alone.",
            metavar=AUTO,
            shown="1",
        ),
    ] = None
    beta: Annotated[float | None, option(ADAPTIVE, "adaptive, other forms: first typicality between two centres.", shown="0.1")] = None
    n_neighbors: Annotated[int | None, option(ADAPTIVE, "sequential: neighbours that tell how wide a cluster starts.", shown="10")] = None
    n_new: Annotated[int | None, option(ADAPTIVE, "sequential: clusters tried at a time.", shown="1")] = None
    seed_quantile: Annotated[
        float | None, option(ADAPTIVE, "sequential: rows farther out than this share of all start no cluster.", shown="1")
    ] = None
    patience: Annotated[int | None, option(ADAPTIVE, "sequential: trials in a row without a further cluster at the end.", shown="5")] = None

    solver: Annotated[
        Solver | None, option(PROBABILISTIC, "How rows decide: fagp one after the other, batched many at a time.", shown="auto, by size")
    ] = None
    step: Annotated[float | None, option(PROBABILISTIC, "Of agp: the longest step.", shown="0.01")] = None
    quantile: Annotated[
        float | None, option(PROBABILISTIC, "Of batched: share of the rows that decide in a sweep, 0 to 1.", shown="0.1")
    ] = None
    polish: Annotated[Polish | None, option(PROBABILISTIC, "Whether single rows move at the end.", shown="hartigan")] = None

    kernel: Annotated[Kernel | None, option(KERNEL, "linear is plain c-means.", shown="rbf; linear for adaptive and sequential")] = None
    gamma: Annotated[
        str | None, option(KERNEL, "Of rbf, laplacian, polynomials, sigmoid.", metavar="scale|median|NUMBER", shown="scale")
    ] = None
    degree: Annotated[int | None, option(KERNEL, "Of the polynomials.", shown="3")] = None
    coef0: Annotated[float | None, option(KERNEL, "Of the polynomials and sigmoid.", shown="1")] = None
    n_landmarks: Annotated[
        str, option(KERNEL, "How many rows stand for all in the kernel; none: exact, every row.", "--landmarks", metavar="N|auto|none")
    ] = "auto"
    landmarks: Annotated[LandmarkChoice | None, option(KERNEL, "How landmarks are drawn.", "--landmark-choice", shown="uniform")] = None

    out: Annotated[
        Path, option(RUN, "Folder for the results. Those of a former run in it are replaced, file by file.", metavar="DIR", shown=False)
    ]
    init: Annotated[
        Init | None, option(RUN, "First centres; sequential makes its own.", shown="k-means++; dirichlet for probabilistic")
    ] = None
    n_init: Annotated[int | None, option(RUN, "How many starts; the best is kept.", min=1, shown="1")] = None
    max_iter: Annotated[int | None, option(RUN, "Sweeps over the rows at most.", min=1, shown="300; no limit for probabilistic")] = None
    tol: Annotated[float | None, option(RUN, "Stop when centres move less than this.", min=0, shown="0.0001")] = None
    random_state: Annotated[int, option(RUN, "The same seed gives the same result.", "--seed")] = 0
    memory_budget: Annotated[
        str | None, option(RUN, "What the fit may allocate beside the rows.", metavar="4GB", shown="half of what is free")
    ] = None
    n_jobs: Annotated[int | None, option(RUN, "Threads.", "--jobs", shown="every CPU")] = None
    quiet: Quiet = False
    debug: Debug = False

    def request(self) -> FitRequest:
        dtype = None if self.dtype is Dtype.KEEP else self.dtype.value
        wish = Wish(self.file, tuple(self.columns or ()), self.weight, self.array, dtype, self.header)
        return FitRequest(wish, self.out, self.method.value, self.clusters, self._words(), self.scale.value)

    def _words(self) -> dict[str, Any]:
        """The constructor words that were given: the estimator knows its own defaults."""
        known = frozenset[str]().union(*(method.words for method in METHODS.values()))
        said = {field.name: getattr(self, field.name) for field in fields(self) if field.name in known}
        return {word: _meant(word, value) for word, value in said.items() if value is not None}


def _meant(word: str, value: Any) -> Any:
    """What the estimator calls it: `none` on a command line is None, which for some words differs from silence."""
    if word in NUMBER_OR:
        return number_or_word(option_of(word), value, NUMBER_OR[word])
    if word == "n_landmarks":
        return landmark_number(value)
    if isinstance(value, StrEnum):
        return None if value == "none" else value.value
    return value
