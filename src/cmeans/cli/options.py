"""The options of the commands: their names, help texts, and the estimators' parameters that they set."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

from .. import Checkpoint, StreamingFuzzyCMeans
from .errors import InputError
from .fitting import METHODS, FitRequest
from .option_values import (
    AccelerationChoice,
    AdaptationChoice,
    DtypeChoice,
    EngineChoice,
    InitChoice,
    InnerScalingChoice,
    KernelChoice,
    LandmarkChoice,
    MetaMembershipChoice,
    PastWeightChoice,
    PolishChoice,
    ProjectionChoice,
    ScaleChoice,
    SolverChoice,
    SparsityTestChoice,
    StreamFormatChoice,
    StreamMethodChoice,
    StreamRuleChoice,
    landmark_number,
    listed,
    number_or_word,
    option_of,
)
from .rows import ReadOptions
from .stream.labels import STDOUT
from .stream.run import Checkpoints, StreamRequest
from .stream.sources import STDIN, Follow, Wanted
from .typer_api import argument, option

T = TypeVar("T")

DATA, METHOD, KERNEL, RUN, SCREEN = "The data", "The method", "The kernel", "The run", "The screen"
ADAPTIVE = "The methods adaptive and sequential"
PROBABILISTIC = "The method probabilistic"
AUTO = "auto|NUMBER"
NUMBER_OR = {
    "alpha": ("auto",),
    "m": ("auto",),
    "pilot_m": ("auto",),
    "sparsity": ("auto",),
    "warm_up": ("auto",),
    "gamma": ("scale", "median", "auto"),
}


File = Annotated[Path, argument("Parquet, Arrow, CSV, npy or npz: a file, a folder of them, or a pattern.", "FILE")]
ModelFile = Annotated[Path, argument("The model.safetensors of an earlier fit.", "MODEL")]
Columns = Annotated[
    list[str] | None,
    option(DATA, "Columns that are data: names, positions from 0, ranges like 0-9; may be repeated.", metavar="a,b,c", shown="all"),
]
Array = Annotated[str | None, option(DATA, "Which array of an npz.", metavar="NAME", shown="X, or the only one")]
HeaderLine = Annotated[
    bool | None, option(DATA, "Whether the first line of a CSV holds names.", "--header/--no-header", shown="it is looked at")
]
Precision = Annotated[DtypeChoice, option(DATA, "keep: float32 where every column is float32, else float64.", "--dtype")]
Gamma = Annotated[
    str | None,
    option(
        KERNEL,
        "Of rbf, laplacian, polynomials, sigmoid. auto: the width that shows as many clusters as are asked for most clearly.",
        metavar="scale|median|auto|NUMBER",
        shown="scale",
    ),
]
Degree = Annotated[int | None, option(KERNEL, "Of the polynomials.", shown="3")]
Coef0 = Annotated[float | None, option(KERNEL, "Of the polynomials and sigmoid.", shown="1")]
Starts = Annotated[int | None, option(RUN, "How many starts; the best is kept.", "--n-init", min=1, shown="1")]
Tolerance = Annotated[float | None, option(RUN, "Stop when centres move less than this.", "--tol", min=0, shown="0.0001")]
Seed = Annotated[T, option(RUN, "The same seed gives the same result.", "--seed", shown="0")]
Budget = Annotated[
    str | None, option(RUN, "What the fit may allocate beside the rows.", "--memory-budget", metavar="4GB", shown="half of what is free")
]
Jobs = Annotated[int | None, option(RUN, "Threads.", "--jobs", shown="every CPU")]
TopK = Annotated[int | None, option(RUN, "Write only the N largest memberships of each row.", "--top-k", min=1, metavar="N", shown="all")]
Threshold = Annotated[
    float | None, option(RUN, "Write only memberships of at least this, as lists.", "--threshold", min=0, max=1, shown="all")
]
Quiet = Annotated[bool, option(SCREEN, "Only warnings and errors on stderr.", "--quiet", "-q")]
Debug = Annotated[bool, option(SCREEN, "Show the whole traceback of an error.", "--debug")]


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """All options of `cmeans fit`. Fields named like constructor parameters of the estimators are those parameters."""

    file: File
    columns: Columns = None
    weight: Annotated[str | None, option(DATA, "Column with the weight of each row; in an npz also an array.", metavar="COLUMN")] = None
    scale: Annotated[ScaleChoice, option(DATA, "standard: mean 0, deviation 1; unit: [0, 1]. Kept with the model.")] = ScaleChoice.NONE
    dtype: Precision = DtypeChoice.KEEP
    array: Array = None
    header: HeaderLine = None

    method: Annotated[
        str,
        option(METHOD, "How rows belong to clusters; adaptive and sequential find the number of clusters.", metavar="|".join(METHODS)),
    ] = "fuzzy"
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
    T: Annotated[float | None, option(METHOD, "entropy: softness, in units of squared distances.", "--temperature", shown="required")] = (
        None
    )
    eta_scale: Annotated[float | None, option(METHOD, "Width of possibilistic clusters, relative to the pilot's.", shown="1")] = None

    sparsity: Annotated[
        str | None, option(ADAPTIVE, "lambda; 0: every row belongs somewhere, larger: more are noise.", metavar=AUTO, shown="auto")
    ] = None
    p: Annotated[float | None, option(ADAPTIVE, "Power of the sparsity term, between 0 and 1.", shown="0.5")] = None
    sparsity_test: Annotated[
        SparsityTestChoice | None, option(ADAPTIVE, "Whether a typicality must beat 0, or be a local minimum only.", shown="global")
    ] = None
    adaptation: Annotated[
        AdaptationChoice | None,
        option(ADAPTIVE, "How widths follow the clusters; sequential: conference or squared.", shown="journal; conference for sequential"),
    ] = None
    scaling: Annotated[
        InnerScalingChoice | None,
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
        SolverChoice | None,
        option(PROBABILISTIC, "How rows decide: fagp one after the other, batched many at a time.", shown="auto, by size"),
    ] = None
    step: Annotated[float | None, option(PROBABILISTIC, "Of agp: the longest step.", shown="0.01")] = None
    quantile: Annotated[
        float | None, option(PROBABILISTIC, "Of batched: share of the rows that decide in a sweep, 0 to 1.", shown="0.1")
    ] = None
    polish: Annotated[PolishChoice | None, option(PROBABILISTIC, "Whether single rows move at the end.", shown="hartigan")] = None

    kernel: Annotated[KernelChoice | None, option(KERNEL, "linear is plain c-means.", shown="rbf; linear for adaptive and sequential")] = (
        None
    )
    gamma: Gamma = None
    degree: Degree = None
    coef0: Coef0 = None
    n_landmarks: Annotated[
        str, option(KERNEL, "How many rows stand for all in the kernel; none: exact, every row.", "--landmarks", metavar="N|auto|none")
    ] = "auto"
    landmarks: Annotated[
        LandmarkChoice | None,
        option(KERNEL, "How landmarks are drawn; rpcholesky: where they are missed most.", "--landmark-choice", shown="rpcholesky"),
    ] = None
    landmark_tol: Annotated[
        float | None,
        option(
            KERNEL, "By what share two partitions' costs may compare wrongly with --landmarks auto.", "--landmark-tol", min=0, shown="0.02"
        ),
    ] = None

    out: Annotated[
        Path, option(RUN, "Folder for the results. Those of a former run in it are replaced, file by file.", metavar="DIR", shown=False)
    ]
    init: Annotated[
        InitChoice | None, option(RUN, "First centres; sequential makes its own.", shown="k-means++; dirichlet for probabilistic")
    ] = None
    n_init: Starts = None
    top_k: TopK = None
    threshold: Threshold = None
    max_iter: Annotated[int | None, option(RUN, "Sweeps over the rows at most.", min=1, shown="300; no limit for probabilistic")] = None
    tol: Tolerance = None
    acceleration: Annotated[
        AccelerationChoice | None, option(RUN, "Of soft methods: fewer sweeps by mixing the last ones.", shown="anderson")
    ] = None
    progressive: Annotated[
        bool | None,
        option(RUN, "Above 50,000 rows: whether growing samples are swept first.", "--progressive/--all-rows", shown="progressive"),
    ] = None
    random_state: Seed[int] = 0
    memory_budget: Budget = None
    n_jobs: Jobs = None
    runs_on: Annotated[
        EngineChoice,
        option(RUN, "Who sweeps: threads of this machine, or the workers of a Dask cluster, which read the files themselves.", "--engine"),
    ] = EngineChoice.THREADS
    scheduler: Annotated[str | None, option(RUN, "Of --engine dask.", "--scheduler", metavar="ADDRESS", shown=False)] = None
    kept_in: Annotated[
        Path | None, option(RUN, "Keep how far the fit has come, for when it is stopped.", "--checkpoint", metavar="FILE", shown="none")
    ] = None
    every: Annotated[float, option(RUN, "Minutes between checkpoints.", "--checkpoint-minutes", min=0, shown="5")] = 5.0
    resume: Annotated[bool, option(RUN, "Go on from --checkpoint, with the same rows and options.", "--resume")] = False
    quiet: Quiet = False
    debug: Debug = False

    def request(self) -> FitRequest:
        if self.method not in METHODS:
            raise InputError(f"--method {self.method}: unknown method; known are {listed(METHODS)}.")
        if self.resume and self.kept_in is None:
            raise InputError("--resume: needs --checkpoint FILE, what to go on from.")
        if (self.runs_on is EngineChoice.DASK) != (self.scheduler is not None):
            raise InputError("--engine dask and --scheduler ADDRESS go together, e.g. --engine dask --scheduler tcp://10.0.0.1:8786.")
        checkpoint = None if self.kept_in is None else Checkpoint(self.kept_in, minutes=self.every, resume=self.resume)
        dtype = None if self.dtype is DtypeChoice.KEEP else self.dtype.value
        reading = ReadOptions(self.file, tuple(self.columns or ()), self.weight, self.array, dtype, self.header)
        known = frozenset[str]().union(*(method.words for method in METHODS.values()))
        words = _words(self, known)
        return FitRequest(
            reading,
            self.out,
            self.method,
            self.clusters,
            words,
            self.scale.value,
            self.top_k,
            self.threshold,
            checkpoint,
            self.scheduler,
        )


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """All options of `cmeans stream`. Fields named like constructor parameters of the estimator are those parameters."""

    source: Annotated[Path, argument("- for standard input; a file of CSV, Arrow or Parquet; a folder of Parquet files.", "SOURCE")] = STDIN
    columns: Columns = None
    weight: Annotated[str | None, option(DATA, "Column with the weight of each row.", metavar="COLUMN")] = None
    scale: Annotated[
        ScaleChoice | None, option(DATA, "standard or unit, as the first chunk has it; kept for all that follow.", shown="none")
    ] = None
    dtype: Precision = DtypeChoice.KEEP
    header: HeaderLine = None
    kind: Annotated[
        StreamFormatChoice | None, option(DATA, "What comes; arrow: an IPC stream.", "--format", shown="its first bytes tell")
    ] = None
    max_errors: Annotated[
        int, option(DATA, "Malformed rows that a run skips before it gives up; the first five are shown.", min=0, metavar="N")
    ] = 100
    follow: Annotated[bool, option(DATA, "Go on with new files of the folder as they arrive.", "--follow")] = False
    poll: Annotated[float | None, option(DATA, "Seconds between looks at the folder.", min=0.01, shown="1")] = None
    idle: Annotated[float | None, option(DATA, "Seconds without a new file that end --follow.", min=0, shown="never")] = None

    n_clusters: Annotated[
        int | None, option(METHOD, "How many clusters.", "--clusters", "-c", min=1, shown="required; with --resume that of the state")
    ] = None
    method: Annotated[
        StreamMethodChoice | None,
        option(METHOD, "landmarks: one space for all chunks; projection: each chunk's own, into which old centres go.", shown="landmarks"),
    ] = None
    rule: Annotated[StreamRuleChoice | None, option(METHOD, "How rows belong to clusters.", shown="fuzzy")] = None
    m: Annotated[str | None, option(METHOD, "Fuzziness, above 1.", metavar=AUTO, shown="auto, from the first chunk")] = None
    decay: Annotated[
        float | None, option(METHOD, "What the past is multiplied by before each chunk; below 1 it is forgotten.", shown="1")
    ] = None
    projection: Annotated[ProjectionChoice | None, option(METHOD, "projection: how old centres get into a chunk.", shown="cholesky")] = None
    meta_membership: Annotated[
        MetaMembershipChoice | None, option(METHOD, "Whether memberships of the past are found anew with each chunk.", shown="auto")
    ] = None
    past_weight: Annotated[PastWeightChoice | None, option(METHOD, "What a row of the past weighs in its cluster.", shown="u^m")] = None
    warm_up: Annotated[
        str | None, option(METHOD, "Rows that are held until there are enough to begin with.", metavar=AUTO, shown="auto, 20 a cluster")
    ] = None

    kernel: Annotated[KernelChoice | None, option(KERNEL, "linear is plain c-means.", shown="rbf")] = None
    gamma: Gamma = None
    degree: Degree = None
    coef0: Coef0 = None
    n_landmarks: Annotated[
        str | None, option(KERNEL, "How many rows stand for all in the kernel, at most.", "--landmarks", metavar="N|auto", shown="auto")
    ] = None

    out: Annotated[
        Path, option(RUN, "Where labels go, with row numbers from 0: .csv, .arrow (an IPC stream), or - for stdout.", metavar="FILE")
    ] = STDOUT
    memberships: Annotated[bool, option(RUN, "Also write the memberships.", "--memberships")] = False
    summary: Annotated[
        Path | None, option(RUN, "Write the summary to a file too; it is on stdout where the labels are not.", metavar="FILE")
    ] = None
    chunk_size: Annotated[int, option(RUN, "Rows that are clustered at a time.", min=1, metavar="N")] = 5000
    max_wait: Annotated[
        float | None, option(RUN, "Seconds that a row waits for others before they are a chunk.", min=0, shown="no limit")
    ] = None
    checkpoint: Annotated[
        Path | None, option(RUN, "Keep the state, a model for cmeans predict too, in a file.", metavar="FILE", shown="none is kept")
    ] = None
    checkpoint_every: Annotated[int, option(RUN, "Chunks between two savings of the state.", min=1, metavar="N")] = 10
    resume: Annotated[bool, option(RUN, "Go on from the state in --checkpoint, in the same words.", "--resume")] = False
    n_init: Annotated[int | None, option(RUN, "How many starts; the best is kept.", min=1, shown="3")] = None
    max_iter: Annotated[int | None, option(RUN, "Sweeps over a chunk at most.", min=1, shown="300")] = None
    tol: Tolerance = None
    random_state: Seed[int | None] = None
    memory_budget: Budget = None
    n_jobs: Jobs = None
    quiet: Quiet = False
    debug: Debug = False

    def request(self) -> StreamRequest:
        words = _words(self, frozenset(inspect.signature(StreamingFuzzyCMeans).parameters))
        if not self.resume:
            words.setdefault("random_state", 0)
        dtype = None if self.dtype is DtypeChoice.KEEP else self.dtype.value
        return StreamRequest(
            source=Wanted(self.source, None if self.kind is None else self.kind.value, self.header, self._follow()),
            reading=ReadOptions(self.source, tuple(self.columns or ()), self.weight, dtype=dtype),
            words=words,
            scale=None if self.scale is None else self.scale.value,
            out=self.out,
            memberships=self.memberships,
            checkpoints=Checkpoints(self.checkpoint, self.checkpoint_every, self.resume),
            chunk_size=self.chunk_size,
            max_wait=self.max_wait,
            max_errors=self.max_errors,
            summary=self.summary,
        )

    def _follow(self) -> Follow | None:
        for option_name, seconds in (("--poll", self.poll), ("--idle", self.idle)):
            if seconds is not None and not self.follow:
                raise InputError(f"{option_name}: belongs to --follow.")
        return Follow(1.0 if self.poll is None else self.poll, self.idle) if self.follow else None


def _words(options: FitOptions | StreamOptions, known: frozenset[str]) -> dict[str, Any]:
    """Return the constructor parameters that were given: the others keep the estimator's defaults."""
    said = {field.name: getattr(options, field.name) for field in fields(options) if field.name in known}
    return {word: _meant(word, value) for word, value in said.items() if value is not None}


def _meant(word: str, value: Any) -> Any:
    """Return a parameter's value for the estimator: `none` is None, which for some parameters differs from the default."""
    if word in NUMBER_OR:
        number = number_or_word(option_of(word), value, NUMBER_OR[word])
        return int(number) if word == "warm_up" and isinstance(number, float) and number.is_integer() else number
    if word == "n_landmarks":
        return landmark_number(value)
    if isinstance(value, StrEnum):
        return None if value == "none" else value.value
    return value
