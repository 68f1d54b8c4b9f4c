"""Rules: how much a row belongs to each cluster, given its squared distances."""

from __future__ import annotations

import importlib
import pkgutil

from .base import RULES, NativeFunctions, Rule, RuleEvidence
from .entropy import Entropy
from .fuzzy import Fuzzy
from .hard import Hard
from .mixture import Mixture
from .noise_fuzzy import NoiseFuzzy
from .noise_mixture import NoiseMixture
from .polynomial_fuzzy import PolynomialFuzzy
from .possibilistic import Possibilistic
from .sized_entropy import SizedEntropy
from .sized_fuzzy import SizedFuzzy
from .sized_hard import SizedHard
from .sparse import SparsePossibilistic
from .student_mixture import StudentMixture
from .truncated import Truncated
from .with_scales import RuleWithScales

__all__ = [
    "RULES",
    "Entropy",
    "Fuzzy",
    "Hard",
    "Mixture",
    "NativeFunctions",
    "NoiseFuzzy",
    "NoiseMixture",
    "PolynomialFuzzy",
    "Possibilistic",
    "Rule",
    "RuleEvidence",
    "RuleWithScales",
    "SizedEntropy",
    "SizedFuzzy",
    "SizedHard",
    "SparsePossibilistic",
    "StudentMixture",
    "Truncated",
]


# a further file of this folder is a further rule, and nothing else lists it
for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")
