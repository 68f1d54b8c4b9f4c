"""Liu et al. 2021 (KPKM, FAGP): kernel probabilistic k-means."""

from ..paper import Paper
from .figures import FIGURES
from .reading import Reading
from .runs import measure

TITLE = "Kernel probabilistic k-means (Liu, Zhang, Chen and others, Sensors 21, 2021, 1892)"
PAPER = Paper("kpkm2021", TITLE, measure, Reading, FIGURES)
