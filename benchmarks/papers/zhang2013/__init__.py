"""Zhang & Havens 2013: streaming kernel fuzzy c-means."""

from ..paper import OldPaper as Paper
from .figures import draw
from .page import page
from .runs import ONLY_EXACT
from .stages import measure
from .verdicts import claims

TITLE = "Streaming kernel fuzzy c-means (Zhang, Havens, IEEE Big Data 2013, 161-168)"
PAPER = Paper("zhang2013", TITLE, measure, draw, page, claims, only_exact=ONLY_EXACT.__contains__)
