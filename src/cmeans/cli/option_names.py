"""Names of options, and names in sentences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

_RENAMED = {
    "kept_in": "--checkpoint",
    "runs_on": "--engine",
    "sample_size": "--sample",
    "scaling": "--inner-scaling",
    "landmarks__number": "--landmarks",
    "landmarks__method": "--landmark-choice",
    "landmarks__tol": "--landmark-tol",
    "search__method": "--search",
    "search__acceleration": "--acceleration",
    "search__progressive": "--progressive",
    "search__join_equal_rows": "--join-equal-rows",
    "sizes": "--size-min, --size-max",
    "sizes__least": "--size-min",
    "sizes__most": "--size-max",
    "sizes__of": "--sizes-of",
    "covariance__shape": "--covariance",
    "covariance__prior": "--covariance-prior",
    "covariance__volume": "--covariance-volume",
    "n_clusters": "--clusters",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "sample_weight": "--weight",
    "T": "--temperature",
}


def option_of(word: str) -> str:
    """Return the option that sets a parameter of the library."""
    return _RENAMED.get(word, f"--{word.replace('_', '-')}")


def name_of(value: Any) -> str:
    """Return the name of a kernel or a rule, by which options know it."""
    return value if isinstance(value, str) else value.name or type(value).__name__


def as_option(name: str, *value: Any) -> str:
    """Return an argument of `read_table` as an option: `--columns`, or `--columns a,b`."""
    if name == "header":
        return {(): "--header, --no-header", (True,): "--header", (False,): "--no-header"}[value]
    given = [",".join(map(str, word)) if isinstance(word, list) else str(word) for word in value]
    # some of which mean something to a shell
    given = [shlex.quote(word) if re.search(r"[^\w@%+=:,./-]", word) else word for word in given]
    return " ".join([f"--{name.replace('_', '-')}", *given])


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
