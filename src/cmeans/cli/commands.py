"""The commands: the arguments and options of each, and the function that does its work."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from ..data.recipe.scaling import AUTO
from ..solvers.checkpoints import Checkpoint
from .app import Context, argument, option
from .choosing import CHOSEN, with_choice
from .config import KEY
from .demo import demo as run_demo
from .errors import InputError
from .exploring import ExploreRequest
from .exploring import explore as run_explore
from .fit_request import LABELS, LABELS_CSV, FitRequest
from .fitting import fit as run_fit
from .indexing import add_to_index, train_index, words_of_cells
from .methods import METHODS, STREAM, with_engine
from .models import PredictRequest, describe_model
from .models import predict as run_predict
from .option_names import listed, option_of
from .option_values import DATA, METHOD, RUN
from .output.report import of_fit, of_index, of_model, of_predict, of_report, of_select, of_stream
from .output.terminal import Screen
from .registration import app, command
from .reporting import ReportRequest, report_on
from .selection import SELECTABLE, Trials, select_number
from .stream.labels import STDOUT
from .stream.run import StreamRequest
from .stream.run import stream as run_stream
from .stream.sources import STDIN
from .table_options import (
    OF_A_FIT,
    OF_EVERY_TABLE,
    OF_LABELS,
    OF_STREAMS,
    OF_VECTORS,
    TableOptions,
    Weight,
    names_in,
)

# options of a table that a model has settled
OF_MODELS = [name for name in OF_A_FIT if name != "weight"]

__all__ = ["app"]  # with all commands, once this module is loaded

File = Annotated[
    Path,
    argument(
        "Parquet, Arrow, CSV, npy, npz, fvecs, fbin or the like: a file, a folder of them, or a "
        "pattern.",
        "FILE",
    ),
]
ModelFile = Annotated[Path, argument("The model.safetensors of an earlier fit.", "MODEL")]
_KNOWN = (
    "Column of clusters that rows are known to belong to: whole numbers, -1 where it is not known."
)
KnownLabels = Annotated[
    str | None, option(DATA, _KNOWN, "--known-labels", metavar="COLUMN", shown="none")
]
_LINKED = (
    "Rows that share a cluster: a column of group numbers, -1 for none, or a file of pairs "
    "of row numbers from 0."
)
MustLink = Annotated[
    str | None, option(DATA, _LINKED, "--must-link", metavar="COLUMN|FILE", shown="none")
]
Names = Annotated[
    list[str] | None,
    option(
        RUN,
        "Names of the clusters from 0 on, which go beside the labels.",
        "--names",
        metavar="a,b,c",
        shown=False,
    ),
]
KeptIn = Annotated[
    Path | None,
    option(
        RUN,
        "Keep how far it has come, for when it is stopped.",
        "--checkpoint",
        metavar="FILE",
        shown="none",
    ),
]
Every = Annotated[
    float | None,
    option(RUN, "Minutes between checkpoints.", "--checkpoint-minutes", min=0, shown="5"),
]
Resume = Annotated[
    bool, option(RUN, "Go on from --checkpoint, with the same rows and options.", "--resume")
]
Overwrite = Annotated[
    bool,
    option(
        RUN,
        "Replace files of the same names in --out that no former run has written, too.",
        "--overwrite",
    ),
]
TopK = Annotated[
    int | None,
    option(
        RUN,
        "Write only the N largest memberships of each row.",
        "--top-k",
        min=1,
        metavar="N",
        shown="all",
    ),
]
Threshold = Annotated[
    float | None,
    option(
        RUN,
        "Write only memberships of at least this, as lists.",
        "--threshold",
        min=0,
        max=1,
        shown="all",
    ),
]


@command(of_fit, METHODS, OF_EVERY_TABLE | OF_A_FIT | OF_LABELS)
def fit(
    screen: Screen,
    context: Context,
    table: TableOptions,
    config: dict[str, Any],
    file: File,
    out: Annotated[
        Path,
        option(
            RUN,
            "Folder for the results. Those of a former run in it are replaced, file by file.",
            metavar="DIR",
            shown=False,
        ),
    ],
    known_labels: KnownLabels = None,
    must_link: MustLink = None,
    method: Annotated[
        str | None,
        option(
            METHOD,
            "How rows belong to clusters; adaptive, sequential and connected find the number of "
            "clusters.",
            metavar="|".join(METHODS),
            shown="fuzzy; without a number of clusters, what the rows speak for",
        ),
    ] = None,
    random_state: Annotated[int, option(RUN, "The same seed gives the same result.", "--seed")] = 0,
    top_k: TopK = None,
    threshold: Threshold = None,
    names: Names = None,
    labels_as: Annotated[
        Literal["parquet", "csv"], option(RUN, "What the file of labels is.", "--labels-as")
    ] = "parquet",
    truncated: Annotated[
        bool,
        option(
            METHOD,
            "Rows have memberships in their --top-k nearest clusters alone, in the sweeps too: for "
            "hundreds of clusters and more.",
            "--truncated",
        ),
    ] = False,
    runs_on: Annotated[
        Literal["threads", "dask"],
        option(
            RUN,
            "Who sweeps: threads of this machine, or the workers of a Dask cluster, which read the "
            "files themselves.",
            "--engine",
        ),
    ] = "threads",
    scheduler: Annotated[
        str | None, option(RUN, "Of --engine dask.", "--scheduler", metavar="ADDRESS", shown=False)
    ] = None,
    kept_in: KeptIn = None,
    every: Every = None,
    resume: Resume = False,
    report: Annotated[
        bool, option(RUN, "Also write report.html, a page that shows the clusters.", "--report")
    ] = False,
    plan: Annotated[
        bool,
        option(
            RUN, "Say what memory, passes and row visits it would take, and do nothing.", "--plan"
        ),
    ] = False,
    overwrite: Overwrite = False,
    **words: Any,
) -> dict[str, Any]:
    is_counted = isinstance(words.get("n_clusters"), int)
    chosen = method is None and not is_counted and CHOSEN
    method = chosen or method or "fuzzy"
    if not chosen and method not in METHODS:
        raise InputError(f"--method {method}: unknown method; known are {listed(METHODS)}.")
    checkpoint = _checkpoint(kept_in, every, resume)
    if (runs_on == "dask") != (scheduler is not None):
        raise InputError(
            "--engine dask and --scheduler ADDRESS go together, e.g. --engine dask --scheduler "
            "tcp://10.0.0.1:8786."
        )
    if truncated and top_k is None:
        raise InputError(
            "--truncated: needs --top-k N, the number of clusters in which a row has memberships."
        )
    if truncated:
        words["top_k"], top_k = top_k, None  # of the model, which has no others to write
    words["random_state"] = random_state
    told = known_labels, must_link
    request = FitRequest(
        table.reading(file),
        out,
        method,
        words,
        table.scale(AUTO if chosen else "none"),
        table.words,
        *told,
        top_k,
        threshold,
        checkpoint,
        scheduler,
        context.obj,
        report,
        plan,
        overwrite,
        names_in(names),
        labels=LABELS_CSV if labels_as == "csv" else LABELS,
        config=config,
    )
    return run_fit(with_choice(request, screen) if chosen else request, screen)


def _checkpoint(file: Path | None, minutes: float | None, resume: bool) -> Checkpoint | None:
    if resume and file is None:
        raise InputError("--resume: needs --checkpoint FILE, what to go on from.")
    if minutes is not None and file is None:
        raise InputError("--checkpoint-minutes: needs --checkpoint FILE, what is written then.")
    return (
        None
        if file is None
        else Checkpoint(file, minutes=5.0 if minutes is None else minutes, resume=resume)
    )


@command(of_select, SELECTABLE, OF_EVERY_TABLE | OF_A_FIT)
def select(
    screen: Screen,
    context: Context,
    table: TableOptions,
    config: dict[str, Any],
    file: File,
    n_clusters: Annotated[
        str,
        option(
            METHOD, "Numbers to choose from: 2-20, or 3,5,8.", "--clusters", "-c", metavar="FROM-TO"
        ),
    ] = "2-20",
    by: Annotated[
        Literal["auto", "silhouette", "xie_beni", "stability", "bic", "icl"],
        option(
            METHOD,
            "What chooses: silhouettes corrected for chance (auto), as they are, the Xie-Beni "
            "index, or agreement of refits; of --method gaussian BIC (auto) or ICL.",
        ),
    ] = "auto",
    refits: Annotated[
        int | None,
        option(
            METHOD,
            "Refits to bootstrap samples for each number; 0 for none.",
            min=0,
            metavar="N",
            shown="20 for --by stability, else none",
        ),
    ] = None,
    sample_size: Annotated[
        str,
        option(
            METHOD,
            "Rows that numbers are judged on, at most; auto: 3000, or 100 for each of the most "
            "clusters.",
            "--sample",
            metavar="N|all|auto",
        ),
    ] = "auto",
    method: Annotated[
        str, option(METHOD, "How rows belong to clusters.", metavar="|".join(SELECTABLE))
    ] = "fuzzy",
    random_state: Annotated[int, option(RUN, "The same seed gives the same result.", "--seed")] = 0,
    out: Annotated[
        Path | None,
        option(
            RUN,
            "Folder for a picture of the evidence, its table as CSV, the summary, and run.toml.",
            metavar="DIR",
            shown="none",
        ),
    ] = None,
    kept_in: KeptIn = None,
    every: Every = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    **words: Any,
) -> dict[str, Any]:
    words["random_state"] = random_state
    checkpoint = _checkpoint(kept_in, every, resume)
    request = FitRequest(
        table.reading(file),
        Path(),
        method,
        words,
        table.scale(),
        table.words,
        checkpoint=checkpoint,
        arguments=context.obj or (),
        overwrite=overwrite,
        config=config,
    )
    trials = Trials(n_clusters, by, refits, sample_size)
    return select_number(request, trials, screen, out)


@command(of_predict, table=OF_EVERY_TABLE | OF_LABELS)
def predict(
    screen: Screen,
    table: TableOptions,
    config: dict[str, Any],
    model: ModelFile,
    file: File,
    out: Annotated[
        Path,
        option(
            RUN,
            "Where labels and memberships go: .parquet, .csv, or .npy (labels only); without an "
            "ending, a folder of files as the rows lie in.",
            metavar="F",
            shown=False,
        ),
    ],
    top_k: TopK = None,
    threshold: Threshold = None,
    names: Names = None,
) -> dict[str, Any]:
    request = PredictRequest(model, table.reading(file), out, top_k, threshold, names_in(names))
    return run_predict(request, screen) | {KEY: config}


@command(of_report, table=OF_EVERY_TABLE)
def report(
    screen: Screen,
    table: TableOptions,
    model: ModelFile,
    file: File,
    out: Annotated[
        Path,
        option(RUN, "The page, .html; it opens in any browser, without a network.", metavar="F"),
    ] = Path("report.html"),
    weight: Weight = None,
    title: Annotated[
        str | None,
        option(RUN, "Of the page.", "--title", metavar="TEXT", shown="the name of the file"),
    ] = None,
    theme: Annotated[
        Literal["auto", "light", "dark"],
        option(RUN, "auto: as the reader's system has it.", "--theme"),
    ] = "auto",
) -> dict[str, Any]:
    return report_on(ReportRequest(model, table.reading(file, weight), out, title, theme), screen)


@command(of_report, table=OF_EVERY_TABLE | OF_A_FIT)
def explore(
    screen: Screen,
    context: Context,
    table: TableOptions,
    file: File,
    out: Annotated[
        Path,
        option(RUN, "The page, .html; it opens in any browser, without a network.", metavar="F"),
    ] = Path("explore.html"),
    model: Annotated[
        Path | None,
        option(
            RUN,
            "The model.safetensors of an earlier fit.",
            "--model",
            metavar="MODEL",
            shown="none: the rows are clustered as they speak for",
        ),
    ] = None,
    n_clusters: Annotated[
        int | None,
        option(
            METHOD, "Number of clusters.", "--clusters", "-c", min=1, shown="as the rows speak for"
        ),
    ] = None,
    texts: Annotated[
        str | None,
        option(DATA, "Column of texts to show with the rows.", "--texts", metavar="COLUMN"),
    ] = None,
    coordinates: Annotated[
        str | None,
        option(
            DATA,
            "Places of the rows to draw them in, such as those of UMAP: two columns, which are no "
            "data, or a file of two.",
            "--coordinates",
            metavar="a,b|FILE",
        ),
    ] = None,
    against: Annotated[
        str | None,
        option(
            DATA,
            "What to show beside: another model of these rows, labels (a column, which is no data, "
            "or the file of labels of a fit), or a file of other rows, such as the next month's.",
            "--against",
            metavar="MODEL|LABELS|FILE",
        ),
    ] = None,
    title: Annotated[
        str | None,
        option(RUN, "Of the page.", "--title", metavar="TEXT", shown="the name of the file"),
    ] = None,
    theme: Annotated[
        Literal["auto", "light", "dark"],
        option(RUN, "auto: as the reader's system has it.", "--theme"),
    ] = "auto",
    random_state: Annotated[int, option(RUN, "The same seed gives the same result.", "--seed")] = 0,
) -> dict[str, Any]:
    given = [
        option_of(name) for name in OF_MODELS if table.given[name] not in (None, OF_A_FIT[name][1])
    ]
    if model is not None and (given or n_clusters is not None):
        raise InputError(
            f"{', '.join(given or ['--clusters'])}: belongs to a fit, and --model {model} has made "
            "one; leave one of them out."
        )
    words = {"random_state": random_state} | ({"n_clusters": n_clusters} if n_clusters else {})
    fit = FitRequest(
        table.reading(file),
        out,
        "fuzzy",
        words,
        table.scale(AUTO),
        table.words,
        arguments=context.obj,
    )
    typed = shlex.join(["cmeans", *context.obj])
    request = ExploreRequest(fit, model, out, texts, title, theme, typed, coordinates, against)
    return run_explore(request, screen)


@command(of_index, table=OF_VECTORS)
def index(
    screen: Screen,
    context: Context,
    table: TableOptions,
    config: dict[str, Any],
    file: File,
    out: Annotated[
        Path,
        option(
            RUN,
            "Folder for centroids.npy, centroids.fvecs, assignments.npy, the model, the summary "
            "and run.toml.",
            metavar="DIR",
            shown=False,
        ),
    ],
    n_clusters: Annotated[
        int | None,
        option(METHOD, "Number of cells.", "--clusters", "-c", min=1, metavar="N", shown=False),
    ] = None,
    metric: Annotated[
        Literal["euclidean", "cosine"] | None,
        option(
            METHOD,
            "What vectors are compared by; cosine: centroids have length one.",
            shown="euclidean",
        ),
    ] = None,
    balance: Annotated[
        float | None,
        option(
            METHOD,
            "The largest cell holds at most so many times the mean.",
            min=1,
            metavar="NUMBER",
            shown="no bound",
        ),
    ] = None,
    search: Annotated[
        Literal["hierarchical", "flat"] | None,
        option(
            METHOD,
            "How cells are made: in two levels of a sample, or by sweeps over all from k-means++.",
            shown="hierarchical from 256 cells on",
        ),
    ] = None,
    recall: Annotated[
        float | None,
        option(
            RUN,
            "Sweep as long as queries find such a share of their ten nearest rows in fewer cells, "
            "and say in how many; 500 rows of FILE are asked, which training leaves out.",
            metavar="NUMBER",
            shown=False,
        ),
    ] = None,
    add: Annotated[
        bool,
        option(
            RUN,
            "Put the rows of FILE into the cells of the index in --out, behind those it holds.",
            "--add",
        ),
    ] = False,
    random_state: Annotated[
        int | None, option(RUN, "The same seed gives the same result.", "--seed", shown="0")
    ] = None,
    n_jobs: Annotated[
        int | None, option(RUN, "Threads.", "--jobs", metavar="N", shown="all processors")
    ] = None,
    memory_budget: Annotated[
        str | None,
        option(RUN, "Memory that it may take.", metavar="4GB", shown="what is free"),
    ] = None,
    plan: Annotated[
        bool, option(RUN, "Say what memory and passes it would take, and do nothing.", "--plan")
    ] = False,
    overwrite: Overwrite = False,
) -> dict[str, Any]:
    own: dict[str, Any] = {
        "n_clusters": n_clusters,
        "metric": metric,
        "balance": balance,
        "search": search,
        "recall": recall,
        "n_jobs": n_jobs,
        "memory_budget": memory_budget,
        "plan": plan or None,
        "random_state": random_state,
    }
    given = {name: value for name, value in own.items() if value is not None}
    if add:
        if given:
            raise InputError(
                f"{', '.join(map(option_of, given))}: --add takes the cells of the index in --out "
                "as they are; leave it out."
            )
        return add_to_index(table.reading(file), out, screen)
    if n_clusters is None:
        raise InputError("--clusters: needs the number of cells, e.g. -c 1024.")
    if recall is not None and not 0 < recall <= 1:
        raise InputError(f"--recall {recall:g}: give a share of the nearest rows, as .95.")
    given.pop("plan", None)
    given.pop("recall", None)
    request = FitRequest(
        table.reading(file),
        out,
        "hard",
        words_of_cells(**{"random_state": 0, **given}),
        arguments=context.obj,
        plan=plan,
        overwrite=overwrite,
        config=config,
    )
    return train_index(request, screen, recall)


@command(of_stream, {"stream": STREAM}, OF_STREAMS)
def stream(
    screen: Screen,
    table: TableOptions,
    config: dict[str, Any],
    source: Annotated[
        Path,
        argument(
            "- for CSV on standard input; a file of CSV, Arrow or Parquet; a folder of Parquet "
            "files.",
            "SOURCE",
        ),
    ] = STDIN,
    max_errors: Annotated[
        int,
        option(
            DATA,
            "Malformed rows that a run skips before it gives up; the first five are shown.",
            min=0,
            metavar="N",
        ),
    ] = 100,
    follow: Annotated[
        bool, option(DATA, "Go on with new files of the folder as they arrive.", "--follow")
    ] = False,
    wait: Annotated[
        float | None,
        option(
            DATA,
            "Seconds that a row waits for others before they are a chunk, and between looks at a "
            "folder that is followed.",
            "--wait",
            min=0.01,
            max=86_400,
            metavar="SECONDS",
            shown="0.5 in a pipe, else no limit, and 1 between looks",
        ),
    ] = None,
    out: Annotated[
        Path,
        option(
            RUN,
            "Where labels go, with row numbers from 0: a .csv file, or - for stdout.",
            metavar="FILE",
        ),
    ] = STDOUT,
    memberships: Annotated[
        bool, option(RUN, "Also write the memberships.", "--memberships")
    ] = False,
    summary: Annotated[
        Path | None,
        option(
            RUN,
            "Write the summary to a file too; it is on stdout where the labels are not.",
            metavar="FILE",
        ),
    ] = None,
    chunk_size: Annotated[
        int, option(RUN, "Rows that are clustered at a time.", min=1, metavar="N")
    ] = 5000,
    random_state: Annotated[
        int | None, option(RUN, "The same seed gives the same result.", "--seed", shown="0")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        option(
            RUN,
            "Keep the state, a model for cmeans predict too, in a file.",
            metavar="FILE",
            shown="none is kept",
        ),
    ] = None,
    checkpoint_every: Annotated[
        int | None,
        option(RUN, "Chunks between two savings of the state.", min=1, metavar="N", shown="10"),
    ] = None,
    resume: Annotated[
        bool, option(RUN, "Go on from the state in --checkpoint, in the same words.", "--resume")
    ] = False,
    identifier: Annotated[
        str | None,
        option(DATA, "Column that goes with each row to its label.", "--id", metavar="COLUMN"),
    ] = None,
    time: Annotated[
        str | None,
        option(DATA, "Column of times that goes there too.", "--time", metavar="COLUMN"),
    ] = None,
    outlier_score: Annotated[
        bool,
        option(RUN, "Also write how far out each row is, from 0 to 1.", "--outlier-score"),
    ] = False,
    alert: Annotated[
        float | None,
        option(
            RUN,
            "Also write 1 for rows whose outlier score is this or more, else 0; count them.",
            "--alert",
            min=0.0,
            max=1.0,
            metavar="SCORE",
        ),
    ] = None,
    metrics: Annotated[
        float | None,
        option(
            RUN,
            "Seconds between two lines on stderr: rows, their pace, clusters, alerts, delay.",
            "--metrics",
            min=0.01,
            metavar="SECONDS",
        ),
    ] = None,
    events: Annotated[
        Path | None,
        option(
            RUN,
            "Write what becomes of clusters, where their number is not told: a .csv file.",
            "--events",
            metavar="FILE",
        ),
    ] = None,
    **words: Any,
) -> dict[str, Any] | None:
    words["chunk_size"] = chunk_size
    if random_state is not None or not resume:
        words["random_state"] = random_state or 0
    STREAM.made(words)
    words = STREAM.in_objects(words)
    if checkpoint is None and checkpoint_every is not None:
        raise InputError("--checkpoint-every: needs --checkpoint FILE, where the state is kept.")
    kept = checkpoint, checkpoint_every or 10, resume
    request = StreamRequest(
        table.reading(source),
        with_engine(words),
        table.given["scale"],
        follow,
        wait,
        out,
        memberships,
        summary,
        chunk_size,
        max_errors,
        *kept,
        tuple(name for name in (identifier, time) if name is not None),
        outlier_score,
        alert,
        metrics,
        events,
        table.words,
        config,
    )
    return run_stream(request, screen)


@command(of_model)
def info(screen: Screen, model: ModelFile) -> dict[str, Any]:
    return describe_model(model)


@command(of_fit)
def demo(
    screen: Screen,
    out: Annotated[Path, option(RUN, "Folder for the data and the results.", metavar="DIR")] = Path(
        "cmeans-demo"
    ),
) -> dict[str, Any]:
    return run_demo(out, screen)
