"""Chitta, Jin, Havens, Jain: Approximate kernel k-means (KDD 2011)."""

from ..paper import OldPaper as Paper
from ..paper import Run
from . import bound, crescents, large, pyramids, runs
from .claims import claims
from .figures import draw
from .page import page


def measure(run: Run) -> None:
    if run.exact:
        from . import exact

        exact.measure(run)
    for part in (crescents, bound, runs, pyramids, large):
        part.measure(run)


PAPER = Paper("chitta2011", "Approximate kernel k-means", measure, draw, page, claims, only_exact=lambda key: key.startswith("exact"))
