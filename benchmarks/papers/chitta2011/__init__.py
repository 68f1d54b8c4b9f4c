"""Chitta, Jin, Havens, Jain: Approximate kernel k-means (KDD 2011)."""

from ..paper import Paper, Run
from . import bound, crescents, exact, large, pyramids, runs
from .figures import FIGURES
from .reading import Reading


def measure(run: Run) -> None:
    if run.exact:
        exact.measure(run)
    for part in (crescents, bound, runs, pyramids, large):
        part.measure(run)


PAPER = Paper("chitta2011", "Approximate kernel k-means", measure, Reading, FIGURES, only_exact=lambda key: key.startswith("exact"))
