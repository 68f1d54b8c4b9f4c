"""Havens, Chitta, Jain, Jin 2011: akFCM and akPCM beside the exact algorithms, and on very large data."""

from ..paper import Paper
from .claims import claims
from .figures import draw
from .page import page
from .runs import MNIST_ALL, measure

PAPER = Paper(
    "havens2011",
    "Havens, Chitta, Jain, Jin 2011: akFCM and akPCM",
    measure,
    draw,
    page,
    claims,
    only_exact=lambda key: MNIST_ALL in key,
)
