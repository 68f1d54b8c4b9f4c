"""Messages of the library in the words of the command: options for parameters, methods for
estimators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...fitting.named_parameters import OBJECTS
from ...kernels import KERNELS
from ...rules import RULES
from ...runtime.user_warnings import one_line
from ..methods import METHODS, STREAM
from ..option_names import option_of

_SPECS = (*METHODS.values(), STREAM)
_OTHERS = {"known_labels", "must_link", "sample_weight", "threshold", "method", *OBJECTS}
_NAMES = {name for spec in _SPECS for name in spec.parameters} | _OTHERS
_FLAGS = {
    name
    for spec in _SPECS
    for name, parameter in spec.parameters.items()
    if parameter.annotation is bool
}
_METHODS_OF = {
    spec.estimator.__name__: [
        name for name, other in METHODS.items() if other.estimator is spec.estimator
    ]
    for spec in _SPECS
}

_CLASS = "|".join(_METHODS_OF)
_KERNELS = {cls.__name__: name for name, cls in reversed(KERNELS.items())}  # the first of two names
_RULES = {cls.__name__: name for name, cls in RULES.items()}
_VALUE = r"""("[^"]*"|'[^']*'|\[[^\]]*\]|[\w+-]+(?:\.\w+)*|\.\.\.)?"""
# Others are words of sentences too, and the kernel of a graph has neighbours of its own.
_BARE = "|".join(name for name in _NAMES if "_" in name and name != "n_neighbors")
_NAMED = re.compile(
    rf"(?<![\w./'-])(?:({'|'.join(_NAMES)})={_VALUE}|({_BARE})(?:\[(\d+)\])?(?![\w=-]|\.\w))(?![^\s,;)]*/)"
)
_PARAMETER_OF = {type(made(None, "")).__name__: name for name, made in OBJECTS.items()}
_PARAMETER_OF["Covariance"] = "covariance"
_OBJECT = re.compile(
    rf"(?:\b\w+=)?\b({'|'.join(_PARAMETER_OF)})\(([^()]*)\)(?:: (\w+)(?= (?:must|holds)\b))?"
)
_FIELD = re.compile(r"(\w+)=(\[[^\]]*\]|'[^']*'|\"[^\"]*\"|[^,]+)")

_PHRASES = {  # what else only a program can do, or names
    "take resume=False": "leave out --resume",
    "cmeans.select": "cmeans select",
    "give an object that has": "give one that has",
    " (scikit-learn's SimpleImputer, KNNImputer)": "",
    " (n_neighbors of its kernel)": "",
    ", a RandomState, or None": "",
}


_own: ContextVar[list[Iterable[object]] | None] = ContextVar("own_words", default=None)


@contextmanager
def own_words(words: Iterable[object]) -> Iterator[None]:
    """Leave the user's own words, names of files and columns, as they are in all messages of the
    block; more of them are `added`."""
    token = _own.set([tuple(words)])
    try:
        yield
    finally:
        _own.reset(token)


def add_own_words(words: Iterable[object]) -> None:
    """Leave these words as they are too."""
    if (known := _own.get()) is not None:
        known.append(words)


def in_options(text: str) -> str:
    """Return a message with options in place of parameters: `--tol 0.1` for tol=0.1, `--method
    hard` for KernelKMeans. The user's own words stay, unless one is the name of a parameter and
    nothing else."""
    found = {
        one_line(word)
        for words in _own.get() or ()
        for word in words
        if len(one_line(word)) > 1 and one_line(word) in text
    }
    kept = sorted(
        (word for word in found - _NAMES if _translated(word) != word), key=len, reverse=True
    )
    if not kept:
        return _translated(text)
    parts = re.split(rf"(?<!\w)({'|'.join(map(re.escape, kept))})(?!\w)", text)
    hidden = "".join(f"\0{at}\0" if at % 2 else part for at, part in enumerate(parts))
    return re.sub(r"\0(\d+)\0", lambda place: parts[int(place[1])], _translated(hidden))


def _translated(text: str) -> str:
    text = _OBJECT.sub(_fields, text)
    text = re.sub(r'\bCMeans\(rule="(\w+)"\)', r"--method \1", text)
    text = re.sub(
        rf"\brule=({'|'.join(_RULES)})\([^()]*\)", lambda found: f"rule={_RULES[found[1]]}", text
    )
    if text.startswith(STREAM.estimator.__name__):  # whose rule is an option by that name
        text = text.replace("KernelKMeans", 'rule="hard"')
    else:
        text = re.sub(r"(?<![\w./])rule=(?!\S*/)", "method=", text)
    begin = (
        rf"^(?:{_CLASS}|ThreadEngine|DaskEngine|select(?:, "
        r"silhouette_scorer)?)(?:\.\w+)?(?:\((.*?)\))?: "
    )
    text = re.sub(begin, lambda found: "" if found[1] is None else f"{found[1]}: ", text)
    text = re.sub(rf"\b({'|'.join(_KERNELS)})\([^()]*\)", lambda found: _KERNELS[found[1]], text)
    text = re.sub(
        r" \(n_samples=\d+\)|n_samples=(\d+)( rows)?",
        lambda found: "" if found[1] is None else f"{found[1]} rows",
        text,
    )
    text = re.sub(rf"\b({_CLASS})\b", _method, _NAMED.sub(_option, text))
    text = re.sub(r"(?<![\w'\"./(=-])(?:Input )?X(?![\w'\":,/)=(-]|\.\w)", "the data", text)
    text = re.sub(r"\b([a-z]+)_=(?=\S)", r"\1 ", text)  # of a fitted attribute
    for phrase, said in _PHRASES.items():
        text = text.replace(phrase, said)
    return re.sub(r"\bNone\b", "none", re.sub(r'"([\w+&-]+)"', r"\1", text))


def _option(found: re.Match[str]) -> str:
    """Return an option for a parameter and its value, or for a parameter whose entry of one row is
    meant."""
    name, value, bare, row = found.groups()
    return f"{option_of(bare)}: row {row}" if row is not None else _spelled(name or bare, value)


def _spelled(name: str, value: str | None) -> str:
    """Return a parameter and its value as an option."""
    option = option_of(name)
    if name in _FLAGS and value in ("True", "False"):
        if value == "True":
            return option
        return {"search__progressive": "--all-rows"}.get(name, option.replace("--", "--no-", 1))
    plain = (value or "").strip("'\"[]").replace(" ", "")
    if plain in ("", "..."):
        return option
    return f"{option} {plain.lower() if plain in ('True', 'False') else plain}"


def _fields(found: re.Match[str]) -> str:
    """Return the fields of an object that is a parameter as options: what a message says of one
    behind it, too."""
    name = _PARAMETER_OF[found[1]]
    fields = [_spelled(f"{name}__{field}", value) for field, value in _FIELD.findall(found[2])]
    behind = "" if found[3] is None else f": {option_of(f'{name}__{found[3]}')}"
    return (", ".join(fields) or option_of(name)) + behind


def _method(found: re.Match[str]) -> str:
    return f"--method {' or '.join(names)}" if (names := _METHODS_OF[found[1]]) else "cmeans stream"
