"""Rules: how much a row belongs to each cluster, given its squared distances."""

from __future__ import annotations

import importlib
import pkgutil

from .base import NativeFunctions, Rule
from .entropy import Entropy
from .fuzzy import Fuzzy
from .hard import Hard
from .noise_fuzzy import NoiseFuzzy
from .polynomial_fuzzy import PolynomialFuzzy
from .possibilistic import Possibilistic
from .sized_entropy import SizedEntropy
from .sized_fuzzy import SizedFuzzy
from .sized_hard import SizedHard
from .sparse import SparsePossibilistic
from .truncated import Truncated

__all__ = [
    "RULES",
    "Entropy",
    "Fuzzy",
    "Hard",
    "NativeFunctions",
    "NoiseFuzzy",
    "PolynomialFuzzy",
    "Possibilistic",
    "Rule",
    "SizedEntropy",
    "SizedFuzzy",
    "SizedHard",
    "SparsePossibilistic",
    "Truncated",
]


def _by_name() -> dict[str, type[Rule]]:
    """The rules of this folder, each under its name: a further file is a further rule, and nothing else lists it."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    here = [cls for module in modules for cls in vars(module).values() if isinstance(cls, type) and cls.__module__ == module.__name__]
    return {cls.name: cls for cls in here if issubclass(cls, Rule) and cls is not Rule}


RULES: dict[str, type[Rule]] = _by_name()
