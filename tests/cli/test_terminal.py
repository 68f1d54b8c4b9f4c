from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest

from cmeans.cli.output.report import of_model
from cmeans.cli.output.terminal import Screen, print_report
from cmeans.runtime.forecast import Forecast, described, standing
from cmeans.runtime.progress import Progress, Reporter, current_listeners, listening, trials
from cmeans.solvers.observer import Observer


def told(sweep: int, movement: float | None = None, **other: int) -> Progress:
    words = {"run": 0, "n_runs": 1, "max_sweeps": 300, "rows_done": 500, "n_rows": 1000} | other
    return Progress(
        stage="fit",
        sweep=sweep,
        objective=None if movement is None else 12.5,
        movement=movement,
        **words,
    )


def test_a_forecast_from_movements_that_shrink() -> None:
    forecast = Forecast(tol=2e-6)
    assert forecast.seconds_left(told(1)) is None
    for sweep in range(1, 5):
        forecast.note(told(sweep, 0.1**sweep), now=2.0 * sweep)
    assert forecast.sweeps_left(told(4)) == 2  # 1e-5, 1e-6
    assert forecast.seconds_left(told(4)) == pytest.approx(4.0)
    assert forecast.seconds_left(told(4, n_runs=3)) == pytest.approx(4.0 + 2 * 12.0)
    assert forecast.sweeps_left(told(4, max_sweeps=5)) == 1


def test_a_forecast_without_any_sign_of_an_end_is_what_is_allowed() -> None:
    for movements, tol in (
        ([0.1], 1e-4),
        ([0.1, 0.2], 1e-4),
        ([0.2, 0.1], 0.0),
        ([math.inf, 0.1], 1e-4),
    ):
        forecast = Forecast(tol)
        for sweep, movement in enumerate(movements, 1):
            forecast.note(told(sweep, movement), now=float(sweep))
        assert forecast.sweeps_left(told(len(movements))) == 300 - len(movements)


def test_a_new_start_begins_anew() -> None:
    forecast = Forecast(1e-4)
    for sweep in (1, 2, 3):
        forecast.note(told(sweep, 0.1**sweep), now=float(sweep))
    forecast.note(told(1, 0.5, run=1, n_runs=2), now=4.0)
    assert list(forecast.movements) == [0.5]


def test_a_run_whose_number_is_not_known_is_the_last_so_far() -> None:
    """The time left was negative: "about -1:58"."""
    observer = Observer().at("fit", 3)
    assert (observer.reporter.run, observer.reporter.n_runs) == (3, 4)


def test_the_words_of_trials() -> None:
    forecast, messages = Forecast(0.0), list[Progress]()
    with listening(messages.append), trials(3) as ended:
        assert not current_listeners()  # the fits inside are not heard
        for moment in (2.0, 4.0):
            ended()
            forecast.note(messages[-1], now=moment)
    last = messages[-1]
    assert described(last) == "trial 2/3"
    assert standing(last, None, forecast.seconds_left(last)) == "about 0:02 left"


def test_the_words_of_the_bar() -> None:
    assert described(told(12)) == "fit, sweep 12/300"
    assert described(told(12, run=1, n_runs=3)) == "fit 2/3, sweep 12/300"
    assert standing(told(1), None, None) == "500/1,000 rows"
    assert (
        standing(told(1), 1234567.0, 125.4)
        == "500/1,000 rows, objective 1,234,570, about 2:05 left"
    )


def test_nobody_knows_how_many_trials_there_will_be() -> None:
    forecast = Forecast(tol=1e-4)
    for sweep in (1, 2, 3):
        forecast.note(told(sweep, 0.1**sweep), now=float(sweep))
    trial = replace(told(3, run=4, n_runs=5), stage="grow")
    assert described(trial) == "cluster trial 5, sweep 3/300"
    assert forecast.seconds_left(trial) is None
    assert forecast.seconds_left(told(3)) is not None


def test_the_bar_is_drawn_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(screen: Screen) -> str:
        with screen.progress(tol=1e-4):
            reporter = Reporter(current_listeners())
            reporter.emit("fit", 1, 300, 500, 1000)
            reporter.emit("fit", 1, 300, 500, 1000, 12.5, 0.1)
        ended = capsys.readouterr()
        assert ended.out == ""
        return ended.err

    assert fit(Screen()) == ""
    monkeypatch.setenv("TERM", "xterm")  # a dumb one shows no bars
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    assert "500/1,000 rows" in fit(Screen())
    assert fit(Screen(quiet=True)) == ""


def test_messages(capsys: pytest.CaptureFixture[str]) -> None:
    for screen in (Screen(), Screen(quiet=True)):
        screen.say("read\nit")
        screen.warn("careful")
        screen.fail("wrong")
    assert capsys.readouterr().err.splitlines() == [
        *("cmeans: read it", "cmeans: warning: careful", "cmeans: wrong"),
        *("cmeans: warning: careful", "cmeans: wrong"),
    ]


def test_a_model_is_shown_briefly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    fitted = {"m_": 1.5, "none_": None, "_own": 1}
    print_report(
        of_model(
            {
                "model": "m",
                "estimator": "FuzzyCMeans",
                "fitted": fitted,
                "columns": list(range(1000)),
                "arrays": {"a": 1},
            }
        )
    )
    text = capsys.readouterr().out
    assert "fitted.m_" in text
    assert not any(word in text for word in ("none", "own", "999", "arrays"))
    assert "1000 in all" in text


def test_lines_are_not_broken_and_tables_need_no_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    line, stdout = "cmeans fit " + "x" * 90, io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr("sys.stdout", stdout)
    print_report([line, [("cluster", ""), ("0", "███")]])
    stdout.flush()
    assert stdout.buffer.getvalue().decode().split() == [*line.split(), "cluster", "0", "###"]
