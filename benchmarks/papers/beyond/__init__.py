"""What the papers left open, each question on their own data."""

from ..paper import Paper
from .figures import FIGURES
from .reading import Reading
from .runs import measure

PAPER = Paper(
    "beyond", "What the papers left open, and what this library answers", measure, Reading, FIGURES
)
