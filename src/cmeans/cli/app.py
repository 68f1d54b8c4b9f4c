"""The commands and their options. This file only parses arguments; the work is done in the modules beside it."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from .. import __version__
from .demo import demo as run_demo
from .errors import DONE, FAULT, INTERRUPTED, UNREAD, verdict
from .fitting import fit as run_fit
from .models import PredictRequest, briefly, describe_model
from .models import predict as run_predict
from .options import RUN, SCREEN, Array, Columns, Debug, File, FitOptions, HeaderLine, ModelFile, Quiet, StreamOptions, Threshold, TopK
from .outputs import show
from .rows import ReadOptions
from .standard_streams import NAME as STANDARD_OUTPUT
from .standard_streams import at_terminal as _at_terminal
from .standard_streams import open_closed_streams, silence
from .stream.run import stream as run_stream
from .terminal import Screen, print_table
from .typer_api import Exit, call, echo, new_app, option, taking

E = TypeVar("E", bound=BaseException)

app = new_app("cmeans", "Hard, fuzzy and possibilistic c-means in kernel space. Start with: cmeans demo")


@app.command()
@taking(FitOptions)
def fit(options: FitOptions) -> None:
    """Cluster the rows of a file: labels.parquet, model.safetensors and summary.json in DIR, the summary on stdout."""
    with _plain_speech(Screen(options.quiet), options.debug) as screen:
        show(run_fit(options.request(), screen))


@app.command()
def predict(
    model: ModelFile,
    file: File,
    out: Annotated[Path, option(RUN, "Where labels and memberships go: .parquet, .csv, or .npy (labels only).", metavar="F", shown=False)],
    columns: Columns = None,
    array: Array = None,
    header: HeaderLine = None,
    top_k: TopK = None,
    threshold: Threshold = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Label new rows with a model. Columns and scaling are those of the fit; --columns says others, in the model's order."""
    with _plain_speech(Screen(quiet), debug) as screen:
        reading = ReadOptions(file, tuple(columns or ()), None, array, None, header)
        show(run_predict(PredictRequest(model, reading, out, top_k, threshold), screen))


@app.command()
@taking(StreamOptions)
def stream(options: StreamOptions) -> None:
    """Cluster rows as they come, each once: labels at once, and a model that goes on learning. From a pipe, a file or a folder."""
    with _plain_speech(Screen(options.quiet), options.debug) as screen:
        summary = run_stream(options.request(), screen)
        if summary is not None:
            show(summary)


@app.command()
def info(
    model: ModelFile,
    as_json: Annotated[bool, option(SCREEN, "JSON at a terminal too; elsewhere it always is.", "--json")] = False,
    debug: Debug = False,
) -> None:
    """Say what a model file holds: a table at a terminal, JSON for programs."""
    with _plain_speech(Screen(), debug):
        facts = describe_model(model)
        if _at_terminal() and not as_json:
            print_table(str(model), briefly(facts))
        else:
            show(facts, needed=True)


@app.command()
def demo(
    out: Annotated[Path, option(RUN, "Folder for the data and the results.", metavar="DIR")] = Path("cmeans-demo"),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cluster a real data set that comes with scikit-learn, from the file to the labels, in a few seconds."""
    with _plain_speech(Screen(quiet), debug) as screen:
        show(run_demo(out, screen))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, option(None, "Show the version and exit.", "--version")] = False) -> None:
    if version:
        echo(f"cmeans {__version__}")
        raise Exit


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    open_closed_streams()
    with _terminable():
        try:
            call(app, "cmeans", arguments)
            code = DONE
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            interrupt = _cause(end, KeyboardInterrupt) or KeyboardInterrupt()
            if code == FAULT and _cause(end, BrokenPipeError) is not None:
                code = UNREAD
        except KeyboardInterrupt as end:
            code, interrupt = INTERRUPTED, end
        except OSError as error:  # of help or the version, which typer writes
            silence(sys.stdout)
            code, line = verdict(OSError(error.errno, error.strerror, STANDARD_OUTPUT))
            Screen().fail(line)
    if code == INTERRUPTED:  # typer prints nothing then
        Screen().fail(verdict(interrupt)[1])
    return code


def _cause(end: BaseException | None, kind: type[E]) -> E | None:
    """Return the error of that kind that typer turned into an exit, if any."""
    while end is not None and not isinstance(end, kind):
        end = end.__cause__ or end.__context__
    return end


@contextmanager
def _plain_speech(screen: Screen, debug: bool) -> Iterator[Screen]:
    """Report any end of a command as one line and an exit code; the traceback only with --debug."""
    try:
        yield screen
    except BrokenPipeError:
        raise  # stdout has no reader any more; typer handles that
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exception(error)
        if isinstance(error, KeyboardInterrupt):
            raise
        code, line = verdict(error)
        screen.fail(line)
        raise Exit(code) from None


@contextmanager
def _terminable() -> Iterator[None]:
    """Make SIGTERM end a command as Ctrl-C does, so that it cleans up. Python allows handlers in the main thread only."""
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
