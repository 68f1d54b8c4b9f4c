"""Rules: how much a row belongs to each cluster, given its squared distances."""

from .base import Rule, Twin
from .fuzzy import Fuzzy
from .hard import Hard
from .possibilistic import Possibilistic
from .sparse import SparsePossibilistic

__all__ = ["Fuzzy", "Hard", "Possibilistic", "Rule", "SparsePossibilistic", "Twin"]
