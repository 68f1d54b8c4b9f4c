"""Xenaki, Koutroumbas, Rontogiannis 2014 (SeqSAPCM): sequential sparse adaptive possibilistic clustering."""

from ..paper import OldPaper as Paper
from .claims import claims
from .figures import draw
from .page import page
from .runs import measure

PAPER = Paper(
    "seqsapcm2014",
    "Sequential sparse adaptive possibilistic clustering (Xenaki, Koutroumbas, Rontogiannis, SETN 2014)",
    measure,
    draw,
    page,
    claims,
)
