"""Parameters of methods as options: their values, defaults and help are those of the estimators'
constructors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from .errors import InputError
from .methods import KERNEL_FIELDS, METHODS, MethodSpec, kernels_of_tables
from .option_names import listed, option_of

DATA, METHOD, KERNEL, RUN, SCREEN = "The data", "The method", "The kernel", "The run", "The screen"
ADAPTIVE, PROBABILISTIC = "The methods adaptive and sequential", "The method probabilistic"
PANELS = {  # of the help, in their order, and the parameters in each
    DATA: ("missing",),
    METHOD: (),  # and all that no other panel has
    ADAPTIVE: (
        "sparsity",
        "p",
        "sparsity_test",
        "adaptation",
        "scaling",
        "alpha",
        "n_new",
        "seed_quantile",
        "patience",
    ),
    PROBABILISTIC: ("solver", "step", "quantile", "polish"),
    KERNEL: (
        "kernel",
        "gamma",
        "landmarks__number",
        "landmarks__method",
        "landmarks__tol",
        "metric",
    ),
    RUN: (
        "init",
        "n_init",
        "max_iter",
        "tol",
        "search__acceleration",
        "search__progressive",
        "search__join_equal_rows",
        "memory_budget",
        "n_jobs",
    ),
    SCREEN: (),
}
NO_OPTIONS = {"engine", "chunk_size", "random_state", "verbose"}  # or options of the command itself
# values of parameters that are True, False or have a name
SWITCHED = {"true": True, "false": False}


@dataclass(frozen=True)
class ParameterOption:
    """A parameter of some methods as an option."""

    name: str
    help: str
    default: str  # as the help shows it
    panel: str
    names: tuple[str, ...]  # values that have a name; "none" for None
    number: type[int] | type[float] | None  # of values that are numbers
    kind: type[bool] | type[str] | None  # of other values
    several: bool = False  # numbers may be as many as there are clusters, with commas between them

    def value(self, given: Any) -> Any:
        """Return what was given on the command line as the estimator takes it."""
        if given == "none" and "none" in self.names:
            return None
        if given in SWITCHED and self.kind is str:
            return SWITCHED[given]
        if not isinstance(given, str) or given in self.names or self.number is None:
            return given
        if self.name == "n_clusters" and (ends := re.fullmatch(r"(\d+)-(\d+)", given)):
            return int(ends[1]), int(ends[2])
        if self.several and "," in given:
            return [self._number(part) for part in given.split(",")]
        return self._number(given)

    def _number(self, given: str) -> int | float:
        assert self.number is not None
        try:
            number = self.number(given)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            wanted = "a whole number" if self.number is int else "a number"
            others = (
                [f"one for each cluster, as 10,20,30 ({wanted} each)"]
                if self.several
                else self.names
            )
            raise InputError(
                f"{option_of(self.name)} {given}: give {' or '.join([wanted, *others])}."
            )
        return number


def parameter_options(methods: Mapping[str, MethodSpec]) -> list[ParameterOption]:
    """Return the parameters of methods as options, those of a panel of the help in its order."""
    ordered = [name for names in PANELS.values() for name in names]
    names = dict.fromkeys(name for method in methods.values() for name in method.parameters)
    made = [_option(name, methods) for name in names if name not in NO_OPTIONS]
    made = [option for option in made if option.kind or option.number or len(option.names) > 1]
    return sorted(
        made, key=lambda option: ordered.index(option.name) if option.name in ordered else -1
    )


def _option(name: str, methods: Mapping[str, MethodSpec]) -> ParameterOption:
    panel = next(
        (panel for panel, names in PANELS.items() if name in names),
        KERNEL if name in KERNEL_FIELDS else METHOD,
    )
    owners = {key: method for key, method in methods.items() if name in method.parameters}
    names, kinds, several = list[str](), set[Any](), False
    said, defaults = dict[str, list[str]](), dict[str, list[str]]()
    for key, method in owners.items():
        parameter = method.parameters[name]
        parts = (
            get_args(parameter.annotation)
            if get_origin(parameter.annotation) in (Union, UnionType)
            else (parameter.annotation,)
        )
        names += [
            value for part in parts if get_origin(part) is Literal for value in get_args(part)
        ]
        kinds |= {part for part in parts if isinstance(part, type)}
        several |= any(get_origin(part) is Sequence for part in parts)
        sentence, if_none = _said(name, method)
        said.setdefault(sentence, []).append(key)
        defaults.setdefault(
            method.untold.get(name) or _shown(parameter.default, if_none), []
        ).append(key)
    names = list(kernels_of_tables()) if name == "kernel" else list(dict.fromkeys(names))
    number = None if str in kinds else int if int in kinds else float if float in kinds else None
    kind = bool if bool in kinds else str if str in kinds else None
    if kind is bool and names:
        names, kind = [*names, *SWITCHED], str
    if kind is bool:
        word = option_of(name).lstrip("-")
        defaults = {
            word if default == "True" else f"no {word}": keys for default, keys in defaults.items()
        }
    # what most methods have comes first
    by_number = sorted(defaults.items(), key=lambda default: -len(default[1]))
    shown = [
        f"{text} for {listed(keys)}" if at else text for at, (text, keys) in enumerate(by_number)
    ]
    text = " ".join(_about(keys, methods, panel) + sentence for sentence, keys in said.items())
    none = ["none"] if names and NoneType in kinds else []
    return ParameterOption(
        name,
        _in_the_help(text, name),
        _in_the_help("; ".join(shown), name),
        panel,
        (*names, *none),
        number,
        kind,
        several,
    )


def _said(name: str, method: MethodSpec) -> tuple[str, str]:
    """Return the sentence on a parameter, and what None stands for where only that."""
    sentences = (spec.said.get(name, "As") for spec in (method, *METHODS.values()))
    # "As in `FuzzyCMeans`": that of another
    sentence = next((text for text in sentences if not text.startswith("As")), "")
    found = re.search(r"; None: ((?:[^.;]|\.(?=\d))+)", sentence)
    if found is None or "Literal" in str(method.parameters[name].annotation):
        return sentence, "none" if found is None else found[1]
    return sentence.replace(found[0], ""), found[1]


def _shown(default: Any, if_none: str) -> str:
    if isinstance(default, float):
        return f"{default:g}"
    return if_none if default is None else str(default)


def _about(owners: list[str], methods: Iterable[str], panel: str) -> str:
    """Return the methods that a sentence is about, as far as the name of its panel does not
    tell."""
    others = [name for name in methods if name not in owners]
    if not others or panel in (f"The method {owners[0]}", f"The methods {listed(owners)}"):
        return ""
    return f"{listed(owners)}: " if len(owners) <= len(others) else f"all but {listed(others)}: "


def _in_the_help(text: str, name: str) -> str:
    """Return text of a docstring with options in place of parameters, and without its marks; in
    that of a field, fields beside it are meant."""
    room = "".join(name.rpartition("__")[:2])
    text = re.sub(
        r'\b(\w+)="([^"]+)"', lambda found: f"{option_of(room + found[1])} {found[2]}", text
    )
    return re.sub(r"\bNone\b", "none", text.replace('"', "").replace("`", ""))
