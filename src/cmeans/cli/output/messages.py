"""Messages of the library in the words of the command: options for parameters, methods for estimators."""

from __future__ import annotations

import re

from ..option_values import METHODS, STREAM, option_of

_SPECS = (*METHODS.values(), STREAM)
_NAMES = {name for spec in _SPECS for name in spec.parameters} | {"known_labels", "must_link", "max_clusters", "sample_weight"}
_FLAGS = {name for spec in _SPECS for name, parameter in spec.parameters.items() if parameter.annotation is bool}
_METHODS_OF = {spec.estimator.__name__: [name for name, other in METHODS.items() if other.estimator is spec.estimator] for spec in _SPECS}

_CLASS = "|".join(_METHODS_OF)
_VALUE = r"""("[^"]*"|'[^']*'|\[[^\]]*\]|[\w+-]+(?:\.\w+)*|\.\.\.)?"""
# Others are words of sentences too, and the kernel of a graph has neighbours of its own.
_BARE = "|".join(name for name in _NAMES if "_" in name and name != "n_neighbors")
_NAMED = re.compile(rf"(?<![\w./'-])(?:({'|'.join(_NAMES)})={_VALUE}|({_BARE})(?:\[(\d+)\])?(?![\w=-]|\.\w))(?![^\s,;)]*/)")


def in_options(text: str) -> str:
    """Return a message with options in place of parameters: `--tol 0.1` for tol=0.1, `--method hard` for KernelKMeans."""
    text = re.sub(r'\bCMeans\(rule="(\w+)"\)', r"--method \1", text)
    if not text.startswith(STREAM.estimator.__name__):  # whose rule is an option by that name
        text = re.sub(r"(?<![\w./])rule=(?!\S*/)", "method=", text)
    text = re.sub(rf"^(?:{_CLASS})(?:\.\w+|\((.*?)\))?: ", lambda found: "" if found[1] is None else f"{found[1]}: ", text)
    text = re.sub(rf"\b({_CLASS})\b", _method, _NAMED.sub(_option, text))
    text = text.replace("take resume=False", "leave out --resume").replace("cmeans.select", "cmeans select")
    return re.sub(r"\bNone\b", "none", re.sub(r'"([\w+&-]+)"', r"\1", text))


def _option(found: re.Match[str]) -> str:
    """Return an option for a parameter and its value, or for a parameter whose entry of one row is meant."""
    name, value, bare, row = found.groups()
    option = option_of(name or bare)
    if row is not None:
        return f"{option}: row {row}"
    if name in _FLAGS and value in ("True", "False"):
        return option if value == "True" else {"progressive": "--all-rows"}.get(name, option.replace("--", "--no-", 1))
    plain = (value or "").strip("'\"[]").replace(" ", "")
    return option if plain in ("", "...") else f"{option} {plain.lower() if plain in ('True', 'False') else plain}"


def _method(found: re.Match[str]) -> str:
    return f"--method {' or '.join(names)}" if (names := _METHODS_OF[found[1]]) else "cmeans stream"
