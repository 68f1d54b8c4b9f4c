"""The commands and their options. This file only translates; the work is done in the rooms beside it."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from .demo import demo as run_demo
from .errors import DONE, INTERRUPTED, verdict
from .fitting import FitRequest
from .fitting import fit as run_fit
from .predicting import PredictRequest
from .predicting import predict as run_predict
from .rows import Wish
from .screen import Screen, print_table
from .showing import briefly, describe_model
from .summaries import show
from .words import given, landmark_number, number_or_word

app = typer.Typer(
    name="cmeans",
    help="Hard, fuzzy and possibilistic c-means in kernel space. Start with: cmeans demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Method(StrEnum):
    HARD = "hard"
    TWO_STEP = "two-step"
    FUZZY = "fuzzy"
    POSSIBILISTIC = "possibilistic"


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
    RANDOM = "random"
    PARTITION = "random-partition"


class Scale(StrEnum):
    NONE = "none"
    STANDARD = "standard"
    UNIT = "unit"


class Dtype(StrEnum):
    KEEP = "keep"
    FLOAT32 = "float32"
    FLOAT64 = "float64"


_DATA, _METHOD, _KERNEL, _RUN, _SCREEN = "The data", "The method", "The kernel", "The run", "The screen"


def _option(panel: str, text: str, *names: str, shown: str | bool = True, **more: Any) -> Any:
    """An option of one panel of the help; `shown` is what the help gives as its default."""
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=shown, **more)


File = Annotated[Path, typer.Argument(metavar="FILE", help="Parquet, CSV, npy or npz.", show_default=False)]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The model.safetensors of an earlier fit.", show_default=False)]
Columns = Annotated[
    list[str] | None,
    _option(_DATA, "Columns that are data: names, positions from 0, ranges like 0-9; may be repeated.", metavar="a,b,c", shown="all"),
]
Array = Annotated[str | None, _option(_DATA, "Which array of an npz.", metavar="NAME", shown="X, or the only one")]
HeaderLine = Annotated[
    bool | None, _option(_DATA, "Whether the first line of a CSV holds names.", "--header/--no-header", shown="it is looked at")
]
Quiet = Annotated[bool, _option(_SCREEN, "Only warnings and errors on stderr.", "--quiet", "-q")]
Debug = Annotated[bool, _option(_SCREEN, "Show the whole traceback of an error.", "--debug")]


@app.command()
def fit(
    file: File,
    clusters: Annotated[int, _option(_METHOD, "How many clusters.", "--clusters", "-c", min=1, shown=False)],
    out: Annotated[
        Path,
        _option(_RUN, "Folder for the results. Those of a former run in it are replaced, file by file.", metavar="DIR", shown=False),
    ],
    columns: Columns = None,
    weight: Annotated[str | None, _option(_DATA, "Column with the weight of each row; in an npz also an array.", metavar="COLUMN")] = None,
    scale: Annotated[Scale, _option(_DATA, "standard: mean 0, deviation 1; unit: [0, 1]. Kept with the model.")] = Scale.NONE,
    dtype: Annotated[Dtype, _option(_DATA, "keep: float32 where every column is float32, else float64.")] = Dtype.KEEP,
    array: Array = None,
    header: HeaderLine = None,
    method: Annotated[Method, _option(_METHOD, "How rows belong to clusters.")] = Method.FUZZY,
    fuzzifier: Annotated[
        str | None, _option(_METHOD, "Fuzziness, above 1.", "--m", metavar="auto|NUMBER", shown="auto; 2 for possibilistic")
    ] = None,
    pilot_m: Annotated[
        str | None, _option(_METHOD, "Fuzziness of the fuzzy run before a possibilistic one.", metavar="auto|NUMBER", shown="auto")
    ] = None,
    eta_scale: Annotated[float | None, _option(_METHOD, "Width of possibilistic clusters, relative to the pilot's.", shown="1")] = None,
    kernel: Annotated[Kernel, _option(_KERNEL, "linear is plain c-means.")] = Kernel.RBF,
    gamma: Annotated[
        str | None, _option(_KERNEL, "Of rbf, laplacian, polynomials, sigmoid.", metavar="scale|median|NUMBER", shown="scale")
    ] = None,
    degree: Annotated[int | None, _option(_KERNEL, "Of the polynomials.", shown="3")] = None,
    coef0: Annotated[float | None, _option(_KERNEL, "Of the polynomials and sigmoid.", shown="1")] = None,
    landmarks: Annotated[
        str, _option(_KERNEL, "How many rows stand for all in the kernel; none: exact, every row.", metavar="N|auto|none")
    ] = "auto",
    landmark_choice: Annotated[LandmarkChoice | None, _option(_KERNEL, "How landmarks are drawn.", shown="uniform")] = None,
    init: Annotated[Init | None, _option(_RUN, "First centres.", shown="k-means++")] = None,
    n_init: Annotated[int | None, _option(_RUN, "How many starts; the best is kept.", min=1, shown="1")] = None,
    max_iter: Annotated[int | None, _option(_RUN, "Sweeps over the rows at most.", min=1, shown="300")] = None,
    tol: Annotated[float | None, _option(_RUN, "Stop when centres move less than this.", min=0, shown="0.0001")] = None,
    seed: Annotated[int, _option(_RUN, "The same seed gives the same result.")] = 0,
    memory_budget: Annotated[
        str | None, _option(_RUN, "What the fit may allocate beside the rows.", metavar="4GB", shown="half of what is free")
    ] = None,
    jobs: Annotated[int | None, _option(_RUN, "Threads.", shown="every CPU")] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cluster the rows of a file: labels.parquet, model.safetensors and summary.json in DIR, the summary on stdout."""
    with _plain_speech(Screen(quiet), debug) as screen:
        words = given(
            n_clusters=clusters,
            m=number_or_word("--m", fuzzifier, ("auto",)),
            pilot_m=number_or_word("--pilot-m", pilot_m, ("auto",)),
            eta_scale=eta_scale,
            kernel=kernel.value,
            gamma=number_or_word("--gamma", gamma, ("scale", "median")),
            degree=degree,
            coef0=coef0,
            landmarks=_value(landmark_choice),
            init=_value(init),
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            memory_budget=memory_budget,
            n_jobs=jobs,
            random_state=seed,
        )
        words["n_landmarks"] = landmark_number(landmarks)  # None is a value here
        wish = Wish(file, tuple(columns or ()), weight, array, None if dtype is Dtype.KEEP else dtype.value, header)
        show(run_fit(FitRequest(wish, out, method.value, words, scale.value), screen))


@app.command()
def predict(
    model: ModelFile,
    file: File,
    out: Annotated[
        Path, _option(_RUN, "Where labels and memberships go: .parquet, .csv, or .npy (labels only).", metavar="F", shown=False)
    ],
    columns: Columns = None,
    array: Array = None,
    header: HeaderLine = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Label new rows with a model. Columns and scaling are those of the fit; --columns says others, in the model's order."""
    with _plain_speech(Screen(quiet), debug) as screen:
        wish = Wish(file, tuple(columns or ()), None, array, None, header)
        show(run_predict(PredictRequest(model, wish, out), screen))


@app.command()
def info(
    model: ModelFile,
    as_json: Annotated[bool, _option(_SCREEN, "JSON at a terminal too; elsewhere it always is.", "--json")] = False,
    debug: Debug = False,
) -> None:
    """Say what a model file holds: a table at a terminal, JSON for programs."""
    with _plain_speech(Screen(), debug):
        facts = describe_model(model)
        if _at_terminal() and not as_json:
            print_table(str(model), briefly(facts))
        else:
            show(facts)


@app.command()
def demo(
    out: Annotated[Path, _option(_RUN, "Folder for the data and the results.", metavar="DIR")] = Path("cmeans-demo"),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cluster a real data set that comes with scikit-learn, from the file to the labels, in a few seconds."""
    with _plain_speech(Screen(quiet), debug) as screen:
        show(run_demo(out, screen))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"cmeans {__version__}")
        raise typer.Exit


def run(arguments: list[str]) -> int:
    """One command line, from its words to its exit code."""
    with _terminable():
        try:
            typer.main.get_command(app).main(args=arguments, prog_name="cmeans")
            code = DONE
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except KeyboardInterrupt:
            code = INTERRUPTED
    if code == INTERRUPTED:  # typer says nothing then
        Screen().fail(verdict(KeyboardInterrupt())[1])
    return code


@contextmanager
def _plain_speech(screen: Screen, debug: bool) -> Iterator[Screen]:
    """However a command ends, the user gets one line and an exit code; the traceback only with --debug."""
    try:
        yield screen
    except BrokenPipeError:
        raise  # nobody reads stdout any more; typer knows how to leave
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exception(error)
        if isinstance(error, KeyboardInterrupt):
            raise
        code, line = verdict(error)
        screen.fail(line)
        raise typer.Exit(code) from None


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does, so that it cleans up. Python allows handlers in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former or signal.SIG_DFL)


def _at_terminal() -> bool:
    return sys.stdout.isatty()


def _value(choice: StrEnum | None) -> str | None:
    return None if choice is None else choice.value
