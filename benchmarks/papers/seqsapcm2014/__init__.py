"""Xenaki, Koutroumbas, Rontogiannis 2014 (SeqSAPCM): sequential sparse adaptive possibilistic
clustering."""

from ..paper import Paper
from .figures import FIGURES
from .reading import Reading
from .runs import measure

TITLE = (
    "Sequential sparse adaptive possibilistic clustering (Xenaki, Koutroumbas, Rontogiannis, "
    "SETN 2014)"
)
PAPER = Paper("seqsapcm2014", TITLE, measure, Reading, FIGURES)
