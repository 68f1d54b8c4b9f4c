"""Clusters with metrics of their own: covariances from second moments, and the solver that finds
them."""

from .rows import FilledRows
from .shapes import SHAPES, Shape
from .shrinkage import Shrinkage, StandardColumns
from .solve import RANDOM_STARTS, GivenClusters, Mapped, Stretched, shown_rows
from .step import NextClusters
from .volumes import EqualVolumes, FreeVolumes, MixtureVolumes, UniformNoise, Volumes

__all__ = [
    "RANDOM_STARTS",
    "SHAPES",
    "EqualVolumes",
    "FilledRows",
    "FreeVolumes",
    "GivenClusters",
    "Mapped",
    "MixtureVolumes",
    "NextClusters",
    "Shape",
    "Shrinkage",
    "StandardColumns",
    "Stretched",
    "UniformNoise",
    "Volumes",
    "shown_rows",
]
