"""Messages of the library in the words of the command: options for parameters, methods for estimators."""

from __future__ import annotations

import re

from ...kernels.names import KERNELS
from ..option_values import METHODS, STREAM, option_of

_SPECS = (*METHODS.values(), STREAM)
_NAMES = {name for spec in _SPECS for name in spec.parameters} | {"known_labels", "must_link", "max_clusters", "sample_weight", "threshold"}
_FLAGS = {name for spec in _SPECS for name, parameter in spec.parameters.items() if parameter.annotation is bool}
_METHODS_OF = {spec.estimator.__name__: [name for name, other in METHODS.items() if other.estimator is spec.estimator] for spec in _SPECS}

_CLASS = "|".join(_METHODS_OF)
_KERNELS = {cls.__name__: name for name, cls in reversed(KERNELS.items())}  # the first of two names
_VALUE = r"""("[^"]*"|'[^']*'|\[[^\]]*\]|[\w+-]+(?:\.\w+)*|\.\.\.)?"""
# Others are words of sentences too, and the kernel of a graph has neighbours of its own.
_BARE = "|".join(name for name in _NAMES if "_" in name and name != "n_neighbors")
_NAMED = re.compile(rf"(?<![\w./'-])(?:({'|'.join(_NAMES)})={_VALUE}|({_BARE})(?:\[(\d+)\])?(?![\w=-]|\.\w))(?![^\s,;)]*/)")

_PHRASES = {  # what else only a program can do, or names
    "take resume=False": "leave out --resume",
    "cmeans.select": "cmeans select",
    " (scikit-learn's SimpleImputer, KNNImputer)": "",
    " (n_neighbors of its kernel)": "",
    ", a RandomState, or None": "",
}


def in_options(text: str) -> str:
    """Return a message with options in place of parameters: `--tol 0.1` for tol=0.1, `--method hard` for KernelKMeans."""
    text = re.sub(r'\bCMeans\(rule="(\w+)"\)', r"--method \1", text)
    if text.startswith(STREAM.estimator.__name__):  # whose rule is an option by that name
        text = text.replace("KernelKMeans", 'rule="hard"')
    else:
        text = re.sub(r"(?<![\w./])rule=(?!\S*/)", "method=", text)
    begin = rf"^(?:{_CLASS}|select(?:, silhouette_scorer)?)(?:\.\w+)?(?:\((.*?)\))?: "
    text = re.sub(begin, lambda found: "" if found[1] is None else f"{found[1]}: ", text)
    text = re.sub(rf"\b({'|'.join(_KERNELS)})\([^()]*\)", lambda found: _KERNELS[found[1]], text)
    text = re.sub(r" \(n_samples=\d+\)|n_samples=(\d+)( rows)?", lambda found: "" if found[1] is None else f"{found[1]} rows", text)
    text = re.sub(rf"\b({_CLASS})\b", _method, _NAMED.sub(_option, text))
    text = re.sub(r"(?<![\w'\"./(=-])(?:Input )?X(?![\w'\":,/)=(-]|\.\w)", "the data", text)
    text = re.sub(r"\b([a-z]+)_=(?=\S)", r"\1 ", text)  # of a fitted attribute
    for phrase, said in _PHRASES.items():
        text = text.replace(phrase, said)
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
