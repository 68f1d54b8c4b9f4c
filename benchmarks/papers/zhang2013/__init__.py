"""Zhang & Havens 2013: streaming kernel fuzzy c-means."""

from ..paper import Paper
from .figures import FIGURES
from .reading import Reading
from .runs import ONLY_EXACT
from .stages import measure

TITLE = "Streaming kernel fuzzy c-means (Zhang, Havens, IEEE Big Data 2013, 161-168)"
PAPER = Paper("zhang2013", TITLE, measure, Reading, FIGURES, only_exact=ONLY_EXACT.__contains__)
