"""Liu et al. 2021 (KPKM, FAGP): kernel probabilistic k-means."""

from ..paper import OldPaper as Paper
from .claims import claims
from .figures import draw
from .page import page
from .runs import measure

PAPER = Paper("kpkm2021", "Kernel probabilistic k-means (Liu, Zhang, Chen and others, Sensors 21, 2021, 1892)", measure, draw, page, claims)
