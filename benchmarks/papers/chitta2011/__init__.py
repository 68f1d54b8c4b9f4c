"""Chitta, Jin, Havens, Jain: Approximate kernel k-means (KDD 2011)."""

from functools import partial

from ..paper import Paper, Run
from . import bound, crescents, exact, large, pyramids, runs
from .figures import FIGURES
from .reading import Reading


def measure(run: Run) -> None:
    if run.exact:
        exact.measure(run)
    run.stage("Figure 1", partial(crescents.measure, run))
    run.stage("Lemma 2 and Corollary 1", partial(bound.measure, run))
    runs.measure(run)
    run.stage("small ImageNet, a stand-in", partial(pyramids.measure, run))
    run.stage("full ImageNet, a stand-in", partial(large.measure, run))


PAPER = Paper(
    "chitta2011",
    "Approximate kernel k-means",
    measure,
    Reading,
    FIGURES,
    only_exact=lambda key: key.startswith("exact"),
)
