"""Havens, Chitta, Jain, Jin 2011: akFCM and akPCM beside the exact algorithms, and on very large
data."""

from ..paper import Paper
from .figures import FIGURES
from .reading import Reading
from .runs import MNIST_ALL, measure

TITLE = "Havens, Chitta, Jain, Jin 2011: akFCM and akPCM"
PAPER = Paper(
    "havens2011", TITLE, measure, Reading, FIGURES, only_exact=lambda key: MNIST_ALL in key
)
