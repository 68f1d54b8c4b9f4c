"""What the papers left open, each question on their own data."""

from ..paper import OldPaper as Paper
from .figures import draw
from .page import page
from .runs import measure
from .verdicts import claims

PAPER = Paper("beyond", "What the papers left open, and what this library answers", measure, draw, page, claims)
