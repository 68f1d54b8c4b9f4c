"""Options made from the signatures and docstrings of estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import pytest
from typer.main import get_command

import cmeans as library
from cli.command import Command
from cmeans.cli.commands import app
from cmeans.cli.errors import InputError
from cmeans.cli.methods import KERNEL_FIELDS, METHODS, STREAM, MethodSpec
from cmeans.cli.option_names import option_of
from cmeans.cli.option_values import ADAPTIVE, NO_OPTIONS, PROBABILISTIC, parameter_options
from cmeans.kernels.names import KERNELS, KernelName

FIT = {option.name: option for option in parameter_options(METHODS)}
OF_STREAM = {option.name: option for option in parameter_options({"stream": STREAM})}


class Sharp(library.CMeans):
    """A method of one's own.

    Parameters
    ----------
    sharpness : "auto", "full" or float > 0, default=None
        How sharp rule="sharp" is; None: as sharp as `m`. Not used elsewhere.

    All other parameters are those of `KernelKMeans`.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sharpness: Literal["auto", "full"] | float = 0.5,
        m: float = 2.0,
    ) -> None:
        super().__init__(n_clusters)
        self.m = m
        self.sharpness = sharpness


def test_every_parameter_is_an_option_and_says_what_it_is() -> None:
    for methods, options in ((METHODS, FIT), ({"stream": STREAM}, OF_STREAM)):
        words = {word for method in methods.values() for word in method.parameters} - NO_OPTIONS
        # which are arrays
        assert words - set(options) <= {"landmarks__points"}
        for option in options.values():
            assert option.help.endswith("."), option
            assert not set('"`') & set(option.help), option
            assert len(option.help) < 260, option
            assert option.default, option


@pytest.mark.parametrize("name", [name for name, option in FIT.items() if option.names])
def test_every_choice_is_one_that_a_fit_takes(name: str) -> None:
    """Of some method that has the parameter."""
    for value in FIT[name].names:
        taken = 0
        for method in METHODS.values():
            if name in method.parameters:
                needed = dict.fromkeys(method.needed, 2)
                of_kernels = name in KERNEL_FIELDS or name.startswith("landmarks__")
                for kernel in FIT["kernel"].names if of_kernels else ("linear",):
                    try:
                        words = {"kernel": kernel} if "kernel" in method.parameters else {}
                        words |= {"covariance": "full"} if name == "covariance__volume" else {}
                        words |= {**needed, name: FIT[name].value(value)}
                        taken += method.made(words) is not None
                    except ValueError:
                        continue
        assert taken, (name, value)


def test_kernels_are_those_of_the_table() -> None:
    assert {*get_args(KernelName), "poly"} == set(KERNELS)


def test_the_help_shows_what_the_command_does_where_nothing_is_told() -> None:
    """Which need not be what the constructor would do: the other tests have what it does."""
    assert OF_STREAM["n_clusters"].default == "as the rows speak for"
    assert FIT["missing"].default.startswith("partial where the first rows of a table have empty")
    shown = {
        name: {word.name: word.show_default for word in command.params if word.name == "scale"}
        for name, command in get_command(app).commands.items()
    }
    assert {name: found["scale"] for name, found in shown.items() if found} == {
        "fit": "none; auto where the method is chosen too",
        "explore": "auto",
        "select": "auto",
        "stream": "none",
    }
    of_methods = {ADAPTIVE: {"adaptive", "sequential"}, PROBABILISTIC: {"probabilistic"}}
    for option in (*FIT.values(), *OF_STREAM.values()):
        if option.panel in of_methods:
            owners = {name for name, method in METHODS.items() if option.name in method.parameters}
            assert owners <= of_methods[option.panel], option.name
        assert "--" not in option_of(option.name).removeprefix("--")


def test_defaults_where_methods_differ() -> None:
    assert FIT["m"].default == "auto; 1.2 for possibilistic"
    assert FIT["kernel"].default == "linear; rbf for hard and two-step"
    assert FIT["n_clusters"].default == (
        "as the rows speak for, or required with --method; auto for connected and communities; "
        "20 for adaptive; 100 for sequential"
    )
    assert FIT["T"].default == "auto"
    assert FIT["n_jobs"].default == "every usable CPU"
    assert FIT["search__progressive"].default == "progressive"
    assert FIT["beta"].default == "0.5"
    assert FIT["delta"].default == "as share says"
    assert FIT["beta"].help.endswith("at most beta times the second.")
    assert FIT["alpha"].help.startswith("adaptive: ")
    assert FIT["init"].help.startswith(
        "all but probabilistic, sequential, connected, communities and consensus: How the first "
        "centres are drawn. "
    )
    assert (FIT["alpha"].panel, FIT["sparsity"].help.partition(":")[0]) == (ADAPTIVE, "lambda")


def test_a_new_parameter_is_an_option_by_itself() -> None:
    options = {
        option.name: option
        for option in parameter_options({**METHODS, "sharp": MethodSpec(Sharp, True)})
    }
    made = options["sharpness"]
    assert (made.help, made.default, made.names) == (
        "sharp: How sharp --rule sharp is; none: as sharp as m.",
        "0.5",
        ("auto", "full"),
    )
    assert (made.value("full"), made.value("2"), option_of("sharpness")) == (
        "full",
        2.0,
        "--sharpness",
    )
    with pytest.raises(InputError, match=r"--sharpness inf: give a number or auto or full\."):
        made.value("inf")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--n-init 0", "--n-init 0: --n-init must be a whole number of at least 1."),
        ("--tol -1", "--tol -1.0: tol must be a number of at least 0."),
        ("--clusters 0", "--clusters 0: --clusters must be a whole number of at least 1."),
        (
            "--method adaptive --clusters 0",
            "--clusters 0: --clusters must be a whole number of at least 1.",
        ),
    ],
)
def test_values_that_no_rows_suit_are_refused_before_any_are_read(
    cmeans: Command, words: str, message: str
) -> None:
    ended = cmeans("fit", "no.csv", "-c", 3, *words.split(), "--out", "o")
    assert (ended.code, ended.err) == (2, f"cmeans: {message}\n")


def test_sizes_are_one_number_or_one_for_each_cluster(
    cmeans: Command, table: Path, tmp_path: Path
) -> None:
    assert FIT["sizes__least"].value("0.2") == 0.2
    assert FIT["sizes__most"].value("10,20,1e2") == [10, 20, 100]
    shared = "fit", table, "--clusters", 3, "--columns", "a,b,c,d", "-q"
    assert (
        cmeans(*shared, "--method", "hard", "--size-min", "30,60,60", "--out", tmp_path / "o").code
        == 0
    )
    for bad in ("x", "nan", "10,,20", "1,2,inf", "", ",", "-1", "1,2", "51", "0.4"):
        ended = cmeans(*shared, f"--size-min={bad}", "--out", tmp_path / "p")
        assert ended.code == 2
        assert len(ended.err.strip().splitlines()) == 1
        assert "size" in ended.err
        assert not (tmp_path / "p").exists()
